//! The branch work is proposed for: configured, else the remote's default one, asked at every pass (V2.4). The last answer
//! is remembered, so that a remote that is silent for a while changes nothing about where the board belongs (D3.5).

use dispatch_core::branch::BranchName;

use crate::board_place::Memory;
use crate::budget::{Budget, put_off};
use crate::ports::{OwnerRecord, PortError, Ports};
use crate::setup::Setup;

/// The base branch as a pass found it.
pub(crate) struct BaseBranch {
    /// Its name; none when the remote never said it.
    pub(crate) name: Option<BranchName>,
    /// Why the remote did not say it now.
    pub(crate) problem: Option<String>,
}

/// The base branch as configured or as the remote last named it; waits for no network.
pub(crate) fn remembered(
    ports: &Ports<'_>,
    setup: &Setup,
) -> Result<Option<BranchName>, PortError> {
    match &setup.config.base_branch {
        Some(configured) => Ok(Some(configured.clone())),
        None => Ok(ports.store.owner()?.default_branch),
    }
}

/// Asks the remote unless one is configured, with half of what git has left: a remote that is slow in this leaves the
/// fetch its time.
pub(crate) fn find(
    ports: &Ports<'_>,
    setup: &Setup,
    budget: &Budget,
    memory: Memory,
) -> Result<BaseBranch, PortError> {
    let known = remembered(ports, setup)?;
    if setup.config.base_branch.is_some() {
        return Ok(BaseBranch { name: known, problem: None });
    }
    let silent = match budget.left_for_git(ports.clock) {
        None => put_off("asks the remote for its default branch"),
        Some(left) => match ports.vcs.default_branch(left / 2) {
            Ok(found) => {
                if memory == Memory::Kept && known.as_ref() != Some(&found) {
                    let owner = ports.store.owner()?;
                    let default_branch = Some(found.clone());
                    ports.store.write_owner(&OwnerRecord { default_branch, ..owner })?;
                }
                return Ok(BaseBranch { name: Some(found), problem: None });
            }
            Err(error) => error.chain(),
        },
    };
    let problem = match &known {
        Some(known) => format!("{silent}; going on with {known}, which it named last"),
        None => silent,
    };
    Ok(BaseBranch { name: known, problem: Some(problem) })
}
