//! The branches of a task: its own, the one it is proposed for, and what the remote said about them (D6.6).

use std::collections::BTreeSet;

use dispatch_core::branch::{BranchName, task_branch};
use dispatch_core::config::ParentBranch;
use dispatch_core::id::TaskId;
use dispatch_core::object::CommitId;
use dispatch_core::parent::has_own_branch;
use dispatch_core::record::Record;
use dispatch_core::status::Status;
use dispatch_core::task::Task;

use super::RoundView;
use crate::hand_over::SeenBranch;
use crate::ports::{PortError, RemoteBranch};
use crate::settled::is_merged;
use crate::setup::Setup;

/// The branches of a task, as the remote was seen.
#[derive(Debug, Clone)]
pub(crate) struct Branches {
    /// The task's own.
    pub(crate) own: SeenBranch,
    /// The one it is proposed for; none when the base branch is not known.
    pub(crate) base: Option<SeenBranch>,
    /// The one its parent integrates on.
    pub(crate) parent: Option<SeenBranch>,
    /// What a missing parent's branch is made from.
    pub(crate) made_from: Option<SeenBranch>,
}

impl Branches {
    pub(super) fn of(
        facts: &RoundView<'_>,
        setup: &Setup,
        task: &Task,
        record: Option<&Record>,
    ) -> Result<Self, PortError> {
        let prefix = &setup.config.branch_prefix;
        let see = |name: BranchName| SeenBranch { seen: facts.remote.get(&name), name };
        let chain = integration_chain(facts, prefix, task)?;
        let mut above = chain.into_iter().chain(facts.base.cloned()).map(see);
        let parent = has_integrating_parent(facts, task).then(|| above.next()).flatten();
        let (base, made_from) = match &parent {
            // A branch further up that is not there either is made once something is proposed for it.
            Some(parent) => {
                let farther: Vec<SeenBranch> = above.collect();
                let there = farther.iter().find(|branch| branch.seen != RemoteBranch::Absent);
                (Some(parent.clone()), there.or(farther.last()).cloned())
            }
            None => (above.next(), None),
        };
        Ok(Self { own: see(own_branch(prefix, task, record)?), base, parent, made_from })
    }

    /// The commit that an attempt would be based on, where it was seen.
    pub(crate) fn base_commit(&self) -> Option<&CommitId> {
        [&self.base, &self.made_from].into_iter().flatten().find_map(|branch| match &branch.seen {
            RemoteBranch::At(commit) => Some(commit),
            RemoteBranch::Absent | RemoteBranch::Unknown => None,
        })
    }

    /// Why no attempt could start now, although the guards allow it; none when it can.
    pub(crate) fn missing_start(&self, policy: ParentBranch) -> Option<String> {
        let Some(base) = &self.base else { return Some("the base branch is not known".to_owned()) };
        if self.own.seen == RemoteBranch::Unknown {
            // A task queued while this pass fetched: its branch may hold earlier work.
            return Some(format!(
                "the remote was not asked about the branch {} yet",
                self.own.name
            ));
        }
        let can_be_made = self.parent.is_some() && policy == ParentBranch::Create;
        match (&base.seen, &self.made_from) {
            (RemoteBranch::At(_), _) => None,
            (RemoteBranch::Absent, Some(from)) if can_be_made => match from.seen {
                RemoteBranch::At(_) => None,
                RemoteBranch::Absent | RemoteBranch::Unknown => {
                    Some(format!("the branch {} was not seen on the remote", from.name))
                }
            },
            (RemoteBranch::Absent, _) => Some(format!("the remote has no branch {}", base.name)),
            (RemoteBranch::Unknown, _) => {
                Some(format!("the branch {} was not seen on the remote", base.name))
            }
        }
    }
}

fn has_integrating_parent(facts: &RoundView<'_>, task: &Task) -> bool {
    task.parent.as_ref().and_then(|id| facts.board.find(id)).is_some_and(has_own_branch)
}

/// The branches of the ancestors that integrate on one of their own, nearest first.
fn integration_chain(
    facts: &RoundView<'_>,
    prefix: &str,
    task: &Task,
) -> Result<Vec<BranchName>, PortError> {
    let mut chain = Vec::new();
    for id in dispatch_core::parent::ancestors(facts.board, &task.id) {
        if let Some(ancestor) = facts.board.find(&id).filter(|ancestor| has_own_branch(ancestor)) {
            chain.push(own_branch(prefix, ancestor, facts.records.get(&id))?);
        }
    }
    Ok(chain)
}

/// The branch of a task: the declared one of a parent that integrates on it, else the one that follows from its id.
fn own_branch(prefix: &str, task: &Task, record: Option<&Record>) -> Result<BranchName, PortError> {
    let declared = task
        .branch
        .given()
        .filter(|name| !task.children.is_empty() && name.starts_with(prefix))
        .and_then(|name| BranchName::parse(name).ok());
    match declared {
        Some(name) => Ok(name),
        None => next_branch(prefix, &task.id, record),
    }
}

/// How many times the task's pull request was merged before its next attempt.
pub(crate) fn merged_before(record: Option<&Record>) -> u32 {
    record.map_or(0, |record| record.merged_before.saturating_add(u32::from(is_merged(record))))
}

fn next_branch(
    prefix: &str,
    id: &TaskId,
    record: Option<&Record>,
) -> Result<BranchName, PortError> {
    task_branch(prefix, id, merged_before(record)).map_err(|source| {
        PortError::new(format!("name the branch of {id}"), source)
            .hint("look at `branchPrefix` in the configuration")
    })
}

impl RoundView<'_> {
    /// The branches that the remote has to be asked about (D3.5).
    pub(crate) fn of_interest(&self, setup: &Setup) -> Result<BTreeSet<BranchName>, PortError> {
        let mut names: BTreeSet<BranchName> = self.base.into_iter().cloned().collect();
        for record in self.records.values() {
            if let Some(proposal) = &record.pr
                && !is_merged(record)
            {
                names.extend([proposal.base.clone(), proposal.branch.clone()]);
            }
        }
        for task in self.board.tasks.values() {
            // A task with a record may be queued again by the sweep of this very pass.
            if task.status == Status::Queued
                || (self.records.contains_key(&task.id) && task.status == Status::InProgress)
            {
                names.extend(self.of_task(setup, task)?);
            }
        }
        Ok(names)
    }

    /// The branches that an attempt of a task would be about.
    pub(super) fn of_task(&self, setup: &Setup, task: &Task) -> Result<Vec<BranchName>, PortError> {
        let prefix = &setup.config.branch_prefix;
        let mut names = integration_chain(self, prefix, task)?;
        names.push(own_branch(prefix, task, self.records.get(&task.id))?);
        Ok(names)
    }
}
