//! M1 step 5: slots that keep the only copy of some work are tried again once their cause may be gone.

use std::time::Duration;

use dispatch_core::id::TaskId;
use dispatch_core::record::Phase;

use super::{Locked, Sweep};
use crate::budget::awake_between;
use crate::ports::PortError;

/// A recovery ends in a pass of its own, which must not start the next one at once.
const BETWEEN_TRIES: Duration = Duration::from_mins(10);

pub(super) fn run(sweep: &mut Sweep<'_>) -> Result<(), PortError> {
    for entry in sweep.ports.store.registry()?.slots {
        if let (Some(task), Some(_)) = (entry.task_id, entry.held)
            && let Err(error) = try_again(sweep, &task)
        {
            sweep.problem(Some(&task), error.chain());
        }
    }
    Ok(())
}

fn try_again(sweep: &mut Sweep<'_>, id: &TaskId) -> Result<(), PortError> {
    if sweep.ports.vcs.free_mib()? < sweep.setup.config.limits.min_free_mib {
        return Ok(());
    }
    let now = sweep.ports.clock.beat();
    if let Some((_, at)) = sweep.ports.store.observed(id)?
        && awake_between(&at, &now).is_some_and(|since| since < BETWEEN_TRIES)
    {
        return Ok(());
    }
    let Some(Locked { lock, record }) = sweep.lock(id)? else { return Ok(()) };
    // Any other phase is recovered as a dead attempt.
    if record.phase != Phase::Ended {
        return Ok(());
    }
    sweep.ports.store.write_observed(id, &now, &now)?;
    sweep.ports.commands.start_supervisor(id, lock, true)?;
    sweep.did(id, "its held slot is tried again");
    Ok(())
}
