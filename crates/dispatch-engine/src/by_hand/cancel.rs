//! `dispatch cancel`: stops the worker, saves, releases, sets the status.

use std::time::Duration;

use dispatch_core::id::TaskId;
use dispatch_core::record::{Phase, Record, Request};
use dispatch_core::status::Status;
use serde::Serialize;

use super::{ByHandError, kept_at};
use crate::budget::awake_between;
use crate::ports::{PortError, Ports, StatusChange, StatusWrite, TaskLock, TryLock};
use crate::settled::Settled;
use crate::undo::{Blame, take_back_to};

/// How long somebody else may hold the lock of a task of which nothing runs.
const PATIENCE: Duration = Duration::from_secs(10);
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);

/// What cancelling did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Cancelled {
    /// The supervisor was asked; it stops the worker, saves and sets the status.
    Asked {
        /// Where the work will be kept.
        kept: String,
    },
    /// The worker has ended and what it did is being judged: the status is set unless that ends in a proposal.
    Finishing {
        /// Where the work will be kept.
        kept: String,
    },
    /// The supervisor was gone; a new one saves what is there and sets the status.
    Recovering {
        /// Where the work will be kept.
        kept: String,
    },
    /// Nothing ran: the status is set.
    StatusSet {
        /// The open pull request, or the pushed branch, that stays as it is.
        proposed: Option<String>,
    },
}

/// Cancels a task; it gets the status `to`.
pub fn cancel(ports: &Ports<'_>, id: &TaskId, to: &Status) -> Result<Cancelled, ByHandError> {
    let doing = format!("could not cancel {id}");
    let failed = ByHandError::at(&doing);
    let since = ports.clock.beat();
    let (lock, record) = loop {
        let lock = ports.store.try_task_lock(id).map_err(&failed)?;
        let record = ports.store.record(id).map_err(&failed)?;
        match (lock, record) {
            (TryLock::Taken(lock), record) => break (lock, record),
            (TryLock::Busy(_), Some(record)) if record.phase != Phase::Ended => {
                return ask(ports, &record, to).map_err(failed);
            }
            // A pass that looks at the task, or is about to claim it: nobody would read a request.
            (TryLock::Busy(holder), _) => {
                let waited = awake_between(&since, &ports.clock.beat());
                if waited.is_none_or(|waited| waited >= PATIENCE) {
                    return Err(ByHandError::Refused(format!(
                        "{id} is being looked at ({holder}) and nothing of it runs; try again in a moment"
                    )));
                }
                ports.clock.sleep(BETWEEN_LOOKS);
            }
        }
    };
    match record {
        Some(record) if record.phase == Phase::Claimed => give_back(ports, lock, record, to),
        Some(record) if record.phase != Phase::Ended => {
            request(ports, id, to).map_err(&failed)?;
            ports.commands.start_supervisor(id, lock, true).map_err(failed)?;
            Ok(Cancelled::Recovering { kept: kept_at(id, record.attempt) })
        }
        Some(_) | None => set_status(ports, id, to, record.as_ref()),
    }
}

fn ask(ports: &Ports<'_>, record: &Record, to: &Status) -> Result<Cancelled, PortError> {
    request(ports, &record.task_id, to)?;
    let kept = kept_at(&record.task_id, record.attempt);
    Ok(match record.phase {
        Phase::Closing(_) => Cancelled::Finishing { kept },
        Phase::Claimed | Phase::Prepared | Phase::Running | Phase::Ended => {
            Cancelled::Asked { kept }
        }
    })
}

fn request(ports: &Ports<'_>, id: &TaskId, to: &Status) -> Result<(), PortError> {
    ports.store.write_request(id, &Request::Cancel { to: Some(to.clone()) })
}

/// A claim that nobody carries on: there is no work to save, but something of its preparation may still run.
fn give_back(
    ports: &Ports<'_>,
    lock: Box<dyn TaskLock>,
    record: Record,
    to: &Status,
) -> Result<Cancelled, ByHandError> {
    let id = record.task_id.clone();
    let doing = format!("could not cancel {id}");
    let failed = ByHandError::at(&doing);
    ports.agent.end_leftovers(None, &record.token).map_err(&failed)?;
    let change = StatusChange {
        expected: vec![Status::InProgress, Status::Queued],
        to: to.clone(),
        comment: None,
    };
    let written = take_back_to(ports, lock, record, &change, Blame::Nothing).map_err(failed)?;
    status_set(&id, &written, None)
}

/// What became of the status.
fn status_set(
    id: &TaskId,
    written: &StatusWrite,
    proposed: Option<String>,
) -> Result<Cancelled, ByHandError> {
    match written {
        StatusWrite::Written => Ok(Cancelled::StatusSet { proposed }),
        StatusWrite::Mismatch { found } => Err(ByHandError::Refused(format!(
            "{id} was moved to {found} meanwhile, and stays there; nothing runs for it"
        ))),
        StatusWrite::Gone => Err(no_task(id)),
    }
}

fn no_task(id: &TaskId) -> ByHandError {
    ByHandError::Refused(format!("there is no task {id} on the board"))
}

fn set_status(
    ports: &Ports<'_>,
    id: &TaskId,
    to: &Status,
    record: Option<&Record>,
) -> Result<Cancelled, ByHandError> {
    let doing = format!("could not cancel {id}");
    let failed = ByHandError::at(&doing);
    let task = ports.board.task(id).map_err(&failed)?;
    let Some(task) = task else { return Err(no_task(id)) };
    match &task.status {
        Status::Queued | Status::InProgress | Status::Blocked => {}
        Status::ToDo | Status::Done | Status::Other(_) => {
            let text = format!("{id} is {}: there is nothing to cancel", task.status);
            return Err(ByHandError::Refused(text));
        }
    }
    let change =
        StatusChange { expected: vec![task.status.clone()], to: to.clone(), comment: None };
    let written = ports.board.set_status(id, &change).map_err(failed)?;
    let open = record.and_then(|record| record.pr.as_ref());
    let open = open.filter(|proposal| Settled::of(proposal).is_open());
    let proposed = open.map(|proposal| {
        proposal.url.clone().unwrap_or_else(|| format!("the branch {}", proposal.branch))
    });
    status_set(id, &written, proposed)
}
