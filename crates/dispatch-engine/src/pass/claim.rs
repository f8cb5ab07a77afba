//! Claiming a slot for a task and handing it over to a supervisor (D6.4).

use dispatch_core::attempt::AttemptNumber;
use dispatch_core::config::LaneSettings;
use dispatch_core::id::TaskId;
use dispatch_core::record::{Phase, Record, Rest, SlotEntry};
use dispatch_core::slot::SlotName;
use dispatch_core::status::Status;
use dispatch_core::triage::Lane;

use crate::hand_over::{HandOver, SeenBranch};
use crate::judge::merged_before;
use crate::ports::{
    PortError, Ports, Recorded, Registry, SlotChange, StatusChange, StatusWrite, TaskLock, TryLock,
};
use crate::settled::is_merged;
use crate::setup::Setup;
use crate::texts::moment;
use crate::undo::{Blame, take_back};

/// What is claimed, with everything that bounds the launch.
pub(super) struct Claim<'a> {
    pub(super) id: &'a TaskId,
    pub(super) lane: Lane,
    pub(super) settings: &'a LaneSettings,
    pub(super) test_command: Option<String>,
    pub(super) base: SeenBranch,
    pub(super) base_made_from: Option<SeenBranch>,
    pub(super) branch: SeenBranch,
    pub(super) counted_before: u32,
}

/// How claiming ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Claimed {
    /// A supervisor has it.
    HandedOver {
        /// The slot.
        slot: SlotName,
        /// The attempt.
        attempt: AttemptNumber,
    },
    /// There is no slot for it now.
    NoSlot,
    /// Somebody else has the task's lock, or its last attempt is not over: who or what.
    Busy(String),
    /// A person moved it meanwhile; none when it left the board.
    Withdrawn(Option<Status>),
}

/// Claims a slot for a task and starts its supervisor. A failure leaves the task `Queued`.
pub(super) fn claim(
    ports: &Ports<'_>,
    setup: &Setup,
    claim: &Claim<'_>,
) -> Result<Claimed, PortError> {
    let lock = match ports.store.try_task_lock(claim.id)? {
        TryLock::Taken(lock) => lock,
        TryLock::Busy(holder) => return Ok(Claimed::Busy(format!("its lock is held by {holder}"))),
    };
    let before = ports.store.record(claim.id)?;
    if let Some(before) = before.as_ref().filter(|before| before.phase != Phase::Ended) {
        let text = format!("attempt {} is in phase {}", before.attempt, before.phase);
        return Ok(Claimed::Busy(text));
    }
    let registry = ports.store.registry()?;
    let holds =
        |entry: &&SlotEntry| entry.held.is_some() && entry.task_id.as_ref() == Some(claim.id);
    if let Some(held) = registry.slots.iter().find(holds) {
        let text = format!(
            "slot {} still holds its earlier work, which could not be saved yet",
            held.name
        );
        return Ok(Claimed::Busy(text));
    }
    let free = Occupied::read(ports, &registry)?.free(&registry, claim.id);
    let Some(slot) = free.into_iter().next() else { return Ok(Claimed::NoSlot) };
    let above = before.as_ref().map(|before| before.last_attempt);
    let attempt = ports.store.allocate_attempt(claim.id, above)?;
    let token = ports.store.random_token()?;
    // A request that nobody carried out was about an attempt that is over.
    ports.store.clear_request(claim.id)?;
    hand_over(setup, claim, attempt, &token).write(ports.store)?;
    let record = new_record(ports, claim, before, &slot, attempt, token)?;
    ports.store.write_record(&record)?;
    start(ports, lock, record)
}

/// The steps that are taken back when one of them fails.
fn start(ports: &Ports<'_>, lock: Box<dyn TaskLock>, record: Record) -> Result<Claimed, PortError> {
    let Record { task_id: id, slot, attempt, lane, token, .. } = record.clone();
    let bind = SlotChange::Bind { lane, task: id.clone(), attempt };
    let change =
        StatusChange { expected: vec![Status::Queued], to: Status::InProgress, comment: None };
    let bound = ports.store.change_slot(&slot, &bind);
    let end = match bound.and_then(|_| ports.board.set_status(&id, &change)) {
        Ok(StatusWrite::Written) => None,
        Ok(StatusWrite::Mismatch { found }) => Some(Ok(Claimed::Withdrawn(Some(found)))),
        Ok(StatusWrite::Gone) => Some(Ok(Claimed::Withdrawn(None))),
        Err(error) => Some(Err(error)),
    };
    if let Some(end) = end {
        take_back(ports, lock, record, Blame::Nothing)?;
        return end;
    }
    match ports.commands.start_supervisor(&id, lock, false) {
        Ok(_) => Ok(Claimed::HandedOver { slot, attempt }),
        Err(error) => {
            // The lock went with the attempt to start it. One that is held means that it did start after all.
            if let TryLock::Taken(lock) = ports.store.try_task_lock(&id)?
                && let Some(record) = ports.store.record(&id)?
                && record.token == token
                && record.phase == Phase::Claimed
            {
                take_back(ports, lock, record, Blame::Nothing)?;
            }
            Err(error)
        }
    }
}

/// Who is in a slot, whatever the registry says: an attempt that has not finished with it (D6.1).
pub(crate) struct Occupied {
    tasks: Vec<(TaskId, SlotName)>,
    /// A supervisor is at work whose record cannot be read: its slot may be any.
    unknown: bool,
}

impl Occupied {
    /// Reads records and locks of this moment.
    pub(crate) fn read(ports: &Ports<'_>, registry: &Registry) -> Result<Self, PortError> {
        let at_work = |id: &TaskId| {
            Ok::<_, PortError>(matches!(ports.store.try_task_lock(id)?, TryLock::Busy(_)))
        };
        let mut occupied = Self { tasks: Vec::new(), unknown: false };
        for recorded in ports.store.records()? {
            match recorded {
                Recorded::Read(record) => {
                    if record.phase != Phase::Ended || at_work(&record.task_id)? {
                        occupied.tasks.push((record.task_id, record.slot));
                    }
                }
                Recorded::Unreadable { id, .. } => {
                    let bound =
                        registry.slots.iter().any(|entry| entry.task_id.as_ref() == Some(&id));
                    // Only a supervisor at work may be in a slot that the registry does not call its own.
                    occupied.unknown |= !bound && at_work(&id)?;
                }
            }
        }
        Ok(occupied)
    }

    /// The slots that are free for a task, in configured order.
    pub(crate) fn free(&self, registry: &Registry, id: &TaskId) -> Vec<SlotName> {
        if self.unknown {
            return Vec::new();
        }
        let is_free = |entry: &&SlotEntry| {
            let bound = entry.task_id.as_ref().is_some_and(|bound| bound != id);
            let in_use = self.tasks.iter().any(|(task, slot)| task != id && *slot == entry.name);
            !bound && !in_use && entry.held.is_none() && registry.configured.contains(&entry.name)
        };
        registry.slots.iter().filter(is_free).map(|entry| entry.name.clone()).collect()
    }
}

fn hand_over(setup: &Setup, claim: &Claim<'_>, attempt: AttemptNumber, token: &str) -> HandOver {
    HandOver {
        task_id: claim.id.clone(),
        attempt,
        token: token.to_owned(),
        lane: claim.lane,
        config: setup.config.clone(),
        settings: claim.settings.clone(),
        agent_settings: setup.agent_settings.clone(),
        texts: setup.texts.clone(),
        roots: setup.roots.clone(),
        test_command: claim.test_command.clone(),
        base: claim.base.clone(),
        base_made_from: claim.base_made_from.clone(),
        branch: claim.branch.clone(),
        counted_before: claim.counted_before,
    }
}

/// The record of the new attempt, with what the task's earlier attempts left.
fn new_record(
    ports: &Ports<'_>,
    claim: &Claim<'_>,
    before: Option<Record>,
    slot: &SlotName,
    attempt: AttemptNumber,
    token: String,
) -> Result<Record, PortError> {
    let counts = ports.store.attempt_counts(claim.id)?;
    let beat = ports.clock.beat();
    let now = moment(ports.clock.now());
    // What was merged is history, not a start (S5).
    let earlier = before.as_ref().filter(|before| !is_merged(before));
    Ok(Record {
        task_id: claim.id.clone(),
        attempt,
        token,
        slot: slot.clone(),
        lane: claim.lane,
        phase: Phase::Claimed,
        supervisor: None,
        worker: None,
        beat: Some(beat),
        heartbeat_at: Some(now.clone()),
        started_at: now,
        base_branch: Some(claim.base.name.clone()),
        base: None,
        start: None,
        branch: claim.branch.name.clone(),
        saved: earlier.and_then(|before| before.saved.clone()),
        pr: earlier.and_then(|before| before.pr.clone()),
        last_attempt: attempt,
        counts,
        lost_in_a_row: before.as_ref().map_or(0, |before| before.lost_in_a_row),
        merged_before: merged_before(before.as_ref()),
        covered_children: before.as_ref().and_then(|before| before.covered_children.clone()),
        owed: before.as_ref().and_then(|before| before.owed.clone()),
        waiting: None,
        rest: before.map_or_else(Rest::new, |before| before.rest),
    })
}
