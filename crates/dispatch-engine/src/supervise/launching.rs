//! Prompt, launch and start of the worker (D7, D8).

use dispatch_close::execute::Stop;
use dispatch_close::phrase::Said;
use dispatch_close::plan::{
    ClosePlan, Detail, Disposition, Failure, Frozen, failure_plan, hand_back_plan,
};
use dispatch_core::lane::{LaneChoice, resolve_lane};
use dispatch_core::launch::{
    Account, Launch, LaunchRefusal, LaunchRequest, RefusedBecauseOf, WorkerPlaces, build_launch,
};
use dispatch_core::names::{BlockReason, Outcome, PauseCause, RequeueReason};
use dispatch_core::outcome::spawn_failed;
use dispatch_core::record::Phase;
use dispatch_core::status::Status;
use dispatch_core::task::Task;
use dispatch_core::triage::Lane;
use dispatch_guards::test_command::resolve_test_command;

use super::environment::slot_position;
use super::follow::{self, Worker};
use super::{Attempt, leave, plan_for, prompting, settings};
use crate::ports::{AgentLaunch, AttemptFile, PortError, PrivatePlace};
use crate::setup::confinement_fault;
use crate::surface::{TaskGrants, rules_of, surface_of};

/// Whether the worker runs.
pub(crate) enum Launched {
    /// It does.
    Runs(Worker),
    /// It does not; this follows.
    Failed(ClosePlan),
}

/// Why there is no worker.
pub(super) enum NotLaunched {
    Failure(Failure),
    /// It could not be started: the outcome `spawn-failed`, with the cause.
    Spawn(PortError),
    Stop(Stop),
}

impl From<Stop> for NotLaunched {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

impl From<PortError> for NotLaunched {
    fn from(error: PortError) -> Self {
        let cause = error.pause.unwrap_or(PauseCause::LaunchRefused);
        Self::requeue(RequeueReason::Paused(cause), error.chain())
    }
}

impl From<LaunchRefusal> for NotLaunched {
    fn from(refusal: LaunchRefusal) -> Self {
        match refusal.because_of {
            RefusedBecauseOf::Lane(cause) => {
                Self::requeue(RequeueReason::Paused(cause), refusal.why)
            }
            RefusedBecauseOf::Task => Self::Failure(Failure {
                step: None,
                disposition: Disposition::Block(BlockReason::LaunchRefused),
                detail: Detail::Error(refusal.why),
            }),
        }
    }
}

impl NotLaunched {
    pub(super) fn requeue(reason: RequeueReason, why: impl Into<Detail>) -> Self {
        Self::Failure(Failure::requeue(None, reason, why))
    }
}

/// Launches the worker; whatever keeps it from starting is a close.
pub(crate) fn launch(attempt: &mut Attempt<'_>) -> Result<Launched, Stop> {
    match try_launch(attempt) {
        Ok(worker) => Ok(Launched::Runs(worker)),
        Err(NotLaunched::Failure(failure)) => {
            attempt.note(&format!("not launched: {failure}"));
            Ok(Launched::Failed(hand_back_plan(failure)))
        }
        Err(NotLaunched::Spawn(error)) => {
            let ended = spawn_failed(&error.chain());
            follow::keep(attempt, &ended);
            let plan = plan_for(attempt, Outcome::SpawnFailed, Detail::Error(ended.text));
            // It may have run for an instant: what it left is looked at like any other work.
            Ok(Launched::Failed(match plan.failure {
                Some(failure) => failure_plan(failure, Frozen::NotYet),
                None => plan,
            }))
        }
        Err(NotLaunched::Stop(stop)) => Err(stop),
    }
}

fn try_launch(attempt: &mut Attempt<'_>) -> Result<Worker, NotLaunched> {
    let ports = attempt.ports;
    let fault =
        confinement_fault(&attempt.hand.config, attempt.record.lane, attempt.context.confined);
    if let Some(text) = fault {
        let reason = RequeueReason::Paused(PauseCause::ConfinementMissing);
        return Err(NotLaunched::requeue(reason, text));
    }
    let task = task(attempt)?;
    attempt.remember(&task);
    let place = attempt.fresh_folders()?;
    attempt.save_state()?;
    let mailbox = ports.agent.mailbox(&place)?;
    let launch = prepared_launch(attempt, &task, &place)?;
    attempt.state.handed_out = Some(launch.handed_out());
    let mut record = launch.record();
    // W3.3: what is in force is said even where that is nothing.
    record["confinement"] = if attempt.context.confined { "in force" } else { "off" }.into();
    let record = serde_json::to_vec_pretty(&record)
        .map_err(|source| PortError::new("write `launch.json`", source))?;
    attempt.write(AttemptFile::Launch, &record)?;

    // The phase is entered first: a worker whose supervisor dies before it wrote the process down is found by its
    // marker.
    attempt.enter(Phase::Running)?;
    let dir = ports.store.attempt_dir(attempt.id(), attempt.number());
    let running = ports
        .agent
        .launch(&AgentLaunch {
            argv: launch.argv,
            env: launch.environment.list(),
            dir: launch.cwd,
            stdin: launch.stdin,
            stdout: dir.join(AttemptFile::Stream.file_name()),
            stderr: dir.join(AttemptFile::WorkerStderr.file_name()),
        })
        .map_err(NotLaunched::Spawn)?;
    attempt.record.worker = Some(running.mark());
    attempt.write_record().map_err(|error| leave(&error))?;
    attempt.note(&format!("the worker runs as process {}", running.mark().pid));
    Ok(Worker {
        running,
        mailbox,
        surface: launch.expected,
        timeout: launch.limits.timeout,
        stall: launch.limits.stall,
    })
}

/// The task as it is now; it must still be the one that the guards judged.
fn task(attempt: &Attempt<'_>) -> Result<Task, NotLaunched> {
    let read = attempt.ports.board.task(attempt.id());
    let task =
        read.map_err(|error| NotLaunched::requeue(RequeueReason::BoardUnreadable, error.chain()))?;
    let taken = |why| NotLaunched::Failure(Failure::taken_away(None, why));
    let task = task.ok_or_else(|| taken(Said::TaskGone.phrase(&[])))?;
    if task.status != Status::InProgress {
        return Err(taken(Said::StatusSet.phrase(&[("status", &task.status)])));
    }
    let edited = |said: Said| NotLaunched::requeue(RequeueReason::TaskEdited, said.phrase(&[]));
    let whole = attempt.hand.config.whole_test_command.as_deref();
    let command = task.test_command.given().or(whole).and_then(|text| {
        resolve_test_command(text, &attempt.policies.test_shapes).ok().map(|command| command.text())
    });
    if attempt.hand.test_command != command {
        return Err(edited(Said::TestCommandEdited));
    }
    if task.acceptance.is_empty() {
        return Err(edited(Said::CriteriaGone));
    }
    if resolve_lane(&task, &attempt.hand.config).lane() != Some(attempt.record.lane) {
        return Err(edited(Said::TriageEdited));
    }
    Ok(task)
}

fn prepared_launch(
    attempt: &mut Attempt<'_>,
    task: &Task,
    place: &PrivatePlace,
) -> Result<Launch, NotLaunched> {
    let rules = {
        let loaded = settings::settle(attempt, place)?;
        let test_rule = test_rule(attempt)?;
        let grants = TaskGrants {
            id: attempt.id(),
            worker_edit: &attempt.context.worker_edit,
            test_rule,
            slots_root: &attempt.hand.roots.slots_root,
            agent_home: &place.configuration,
        };
        let lane = attempt.record.lane;
        let surface = surface_of(lane, &attempt.hand.settings, &grants, &loaded);
        rules_of(lane, &attempt.hand.settings, &surface)
    };
    let texts = prompting::texts(attempt, task).map_err(NotLaunched::Failure)?;
    attempt.write(AttemptFile::Prompt, texts.prompt.as_bytes())?;
    attempt.write(AttemptFile::SystemPrompt, texts.system.as_bytes())?;
    let dir = attempt.ports.store.attempt_dir(attempt.id(), attempt.number());
    let slot = attempt.slot().path;
    let prompt = dir.join(AttemptFile::Prompt.file_name());
    let system_prompt = dir.join(AttemptFile::SystemPrompt.file_name());
    let request = LaunchRequest {
        id: attempt.id(),
        lane: attempt.record.lane,
        model: &model(attempt, task)?,
        config: &attempt.hand.config,
        settings: &attempt.hand.settings,
        rules: &rules,
        places: WorkerPlaces {
            slot: &slot,
            board_root: &attempt.hand.roots.board_root,
            home: &place.home,
            temporary: &place.temporary,
            configuration: &place.configuration,
            mailbox: &place.mailbox,
            caches: None,
            prompt: &prompt,
            system_prompt: &system_prompt,
        },
        slot: slot_position(attempt),
        marker: &attempt.record.token,
        person: &attempt.context.environment,
    };
    let launch = build_launch(&request)?;
    // It would start, say that it is not logged in, and end.
    if let Account::MissingVariable(name) = &launch.account {
        let reason = RequeueReason::Paused(PauseCause::LoginExpired);
        let why = format!(
            "the variable `{name}`, which `agent.credential` names, is not set where the dispatcher runs"
        );
        return Err(NotLaunched::requeue(reason, why));
    }
    Ok(launch)
}

fn model(attempt: &Attempt<'_>, task: &Task) -> Result<String, NotLaunched> {
    match resolve_lane(task, &attempt.hand.config) {
        LaneChoice::Frontier { model } => Ok(model),
        LaneChoice::Local => attempt.hand.settings.model.clone().ok_or_else(|| {
            let why = format!("the settings of lane {} name no model", Lane::Local);
            NotLaunched::requeue(RequeueReason::Paused(PauseCause::LaunchRefused), why)
        }),
        LaneChoice::Refused(reason) => Err(NotLaunched::Failure(Failure {
            step: None,
            disposition: Disposition::Block(reason),
            detail: Detail::Nothing,
        })),
    }
}

fn test_rule(attempt: &Attempt<'_>) -> Result<Option<String>, NotLaunched> {
    let Some(text) = &attempt.hand.test_command else { return Ok(None) };
    let command = resolve_test_command(text, &attempt.policies.test_shapes).map_err(|refusal| {
        PortError::new(format!("read the test command `{text}`"), refusal.to_string())
    })?;
    Ok(Some(command.rule()))
}
