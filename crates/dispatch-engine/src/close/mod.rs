//! The steps of a close, over the ports (C1–C10).

pub(crate) mod board;
mod checks;
mod generate;
mod hand_back;
mod propose;
mod release;
mod review;
mod review_parts;
mod save;
mod scope;

use dispatch_close::execute::{CloseRun, CloseSteps, Fault, Patience, StepEnd, Stop};
use dispatch_close::plan::{Disposition, Failure};
use dispatch_core::message::Message;
use dispatch_core::names::{CloseStep, PauseCause, RequeueReason};
use dispatch_core::record::Phase;
use std::fmt;
use std::time::Duration;

use crate::governor;
use crate::ports::{PortError, SlotChange, SlotPlace, TaskLock};
use crate::supervise::{Asked, Attempt};

/// How long a machine's fault is waited out in place (C1.5).
const PATIENCE_MS: u64 = 60 * 60 * 1000;
const FIRST_WAIT: Duration = Duration::from_secs(5);
const LONGEST_WAIT: Duration = Duration::from_mins(5);
/// A wish for a pass shortens a wait to this: passes may come one after the other, and a forge counts requests.
const WAIT_BESIDE_PASSES: Duration = Duration::from_secs(30);

/// Why a step did not pass.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The task is the cause.
    Failed(Failure),
    /// The machine or an account is.
    Fault(Fault),
    /// A port failed; whether that is a fault is told by its cause.
    Port(PortError),
    /// Nothing may be touched any more.
    Stop(Stop),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(failure) => failure.fmt(f),
            Self::Fault(fault) => f.write_str(&fault.why),
            Self::Port(error) => f.write_str(&error.chain()),
            Self::Stop(Stop::NotOurs) => f.write_str("the attempt is somebody else's now"),
            Self::Stop(Stop::Leave(why)) => f.write_str(why),
        }
    }
}

impl From<PortError> for Trouble {
    fn from(error: PortError) -> Self {
        Self::Port(error)
    }
}

impl From<Stop> for Trouble {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// What a step has to say, or why it did not pass.
pub(crate) type Step = Result<Option<String>, Trouble>;

/// The steps of one attempt's close.
pub(crate) struct EngineSteps<'s, 'a> {
    attempt: &'s mut Attempt<'a>,
    lock: Option<Box<dyn TaskLock>>,
    fault_since_ms: Option<u64>,
}

impl<'s, 'a> EngineSteps<'s, 'a> {
    pub(crate) fn new(attempt: &'s mut Attempt<'a>, lock: Box<dyn TaskLock>) -> Self {
        Self { attempt, lock: Some(lock), fault_since_ms: None }
    }

    /// Ends what the plan left open (a held slot keeps its record until here) and writes the whole outcome.
    pub(crate) fn finish(&mut self, run: &CloseRun) -> Result<(), Stop> {
        let ended = release::end(self.attempt, run);
        drop(self.lock.take());
        ended
    }
}

impl CloseSteps for EngineSteps<'_, '_> {
    fn journal(&mut self, step: CloseStep, run: &CloseRun) -> Result<(), Stop> {
        self.fault_since_ms = None;
        self.attempt.state.close = Some(run.clone());
        if self.lock.is_none() {
            // The slot is released and the task is nobody's: a new claim may write its files by now.
            return Ok(());
        }
        if self.attempt.record.phase == Phase::Ended && step != CloseStep::Freeze {
            // The record ended with the slot; what follows is the next sweep's too.
            return self.attempt.save_state();
        }
        self.attempt.enter(Phase::Closing(step))
    }

    fn run(&mut self, step: CloseStep, run: &CloseRun) -> StepEnd {
        self.attempt.note(&format!("step {step}"));
        let attempt = &mut *self.attempt;
        let end = match step {
            CloseStep::BoardCheck => board::check(attempt),
            CloseStep::Format => checks::format(attempt),
            CloseStep::GeneratedFiles => generate::generated_files(attempt),
            CloseStep::Freeze => save::freeze(attempt),
            CloseStep::ScopeCheck => scope::check(attempt),
            CloseStep::Checks => checks::check(attempt),
            CloseStep::Reviewer => review::review(attempt),
            CloseStep::Acceptance => board::acceptance(attempt),
            CloseStep::OpenPr => propose::open_pr(attempt),
            CloseStep::SaveWork => save::save_work(attempt, run),
            CloseStep::Block => hand_back::block(attempt, run),
            CloseStep::Requeue => hand_back::requeue(attempt, run),
            CloseStep::ReleaseSlot => {
                let released = release::release_slot(attempt, run);
                if released.is_ok() {
                    drop(self.lock.take());
                }
                released
            }
            CloseStep::RecomputeParents => Ok(Some("left to the pass that follows".to_owned())),
            CloseStep::Drain => Ok(None),
        };
        let end = step_end(step, end);
        match &end {
            StepEnd::Passed(None) => self.attempt.note(&format!("{step} passed")),
            StepEnd::Passed(Some(note)) => self.attempt.note(&format!("{step} passed: {note}")),
            StepEnd::Failed(failure) => {
                self.attempt.note(&format!("{step} failed: {failure}"));
            }
            StepEnd::Fault(fault) => self.attempt.note(&format!("{step}: {}", fault.why)),
            StepEnd::Stop(why) => tracing::warn!(?why, "the close stops"),
        }
        end
    }

    fn wait_out(&mut self, step: CloseStep, fault: &Fault, tries: u32) -> Patience {
        let now = self.attempt.ports.clock.beat().awake_ms;
        let since = *self.fault_since_ms.get_or_insert(now);
        let given_up = now.saturating_sub(since) >= PATIENCE_MS;
        if given_up && !hands_over(step) {
            return Patience::GiveUp(Disposition::Requeue(requeue_reason(fault)));
        }
        if given_up {
            return Patience::Stop(Stop::Leave(fault.why.clone()));
        }
        let wait = FIRST_WAIT * 2u32.pow(tries.saturating_sub(1).min(10));
        let asked = self.attempt.wait_out(&fault.why, WAIT_BESIDE_PASSES, wait.min(LONGEST_WAIT));
        if let Err(stop) = self.attempt.verify() {
            return Patience::Stop(stop);
        }
        match asked {
            None => Patience::Again,
            // A task that cannot be handed over stays in its phase; recovery follows.
            Some(_) if hands_over(step) => Patience::Stop(Stop::Leave(fault.why.clone())),
            Some(Asked::Interrupt) => {
                Patience::GiveUp(Disposition::Requeue(RequeueReason::Interrupted))
            }
            Some(Asked::Cancel(to)) => Patience::GiveUp(Disposition::Leave { to }),
        }
    }

    fn hold(&mut self, cause: &str) -> Result<(), Stop> {
        let slot = self.attempt.record.slot.clone();
        let task = self.attempt.id().clone();
        let change = SlotChange::Hold { task: task.clone(), cause: cause.to_owned() };
        let before = self.attempt.ports.store.change_slot(&slot, &change);
        let before = before.map_err(|error| Stop::Leave(error.chain()))?;
        if before.task_id != Some(task) {
            self.attempt.note(&format!("slot {slot} is not bound to this task: {cause}"));
            return Ok(());
        }
        self.attempt.note(&format!("slot {slot} is held: {cause}"));
        let title = Message::NotifyHeldTitle.render(
            self.attempt.hand.config.language,
            &[("id", self.attempt.id()), ("slot", &slot)],
        );
        self.attempt.ports.notifier.notify(&title, cause);
        Ok(())
    }
}

/// Whether the step is one that a task waits for before anything else may happen to it.
const fn hands_over(step: CloseStep) -> bool {
    matches!(step, CloseStep::Block | CloseStep::Requeue | CloseStep::ReleaseSlot)
}

fn requeue_reason(fault: &Fault) -> RequeueReason {
    match fault.cause {
        Some(cause) => RequeueReason::Paused(cause),
        None => RequeueReason::BoardUnreadable,
    }
}

fn step_end(step: CloseStep, end: Step) -> StepEnd {
    match end {
        Ok(note) => StepEnd::Passed(note),
        Err(Trouble::Failed(failure)) => StepEnd::Failed(failure),
        Err(Trouble::Fault(fault)) => StepEnd::Fault(fault),
        Err(Trouble::Stop(why)) => StepEnd::Stop(why),
        Err(Trouble::Port(error)) => match error.pause {
            Some(cause) => StepEnd::Fault(Fault { cause: Some(cause), why: error.chain() }),
            None => StepEnd::Failed(Failure::inside(step, error.chain())),
        },
    }
}

/// The slot of an attempt, which must be bound to it: no other directory is ever touched instead (C1.3).
pub(crate) fn bound_slot(attempt: &Attempt<'_>, step: CloseStep) -> Result<SlotPlace, Trouble> {
    let registry = attempt.ports.store.registry()?;
    let name = &attempt.record.slot;
    let bound = registry
        .slots
        .iter()
        .find(|entry| entry.name == *name)
        .is_some_and(|entry| entry.task_id.as_ref() == Some(attempt.id()));
    if bound {
        return Ok(attempt.slot());
    }
    let why = "no slot is assigned: there is no directory to verify or save";
    Err(Trouble::Failed(Failure::inside(step, why)))
}

/// A fault met where a lane should pause for it.
pub(crate) fn pause_lane(attempt: &Attempt<'_>, cause: PauseCause, why: &str) {
    let reset = attempt.state.limit_resets_at.as_deref().and_then(|text| {
        time::OffsetDateTime::parse(text, &time::format_description::well_known::Rfc3339).ok()
    });
    let paused = governor::lane_fault(
        &attempt.ports,
        attempt.hand.config.language,
        attempt.record.lane,
        cause,
        why,
        reset,
    );
    if let Err(error) = paused {
        attempt.note(&format!("the lane could not be paused: {}", error.chain()));
    }
}
