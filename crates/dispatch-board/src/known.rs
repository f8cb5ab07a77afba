//! What an earlier reading of a board found: a later one opens only the files that changed since.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_core::board::ParsedFile;
use dispatch_core::board_config::BoardConfig;

use crate::read::FRESH;

/// What tells a file from another one, and from itself with other bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    device: u64,
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            bytes: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// The stamp of a file about to be read, if every later change will give it another one.
    ///
    /// A file that changed just now can change again within the same tick of its clock, and so can one that changes in
    /// the future by our clock.
    pub(crate) fn settled(metadata: &Metadata) -> Option<Self> {
        let stamp = Self::of(metadata);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        let is_old = |(seconds, nanoseconds): (i64, i64)| {
            let Ok(seconds) = u64::try_from(seconds) else { return true };
            let at = Duration::new(seconds, u32::try_from(nanoseconds).unwrap_or(0));
            now.checked_sub(at).is_some_and(|age| age >= FRESH)
        };
        (is_old(stamp.modified) && is_old(stamp.changed)).then_some(stamp)
    }
}

/// The files of one board, as one reading found them.
#[derive(Debug, Default)]
pub(crate) struct KnownFiles {
    /// The configuration they were parsed by.
    config: BoardConfig,
    files: BTreeMap<Utf8PathBuf, (Stamp, ParsedFile)>,
}

impl KnownFiles {
    pub(crate) fn new(
        config: &BoardConfig,
        files: BTreeMap<Utf8PathBuf, (Stamp, ParsedFile)>,
    ) -> Self {
        Self { config: config.clone(), files }
    }

    /// The same for a reading by `config`: under another configuration a file may say something else.
    pub(crate) fn by(self, config: &BoardConfig) -> Self {
        if self.config == *config { self } else { Self::default() }
    }

    /// The file at a path relative to the board directory `dir`, if it is still the one that was read.
    pub(crate) fn unchanged(&self, dir: &Utf8Path, at: &Utf8Path) -> Option<(Stamp, ParsedFile)> {
        let (stamp, parsed) = self.files.get(at)?;
        let metadata = std::fs::metadata(dir.join(at)).ok()?;
        (Stamp::of(&metadata) == *stamp).then(|| (*stamp, parsed.clone()))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use dispatch_core::board::Found;
    use dispatch_core::id::TaskId;

    use super::*;
    use crate::read::read_again;

    fn stamp(age: Duration) -> Option<Stamp> {
        let file = tempfile::tempfile().unwrap();
        file.set_modified(SystemTime::now() - age).unwrap();
        Stamp::settled(&file.metadata().unwrap())
    }

    #[test]
    fn b2_9_a_file_that_changed_just_now_is_read_again() {
        assert_eq!(stamp(Duration::ZERO), None);
        // Whoever sets the time of the bytes cannot set the time of the change.
        assert_eq!(stamp(Duration::from_hours(1)), None);
    }

    const TASK: &str = "---\nid: T-1\ntitle: One\nstatus: To Do\n---\n";

    fn known(board: &Utf8Path, text: &str, config: &BoardConfig) -> KnownFiles {
        let at = Utf8PathBuf::from("tasks/t-1 - task.md");
        let stamp = Stamp::of(&board.join(&at).metadata().unwrap());
        let parsed = ParsedFile::new(&at, &Found::Bytes(text.into()), config);
        KnownFiles::new(config, BTreeMap::from([(at, (stamp, parsed))]))
    }

    #[test]
    fn b2_1_only_a_file_that_changed_is_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let board = Utf8Path::from_path(folder.path()).unwrap();
        let file = board.join("tasks/t-1 - task.md");
        std::fs::create_dir(board.join("tasks")).unwrap();
        std::fs::write(&file, TASK).unwrap();
        let config = BoardConfig::parse("task_prefix: t\n");
        let title = |known: KnownFiles, config: &BoardConfig| {
            read_again(board, config, known).0.tasks[&TaskId::parse("T-1").unwrap()].title.clone()
        };
        let two = TASK.replace("One", "Two");
        assert_eq!(title(known(board, &two, &config), &config), "Two");
        // A file is parsed by the board's configuration.
        let other = BoardConfig { statuses: vec!["To Do".to_owned()], ..config.clone() };
        assert_eq!(title(known(board, &two, &config), &other), "One");
        // The same number of bytes, under the same time, in a later tick of the clock.
        let before = known(board, TASK, &config);
        std::thread::sleep(Duration::from_millis(20));
        let modified = file.metadata().unwrap().modified().unwrap();
        std::fs::write(&file, &two).unwrap();
        File::options().write(true).open(&file).unwrap().set_modified(modified).unwrap();
        assert_eq!(title(before, &config), "Two");
        // A file of that name that was moved there.
        let before = known(board, &two, &config);
        std::fs::write(board.join("new"), TASK).unwrap();
        std::fs::rename(board.join("new"), &file).unwrap();
        assert_eq!(title(before, &config), "One");
    }

    #[test]
    fn b2_9_what_may_have_been_read_while_it_was_written_is_not_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let board = Utf8Path::from_path(folder.path()).unwrap();
        std::fs::create_dir(board.join("tasks")).unwrap();
        std::fs::write(board.join("tasks/t-1 - task.md"), TASK).unwrap();
        let config = BoardConfig::parse("task_prefix: t\n");
        let (read, known) = read_again(board, &config, KnownFiles::default());
        assert_eq!((read.tasks.len(), known.files.len()), (1, 0));
    }
}
