//! The board.

use dispatch_core::attempt::AttemptNumber;
use dispatch_core::board;
use dispatch_core::id::TaskId;
use dispatch_core::status::Status;
use dispatch_core::task::{Checklist, Task};
use dispatch_core::worker_edit::WorkerEdit;

use super::PortError;

/// A Backlog.md board.
///
/// Every write is read back before it is reported as done (B2.8); a busy board is retried inside (B3.3).
pub trait Board {
    /// Reads the whole board. A failed listing is an empty, incomplete board (B2.4).
    fn read(&self) -> board::Board;

    /// Reads one task afresh. `None` means that a complete listing does not hold it.
    fn task(&self, id: &TaskId) -> Result<Option<Task>, PortError>;

    /// Sets a status together with a comment, in one edit, if the present status is one of those expected (B3.9).
    fn set_status(&self, id: &TaskId, change: &StatusChange) -> Result<StatusWrite, PortError>;

    /// Adds a comment by the dispatcher.
    fn comment(&self, id: &TaskId, body: &str) -> Result<(), PortError>;

    /// Ticks the item with this text (B3.6).
    fn tick(&self, id: &TaskId, list: Checklist, text: &str) -> Result<Tick, PortError>;

    /// The task as the board's plain view prints it.
    fn view(&self, id: &TaskId) -> Result<String, PortError>;

    /// Makes the edits of a worker whose argv the policy accepted (W2): one edit, all or nothing.
    fn edit_for_worker(
        &self,
        id: &TaskId,
        edits: &[WorkerEdit],
        attempt: AttemptNumber,
    ) -> Result<WorkerEditEnd, PortError>;
}

/// A status write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusChange {
    /// The statuses of which one must be the present one.
    pub expected: Vec<Status>,
    /// The new status.
    pub to: Status,
    /// A comment that becomes visible in the same moment.
    pub comment: Option<String>,
}

/// What a status write did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StatusWrite {
    /// The status and the comment are written.
    Written,
    /// The task had another status: a person's decision; nothing was changed.
    Mismatch {
        /// The status it has.
        found: Status,
    },
    /// A complete board does not hold the task.
    Gone,
}

/// What ticking did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tick {
    /// The item is ticked now.
    Ticked,
    /// It was ticked already.
    AlreadyTicked,
    /// There is no item with this text.
    NoSuchItem,
}

/// What came of a worker's edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerEditEnd {
    /// It is written.
    Written,
    /// It would change how a protected field reads (W2): why.
    Protected(String),
    /// The board refused: why.
    Refused(String),
}
