//! Asking what became of recorded pull requests, once for all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use dispatch_core::branch::BranchName;
use dispatch_core::id::TaskId;
use dispatch_core::record::{Phase, Record, RecordedProposal};
use dispatch_core::status::Status;

use super::Sweep;
use crate::ports::{
    Answer, Forge, ForgeKind, PortError, Ports, ProposalState, Recorded, RemoteBranch, RemoteView,
};
use crate::settled::Settled;

/// Recorded pull requests, or branches, by task.
pub(crate) type Asked = BTreeMap<TaskId, RecordedProposal>;
/// What became of them.
pub(crate) type States = BTreeMap<TaskId, ProposalState>;

/// What became of every pull request that has to be asked about; makes no call when there is none (M1.2).
pub(super) fn ask(sweep: &mut Sweep<'_>) -> Result<States, PortError> {
    let mut asked = Asked::new();
    for recorded in sweep.ports.store.records()? {
        if let Recorded::Read(record) = recorded
            && let Some(proposal) = open_proposal(sweep, &record)
        {
            asked.insert(record.task_id, proposal);
        }
    }
    let (on_forge, as_branches) = split(sweep.ports.forge, asked);
    let mut states = ask_git(sweep.ports, sweep.remote, as_branches);
    if !on_forge.is_empty()
        && let Some(limit) = sweep.left("asks what became of the pull requests")
    {
        states.extend(ask_forge(sweep.ports, on_forge, limit)?);
    }
    Ok(states)
}

/// Those that the forge can tell about, and those that only git can: proposed as branches, on a remote that had no pull
/// requests at that time, or on one that has none now.
fn split(forge: &dyn Forge, asked: Asked) -> (Asked, Asked) {
    let has_pull_requests = match forge.kind() {
        ForgeKind::GitHub => true,
        ForgeKind::Git => false,
    };
    asked.into_iter().partition(|(_, proposal)| has_pull_requests && proposal.number.is_some())
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

/// What became of these pull requests, within `limit`. The branches of those that only git can tell about are fetched
/// first; makes no call when there is none.
pub(crate) fn fetch_and_ask(
    ports: &Ports<'_>,
    asked: Asked,
    limit: Duration,
) -> Result<States, PortError> {
    let (on_forge, as_branches) = split(ports.forge, asked);
    let branches: BTreeSet<BranchName> = as_branches
        .values()
        .flat_map(|proposal| [proposal.base.clone(), proposal.branch.clone()])
        .collect();
    let remote =
        if branches.is_empty() { RemoteView::default() } else { ports.vcs.fetch(&branches, limit) };
    let mut states = ask_git(ports, &remote, as_branches);
    if !on_forge.is_empty() {
        states.extend(ask_forge(ports, on_forge, limit)?);
    }
    Ok(states)
}

fn ask_forge(ports: &Ports<'_>, asked: Asked, limit: Duration) -> Result<States, PortError> {
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

fn ask_git(ports: &Ports<'_>, remote: &RemoteView, asked: Asked) -> States {
    asked.into_iter().map(|(id, proposal)| (id, branch_state(ports, remote, &proposal))).collect()
}

/// Without pull requests, the freshly fetched base says what is merged (V3), and a branch that somebody deleted without
/// that is what a closed pull request would be.
fn branch_state(
    ports: &Ports<'_>,
    remote: &RemoteView,
    proposal: &RecordedProposal,
) -> ProposalState {
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
