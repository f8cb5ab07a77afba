//! Noticing that the board changed (R2.1, R2.3).

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_core::watch::{WATCHED_FOLDERS, matters};
use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};

/// How often to look by hand where nothing is told.
const POLL: Duration = Duration::from_secs(1);

/// How often to look by hand all the same: a network file system tells nothing of what another machine writes.
const SAFETY_NET: Duration = Duration::from_secs(5);

/// How changes are to be noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noticing {
    /// By the system's notifications, or by looking where it has none to give.
    ByNotifications,
    /// By looking alone.
    ByLooking,
}

/// How changes are noticed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The system tells.
    Notifications,
    /// Somebody has to look; why, when notifications were wanted.
    Looking {
        /// Why there are no notifications.
        why: Option<String>,
    },
}

type Tell = Arc<dyn Fn() + Send + Sync>;

/// What changes about a file when it is written.
type Stamp = (u64, u64, i64, i64);

/// What there is to be seen.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    folders: BTreeMap<&'static str, Folder>,
    /// The board's configuration, which may lie above the board directory.
    config: Option<Stamp>,
}

/// What a folder looked like: its identity, and its files by name with what changes when they are written.
#[derive(Debug, PartialEq, Eq)]
struct Folder {
    identity: (u64, u64),
    files: BTreeMap<OsString, Stamp>,
}

/// Watches a board directory.
///
/// What is written below it beside the board (logs of attempts by the thousand) is not listened to. The directory may
/// vanish and come back as another one: whoever holds this calls [`check`](Self::check) after each word and every
/// [`patience`](Self::patience), and then what is there is watched.
pub struct BoardWatch {
    dir: Utf8PathBuf,
    config_file: Utf8PathBuf,
    tell: Tell,
    watcher: Option<RecommendedWatcher>,
    notice: Notice,
    seen: Seen,
}

impl BoardWatch {
    /// Begins to watch a board and its configuration; `tell` is called, from another thread, when something may have
    /// changed.
    pub fn start(
        dir: &Utf8Path,
        config_file: &Utf8Path,
        noticing: Noticing,
        tell: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        // Paths are told as they were given: a link on the way is no other place.
        let real = |path: &Utf8Path| path.canonicalize_utf8().unwrap_or_else(|_| path.to_owned());
        let (dir, config_file) = (real(dir), real(config_file));
        let notice = match noticing {
            Noticing::ByNotifications => Notice::Notifications,
            Noticing::ByLooking => Notice::Looking { why: None },
        };
        let seen = look(&dir, &config_file);
        let mut watch =
            Self { dir, config_file, tell: Arc::new(tell), watcher: None, notice, seen };
        watch.arm();
        watch
    }

    /// How changes are noticed at present.
    pub fn notice(&self) -> &Notice {
        &self.notice
    }

    /// How long to wait before looking by hand.
    pub fn patience(&self) -> Duration {
        match self.notice {
            Notice::Notifications => SAFETY_NET,
            Notice::Looking { .. } => POLL,
        }
    }

    /// Looks by hand: whether something changed since the last look. A folder that was replaced is watched anew.
    pub fn check(&mut self) -> bool {
        let mut changed = false;
        loop {
            let now = look(&self.dir, &self.config_file);
            if now == self.seen {
                return changed;
            }
            changed = true;
            let identities = |folders: &BTreeMap<&'static str, Folder>| {
                folders.iter().map(|(name, folder)| (*name, folder.identity)).collect::<Vec<_>>()
            };
            let replaced = identities(&now.folders) != identities(&self.seen.folders);
            self.seen = now;
            if !replaced {
                return changed;
            }
            // What came between looking and watching is found by looking once more.
            self.arm();
        }
    }

    /// Watches the folders there are now; where that fails somebody has to look from now on.
    fn arm(&mut self) {
        self.watcher = None;
        if self.notice != Notice::Notifications {
            return;
        }
        match armed(&self.dir, &self.config_file, self.seen.folders.keys(), &self.tell) {
            Ok(watcher) => self.watcher = Some(watcher),
            Err(error) => self.notice = Notice::Looking { why: Some(error.to_string()) },
        }
    }
}

/// A watcher of the folders, of the one above them, where the board itself may be replaced, and of the configuration's.
fn armed<'a>(
    dir: &Utf8Path,
    config_file: &Utf8Path,
    folders: impl Iterator<Item = &'a &'static str>,
    tell: &Tell,
) -> notify::Result<RecommendedWatcher> {
    let (board, config, tell) = (dir.to_owned(), config_file.to_owned(), Arc::clone(tell));
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        if event.map_or(true, |event| concerns(&board, &config, &event)) {
            tell();
        }
    })?;
    let above: BTreeSet<&Utf8Path> =
        [dir, config_file].into_iter().filter_map(Utf8Path::parent).collect();
    for folder in above.into_iter().filter(|folder| *folder != dir) {
        watcher.watch(folder.as_std_path(), RecursiveMode::NonRecursive)?;
    }
    for folder in folders {
        match watcher.watch(dir.join(folder).as_std_path(), RecursiveMode::NonRecursive) {
            // It went just now; the folder above tells when it comes back.
            Err(error) if matches!(error.kind, notify::ErrorKind::PathNotFound) => {}
            added => added?,
        }
    }
    Ok(watcher)
}

/// Whether an event may mean that the board changed. That it was read means nothing: we read it ourselves.
fn concerns(board: &Utf8Path, config: &Utf8Path, event: &notify::Event) -> bool {
    match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write))
        | EventKind::Any
        | EventKind::Create(_)
        | EventKind::Modify(_)
        | EventKind::Remove(_)
        | EventKind::Other => {}
        EventKind::Access(_) => return false,
    }
    // An event without a file says that some were lost.
    event.paths.is_empty()
        || event.need_rescan()
        || event.paths.iter().any(|path| {
            let below = path.strip_prefix(board.as_std_path()).ok();
            path == config.as_std_path()
                || below.and_then(|below| Utf8Path::from_path(below)).is_some_and(matters)
        })
}

fn stamp(found: &fs::Metadata) -> Stamp {
    (found.ino(), found.size(), found.mtime(), found.mtime_nsec())
}

/// The watched folders that are there, and the configuration.
fn look(dir: &Utf8Path, config_file: &Utf8Path) -> Seen {
    let seen = |name: &&'static str| {
        let path = dir.join(name);
        let metadata = fs::metadata(&path).ok()?;
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(&path).ok()?.flatten() {
            let file = entry.file_name();
            let inner = Utf8Path::new(name).join(file.to_string_lossy().as_ref());
            // Folders stand for themselves.
            if !matters(&inner) || WATCHED_FOLDERS.contains(&inner.as_str()) {
                continue;
            }
            // One that vanished meanwhile is not there.
            if let Ok(found) = entry.metadata() {
                files.insert(file, stamp(&found));
            }
        }
        Some((*name, Folder { identity: (metadata.dev(), metadata.ino()), files }))
    };
    Seen {
        folders: WATCHED_FOLDERS.iter().filter_map(seen).collect(),
        config: fs::metadata(config_file).ok().map(|found| stamp(&found)),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use dispatch_testkit::scratch::Scratch;
    use dispatch_testkit::wait;

    use super::*;

    struct Place {
        scratch: Scratch,
        told: Arc<AtomicUsize>,
        watch: BoardWatch,
    }

    impl Place {
        fn new(noticing: Noticing) -> Self {
            let scratch = Scratch::new();
            make(&scratch.root().join("code/backlog"));
            let told = Arc::new(AtomicUsize::new(0));
            let count = Arc::clone(&told);
            let code = scratch.root().join("code");
            let (board, config) = (code.join("backlog"), code.join("backlog.config.yml"));
            fs::write(&config, "project_name: x\n").unwrap();
            let watch = BoardWatch::start(&board, &config, noticing, move || {
                count.fetch_add(1, Ordering::SeqCst);
            });
            Self { scratch, told, watch }
        }

        fn board(&self) -> Utf8PathBuf {
            self.scratch.root().join("code/backlog")
        }

        fn task(&self, number: usize, text: &str) {
            fs::write(self.board().join(format!("tasks/t-{number} - x.md")), text).unwrap();
        }

        fn told(&self) -> usize {
            self.told.load(Ordering::SeqCst)
        }

        fn is_told(&self, what: &str, from: usize) {
            wait::until(what, || self.told() > from);
        }
    }

    fn make(board: &Utf8Path) {
        fs::create_dir_all(board.join("tasks")).unwrap();
        fs::create_dir_all(board.join(".dispatch/T-1/attempt-1")).unwrap();
        fs::write(board.join("config.yml"), "project_name: x\n").unwrap();
    }

    #[test]
    fn r2_1_a_change_of_a_task_is_told_and_a_log_is_not() {
        let mut place = Place::new(Noticing::ByNotifications);
        assert_eq!(*place.watch.notice(), Notice::Notifications);
        for line in 0..200 {
            let log = place.board().join(".dispatch/T-1/attempt-1/stream.jsonl");
            fs::write(log, line.to_string()).unwrap();
        }
        fs::read(place.board().join("config.yml")).unwrap();
        assert!(!place.watch.check());
        // Words come in order: had the log been told of, it would have been before the task.
        place.task(1, "one");
        place.is_told("the new task", 0);
        assert!(place.told() < 10, "{}", place.told());
        assert!(place.watch.check());
        assert!(!place.watch.check(), "it was looked at");
    }

    /// The board's configuration may lie beside the board directory; what else lies there is nobody's business.
    #[test]
    fn r2_1_a_change_of_the_configuration_above_the_board_is_told() {
        for noticing in [Noticing::ByNotifications, Noticing::ByLooking] {
            let mut place = Place::new(noticing);
            let code = place.scratch.root().join("code");
            fs::write(code.join("notes.txt"), "x").unwrap();
            assert!(!place.watch.check());
            fs::write(code.join("backlog.config.yml"), "project_name: another\n").unwrap();
            if noticing == Noticing::ByNotifications {
                place.is_told("the configuration", 0);
            }
            assert!(place.watch.check());
            assert!(!place.watch.check(), "it was looked at");
        }
    }

    #[test]
    fn r2_3_a_board_that_is_replaced_is_watched_all_the_same() {
        let mut place = Place::new(Noticing::ByNotifications);
        for round in 0..3 {
            let before = place.told();
            let away = place.scratch.root().join(format!("away-{round}"));
            fs::rename(place.board(), &away).unwrap();
            place.is_told("the board is gone", before);
            assert!(place.watch.check());
            let before = place.told();
            make(&place.board());
            place.is_told("the board is back", before);
            // It may have been seen half made.
            place.watch.check();
            place.watch.check();
            let before = place.told();
            place.task(round, "new");
            place.is_told("a task of the new board", before);
            assert!(place.watch.check());
            fs::write(away.join("tasks/t-9 - x.md"), "old").unwrap();
            assert!(!place.watch.check(), "the old one is none of ours");
        }
    }

    #[test]
    fn r2_1_by_looking_the_same_is_found() {
        let mut place = Place::new(Noticing::ByLooking);
        assert_eq!(*place.watch.notice(), Notice::Looking { why: None });
        assert_eq!(place.watch.patience(), POLL);
        assert!(!place.watch.check());
        place.task(1, "one");
        assert!(place.watch.check());
        place.task(1, "three");
        assert!(place.watch.check());
        fs::write(place.board().join("tasks/.t-1.tmp"), "x").unwrap();
        assert!(!place.watch.check());
        fs::remove_dir_all(place.board()).unwrap();
        assert!(place.watch.check());
        make(&place.board());
        assert!(place.watch.check());
        assert_eq!(place.told(), 0);
    }

    /// R2.1: where nothing can be watched it is said why, and looking goes on.
    #[test]
    fn r2_1_where_notifications_fail_somebody_looks_and_it_is_said_why() {
        let scratch = Scratch::new();
        let nowhere = scratch.root().join("no/such/folder");
        let config = nowhere.join("config.yml");
        let mut watch = BoardWatch::start(&nowhere, &config, Noticing::ByNotifications, || {});
        let Notice::Looking { why: Some(why) } = watch.notice().clone() else {
            panic!("{:?}", watch.notice())
        };
        assert!(!why.is_empty());
        assert_eq!(watch.patience(), POLL);
        make(&nowhere);
        assert!(watch.check());
    }
}
