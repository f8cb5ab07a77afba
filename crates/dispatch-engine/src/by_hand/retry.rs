//! `dispatch retry`: queues a blocked task again.

use dispatch_core::attempt::AttemptCounts;
use dispatch_core::id::TaskId;
use dispatch_core::record::Phase;
use dispatch_core::status::Status;
use dispatch_guards::guards::MAX_FAULTS;
use serde::Serialize;

use super::ByHandError;
use crate::ports::{PortError, Ports, StatusChange, StatusWrite, TryLock};
use crate::stage::our_last;

/// What retrying did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Retried {
    /// Why the task was blocked: our last comment on it.
    pub reason: Option<String>,
    /// How many attempt directories were set aside, so that they no longer count.
    pub archived: u32,
}

/// Queues a blocked task again, or lets one go on that waits because too many attempts were lost to faults.
///
/// `attempts` is how many the configuration gives a task. With none left it is refused unless `reset` sets the earlier
/// ones aside.
pub fn retry(
    ports: &Ports<'_>,
    id: &TaskId,
    attempts: u32,
    reset: bool,
) -> Result<Retried, ByHandError> {
    let doing = format!("could not retry {id}");
    let failed = ByHandError::at(&doing);
    let _lock = match ports.store.try_task_lock(id).map_err(&failed)? {
        TryLock::Taken(lock) => lock,
        TryLock::Busy(holder) => {
            return Err(ByHandError::Refused(format!("{id} is worked on ({holder})")));
        }
    };
    let Some(task) = ports.board.task(id).map_err(&failed)? else {
        return Err(ByHandError::Refused(format!("there is no task {id} on the board")));
    };
    let counts = ports.store.attempt_counts(id).map_err(&failed)?;
    let waits = task.status == Status::Queued && counts.faults() >= MAX_FAULTS;
    if task.status != Status::Blocked && !waits {
        let text = format!("{id} is {}: only a Blocked task can be retried", task.status);
        return Err(ByHandError::Refused(text));
    }
    if !reset && let Some(why) = used_up(id, counts, attempts) {
        return Err(ByHandError::Refused(why));
    }
    let archived = if reset {
        set_aside(ports, id).map_err(&failed)?
    } else {
        forgive(ports, id, counts).map_err(&failed)?;
        0
    };
    let reason = our_last(&task.comments).map(|comment| comment.body.clone());
    if waits {
        return Ok(Retried { reason, archived });
    }
    let change =
        StatusChange { expected: vec![Status::Blocked], to: Status::Queued, comment: None };
    match ports.board.set_status(id, &change).map_err(failed)? {
        StatusWrite::Written => Ok(Retried { reason, archived }),
        StatusWrite::Mismatch { found } => Err(ByHandError::Refused(format!(
            "{id} was moved to {found} meanwhile, and stays there"
        ))),
        StatusWrite::Gone => Err(ByHandError::Refused(format!("{id} left the board meanwhile"))),
    }
}

/// Why a retry would come to nothing, when it would.
fn used_up(id: &TaskId, counts: AttemptCounts, attempts: u32) -> Option<String> {
    (counts.counted >= attempts).then(|| {
        format!(
            "{} of {attempts} attempts of {id} are used up; `dispatch retry {id} --reset-attempts` sets the earlier \
             attempts aside (nothing of them is deleted)",
            counts.counted
        )
    })
}

/// Lets the faults that were met so far hold the task back no more.
fn forgive(ports: &Ports<'_>, id: &TaskId, counts: AttemptCounts) -> Result<(), PortError> {
    let record = ports.store.record(id)?.filter(|record| record.phase == Phase::Ended);
    if let Some(mut record) = record.filter(|_| counts.faults() > 0) {
        record.counts = counts.forgiven();
        ports.store.write_record(&record)?;
    }
    Ok(())
}

/// Makes the earlier attempts count no more; their numbers are not given again.
fn set_aside(ports: &Ports<'_>, id: &TaskId) -> Result<u32, PortError> {
    let archived = ports.store.archive_attempts(id)?;
    if let Some(mut record) = ports.store.record(id)?.filter(|record| record.phase == Phase::Ended)
    {
        record.counts = AttemptCounts::default();
        record.lost_in_a_row = 0;
        ports.store.write_record(&record)?;
    }
    Ok(archived)
}
