//! The supervisor: owns one attempt from claim to end, also after a crash (D9).

mod abandon;
mod attempt;
mod broker;
mod environment;
mod follow;
mod launching;
mod outcome;
mod prepare;
mod prompting;
mod provision;
mod recover;
mod settings;

use camino::Utf8PathBuf;
use dispatch_close::execute::{CloseEnd, CloseRun, Stop, execute};
use dispatch_close::plan::{CloseFacts, ClosePlan, Detail, plan_close};
use dispatch_core::id::TaskId;
use dispatch_core::names::Outcome;
use dispatch_core::triage::Lane;

pub use self::attempt::Environment;
pub(crate) use self::attempt::{Asked, Attempt, Ran};
pub(crate) use self::environment::command_environment;
pub(crate) use self::outcome::{tally, write_outcome};
pub(crate) use self::provision::{ProvisionEnd, Where, provision};
use crate::close::EngineSteps;
use crate::hand_over::HandOverError;
use crate::ports::{PortError, Ports, TaskLock};

/// What a supervisor knows of the process it runs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// The environment of the person who set it up (D7.6).
    pub environment: Environment,
    /// The `worker-edit` program, absolute and outside every slot.
    pub worker_edit: Utf8PathBuf,
    /// Whether workers are confined by the kernel (W3.3).
    pub confined: bool,
}

/// Whether an attempt begins or goes on after a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It was just claimed.
    Begin,
    /// Its supervisor is gone (M1 step 2).
    Recover,
}

/// How a supervisor's work ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The attempt ended.
    Ended {
        /// What became of it: `success` or the reason.
        reason: String,
        /// Whether a pass follows (D9.8).
        drain: Drain,
    },
    /// It stopped in the middle; the phase says where to go on. No pass follows at once: it would only start the
    /// next supervisor into the same trouble.
    Left {
        /// The reason, in words.
        why: String,
    },
    /// The attempt is somebody else's; nothing was touched (D9.7).
    NotOurs,
}

/// Whether a pass follows the end of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drain {
    /// It does.
    Pass,
    /// We were shut down: a pass would start what was just stopped (D9.9).
    Nothing,
}

/// Supervises the claimed attempt of a task to its end. Nothing fails upward: whatever happens ends in an outcome
/// and a close, or in a phase from which a recovery supervisor goes on (D9.6).
pub fn supervise(
    ports: Ports<'_>,
    context: &Context,
    id: &TaskId,
    lock: Box<dyn TaskLock>,
    mode: Mode,
) -> End {
    let mut attempt = match Attempt::take_over(ports, context, id) {
        Ok(attempt) => attempt,
        Err(HandOverError::Unusable(error)) => {
            let end = abandon::abandon(&ports, id, &error);
            drop(lock);
            return end;
        }
        Err(HandOverError::Port(error)) => return End::Left { why: error.chain() },
    };
    let run = match mode {
        Mode::Begin => work(&mut attempt),
        Mode::Recover => recover::resume(&mut attempt),
    };
    match run {
        Ok(Some(mut run)) => close(attempt, &mut run, lock),
        Ok(None) => {
            End::Ended { reason: "nothing was left to do".to_owned(), drain: drain(&ports) }
        }
        Err(stop) => stopped(&attempt, &stop),
    }
}

/// Prepares, launches, follows and classifies; gives the close to carry out.
fn work(attempt: &mut Attempt<'_>) -> Result<Option<CloseRun>, Stop> {
    let plan = match prepare::prepare(attempt)? {
        prepare::Ready::Slot => match launching::launch(attempt)? {
            launching::Launched::Runs(worker) => follow::follow(attempt, worker)?,
            launching::Launched::Failed(plan) => plan,
        },
        prepare::Ready::Not(plan) => plan,
    };
    Ok(Some(CloseRun::new(plan)))
}

/// Plans the close of a worker that ended (D10).
pub(crate) fn plan_for(attempt: &Attempt<'_>, outcome: Outcome, detail: Detail) -> ClosePlan {
    let config = &attempt.hand.config;
    let reviewed =
        Lane::ALL.iter().copied().filter(|lane| config.reviewer_of(*lane).is_some()).collect();
    let facts = CloseFacts {
        reviewed,
        generated: !config.generated.is_empty(),
        cancel_to: attempt.state.cancel_to.clone(),
    };
    plan_close(outcome, detail, attempt.record.lane, &facts)
}

fn close(mut attempt: Attempt<'_>, run: &mut CloseRun, lock: Box<dyn TaskLock>) -> End {
    let mut steps = EngineSteps::new(&mut attempt, lock);
    let end = execute(run, &mut steps);
    let end = match end {
        CloseEnd::Complete => steps.finish(run),
        CloseEnd::Left { step, why } => Err(match why {
            Stop::NotOurs => Stop::NotOurs,
            Stop::Leave(why) => Stop::Leave(format!("{step}: {why}")),
        }),
    };
    match end {
        Ok(()) => {
            let reason = run.failure().map_or("success", |failure| failure.disposition.reason());
            End::Ended { reason: reason.to_owned(), drain: drain(&attempt.ports) }
        }
        Err(stop) => stopped(&attempt, &stop),
    }
}

fn drain(ports: &Ports<'_>) -> Drain {
    if ports.commands.asked_to_end() { Drain::Nothing } else { Drain::Pass }
}

fn stopped(attempt: &Attempt<'_>, stop: &Stop) -> End {
    match stop {
        Stop::NotOurs => {
            tracing::warn!(task = %attempt.id(), "the attempt is somebody else's now; nothing more is touched");
            End::NotOurs
        }
        Stop::Leave(why) => {
            attempt.note(&format!("left in phase {}: {why}", attempt.record.phase));
            End::Left { why: why.clone() }
        }
    }
}

/// An error that leaves the phase as it is: a recovery supervisor tries again.
pub(crate) fn leave(error: &PortError) -> Stop {
    Stop::Leave(error.chain())
}
