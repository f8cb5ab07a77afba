//! The engine's board.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use camino::Utf8PathBuf;
use dispatch_core::attempt::AttemptNumber;
use dispatch_core::board::{self, ProblemClass};
use dispatch_core::board_config::BoardConfig;
use dispatch_core::config::BoardWriter;
use dispatch_core::id::TaskId;
use dispatch_core::status::Status;
use dispatch_core::task::{Checklist, DISPATCH_AUTHOR, Task, WORKER_AUTHOR_PREFIX};
use dispatch_core::task_edit::{Edit, Edited, comment_text};
use dispatch_core::trigger::SENTINEL;
use dispatch_core::worker_edit::WorkerEdit;
use dispatch_engine::ports::{Board, PortError, StatusChange, StatusWrite, Tick, WorkerEditEnd};
use dispatch_proc::{Call, run};

use crate::BoardError;
use crate::known::KnownFiles;
use crate::locate::BoardLocation;
use crate::native::{Decision, Writer, Wrote, shows};
use crate::program::BacklogCli;
use crate::read::{read_again, read_text};
use crate::retry::while_busy;

/// How long the board's callback may take; the board program itself would wait for ever.
const CALLBACK_LIMIT: Duration = Duration::from_mins(10);

/// A Backlog.md board on disk.
#[derive(Debug, Clone)]
pub struct DiskBoard {
    location: BoardLocation,
    writer: BoardWriter,
    program: Utf8PathBuf,
    environment: BTreeMap<OsString, OsString>,
    /// What the last reading found: a pass reads the board several times, and mostly nothing changed.
    known: Arc<Mutex<KnownFiles>>,
}

impl DiskBoard {
    /// The board at `location`.
    ///
    /// The environment is that of the board program and of the callback. The callback is run as long as it is the one
    /// the configuration named when the board was located, which is the one a person approved.
    pub fn new(
        location: BoardLocation,
        writer: BoardWriter,
        environment: BTreeMap<OsString, OsString>,
    ) -> Self {
        Self { location, writer, program: "backlog".into(), environment, known: Arc::default() }
    }

    /// The same board with another board program than the `backlog` on the `PATH`.
    #[must_use]
    pub fn with_program(mut self, program: impl Into<Utf8PathBuf>) -> Self {
        self.program = program.into();
        self
    }

    /// The same board with a callback that is never run, for a configuration nobody approved.
    #[must_use]
    pub fn without_callback(mut self) -> Self {
        self.location.config.on_status_change = None;
        self
    }

    /// Where it lies.
    pub fn location(&self) -> &BoardLocation {
        &self.location
    }

    /// The board program on this board, when nothing on the board keeps us from starting it (B2.7).
    pub fn program(&self) -> Result<BacklogCli, BoardError> {
        let board = self.read_with(&self.config());
        let hostile = board.problems.iter().find(|problem| problem.class == ProblemClass::Hostile);
        if let Some(file) = hostile.and_then(|problem| problem.file.clone()) {
            return Err(BoardError::Hostile { file });
        }
        Ok(BacklogCli::new(&self.program, &self.location.root, self.environment.clone()))
    }

    /// The board's configuration as it is now, or as it was when it cannot be read.
    fn config(&self) -> BoardConfig {
        read_text(&self.location.config_file)
            .map_or_else(|_| self.location.config.clone(), |text| BoardConfig::parse(&text))
    }

    fn read_with(&self, config: &BoardConfig) -> board::Board {
        let last = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // Taken out meanwhile: of two readings at a time the other one reads everything.
        let known = std::mem::take(&mut *last());
        let (board, known) = read_again(&self.location.dir, config, known);
        *last() = known;
        board
    }

    /// Edits a task by the native writer.
    fn edit<D>(
        &self,
        id: &TaskId,
        command: &str,
        decide: impl Fn(&Task) -> Result<Decision<D>, BoardError>,
    ) -> Result<Wrote<D>, BoardError> {
        let config = self.config();
        let writer = Writer { dir: &self.location.dir, config: &config };
        while_busy(command, || writer.edit(id, &decide, |edited| self.call_back(&config, edited)))
    }

    /// Edits a task by the configured writer. A status is always written by the native one, since only that one
    /// writes it together with its comment and only over the status it expects (B3.9).
    fn edit_by_writer<D>(
        &self,
        id: &TaskId,
        command: &str,
        decide: impl Fn(&Task) -> Result<Decision<D>, BoardError>,
    ) -> Result<Wrote<D>, BoardError> {
        match self.writer {
            BoardWriter::Native => self.edit(id, command, decide),
            BoardWriter::Cli => while_busy(command, || self.edit_by_program(id, &decide)),
        }
    }

    fn edit_by_program<D>(
        &self,
        id: &TaskId,
        decide: impl Fn(&Task) -> Result<Decision<D>, BoardError>,
    ) -> Result<Wrote<D>, BoardError> {
        let config = self.config();
        let Some(before) = self.task_now(id, &config)? else { return Ok(Wrote::Gone) };
        let edits = match decide(&before)? {
            Decision::Write(edits) => edits,
            Decision::Decline(why) => return Ok(Wrote::Declined(why)),
        };
        if let Err(error) = self.program()?.edit(&before.id, &edits) {
            // That the program failed does not prove that nothing was written (B2.8).
            let after = self.task_now(id, &config).ok().flatten().filter(|after| *after != before);
            let written =
                after.is_some_and(|after| edits.iter().all(|edit| shows(&after, &before, edit)));
            return if written { Ok(Wrote::Written) } else { Err(error) };
        }
        match self.task_now(id, &config)? {
            Some(after) if edits.iter().all(|edit| shows(&after, &before, edit)) => {
                Ok(Wrote::Written)
            }
            _ => Err(BoardError::NotReadBack { id: id.clone(), path: self.location.dir.clone() }),
        }
    }

    /// The task as it reads now. `None` when a complete board does not hold it.
    fn task_now(&self, id: &TaskId, config: &BoardConfig) -> Result<Option<Task>, BoardError> {
        let mut board = self.read_with(config);
        let known = board.tasks.remove(id).or_else(|| board.completed.remove(id));
        if let Some(task) = known.or_else(|| board.hostile_tasks.remove(id)) {
            return Ok(Some(task));
        }
        let named = board.problems.iter().any(|problem| problem.id.as_ref() == Some(id));
        if board.complete && !named {
            return Ok(None);
        }
        Err(BoardError::Incomplete { id: id.clone(), problems: board.problems })
    }

    /// Runs the configured callback after a status change, as the board program does; its failure changes nothing.
    fn call_back(&self, config: &BoardConfig, edited: &Edited) {
        let Some((old, new)) = &edited.status else { return };
        let Some(command) =
            config.on_status_change.as_deref().filter(|text| !text.trim().is_empty())
        else {
            return;
        };
        if self.location.config.on_status_change.as_deref() != Some(command) {
            tracing::warn!(task = %edited.id, "the board's callback is not the approved one and was not run");
            return;
        }
        let call = Call::new("sh", self.location.root.clone(), CALLBACK_LIMIT)
            .args(["-c", command])
            .envs(&self.environment)
            .env("BACKLOG_CWD", self.location.root.as_str())
            .env(SENTINEL, "1")
            .env("TASK_ID", &edited.id)
            .env("OLD_STATUS", old)
            .env("NEW_STATUS", new)
            .env("TASK_TITLE", edited.title.replace('\0', ""));
        match run(&call) {
            Ok(finished) if finished.is_success() => {}
            Ok(finished) => {
                tracing::warn!(task = %edited.id, "{}", finished.failure("the board's callback"));
            }
            Err(error) => {
                tracing::warn!(task = %edited.id, %error, "the board's callback could not be run");
            }
        }
    }

    fn status_edits(
        config: &BoardConfig,
        change: &StatusChange,
        task: &Task,
    ) -> Result<Decision<Status>, BoardError> {
        if !change.expected.contains(&task.status) {
            return Ok(Decision::Decline(task.status.clone()));
        }
        let spelled = change.to.spelled_in(&config.statuses).ok_or_else(|| {
            BoardError::NoSuchStatus { status: change.to.clone(), known: config.statuses.clone() }
        })?;
        let mut edits = vec![Edit::Status(spelled.to_owned())];
        edits.extend(change.comment.as_deref().map(own_comment));
        Ok(Decision::Write(edits))
    }
}

fn own_comment(body: &str) -> Edit {
    Edit::Comment { author: Some(DISPATCH_AUTHOR.to_owned()), body: comment_text(body) }
}

fn worker_edit(edit: &WorkerEdit, attempt: AttemptNumber) -> Edit {
    match edit {
        WorkerEdit::Replace { section, text } => {
            Edit::Replace { section: *section, text: text.clone() }
        }
        WorkerEdit::Append { section, text } => {
            Edit::Append { section: *section, text: text.clone() }
        }
        WorkerEdit::Comment { text } => Edit::Comment {
            author: Some(format!("{WORKER_AUTHOR_PREFIX}{attempt}")),
            body: comment_text(text),
        },
        WorkerEdit::Check { list, index, checked } => {
            Edit::Check { list: *list, index: *index, checked: *checked }
        }
    }
}

impl Board for DiskBoard {
    fn read(&self) -> board::Board {
        self.read_with(&self.config())
    }

    fn task(&self, id: &TaskId) -> Result<Option<Task>, PortError> {
        self.task_now(id, &self.config())
            .map_err(|error| PortError::new(format!("read {id} from the board"), error))
    }

    fn set_status(&self, id: &TaskId, change: &StatusChange) -> Result<StatusWrite, PortError> {
        let config = self.config();
        let command = format!("status {} of {id}", change.to);
        let wrote = self
            .edit(id, &command, |task| Self::status_edits(&config, change, task))
            .map_err(|error| PortError::new(format!("set {id} to `{}`", change.to), error))?;
        Ok(match wrote {
            Wrote::Written | Wrote::Unchanged => StatusWrite::Written,
            Wrote::Declined(found) => StatusWrite::Mismatch { found },
            Wrote::Gone => StatusWrite::Gone,
        })
    }

    fn comment(&self, id: &TaskId, body: &str) -> Result<(), PortError> {
        let doing = || format!("comment on {id}");
        let wrote: Wrote<Infallible> = self
            .edit_by_writer(id, &doing(), |_| Ok(Decision::Write(vec![own_comment(body)])))
            .map_err(|error| PortError::new(doing(), error))?;
        match wrote {
            Wrote::Written | Wrote::Unchanged => Ok(()),
            Wrote::Declined(never) => match never {},
            Wrote::Gone => Err(PortError::new(doing(), format!("the board does not hold {id}"))),
        }
    }

    fn tick(&self, id: &TaskId, list: Checklist, text: &str) -> Result<Tick, PortError> {
        let decide = |task: &Task| {
            let items = match list {
                Checklist::Acceptance => &task.acceptance,
                Checklist::DefinitionOfDone => &task.definition_of_done,
            };
            let named = || items.iter().filter(|item| item.text == text);
            // Of two items with one text the open one is meant.
            Ok(match named().find(|item| !item.checked).or_else(|| named().next()) {
                None => Decision::Decline(Tick::NoSuchItem),
                Some(item) if item.checked => Decision::Decline(Tick::AlreadyTicked),
                Some(item) => {
                    Decision::Write(vec![Edit::Check { list, index: item.index, checked: true }])
                }
            })
        };
        let wrote = self
            .edit_by_writer(id, &format!("tick on {id}"), decide)
            .map_err(|error| PortError::new(format!("tick an item of {id}"), error))?;
        Ok(match wrote {
            Wrote::Written => Tick::Ticked,
            Wrote::Unchanged => Tick::AlreadyTicked,
            Wrote::Declined(why) => why,
            Wrote::Gone => Tick::NoSuchItem,
        })
    }

    fn view(&self, id: &TaskId) -> Result<String, PortError> {
        self.program()
            .and_then(|program| program.view(id))
            .map_err(|error| PortError::new(format!("view {id}"), error))
    }

    fn edit_for_worker(
        &self,
        id: &TaskId,
        edits: &[WorkerEdit],
        attempt: AttemptNumber,
    ) -> Result<WorkerEditEnd, PortError> {
        let decide = |_: &Task| {
            Ok(Decision::<Infallible>::Write(
                edits.iter().map(|edit| worker_edit(edit, attempt)).collect(),
            ))
        };
        match self.edit(id, &format!("worker's edit of {id}"), decide) {
            Ok(Wrote::Written | Wrote::Unchanged) => Ok(WorkerEditEnd::Written),
            Ok(Wrote::Declined(never)) => match never {},
            Ok(Wrote::Gone) => Ok(WorkerEditEnd::Refused(format!("the board does not hold {id}"))),
            Err(BoardError::Edit { source, .. }) => Ok(WorkerEditEnd::Refused(source.to_string())),
            Err(error @ BoardError::WouldNotShow { .. }) => {
                Ok(WorkerEditEnd::Refused(error.to_string()))
            }
            Err(error @ BoardError::Protected { .. }) => {
                Ok(WorkerEditEnd::Protected(error.to_string()))
            }
            Err(error) if error.is_busy() => {
                Ok(WorkerEditEnd::Refused(format!("the board is busy: {error}")))
            }
            Err(error) => Err(PortError::new(format!("edit {id} for its worker"), error)),
        }
    }
}
