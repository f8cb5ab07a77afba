//! Whether the board's files may be acted on: where its checkout stands (S3).

use dispatch_core::branch::BranchName;
use dispatch_core::object::CommitId;

use crate::ports::{Answer, OwnerRecord, PortError, Ports};
use crate::setup::Setup;

/// Where the board's checkout stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BoardBranch {
    /// On the board branch, where the last pass left it or further on.
    Here,
    /// Somewhere else: why, for a person.
    Elsewhere(String),
    /// Which branch it should be on is not known: the remote has to say it first.
    Unknown(String),
}

impl BoardBranch {
    /// Whether its files may be acted on.
    pub const fn is_here(&self) -> bool {
        match self {
            Self::Here => true,
            Self::Elsewhere(_) | Self::Unknown(_) => false,
        }
    }
}

/// Whether what is found is remembered for the next pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// It is.
    Kept,
    /// Only a look.
    Untouched,
}

/// Whether a commit seen elsewhere before is accepted if it still stands: only by the pass after the one that saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Round {
    /// The first round of a pass.
    First,
    /// A later round of the same pass.
    Later,
}

/// Finds out where the board's checkout stands.
pub fn look(
    ports: &Ports<'_>,
    setup: &Setup,
    base: Option<&BranchName>,
    round: Round,
    memory: Memory,
) -> Result<BoardBranch, PortError> {
    let place = ports.vcs.board_place()?;
    if !place.repository {
        return Ok(BoardBranch::Here);
    }
    let owner = ports.store.owner()?;
    let Some(expected) = setup.config.board.branch.as_ref().or(base) else {
        return Ok(BoardBranch::Unknown(
            "the remote never named its default branch; `baseBranch` in the configuration does so without it".into(),
        ));
    };
    if place.branch.as_ref() != Some(expected) {
        let found = place.branch.map_or_else(|| "no branch".to_owned(), |found| found.to_string());
        return Ok(BoardBranch::Elsewhere(format!(
            "the board's checkout is on {found}, not on {expected}: check out {expected} in `{}`, or name the board's branch in `board.branch`",
            setup.roots.board_root
        )));
    }
    let Some(head) = place.head else { return Ok(BoardBranch::Here) };
    if follows(ports, &owner, &head) {
        if memory == Memory::Kept {
            remember(ports, &head)?;
        }
        return Ok(BoardBranch::Here);
    }
    if round == Round::First && owner.seen_elsewhere.as_ref() == Some(&head) {
        if memory == Memory::Kept {
            remember(ports, &head)?;
        }
        return Ok(BoardBranch::Here);
    }
    if memory == Memory::Kept && owner.seen_elsewhere.as_ref() != Some(&head) {
        ports.store.write_owner(&OwnerRecord { seen_elsewhere: Some(head.clone()), ..owner })?;
    }
    Ok(BoardBranch::Elsewhere(format!(
        "{expected} stands at {}, which does not follow from what the last pass saw; if it still does at the next \
         pass, that one goes on",
        head.short()
    )))
}

fn follows(ports: &Ports<'_>, owner: &OwnerRecord, head: &CommitId) -> bool {
    match &owner.head {
        None => true,
        Some(last) if last == head => true,
        Some(last) => match ports.vcs.is_ancestor(last, head) {
            Answer::Yes => true,
            Answer::No | Answer::Unknown => false,
        },
    }
}

/// Remembers the board's commit as one that a pass acted on.
pub fn remember(ports: &Ports<'_>, head: &CommitId) -> Result<(), PortError> {
    let owner = ports.store.owner()?;
    if owner.head.as_ref() == Some(head) && owner.seen_elsewhere.is_none() {
        return Ok(());
    }
    ports.store.write_owner(&OwnerRecord {
        head: Some(head.clone()),
        seen_elsewhere: None,
        ..owner
    })
}
