//! A status and its comment that could not be written: the task's own file holds what the board program would run, in a
//! form that nothing here can write either (B2.7). They wait in the record until a person has cleaned the file.

use dispatch_core::message::Message;
use dispatch_core::record::Record;
use dispatch_core::status::Status;
use serde::{Deserialize, Serialize};

use crate::ports::StatusChange;
use crate::supervise::Attempt;

/// The name of this in a record.
const OWED: &str = "owed";

#[derive(Serialize, Deserialize)]
struct Owed {
    to: Status,
    comment: Option<String>,
}

/// Keeps `change` for a later sweep, and tells a person what has to be done. The record is written when it ends.
pub(crate) fn remember(attempt: &mut Attempt<'_>, change: StatusChange, problem: &str) {
    let language = attempt.hand.config.language;
    let title = Message::NotifyUncleanTitle.render(language, &[("id", attempt.id())]);
    let values: [(&str, &dyn std::fmt::Display); 2] =
        [("problem", &problem), ("status", &change.to)];
    attempt.ports.notifier.notify(&title, &Message::NotifyUncleanBody.render(language, &values));
    let owed = Owed { to: change.to, comment: change.comment };
    match serde_json::to_value(owed) {
        Ok(value) => {
            attempt.record.rest.insert(OWED.to_owned(), value);
        }
        Err(error) => attempt.note(&format!("what is owed to the task was not kept: {error}")),
    }
}

/// Whether something is owed to the task of this record.
pub(crate) fn is_owed(record: &Record) -> bool {
    record.rest.contains_key(OWED)
}

/// Takes what is owed out of the record; nothing when it is not to be understood.
pub(crate) fn take(record: &mut Record) -> Option<StatusChange> {
    let Owed { to, comment } = serde_json::from_value(record.rest.remove(OWED)?).ok()?;
    Some(StatusChange { expected: vec![Status::InProgress], to, comment })
}
