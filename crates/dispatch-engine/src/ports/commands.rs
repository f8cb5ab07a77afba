//! Other programs: provisioning, hooks, formatters, checks, and our own supervisors.

use std::ops::ControlFlow;
use std::time::Duration;

use camino::Utf8PathBuf;
use dispatch_core::id::TaskId;
use dispatch_core::record::ProcessMark;

use super::store::TaskLock;
use super::{ExitMark, PortError};

/// Runs programs for the engine.
pub trait Commands {
    /// Runs a program to its end or its limit, then ends what it left behind (C5.3).
    ///
    /// `alive` is called at least every 5 s meanwhile, so that a supervisor's beat goes on (D9.4) and a request is seen
    /// (M2): when it breaks off, the program is asked to end, then killed with all that is below it.
    fn run(
        &self,
        spec: &CommandSpec,
        alive: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<CommandEnd, PortError>;

    /// Starts the supervisor of a task, detached, and hands it the task's lock (D6.4, D9.1).
    fn start_supervisor(
        &self,
        id: &TaskId,
        lock: Box<dyn TaskLock>,
        recover: bool,
    ) -> Result<ProcessMark, PortError>;

    /// Whether this very process is alive.
    fn is_alive(&self, process: &ProcessMark) -> bool;

    /// Ends a supervisor that does not answer (D9.4).
    fn kill(&self, process: &ProcessMark) -> Result<(), PortError>;

    /// This process.
    fn ourselves(&self) -> ProcessMark;

    /// Whether this process was asked to end (SIGTERM, SIGINT, SIGHUP).
    fn asked_to_end(&self) -> bool;

    /// Whether the slot's dependencies can be prepared as configured: the SHA-256 of a file, `None` when missing.
    fn file_digest(&self, path: &camino::Utf8Path) -> Result<Option<String>, PortError>;
}

/// A program to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSpec {
    /// The program and its arguments; never a shell line.
    pub argv: Vec<String>,
    /// Where it runs.
    pub dir: Utf8PathBuf,
    /// The whole environment.
    pub env: Vec<(String, String)>,
    /// What goes to its standard input.
    pub stdin: Vec<u8>,
    /// The time limit.
    pub limit: Duration,
    /// The file its command line and output are appended to.
    pub log: Option<Utf8PathBuf>,
    /// What it may touch (W3.2).
    pub place: CommandPlace,
    /// The marker by which its processes are found.
    pub marker: String,
}

/// What a program may touch (W3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandPlace {
    /// The slot, in which the worker was.
    Slot,
    /// The verification tree.
    Verification,
    /// Nothing to write: a prompt hook in the code root.
    ReadOnly,
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandEnd {
    /// It ended by itself.
    Ended {
        /// Its exit status or signal.
        exit: ExitMark,
        /// Its standard output and standard error together, the last 64 KiB.
        output: String,
        /// The first 256 KiB of its standard output; with a log that is one with standard error.
        stdout: String,
    },
    /// The limit passed and it was ended.
    TimedOut {
        /// Its output until then.
        output: String,
    },
    /// It was ended because `alive` broke off.
    Stopped,
    /// It could not be started: why.
    NotStarted(String),
}

impl CommandEnd {
    /// Whether it ended with exit status 0.
    pub fn succeeded(&self) -> bool {
        matches!(self, Self::Ended { exit: ExitMark::Code(0), .. })
    }
}
