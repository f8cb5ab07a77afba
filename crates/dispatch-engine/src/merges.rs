//! Whether a pass has a merge to follow (R2.1): a question between two passes, which changes nothing.

use std::collections::{BTreeMap, BTreeSet};

use dispatch_core::id::TaskId;
use dispatch_core::record::{Phase, RecordedProposal};

use crate::budget::NETWORK;
use crate::ports::{ForgeKind, PortError, Ports, ProposalState, Recorded, RemoteView};
use crate::settled::Settled;
use crate::sweep::proposals;

/// The tasks whose open pull request was merged since the last sweep; no call is made when none is open.
///
/// What cannot be found out is no merge: the next pass asks again.
pub fn seen(ports: &Ports<'_>) -> Result<BTreeSet<TaskId>, PortError> {
    let mut asked: BTreeMap<TaskId, RecordedProposal> = BTreeMap::new();
    for recorded in ports.store.records()? {
        if let Recorded::Read(record) = recorded
            && record.phase == Phase::Ended
            && let Some(proposal) = record.pr.filter(|proposal| Settled::of(proposal).is_open())
        {
            asked.insert(record.task_id, proposal);
        }
    }
    let bases: BTreeSet<_> = asked.values().map(|proposal| proposal.base.clone()).collect();
    let remote = match ports.forge.kind() {
        ForgeKind::Git if !bases.is_empty() => ports.vcs.fetch(&bases, NETWORK),
        ForgeKind::Git | ForgeKind::GitHub => RemoteView::default(),
    };
    let merged = |state: &ProposalState| matches!(state, ProposalState::Merged { .. });
    let states = proposals::states(ports, &remote, asked, NETWORK)?;
    Ok(states.into_iter().filter(|(_, state)| merged(state)).map(|(id, _)| id).collect())
}
