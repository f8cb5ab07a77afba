//! The board, the forge, other programs, the clock and notifications.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Duration;

use camino::Utf8Path;
use dispatch_core::attempt::AttemptNumber;
use dispatch_core::board;
use dispatch_core::branch::BranchName;
use dispatch_core::id::TaskId;
use dispatch_core::names::PauseCause;
use dispatch_core::record::{Beat, ProcessMark, RecordedProposal};
use dispatch_core::task::{Checklist, Task};
use dispatch_core::worker_edit::{Section, WorkerEdit};
use dispatch_engine::ports::{
    Board, Clock, CommandEnd, CommandPlace, CommandSpec, Commands, ExitMark, Forge, ForgeKind,
    NewPullRequest, Notifier, PortError, ProposalState, PullRequest, StatusChange, StatusWrite,
    TaskLock, Tick, WorkerEditEnd,
};
use time::OffsetDateTime;

use super::{World, branch};

fn items(task: &mut Task, list: Checklist) -> &mut Vec<dispatch_core::task::ChecklistItem> {
    match list {
        Checklist::Acceptance => &mut task.acceptance,
        Checklist::DefinitionOfDone => &mut task.definition_of_done,
    }
}

impl Board for World {
    fn read(&self) -> board::Board {
        let state = self.call();
        let tasks = state.task.iter().map(|task| (task.id.clone(), task.clone())).collect();
        let problems = state.hostile.iter().map(|cause| board::Problem {
            class: board::ProblemClass::Hostile,
            file: Some("tasks/t-5 - Hello.md".into()),
            line: Some(1),
            id: state.task.as_ref().map(|task| task.id.clone()),
            cause: (*cause).to_owned(),
        });
        let problems = problems.collect();
        board::Board { tasks, complete: true, problems, ..board::Board::default() }
    }

    fn task(&self, id: &TaskId) -> Result<Option<Task>, PortError> {
        let state = self.call();
        if state.board_broken || state.hostile.is_some() {
            return Err(PortError::new(format!("read task {id}"), "its front matter is torn"));
        }
        Ok(state.task.clone())
    }

    fn set_status(&self, _id: &TaskId, change: &StatusChange) -> Result<StatusWrite, PortError> {
        let mut state = self.effect();
        state.writes_the_board();
        if let Some(cause) = state.hostile {
            return Err(PortError::new("set the status", cause));
        }
        let Some(task) = &mut state.task else { return Ok(StatusWrite::Gone) };
        if !change.expected.contains(&task.status) {
            return Ok(StatusWrite::Mismatch { found: task.status.clone() });
        }
        task.status = change.to.clone();
        state.log.push(format!("status {}", change.to));
        state.comments.extend(change.comment.clone());
        Ok(StatusWrite::Written)
    }

    fn comment(&self, _id: &TaskId, body: &str) -> Result<(), PortError> {
        let mut state = self.effect();
        state.writes_the_board();
        state.comments.push(body.to_owned());
        Ok(())
    }

    fn tick(&self, _id: &TaskId, list: Checklist, text: &str) -> Result<Tick, PortError> {
        let mut state = self.effect();
        state.writes_the_board();
        let Some(task) = &mut state.task else { return Ok(Tick::NoSuchItem) };
        match items(task, list).iter_mut().find(|item| item.text == text) {
            None => Ok(Tick::NoSuchItem),
            Some(item) if item.checked => Ok(Tick::AlreadyTicked),
            Some(item) => {
                item.checked = true;
                Ok(Tick::Ticked)
            }
        }
    }

    fn view(&self, id: &TaskId) -> Result<String, PortError> {
        self.call();
        Ok(format!("Task {id}"))
    }

    fn edit_for_worker(
        &self,
        _id: &TaskId,
        edits: &[WorkerEdit],
        _attempt: AttemptNumber,
    ) -> Result<WorkerEditEnd, PortError> {
        let mut state = self.effect();
        let Some(task) = &mut state.task else {
            return Ok(WorkerEditEnd::Refused("the task is gone".to_owned()));
        };
        for edit in edits {
            if let WorkerEdit::Replace { text, .. } = edit
                && text == "reads otherwise"
            {
                return Ok(WorkerEditEnd::Protected(
                    "it would change a protected field".to_owned(),
                ));
            }
            match edit {
                WorkerEdit::Check { list, index, checked } => {
                    let item = items(task, *list).iter_mut().find(|item| item.index == *index);
                    item.unwrap().checked = *checked;
                }
                WorkerEdit::Replace { section, text } | WorkerEdit::Append { section, text } => {
                    let place = match section {
                        Section::Plan => &mut task.plan,
                        Section::Notes => &mut task.notes,
                        Section::FinalSummary => &mut task.final_summary,
                    };
                    place.clone_from(text);
                }
                WorkerEdit::Comment { .. } => {}
            }
        }
        Ok(WorkerEditEnd::Written)
    }
}

impl Forge for World {
    fn kind(&self) -> ForgeKind {
        self.call().forge_kind
    }

    fn missing(&self) -> Option<String> {
        unimplemented!("a pass asks that")
    }

    fn proposals(
        &self,
        _recorded: &[RecordedProposal],
        _limit: Duration,
    ) -> Result<BTreeMap<u64, ProposalState>, PortError> {
        unimplemented!("a sweep asks that")
    }

    fn find_open(
        &self,
        _branch: &BranchName,
        _base: &BranchName,
    ) -> Result<Option<PullRequest>, PortError> {
        let mut state = self.call();
        if state.forge_faults > 0 {
            state.forge_faults -= 1;
            let asked = state.asked_at_fault.clone();
            state.request = asked;
            let error = PortError::new("look for a pull request", "no route to host");
            return Err(error.pausing(PauseCause::ForgeUnreachable));
        }
        Ok(state.pull_requests.first().map(|(found, _)| found.clone()))
    }

    fn create(&self, new: &NewPullRequest) -> Result<PullRequest, PortError> {
        let mut state = self.effect();
        state.at("create");
        assert!(state.pull_requests.is_empty(), "a second pull request for {}", new.branch);
        let opened = PullRequest {
            number: 1,
            url: "https://forge.example/pr/1".to_owned(),
            base: new.base.clone(),
            body: Some(new.body.clone()),
        };
        state.pull_requests.push((opened.clone(), new.title.clone()));
        Ok(opened)
    }

    fn update_body(&self, _number: u64, body: &str) -> Result<(), PortError> {
        self.effect().pull_requests[0].0.body = Some(body.to_owned());
        Ok(())
    }

    fn label(&self, _number: u64, label: &str) -> Result<(), PortError> {
        self.effect().labels.push(label.to_owned());
        Ok(())
    }

    fn request_review(&self, _number: u64, reviewer: &str) -> Result<(), PortError> {
        self.call();
        Err(PortError::new(format!("ask {reviewer}"), "not a collaborator"))
    }
}

impl Commands for World {
    fn run(
        &self,
        spec: &CommandSpec,
        alive: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<CommandEnd, PortError> {
        self.state().awake_ms += 30_000;
        let line = spec.argv.join(" ");
        self.call().at(spec.argv[0].as_str());
        if alive().is_break() {
            self.call().ran.push(format!("{:?} {line}, ended", spec.place));
            return Ok(CommandEnd::Stopped);
        }
        let mut state = self.call();
        state.ran.push(format!("{:?} {line}", spec.place));
        for (word, path, text) in state.writing.clone() {
            if line.contains(word) {
                let folder = match spec.place {
                    CommandPlace::Verification => &mut state.verification,
                    CommandPlace::Slot | CommandPlace::ReadOnly => &mut state.slot,
                };
                folder.insert(path.to_owned(), text.to_owned());
            }
        }
        let fails = state.failing.iter().any(|word| line.contains(word));
        let output = if fails { "line one\nassertion failed" } else { "ok" }.to_owned();
        let exit = ExitMark::Code(i32::from(fails));
        Ok(CommandEnd::Ended { exit, stdout: output.clone(), output })
    }

    fn start_supervisor(
        &self,
        _id: &TaskId,
        _lock: Box<dyn TaskLock>,
        _recover: bool,
    ) -> Result<ProcessMark, PortError> {
        unimplemented!("a pass starts supervisors")
    }

    fn is_alive(&self, _process: &ProcessMark) -> bool {
        false
    }

    fn kill(&self, _process: &ProcessMark) -> Result<(), PortError> {
        Ok(())
    }

    fn ourselves(&self) -> ProcessMark {
        ProcessMark { pid: 42, start: 1, boot_id: "boot".to_owned() }
    }

    fn asked_to_end(&self) -> bool {
        self.call().asked_to_end
    }

    fn file_digest(&self, path: &Utf8Path) -> Result<Option<String>, PortError> {
        self.call();
        Ok((path == "/code/Cargo.lock").then(|| "digest-1".to_owned()))
    }
}

impl Clock for World {
    fn now(&self) -> OffsetDateTime {
        let seconds = i64::try_from(self.state().awake_ms / 1000).unwrap();
        OffsetDateTime::from_unix_timestamp(1_767_225_600 + seconds).unwrap()
    }

    fn beat(&self) -> Beat {
        Beat { boot_id: "boot".to_owned(), awake_ms: self.state().awake_ms }
    }

    fn sleep(&self, duration: Duration) {
        let second = |ms: u64| ms / 1000;
        let before = second(self.call().awake_ms);
        let after = second(self.call().awake_ms + u64::try_from(duration.as_millis()).unwrap());
        let mut state = if after > before { self.effect() } else { self.call() };
        state.awake_ms += u64::try_from(duration.as_millis()).unwrap();
        if state.back_at.is_some_and(|at| at <= state.awake_ms) {
            state.board_branch = branch("main");
        }
        if state.steal_at.is_some_and(|at| at <= state.awake_ms)
            && let Some(record) = &mut state.record
        {
            "token-2".clone_into(&mut record.token);
        }
        for _ in before..after {
            state.act();
        }
    }
}

impl Notifier for World {
    fn notify(&self, title: &str, _body: &str) {
        let mut state = self.call();
        state.notified.push(title.to_owned());
        state.at("notify");
    }
}
