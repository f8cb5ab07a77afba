//! Asking what became of recorded pull requests, once for all of them.

use std::collections::BTreeMap;
use std::time::Duration;

use dispatch_core::id::TaskId;
use dispatch_core::record::{Phase, Record, RecordedProposal};
use dispatch_core::status::Status;

use super::Sweep;
use crate::ports::{
    Answer, ForgeKind, PortError, Ports, ProposalState, Recorded, RemoteBranch, RemoteView,
};
use crate::settled::Settled;

/// What became of every pull request that has to be asked about; makes no call when there is none (M1.2).
pub(super) fn ask(sweep: &mut Sweep<'_>) -> Result<BTreeMap<TaskId, ProposalState>, PortError> {
    let mut asked = BTreeMap::new();
    for recorded in sweep.ports.store.records()? {
        if let Recorded::Read(record) = recorded
            && let Some(proposal) = open_proposal(sweep, &record)
        {
            asked.insert(record.task_id, proposal);
        }
    }
    if asked.is_empty() {
        return Ok(BTreeMap::new());
    }
    let limit = match sweep.ports.forge.kind() {
        ForgeKind::GitHub => sweep.left("asks what became of the pull requests"),
        // What was fetched answers.
        ForgeKind::Git => Some(Duration::ZERO),
    };
    match limit {
        Some(limit) => states(sweep.ports, sweep.remote, asked, limit),
        None => Ok(BTreeMap::new()),
    }
}

/// The recorded pull request of a task that no attempt works on, unless all about it is settled.
fn open_proposal(sweep: &Sweep<'_>, record: &Record) -> Option<RecordedProposal> {
    let proposal = record.pr.as_ref().filter(|_| record.phase == Phase::Ended)?;
    let settled = Settled::of(proposal);
    // A `Done` by hand is only questioned on the forge's present word (M1 step 3b).
    let done_by_hand = settled == Settled::Closed
        && !proposal.done_reverted
        && sweep.board.tasks.get(&record.task_id).is_some_and(|task| task.status == Status::Done);
    (settled.is_open() || done_by_hand).then(|| proposal.clone())
}

/// What became of these pull requests, within `limit`; makes no call when there is none.
pub(crate) fn states(
    ports: &Ports<'_>,
    remote: &RemoteView,
    asked: BTreeMap<TaskId, RecordedProposal>,
    limit: Duration,
) -> Result<BTreeMap<TaskId, ProposalState>, PortError> {
    if asked.is_empty() {
        return Ok(BTreeMap::new());
    }
    match ports.forge.kind() {
        ForgeKind::GitHub => ask_forge(ports, asked, limit),
        ForgeKind::Git => Ok(asked
            .into_iter()
            .map(|(id, proposal)| (id, ask_git(ports, remote, &proposal)))
            .collect()),
    }
}

fn ask_forge(
    ports: &Ports<'_>,
    asked: BTreeMap<TaskId, RecordedProposal>,
    limit: Duration,
) -> Result<BTreeMap<TaskId, ProposalState>, PortError> {
    let recorded: Vec<RecordedProposal> = asked.values().cloned().collect();
    let answers = ports.forge.proposals(&recorded, limit)?;
    Ok(asked
        .into_iter()
        .map(|(id, proposal)| {
            let answer = proposal.number.and_then(|number| answers.get(&number)).cloned();
            let silent = || ProposalState::Unknown("the forge said nothing about it".to_owned());
            (id, answer.unwrap_or_else(silent))
        })
        .collect())
}

/// Without pull requests, the freshly fetched base says what is merged (V3), and a branch that somebody deleted without
/// that is what a closed pull request would be.
fn ask_git(ports: &Ports<'_>, remote: &RemoteView, proposal: &RecordedProposal) -> ProposalState {
    match remote.get(&proposal.base) {
        RemoteBranch::At(_) => match ports.vcs.merged(&proposal.commit, &proposal.base) {
            Answer::Yes => ProposalState::Merged { head: proposal.commit.clone(), merge: None },
            Answer::No => match remote.get(&proposal.branch) {
                RemoteBranch::Absent => ProposalState::Absent,
                RemoteBranch::At(_) | RemoteBranch::Unknown => {
                    ProposalState::Open { changes_requested: Vec::new() }
                }
            },
            Answer::Unknown => ProposalState::Unknown("git could not tell".to_owned()),
        },
        RemoteBranch::Absent | RemoteBranch::Unknown => {
            ProposalState::Unknown(format!("branch {} was not seen on the remote", proposal.base))
        }
    }
}
