//! The board and the forge.

use std::collections::BTreeMap;
use std::time::Duration;

use dispatch_core::attempt::AttemptNumber;
use dispatch_core::board;
use dispatch_core::branch::BranchName;
use dispatch_core::id::TaskId;
use dispatch_core::record::RecordedProposal;
use dispatch_core::task::{Checklist, Task};
use dispatch_core::worker_edit::WorkerEdit;
use dispatch_engine::ports::{
    Board, Forge, ForgeKind, NewPullRequest, PortError, ProposalState, PullRequest, StatusChange,
    StatusWrite, Tick, WorkerEditEnd,
};

use super::World;

impl Board for World {
    fn read(&self) -> board::Board {
        let state = self.call();
        let mut tasks = state.tasks.clone();
        let named = state.problems.iter().filter_map(|problem| problem.id.as_ref());
        let hostile_tasks = named.filter_map(|id| tasks.remove_entry(id)).collect();
        board::Board {
            tasks,
            hostile_tasks,
            completed: state.completed.clone(),
            archived: BTreeMap::new(),
            complete: state.complete,
            problems: state.problems.clone(),
        }
    }

    fn task(&self, id: &TaskId) -> Result<Option<Task>, PortError> {
        Ok(self.call().tasks.get(id).cloned())
    }

    fn set_status(&self, id: &TaskId, change: &StatusChange) -> Result<StatusWrite, PortError> {
        let mut state = self.try_effect()?;
        if let Some(doing) = state.meanwhile.take() {
            doing(&mut state);
        }
        if state.failing.contains(&"board") {
            return Err(PortError::new(format!("set the status of {id}"), "the board is busy"));
        }
        let Some(task) = state.tasks.get_mut(id) else { return Ok(StatusWrite::Gone) };
        if !change.expected.contains(&task.status) {
            return Ok(StatusWrite::Mismatch { found: task.status.clone() });
        }
        task.status = change.to.clone();
        state.board_writes += 1;
        state.board_dirty = true;
        if let Some(comment) = &change.comment {
            state.comments.push((id.clone(), comment.clone()));
        }
        Ok(StatusWrite::Written)
    }

    fn comment(&self, id: &TaskId, body: &str) -> Result<(), PortError> {
        let mut state = self.try_effect()?;
        state.board_writes += 1;
        state.comments.push((id.clone(), body.to_owned()));
        Ok(())
    }

    fn tick(&self, id: &TaskId, list: Checklist, text: &str) -> Result<Tick, PortError> {
        let mut state = self.try_effect()?;
        let Some(task) = state.tasks.get_mut(id) else { return Ok(Tick::NoSuchItem) };
        let items = match list {
            Checklist::Acceptance => &mut task.acceptance,
            Checklist::DefinitionOfDone => &mut task.definition_of_done,
        };
        match items.iter_mut().find(|item| item.text == text) {
            None => Ok(Tick::NoSuchItem),
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
        id: &TaskId,
        edits: &[WorkerEdit],
        _attempt: AttemptNumber,
    ) -> Result<WorkerEditEnd, PortError> {
        let mut state = self.try_effect()?;
        let Some(task) = state.tasks.get_mut(id) else {
            return Ok(WorkerEditEnd::Refused("the task is gone".to_owned()));
        };
        for edit in edits {
            if let WorkerEdit::Check { index, checked, .. } = edit {
                let item = task.acceptance.iter_mut().find(|item| item.index == *index);
                item.unwrap().checked = *checked;
            }
        }
        Ok(WorkerEditEnd::Written)
    }
}

impl Forge for World {
    fn kind(&self) -> ForgeKind {
        self.call().forge
    }

    fn missing(&self) -> Option<String> {
        self.call().forge_missing.clone()
    }

    fn proposals(
        &self,
        recorded: &[RecordedProposal],
        limit: Duration,
    ) -> Result<BTreeMap<u64, ProposalState>, PortError> {
        if !self.network("listing", limit) {
            return Err(PortError::new("ask what became of the pull requests", "no answer"));
        }
        let mut state = self.call();
        state.listings += 1;
        let landed = std::mem::take(&mut state.lands);
        state.repository.remote.extend(landed);
        let open = || ProposalState::Open { changes_requested: Vec::new() };
        let numbers = recorded.iter().filter_map(|proposal| proposal.number);
        Ok(numbers
            .map(|number| (number, state.proposals.get(&number).cloned().unwrap_or_else(open)))
            .collect())
    }

    fn find_open(
        &self,
        branch: &BranchName,
        _base: &BranchName,
    ) -> Result<Option<PullRequest>, PortError> {
        Ok(self.call().open.get(branch).cloned())
    }

    fn create(&self, new: &NewPullRequest) -> Result<PullRequest, PortError> {
        let mut state = self.try_effect()?;
        state.opened += 1;
        let number = state.opened;
        let url = format!("https://forge.example/pull/{number}");
        let opened =
            PullRequest { number, url, base: new.base.clone(), body: Some(new.body.clone()) };
        state.open.insert(new.branch.clone(), opened.clone());
        Ok(opened)
    }

    fn update_body(&self, _number: u64, _body: &str) -> Result<(), PortError> {
        self.try_effect()?;
        Ok(())
    }

    fn label(&self, _number: u64, _label: &str) -> Result<(), PortError> {
        self.try_effect()?;
        Ok(())
    }

    fn request_review(&self, _number: u64, _reviewer: &str) -> Result<(), PortError> {
        self.try_effect()?;
        Ok(())
    }
}
