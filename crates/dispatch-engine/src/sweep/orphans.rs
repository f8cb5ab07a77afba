//! M1 step 3c: tasks `In Progress` that nothing ever worked on.

use dispatch_core::id::TaskId;
use dispatch_core::names::BlockReason;
use dispatch_core::status::Status;
use dispatch_core::task::Task;
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;
use time::{Date, Duration, OffsetDateTime, PrimitiveDateTime};

use super::{Sweep, words};
use crate::ports::{PortError, StatusChange, StatusWrite};

const WITH_TIME: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day] [hour]:[minute]");
const WITH_SECONDS: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day] [hour]:[minute]:[second]");
const DAY: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]");

pub(super) fn run(sweep: &mut Sweep<'_>) {
    let threshold =
        Duration::seconds_f64(sweep.setup.config.orphan_in_progress_threshold_hours * 3600.0);
    if !threshold.is_positive() || !sweep.board.complete {
        return;
    }
    let now = sweep.ports.clock.now();
    let old: Vec<TaskId> = sweep
        .board
        .tasks
        .values()
        .filter(|task| task.status == Status::InProgress && task.children.is_empty())
        .filter(|task| last_change(task).is_some_and(|changed| now - changed >= threshold))
        .map(|task| task.id.clone())
        .collect();
    for id in old {
        if let Err(error) = look_at(sweep, &id) {
            sweep.problem(Some(&id), error.chain());
        }
    }
}

fn look_at(sweep: &mut Sweep<'_>, id: &TaskId) -> Result<(), PortError> {
    let store = sweep.ports.store;
    if store.record(id)?.is_some() || store.has_attempts(id)? {
        return Ok(());
    }
    let hours = sweep.setup.config.orphan_in_progress_threshold_hours;
    let comment = words::orphan(sweep.setup.config.language, hours);
    let change = StatusChange {
        expected: vec![Status::InProgress],
        to: Status::Blocked,
        comment: Some(comment.clone()),
    };
    if sweep.ports.board.set_status(id, &change)? == StatusWrite::Written {
        sweep.notify_blocked(id, BlockReason::Orphan, &comment);
        sweep.did(id, format!("blocked: {}", BlockReason::Orphan));
    }
    Ok(())
}

/// When the board last changed the task. A board writes UTC; a bare day counts as its end, the later moment.
fn last_change(task: &Task) -> Option<OffsetDateTime> {
    let text = task.updated.as_deref().or(task.created.as_deref())?.trim();
    if let Ok(moment) = OffsetDateTime::parse(text, &time::format_description::well_known::Rfc3339)
    {
        return Some(moment);
    }
    if let Ok(moment) = PrimitiveDateTime::parse(text, WITH_TIME)
        .or_else(|_| PrimitiveDateTime::parse(text, WITH_SECONDS))
    {
        return Some(moment.assume_utc());
    }
    let day = Date::parse(text, DAY).ok()?;
    Some(day.next_day()?.midnight().assume_utc())
}
