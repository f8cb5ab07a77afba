//! Our own files (S5).

use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;

use camino::Utf8PathBuf;
use dispatch_core::attempt::{AttemptCounts, AttemptNumber};
use dispatch_core::branch::BranchName;
use dispatch_core::id::TaskId;
use dispatch_core::object::CommitId;
use dispatch_core::record::{Beat, Pause, Record, Request, SlotEntry};
use dispatch_core::slot::SlotName;
use dispatch_core::triage::Lane;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::PortError;

/// The state directory and the attempt directories.
///
/// Locks are OS locks that end with their holder. A file that cannot be parsed is an error that names it.
pub trait Store {
    /// Counts one more wish for a pass (D2.1).
    fn wish_for_pass(&self) -> Result<(), PortError>;

    /// How many wishes there were.
    fn wishes(&self) -> Result<u64, PortError>;

    /// Tries to become the one pass.
    fn try_pass_lock(&self) -> Result<TryLock<Box<dyn PassLock>>, PortError>;

    /// Tries to take a task's lock.
    fn try_task_lock(&self, id: &TaskId) -> Result<TryLock<Box<dyn TaskLock>>, PortError>;

    /// Every record; one that cannot be read is an error beside the others.
    fn records(&self) -> Result<Vec<Recorded>, PortError>;

    /// The record of a task.
    fn record(&self, id: &TaskId) -> Result<Option<Record>, PortError>;

    /// Replaces the record of a task, durably. Only the holder of the task's lock may.
    fn write_record(&self, record: &Record) -> Result<(), PortError>;

    /// Allocates the next attempt number by exclusive creation of its directory (S5).
    fn allocate_attempt(
        &self,
        id: &TaskId,
        above: Option<AttemptNumber>,
    ) -> Result<AttemptNumber, PortError>;

    /// How many attempts counted and how many did not, from record and directories (B1.5).
    fn attempt_counts(&self, id: &TaskId) -> Result<AttemptCounts, PortError>;

    /// Whether a directory of attempts exists for this task.
    fn has_attempts(&self, id: &TaskId) -> Result<bool, PortError>;

    /// The directory of an attempt.
    fn attempt_dir(&self, id: &TaskId, attempt: AttemptNumber) -> Utf8PathBuf;

    /// The same, relative to the board root, for people.
    fn attempt_dir_shown(&self, id: &TaskId, attempt: AttemptNumber) -> String;

    /// Renames the directories of a task's attempts so that they no longer count; says how many there were. Their
    /// numbers stay taken, and nothing in them is deleted.
    fn archive_attempts(&self, id: &TaskId) -> Result<u32, PortError>;

    /// Writes a file of an attempt, whole.
    fn write_attempt_file(
        &self,
        id: &TaskId,
        attempt: AttemptNumber,
        file: AttemptFile,
        content: &[u8],
    ) -> Result<(), PortError>;

    /// Appends to a file of an attempt.
    fn append_attempt_file(
        &self,
        id: &TaskId,
        attempt: AttemptNumber,
        file: AttemptFile,
        content: &[u8],
    ) -> Result<(), PortError>;

    /// Reads a file of an attempt.
    fn read_attempt_file(
        &self,
        id: &TaskId,
        attempt: AttemptNumber,
        file: AttemptFile,
    ) -> Result<Option<Vec<u8>>, PortError>;

    /// Reads the last bytes of a file of an attempt, at most so many: a worker's output has no limit.
    fn read_attempt_file_end(
        &self,
        id: &TaskId,
        attempt: AttemptNumber,
        file: AttemptFile,
        most_bytes: u64,
    ) -> Result<Option<Vec<u8>>, PortError>;

    /// Keeps a value for the recovery of an attempt, in the state directory where no checkout can replace it.
    fn write_private(
        &self,
        id: &TaskId,
        name: &'static str,
        value: &Value,
    ) -> Result<(), PortError>;

    /// Reads such a value.
    fn read_private(&self, id: &TaskId, name: &'static str) -> Result<Option<Value>, PortError>;

    /// The slot registry; configured slots that it lacks are added, others stay (D6.1).
    fn registry(&self) -> Result<Registry, PortError>;

    /// Changes one entry under the registry's lock (D6.2); gives the entry as it was before.
    fn change_slot(&self, name: &SlotName, change: &SlotChange) -> Result<SlotEntry, PortError>;

    /// Writes a request to the supervisor of a task (M2), beside one that was not carried out yet
    /// ([`Request::beside`]).
    fn write_request(&self, id: &TaskId, request: &Request) -> Result<(), PortError>;

    /// The request to the supervisor of a task.
    fn request(&self, id: &TaskId) -> Result<Option<Request>, PortError>;

    /// Removes the request once it is carried out.
    fn clear_request(&self, id: &TaskId) -> Result<(), PortError>;

    /// What is known about a lane.
    fn lane_state(&self, lane: Lane) -> Result<LaneState, PortError>;

    /// Changes what is known about a lane, under a lock: passes, supervisors and people do so at the same time.
    fn change_lane_state(
        &self,
        lane: Lane,
        change: &mut dyn FnMut(&mut LaneState),
    ) -> Result<LaneState, PortError>;

    /// What the last pass saw of the board's checkout.
    fn owner(&self) -> Result<OwnerRecord, PortError>;

    /// Replaces it.
    fn write_owner(&self, owner: &OwnerRecord) -> Result<(), PortError>;

    /// What was last seen of another's beat, and our own clock then (D9.4).
    fn observed(&self, id: &TaskId) -> Result<Option<(Beat, Beat)>, PortError>;

    /// Keeps such an observation.
    fn write_observed(&self, id: &TaskId, seen: &Beat, at: &Beat) -> Result<(), PortError>;

    /// Attempt refs whose backup on the remote failed, and how often (C10.1).
    fn backups(&self) -> Result<BTreeMap<String, u32>, PortError>;

    /// Changes the list, under a lock.
    fn change_backups(
        &self,
        change: &mut dyn FnMut(&mut BTreeMap<String, u32>),
    ) -> Result<(), PortError>;

    /// A fresh random text of 32 hexadecimal digits.
    fn random_token(&self) -> Result<String, PortError>;
}

/// Being the one pass; ends when it is dropped.
pub trait PassLock {}

/// Holding a task's lock; ends when it is dropped, unless it was handed over.
pub trait TaskLock {
    /// The task.
    fn id(&self) -> &TaskId;

    /// The open lock file, to be handed to a supervisor; none in a simulation.
    fn descriptor(&self) -> Option<BorrowedFd<'_>>;
}

/// The answer to trying a lock.
#[derive(Debug)]
pub enum TryLock<T> {
    /// It is ours.
    Taken(T),
    /// Somebody else has it: what the lock file says about them.
    Busy(String),
}

/// A record found on disk.
#[derive(Debug)]
pub enum Recorded {
    /// It was read.
    Read(Box<Record>),
    /// It could not be read.
    Unreadable {
        /// The task it is kept for.
        id: TaskId,
        /// The error it failed with.
        error: PortError,
    },
}

/// The slot registry as read at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Registry {
    /// All entries: configured ones in configured order, then others.
    pub slots: Vec<SlotEntry>,
    /// The names that are configured now.
    pub configured: Vec<SlotName>,
}

/// A targeted change of one slot entry (D6.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SlotChange {
    /// Binds it; refused when it is bound to something else or held.
    Bind {
        /// The lane.
        lane: Lane,
        /// The task.
        task: TaskId,
        /// The attempt.
        attempt: AttemptNumber,
    },
    /// Frees it if it is bound to this task; otherwise nothing happens.
    Free {
        /// The task.
        task: TaskId,
    },
    /// Marks it as keeping the only copy of some work of the task, if it is bound to it.
    Hold {
        /// The task.
        task: TaskId,
        /// The cause.
        cause: String,
    },
    /// Takes that mark away, if it is still bound to the task, or to none.
    Unhold {
        /// The task.
        task: Option<TaskId>,
    },
    /// Stores the hash of the lockfile of a successful install.
    Installed {
        /// The SHA-256, in hexadecimal; none when it is not known.
        lockfile_hash: Option<String>,
    },
}

/// The files of an attempt directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AttemptFile {
    /// `prompt.md`.
    Prompt,
    /// `system-prompt.md`.
    SystemPrompt,
    /// `launch.json`.
    Launch,
    /// `stream.jsonl`.
    Stream,
    /// `worker.stderr.log`.
    WorkerStderr,
    /// `run.log`.
    RunLog,
    /// `prepare.log`.
    PrepareLog,
    /// `test.log`.
    TestLog,
    /// `review.md`.
    Review,
    /// `outcome.json`.
    Outcome,
}

impl AttemptFile {
    /// Its name.
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::Prompt => "prompt.md",
            Self::SystemPrompt => "system-prompt.md",
            Self::Launch => "launch.json",
            Self::Stream => "stream.jsonl",
            Self::WorkerStderr => "worker.stderr.log",
            Self::RunLog => "run.log",
            Self::PrepareLog => "prepare.log",
            Self::TestLog => "test.log",
            Self::Review => "review.md",
            Self::Outcome => "outcome.json",
        }
    }
}

/// What is known about a lane.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LaneState {
    /// Its pause.
    pub pause: Option<Pause>,
    /// Failed provisionings in a row (D6.7).
    pub provision_failures: u32,
}

/// The board this state belongs to, and what the last pass saw of it (S3).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OwnerRecord {
    /// The board directory, absolute.
    pub board: Option<Utf8PathBuf>,
    /// The code root, absolute.
    pub code_root: Option<Utf8PathBuf>,
    /// The board's commit as the last pass that acted on it saw it.
    pub head: Option<CommitId>,
    /// A commit that was seen elsewhere and is accepted if it still stands at the next pass.
    pub seen_elsewhere: Option<CommitId>,
    /// The default branch as the remote last named it.
    pub default_branch: Option<BranchName>,
}
