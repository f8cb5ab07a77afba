//! The native writer (B3.1, B3.9, B3.10): one edit of one task file, under the board's lock on that task.

use std::fs;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_close::integrity::Snapshot;
use dispatch_core::board::{id_of_file_name, is_task_file_name};
use dispatch_core::board_config::BoardConfig;
use dispatch_core::id::TaskId;
use dispatch_core::status::Status;
use dispatch_core::task::{Checklist, Task};
use dispatch_core::task_edit::{self, Edit, Edited};
use dispatch_core::task_file::{self, MAX_FILE_BYTES, TaskFile};
use dispatch_core::worker_edit::Section;
use dispatch_proc::{Links, read_regular};
use time::OffsetDateTime;
use time::macros::format_description;

use crate::BoardError;
use crate::lock::TaskLock;
use crate::replace::{Original, Replaced, read_original, replace};

/// How often an edit is made anew because somebody saved the file meanwhile, before the board counts as busy.
const SAVES: usize = 20;

/// How often a file that looks torn is read while we hold its lock.
const TORN_READINGS: usize = 20;
const BETWEEN_READINGS: std::time::Duration = std::time::Duration::from_millis(50);

/// The board a writer writes to.
#[derive(Debug, Clone)]
pub(crate) struct Writer<'a> {
    pub(crate) dir: &'a Utf8Path,
    pub(crate) config: &'a BoardConfig,
}

/// What is decided about a task under its lock; `D` is why nothing is written.
#[derive(Debug)]
pub(crate) enum Decision<D> {
    /// Make these edits, all at once.
    Write(Vec<Edit>),
    /// Write nothing.
    Decline(D),
}

/// What an edit did.
#[derive(Debug)]
pub(crate) enum Wrote<D> {
    /// It is in place and was read back.
    Written,
    /// It changes nothing.
    Unchanged,
    /// The decision under the lock was not to write.
    Declined(D),
    /// A complete listing does not hold the task.
    Gone,
}

/// What stands where a task's file was.
enum Found {
    /// The task.
    Task(Box<(Original, TaskFile)>),
    /// Nothing, or another task.
    Moved,
    /// What looks half written at every reading.
    Torn,
}

impl Writer<'_> {
    /// Edits a task: `decide` sees it under the lock and answers the edits to make, or why none.
    ///
    /// `after` runs once the edit is in place, still under the lock, as the board program runs its callback.
    pub(crate) fn edit<D>(
        &self,
        id: &TaskId,
        decide: impl Fn(&Task) -> Result<Decision<D>, BoardError>,
        after: impl FnOnce(&Edited),
    ) -> Result<Wrote<D>, BoardError> {
        let Some((path, spelling)) = self.find(id)? else { return Ok(Wrote::Gone) };
        let lock = TaskLock::take(self.dir, &spelling)
            .map_err(|source| BoardError::Lock { id: id.clone(), source })?;
        for _ in 0..SAVES {
            let (original, file) = match self.read(&path, id)? {
                Found::Task(found) => *found,
                Found::Moved => return Err(BoardError::Contended { id: id.clone() }),
                Found::Torn => return Err(BoardError::Torn { id: id.clone(), path }),
            };
            let edits = match decide(&file.task)? {
                Decision::Write(edits) => edits,
                Decision::Decline(why) => return Ok(Wrote::Declined(why)),
            };
            let edited = task_edit::apply(&original.bytes, &edits, &now())
                .map_err(|source| BoardError::Edit { id: id.clone(), source })?;
            let Some(edited) = edited else { return Ok(Wrote::Unchanged) };
            self.check(id, &path, &file.task, (&edits, &edited))?;
            if !lock.is_ours() {
                return Err(BoardError::LostLock { id: id.clone() });
            }
            let done = replace(self.dir, &path, &original, &edited.bytes)
                .map_err(|source| BoardError::Io { path: path.clone(), source })?;
            match done {
                Replaced::Done => {
                    self.read_back(&path, id, &file.task, &edits)?;
                    after(&edited);
                    return Ok(Wrote::Written);
                }
                Replaced::ChangedMeanwhile { kept: None } => {}
                Replaced::ChangedMeanwhile { kept: Some(kept) } => {
                    tracing::error!(task = %id, %kept, "the task was saved twice while it was written; the newer save stands, the older one is kept");
                }
            }
        }
        Err(BoardError::Contended { id: id.clone() })
    }

    /// The file of a task, and its id as written there.
    fn find(&self, id: &TaskId) -> Result<Option<(Utf8PathBuf, String)>, BoardError> {
        let folder = self.dir.join("tasks");
        let failed = |source| BoardError::Io { path: folder.clone(), source };
        let mut named = Vec::new();
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let name = name.to_string_lossy();
            if is_task_file_name(&name, &self.config.task_prefix)
                && id_of_file_name(&name).as_ref() == Some(id)
            {
                named.push(folder.join(name.as_ref()));
            }
        }
        if let [path] = named.as_slice()
            && let Ok(bytes) = read_task(path)
            && let Ok(file) = task_file::parse_though_hostile(&bytes, &self.config.priorities)
            && file.task.id == *id
        {
            return Ok(Some((path.clone(), file.task.id.to_string())));
        }
        self.search(id)
    }

    /// Looks into every file: the id in the front matter decides, not the name.
    fn search(&self, id: &TaskId) -> Result<Option<(Utf8PathBuf, String)>, BoardError> {
        let board = crate::read::read_board(self.dir, self.config);
        let of_task = board.problems.iter().filter(|problem| problem.id.as_ref() == Some(id));
        let files: Vec<Utf8PathBuf> = of_task
            .filter(|problem| problem.class == dispatch_core::board::ProblemClass::Duplicate)
            .filter_map(|problem| problem.file.clone())
            .collect();
        if !files.is_empty() {
            return Err(BoardError::Ambiguous { id: id.clone(), files });
        }
        if !board.tasks.contains_key(id) && !board.hostile_tasks.contains_key(id) {
            if board.complete
                && !board.problems.iter().any(|problem| problem.id.as_ref() == Some(id))
            {
                return Ok(None);
            }
            return Err(BoardError::Incomplete { id: id.clone(), problems: board.problems });
        }
        let folder = self.dir.join("tasks");
        let failed = |source| BoardError::Io { path: folder.clone(), source };
        let mut unread = None;
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let name = name.to_string_lossy();
            if !is_task_file_name(&name, &self.config.task_prefix) {
                continue;
            }
            let path = folder.join(name.as_ref());
            match read_task(&path) {
                Ok(bytes) => {
                    let file = task_file::parse_though_hostile(&bytes, &self.config.priorities);
                    if let Ok(file) = file
                        && file.task.id == *id
                    {
                        return Ok(Some((path, file.task.id.to_string())));
                    }
                }
                Err(source) => unread = Some(BoardError::Io { path, source }),
            }
        }
        // The board held it a moment ago.
        Err(unread.unwrap_or_else(|| BoardError::Contended { id: id.clone() }))
    }

    /// Reads the file under the lock; a torn reading is only ever a moment (B2.9).
    fn read(&self, path: &Utf8Path, id: &TaskId) -> Result<Found, BoardError> {
        let mut last = None;
        for reading in 0..TORN_READINGS {
            if reading > 0 {
                std::thread::sleep(BETWEEN_READINGS);
            }
            let original = match read_original(path) {
                Ok(Ok(original)) => original,
                Ok(Err(refusal)) => {
                    return Err(BoardError::NotOurs { path: path.to_owned(), refusal });
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Moved),
                Err(source) => return Err(BoardError::Io { path: path.to_owned(), source }),
            };
            let settled = last.as_ref() == Some(&original.bytes);
            match task_file::parse_though_hostile(&original.bytes, &self.config.priorities) {
                Ok(file) if file.task.id != *id => return Ok(Found::Moved),
                Ok(file) if settled || !file.looks_torn() => {
                    return Ok(Found::Task(Box::new((original, file))));
                }
                Err(error) if settled => {
                    let source = task_edit::EditError::Unreadable(error);
                    return Err(BoardError::Edit { id: id.clone(), source });
                }
                Ok(_) | Err(_) => last = Some(original.bytes),
            }
        }
        Ok(Found::Torn)
    }

    /// Refuses an edit that would not show, or after which a protected field would read differently: a plan can carry
    /// claims and a test command, and odd markers can move a text from one section to another (W2).
    fn check(
        &self,
        id: &TaskId,
        path: &Utf8Path,
        before: &Task,
        (edits, edited): (&[Edit], &Edited),
    ) -> Result<(), BoardError> {
        let after = task_file::parse_though_hostile(&edited.bytes, &self.config.priorities)
            .map_err(|error| {
                let source = task_edit::EditError::Unreadable(error);
                BoardError::Edit { id: id.clone(), source }
            })?;
        if !edits.iter().all(|edit| shows(&after.task, before, edit)) {
            return Err(BoardError::WouldNotShow { id: id.clone(), path: path.to_owned() });
        }
        let changes = Snapshot::of(before).changes(&after.task);
        if changes.is_empty() {
            return Ok(());
        }
        Err(BoardError::Protected { id: id.clone(), changes })
    }

    /// Sees whether what we meant to change reads changed (B2.8).
    fn read_back(
        &self,
        path: &Utf8Path,
        id: &TaskId,
        before: &Task,
        edits: &[Edit],
    ) -> Result<(), BoardError> {
        let shown = match self.read(path, id)? {
            Found::Task(found) => edits.iter().all(|edit| shows(&found.1.task, before, edit)),
            // Right after our write: the write itself was exchanged in, so it is in what moved.
            Found::Moved => true,
            Found::Torn => false,
        };
        if shown {
            Ok(())
        } else {
            Err(BoardError::NotReadBack { id: id.clone(), path: path.to_owned() })
        }
    }
}

/// A task file whole. What stands under its name may be a pipe that nobody serves, and is then not read.
fn read_task(path: &Utf8Path) -> io::Result<Vec<u8>> {
    read_regular(path, Links::Followed, MAX_FILE_BYTES)
}

/// Whether `after` shows an edit of `before`.
pub(crate) fn shows(after: &Task, before: &Task, edit: &Edit) -> bool {
    match edit {
        Edit::Status(status) => after.status == Status::parse(status),
        Edit::Comment { body, .. } => {
            body.trim().is_empty() || after.comments.len() > before.comments.len()
        }
        Edit::Check { list, index, checked } => {
            let items = match list {
                Checklist::Acceptance => &after.acceptance,
                Checklist::DefinitionOfDone => &after.definition_of_done,
            };
            items.iter().any(|item| item.index == *index && item.checked == *checked)
        }
        Edit::Replace { section, text } => {
            text_of(after, *section).is_empty() == text.trim().is_empty()
        }
        Edit::Append { section, text } => {
            text.trim().is_empty()
                || text_of(after, *section).len() > text_of(before, *section).len()
        }
    }
}

fn text_of(task: &Task, section: Section) -> &str {
    match section {
        Section::Plan => &task.plan,
        Section::Notes => &task.notes,
        Section::FinalSummary => &task.final_summary,
    }
}

/// The moment as the board writes it.
fn now() -> String {
    OffsetDateTime::now_utc()
        .format(format_description!("[year]-[month]-[day] [hour]:[minute]"))
        .unwrap_or_default()
}
