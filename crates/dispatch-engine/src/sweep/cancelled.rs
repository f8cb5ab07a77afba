//! M1 step 4: running tasks that a person took back.

use dispatch_core::record::{Phase, Record, Request};
use dispatch_core::status::Status;

use super::Sweep;
use crate::ports::{PortError, TryLock};

pub(super) fn run(sweep: &mut Sweep<'_>) -> Result<(), PortError> {
    sweep.each_record(is_running, look_at)
}

/// One that is closing finishes.
const fn is_running(record: &Record) -> bool {
    match record.phase {
        Phase::Claimed | Phase::Prepared | Phase::Running => true,
        Phase::Closing(_) | Phase::Ended => false,
    }
}

fn look_at(sweep: &mut Sweep<'_>, record: &Record) -> Result<(), PortError> {
    let id = record.task_id.clone();
    let found = match sweep.ports.board.task(&id)? {
        Some(task) if task.status == Status::InProgress => return Ok(()),
        Some(task) => format!("it was set to {}", task.status),
        None => "it left the board".to_owned(),
    };
    // A status of our own is only written while closing: read after the board, the record tells whose word it is.
    let now = sweep.ports.store.record(&id)?;
    if !now.is_some_and(|now| is_running(&now) && now.attempt == record.attempt) {
        return Ok(());
    }
    if let TryLock::Taken(lock) = sweep.ports.store.try_task_lock(&id)? {
        // Nobody works on it: the recovery of the next pass follows the person's word.
        drop(lock);
        return Ok(());
    }
    if let Some(Request::Cancel { .. }) = sweep.ports.store.request(&id)? {
        return Ok(());
    }
    sweep.ports.store.write_request(&id, &Request::Cancel { to: None })?;
    sweep.did(&id, format!("{found} while it was worked on: its supervisor was asked to stop"));
    Ok(())
}
