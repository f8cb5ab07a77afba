//! The task model (B1).

use serde::{Deserialize, Serialize};

use crate::id::TaskId;
use crate::status::Status;
use crate::triage::{Answer, ExecutionPath, Lane, Tier};

/// One item of the board, as read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// Its id in the board's spelling.
    pub id: TaskId,
    /// Its title, one line.
    pub title: String,
    /// Its status.
    pub status: Status,
    /// All labels, as written.
    pub labels: Vec<String>,
    /// The tier its labels give.
    pub tier: Answer<Tier>,
    /// The lane its labels give.
    pub lane: Answer<Lane>,
    /// The path its labels give.
    pub path: Answer<ExecutionPath>,
    /// Its rank: 3 for high, 2 medium, 1 low, 0 none, or the rank in the board's own list (B1.2).
    pub priority: u32,
    /// When it was created, as the board writes it; dates of one board sort as text.
    pub created: Option<String>,
    /// When it was last changed, as the board writes it.
    pub updated: Option<String>,
    /// The task it is a subtask of.
    pub parent: Option<TaskId>,
    /// Its subtasks, in natural order; filled when a whole board is read.
    pub children: Vec<TaskId>,
    /// The tasks it depends on, in the board's spelling.
    pub dependencies: Vec<TaskId>,
    /// Dependencies that are no task ids, as written: no task can ever meet them.
    pub foreign_dependencies: Vec<String>,
    /// The files it declares it will touch, as written, with faults kept (B1.3).
    pub declared_files: Vec<DeclaredFile>,
    /// Its test command line (B1.4).
    pub test_command: OneLine,
    /// The branch it integrates on, when it declares one (B5.3).
    pub branch: OneLine,
    /// Its acceptance criteria.
    pub acceptance: Vec<ChecklistItem>,
    /// Its definition of done.
    pub definition_of_done: Vec<ChecklistItem>,
    /// Its comments, oldest first.
    pub comments: Vec<Comment>,
    /// Section texts without their markers, trimmed.
    pub description: String,
    /// The implementation plan.
    pub plan: String,
    /// The implementation notes.
    pub notes: String,
    /// The final summary.
    pub final_summary: String,
    /// Front matter keys the model does not know, with their values as JSON text (B4).
    pub unknown_keys: std::collections::BTreeMap<String, String>,
}

/// A declared file entry (B1.3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeclaredFile {
    /// The entry without back-ticks, trailing notes and marks: a path, a folder (trailing `/`) or a glob.
    pub text: String,
    /// Whether it is marked ` (shared)`.
    pub shared: bool,
}

/// The value of a `Key: value` line that may be given once (B1.4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind", content = "value")]
pub enum OneLine {
    /// There is no such line.
    Missing,
    /// The one value.
    Given(String),
    /// Two lines with different values.
    Conflicting(Vec<String>),
}

impl OneLine {
    /// The value, when there is exactly one.
    pub fn given(&self) -> Option<&str> {
        match self {
            Self::Given(value) => Some(value),
            Self::Missing | Self::Conflicting(_) => None,
        }
    }
}

/// An item of a checklist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChecklistItem {
    /// Its number as written, from 1; how commands name it.
    pub index: u32,
    /// Whether it is ticked.
    pub checked: bool,
    /// Its text.
    pub text: String,
}

/// A comment on a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Comment {
    /// Its number as written, from 1.
    pub index: u32,
    /// Who wrote it.
    pub author: Option<String>,
    /// When, as the board writes it.
    pub created: Option<String>,
    /// Its text.
    pub body: String,
}

/// One of the two checklists of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Checklist {
    /// The acceptance criteria.
    Acceptance,
    /// The definition of done.
    DefinitionOfDone,
}

/// The author under which the dispatcher writes its own comments.
pub const DISPATCH_AUTHOR: &str = "dispatch";

/// The prefix of the author of a worker's comments, followed by the attempt's number (W1.4).
pub const WORKER_AUTHOR_PREFIX: &str = "worker:";
