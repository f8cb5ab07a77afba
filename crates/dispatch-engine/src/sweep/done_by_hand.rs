//! M1 step 3b: a `Done` by hand that the forge does not confirm is taken back once.

use dispatch_core::id::TaskId;
use dispatch_core::record::RecordedProposal;
use dispatch_core::status::Status;

use super::{Locked, Sweep, words};
use crate::ports::{PortError, ProposalState, StatusChange, StatusWrite};

pub(super) fn run(sweep: &mut Sweep<'_>) {
    for (id, state) in sweep.proposals.clone() {
        let back_to = match state {
            ProposalState::Open { .. } => Status::InProgress,
            ProposalState::Closed => Status::Blocked,
            ProposalState::Merged { .. } | ProposalState::Absent | ProposalState::Unknown(_) => {
                continue;
            }
        };
        let done = sweep.board.tasks.get(&id).is_some_and(|task| task.status == Status::Done);
        if done && let Err(error) = take_back(sweep, &id, &back_to) {
            sweep.problem(Some(&id), error.chain());
        }
    }
}

fn take_back(sweep: &mut Sweep<'_>, id: &TaskId, back_to: &Status) -> Result<(), PortError> {
    let Some(Locked { lock, mut record }) = sweep.lock_ended(id)? else { return Ok(()) };
    let Some(proposal) = record.pr.clone().filter(|proposal| !proposal.done_reverted) else {
        return Ok(());
    };
    // Remembered first: after a crash in between the person's word counts, and is not taken back twice.
    let comment = words::done_taken_back(sweep.setup.config.language, &proposal, back_to);
    record.pr = Some(RecordedProposal { done_reverted: true, ..proposal });
    sweep.ports.store.write_record(&record)?;
    let change =
        StatusChange { expected: vec![Status::Done], to: back_to.clone(), comment: Some(comment) };
    if sweep.ports.board.set_status(id, &change)? == StatusWrite::Written {
        sweep.did(id, format!("was set Done, which the forge does not confirm: back to {back_to}"));
    }
    drop(lock);
    Ok(())
}
