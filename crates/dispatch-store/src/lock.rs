//! OS locks on files that are never renamed, replaced or unlinked.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::thread;
use std::time::{Duration, Instant};

use camino::Utf8Path;
use dispatch_core::id::TaskId;
use dispatch_engine::ports::{PassLock, PortError, TaskLock, TryLock};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::DiskStore;
use crate::files::{failed, refused};

/// Short changes under a lock take milliseconds: whoever holds one for longer than this is stopped or broken.
const SHORT_LOCK_LIMIT: Duration = Duration::from_secs(10);
const SHORT_LOCK_PAUSE: Duration = Duration::from_millis(2);

/// Being the one pass.
#[derive(Debug)]
pub struct DiskPassLock {
    file: File,
}

impl PassLock for DiskPassLock {}

impl Drop for DiskPassLock {
    fn drop(&mut self) {
        // Explicitly: a child between fork and exec may hold a copy of the descriptor for a moment longer.
        // An error leaves it to closing the file, which follows.
        self.file.unlock().ok();
    }
}

/// Holding a task's lock.
#[derive(Debug)]
pub struct DiskTaskLock {
    id: TaskId,
    file: File,
    origin: Origin,
}

/// How we came to hold a task's lock, which decides how it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// Taken here. It may have been handed on, so it only ends when the last copy of the descriptor is closed.
    Taken,
    /// Handed to us. The descriptor we got may still be open elsewhere in this process, so it is ended explicitly.
    HandedOver,
}

impl TaskLock for DiskTaskLock {
    fn id(&self) -> &TaskId {
        &self.id
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.file.as_fd())
    }
}

impl Drop for DiskTaskLock {
    fn drop(&mut self) {
        if self.origin == Origin::HandedOver {
            self.file.unlock().ok();
        }
    }
}

impl DiskStore {
    /// Takes over the lock of a task that another process holds for us and handed over as an open file (D6.4).
    ///
    /// Refuses a file that is not the task's lock file, and one through which the lock is not held.
    pub fn adopt_lock(&self, id: &TaskId, handed: OwnedFd) -> Result<Box<dyn TaskLock>, PortError> {
        let path = self.task_file(id, ".lock");
        let doing = || format!("take over the lock of {id}");
        let file = File::from(handed);
        let ours = path.metadata().map_err(|source| failed(doing(), source))?;
        let given = file.metadata().map_err(|source| failed(doing(), source))?;
        if (given.dev(), given.ino()) != (ours.dev(), ours.ino()) {
            return Err(refused(doing(), format!("the file handed over is not `{path}`")));
        }
        match file.try_lock() {
            // On the descriptor that holds the lock this succeeds and changes nothing.
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(refused(doing(), "another process holds it"));
            }
            Err(TryLockError::Error(source)) => return Err(failed(doing(), source)),
        }
        write_holder(&file);
        Ok(Box::new(DiskTaskLock { id: id.clone(), file, origin: Origin::HandedOver }))
    }

    /// Takes over the lock of a task from standard input, where the claim put it, and leaves `/dev/null` there.
    pub fn adopt_lock_from_stdin(&self, id: &TaskId) -> Result<Box<dyn TaskLock>, PortError> {
        let doing = || format!("take the lock of {id} from standard input");
        let handed = std::io::stdin()
            .as_fd()
            .try_clone_to_owned()
            .map_err(|source| failed(doing(), source))?;
        let nothing = File::open("/dev/null").map_err(|source| failed(doing(), source))?;
        rustix::stdio::dup2_stdin(&nothing).map_err(|source| failed(doing(), source.into()))?;
        self.adopt_lock(id, handed)
    }

    pub(crate) fn take_pass_lock(&self) -> Result<TryLock<Box<dyn PassLock>>, PortError> {
        Ok(match try_lock(&self.state_file("pass.lock"))? {
            TryLock::Taken(file) => TryLock::Taken(Box::new(DiskPassLock { file })),
            TryLock::Busy(holder) => TryLock::Busy(holder),
        })
    }

    pub(crate) fn take_task_lock(
        &self,
        id: &TaskId,
    ) -> Result<TryLock<Box<dyn TaskLock>>, PortError> {
        Ok(match try_lock(&self.task_file(id, ".lock"))? {
            TryLock::Taken(file) => TryLock::Taken(Box::new(DiskTaskLock {
                id: id.clone(),
                file,
                origin: Origin::Taken,
            })),
            TryLock::Busy(holder) => TryLock::Busy(holder),
        })
    }

    /// Does `work` under a lock that is only ever held for a moment.
    pub(crate) fn with_short_lock<T>(
        &self,
        name: &str,
        work: impl FnOnce() -> Result<T, PortError>,
    ) -> Result<T, PortError> {
        let path = self.state_file(name);
        let file = open_lock_file(&path)?;
        let since = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if since.elapsed() < SHORT_LOCK_LIMIT => {
                    thread::sleep(SHORT_LOCK_PAUSE);
                }
                Err(TryLockError::WouldBlock) => {
                    let why = format!("it is held for more than {} s", SHORT_LOCK_LIMIT.as_secs());
                    return Err(refused(format!("take the lock `{path}`"), why)
                        .hint("look for a stopped `dispatch` process"));
                }
                Err(TryLockError::Error(source)) => {
                    return Err(failed(format!("take the lock `{path}`"), source));
                }
            }
        }
        let done = work();
        file.unlock().map_err(|source| failed(format!("let go of the lock `{path}`"), source))?;
        done
    }
}

fn try_lock(path: &Utf8Path) -> Result<TryLock<File>, PortError> {
    let file = open_lock_file(path)?;
    match file.try_lock() {
        Ok(()) => {
            write_holder(&file);
            Ok(TryLock::Taken(file))
        }
        Err(TryLockError::WouldBlock) => Ok(TryLock::Busy(read_holder(&file))),
        Err(TryLockError::Error(source)) => Err(failed(format!("take the lock `{path}`"), source)
            .hint("the repository has to be on a file system with working locks")),
    }
}

fn open_lock_file(path: &Utf8Path) -> Result<File, PortError> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .map_err(|source| failed(format!("open the lock file `{path}`"), source))
}

/// Says in the lock file who holds it. Nothing is decided by it, so a full disk, say, costs a person the name alone.
fn write_holder(mut file: &File) {
    let started = OffsetDateTime::now_utc()
        .replace_nanosecond(0)
        .ok()
        .and_then(|now| now.format(&Rfc3339).ok())
        .unwrap_or_default();
    let text = format!("pid {}, started {started}\n", std::process::id());
    file.set_len(0)
        .and_then(|()| file.seek(SeekFrom::Start(0)))
        .and_then(|_| file.write_all(text.as_bytes()))
        .ok();
}

fn read_holder(mut file: &File) -> String {
    let mut text = String::new();
    // What cannot be read is only a missing name in a message.
    Read::by_ref(&mut file).take(200).read_to_string(&mut text).ok();
    let text = text.trim();
    if text.is_empty() {
        "a process that has not said yet who it is".to_owned()
    } else {
        text.to_owned()
    }
}
