//! Asking the guards about a task: the same question for a pass, a dry run, `status` and `explain`.

mod branches;
mod surfaces;

use std::collections::BTreeMap;

use dispatch_core::attempt::{AttemptCounts, AttemptNumber};
use dispatch_core::board::Board;
use dispatch_core::branch::BranchName;
use dispatch_core::id::TaskId;
use dispatch_core::parent::closes_parent;
use dispatch_core::record::{Phase, Record};
use dispatch_core::status::Status;
use dispatch_core::task::Task;
use dispatch_core::triage::Lane;
use dispatch_guards::claims::TaskGraph;
use dispatch_guards::guards::{
    BranchOnRemote, BranchPresence, BusyTasks, Evaluation, GuardInput, LaneFacts, LanePause,
    LaneRulesView, Limits, PolicyView, RemoteFacts, Role, SlotFacts, evaluate, task_graph,
};
use dispatch_guards::permission::LoadedFile;
use dispatch_guards::test_command::{TestCommand, resolve_test_command};

pub(crate) use self::branches::{Branches, merged_before};
use self::surfaces::Surfaces;

use crate::earlier_review::earlier_review;
use crate::governor::{Gate, gate};
use crate::hand_over::SeenBranch;
use crate::pass::Occupied;
use crate::ports::{PortError, Ports, Recorded, Registry, RemoteBranch, RemoteView};
use crate::setup::Setup;
use crate::surface::worker_edit_rule;

/// Board, remote and records as they were seen.
pub(crate) struct RoundView<'a> {
    pub(crate) board: &'a Board,
    pub(crate) remote: &'a RemoteView,
    /// The branch work is proposed for; none when it could not be found out.
    pub(crate) base: Option<&'a BranchName>,
    pub(crate) records: BTreeMap<TaskId, Record>,
}

/// What is read once for all tasks of a round (D3.3).
pub(crate) struct RoundFacts<'a> {
    pub(crate) seen: RoundView<'a>,
    graph: TaskGraph<TaskId>,
    surfaces: Surfaces,
}

/// A task that a rehearsal has dispatched: it takes a slot and room on its lane, and nothing was done.
pub(crate) struct Rehearsed {
    pub(crate) task: TaskId,
    pub(crate) lane: Lane,
}

/// What the guards say about a task, and what a launch would be made with.
pub(crate) struct Judged {
    pub(crate) evaluation: Evaluation,
    pub(crate) lane: Option<Lane>,
    pub(crate) gate: Gate,
    pub(crate) counts: AttemptCounts,
    pub(crate) test_command: Option<TestCommand>,
    pub(crate) branches: Branches,
    /// What the guards were given beside task and board.
    pub(crate) given: Given,
}

/// What the guards were given beside task, board and configuration.
pub(crate) struct Given {
    pub(crate) role: Role,
    pub(crate) review_bytes: usize,
    pub(crate) slots: SlotFacts,
    pub(crate) limits: Limits,
    pub(crate) remote: RemoteFacts,
    pub(crate) busy: Vec<TaskId>,
    /// The settings files that a worker would load, or why none may be started with them.
    pub(crate) loaded: Result<Vec<LoadedFile>, String>,
}

/// The remote as the last pass saw it, for a look that must not wait for the network. A branch that was not there then
/// counts as absent, but only if anything was seen at all. `task` is looked at though no pass would ask about it yet.
pub(crate) fn last_seen(
    ports: &Ports<'_>,
    setup: &Setup,
    board: &Board,
    base: Option<&BranchName>,
    task: Option<&Task>,
) -> Result<RemoteView, PortError> {
    let nothing = RemoteView::default();
    let facts = RoundView::read(ports, board, &nothing, base)?;
    let mut names = facts.of_interest(setup)?;
    if let Some(task) = task {
        names.extend(facts.of_task(setup, task)?);
    }
    let mut view = RemoteView::default();
    for name in names {
        if let Some(commit) = ports.vcs.kept(&name.fetched_ref())? {
            view.branches.insert(name, RemoteBranch::At(commit));
        } else if base.is_some_and(|base| base != &name) {
            view.branches.insert(name, RemoteBranch::Absent);
        }
    }
    let seen_base = base.is_some_and(|base| matches!(view.get(base), RemoteBranch::At(_)));
    Ok(if seen_base { view } else { RemoteView::default() })
}

/// The records that can be read, by task. Those that cannot are reported by the sweep.
pub(crate) fn readable_records(ports: &Ports<'_>) -> Result<BTreeMap<TaskId, Record>, PortError> {
    let mut records = BTreeMap::new();
    for recorded in ports.store.records()? {
        match recorded {
            Recorded::Read(record) => {
                records.insert(record.task_id.clone(), *record);
            }
            Recorded::Unreadable { error, .. } => {
                tracing::debug!(error = error.chain(), "left out");
            }
        }
    }
    Ok(records)
}

impl<'a> RoundView<'a> {
    pub(crate) fn read(
        ports: &Ports<'_>,
        board: &'a Board,
        remote: &'a RemoteView,
        base: Option<&'a BranchName>,
    ) -> Result<Self, PortError> {
        Ok(Self { board, remote, base, records: readable_records(ports)? })
    }
}

impl<'a> RoundFacts<'a> {
    pub(crate) fn read(
        ports: &Ports<'_>,
        board: &'a Board,
        remote: &'a RemoteView,
        base: Option<&'a BranchName>,
    ) -> Result<Self, PortError> {
        let seen = RoundView::read(ports, board, remote, base)?;
        Ok(Self { seen, graph: task_graph(board), surfaces: Surfaces::default() })
    }

    /// Asks every guard about a task, with the slots, lanes and records of this moment.
    pub(crate) fn judge(
        &self,
        ports: &Ports<'_>,
        setup: &Setup,
        task: &Task,
    ) -> Result<Judged, PortError> {
        self.judge_after(&[], ports, setup, task)
    }

    /// The same, as if these tasks had been dispatched before.
    pub(crate) fn judge_after(
        &self,
        rehearsed: &[Rehearsed],
        ports: &Ports<'_>,
        setup: &Setup,
        task: &Task,
    ) -> Result<Judged, PortError> {
        let mut registry = ports.store.registry()?;
        let occupied = Occupied::read(ports, &registry)?;
        for Rehearsed { task, lane } in rehearsed {
            let free = occupied.free(&registry, task).into_iter().next();
            let taken = registry.slots.iter_mut().find(|entry| Some(&entry.name) == free.as_ref());
            if let Some(entry) = taken {
                (entry.task_id, entry.lane) = (Some(task.clone()), Some(*lane));
            }
        }
        let record = ports.store.record(&task.id)?;
        let branches = Branches::of(&self.seen, setup, task, record.as_ref())?;
        let counts = ports.store.attempt_counts(&task.id)?;
        let limits = limits(ports, setup, &registry)?;
        let slots = SlotFacts {
            configured: registry.configured.len(),
            free: occupied.free(&registry, &task.id).len(),
        };
        let remote = RemoteFacts {
            own: presence(&branches.own),
            parent: branches.parent.as_ref().map(presence),
            dispatched_before: record.is_some() || ports.store.has_attempts(&task.id)?,
        };
        let review_bytes = review_bytes(ports, record.as_ref())?;
        let lane = task.lane.given();
        let surface =
            self.surfaces.get(ports, setup, lane.unwrap_or(Lane::Local), branches.base_commit());
        let surfaces: BTreeMap<Lane, LaneRulesView<'_>> = surface
            .iter()
            .map(|found| {
                let view = found.judged.as_ref().map(|judged| &judged.surface);
                (found.lane, view.map_err(String::as_str))
            })
            .collect();
        let worker_edit =
            setup.worker_edit.as_ref().map(|program| worker_edit_rule(program, &task.id));
        let policies = &setup.policies;
        let busy_ids = self.busy(&registry, &task.id);
        let busy = BusyTasks::collect(
            self.seen.board,
            busy_ids.iter().cloned(),
            &limits.project_root,
            &policies.siblings,
        );
        let closes = closes_parent(self.seen.board, task);
        let role = if closes { Role::Close } else { Role::Work };
        let evaluation = evaluate(&GuardInput {
            task,
            role,
            review_bytes,
            attempts: counts,
            board: self.seen.board,
            slots,
            limits: &limits,
            policy: PolicyView {
                test_shapes: &policies.test_shapes,
                paths: &policies.paths,
                siblings: &policies.siblings,
            },
            surfaces: &surfaces,
            worker_edit_rule: worker_edit.as_deref(),
            remote: &remote,
            busy: &busy,
            graph: &self.graph,
        });
        let loaded = surface.as_deref().map_or_else(
            || Ok(Vec::new()),
            |found| found.judged.as_ref().map(|it| it.loaded.clone()).map_err(String::clone),
        );
        Ok(Judged {
            evaluation,
            lane,
            gate: lane_gate(ports, &registry, lane.unwrap_or(Lane::Local))?,
            counts,
            test_command: task
                .test_command
                .given()
                .or(setup.config.whole_test_command.as_deref())
                .and_then(|text| resolve_test_command(text, &policies.test_shapes).ok()),
            branches,
            given: Given { role, review_bytes, slots, limits, remote, busy: busy_ids, loaded },
        })
    }

    /// The tasks that are worked on or keep a slot: their claims are taken.
    fn busy(&self, registry: &Registry, but: &TaskId) -> Vec<TaskId> {
        let on_board = self
            .seen
            .board
            .tasks
            .values()
            .filter(|task| task.status == Status::InProgress && task.children.is_empty());
        let recorded = self.seen.records.values().filter(|record| record.phase != Phase::Ended);
        let mut busy: Vec<TaskId> = on_board
            .map(|task| task.id.clone())
            .chain(recorded.map(|record| record.task_id.clone()))
            .chain(registry.slots.iter().filter_map(|entry| entry.task_id.clone()))
            .filter(|id| id != but)
            .collect();
        busy.sort();
        busy.dedup();
        busy
    }
}

/// How long the review is that the next attempt would be told of.
fn review_bytes(ports: &Ports<'_>, record: Option<&Record>) -> Result<usize, PortError> {
    let Some(record) = record else { return Ok(0) };
    let Some(next) = AttemptNumber::new(record.last_attempt.get().saturating_add(1)) else {
        return Ok(0);
    };
    Ok(earlier_review(ports, &record.task_id, next)?.map_or(0, |review| review.len()))
}

fn presence(branch: &SeenBranch) -> BranchOnRemote {
    let seen = match branch.seen {
        RemoteBranch::At(_) => BranchPresence::Present,
        RemoteBranch::Absent => BranchPresence::Absent,
        RemoteBranch::Unknown => BranchPresence::Unknown,
    };
    BranchOnRemote { name: branch.name.clone(), seen }
}

/// How many attempts of a lane run, by the registry of this moment (D6.3). A held slot runs nothing.
pub(crate) fn running(registry: &Registry, lane: Lane) -> u32 {
    let bound = registry.slots.iter().filter(|entry| {
        entry.task_id.is_some() && entry.lane == Some(lane) && entry.held.is_none()
    });
    u32::try_from(bound.count()).unwrap_or(u32::MAX)
}

fn lane_gate(ports: &Ports<'_>, registry: &Registry, lane: Lane) -> Result<Gate, PortError> {
    let state = ports.store.lane_state(lane)?;
    Ok(gate(&state, ports.clock.now(), running(registry, lane)))
}

fn limits(ports: &Ports<'_>, setup: &Setup, registry: &Registry) -> Result<Limits, PortError> {
    let config = &setup.config;
    let mut lanes = BTreeMap::new();
    for lane in Lane::ALL.iter().copied() {
        let pause = match lane_gate(ports, registry, lane)? {
            Gate::Open | Gate::Probe => None,
            Gate::Paused { cause, detail } => Some(LanePause { cause, detail }),
        };
        let facts = LaneFacts {
            running: running(registry, lane),
            max_parallel: config.max_parallel(lane),
            tiers: config.tiers(lane).to_vec(),
            pause,
        };
        lanes.insert(lane, facts);
    }
    Ok(Limits {
        attempts: config.attempts,
        parent_branch: config.parent_branch,
        project_root: config.project_root.to_string(),
        lanes,
    })
}
