//! The board program's own lock on a task, held the way the program holds it.
//!
//! The lock is a directory. Its age is its modification time; a holder refreshes it, and one that was not refreshed
//! for ten seconds is nobody's. Holding it excludes the program's edits of that task, and ours of each other.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};
use thiserror::Error;

/// The age at which a lock is nobody's.
const STALE: Duration = Duration::from_secs(10);

/// How often a held lock is refreshed.
const REFRESH: Duration = Duration::from_secs(2);

/// Why a lock was not taken.
#[derive(Debug, Error)]
pub enum LockError {
    /// Someone else holds it. The wording is the board program's.
    #[error("the task is being modified by another process; retry if appropriate")]
    Busy,
    /// The lock folder cannot be used.
    #[error("cannot use the lock `{path}`")]
    Io {
        /// The lock.
        path: Utf8PathBuf,
        /// The error it failed with.
        #[source]
        source: io::Error,
    },
}

/// The lock on one task, held until it is dropped.
#[derive(Debug)]
pub struct TaskLock {
    path: Utf8PathBuf,
    mark: Mark,
    stop: Option<Sender<()>>,
    refresher: Option<JoinHandle<()>>,
}

/// What tells our lock directory from one that another process made in its place.
#[derive(Debug, Clone)]
struct Mark {
    device: u64,
    inode: u64,
    written: Arc<Mutex<Stamp>>,
}

/// A modification time: seconds and nanoseconds.
type Stamp = (i64, i64);

impl TaskLock {
    /// Takes the lock of the task whose id is written `spelling`, in the board directory `dir`.
    pub fn take(dir: &Utf8Path, spelling: &str) -> Result<Self, LockError> {
        let folder = dir.join(".locks");
        let path = folder.join(format!("task-{}", name_of(spelling)));
        let failed = |source| LockError::Io { path: path.clone(), source };
        fs::create_dir_all(&folder).map_err(failed)?;
        match fs::create_dir(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if !remove_stale(&path).map_err(failed)? {
                    return Err(LockError::Busy);
                }
                match fs::create_dir(&path) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                        return Err(LockError::Busy);
                    }
                    other => other.map_err(failed)?,
                }
            }
            Err(error) => return Err(failed(error)),
        }
        Self::hold(path.clone()).map_err(failed)
    }

    fn hold(path: Utf8PathBuf) -> io::Result<Self> {
        let metadata = fs::symlink_metadata(&path)?;
        let mark = Mark {
            device: metadata.dev(),
            inode: metadata.ino(),
            written: Arc::new(Mutex::new(stamp(&metadata))),
        };
        let (stop, stopped) = mpsc::channel();
        let refresher = thread::spawn({
            let (path, mark) = (path.clone(), mark.clone());
            move || {
                while stopped.recv_timeout(REFRESH) == Err(RecvTimeoutError::Timeout) {
                    if !mark.refresh(&path) {
                        return;
                    }
                }
            }
        });
        Ok(Self { path, mark, stop: Some(stop), refresher: Some(refresher) })
    }

    /// Whether the lock is still ours: nobody took it over while we slept (B3.10).
    pub fn is_ours(&self) -> bool {
        self.mark.is_at(&self.path)
    }
}

impl Drop for TaskLock {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(refresher) = self.refresher.take() {
            // The refresher holds nothing that a panic in it could leave broken.
            drop(refresher.join());
        }
        if self.is_ours()
            && let Err(error) = fs::remove_dir(&self.path)
        {
            tracing::warn!(lock = %self.path, %error, "could not remove our lock; it goes stale by itself");
        }
    }
}

impl Mark {
    fn is_at(&self, path: &Utf8Path) -> bool {
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        fs::symlink_metadata(path).is_ok_and(|metadata| self.matches(&metadata, *written))
    }

    fn matches(&self, metadata: &fs::Metadata, written: Stamp) -> bool {
        metadata.dev() == self.device && metadata.ino() == self.inode && stamp(metadata) == written
    }

    /// Renews the modification time; false when the lock is not ours any more.
    fn refresh(&self, path: &Utf8Path) -> bool {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(metadata) = fs::symlink_metadata(path) else { return false };
        if !self.matches(&metadata, *written) {
            return false;
        }
        let Ok(now) = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) else { return true };
        let seconds = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        // Whole milliseconds, since that is what the board program keeps.
        let time =
            Timespec { tv_sec: seconds, tv_nsec: i64::from(now.subsec_millis()) * 1_000_000 };
        let times = Timestamps { last_access: time, last_modification: time };
        if utimensat(CWD, path.as_std_path(), &times, AtFlags::SYMLINK_NOFOLLOW).is_err() {
            return false;
        }
        match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.ino() == self.inode => {
                *written = stamp(&metadata);
                true
            }
            _ => false,
        }
    }
}

fn stamp(metadata: &fs::Metadata) -> Stamp {
    (metadata.mtime(), metadata.mtime_nsec())
}

/// The part of the lock's name that the id gives.
fn name_of(spelling: &str) -> String {
    let mut name = String::new();
    for c in spelling.trim().to_lowercase().chars() {
        if c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '-') {
            name.push(c);
        } else if !name.ends_with('-') {
            name.push('-');
        }
    }
    name.trim_start_matches('.').to_owned()
}

/// Removes a lock that went stale; false when someone holds it.
///
/// It is moved aside first: of two processes that see one stale lock, only one gets it, and one that moved a fresh
/// lock by mistake puts it back.
fn remove_stale(path: &Utf8Path) -> io::Result<bool> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(error),
    };
    let age = metadata.modified()?;
    if !SystemTime::now().duration_since(age).is_ok_and(|age| age > STALE) {
        return Ok(false);
    }
    let aside =
        Utf8PathBuf::from(format!("{path}.stale-{}-{}", std::process::id(), metadata.ino()));
    match fs::rename(path, &aside) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(error),
    }
    let moved = fs::symlink_metadata(&aside)?;
    if moved.ino() != metadata.ino() || stamp(&moved) != stamp(&metadata) {
        fs::rename(&aside, path)?;
        return Ok(false);
    }
    // It is out of the way; what cannot be removed, since something lies in it or it is no folder, stays aside.
    if let Err(error) = fs::remove_dir(&aside) {
        tracing::warn!(lock = %aside, %error, "could not remove a stale lock; it is left aside");
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board() -> (tempfile::TempDir, Utf8PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(dir.path().to_owned()).unwrap();
        (dir, path)
    }

    /// Whatever was left in its place, a stale lock keeps nobody out.
    #[test]
    fn a_stale_lock_that_cannot_be_removed_is_moved_aside() {
        let (_guard, dir) = board();
        fs::create_dir_all(dir.join(".locks/task-t-1/left")).unwrap();
        fs::write(dir.join(".locks/task-t-2"), "left").unwrap();
        for task in ["t-1", "t-2"] {
            age(&dir.join(".locks").join(format!("task-{task}")), Duration::from_secs(11));
            assert!(TaskLock::take(&dir, task).unwrap().is_ours());
        }
    }

    fn age(path: &Utf8Path, age: Duration) {
        let then = SystemTime::now() - age;
        let since = then.duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let time = Timespec { tv_sec: i64::try_from(since.as_secs()).unwrap(), tv_nsec: 0 };
        let times = Timestamps { last_access: time, last_modification: time };
        utimensat(CWD, path.as_std_path(), &times, AtFlags::empty()).unwrap();
    }

    #[test]
    fn a_lock_excludes_another_and_goes_with_its_holder() {
        let (_guard, dir) = board();
        let lock = TaskLock::take(&dir, "T-1").unwrap();
        assert!(dir.join(".locks/task-t-1").is_dir() && lock.is_ours());
        assert!(matches!(TaskLock::take(&dir, "t-1"), Err(LockError::Busy)));
        drop(lock);
        assert!(!dir.join(".locks/task-t-1").exists());
        drop(TaskLock::take(&dir, "T-1").unwrap());
    }

    #[test]
    fn a_lock_nobody_refreshed_for_ten_seconds_is_taken_over_and_its_holder_notices() {
        let (_guard, dir) = board();
        let first = TaskLock::take(&dir, "T-1").unwrap();
        age(&dir.join(".locks/task-t-1"), Duration::from_secs(9));
        assert!(matches!(TaskLock::take(&dir, "T-1"), Err(LockError::Busy)));
        age(&dir.join(".locks/task-t-1"), Duration::from_secs(11));
        let second = TaskLock::take(&dir, "T-1").unwrap();
        assert!(!first.is_ours() && second.is_ours());
        drop(first);
        assert!(second.is_ours(), "the loser does not remove the winner's lock");
    }
}
