//! The guards' input as one value that can be printed, kept and evaluated again (`explain --json`,
//! `inspect guards`).

use std::collections::BTreeMap;

use dispatch_core::attempt::AttemptCounts;
use dispatch_core::board::Board;
use dispatch_core::id::TaskId;
use dispatch_core::task::Task;
use dispatch_core::triage::Lane;
use serde::{Deserialize, Serialize};

use super::{
    BusyTasks, Evaluation, GuardInput, Limits, PolicyView, RemoteFacts, Role, SlotFacts, evaluate,
    task_graph,
};
use crate::claims::TestSiblings;
use crate::paths::{PathLists, PathPolicy, PathPolicyError, PolicyPlaces};
use crate::permission::{LaneRules, LaneSurface, LoadedFile};
use crate::test_command::{TestShapeError, TestShapes};

/// What bounds tasks, as it is configured.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PolicySnapshot {
    /// `testCommands`.
    pub test_commands: Vec<Vec<String>>,
    /// `paths`.
    pub paths: PathLists,
    /// The files that bound a worker.
    pub places: PolicyPlaces,
    /// `paths.testSiblings`.
    pub test_siblings: Vec<String>,
}

/// What a lane grants and loads, or why its settings cannot be used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SurfaceSnapshot {
    /// The lane's own lists.
    pub rules: LaneRules,
    /// The settings files it loads.
    pub loaded: Vec<LoadedFile>,
    /// Why they cannot be used.
    pub unreadable: Option<String>,
    /// The rule for the task's board command.
    pub worker_edit: Option<String>,
}

/// Everything the guards look at for one task, owned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GuardSnapshot {
    /// The task.
    pub task: Task,
    /// What the attempt would be for.
    pub role: Role,
    /// Bytes of reviews that would go into the prompt.
    #[serde(default)]
    pub review_bytes: usize,
    /// Its attempts so far.
    #[serde(default)]
    pub attempts: AttemptCounts,
    /// The board.
    pub board: Board,
    /// The slots.
    pub slots: SlotFacts,
    /// The limits.
    pub limits: Limits,
    /// What bounds tasks.
    #[serde(default)]
    pub policy: PolicySnapshot,
    /// The rules of the task's lane.
    #[serde(default)]
    pub surface: SurfaceSnapshot,
    /// What the remote said.
    pub remote: RemoteFacts,
    /// The tasks that are being worked on: `In Progress` or bound to a held slot.
    #[serde(default)]
    pub claims: Vec<TaskId>,
}

/// A snapshot from which nothing can be evaluated.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// A shape of a test command.
    #[error("`policy.testCommands` cannot be used")]
    TestShapes(#[source] TestShapeError),
    /// A path list.
    #[error("`policy.paths` cannot be used")]
    Paths(#[source] PathPolicyError),
}

impl GuardSnapshot {
    /// Asks every guard.
    pub fn evaluate(&self) -> Result<Evaluation, SnapshotError> {
        let test_shapes =
            TestShapes::with(&self.policy.test_commands).map_err(SnapshotError::TestShapes)?;
        let paths = PathPolicy::new(&self.policy.paths, &self.policy.places)
            .map_err(SnapshotError::Paths)?;
        let siblings = TestSiblings::new(self.policy.test_siblings.clone());
        let surface = LaneSurface::new(&self.surface.rules, &self.surface.loaded);
        let rules = match &self.surface.unreadable {
            Some(cause) => Err(cause.as_str()),
            None => Ok(&surface),
        };
        let lane = self.task.lane.given().unwrap_or(Lane::Local);
        let root = &self.limits.project_root;
        let busy = BusyTasks::collect(&self.board, self.claims.iter().cloned(), root, &siblings);
        let graph = task_graph(&self.board);
        Ok(evaluate(&GuardInput {
            task: &self.task,
            role: self.role,
            review_bytes: self.review_bytes,
            attempts: self.attempts,
            board: &self.board,
            slots: self.slots,
            limits: &self.limits,
            policy: PolicyView { test_shapes: &test_shapes, paths: &paths, siblings: &siblings },
            surfaces: &BTreeMap::from([(lane, rules)]),
            worker_edit_rule: self.surface.worker_edit.as_deref(),
            remote: &self.remote,
            busy: &busy,
            graph: &graph,
        }))
    }
}
