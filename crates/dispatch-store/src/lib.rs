//! Our own files (S5): the state directory inside the repository's common git directory, and the
//! directories of attempts beside the board.
//!
//! [`DiskStore`] implements the engine's [`Store`](dispatch_engine::ports::Store) port. Locks are OS locks on files
//! that are never renamed, replaced or unlinked, so that a lock ends with its holder whatever ends the holder.
//! Everything else is replaced whole and durably. A file that cannot be read is an error that names it; it is never
//! taken for an empty one. What the values mean is decided elsewhere.
//!
//! Ids such as D6.4 name rules; `docs/rules` in the repository explains them.

mod attempt;
mod beating;
mod files;
mod lock;
mod older;
mod port;
mod record;
mod registry;
mod shared;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_core::id::TaskId;
use dispatch_engine::ports::{PortError, SlotPlace};

pub use lock::{DiskPassLock, DiskTaskLock};
pub use older::OlderDispatcher;

/// Where the files of one code root are.
#[derive(Debug, Clone)]
pub struct Places {
    /// The state directory, `<git common dir>/dispatch`.
    pub state_dir: Utf8PathBuf,
    /// The board directory, in which `.dispatch` holds the attempts.
    pub board_dir: Utf8PathBuf,
    /// The board root, to which paths shown to people are relative.
    pub board_root: Utf8PathBuf,
    /// The folder the slots are in.
    pub slots_root: Utf8PathBuf,
    /// The configured slots, in configured order.
    pub slots: Vec<SlotPlace>,
}

/// The files of one code root; a copy is the same store.
#[derive(Debug, Clone)]
pub struct DiskStore {
    places: Places,
    /// Held while a record is written: a supervisor's thread advances the beat in it (D9.4).
    records: Arc<Mutex<()>>,
}

impl DiskStore {
    /// Opens the state directory and makes what is missing of it, readable by its owner alone.
    pub fn open(places: Places) -> Result<Self, PortError> {
        files::make_private_dir(&places.state_dir)?;
        files::make_private_dir(&places.state_dir.join("tasks"))?;
        Ok(Self { places, records: Arc::default() })
    }

    fn state_file(&self, name: &str) -> Utf8PathBuf {
        self.places.state_dir.join(name)
    }

    /// Keeps every other thread of this process from writing a record.
    fn writing_records(&self) -> MutexGuard<'_, ()> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `tasks/<ID><ending>` in the state directory.
    fn task_file(&self, id: &TaskId, ending: &str) -> Utf8PathBuf {
        self.places.state_dir.join("tasks").join(format!("{}{ending}", id.canonical()))
    }

    /// The state directory.
    pub fn state_dir(&self) -> &Utf8Path {
        &self.places.state_dir
    }
}
