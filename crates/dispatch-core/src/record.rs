//! What the dispatcher keeps on disk about an attempt, a slot and a lane (S5).
//!
//! Fields of a newer version are kept in `rest` and written back.

use std::collections::BTreeMap;
use std::fmt;

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::attempt::{AttemptCounts, AttemptNumber};
use crate::branch::BranchName;
use crate::id::TaskId;
use crate::names::{CloseStep, PauseCause};
use crate::object::CommitId;
use crate::slot::SlotName;
use crate::status::Status;
use crate::triage::Lane;

/// Fields this version does not know.
pub type Rest = BTreeMap<String, Value>;

/// How far an attempt has come; the journal from which recovery resumes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The task is taken; the slot is not touched yet.
    Claimed,
    /// The slot is ready for the worker.
    Prepared,
    /// The worker was started.
    Running,
    /// A step of the close is under way or next.
    Closing(CloseStep),
    /// Nothing of the attempt is left to do.
    Ended,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Claimed => f.pad("claimed"),
            Self::Prepared => f.pad("prepared"),
            Self::Running => f.pad("running"),
            Self::Closing(step) => write!(f, "closing:{step}"),
            Self::Ended => f.pad("ended"),
        }
    }
}

impl std::str::FromStr for Phase {
    type Err = crate::names::UnknownName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "claimed" => Ok(Self::Claimed),
            "prepared" => Ok(Self::Prepared),
            "running" => Ok(Self::Running),
            "ended" => Ok(Self::Ended),
            _ => match text.strip_prefix("closing:") {
                Some(step) => step.parse().map(Self::Closing),
                None => Err(crate::names::UnknownName { what: "phase", found: text.to_owned() }),
            },
        }
    }
}

impl Serialize for Phase {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Phase {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A process, told apart from a later one with the same number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProcessMark {
    /// Its process id.
    pub pid: u32,
    /// Its start mark: clock ticks since boot.
    pub start: u64,
    /// The boot it was started in.
    pub boot_id: String,
}

/// A reading of the clock that stands still while the machine sleeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Beat {
    /// The boot it was read in; readings of two boots cannot be compared.
    pub boot_id: String,
    /// Milliseconds of machine-awake time since that boot.
    pub awake_ms: u64,
}

/// The pull request, or the pushed branch, that an attempt ended in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedProposal {
    /// The pull request's number; none for forge `git`.
    pub number: Option<u64>,
    /// The pull request's address; none for forge `git`.
    pub url: Option<String>,
    /// The branch that was pushed.
    pub branch: BranchName,
    /// The commit that was pushed.
    pub commit: CommitId,
    /// The branch it is proposed for.
    pub base: BranchName,
    /// When we pushed, ISO 8601 UTC.
    pub pushed_at: String,
    /// What the last sweep did about it, so that a thing is said once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<String>,
    /// Whether a person's `Done` was taken back once (M1 step 3b); a second time it is respected.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub done_reverted: bool,
}

/// A status and its comment that could not be written yet (B2.7).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owed {
    /// The status.
    pub to: Status,
    /// The comment.
    pub comment: Option<String>,
}

/// What the close of an attempt waits for: the end of a fault of the machine or of an account (C1.5), or the board (C1.4b).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Waiting {
    /// What is wrong, and what would help.
    pub why: String,
    /// When it is tried again at the latest, ISO 8601 UTC; none while it is looked at all the time.
    pub until: Option<String>,
}

/// The record of a task, `tasks/<ID>.json`. Only the holder of the task's OS lock writes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// The task.
    pub task_id: TaskId,
    /// The attempt this record is about.
    pub attempt: AttemptNumber,
    /// A random text that tells this claim from any other (D9.7).
    pub token: String,
    /// The slot it is bound to.
    pub slot: SlotName,
    /// The lane it runs on.
    pub lane: Lane,
    /// How far it has come.
    pub phase: Phase,
    /// Its supervisor.
    pub supervisor: Option<ProcessMark>,
    /// Its worker.
    pub worker: Option<ProcessMark>,
    /// The supervisor's last sign of life.
    pub beat: Option<Beat>,
    /// The same for people, ISO 8601 UTC.
    pub heartbeat_at: Option<String>,
    /// When the task was claimed, ISO 8601 UTC.
    pub started_at: String,
    /// The branch the work is proposed for.
    pub base_branch: Option<BranchName>,
    /// The commit of the base branch that everything is compared with (D6.6).
    pub base: Option<CommitId>,
    /// The commit the worker started from.
    pub start: Option<CommitId>,
    /// The task's branch on the remote.
    pub branch: BranchName,
    /// The last work that an attempt of the task saved: this one's, once there is some (D6.6).
    pub saved: Option<CommitId>,
    /// What the last successful attempt proposed.
    pub pr: Option<RecordedProposal>,
    /// The highest attempt number ever used.
    pub last_attempt: AttemptNumber,
    /// How many earlier attempts counted.
    #[serde(default)]
    pub counts: AttemptCounts,
    /// How many times in a row the worker or the supervisor was lost (D11.1).
    #[serde(default)]
    pub lost_in_a_row: u32,
    /// How many times the branch's pull request was merged before (S5).
    #[serde(default)]
    pub merged_before: u32,
    /// The merged commits of its subtasks that its last close attempt saw (B5.3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub covered_children: Option<Vec<CommitId>>,
    /// What its file could not be given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owed: Option<Owed>,
    /// What its close waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Waiting>,
    /// Fields of a newer version.
    #[serde(flatten)]
    pub rest: Rest,
}

/// The entry of a slot in `registry.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SlotEntry {
    /// The slot.
    pub name: SlotName,
    /// Its worktree.
    pub path: Utf8PathBuf,
    /// The lane it is bound for.
    pub lane: Option<Lane>,
    /// The task it is bound to.
    pub task_id: Option<TaskId>,
    /// The attempt it is bound to.
    pub attempt: Option<AttemptNumber>,
    /// SHA-256 of the lockfile of the last successful install (D6.7).
    pub lockfile_hash: Option<String>,
    /// Why it keeps the only copy of some work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<String>,
    /// Fields of a newer version.
    #[serde(flatten)]
    pub rest: Rest,
}

/// A paused lane (D11.2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pause {
    /// What the lane is paused for.
    pub cause: PauseCause,
    /// What was found, for people.
    pub detail: String,
    /// Since when, ISO 8601 UTC.
    pub since: String,
    /// Until when, ISO 8601 UTC; none until a person resumes.
    pub until: Option<String>,
    /// How many pauses in a row, for the back-off.
    pub in_a_row: u32,
    /// Whether the pause is over and one attempt probes whether the cause is gone.
    #[serde(default)]
    pub probing: bool,
}

/// What others ask of the supervisor of a task, `tasks/<ID>.request` (M2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Request {
    /// Stop the worker, save, release, and leave this status: the one a person set, or `to` is set.
    Cancel {
        /// The status to set; none leaves the one that a person set.
        to: Option<Status>,
    },
    /// Stop the worker, save, and put the task back to `Queued`, uncounted.
    Interrupt,
    /// The beat stands still: stop.
    Stop,
}

impl Request {
    /// What is asked for when this is asked while `pending` was not carried out yet: a person's wish outlives the
    /// dispatcher's own, and the one that says more outlives the one that says less; of two alike the later counts.
    #[must_use]
    pub fn beside(self, pending: Option<Self>) -> Self {
        let weight = |request: &Self| match request {
            Self::Stop => 0,
            Self::Interrupt => 1,
            Self::Cancel { to: None } => 2,
            Self::Cancel { to: Some(_) } => 3,
        };
        match pending {
            Some(pending) if weight(&pending) > weight(&self) => pending,
            Some(_) | None => self,
        }
    }
}
