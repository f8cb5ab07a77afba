//! What keeps every pass from taking tasks here: the first thing to know for a person who asks why nothing happens.

use dispatch_core::branch::BranchName;
use serde::Serialize;

use crate::base_branch;
use crate::board_place::{BoardBranch, Memory, Round, look};
use crate::ports::{PortError, Ports};
use crate::setup::{Setup, Trust};

/// What a person is told where the configuration is not the approved one.
pub const NOT_APPROVED: &str = "the configuration is not the approved one: look at `dispatch trust --show`, then approve it with `dispatch trust`";

/// Why no pass takes a task here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Standstill {
    /// What keeps the passes from it.
    pub cause: StandstillCause,
    /// The same for a person, with what to do about it.
    pub text: String,
}

/// What keeps every pass from taking tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StandstillCause {
    /// There is no configuration, or it cannot be used.
    ConfigUnusable,
    /// The board lacks a status that a task passes through.
    StatusMissing,
    /// The configuration is not the approved one.
    ConfigChanged,
    /// There is no remote.
    NoRemote,
    /// The branch that work is proposed for is not known.
    BaseUnknown,
    /// The board's checkout is not where the board is.
    BoardElsewhere,
}

impl Standstill {
    /// A standstill with its sentence.
    pub fn new(cause: StandstillCause, text: impl Into<String>) -> Self {
        Self { cause, text: text.into() }
    }
}

/// What would keep the next pass from taking tasks, as far as can be told without the network.
pub fn look_at(ports: &Ports<'_>, setup: &Setup) -> Result<Option<Standstill>, PortError> {
    find(ports, setup, base_branch::remembered(ports, setup)?.as_ref())
}

/// Looks for what would keep the next pass from taking tasks; changes nothing and waits for no network.
pub(crate) fn find(
    ports: &Ports<'_>,
    setup: &Setup,
    base: Option<&BranchName>,
) -> Result<Option<Standstill>, PortError> {
    if let Some(why) = ports.vcs.missing_remote() {
        let text = format!(
            "{why}: add one that has the branch work is proposed for (`git remote add origin <address>`)"
        );
        return Ok(Some(Standstill::new(StandstillCause::NoRemote, text)));
    }
    if let Trust::Changed(_) = setup.trust {
        return Ok(Some(Standstill::new(StandstillCause::ConfigChanged, NOT_APPROVED)));
    }
    Ok(match look(ports, setup, base, Round::First, Memory::Untouched)? {
        BoardBranch::Elsewhere(why) => Some(Standstill::new(StandstillCause::BoardElsewhere, why)),
        // Before the first pass nobody has asked the remote.
        BoardBranch::Unknown(why) if ports.store.owner()?.board.is_some() => {
            let text = format!(
                "{why}; a remote that is empty needs that branch first (`git push origin <branch>`)"
            );
            Some(Standstill::new(StandstillCause::BaseUnknown, text))
        }
        BoardBranch::Unknown(_) | BoardBranch::Here => None,
    })
}
