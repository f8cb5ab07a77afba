//! The Backlog.md board on disk.
//!
//! Reading is one scan of the board directory, without any program. Writing is an edit of the task file under the
//! board program's own lock, byte for byte as the program would have made it. The program itself is only started for
//! what nothing here does, and never while a file of the board would make it run something.
//!
//! What a text means is decided in `dispatch-core`.
//!
//! Ids such as D6.4 name rules; `docs/rules` in the repository explains them.

mod error;
mod known;
mod locate;
mod lock;
mod native;
mod port;
mod program;
mod read;
mod replace;
mod retry;
mod watch;

pub use error::BoardError;
pub use locate::{BoardLocation, LocateError, locate};
pub use lock::{LockError, TaskLock};
pub use port::DiskBoard;
pub use program::BacklogCli;
pub use read::read_board;
pub use replace::Refusal;
pub use watch::{BoardWatch, Notice, Noticing};
