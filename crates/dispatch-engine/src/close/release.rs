//! Ending the attempt: outcome, slot, record, in that order (D6.8).

use dispatch_close::execute::{CloseRun, Stop};
use dispatch_close::plan::Disposition;
use dispatch_core::names::{BlockReason, RequeueReason};
use dispatch_core::record::Phase;

use super::{Step, hand_back};
use crate::governor;
use crate::ports::{PortError, SlotChange};
use crate::supervise::{Attempt, tally, write_outcome};

/// `release-slot`: only after the work is saved or proposed, or there is none.
pub(crate) fn release_slot(attempt: &mut Attempt<'_>, run: &CloseRun) -> Step {
    hand_back::leave_to_person(attempt, run)?;
    hand_back::late_cancellation(attempt, run)?;
    let slot = attempt.record.slot.clone();
    let store = attempt.ports.store;
    let held = store.registry()?.slots.iter().any(|entry| {
        entry.name == slot && entry.held.is_some() && entry.task_id.as_ref() == Some(attempt.id())
    });
    if held {
        let task = Some(attempt.hand.task_id.clone());
        store.change_slot(&slot, &SlotChange::Unhold { task })?;
    }
    write_outcome(attempt, run)?;
    store.change_slot(&slot, &SlotChange::Free { task: attempt.hand.task_id.clone() })?;
    end_record(attempt, run)?;
    Ok(Some(slot.to_string()))
}

/// Ends what the plan left open and writes the steps that came after the release.
pub(crate) fn end(attempt: &mut Attempt<'_>, run: &CloseRun) -> Result<(), Stop> {
    let ended = write_outcome(attempt, run).and_then(|()| end_record(attempt, run));
    ended.map_err(|error| Stop::Leave(error.chain()))
}

/// The one write that ends the record: the attempt is added to the counts in it, so that it is counted once however
/// often this runs.
fn end_record(attempt: &mut Attempt<'_>, run: &CloseRun) -> Result<(), PortError> {
    if attempt.record.phase == Phase::Ended {
        return Ok(());
    }
    let tally = tally(attempt, run);
    attempt.record.counts = attempt.state.counts_before.and(tally);
    attempt.record.lost_in_a_row =
        if lost(run) { attempt.record.lost_in_a_row.saturating_add(1) } else { 0 };
    attempt.record.phase = Phase::Ended;
    attempt.record.worker = None;
    attempt.write_record()?;
    tidy(attempt, run);
    Ok(())
}

/// What nobody has to wait for, and what fails nothing.
fn tidy(attempt: &mut Attempt<'_>, run: &CloseRun) {
    let ports = attempt.ports;
    if !lane_at_fault(run)
        && let Err(error) = governor::lane_fine(&ports, attempt.record.lane)
    {
        attempt.note(&error.chain());
    }
    if let Err(error) = ports.store.clear_request(attempt.id()) {
        attempt.note(&error.chain());
    }
    if let Some(place) = &attempt.state.place
        && let Err(error) = ports.agent.remove_private_place(place)
    {
        attempt.note(&format!("private folders are left behind: {}", error.chain()));
    }
}

fn lost(run: &CloseRun) -> bool {
    match run.failure().map(|failure| &failure.disposition) {
        Some(Disposition::Requeue(reason)) => {
            matches!(reason, RequeueReason::WorkerLost | RequeueReason::SupervisorLost)
        }
        Some(Disposition::Block(reason)) => {
            matches!(reason, BlockReason::WorkerLost | BlockReason::SupervisorLost)
        }
        Some(Disposition::Leave { .. }) | None => false,
    }
}

fn lane_at_fault(run: &CloseRun) -> bool {
    matches!(
        run.failure().map(|failure| &failure.disposition),
        Some(Disposition::Requeue(
            RequeueReason::Paused(_) | RequeueReason::ProvisionFailed | RequeueReason::Interrupted
        ))
    )
}
