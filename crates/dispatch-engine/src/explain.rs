//! What `dispatch explain` shows (K1), as values: every guard's verdict, and the exact launch.

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_core::attempt::AttemptNumber;
use dispatch_core::config::Language;
use dispatch_core::id::TaskId;
use dispatch_core::lane::{LaneChoice, resolve_lane};
use dispatch_core::launch::{LaunchRequest, SlotPosition, WorkerPlaces, build_launch};
use dispatch_core::status::Status;
use dispatch_core::task::Task;
use dispatch_core::triage::{Answer, Lane};
use dispatch_guards::claims::{ClaimCheck, ClaimFinding};
use dispatch_guards::guards::{
    GuardSnapshot, PolicySnapshot, PrintedVerdict, SurfaceSnapshot, lint_board,
};
use dispatch_guards::permission::{Denied, LaneRules};
use dispatch_guards::verdict::Verdict;
use serde::Serialize;
use thiserror::Error;

use crate::base_branch;
use crate::from_here;
use crate::hand_over::SeenBranch;
use crate::judge::{Judged, RoundFacts, last_seen};
use crate::ports::{AttemptFile, PortError, Ports, TryLock};
use crate::setup::{Setup, path_lists, policy_places};
use crate::stage::Stage;
use crate::standstill::{self, Standstill};
use crate::supervise::Context;
use crate::surface::{TaskGrants, lane_rules, rules_of, surface_of, worker_edit_rule};

/// Where the private folders of an attempt would be: they are made when it starts.
const PRIVATE: &str = "/private-to-the-attempt";

fn configuration() -> Utf8PathBuf {
    Utf8Path::new(PRIVATE).join("configuration")
}

/// Everything that decides about one task.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// The task.
    pub id: TaskId,
    /// Its title.
    pub title: String,
    /// Its status.
    pub status: Status,
    /// What keeps every pass from taking tasks.
    pub standstill: Option<Standstill>,
    /// How far it has come, and what it waits for.
    pub stage: Stage,
    /// The verdict that counts.
    pub verdict: PrintedVerdict,
    /// Why no pass that was made here and now would start it, although the guards would.
    pub held_back: Option<String>,
    /// Every guard's verdict, in order.
    pub guards: Vec<PrintedVerdict>,
    /// The task's own branch, and the one its work would be proposed for, as the last pass saw the remote.
    pub branches: ExplainedBranches,
    /// The launch, or why there would be none.
    pub launch: ExplainedLaunch,
    /// Claims of this task that overlap those of another one that is not done, with nothing that orders the two; none
    /// where the board is incomplete.
    pub claims: Option<Vec<ClaimFinding<TaskId>>>,
    /// What the guards looked at, to be evaluated again by `inspect guards`.
    pub input: GuardSnapshot,
}

/// The branches of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedBranches {
    /// Its own.
    pub own: SeenBranch,
    /// The one its work would be proposed for.
    pub base: Option<SeenBranch>,
}

/// The launch of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum ExplainedLaunch {
    /// The agent would be started so.
    Would {
        /// The lane.
        lane: Lane,
        /// The arguments after the program's name.
        argv: Vec<String>,
        /// The working directory.
        cwd: String,
        /// The names of the variables it would get.
        environment: Vec<String>,
        /// Every denied rule, and why.
        denied: Vec<Denied>,
    },
    /// It would not.
    Refused {
        /// The reason, in words.
        why: String,
    },
}

/// Why nothing can be explained.
#[derive(Debug, Error)]
pub enum ExplainError {
    /// The board does not hold the task.
    #[error("there is no task {id} on the board")]
    NoSuchTask {
        /// The task.
        id: TaskId,
    },
    /// Something could not be read.
    #[error("could not explain {id}")]
    Port {
        /// The task.
        id: TaskId,
        /// What could not be read.
        #[source]
        source: Box<PortError>,
    },
}

/// Explains a task; changes nothing and waits for no network.
pub fn explain(
    ports: &Ports<'_>,
    setup: &Setup,
    context: &Context,
    id: &TaskId,
) -> Result<Explanation, ExplainError> {
    explain_on(ports, setup, context, id, None)
}

/// The same of a task as if its labels gave it `lane`.
pub fn explain_on(
    ports: &Ports<'_>,
    setup: &Setup,
    context: &Context,
    id: &TaskId,
    lane: Option<Lane>,
) -> Result<Explanation, ExplainError> {
    let mut board = ports.board.read();
    if let (Some(lane), Some(task)) = (lane, board.tasks.get_mut(id)) {
        task.lane = Answer::Given(lane);
    }
    let task = board.tasks.get(id).ok_or_else(|| ExplainError::NoSuchTask { id: id.clone() })?;
    let failed = |source| ExplainError::Port { id: id.clone(), source: Box::new(source) };
    let base = base_branch::remembered(ports, setup).map_err(failed)?;
    let standstill = standstill::find(ports, setup, base.as_ref()).map_err(failed)?;
    let remote = last_seen(ports, setup, &board, base.as_ref(), Some(task)).map_err(failed)?;
    let facts = RoundFacts::read(ports, &board, &remote, base.as_ref()).map_err(failed)?;
    let judged = facts.judge(ports, setup, task).map_err(failed)?;
    let record = facts.seen.records.get(id);
    let supervised = matches!(ports.store.try_task_lock(id).map_err(failed)?, TryLock::Busy(_));
    let stage = Stage::of(task, record, supervised);
    let attempt = record.map_or(AttemptNumber::FIRST, |record| record.last_attempt.next());
    // The terminal is English whatever the board is.
    let language = Language::En;
    let (root, siblings) = (setup.config.project_root.as_str(), &setup.policies.siblings);
    let claims = lint_board(&board, root, siblings, ClaimCheck::Advice).map(|found| {
        found.into_iter().filter(|pair| pair.task == *id || pair.other == *id).collect()
    });
    let held_back = match (judged.evaluation.verdict(), judged.lane) {
        (Verdict::Launch, Some(lane)) => {
            from_here::held_back(setup, lane, &from_here::missing(ports, setup))
        }
        (Verdict::Launch | Verdict::Wait(..) | Verdict::Block(..), _) => None,
    };
    Ok(Explanation {
        id: task.id.clone(),
        title: task.title.clone(),
        status: task.status.clone(),
        standstill,
        stage,
        verdict: judged.evaluation.printed(language),
        held_back,
        guards: judged.evaluation.printed_all(language),
        branches: ExplainedBranches {
            own: judged.branches.own.clone(),
            base: judged.branches.base.clone(),
        },
        launch: launch(ports, setup, context, task, &judged, attempt)
            .unwrap_or_else(|why| ExplainedLaunch::Refused { why }),
        claims,
        input: snapshot(setup, context, &board, task, judged),
    })
}

fn launch(
    ports: &Ports<'_>,
    setup: &Setup,
    context: &Context,
    task: &Task,
    judged: &Judged,
    attempt: AttemptNumber,
) -> Result<ExplainedLaunch, String> {
    let choice = resolve_lane(task, &setup.config);
    let lane = choice.lane().ok_or_else(|| "its labels choose no lane".to_owned())?;
    let settings = setup
        .lanes
        .get(&lane)
        .ok_or_else(|| format!("the settings of lane {lane} were not read"))?
        .as_ref()
        .map_err(String::clone)?;
    let model = match choice {
        LaneChoice::Frontier { model } => model,
        LaneChoice::Local => settings.model.clone().unwrap_or_default(),
        LaneChoice::Refused(reason) => return Err(reason.to_string()),
    };
    let grants = TaskGrants {
        id: &task.id,
        worker_edit: &context.worker_edit,
        test_rule: judged
            .test_command
            .as_ref()
            .map(dispatch_guards::test_command::TestCommand::rule),
        slots_root: &setup.roots.slots_root,
        agent_home: &configuration(),
    };
    let loaded = judged.given.loaded.as_deref().map_err(String::clone)?;
    let surface = surface_of(lane, settings, &grants, loaded);
    let rules = rules_of(lane, settings, &surface);
    let name = setup.config.slots.first().ok_or_else(|| "no slot is configured".to_owned())?;
    let slot = setup.roots.slot(name).path;
    let dir = ports.store.attempt_dir(&task.id, attempt);
    let private = Utf8Path::new(PRIVATE);
    let built = build_launch(&LaunchRequest {
        id: &task.id,
        lane,
        model: &model,
        config: &setup.config,
        settings,
        rules: &rules,
        places: WorkerPlaces {
            slot: &slot,
            board_root: &setup.roots.board_root,
            home: &private.join("home"),
            temporary: &private.join("tmp"),
            configuration: &configuration(),
            mailbox: &private.join("mail"),
            caches: None,
            prompt: &dir.join(AttemptFile::Prompt.file_name()),
            system_prompt: &dir.join(AttemptFile::SystemPrompt.file_name()),
        },
        slot: SlotPosition { name, index: 0 },
        marker: "",
        person: &context.environment,
    })
    .map_err(|refusal| refusal.why)?;
    Ok(ExplainedLaunch::Would {
        lane,
        argv: built.argv,
        cwd: built.cwd.to_string(),
        environment: built.environment.list().into_iter().map(|(name, _)| name).collect(),
        denied: surface.denied,
    })
}

fn snapshot(
    setup: &Setup,
    context: &Context,
    board: &dispatch_core::board::Board,
    task: &Task,
    judged: Judged,
) -> GuardSnapshot {
    let lane = judged.lane.unwrap_or(Lane::Local);
    let rules = match setup.lanes.get(&lane) {
        Some(Ok(settings)) => {
            lane_rules(lane, settings, &setup.roots.slots_root, Some(&configuration()))
        }
        Some(Err(_)) | None => LaneRules::default(),
    };
    let (loaded, unreadable) = match judged.given.loaded {
        Ok(loaded) => (loaded, None),
        Err(why) => (Vec::new(), Some(why)),
    };
    GuardSnapshot {
        task: task.clone(),
        role: judged.given.role,
        review_bytes: judged.given.review_bytes,
        attempts: judged.counts,
        board: board.clone(),
        slots: judged.given.slots,
        limits: judged.given.limits,
        policy: PolicySnapshot {
            test_commands: setup.config.test_commands.clone(),
            paths: path_lists(&setup.config),
            places: policy_places(&setup.roots),
            test_siblings: setup.config.paths.test_siblings.clone(),
        },
        surface: SurfaceSnapshot {
            rules,
            loaded,
            unreadable,
            worker_edit: Some(worker_edit_rule(&context.worker_edit, &task.id)),
        },
        remote: judged.given.remote,
        claims: judged.given.busy,
    }
}
