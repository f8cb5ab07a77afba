//! The guards: pure checks before a task is given to an agent (D4).
//!
//! Each looks at the same [`GuardInput`] and answers with a [`Verdict`]. They are evaluated in order;
//! the first that does not launch decides, and all of them are kept for `explain`. Only the task's own
//! text can make a guard block; everything else waits.

mod attempts;
mod capacity;
mod claims;
mod dependencies;
mod message;
mod parent_branch;
mod paths;
mod permissions;
mod readiness;
mod snapshot;
mod tier;

use std::collections::BTreeMap;

use dispatch_core::attempt::AttemptCounts;
use dispatch_core::board::Board;
use dispatch_core::branch::BranchName;
use dispatch_core::config::{Language, ParentBranch};
use dispatch_core::dependencies::effectively_done;
use dispatch_core::id::TaskId;
use dispatch_core::names::PauseCause;
use dispatch_core::parent::ancestors;
use dispatch_core::task::Task;
use dispatch_core::triage::{Lane, Tier};
use serde::{Deserialize, Serialize};

pub use message::GuardMessage;
pub use readiness::{MAX_PROMPT_BYTES, task_bytes};
pub use snapshot::{GuardSnapshot, PolicySnapshot, SnapshotError, SurfaceSnapshot};

use crate::claims::{
    ClaimCheck, ClaimFinding, Claims, OpenTask, TaskGraph, TestSiblings, lint_claims,
};
use crate::paths::PathPolicy;
use crate::permission::LaneSurface;
use crate::test_command::{Refusal, TestCommand, TestShapes, resolve_test_command};
use crate::verdict::{Verdict, VerdictKind};

/// Attempts lost to faults after which a task waits for a person.
pub const MAX_FAULTS: u32 = 5;

/// One of the guards, in the order of evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Guard {
    /// 1: the task is complete and unambiguous.
    Readiness,
    /// 1b: the loaded settings do not conflict with what is granted.
    Permissions,
    /// 2: the lane takes the tier.
    Tier,
    /// 3: no declared file is forbidden.
    Paths,
    /// 4: every dependency is done.
    Dependencies,
    /// 4b: the branches the work builds on are known.
    ParentBranch,
    /// 5: attempts are left.
    Attempts,
    /// 6: there is room, and the lane runs.
    Capacity,
    /// 7: no busy task claims the same files.
    Claims,
}

impl Guard {
    /// Every guard, in order.
    pub const ALL: [Self; 9] = [
        Self::Readiness,
        Self::Permissions,
        Self::Tier,
        Self::Paths,
        Self::Dependencies,
        Self::ParentBranch,
        Self::Attempts,
        Self::Capacity,
        Self::Claims,
    ];

    /// Its name, for a person.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Readiness => "readiness",
            Self::Permissions => "permissions",
            Self::Tier => "tier",
            Self::Paths => "paths",
            Self::Dependencies => "dependencies",
            Self::ParentBranch => "parent-branch",
            Self::Attempts => "attempts",
            Self::Capacity => "capacity",
            Self::Claims => "claims",
        }
    }

    /// Its place in the order (D4), which is how JSON names it.
    pub const fn number(self) -> &'static str {
        match self {
            Self::Readiness => "1",
            Self::Permissions => "1b",
            Self::Tier => "2",
            Self::Paths => "3",
            Self::Dependencies => "4",
            Self::ParentBranch => "4b",
            Self::Attempts => "5",
            Self::Capacity => "6",
            Self::Claims => "7",
        }
    }

    fn evaluate(self, input: &GuardInput<'_>, own: &Own) -> Verdict {
        match self {
            Self::Readiness => readiness::evaluate(input, own),
            Self::Permissions => permissions::evaluate(input, own),
            Self::Tier => tier::evaluate(input),
            Self::Paths => paths::evaluate(input, own),
            Self::Dependencies => dependencies::evaluate(input),
            Self::ParentBranch => parent_branch::evaluate(input),
            Self::Attempts => attempts::evaluate(input),
            Self::Capacity => capacity::evaluate(input),
            Self::Claims => claims::evaluate(input, own),
        }
    }
}

impl Serialize for Guard {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.number())
    }
}

/// What an attempt is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The task itself.
    Work,
    /// Closing a parent whose subtasks are done (B5.3).
    Close,
}

/// What the remote said about a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BranchPresence {
    /// It is there.
    Present,
    /// Its absence is confirmed.
    Absent,
    /// The remote did not answer.
    Unknown,
}

/// A branch and what the remote said about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BranchOnRemote {
    /// Its name.
    pub name: BranchName,
    /// What the remote said.
    pub seen: BranchPresence,
}

/// What is known of the branches a task builds on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RemoteFacts {
    /// The task's own branch.
    pub own: BranchOnRemote,
    /// The branch its parent integrates on, for a subtask of a parent that has one.
    pub parent: Option<BranchOnRemote>,
    /// Whether the task was ever dispatched: then it is never started afresh while the remote is
    /// silent (D3.5).
    pub dispatched_before: bool,
}

/// Why a lane does not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LanePause {
    /// The cause.
    pub cause: PauseCause,
    /// What was found, for people.
    pub detail: String,
}

/// What is known of a lane.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LaneFacts {
    /// How many of its tasks run.
    pub running: u32,
    /// How many may run at once.
    pub max_parallel: u32,
    /// The tiers it takes.
    pub tiers: Vec<Tier>,
    /// Why it does not run, if it does not.
    pub pause: Option<LanePause>,
}

/// The slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SlotFacts {
    /// How many there are.
    pub configured: usize,
    /// How many are free.
    pub free: usize,
}

/// The limits of one pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// How many counted attempts a task gets.
    pub attempts: u32,
    /// What to do when a parent's branch is missing.
    pub parent_branch: ParentBranch,
    /// What declared files are relative to, from the top of the repository; `.` is the top.
    pub project_root: String,
    /// What is known of each lane.
    pub lanes: BTreeMap<Lane, LaneFacts>,
}

/// What bounds tasks, from the configuration.
#[derive(Debug, Clone, Copy)]
pub struct PolicyView<'a> {
    /// The shapes of test commands.
    pub test_shapes: &'a TestShapes,
    /// The path policy.
    pub paths: &'a PathPolicy,
    /// The test siblings of a source file.
    pub siblings: &'a TestSiblings,
}

/// The rules a lane grants and loads, or why its settings cannot be used (D3.6).
pub type LaneRulesView<'a> = Result<&'a LaneSurface, &'a str>;

/// The tasks that are being worked on, with what they claim (L8.7).
#[derive(Debug, Clone, Default)]
pub struct BusyTasks {
    /// Every task that is `In Progress` or bound to a held slot.
    pub claims: BTreeMap<TaskId, Claims>,
    /// Those of them that the board does not show, so that their claims are not known.
    pub unseen: Vec<TaskId>,
}

impl BusyTasks {
    /// Collects the claims of busy tasks from the board.
    pub fn collect(
        board: &Board,
        busy: impl IntoIterator<Item = TaskId>,
        project_root: &str,
        siblings: &TestSiblings,
    ) -> Self {
        let mut collected = Self::default();
        for id in busy {
            match board.find(&id) {
                Some(task) => {
                    collected.claims.insert(id, Claims::of_task(task, project_root, siblings));
                }
                None => collected.unseen.push(id),
            }
        }
        collected.unseen.sort();
        collected.unseen.dedup();
        collected
    }
}

/// The dependencies and parents of every task of a board.
pub fn task_graph(board: &Board) -> TaskGraph<TaskId> {
    let mut graph = TaskGraph::default();
    for tasks in [&board.tasks, &board.completed, &board.archived] {
        for (id, task) in tasks {
            if !task.dependencies.is_empty() {
                graph.depends_on.insert(id.clone(), task.dependencies.iter().cloned().collect());
            }
            if let Some(parent) = &task.parent {
                graph.parent.insert(id.clone(), parent.clone());
            }
        }
    }
    graph
}

/// Claims of tasks of a board that are not done and overlap, though nothing orders the tasks
/// (L8.7). None where the board is incomplete: what is not seen may order them.
pub fn lint_board(
    board: &Board,
    project_root: &str,
    siblings: &TestSiblings,
    check: ClaimCheck,
) -> Option<Vec<ClaimFinding<TaskId>>> {
    if !board.complete {
        return None;
    }
    let graph = task_graph(board);
    let open = board.tasks.iter().filter(|(id, _)| !effectively_done(board, id));
    let open = open.map(|(id, task)| {
        let claims = Claims::of_task(task, project_root, siblings);
        let group = ancestors(board, id).pop().unwrap_or_else(|| id.clone());
        (id.clone(), OpenTask { claims, group })
    });
    Some(lint_claims(&open.collect(), &graph, check))
}

/// Everything the guards look at for one task.
#[derive(Debug, Clone, Copy)]
pub struct GuardInput<'a> {
    /// The task.
    pub task: &'a Task,
    /// What the attempt would be for.
    pub role: Role,
    /// Bytes of pull-request reviews that would go into the prompt.
    pub review_bytes: usize,
    /// Its attempts so far.
    pub attempts: AttemptCounts,
    /// The board.
    pub board: &'a Board,
    /// The slots.
    pub slots: SlotFacts,
    /// The limits.
    pub limits: &'a Limits,
    /// What bounds tasks.
    pub policy: PolicyView<'a>,
    /// The rules of each lane; a missing one loads nothing.
    pub surfaces: &'a BTreeMap<Lane, LaneRulesView<'a>>,
    /// The rule for the task's board command.
    pub worker_edit_rule: Option<&'a str>,
    /// What the remote said.
    pub remote: &'a RemoteFacts,
    /// The busy tasks.
    pub busy: &'a BusyTasks,
    /// The dependencies and parents of all tasks.
    pub graph: &'a TaskGraph<TaskId>,
}

/// What follows from the task's own text, found once for all guards.
struct Own {
    claims: Claims,
    test_command: Option<Result<TestCommand, Refusal>>,
}

impl Own {
    fn of(input: &GuardInput<'_>) -> Self {
        let policy = input.policy;
        let text = input.task.test_command.given();
        Self {
            claims: Claims::of_task(input.task, &input.limits.project_root, policy.siblings),
            test_command: text.map(|text| resolve_test_command(text, policy.test_shapes)),
        }
    }
}

/// What every guard says about a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evaluation {
    verdicts: Vec<(Guard, Verdict)>,
}

impl Evaluation {
    /// Every guard's verdict, in order.
    pub fn verdicts(&self) -> &[(Guard, Verdict)] {
        &self.verdicts
    }

    /// The first guard that does not launch, with its verdict.
    pub fn stopped_by(&self) -> Option<(Guard, &Verdict)> {
        self.verdicts.iter().find(|(_, verdict)| !verdict.launches()).map(|(guard, v)| (*guard, v))
    }

    /// The verdict that counts.
    pub fn verdict(&self) -> &Verdict {
        self.stopped_by().map_or(&Verdict::Launch, |(_, verdict)| verdict)
    }

    /// The verdict that counts, for people and programs.
    pub fn printed(&self, language: Language) -> PrintedVerdict {
        let (guard, verdict) = match self.stopped_by() {
            Some((guard, verdict)) => (Some(guard), verdict),
            None => (None, &Verdict::Launch),
        };
        PrintedVerdict::of(guard, verdict, language)
    }

    /// Every verdict, for `explain`.
    pub fn printed_all(&self, language: Language) -> Vec<PrintedVerdict> {
        self.verdicts
            .iter()
            .map(|(guard, verdict)| PrintedVerdict::of(Some(*guard), verdict, language))
            .collect()
    }
}

/// A verdict as it is printed (K6).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PrintedVerdict {
    /// What it comes to.
    pub verdict: VerdictKind,
    /// The guard; none when all launch.
    pub guard: Option<Guard>,
    /// The reason.
    pub reason: Option<&'static str>,
    /// The sentences for a person.
    pub comment: Option<String>,
    /// The values they name.
    pub grounds: BTreeMap<&'static str, String>,
}

impl PrintedVerdict {
    fn of(guard: Option<Guard>, verdict: &Verdict, language: Language) -> Self {
        let grounds = verdict.grounds();
        let values = grounds.map(crate::verdict::Grounds::values).unwrap_or_default();
        Self {
            verdict: verdict.kind(),
            guard,
            reason: verdict.reason(),
            comment: grounds.map(|grounds| grounds.comment(language)),
            grounds: values.into_iter().map(|(name, value)| (name, value.to_owned())).collect(),
        }
    }
}

/// Asks every guard about a task.
pub fn evaluate(input: &GuardInput<'_>) -> Evaluation {
    let own = Own::of(input);
    let verdicts =
        Guard::ALL.into_iter().map(|guard| (guard, guard.evaluate(input, &own))).collect();
    Evaluation { verdicts }
}

/// The lane of a task: the local one counts for a missing or ambiguous answer.
fn lane(task: &Task) -> Lane {
    task.lane.given().unwrap_or(Lane::Local)
}

fn list<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
