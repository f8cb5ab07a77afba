//! M1 step 6: the statuses of parents follow from their children (B5).

use std::collections::BTreeMap;

use dispatch_core::id::TaskId;
use dispatch_core::parent::{Merged, ParentFacts, derive};
use dispatch_core::prompt::is_block_comment;
use dispatch_core::record::{Phase, Record};
use dispatch_core::status::Status;
use dispatch_core::task::Task;

use super::Sweep;
use crate::ports::{PortError, ProposalState, Recorded, StatusChange, StatusWrite};
use crate::settled::{Settled, is_merged};

pub(super) fn run(sweep: &mut Sweep<'_>) -> Result<(), PortError> {
    // The steps before this one may have changed the board.
    let board = sweep.ports.board.read();
    let mut records = BTreeMap::new();
    for recorded in sweep.ports.store.records()? {
        match recorded {
            Recorded::Read(record) => {
                records.insert(record.task_id.clone(), *record);
            }
            // Without its facts a parent could be derived wrongly.
            Recorded::Unreadable { .. } => return Ok(()),
        }
    }
    for (id, to) in derive(&board, |task| facts(sweep, &records, task)) {
        let working = records.get(&id).is_some_and(|record| record.phase != Phase::Ended);
        let Some(task) = board.tasks.get(&id).filter(|_| !working) else { continue };
        let change =
            StatusChange { expected: vec![task.status.clone()], to: to.clone(), comment: None };
        match sweep.ports.board.set_status(&id, &change) {
            Ok(StatusWrite::Written) => sweep.did(&id, format!("its subtasks make it {to}")),
            Ok(StatusWrite::Mismatch { .. } | StatusWrite::Gone) => {}
            Err(error) => sweep.problem(Some(&id), error.chain()),
        }
    }
    Ok(())
}

fn facts(sweep: &Sweep<'_>, records: &BTreeMap<TaskId, Record>, task: &Task) -> ParentFacts {
    let Some(record) = records.get(&task.id) else {
        let close_attempt_covers_children = awaits_a_person(task);
        return ParentFacts { merged: Merged::No, close_attempt_covers_children };
    };
    ParentFacts {
        merged: merged(sweep, record),
        close_attempt_covers_children: awaits_a_person(task)
            || covers_children(records, record, task),
    }
}

fn merged(sweep: &Sweep<'_>, record: &Record) -> Merged {
    let Some(proposal) = &record.pr else { return Merged::No };
    if Settled::of(proposal).is_merged() {
        return Merged::Yes;
    }
    match sweep.proposals.get(&record.task_id) {
        Some(ProposalState::Unknown(_)) => Merged::Unknown,
        Some(_) | None => Merged::No,
    }
}

/// Whether our own last word is why the task is blocked. Queueing such a parent again by itself would block it for the
/// same reason and say so at every pass.
fn awaits_a_person(task: &Task) -> bool {
    task.status == Status::Blocked && task.comments.last().is_some_and(is_block_comment)
}

/// Whether an attempt of the parent saw the merged commits of all its children; only close attempts look.
fn covers_children(records: &BTreeMap<TaskId, Record>, record: &Record, task: &Task) -> bool {
    let Some(covered) = &record.covered_children else { return false };
    task.children
        .iter()
        .filter_map(|child| records.get(child))
        .filter(|child| is_merged(child))
        .filter_map(|child| child.pr.as_ref())
        .all(|merged| covered.contains(&merged.commit))
}
