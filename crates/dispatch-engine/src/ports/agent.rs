//! The agent.

use std::fmt;
use std::ops::ControlFlow;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_core::attempt::AttemptNumber;
use dispatch_core::id::TaskId;
use dispatch_core::outcome::StreamSummary;
use dispatch_core::record::ProcessMark;
use serde::{Deserialize, Serialize};

use super::PortError;

/// A kind of agent (W4). Nothing above this trait knows its flags or the shape of its events.
pub trait Agent {
    /// Makes the private home, temporary, configuration and mailbox folders of an attempt (D7.6), empty.
    fn private_place(&self, id: &TaskId, attempt: AttemptNumber)
    -> Result<PrivatePlace, PortError>;

    /// Puts the person's settings into the configuration folder of such a place, as the agent looks for them (D7.6).
    fn give_settings(&self, place: &PrivatePlace, text: &str) -> Result<(), PortError>;

    /// The mailbox of such a place.
    fn mailbox(&self, place: &PrivatePlace) -> Result<Box<dyn Mailbox>, PortError>;

    /// Removes them.
    fn remove_private_place(&self, place: &PrivatePlace) -> Result<(), PortError>;

    /// Starts a worker in a session of its own, its output going to files (D9.2, D9.3).
    fn launch(&self, launch: &AgentLaunch) -> Result<Box<dyn Running>, PortError>;

    /// Feeds what is new in a stream file, from byte `from`, to the summary; gives the byte to go on from.
    fn read_stream(
        &self,
        file: &Utf8Path,
        from: u64,
        summary: &mut StreamSummary,
    ) -> Result<u64, PortError>;

    /// Ends what is left of an attempt's process tree: the worker by its mark, the rest by the attempt's marker.
    fn end_leftovers(
        &self,
        worker: Option<&ProcessMark>,
        marker: &str,
    ) -> Result<Leftovers, PortError>;

    /// What keeps workers from being started where this process runs, for a person: the program is not there, or
    /// `account`, the variable that holds the account's credential, is not set.
    fn missing(&self, account: Option<&str>) -> Vec<String>;

    /// Whether the local model is loaded (D4.2); what is wrong otherwise.
    fn readiness(&self, health_check_url: &str, model: &str) -> Result<(), String>;

    /// Has a diff reviewed by an agent of its own (C7). `alive` is called at least every 5 s meanwhile; when it breaks off,
    /// the reviewer is ended.
    fn review(&self, request: &ReviewRequest, alive: &mut dyn FnMut() -> ControlFlow<()>)
    -> Review;
}

/// A worker that was started.
pub trait Running {
    /// The worker's process.
    fn mark(&self) -> ProcessMark;

    /// How it ended, once it has.
    fn poll(&mut self) -> Result<Option<ExitMark>, PortError>;

    /// The stop procedure of D9.5, to its end: nothing of the worker is left afterwards.
    fn stop(&mut self) -> Result<ExitMark, PortError>;

    /// Ends what the worker left behind, after it has ended by itself.
    fn end_strays(&mut self) -> Result<Leftovers, PortError>;
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitMark {
    /// With this exit status.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// It was gone before anybody could ask.
    Unknown,
}

impl fmt::Display for ExitMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "ended with exit status {code}"),
            Self::Signal(signal) => write!(f, "was ended by signal {signal}"),
            Self::Unknown => f.write_str("was gone before anybody could ask"),
        }
    }
}

/// How many processes had to be ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// How many.
    pub ended: usize,
}

/// The folders an attempt has for itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PrivatePlace {
    /// The folder that holds the others.
    pub root: Utf8PathBuf,
    /// `HOME`.
    pub home: Utf8PathBuf,
    /// `TMPDIR`.
    pub temporary: Utf8PathBuf,
    /// The agent's own configuration directory.
    pub configuration: Utf8PathBuf,
    /// Where the worker puts requests to the board (W2).
    pub mailbox: Utf8PathBuf,
}

/// A worker to start: the program, and everything it gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentLaunch {
    /// The arguments after the program's name.
    pub argv: Vec<String>,
    /// The whole environment.
    pub env: Vec<(String, String)>,
    /// The working directory: the slot.
    pub dir: Utf8PathBuf,
    /// The file that is its standard input.
    pub stdin: Utf8PathBuf,
    /// The file its standard output is appended to.
    pub stdout: Utf8PathBuf,
    /// The file its standard error is appended to.
    pub stderr: Utf8PathBuf,
}

/// The worker's requests to the board (W2).
pub trait Mailbox {
    /// Waits until there is a request that can be taken, at most for `limit`.
    fn wait(&self, limit: Duration);

    /// The next request, if there is one.
    fn take(&self) -> Result<Option<Mail>, PortError>;

    /// Answers a request: exit status, standard output, standard error.
    fn answer(&self, mail: &Mail, exit: i32, stdout: &str, stderr: &str) -> Result<(), PortError>;
}

/// One request of a worker, not trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mail {
    /// What the answer is named by.
    pub name: String,
    /// The arguments, the program's name left out.
    pub argv: Vec<String>,
    /// What stood on its standard input, for a text given as `-`.
    pub stdin: String,
}

/// A review to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewRequest {
    /// The arguments after the program's name.
    pub argv: Vec<String>,
    /// The whole environment but for the private folders.
    pub env: Vec<(String, String)>,
    /// The verification tree.
    pub dir: Utf8PathBuf,
    /// What goes to standard input.
    pub prompt: String,
    /// The random text that a verdict must carry (C7.2).
    pub token: String,
    /// The marker by which its processes are found.
    pub marker: String,
    /// The time limit.
    pub limit: Duration,
}

/// How a review ended (C7.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Review {
    /// With a valid verdict.
    Verdict {
        /// The verdict.
        verdict: Verdict,
        /// The findings, in the reviewer's words.
        findings: Vec<String>,
        /// The whole answer, for `review.md`.
        answer: String,
    },
    /// Without a valid verdict: the whole answer, and why it does not count.
    NoVerdict {
        /// The whole answer.
        answer: String,
        /// Why it does not count.
        why: String,
    },
    /// The run failed: a fault of the machine or of the account, with its words.
    Error(String),
    /// The time limit passed.
    TimedOut,
    /// It was ended because `alive` broke off.
    Stopped,
}

/// A reviewer's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The diff may become a pull request.
    Approve,
    /// It may not.
    RequestChanges,
}
