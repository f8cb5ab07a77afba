//! The pass: maintenance, then dispatching (D2, D3).

mod claim;
mod consider;
mod report;
mod round;

use camino::Utf8PathBuf;
use dispatch_core::names::SelectionOff;
use thiserror::Error;

pub(crate) use self::claim::Occupied;
pub use self::report::{Considered, Counts, End, PassReport, RoundReport, Selection};

use crate::board_place::Round;
use crate::ports::{OwnerRecord, PortError, Ports, TryLock};
use crate::setup::{Roots, Setup};

/// What a pass was asked to do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Why it selects nothing: what the trigger or the command line says.
    pub selection_off: Option<SelectionOff>,
    /// The most tasks to dispatch.
    pub max_dispatch: Option<u32>,
    /// Everything but effects: what each candidate's verdict would be.
    pub dry_run: bool,
}

/// Why there was no pass.
#[derive(Debug, Error)]
pub enum PassError {
    /// The state directory belongs to another pair of board and code root (S3).
    #[error(
        "this repository's dispatcher state belongs to the board `{board}` and the code root `{code_root}`"
    )]
    OtherPair {
        /// The board it belongs to.
        board: Utf8PathBuf,
        /// The code root it belongs to.
        code_root: Utf8PathBuf,
    },
    /// Something that has to work did not.
    #[error("the pass could not go on")]
    Port(#[source] PortError),
}

impl From<PortError> for PassError {
    fn from(source: PortError) -> Self {
        Self::Port(source)
    }
}

/// Runs one pass; no wish for a pass is lost (D2.1).
///
/// A wish is counted first. Whoever holds the lock goes round again until no wish came during a whole round, and
/// looks once more after unlocking.
pub fn run(ports: &Ports<'_>, setup: &Setup, options: &Options) -> Result<PassReport, PassError> {
    belongs_together(ports, &setup.roots)?;
    let mut report = PassReport::default();
    if options.dry_run {
        report.rounds.push(round::run(ports, setup, options, Round::First)?);
        return Ok(report);
    }
    ports.store.wish_for_pass()?;
    let mut options = options.clone();
    let mut which = Round::First;
    loop {
        let lock = match ports.store.try_pass_lock()? {
            TryLock::Taken(lock) => lock,
            TryLock::Busy(holder) => {
                if report.rounds.is_empty() {
                    report.another = Some(holder);
                }
                return Ok(report);
            }
        };
        remember_pair(ports, &setup.roots)?;
        loop {
            let seen = ports.store.wishes()?;
            let round = round::run(ports, setup, &options, which)?;
            let dispatched = round.counts().dispatched;
            report.rounds.push(round);
            options = for_later_rounds(&options, dispatched);
            which = Round::Later;
            if ports.store.wishes()? == seen {
                drop(lock);
                if ports.store.wishes()? == seen {
                    return Ok(report);
                }
                break;
            }
        }
    }
}

/// A later round answers the wish of another trigger, which may have wanted tasks selected. Only a process that a
/// worker started must not (D1.3): what it starts would inherit the worker's surroundings.
fn for_later_rounds(options: &Options, dispatched: u32) -> Options {
    let selection_off = match options.selection_off {
        Some(SelectionOff::Sentinel) => Some(SelectionOff::Sentinel),
        Some(
            SelectionOff::Callback
            | SelectionOff::Flag
            | SelectionOff::BoardElsewhere
            | SelectionOff::NotOwner
            | SelectionOff::ConfigChanged,
        )
        | None => None,
    };
    let max_dispatch = options.max_dispatch.map(|most| most.saturating_sub(dispatched));
    Options { selection_off, max_dispatch, dry_run: options.dry_run }
}

fn belongs_together(ports: &Ports<'_>, roots: &Roots) -> Result<(), PassError> {
    let owner = ports.store.owner()?;
    match (owner.board, owner.code_root) {
        (Some(board), Some(code_root))
            if board != roots.board_dir || code_root != roots.code_root =>
        {
            Err(PassError::OtherPair { board, code_root })
        }
        (Some(_) | None, Some(_) | None) => Ok(()),
    }
}

fn remember_pair(ports: &Ports<'_>, roots: &Roots) -> Result<(), PortError> {
    let owner = ports.store.owner()?;
    if owner.board.is_some() && owner.code_root.is_some() {
        return Ok(());
    }
    ports.store.write_owner(&OwnerRecord {
        board: Some(roots.board_dir.clone()),
        code_root: Some(roots.code_root.clone()),
        ..owner
    })
}
