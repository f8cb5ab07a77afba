//! A status and its comment that could not be written: the task's own file holds what the board program would run, in a
//! form that nothing here can write either (B2.7). They wait in the record until a person has cleaned the file.

use dispatch_core::message::Message;
use dispatch_core::record::{Owed, Record};
use dispatch_core::status::Status;

use crate::ports::StatusChange;
use crate::supervise::Attempt;

/// Keeps `change` for a later sweep, and tells a person what has to be done. The record is written when it ends.
pub(crate) fn remember(attempt: &mut Attempt<'_>, change: StatusChange, problem: &str) {
    let language = attempt.hand.config.language;
    let title = Message::NotifyUncleanTitle.render(language, &[("id", attempt.id())]);
    let values: [(&str, &dyn std::fmt::Display); 2] =
        [("problem", &problem), ("status", &change.to)];
    attempt.ports.notifier.notify(&title, &Message::NotifyUncleanBody.render(language, &values));
    attempt.record.owed = Some(Owed { to: change.to, comment: change.comment });
}

/// Takes what is owed out of the record.
pub(crate) fn take(record: &mut Record) -> Option<StatusChange> {
    let Owed { to, comment } = record.owed.take()?;
    Some(StatusChange { expected: vec![Status::InProgress], to, comment })
}
