//! The board program, for what the native writer does not do (B3.1, B2.8).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_core::id::TaskId;
use dispatch_core::task::Checklist;
use dispatch_core::task_edit::Edit;
use dispatch_core::trigger::SENTINEL;
use dispatch_core::worker_edit::Section;
use dispatch_proc::{Call, Finished, Links, Sink, read_regular, run};
use tempfile::TempDir;

use crate::BoardError;

/// How long one command may take.
const LIMIT: Duration = Duration::from_mins(2);

/// The most that is read of what it prints: far more than a task may have.
const OUTPUT_MAX_BYTES: u64 = 64 << 20;

/// The variable that turns the board's locks off; it never reaches the board program.
const LOCK_SWITCH: &str = "USE_GLOBAL_TASK_ID_LOCK";

/// The `backlog` program on one board.
#[derive(Debug, Clone)]
pub struct BacklogCli {
    program: Utf8PathBuf,
    root: Utf8PathBuf,
    environment: BTreeMap<OsString, OsString>,
}

impl BacklogCli {
    /// The program at `program`, run in the board root with this environment.
    pub fn new(
        program: impl Into<Utf8PathBuf>,
        root: impl Into<Utf8PathBuf>,
        environment: BTreeMap<OsString, OsString>,
    ) -> Self {
        Self { program: program.into(), root: root.into(), environment }
    }

    /// Its version, such as `1.52.0`.
    pub fn version(&self) -> Result<String, BoardError> {
        self.command(&["--version"]).map(|text| text.trim().to_owned())
    }

    /// The plain view of a task.
    pub fn view(&self, id: &TaskId) -> Result<String, BoardError> {
        self.command(&["task", "view", id.as_str(), "--plain"])
    }

    /// Edits a task; every value is given as `--option=value`, so that none is taken for an option.
    pub fn edit(&self, id: &TaskId, edits: &[Edit]) -> Result<(), BoardError> {
        let mut args = vec!["task".to_owned(), "edit".to_owned(), id.to_string()];
        args.extend(edits.iter().flat_map(arguments));
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        self.command(&args).map(drop)
    }

    /// Runs one command and answers what it printed; its output goes through a file, since a pipe cuts it.
    pub fn command(&self, args: &[&str]) -> Result<String, BoardError> {
        let io = |source| BoardError::Io { path: self.root.clone(), source };
        let folder = TempDir::new().map_err(io)?;
        let output = Utf8PathBuf::from_path_buf(folder.path().join("stdout")).map_err(|path| {
            io(std::io::Error::other(format!("`{}` is not UTF-8", path.display())))
        })?;
        let mut call = Call::new(self.program.clone(), self.root.clone(), LIMIT)
            .args(args)
            .envs(&self.environment)
            .env("BACKLOG_CWD", self.root.as_str())
            .env(SENTINEL, "1");
        call.env.remove(std::ffi::OsStr::new(LOCK_SWITCH));
        call.stdout = Sink::File(output.clone());
        let finished = run(&call).map_err(BoardError::Proc)?;
        if finished.is_success() {
            return read_regular(&output, Links::Refused, OUTPUT_MAX_BYTES)
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
                .map_err(|source| BoardError::Io { path: output, source });
        }
        Err(refused(&call, &finished, &output))
    }
}

/// The arguments that make an edit.
fn arguments(edit: &Edit) -> Vec<String> {
    match edit {
        Edit::Status(status) => vec![format!("--status={status}")],
        Edit::Comment { author, body } => std::iter::once(format!("--comment={body}"))
            .chain(author.as_ref().map(|author| format!("--comment-author={author}")))
            .collect(),
        Edit::Check { list, index, checked } => {
            let un = if *checked { "" } else { "un" };
            let list = match list {
                Checklist::Acceptance => "ac",
                Checklist::DefinitionOfDone => "dod",
            };
            vec![format!("--{un}check-{list}={index}")]
        }
        Edit::Replace { section, text } => vec![format!("--{}={text}", option(*section))],
        Edit::Append { section, text } => vec![format!("--append-{}={text}", option(*section))],
    }
}

const fn option(section: Section) -> &'static str {
    match section {
        Section::Plan => "plan",
        Section::Notes => "notes",
        Section::FinalSummary => "final-summary",
    }
}

fn read_whole(output: &Utf8Path) -> Option<String> {
    let bytes = read_regular(output, Links::Refused, OUTPUT_MAX_BYTES).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn refused(call: &Call, finished: &Finished, output: &Utf8Path) -> BoardError {
    let names_a_lock =
        |words: &str| words.to_lowercase().contains("is being modified by another process");
    // What it printed may be where it says so: without that it may be busy, and trying again does no harm.
    let busy = names_a_lock(&finished.stderr_text())
        || read_whole(output).is_none_or(|printed| names_a_lock(&printed));
    BoardError::Refused { failure: finished.failure(&call.shown()), busy }
}
