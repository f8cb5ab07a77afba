//! Whether a pass has a merge to follow (R2.1): a question between two passes, which changes nothing.

use std::collections::BTreeSet;

use dispatch_core::id::TaskId;
use dispatch_core::record::Phase;

use crate::budget::NETWORK;
use crate::ports::{PortError, Ports, ProposalState, Recorded};
use crate::settled::Settled;
use crate::sweep::proposals::{self, Asked};

/// The tasks whose open pull request was merged since the last sweep; no call is made when none is open.
///
/// What cannot be found out is no merge: the next pass asks again.
pub fn seen(ports: &Ports<'_>) -> Result<BTreeSet<TaskId>, PortError> {
    let mut asked = Asked::new();
    for recorded in ports.store.records()? {
        if let Recorded::Read(record) = recorded
            && record.phase == Phase::Ended
            && let Some(proposal) = record.pr.filter(|proposal| Settled::of(proposal).is_open())
        {
            asked.insert(record.task_id, proposal);
        }
    }
    let merged = |state: &ProposalState| matches!(state, ProposalState::Merged { .. });
    let states = proposals::fetch_and_ask(ports, asked, NETWORK)?;
    Ok(states.into_iter().filter(|(_, state)| merged(state)).map(|(id, _)| id).collect())
}
