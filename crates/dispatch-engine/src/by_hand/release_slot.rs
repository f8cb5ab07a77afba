//! `dispatch release-slot`: frees a slot by hand, after what is in it was saved.

use std::time::Duration;

use dispatch_core::attempt::AttemptNumber;
use dispatch_core::id::TaskId;
use dispatch_core::record::{Phase, Record, Request, SlotEntry};
use dispatch_core::slot::SlotName;
use dispatch_core::status::Status;
use serde::Serialize;

use super::{ByHandError, kept_at};
use crate::budget::awake_between;
use crate::hand_over::{HandOver, HandOverError};
use crate::ports::{PortError, Ports, SlotChange, SlotPlace, TaskLock, TryLock};

/// How long a supervisor that was asked to end may take (M4).
const PATIENCE: Duration = Duration::from_secs(30);
const BETWEEN_LOOKS: Duration = Duration::from_millis(500);

/// What releasing a slot did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Released {
    /// Nothing was bound to it.
    WasFree,
    /// No task was bound to it, but it was held.
    Unheld {
        /// The cause it was held for.
        cause: String,
    },
    /// It is free now.
    Freed {
        /// The task it was bound to.
        task: TaskId,
        /// Where what lay in it is kept, when something did.
        kept: Option<String>,
        /// Whether the task is `Queued` again, and may be started at once.
        queued: bool,
    },
    /// A supervisor saves what is in it and then frees it.
    Recovering {
        /// The task it is bound to.
        task: TaskId,
        /// Where the work will be kept.
        kept: String,
    },
}

/// Releases a slot. One with a live attempt is only released by `force`, after its supervisor has ended.
pub fn release_slot(
    ports: &Ports<'_>,
    name: &SlotName,
    force: bool,
) -> Result<Released, ByHandError> {
    let doing = format!("could not release slot {name}");
    let failed = ByHandError::at(&doing);
    let registry = ports.store.registry().map_err(&failed)?;
    let Some(entry) = registry.slots.iter().find(|entry| entry.name == *name) else {
        let known: Vec<&str> = registry.slots.iter().map(|entry| entry.name.as_str()).collect();
        let text = format!("there is no slot {name}; known are: {}", known.join(", "));
        return Err(ByHandError::Refused(text));
    };
    let Some(task) = entry.task_id.clone() else { return unheld(ports, entry).map_err(failed) };
    let (lock, asked) = match ports.store.try_task_lock(&task).map_err(&failed)? {
        TryLock::Taken(lock) => (lock, None),
        TryLock::Busy(holder) if !force => {
            return Err(ByHandError::Refused(format!(
                "slot {name} has a live attempt of {task} ({holder}): wait for its end, run `dispatch cancel {task}`, \
                 or look at it and then use --force"
            )));
        }
        TryLock::Busy(_) => match wait_for_end(ports, &task).map_err(&failed)? {
            Waited::Ended { lock, attempt } => (lock, attempt),
            Waited::Anew { attempt } => {
                let kept = Some(kept_at(&task, attempt));
                return Ok(Released::Freed { task, kept, queued: true });
            }
            Waited::StillThere => {
                return Err(ByHandError::Refused(format!(
                    "the supervisor of {task} was asked to end and has not within {} s; its slot is untouched",
                    PATIENCE.as_secs()
                )));
            }
        },
    };
    released(ports, entry, task, lock, asked).map_err(failed)
}

/// Takes the mark from a slot that is held for no task; what lies in it is saved before its next use (D6.5).
fn unheld(ports: &Ports<'_>, entry: &SlotEntry) -> Result<Released, PortError> {
    let Some(cause) = entry.held.clone() else { return Ok(Released::WasFree) };
    ports.store.change_slot(&entry.name, &SlotChange::Unhold { task: None })?;
    Ok(Released::Unheld { cause })
}

/// What came of asking a supervisor to end.
enum Waited {
    /// It is gone, and its lock is ours.
    Ended {
        /// The lock.
        lock: Box<dyn TaskLock>,
        /// The attempt that was asked to end.
        attempt: Option<AttemptNumber>,
    },
    /// It is gone, its work is saved, and the task, queued again, was given to a new one already.
    Anew {
        /// The attempt that was asked to end.
        attempt: AttemptNumber,
    },
    /// It is still there.
    StillThere,
}

/// Asks the supervisor to end, and takes its lock once it is gone (N45).
fn wait_for_end(ports: &Ports<'_>, task: &TaskId) -> Result<Waited, PortError> {
    ports.store.write_request(task, &Request::Interrupt)?;
    let asked = ports.store.record(task)?.map(|record| record.attempt);
    let since = ports.clock.beat();
    loop {
        if let TryLock::Taken(lock) = ports.store.try_task_lock(task)? {
            return Ok(Waited::Ended { lock, attempt: asked });
        }
        let present = ports.store.record(task)?.map(|record| record.attempt);
        if let (Some(attempt), true) = (asked, present > asked) {
            return Ok(Waited::Anew { attempt });
        }
        let waited = awake_between(&since, &ports.clock.beat());
        if waited.is_none_or(|waited| waited >= PATIENCE) {
            return Ok(Waited::StillThere);
        }
        ports.clock.sleep(BETWEEN_LOOKS);
    }
}

fn released(
    ports: &Ports<'_>,
    entry: &SlotEntry,
    task: TaskId,
    lock: Box<dyn TaskLock>,
    asked: Option<AttemptNumber>,
) -> Result<Released, PortError> {
    let record = ports.store.record(&task)?.filter(|record| record.slot == entry.name);
    let still_bound = ports
        .store
        .registry()?
        .slots
        .iter()
        .any(|now| now.name == entry.name && now.task_id.as_ref() == Some(&task));
    let unfinished = match &record {
        Some(record) if still_bound => {
            record.phase != Phase::Ended || (entry.held.is_some() && resumable(ports, record)?)
        }
        Some(_) | None => false,
    };
    if let Some(record) = record.as_ref().filter(|_| unfinished) {
        let kept = kept_at(&task, record.attempt);
        ports.commands.start_supervisor(&task, lock, true)?;
        return Ok(Released::Recovering { task, kept });
    }
    if !still_bound {
        // Its supervisor freed it when it was asked to end.
        return Ok(asked.map_or(Released::WasFree, |attempt| Released::Freed {
            kept: Some(kept_at(&task, attempt)),
            task,
            queued: true,
        }));
    }
    let place = SlotPlace { name: entry.name.clone(), path: entry.path.clone() };
    let kept = ports.vcs.rescue(&place)?.map(|(name, _)| name);
    ports.store.change_slot(&entry.name, &SlotChange::Unhold { task: Some(task.clone()) })?;
    ports.store.change_slot(&entry.name, &SlotChange::Free { task: task.clone() })?;
    drop(lock);
    let queued = ports.board.task(&task)?.is_some_and(|task| task.status == Status::Queued);
    Ok(Released::Freed { task, kept, queued })
}

/// Whether a supervisor can carry on what an ended attempt holds: one whose hand-over cannot be used was given up.
fn resumable(ports: &Ports<'_>, record: &Record) -> Result<bool, PortError> {
    match HandOver::of_claim(ports.store, record) {
        Ok(_) => Ok(true),
        Err(HandOverError::Unusable(_)) => Ok(false),
        Err(HandOverError::Port(error)) => Err(error),
    }
}
