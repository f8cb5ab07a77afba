//! Everything the engine can ask of the world.
//!
//! Ports are small and synchronous. A method that can fail says so by [`PortError`]; a question whose answer may
//! stay unknown has an answer type that says so, and an unknown answer is never treated as a "no" (I7).

mod agent;
mod board;
mod commands;
mod forge;
mod store;
mod vcs;

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use dispatch_core::error_chain::chain;
use dispatch_core::names::PauseCause;
use dispatch_core::record::Beat;
use time::OffsetDateTime;

pub use self::agent::{
    Agent, AgentLaunch, ExitMark, Leftovers, Mail, Mailbox, PrivatePlace, Review, ReviewRequest,
    Running, Verdict,
};
pub use dispatch_guards::scope::ChangeStatus;

pub use self::board::{Board, StatusChange, StatusWrite, Tick, WorkerEditEnd};
pub use self::commands::{CommandEnd, CommandPlace, CommandSpec, Commands};
pub use self::forge::{Forge, ForgeKind, NewPullRequest, ProposalState, PullRequest, ReviewSince};
pub use self::store::{
    AttemptFile, LaneState, OwnerRecord, PassLock, Recorded, Registry, SlotChange, Store, TaskLock,
    TryLock,
};
pub use self::vcs::{
    Answer, BoardCommit, BoardPlace, Change, Deletion, Diff, EntryKind, Frozen, Lease, Lying,
    Merge, Nested, Prepared, Push, RemoteBranch, RemoteView, SlotPlace, Vcs,
};

/// All ports, as the engine's functions take them.
#[derive(Clone, Copy)]
pub struct Ports<'a> {
    /// The Backlog.md board.
    pub board: &'a dyn Board,
    /// git.
    pub vcs: &'a dyn Vcs,
    /// Where pull requests live.
    pub forge: &'a dyn Forge,
    /// The agent.
    pub agent: &'a dyn Agent,
    /// Other programs: provisioning, hooks, formatters, checks, supervisors.
    pub commands: &'a dyn Commands,
    /// Our own files.
    pub store: &'a dyn Store,
    /// Clocks.
    pub clock: &'a dyn Clock,
    /// Notifications.
    pub notifier: &'a dyn Notifier,
}

/// Clocks: one for the outside, one that stands still while the machine sleeps (S6).
pub trait Clock {
    /// The wall clock, in UTC. For display and for times that come from outside, never for a limit.
    fn now(&self) -> OffsetDateTime;

    /// Machine-awake time and the boot it belongs to.
    fn beat(&self) -> Beat;

    /// Waits.
    fn sleep(&self, duration: Duration);
}

/// Tells a person, best effort: never fails anything (K4).
pub trait Notifier {
    /// Sends one notification.
    fn notify(&self, title: &str, body: &str);
}

/// A port could not do what it was asked.
///
/// `doing` says what was being done on what; the chain of causes carries the other program's own words.
#[derive(Debug)]
pub struct PortError {
    /// What was being done, on what: a lower-case clause that reads after "could not".
    pub doing: String,
    /// The machine or account fault this is, when it is one (D11.1); none when it cannot be told.
    pub pause: Option<PauseCause>,
    /// What would help, when it is known.
    pub hint: Option<String>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl PortError {
    /// An error with its cause.
    pub fn new(
        doing: impl Into<String>,
        source: impl Into<Box<dyn StdError + Send + Sync>>,
    ) -> Self {
        Self { doing: doing.into(), pause: None, hint: None, source: Some(source.into()) }
    }

    /// The same error, known to be a fault of the machine or of an account.
    #[must_use]
    pub fn pausing(mut self, cause: PauseCause) -> Self {
        self.pause = Some(cause);
        self
    }

    /// The same error with what would help.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The whole chain in one line with what would help, for comments and reports.
    pub fn chain(&self) -> String {
        match &self.hint {
            Some(hint) => format!("{} ({hint})", chain(self)),
            None => chain(self),
        }
    }
}

impl fmt::Display for PortError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "could not {}", self.doing)
    }
}

impl StdError for PortError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}
