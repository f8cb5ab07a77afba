//! What can go wrong at the board.

use std::io;

use camino::Utf8PathBuf;
use dispatch_close::integrity::FieldChange;
use dispatch_core::board::Problem;
use dispatch_core::id::TaskId;
use dispatch_core::status::Status;
use dispatch_core::task_edit::EditError;
use dispatch_proc::ProcError;
use thiserror::Error;

use crate::lock::LockError;
use crate::replace::Refusal;

/// What can go wrong when a task is read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BoardError {
    /// The board's lock on the task was not to be had.
    #[error("the board's lock on {id} was not to be had")]
    Lock {
        /// The task.
        id: TaskId,
        /// The error it failed with.
        #[source]
        source: LockError,
    },
    /// The lock went to another process before the edit was in place.
    #[error(
        "the board's lock on {id} went to another process while we held it; nothing was written"
    )]
    LostLock {
        /// The task.
        id: TaskId,
    },
    /// The task was saved by somebody else again and again.
    #[error(
        "{id} was saved by somebody else each time we were about to write it; nothing was written"
    )]
    Contended {
        /// The task.
        id: TaskId,
    },
    /// The board could not be read completely, and the task was not among what was.
    #[error("{id} was not found, and the board could not be read completely: {}", hidden_by(.problems))]
    Incomplete {
        /// The task.
        id: TaskId,
        /// What could not be read.
        problems: Vec<Problem>,
    },
    /// More than one file claims the id.
    #[error("{id} is claimed by {}", .files.iter().map(|file| format!("`{file}`")).collect::<Vec<_>>().join(" and "))]
    Ambiguous {
        /// The task.
        id: TaskId,
        /// The files.
        files: Vec<Utf8PathBuf>,
    },
    /// The file cannot be used.
    #[error("cannot use the task file `{path}`")]
    Io {
        /// The file.
        path: Utf8PathBuf,
        /// The error it failed with.
        #[source]
        source: io::Error,
    },
    /// The file is one that must not be edited in place of another (B3.10).
    #[error("the task file `{path}` is not edited: it {refusal}")]
    NotOurs {
        /// The file.
        path: Utf8PathBuf,
        /// What is wrong with it.
        refusal: Refusal,
    },
    /// The file looked half written at every reading (B2.9).
    #[error("`{path}`, the file of {id}, looks half written; nothing was written")]
    Torn {
        /// The task.
        id: TaskId,
        /// The file.
        path: Utf8PathBuf,
    },
    /// The edit cannot be made faithfully.
    #[error("cannot edit {id} faithfully")]
    Edit {
        /// The task.
        id: TaskId,
        /// The error it failed with.
        #[source]
        source: EditError,
    },
    /// A field that only people change would read differently after the edit.
    #[error("the edit of {id} would change what only a person may change: {}", .changes.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Protected {
        /// The task.
        id: TaskId,
        /// Each field with before and after.
        changes: Vec<FieldChange>,
    },
    /// The board does not have the status.
    #[error("the board has no status `{status}`; its statuses are {}", .known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))]
    NoSuchStatus {
        /// The status.
        status: Status,
        /// The board's statuses.
        known: Vec<String>,
    },
    /// The file would be written, and the change could not be seen in it.
    #[error(
        "{id} is not written, because the change would not show in `{path}`: its section markers are out of order; mend them in a text editor"
    )]
    WouldNotShow {
        /// The task.
        id: TaskId,
        /// The file.
        path: Utf8PathBuf,
    },
    /// The write was made and cannot be seen.
    #[error("wrote {id}, but reading it back from `{path}` does not show the change")]
    NotReadBack {
        /// The task.
        id: TaskId,
        /// The file.
        path: Utf8PathBuf,
    },
    /// A file of the board would be run by the board program, which therefore is not started (B2.7).
    #[error("the board program is not started, because it would run what `{file}` holds")]
    Hostile {
        /// The file.
        file: Utf8PathBuf,
    },
    /// The board program could not be started.
    #[error("the board program could not be run")]
    Proc(#[source] ProcError),
    /// The board program ran and refused.
    #[error("{failure}")]
    Refused {
        /// The command, its end and its own words.
        failure: String,
        /// Whether it says that the task is locked.
        busy: bool,
    },
}

fn hidden_by(all: &[Problem]) -> String {
    let shown: Vec<String> = all
        .iter()
        .filter(|problem| problem.class.hides_a_task())
        .take(3)
        .map(ToString::to_string)
        .collect();
    shown.join("; ")
}

impl BoardError {
    /// Whether the same write may succeed a moment later (B3.3).
    pub fn is_busy(&self) -> bool {
        match self {
            Self::Lock { source: LockError::Busy, .. }
            | Self::LostLock { .. }
            | Self::Contended { .. }
            | Self::Torn { .. }
            | Self::Refused { busy: true, .. } => true,
            Self::Lock { source: LockError::Io { .. }, .. }
            | Self::Incomplete { .. }
            | Self::Ambiguous { .. }
            | Self::Io { .. }
            | Self::NotOurs { .. }
            | Self::Edit { .. }
            | Self::NoSuchStatus { .. }
            | Self::WouldNotShow { .. }
            | Self::NotReadBack { .. }
            | Self::Hostile { .. }
            | Self::Protected { .. }
            | Self::Proc(_)
            | Self::Refused { busy: false, .. } => false,
        }
    }
}
