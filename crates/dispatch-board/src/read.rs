//! The files reader (B2.1, B2.6, B2.9): one scan of the board directory, no process started.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::thread;
use std::time::{Duration, SystemTime};

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_core::board::{
    Board, Folder, Found, ParsedFile, Problem, ProblemClass, assemble_parsed, is_task_file_name,
};
use dispatch_core::board_config::BoardConfig;
use dispatch_core::task_file::MAX_FILE_BYTES;
use dispatch_proc::{Links, open_regular, read_regular};

use crate::known::{KnownFiles, Stamp};

/// How much of a file that is no task is read: enough for its first line.
const HEAD_BYTES: u64 = 4 << 10;

/// A file that changed more recently than this is read twice.
pub(crate) const FRESH: Duration = Duration::from_secs(2);

/// How often a file that looks torn is read again, and how long after.
const READINGS: usize = 3;
const BETWEEN_READINGS: Duration = Duration::from_millis(50);

/// How deep folders are followed.
const MAX_DEPTH: usize = 16;

/// Folders of the board directory that hold no board text.
const OURS: [&str; 2] = [".dispatch", ".locks"];

/// How often a board is scanned when files came and went meanwhile.
const SCANS: usize = 3;

/// Reads a small text that says where things are: a configuration, or a pointer of git.
///
/// Whoever can write to the checkout can put a pipe that nobody serves, or a link to a device, in its place.
pub(crate) fn read_text(path: &Utf8Path) -> io::Result<String> {
    let bytes = read_regular(path, Links::Followed, MAX_FILE_BYTES)?;
    String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// Reads the board in `dir`.
///
/// A task that moves from one folder to another during the scan may be in neither listing. The folders are therefore
/// listed again afterwards, and a board whose listings differ is scanned anew (B2.6).
pub fn read_board(dir: &Utf8Path, config: &BoardConfig) -> Board {
    let known = KnownFiles::default();
    match scan(dir, config, &known) {
        Ok(scan) => scan.assemble(),
        Err(error) => listing_failed(dir, &error),
    }
}

/// Reads the board in `dir` and remembers its files, of which `known` are not read again where they did not change.
pub(crate) fn read_again(
    dir: &Utf8Path,
    config: &BoardConfig,
    known: KnownFiles,
) -> (Board, KnownFiles) {
    let known = known.by(config);
    match scan(dir, config, &known) {
        Ok(scan) => {
            let read = scan.settled();
            (scan.assemble(), KnownFiles::new(config, read))
        }
        Err(error) => (listing_failed(dir, &error), KnownFiles::default()),
    }
}

fn scan<'a>(
    dir: &'a Utf8Path,
    config: &'a BoardConfig,
    known: &'a KnownFiles,
) -> io::Result<Scan<'a>> {
    let mut scan =
        Scan { dir, config, known, files: BTreeMap::new(), vanished: false, restless: false };
    for last in 1..=SCANS {
        scan.vanished = false;
        scan.files.clear();
        scan.list()?;
        scan.settle();
        let names = scan.names()?;
        let same = names.iter().eq(scan.files.keys().filter(|path| scan.is_task(path)));
        if same && !scan.vanished {
            break;
        }
        scan.restless = last == SCANS && !scan.vanished;
    }
    Ok(scan)
}

fn listing_failed(dir: &Utf8Path, error: &io::Error) -> Board {
    Board {
        problems: vec![Problem {
            class: ProblemClass::Listing,
            file: None,
            line: None,
            id: None,
            cause: format!("cannot list the board in `{dir}`: {error}"),
        }],
        ..Board::default()
    }
}

/// A file at one reading.
struct Reading {
    /// What was found; nothing where an earlier reading holds.
    found: Option<Found>,
    parsed: ParsedFile,
    fresh: bool,
    /// What it is known by at the next reading.
    stamp: Option<Stamp>,
}

impl Reading {
    /// Whether it may have been read while it was being written.
    fn is_suspect(&self) -> bool {
        matches!(self.found, Some(Found::Bytes(_))) && (self.fresh || self.parsed.may_be_torn())
    }
}

struct Scan<'a> {
    dir: &'a Utf8Path,
    config: &'a BoardConfig,
    known: &'a KnownFiles,
    files: BTreeMap<Utf8PathBuf, Reading>,
    /// Whether a file that was listed was gone when it was to be read.
    vanished: bool,
    /// Whether no two listings were the same.
    restless: bool,
}

impl Scan<'_> {
    /// The files that the next reading need not open while they stay as they are.
    fn settled(&self) -> BTreeMap<Utf8PathBuf, (Stamp, ParsedFile)> {
        let settled = |(path, reading): (&Utf8PathBuf, &Reading)| {
            let stamp = reading.stamp.filter(|_| !reading.is_suspect())?;
            Some((path.clone(), (stamp, reading.parsed.clone())))
        };
        self.files.iter().filter_map(settled).collect()
    }

    fn assemble(self) -> Board {
        let files: Vec<(Utf8PathBuf, Reading)> = self.files.into_iter().collect();
        let (paths, readings): (Vec<_>, Vec<_>) = files.into_iter().unzip();
        let parsed =
            paths.iter().map(Utf8PathBuf::as_path).zip(readings.into_iter().map(|r| r.parsed));
        let mut board = assemble_parsed(parsed, self.config);
        if self.restless {
            board.complete = false;
            board.problems.push(Problem {
                class: ProblemClass::Listing,
                file: None,
                line: None,
                id: None,
                cause: "tasks came and went each time the board was read".to_owned(),
            });
        }
        board
    }

    /// The task files there are now.
    fn names(&self) -> io::Result<BTreeSet<Utf8PathBuf>> {
        let mut names = BTreeSet::new();
        for folder in ["tasks", "completed", "archive/tasks"] {
            let entries = match std::fs::read_dir(self.dir.join(folder)) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            for entry in entries {
                let entry = entry?;
                let path = Utf8Path::new(folder).join(entry.file_name().to_string_lossy().as_ref());
                if self.is_task(&path) && !entry.file_type()?.is_dir() {
                    names.insert(path);
                }
            }
        }
        Ok(names)
    }

    fn list(&mut self) -> io::Result<()> {
        let mut seen = BTreeSet::new();
        // A board without `tasks/` is no empty board: something is wrong with it.
        std::fs::read_dir(self.dir.join("tasks"))?;
        self.folder(Utf8Path::new(""), 0, &mut seen)
    }

    fn folder(
        &mut self,
        at: &Utf8Path,
        depth: usize,
        seen: &mut BTreeSet<(u64, u64)>,
    ) -> io::Result<()> {
        let path = self.dir.join(at);
        // The folder is named, since it need not be the board's own.
        let failed = |error: io::Error| io::Error::new(error.kind(), format!("`{path}`: {error}"));
        let metadata = std::fs::metadata(&path).map_err(failed)?;
        if depth > MAX_DEPTH || !seen.insert((metadata.dev(), metadata.ino())) {
            return Ok(());
        }
        for entry in std::fs::read_dir(&path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let inner = at.join(name.as_ref());
            let kind = entry.file_type()?;
            if depth == 0 && OURS.contains(&name.as_ref()) {
                continue;
            }
            if name.ends_with(".md") && !kind.is_dir() {
                if entry.file_name().to_str().is_none() {
                    let cause = "its name is not UTF-8".to_owned();
                    self.files.insert(inner.clone(), self.unreadable(&inner, cause));
                } else {
                    self.file(&inner);
                }
            } else if kind.is_dir() || (kind.is_symlink() && path.join(name.as_ref()).is_dir()) {
                match self.folder(&inner, depth + 1, seen) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => self.vanished = true,
                    other => other?,
                }
            }
        }
        Ok(())
    }

    fn file(&mut self, at: &Utf8Path) {
        if let Some((stamp, parsed)) = self.known.unchanged(self.dir, at) {
            let reading = Reading { found: None, parsed, fresh: false, stamp: Some(stamp) };
            self.files.insert(at.to_owned(), reading);
            return;
        }
        let reading = self.reading(at).unwrap_or_else(|error| {
            let missing = error.kind() == io::ErrorKind::NotFound;
            let leads_nowhere = missing && self.dir.join(at).is_symlink();
            self.vanished |= missing && !leads_nowhere;
            let cause = match (missing, leads_nowhere) {
                (_, true) => "it is a link to a file that is not there".to_owned(),
                (true, false) => "it vanished while the board was read".to_owned(),
                (false, false) => error.to_string(),
            };
            self.unreadable(at, cause)
        });
        self.files.insert(at.to_owned(), reading);
    }

    fn unreadable(&self, at: &Utf8Path, cause: String) -> Reading {
        let found = Found::Unreadable(cause);
        let parsed = ParsedFile::new(at, &found, self.config);
        Reading { found: Some(found), parsed, fresh: false, stamp: None }
    }

    fn is_task(&self, at: &Utf8Path) -> bool {
        Folder::of(at) != Folder::Other
            && at.file_name().is_some_and(|name| is_task_file_name(name, &self.config.task_prefix))
    }

    fn reading(&self, at: &Utf8Path) -> io::Result<Reading> {
        let most = if self.is_task(at) { MAX_FILE_BYTES } else { HEAD_BYTES };
        let path = self.dir.join(at);
        // Links are followed, as the board program follows them.
        let file = open_regular(&path, Links::Followed, File::options().read(true))?;
        let metadata = file.metadata()?;
        if self.is_task(at) && metadata.len() > MAX_FILE_BYTES {
            return Err(io::Error::other(format!(
                "it is larger than {} MiB",
                MAX_FILE_BYTES >> 20
            )));
        }
        let stamp = Stamp::settled(&metadata);
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len().min(most)).unwrap_or(0));
        file.take(most).read_to_end(&mut bytes)?;
        let age = metadata.modified().ok().and_then(|at| SystemTime::now().duration_since(at).ok());
        let found = Found::Bytes(bytes);
        let parsed = ParsedFile::new(at, &found, self.config);
        let fresh = age.is_none_or(|age| age < FRESH);
        Ok(Reading { found: Some(found), parsed, fresh, stamp })
    }

    /// Reads what looks torn again, until two readings agree (B2.9).
    fn settle(&mut self) {
        let mut open: Vec<Utf8PathBuf> = self
            .files
            .iter()
            .filter(|(path, reading)| self.is_task(path) && reading.is_suspect())
            .map(|(path, _)| path.clone())
            .collect();
        for _ in 0..READINGS {
            if open.is_empty() {
                return;
            }
            thread::sleep(BETWEEN_READINGS);
            open.retain(|path| match self.reading(path) {
                Ok(again) => {
                    let agrees =
                        self.files.get(path).is_some_and(|reading| reading.found == again.found);
                    if !agrees {
                        self.files.insert(path.clone(), again);
                    }
                    !agrees
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    self.files.remove(path);
                    false
                }
                Err(_) => true,
            });
        }
    }
}
