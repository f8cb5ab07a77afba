//! Boards of Backlog.md, written as files in the very form its own program writes them.
//!
//! ```
//! use dispatch_testkit::board::{Board, TaskText};
//! use dispatch_testkit::scratch::Scratch;
//!
//! let scratch = Scratch::new();
//! let board = Board::new(scratch.root());
//! board.add(&TaskText::ready("T-1", "Add a parser").files(["src/parser.rs"]).test_command("cargo test"));
//! assert_eq!(board.status("T-1"), "Queued");
//! ```

mod made;
mod task_text;

use std::fs;
use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};

pub use self::made::made;
pub use self::task_text::{Comment, TaskText};
use crate::programs;

/// What a board's configuration says; the defaults are what the dispatcher recommends.
#[derive(Clone, Debug)]
pub struct BoardConfig {
    /// The board's folder below the project: `.backlog` or `backlog`.
    pub folder: String,
    /// The prefix of task ids.
    pub prefix: String,
    /// The columns, in order.
    pub statuses: Vec<String>,
    /// The items every new task's definition of done begins with.
    pub definition_of_done: Vec<String>,
    /// Further lines of the file, such as `onStatusChange: '…'`.
    pub more: Vec<String>,
}

impl Default for BoardConfig {
    fn default() -> Self {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Self {
            folder: ".backlog".to_owned(),
            prefix: "T".to_owned(),
            statuses: owned(&["To Do", "Queued", "In Progress", "Blocked", "Done"]),
            definition_of_done: Vec::new(),
            more: Vec::new(),
        }
    }
}

/// A board on disk.
#[derive(Clone, Debug)]
pub struct Board {
    root: Utf8PathBuf,
    folder: Utf8PathBuf,
}

const FOLDERS: [&str; 9] = [
    "tasks",
    "drafts",
    "completed",
    "archive/tasks",
    "archive/drafts",
    "archive/milestones",
    "docs",
    "decisions",
    "milestones",
];

impl Board {
    /// Makes an empty board in the project at `root`.
    pub fn new(root: &Utf8Path) -> Self {
        Self::with(root, &BoardConfig::default())
    }

    /// Makes an empty board with a configuration of the test's own.
    pub fn with(root: &Utf8Path, config: &BoardConfig) -> Self {
        let folder = root.join(&config.folder);
        for name in FOLDERS {
            fs::create_dir_all(folder.join(name)).unwrap();
        }
        let list = |texts: &[String]| {
            let quoted: Vec<String> = texts.iter().map(|text| format!("\"{text}\"")).collect();
            format!("[{}]", quoted.join(", "))
        };
        let mut lines = vec![
            "project_name: \"Test board\"".to_owned(),
            format!("default_status: \"{}\"", config.statuses[0]),
            format!("statuses: {}", list(&config.statuses)),
            "labels: []".to_owned(),
        ];
        if !config.definition_of_done.is_empty() {
            lines.push(format!("definition_of_done: {}", list(&config.definition_of_done)));
        }
        let fixed = [
            "date_format: yyyy-mm-dd",
            "max_column_width: 20",
            "auto_open_browser: false",
            "default_port: 6420",
            "remote_operations: false",
            "auto_commit: false",
            "filesystem_only: false",
            "bypass_git_hooks: false",
            "check_active_branches: false",
            "active_branch_days: 30",
        ];
        lines.extend(fixed.map(str::to_owned));
        lines.push(format!("task_prefix: \"{}\"", config.prefix));
        lines.extend(config.more.iter().cloned());
        fs::write(folder.join("config.yml"), lines.join("\n") + "\n").unwrap();
        Self { root: root.to_owned(), folder }
    }

    /// The project that holds the board.
    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// The board's folder.
    pub fn folder(&self) -> &Utf8Path {
        &self.folder
    }

    /// Writes a task into `tasks/` and returns its file.
    pub fn add(&self, task: &TaskText) -> Utf8PathBuf {
        self.add_to("tasks", task)
    }

    /// Writes a task into another folder, such as `completed` or `archive/tasks`.
    pub fn add_to(&self, folder: &str, task: &TaskText) -> Utf8PathBuf {
        let path = self.folder.join(folder).join(task.file_name());
        fs::write(&path, task.to_string()).unwrap();
        path
    }

    /// The file of an active task.
    ///
    /// # Panics
    ///
    /// When there is none.
    #[track_caller]
    pub fn file(&self, id: &str) -> Utf8PathBuf {
        let stem = format!("{} - ", id.to_lowercase());
        let bare = format!("{}.md", id.to_lowercase());
        let entries = self.folder.join("tasks").read_dir_utf8().unwrap().map(Result::unwrap);
        let found = entries
            .filter(|entry| entry.file_name().starts_with(&stem) || entry.file_name() == bare)
            .map(|entry| entry.path().to_owned())
            .next();
        found.unwrap_or_else(|| panic!("the board has no active task {id}"))
    }

    /// The text of an active task's file.
    #[track_caller]
    pub fn text(&self, id: &str) -> String {
        let file = self.file(id);
        fs::read_to_string(&file).unwrap_or_else(|error| panic!("could not read `{file}`: {error}"))
    }

    /// A value of the front matter, as written but without quotes.
    #[track_caller]
    pub fn field(&self, id: &str, key: &str) -> Option<String> {
        let text = self.text(id);
        let header = text.split("\n---").next().unwrap_or_default().to_owned();
        let line = header.lines().find_map(|line| line.strip_prefix(&format!("{key}:")));
        line.map(|value| value.trim().trim_matches(['\'', '"']).to_owned())
    }

    /// The status of an active task.
    #[track_caller]
    pub fn status(&self, id: &str) -> String {
        self.field(id, "status").unwrap_or_default()
    }

    /// A person moves a task by editing its file.
    #[track_caller]
    pub fn set_status(&self, id: &str, status: &str) {
        let old = format!("status: {}", self.status(id));
        self.replace(id, &old, &format!("status: {status}"));
    }

    /// Replaces the first `from` in a task's file.
    ///
    /// # Panics
    ///
    /// When the file does not hold it: an edit that changes nothing is a mistake of the test.
    #[track_caller]
    pub fn replace(&self, id: &str, from: &str, to: &str) {
        let (file, text) = (self.file(id), self.text(id));
        assert!(text.contains(from), "task {id} does not hold `{from}`:\n{text}");
        fs::write(file, text.replacen(from, to, 1)).unwrap();
    }

    /// A person ticks an acceptance criterion.
    #[track_caller]
    pub fn tick(&self, id: &str, index: usize) {
        self.replace(id, &format!("- [ ] #{index} "), &format!("- [x] #{index} "));
    }

    /// The comments of a task, oldest first.
    #[track_caller]
    pub fn comments(&self, id: &str) -> Vec<Comment> {
        task_text::read_comments(&self.text(id))
    }

    /// The board's own program, about to be run on this board.
    pub fn cli(&self, backlog: &Utf8Path, home: &Utf8Path) -> Command {
        let mut command = programs::command(backlog, home);
        command.env("BACKLOG_CWD", &self.root).env("NO_COLOR", "1").current_dir(&self.root);
        command
    }
}
