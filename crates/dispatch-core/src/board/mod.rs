//! A board as read at one moment (B2).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use crate::board_config::BoardConfig;
use crate::id::TaskId;
use crate::task::Task;
use crate::task_file::{self, FaultClass, TaskFile, TaskFileError};

/// How many of the files that claim the same id as another are named.
const OTHERS_NAMED: usize = 3;

/// All tasks read at one moment.
///
/// With an incomplete board nothing may be concluded from an absence (B2.5).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Board {
    /// The tasks in `tasks/`, by id.
    pub tasks: BTreeMap<TaskId, Task>,
    /// The tasks in `completed/`, which count as done, by id.
    pub completed: BTreeMap<TaskId, Task>,
    /// The tasks in `archive/tasks/`, which can never become done, by id.
    pub archived: BTreeMap<TaskId, Task>,
    /// Tasks in `tasks/` whose file carries a command of its own (B2.7): they are named in `problems`, take part in
    /// nothing and are never dispatched, but a person can be told of them where they look.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub hostile_tasks: BTreeMap<TaskId, Task>,
    /// Whether every task the board holds was read.
    pub complete: bool,
    /// What could not be read, and why.
    pub problems: Vec<Problem>,
}

/// Something about the board that a person should look at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// What kind of problem.
    pub class: ProblemClass,
    /// The file, relative to the board directory.
    pub file: Option<Utf8PathBuf>,
    /// The line in it, from 1.
    pub line: Option<usize>,
    /// The task.
    pub id: Option<TaskId>,
    /// What is wrong, as a sentence for a person.
    pub cause: String,
}

closed_set! {
    /// The kind of a board problem.
    ProblemClass, "problem class" {
        /// A file that cannot be read as a task: the board is incomplete.
        Unreadable = "unreadable",
        /// Two files claim one id: both are dropped, the board is incomplete.
        Duplicate = "duplicate",
        /// A file that would make the board program run something (B2.7).
        Hostile = "hostile",
        /// The listing itself failed: the board is empty and incomplete.
        Listing = "listing",
        /// Parents that form a cycle (B5.4).
        ParentCycle = "parent-cycle",
        /// Something odd that changes no decision.
        Note = "note",
    }
}

impl ProblemClass {
    /// Whether a problem of this kind means that something on the board could not be seen.
    pub const fn hides_a_task(self) -> bool {
        match self {
            Self::Unreadable | Self::Duplicate | Self::Listing => true,
            Self::Hostile | Self::ParentCycle | Self::Note => false,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}", file.as_str().escape_debug())?;
            if let Some(line) = self.line {
                write!(f, ":{line}")?;
            }
            write!(f, ": ")?;
        } else if let Some(id) = &self.id {
            write!(f, "{id}: ")?;
        }
        f.write_str(&self.cause)
    }
}

impl Board {
    /// The task with this id, wherever it lies.
    pub fn find(&self, id: &TaskId) -> Option<&Task> {
        self.tasks.get(id).or_else(|| self.completed.get(id)).or_else(|| self.archived.get(id))
    }

    /// Whether a task of this id may be there without having been read (B2.5): nothing may be concluded from its absence.
    pub fn may_hide(&self, id: &TaskId) -> bool {
        !self.complete || self.hostile_file_of(id).is_some()
    }

    /// Whether a file was not read at all that may be a subtask of any task (B5.4).
    pub fn may_hide_a_subtask(&self) -> bool {
        let unread = |problem: &Problem| {
            problem.class == ProblemClass::Hostile
                && problem.file.as_deref().map(Folder::of) == Some(Folder::Tasks)
                && !problem.id.as_ref().is_some_and(|id| self.hostile_tasks.contains_key(id))
        };
        !self.complete || self.problems.iter().any(unread)
    }

    /// Whether a file exists that must keep us from starting the board program (B2.7).
    pub fn hostile(&self) -> bool {
        self.problems.iter().any(|problem| problem.class == ProblemClass::Hostile)
    }

    /// What the board program would run of this task's own file (B2.7).
    pub fn hostile_file_of(&self, id: &TaskId) -> Option<&Problem> {
        self.problems.iter().find(|problem| {
            let own = problem.file.as_deref().map(Folder::of) == Some(Folder::Tasks);
            problem.class == ProblemClass::Hostile && own && problem.id.as_ref() == Some(id)
        })
    }
}

/// The part of the board a file lies in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Folder {
    /// `tasks/`: what is worked on.
    Tasks,
    /// `completed/`: done for good.
    Completed,
    /// `archive/tasks/`: given up.
    Archived,
    /// Any other folder: read by the board program, holding no tasks.
    Other,
}

impl Folder {
    /// The folder of a path relative to the board directory, when the file lies directly in it.
    pub fn of(path: &Utf8Path) -> Self {
        match path.parent().map(Utf8Path::as_str) {
            Some("tasks") => Self::Tasks,
            Some("completed") => Self::Completed,
            Some("archive/tasks") => Self::Archived,
            _ => Self::Other,
        }
    }
}

/// Whether the board program takes a file of this name for a task.
pub fn is_task_file_name(name: &str, task_prefix: &str) -> bool {
    let prefix = task_prefix.to_ascii_lowercase();
    let is_markdown = Utf8Path::new(name).extension() == Some("md");
    is_markdown && name.strip_prefix(&prefix).is_some_and(|rest| rest.starts_with('-'))
}

/// The id a file name begins with: `T-3.1` for `t-3.1 - Title.md`.
pub fn id_of_file_name(name: &str) -> Option<TaskId> {
    let end = name.find(" - ").or_else(|| name.rfind(".md")).unwrap_or(name.len());
    TaskId::parse(&name[..end].to_ascii_uppercase()).ok()
}

/// What was found at one path of the board directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// The bytes of the file.
    Bytes(Vec<u8>),
    /// The file is there and cannot be read, with the cause as a clause.
    Unreadable(String),
}

/// What one file of the board directory says, parsed once.
#[derive(Debug, Clone)]
pub struct ParsedFile(Content);

#[derive(Debug, Clone)]
enum Content {
    Task(Box<Result<TaskFile, TaskFileError>>),
    UnreadableTask(String),
    /// No task, with what the board program would run of it.
    Other(Option<TaskFileError>),
}

impl ParsedFile {
    /// Parses what was found at a path relative to the board directory.
    pub fn new(path: &Utf8Path, found: &Found, config: &BoardConfig) -> Self {
        let name = path.file_name().unwrap_or_default();
        let is_task =
            Folder::of(path) != Folder::Other && is_task_file_name(name, &config.task_prefix);
        Self(match (is_task, found) {
            (true, Found::Bytes(bytes)) => {
                Content::Task(Box::new(task_file::parse_though_hostile(bytes, &config.priorities)))
            }
            (true, Found::Unreadable(cause)) => Content::UnreadableTask(cause.clone()),
            (false, Found::Bytes(bytes)) => Content::Other(task_file::hostile_start(bytes)),
            (false, Found::Unreadable(_)) => Content::Other(None),
        })
    }

    /// Whether it is a task whose text is broken, as it is for a moment while it is being written.
    pub fn may_be_torn(&self) -> bool {
        match &self.0 {
            Content::Task(parsed) => match parsed.as_ref() {
                Ok(file) => file.hostile.is_some() || file.looks_torn(),
                Err(_) => true,
            },
            Content::UnreadableTask(_) | Content::Other(_) => false,
        }
    }
}

/// Builds a board from every Markdown file below its directory, by path relative to it (B2.1, B2.4).
pub fn assemble<'a>(
    files: impl IntoIterator<Item = (&'a Utf8Path, &'a Found)>,
    config: &BoardConfig,
) -> Board {
    let parsed =
        files.into_iter().map(|(path, found)| (path, ParsedFile::new(path, found, config)));
    assemble_parsed(parsed, config)
}

/// As [`assemble`], from files that are parsed already.
pub fn assemble_parsed<'a>(
    files: impl IntoIterator<Item = (&'a Utf8Path, ParsedFile)>,
    config: &BoardConfig,
) -> Board {
    let mut gathered = Gathered::default();
    for (path, parsed) in files {
        gathered.add(path, parsed, config);
    }
    gathered.into_board()
}

#[derive(Default)]
struct Gathered {
    tasks: BTreeMap<(Folder, TaskId), Vec<(Utf8PathBuf, Task)>>,
    problems: Vec<Problem>,
    /// Tasks that carry a command, which claim their id as any other does.
    hostile: Vec<(Folder, Utf8PathBuf, Task)>,
}

impl Gathered {
    fn add(&mut self, path: &Utf8Path, parsed: ParsedFile, config: &BoardConfig) {
        let folder = Folder::of(path);
        let parsed = match parsed.0 {
            Content::Task(parsed) => *parsed,
            Content::UnreadableTask(cause) => {
                return self.refuse(path, folder, FaultClass::Unreadable, None, cause);
            }
            Content::Other(None) => return,
            Content::Other(Some(error)) => {
                return self.refuse(path, folder, error.class, error.line, error.cause);
            }
        };
        match parsed {
            Ok(file) if !file.task.id.same_prefix(&config.task_prefix) => {
                let cause = format!(
                    "its id {} does not begin with the board's prefix `{}`, so the board program cannot find it",
                    file.task.id, config.task_prefix
                );
                self.refuse(path, folder, FaultClass::Unreadable, Some(1), cause);
            }
            Ok(TaskFile { task, hostile: Some(error), .. }) => {
                self.refuse(path, folder, error.class, error.line, error.cause);
                self.hostile.push((folder, path.to_owned(), task));
            }
            Ok(file) => {
                if folder == Folder::Tasks {
                    self.problems.extend(file.remarks.into_iter().map(|remark| Problem {
                        class: ProblemClass::Note,
                        file: Some(path.to_owned()),
                        line: Some(remark.line),
                        id: Some(file.task.id.clone()),
                        cause: remark.cause,
                    }));
                }
                let key = (folder, file.task.id.clone());
                self.tasks.entry(key).or_default().push((path.to_owned(), file.task));
            }
            Err(TaskFileError { class, line, cause }) => {
                self.refuse(path, folder, class, line, cause);
            }
        }
    }

    fn refuse(
        &mut self,
        path: &Utf8Path,
        folder: Folder,
        class: FaultClass,
        line: Option<usize>,
        cause: String,
    ) {
        let class = match (class, folder) {
            (FaultClass::Hostile, _) => ProblemClass::Hostile,
            (FaultClass::Unreadable, Folder::Tasks | Folder::Completed) => ProblemClass::Unreadable,
            // What is archived can never become done: not knowing it changes no decision.
            (FaultClass::Unreadable, Folder::Archived | Folder::Other) => ProblemClass::Note,
        };
        let id = path.file_name().and_then(id_of_file_name);
        self.problems.push(Problem { class, file: Some(path.to_owned()), line, id, cause });
    }

    fn into_board(mut self) -> Board {
        let mut board = Board::default();
        let claimed = self.claimed_twice();
        for ((folder, id), files) in std::mem::take(&mut self.tasks) {
            if claimed.contains_key(&id) && folder != Folder::Archived {
                continue;
            }
            for (_, task) in files {
                match folder {
                    Folder::Tasks => board.tasks.insert(id.clone(), task),
                    Folder::Completed => board.completed.insert(id.clone(), task),
                    Folder::Archived | Folder::Other => board.archived.insert(id.clone(), task),
                };
            }
        }
        for (folder, _, task) in std::mem::take(&mut self.hostile) {
            if folder == Folder::Tasks && !claimed.contains_key(&task.id) {
                board.hostile_tasks.insert(task.id.clone(), task);
            }
        }
        self.name_twice_claimed(claimed);
        board.link_children();
        self.problems.extend(board.parent_cycles());
        self.problems.sort();
        board.complete = !self.problems.iter().any(|problem| problem.class.hides_a_task());
        board.problems = self.problems;
        board
    }

    /// The ids that more than one file in use claims, with those files.
    fn claimed_twice(&self) -> BTreeMap<TaskId, Vec<Utf8PathBuf>> {
        let mut claimed: BTreeMap<TaskId, Vec<Utf8PathBuf>> = BTreeMap::new();
        let tasks = self.tasks.iter().flat_map(|((folder, id), files)| {
            files.iter().map(move |(path, _)| (*folder, id, path))
        });
        let hostile = self.hostile.iter().map(|(folder, path, task)| (*folder, &task.id, path));
        for (folder, id, path) in tasks.chain(hostile) {
            if matches!(folder, Folder::Tasks | Folder::Completed) {
                claimed.entry(id.clone()).or_default().push(path.clone());
            }
        }
        claimed.retain(|_, paths| paths.len() > 1);
        claimed
    }

    fn name_twice_claimed(&mut self, claimed: BTreeMap<TaskId, Vec<Utf8PathBuf>>) {
        for (id, paths) in claimed {
            for path in &paths {
                let others: Vec<String> = paths
                    .iter()
                    .filter(|other| *other != path)
                    .take(OTHERS_NAMED)
                    .map(|other| format!("`{other}`"))
                    .collect();
                // A thousand files that claim one id are not each told the names of all the others.
                let more = match paths.len() - 1 - others.len() {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                self.problems.push(Problem {
                    class: ProblemClass::Duplicate,
                    file: Some(path.clone()),
                    line: None,
                    id: Some(id.clone()),
                    cause: format!(
                        "it claims the id {id} as {}{more} does too; give one of them another id",
                        others.join(" and ")
                    ),
                });
            }
        }
    }
}

impl Board {
    /// Fills every task's children from the parents the others name. A child that takes part in nothing is one all the
    /// same: its parent is not done without it.
    fn link_children(&mut self) {
        let mut children: BTreeMap<TaskId, Vec<TaskId>> = BTreeMap::new();
        let in_use = self.tasks.values().chain(self.completed.values());
        for task in in_use.chain(self.hostile_tasks.values()) {
            if let Some(parent) = &task.parent {
                children.entry(parent.clone()).or_default().push(task.id.clone());
            }
        }
        for task in self.tasks.values_mut().chain(self.completed.values_mut()) {
            task.children = children.remove(&task.id).unwrap_or_default();
            task.children.sort();
        }
    }

    /// The tasks that are their own ancestors, a problem for each cycle (B5.4).
    fn parent_cycles(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut done: BTreeSet<TaskId> = BTreeSet::new();
        for start in self.tasks.keys() {
            let mut trail: Vec<&TaskId> = Vec::new();
            let mut at = Some(start);
            while let Some(id) = at {
                if done.contains(id) {
                    break;
                }
                if let Some(first) = trail.iter().position(|seen| *seen == id) {
                    let cycle = &trail[first..];
                    let names: Vec<String> = cycle.iter().map(ToString::to_string).collect();
                    problems.push(Problem {
                        class: ProblemClass::ParentCycle,
                        file: None,
                        line: None,
                        id: cycle.iter().min().map(|id| (*id).clone()),
                        cause: format!(
                            "these tasks are each other's parents: {}",
                            names.join(", ")
                        ),
                    });
                    break;
                }
                trail.push(id);
                at = self.find(id).and_then(|task| task.parent.as_ref());
            }
            done.extend(trail.into_iter().cloned());
        }
        problems
    }
}

#[cfg(test)]
mod tests;
