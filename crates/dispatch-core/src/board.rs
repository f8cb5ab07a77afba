//! A board as read at one moment (B2).

use std::collections::BTreeMap;
use std::fmt;

use camino::Utf8PathBuf;
use serde::Serialize;

use crate::id::TaskId;
use crate::task::Task;

/// All tasks read at one moment.
///
/// With an incomplete board nothing may be concluded from an absence (B2.5).
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Board {
    /// The tasks in `tasks/`, by id.
    pub tasks: BTreeMap<TaskId, Task>,
    /// Ids of tasks in `completed/`, which count as done.
    pub completed: BTreeMap<TaskId, Task>,
    /// Ids of tasks in `archive/tasks/`, which can never become done.
    pub archived: BTreeMap<TaskId, Task>,
    /// Whether every task the board holds was read.
    pub complete: bool,
    /// What could not be read, and why.
    pub problems: Vec<Problem>,
}

/// Something about the board that a person should look at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// What kind of problem.
    pub class: ProblemClass,
    /// The file, relative to the board directory.
    pub file: Option<Utf8PathBuf>,
    /// The line in it, from 1.
    pub line: Option<usize>,
    /// The task.
    pub id: Option<TaskId>,
    /// What is wrong, as a sentence for a person.
    pub cause: String,
}

closed_set! {
    /// The kind of a board problem.
    ProblemClass, "problem class" {
        /// A file that cannot be read as a task: the board is incomplete.
        Unreadable = "unreadable",
        /// Two files claim one id: both are dropped, the board is incomplete.
        Duplicate = "duplicate",
        /// A file that would make the board program run something (B2.7).
        Hostile = "hostile",
        /// The listing itself failed: the board is empty and incomplete.
        Listing = "listing",
        /// Parents that form a cycle (B5.4).
        ParentCycle = "parent-cycle",
        /// Something odd that changes no decision.
        Note = "note",
    }
}

impl ProblemClass {
    /// Whether a problem of this kind means that something on the board could not be seen.
    pub const fn hides_a_task(self) -> bool {
        match self {
            Self::Unreadable | Self::Duplicate | Self::Listing => true,
            Self::Hostile | Self::ParentCycle | Self::Note => false,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}", file.as_str().escape_debug())?;
            if let Some(line) = self.line {
                write!(f, ":{line}")?;
            }
            write!(f, ": ")?;
        } else if let Some(id) = &self.id {
            write!(f, "{id}: ")?;
        }
        f.write_str(&self.cause)
    }
}

impl Board {
    /// The task with this id, wherever it lies.
    pub fn find(&self, id: &TaskId) -> Option<&Task> {
        self.tasks.get(id).or_else(|| self.completed.get(id)).or_else(|| self.archived.get(id))
    }

    /// Whether a file exists that must keep us from starting the board program (B2.7).
    pub fn hostile(&self) -> bool {
        self.problems.iter().any(|problem| problem.class == ProblemClass::Hostile)
    }
}
