//! Attempt directories, `<board dir>/.dispatch/<ID>/attempt-<N>/`.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};

use camino::Utf8PathBuf;
use dispatch_core::attempt::{AttemptCounts, AttemptNumber, Tally};
use dispatch_core::id::TaskId;
use dispatch_engine::ports::{AttemptFile, PortError};
use dispatch_proc::{Links, make_ignored_dir, open_regular};
use serde::Deserialize;

use crate::DiskStore;
use crate::files::{
    failed, make_private_dir, names_in, read, read_end, read_json, refused, replace,
};

const FOLDER: &str = ".dispatch";
/// The name an older dispatcher gave its attempt directories.
const OLDER_PREFIX: &str = "intento-";
const PREFIX: &str = "attempt-";
/// What the name of a directory ends in that was set aside.
const ARCHIVED: &str = ".archived";
/// More directories than this appear under our hands only if something is broken.
const MOST_COLLISIONS: u32 = 1000;

/// What `outcome.json` says that matters here.
#[derive(Debug, Deserialize)]
struct Ended {
    counted: Option<bool>,
    /// Not in what an older version wrote.
    #[serde(default)]
    excused: bool,
}

impl Ended {
    fn tally(&self) -> Option<Tally> {
        self.counted.map(|counted| match (counted, self.excused) {
            (true, _) => Tally::Counted,
            (false, true) => Tally::Excused,
            (false, false) => Tally::Fault,
        })
    }
}

impl DiskStore {
    fn attempts_root(&self) -> Utf8PathBuf {
        self.places.board_dir.join(FOLDER)
    }

    /// The directories of a task's attempts, whatever spelling of the id an earlier version used.
    fn task_dirs(&self, id: &TaskId) -> Result<Vec<Utf8PathBuf>, PortError> {
        let root = self.attempts_root();
        let names = names_in(&root)?;
        let same = names.iter().filter(|name| TaskId::parse(name).is_ok_and(|found| found == *id));
        Ok(same.map(|name| root.join(name)).collect())
    }

    /// Makes the directory that holds all attempts, which no commit ever takes along.
    fn make_attempts_root(&self) -> Result<(), PortError> {
        let root = self.attempts_root();
        make_ignored_dir(&root).map_err(|source| failed(format!("make `{root}`"), source))
    }

    pub(crate) fn new_attempt(
        &self,
        id: &TaskId,
        above: Option<AttemptNumber>,
    ) -> Result<AttemptNumber, PortError> {
        self.make_attempts_root()?;
        let recorded = self.read_record(id)?.map(|record| record.last_attempt.max(record.attempt));
        let mut highest = above.max(recorded).map_or(0, AttemptNumber::get);
        for dir in self.task_dirs(id)? {
            for name in names_in(&dir)? {
                highest = highest.max(used_number(&name).unwrap_or(0));
            }
        }
        make_private_dir(&self.attempts_root().join(id.canonical()))?;
        for step in 1..=MOST_COLLISIONS {
            let Some(attempt) = highest.checked_add(step).and_then(AttemptNumber::new) else {
                break;
            };
            let dir = self.dir_of_attempt(id, attempt);
            match DirBuilder::new().mode(0o700).create(&dir) {
                Ok(()) => return Ok(attempt),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(format!("make `{dir}`"), error)),
            }
        }
        Err(refused(format!("number an attempt of {id}"), "every number tried is in use"))
    }

    pub(crate) fn counts(&self, id: &TaskId) -> Result<AttemptCounts, PortError> {
        let mut found = AttemptCounts::default();
        for dir in self.task_dirs(id)? {
            for name in names_in(&dir)? {
                if older_number(&name).is_some() {
                    found.counted = found.counted.saturating_add(1);
                } else if current_number(&name).is_some() {
                    let outcome = dir.join(&name).join(AttemptFile::Outcome.file_name());
                    if let Some(tally) = read_json::<Ended>(&outcome)?.and_then(|end| end.tally()) {
                        found = found.and(tally);
                    }
                }
            }
        }
        // Directories go with a cleaned checkout, the record does not: the higher number is the true one.
        let recorded = self.read_record(id)?.map(|record| record.counts).unwrap_or_default();
        Ok(AttemptCounts {
            counted: found.counted.max(recorded.counted),
            uncounted: found.uncounted.max(recorded.uncounted),
            excused: found.excused.max(recorded.excused),
        })
    }

    pub(crate) fn archive(&self, id: &TaskId) -> Result<u32, PortError> {
        let mut archived = 0;
        for dir in self.task_dirs(id)? {
            for name in names_in(&dir)? {
                if older_number(&name).or_else(|| current_number(&name)).is_none() {
                    continue;
                }
                let (from, to) = (dir.join(&name), dir.join(format!("{name}{ARCHIVED}")));
                std::fs::rename(&from, &to)
                    .map_err(|source| failed(format!("rename `{from}` to `{to}`"), source))?;
                archived += 1;
            }
        }
        Ok(archived)
    }

    /// Where the files of an attempt are, also of one that no longer counts.
    pub fn kept_attempt_dir(&self, id: &TaskId, attempt: AttemptNumber) -> Utf8PathBuf {
        let dir = self.dir_of_attempt(id, attempt);
        let archived = Utf8PathBuf::from(format!("{dir}{ARCHIVED}"));
        if !dir.exists() && archived.exists() { archived } else { dir }
    }

    pub(crate) fn any_attempts(&self, id: &TaskId) -> Result<bool, PortError> {
        Ok(!self.task_dirs(id)?.is_empty())
    }

    pub(crate) fn dir_of_attempt(&self, id: &TaskId, attempt: AttemptNumber) -> Utf8PathBuf {
        self.attempts_root().join(id.canonical()).join(format!("{PREFIX}{attempt}"))
    }

    pub(crate) fn shown_dir_of_attempt(&self, id: &TaskId, attempt: AttemptNumber) -> String {
        let dir = self.dir_of_attempt(id, attempt);
        dir.strip_prefix(&self.places.board_root).unwrap_or(&dir).to_string()
    }

    /// The path of a file of an attempt, whose directory is made again when a cleaned checkout lost it.
    fn writable_attempt_file(
        &self,
        id: &TaskId,
        attempt: AttemptNumber,
        file: AttemptFile,
    ) -> Result<Utf8PathBuf, PortError> {
        let dir = self.dir_of_attempt(id, attempt);
        if !dir.is_dir() {
            self.make_attempts_root()?;
            make_private_dir(&self.attempts_root().join(id.canonical()))?;
            make_private_dir(&dir)?;
        }
        Ok(dir.join(file.file_name()))
    }

    pub(crate) fn replace_attempt_file(
        &self,
        id: &TaskId,
        attempt: AttemptNumber,
        file: AttemptFile,
        content: &[u8],
    ) -> Result<(), PortError> {
        replace(&self.writable_attempt_file(id, attempt, file)?, content)
    }

    pub(crate) fn extend_attempt_file(
        &self,
        id: &TaskId,
        attempt: AttemptNumber,
        file: AttemptFile,
        content: &[u8],
    ) -> Result<(), PortError> {
        let path = self.writable_attempt_file(id, attempt, file)?;
        let mut how = OpenOptions::new();
        how.append(true).create(true).mode(0o600);
        open_regular(&path, Links::Refused, &mut how)
            .and_then(|mut file| file.write_all(content))
            .map_err(|source| failed(format!("add to `{path}`"), source))
    }

    pub(crate) fn attempt_file(
        &self,
        id: &TaskId,
        attempt: AttemptNumber,
        file: AttemptFile,
    ) -> Result<Option<Vec<u8>>, PortError> {
        read(&self.dir_of_attempt(id, attempt).join(file.file_name()))
    }

    pub(crate) fn end_of_attempt_file(
        &self,
        id: &TaskId,
        attempt: AttemptNumber,
        file: AttemptFile,
        most_bytes: u64,
    ) -> Result<Option<Vec<u8>>, PortError> {
        read_end(&self.dir_of_attempt(id, attempt).join(file.file_name()), most_bytes)
    }
}

/// The number in a directory name that must never be given again, of archived directories (`attempt-3.…`) too.
fn used_number(name: &str) -> Option<u32> {
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    current_number(stem).or_else(|| older_number(stem))
}

fn current_number(name: &str) -> Option<u32> {
    number(name.strip_prefix(PREFIX)?)
}

fn older_number(name: &str) -> Option<u32> {
    number(name.strip_prefix(OLDER_PREFIX)?)
}

fn number(digits: &str) -> Option<u32> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("attempt-7", Some(7); "ours")]
    #[test_case("intento-12", Some(12); "an older dispatcher's")]
    #[test_case("attempt-3.archived-2026", Some(3); "an archived one")]
    #[test_case("attempt-", None; "no number")]
    #[test_case("attempt-+3", None; "a sign")]
    #[test_case("notes", None; "something else")]
    fn numbers_in_use_are_recognised(name: &str, expected: Option<u32>) {
        assert_eq!(used_number(name), expected);
    }
}
