//! What `dispatch status` shows (K1), as values.

use std::collections::BTreeSet;

use camino::Utf8PathBuf;
use dispatch_core::attempt::AttemptNumber;
use dispatch_core::board::Board;
use dispatch_core::branch::BranchName;
use dispatch_core::config::ConfinementMode;
use dispatch_core::id::TaskId;
use dispatch_core::names::BlockReason;
use dispatch_core::outcome::StreamSummary;
use dispatch_core::record::{Pause, Phase, Record, Waiting};
use dispatch_core::select::candidates;
use dispatch_core::slot::SlotName;
use dispatch_core::status::Status;
use dispatch_core::triage::Lane;
use dispatch_guards::guards::PrintedVerdict;
use dispatch_guards::verdict::{Verdict, VerdictKind};
use serde::Serialize;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::base_branch;
use crate::budget::awake_between;
use crate::from_here;
use crate::judge::{Rehearsed, RoundFacts, last_seen};
use crate::ports::{AttemptFile, PortError, Ports, Recorded, TryLock};
use crate::setup::Setup;
use crate::stage::block_reason;
use crate::standstill::{self, Standstill};

/// Slots, running attempts, lanes and the queue at one moment.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusReport {
    /// What keeps every pass from taking tasks.
    pub standstill: Option<Standstill>,
    /// Every slot, configured ones first.
    pub slots: Vec<SlotStatus>,
    /// The attempts that have not ended.
    pub running: Vec<RunningStatus>,
    /// Both lanes.
    pub lanes: Vec<LaneStatus>,
    /// The queue, with what the guards would say by what the last pass saw of the remote.
    pub queue: Vec<QueuedStatus>,
    /// The tasks that wait for a person.
    pub blocked: Vec<BlockedStatus>,
    /// Pull requests that are followed.
    pub proposals: Vec<ProposalStatus>,
    /// What cannot be read.
    pub problems: Vec<String>,
}

impl StatusReport {
    /// Why tasks that the guards let go are not started here, each cause once; nothing while a standstill says it all.
    pub fn held_back(&self) -> BTreeSet<&str> {
        let told = self.queue.iter().filter(|_| self.standstill.is_none());
        told.filter_map(|task| task.held_back.as_deref()).collect()
    }
}

/// A slot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SlotStatus {
    /// Its name.
    pub name: SlotName,
    /// Its worktree.
    pub path: Utf8PathBuf,
    /// Whether the configuration names it.
    pub configured: bool,
    /// The task it is bound to.
    pub task: Option<TaskId>,
    /// The attempt it is bound to.
    pub attempt: Option<AttemptNumber>,
    /// Why it keeps the only copy of some work.
    pub held: Option<String>,
}

/// An attempt that has not ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunningStatus {
    /// The task.
    pub id: TaskId,
    /// The attempt.
    pub attempt: AttemptNumber,
    /// Its lane.
    pub lane: Lane,
    /// Its slot.
    pub slot: SlotName,
    /// How far it has come.
    pub phase: Phase,
    /// Whether its supervisor lives; the next pass recovers one that does not.
    pub supervised: bool,
    /// What its close waits for.
    pub waiting: Option<Waiting>,
    /// Seconds since it was claimed, by the wall clock.
    pub elapsed_s: Option<i64>,
    /// Seconds of machine-awake time since its last sign of life.
    pub beat_age_s: Option<u64>,
    /// Answers of the model so far.
    pub turns: u64,
    /// What it cost, once it is known.
    pub cost_usd: Option<f64>,
}

/// A lane.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LaneStatus {
    /// The lane.
    pub lane: Lane,
    /// How many of its attempts run.
    pub running: u32,
    /// How many may.
    pub max_parallel: u32,
    /// How its workers are confined by the kernel (W3.3).
    pub confinement: ConfinementMode,
    /// Its pause.
    pub pause: Option<Pause>,
}

/// A queued task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QueuedStatus {
    /// The task.
    pub id: TaskId,
    /// Its title.
    pub title: String,
    /// What the guards say.
    pub verdict: PrintedVerdict,
    /// Why a pass that was made here and now would not start it, although the guards would.
    pub held_back: Option<String>,
}

impl QueuedStatus {
    /// What becomes of it in a pass that is made here and now, and that in words.
    pub fn outlook(&self) -> (VerdictKind, String) {
        match (&self.held_back, self.verdict.reason) {
            (Some(_), _) => (VerdictKind::Wait, VerdictKind::Wait.to_string()),
            (None, None) => (self.verdict.verdict, self.verdict.verdict.to_string()),
            (None, Some(reason)) => {
                (self.verdict.verdict, format!("{}: {reason}", self.verdict.verdict))
            }
        }
    }
}

/// A blocked task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BlockedStatus {
    /// The task.
    pub id: TaskId,
    /// Its title.
    pub title: String,
    /// Why, when our last comment on it says so.
    pub reason: Option<BlockReason>,
}

/// A recorded pull request that is not settled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProposalStatus {
    /// The task.
    pub id: TaskId,
    /// Its address, or the branch.
    pub link: String,
    /// What was already done about it.
    pub settled: Option<String>,
}

/// Reads the status; changes nothing and waits for no network.
pub fn read(ports: &Ports<'_>, setup: &Setup) -> Result<StatusReport, PortError> {
    let registry = ports.store.registry()?;
    let board = ports.board.read();
    let mut problems: Vec<String> = board.problems.iter().map(ToString::to_string).collect();
    let base = base_branch::remembered(ports, setup)?;
    let standstill = standstill::find(ports, setup, base.as_ref())?;
    let mut running = Vec::new();
    let mut proposals = Vec::new();
    for recorded in ports.store.records()? {
        match recorded {
            Recorded::Read(record) if record.phase == Phase::Ended => {
                proposals.extend(proposal(&record));
            }
            Recorded::Read(record) => running.push(running_status(ports, &record)?),
            Recorded::Unreadable { error, .. } => problems.push(error.chain()),
        }
    }
    let slots = registry
        .slots
        .iter()
        .map(|entry| SlotStatus {
            name: entry.name.clone(),
            path: entry.path.clone(),
            configured: registry.configured.contains(&entry.name),
            task: entry.task_id.clone(),
            attempt: entry.attempt,
            held: entry.held.clone(),
        })
        .collect();
    let queue = queue(ports, setup, &board, base.as_ref(), standstill.as_ref())?;
    let mut lanes = Vec::new();
    for lane in Lane::ALL.iter().copied() {
        lanes.push(LaneStatus {
            lane,
            running: crate::judge::running(&registry, lane),
            max_parallel: setup.config.max_parallel(lane),
            confinement: setup.config.confinement_mode(lane),
            pause: ports.store.lane_state(lane)?.pause,
        });
    }
    proposals.sort_by(|one, other| one.id.cmp(&other.id));
    let blocked = blocked(&board);
    Ok(StatusReport { standstill, slots, running, lanes, queue, blocked, proposals, problems })
}

fn blocked(board: &Board) -> Vec<BlockedStatus> {
    let tasks = board.tasks.values().filter(|task| task.status == Status::Blocked);
    tasks
        .map(|task| BlockedStatus {
            id: task.id.clone(),
            title: task.title.clone(),
            reason: block_reason(&task.comments),
        })
        .collect()
}

fn queue(
    ports: &Ports<'_>,
    setup: &Setup,
    board: &Board,
    base: Option<&BranchName>,
    standstill: Option<&Standstill>,
) -> Result<Vec<QueuedStatus>, PortError> {
    let queued = candidates(board);
    if queued.is_empty() {
        return Ok(Vec::new());
    }
    let mut missing = None;
    let remote = last_seen(ports, setup, board, base, None)?;
    let facts = RoundFacts::read(ports, board, &remote, base)?;
    let mut statuses = Vec::new();
    // As a pass would: what it starts takes a slot from those after it.
    let mut rehearsed = Vec::new();
    for task in queued {
        let judged = facts.judge_after(&rehearsed, ports, setup, task)?;
        let mut held_back = None;
        if let (Verdict::Launch, Some(lane)) = (judged.evaluation.verdict(), judged.lane) {
            let missing = missing.get_or_insert_with(|| from_here::missing(ports, setup));
            held_back = standstill
                .map(|found| found.text.clone())
                .or_else(|| from_here::held_back(setup, lane, missing));
            if held_back.is_none() {
                rehearsed.push(Rehearsed { task: task.id.clone(), lane });
            }
        }
        statuses.push(QueuedStatus {
            id: task.id.clone(),
            title: task.title.clone(),
            verdict: judged.evaluation.printed(setup.config.language),
            held_back,
        });
    }
    Ok(statuses)
}

fn running_status(ports: &Ports<'_>, record: &Record) -> Result<RunningStatus, PortError> {
    let supervised = matches!(ports.store.try_task_lock(&record.task_id)?, TryLock::Busy(_));
    let started = OffsetDateTime::parse(&record.started_at, &Rfc3339).ok();
    let now = ports.clock.beat();
    let age = record.beat.as_ref().and_then(|beat| awake_between(beat, &now));
    let dir = ports.store.attempt_dir(&record.task_id, record.attempt);
    let mut summary = StreamSummary::default();
    let stream = dir.join(AttemptFile::Stream.file_name());
    // Before the worker runs there is no stream: then there are no figures.
    if let Err(error) = ports.agent.read_stream(&stream, 0, &mut summary) {
        tracing::debug!(error = error.chain(), "no figures");
    }
    Ok(RunningStatus {
        id: record.task_id.clone(),
        attempt: record.attempt,
        lane: record.lane,
        slot: record.slot.clone(),
        phase: record.phase,
        supervised,
        waiting: record.waiting.clone(),
        elapsed_s: started.map(|started| (ports.clock.now() - started).whole_seconds()),
        beat_age_s: age.map(|age| age.as_secs()),
        turns: summary.assistant_messages,
        cost_usd: summary.result.and_then(|result| result.cost_usd),
    })
}

fn proposal(record: &Record) -> Option<ProposalStatus> {
    let proposal = record.pr.as_ref()?;
    crate::settled::Settled::of(proposal).is_open().then(|| ProposalStatus {
        id: record.task_id.clone(),
        link: proposal.url.clone().unwrap_or_else(|| proposal.branch.to_string()),
        settled: proposal.settled.clone(),
    })
}
