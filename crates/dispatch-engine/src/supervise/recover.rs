//! Going on where a dead supervisor stopped (M1 step 2, C1.4).

use dispatch_close::execute::{CloseRun, Stop};
use dispatch_close::phrase::Said;
use dispatch_close::plan::{ClosePlan, Failure, hand_back_plan};
use dispatch_core::names::{CloseStep, RequeueReason};
use dispatch_core::record::Phase;

use super::follow::{Lost, lost_plan};
use super::{Attempt, leave};

/// Ends what is left of the process tree and gives the close to carry out; none when nothing is left to do.
pub(crate) fn resume(attempt: &mut Attempt<'_>) -> Result<Option<CloseRun>, Stop> {
    let phase = attempt.record.phase;
    attempt.verify()?;
    attempt.note(&format!("recovering in phase {phase}"));
    let left = attempt
        .ports
        .agent
        .end_leftovers(attempt.record.worker.as_ref(), &attempt.record.token)
        .map_err(|error| leave(&error))?;
    if left.ended > 0 {
        attempt.note(&format!("ended {} processes that were left", left.ended));
    }
    match phase {
        Phase::Claimed => {
            let why = Said::LostBefore.phrase(&[]);
            let failure = Failure::requeue(None, RequeueReason::Interrupted, why);
            Ok(Some(CloseRun::new(hand_back_plan(failure))))
        }
        Phase::Prepared | Phase::Running => {
            let plan = lost_plan(attempt, Lost::Supervisor);
            Ok(Some(CloseRun::new(plan)))
        }
        Phase::Closing(_) => {
            let kept = attempt.state.close.clone();
            Ok(Some(kept.unwrap_or_else(|| CloseRun::new(lost_plan(attempt, Lost::Supervisor)))))
        }
        Phase::Ended => held(attempt),
    }
}

/// A held slot whose cause is gone is saved and released (M1 step 5).
fn held(attempt: &mut Attempt<'_>) -> Result<Option<CloseRun>, Stop> {
    let registry = attempt.ports.store.registry().map_err(|error| leave(&error))?;
    let entry = registry.slots.iter().find(|entry| entry.name == attempt.record.slot);
    let ours = entry.is_some_and(|entry| entry.task_id.as_ref() == Some(attempt.id()));
    if !ours {
        return Ok(None);
    }
    // The close it ended with said why; only the saving is still to be done.
    let failure = attempt.state.close.as_ref().and_then(|run| run.plan.failure.clone());
    let steps = vec![CloseStep::Freeze, CloseStep::SaveWork, CloseStep::ReleaseSlot];
    Ok(Some(CloseRun::new(ClosePlan { steps, failure })))
}
