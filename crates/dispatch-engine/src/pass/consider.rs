//! What becomes of each candidate (D3.2).

use std::collections::{BTreeMap, BTreeSet};

use dispatch_close::text::{code, for_comment, one_line};
use dispatch_core::config::Language;
use dispatch_core::names::{BlockReason, PauseCause, WaitReason};
use dispatch_core::status::Status;
use dispatch_core::task::Task;
use dispatch_core::triage::Lane;
use dispatch_guards::test_command::TestCommand;
use dispatch_guards::verdict::{Grounds, Verdict};
use serde_json::json;

use super::claim::{Claim, Claimed, claim};
use super::{Considered, End, Options};
use crate::from_here;
use crate::governor::{self, Gate};
use crate::judge::{Judged, Rehearsed, RoundFacts};
use crate::ports::{PortError, Ports, StatusChange, StatusWrite};
use crate::setup::{Setup, confinement_fault};
use crate::texts::notify_blocked;

dispatch_core::catalogue! {
    /// What a guard's verdict looks like on the board.
    enum PassMessage {
        /// A guard blocks a task.
        Blocked {
            en: "Blocked (`{reason}`): {text}",
            es: "Bloqueada (`{reason}`): {text}",
        },
        /// A guard lets a task wait, and only a person can end that.
        Waits {
            en: "Waits (`{reason}`): {text}",
            es: "Espera (`{reason}`): {text}",
        },
        /// The file of a task would make the board program run something.
        Hostile {
            en: "{problem}. The board program would run that command at the next status change, so do not change this task with it before: look at the file in a text editor, find out who put the command there, and remove it. Then move the task to Queued.",
            es: "{problem}. El programa del tablero ejecutaría esa orden en el próximo cambio de estado, así que no cambie antes esta tarea con él: mire el fichero en un editor de texto, averigüe quién puso la orden y quítela. Después, mueva la tarea a Queued.",
        },
    }
}

/// Under this name the store remembers which wait a person was already told of.
const SAID: &str = "said";

/// Whether the machine can run an attempt of a lane.
enum MachineReady {
    Yes,
    No { cause: PauseCause, text: String },
}

/// Walks the candidates.
pub(super) struct Considering<'a> {
    ports: &'a Ports<'a>,
    setup: &'a Setup,
    facts: &'a RoundFacts<'a>,
    options: &'a Options,
    /// Whether the local model answers; asked at most once a round.
    readiness: Option<Result<(), String>>,
    /// What the lanes miss where this pass runs; asked at most once a round.
    missing: Option<BTreeMap<Lane, Vec<String>>>,
    /// What a rehearsal has given slots to.
    rehearsed: Vec<Rehearsed>,
    pub(super) problems: Vec<String>,
    /// Lanes whose settings were told to be unreadable.
    pub(super) unreadable: BTreeSet<Lane>,
}

/// What became of a task, and the facts for the line of the pass: the terminal is English whatever the board is.
type Decided = (End, String);

/// Why a task is blocked.
struct Told {
    line: String,
    comment: String,
}

impl<'a> Considering<'a> {
    pub(super) fn new(
        ports: &'a Ports<'a>,
        setup: &'a Setup,
        facts: &'a RoundFacts<'a>,
        options: &'a Options,
    ) -> Self {
        Self {
            ports,
            setup,
            facts,
            options,
            readiness: None,
            missing: None,
            rehearsed: Vec::new(),
            problems: Vec::new(),
            unreadable: BTreeSet::new(),
        }
    }

    /// Considers all candidates in order; one that waits or fails never keeps the next from being looked at.
    pub(super) fn all(&mut self, candidates: &[&Task]) -> Vec<Considered> {
        let mut considered = Vec::new();
        let mut dispatched = 0;
        for task in candidates {
            if self.options.max_dispatch.is_some_and(|most| dispatched >= most) {
                break;
            }
            let (end, grounds) = self.one(task).unwrap_or_else(|error| {
                self.pause_for(task.lane.given(), &error);
                (End::Failed, error.chain())
            });
            if matches!(end, End::Dispatched { .. } | End::WouldDispatch) {
                dispatched += 1;
            }
            considered.push(Considered { id: task.id.clone(), end, grounds: one_line(&grounds) });
        }
        considered
    }

    /// Blocks the queued tasks whose own file would make the board program run a command: they are never dispatched
    /// (B2.7). Our writer runs nothing of them, so a person finds on the task what they have to do.
    pub(super) fn hostile(&mut self) -> Vec<Considered> {
        let board = self.facts.seen.board;
        let queued = board.hostile_tasks.values().filter(|task| task.status == Status::Queued);
        let mut considered = Vec::new();
        for task in queued {
            let Some(problem) = board.hostile_file_of(&task.id) else { continue };
            let language = self.setup.config.language;
            let said = |language| {
                let problem = match language {
                    Language::En => problem.to_string(),
                    Language::Es => code(&problem.to_string()),
                };
                PassMessage::Hostile.render(language, &[("problem", &problem)])
            };
            let told = Told { line: said(Language::En), comment: said(language) };
            let (end, grounds) = self
                .block_saying(task, BlockReason::LaunchRefused, told)
                .unwrap_or_else(|error| (End::Failed, error.chain()));
            considered.push(Considered { id: task.id.clone(), end, grounds: one_line(&grounds) });
        }
        considered
    }

    fn one(&mut self, task: &Task) -> Result<Decided, PortError> {
        if let Some(problem) = self.facts.seen.board.hostile_file_of(&task.id) {
            return Ok((End::Waiting { reason: WaitReason::BoardIncomplete }, problem.to_string()));
        }
        let judged = self.facts.judge_after(&self.rehearsed, self.ports, self.setup, task)?;
        match judged.evaluation.verdict() {
            Verdict::Block(reason, grounds) => {
                let language = self.setup.config.language;
                let told = Told {
                    line: grounds.comment(Language::En),
                    comment: grounds.comment(language),
                };
                self.block_saying(task, *reason, told)
            }
            Verdict::Wait(reason, grounds) => self.wait(task, *reason, grounds),
            Verdict::Launch => self.launch(task, &judged),
        }
    }

    fn block_saying(
        &self,
        task: &Task,
        reason: BlockReason,
        Told { line, comment: text }: Told,
    ) -> Result<Decided, PortError> {
        let language = self.setup.config.language;
        if self.options.dry_run {
            return Ok((End::Blocked { reason }, line));
        }
        let comment =
            PassMessage::Blocked.render(language, &[("reason", &reason), ("text", &text)]);
        let change = StatusChange {
            expected: vec![Status::Queued],
            to: Status::Blocked,
            comment: Some(for_comment(&comment)),
        };
        match self.ports.board.set_status(&task.id, &change)? {
            StatusWrite::Written => {
                notify_blocked(self.ports, language, &task.id, reason, &text);
                Ok((End::Blocked { reason }, line))
            }
            StatusWrite::Mismatch { found } => Ok(withdrawn(Some(&found))),
            StatusWrite::Gone => Ok(withdrawn(None)),
        }
    }

    fn wait(
        &mut self,
        task: &Task,
        reason: WaitReason,
        grounds: &Grounds,
    ) -> Result<Decided, PortError> {
        let text = grounds.comment(Language::En);
        match reason {
            // Nothing of it is the task's fault, and nothing goes on by itself.
            WaitReason::SettingsUnreadable => {
                self.unreadable.extend(task.lane.given());
                if !self.problems.contains(&text) {
                    self.problems.push(text.clone());
                }
            }
            WaitReason::ParentBranchMissing | WaitReason::TooManyFaults => {
                self.say_once(task, reason, &grounds.comment(self.setup.config.language))?;
            }
            WaitReason::PermissionConflict => {
                self.pause(task.lane.given(), PauseCause::LaunchRefused, &text)?;
            }
            WaitReason::DependencyNotDone
            | WaitReason::RemoteUnknown
            | WaitReason::BoardIncomplete
            | WaitReason::LaneAtCapacity
            | WaitReason::NoFreeSlot
            | WaitReason::LanePaused
            | WaitReason::ClaimsOverlap => {}
        }
        Ok((End::Waiting { reason }, text))
    }

    fn launch(&mut self, task: &Task, judged: &Judged) -> Result<Decided, PortError> {
        let waiting = |reason, grounds: String| Ok((End::Waiting { reason }, grounds));
        let config = &self.setup.config;
        if let Some(missing) = judged.branches.missing_start(config.parent_branch) {
            return waiting(WaitReason::RemoteUnknown, missing);
        }
        let (Some(lane), Some(base)) = (judged.lane, judged.branches.base.clone()) else {
            return waiting(WaitReason::RemoteUnknown, "the base branch is not known".to_owned());
        };
        let Some(Ok(settings)) = self.setup.lanes.get(&lane) else {
            let text = format!("the settings of lane {lane} were not read");
            return waiting(WaitReason::SettingsUnreadable, text);
        };
        if let Some(text) = self.missing_here(lane) {
            // A pass from another environment may well start it, so the lane is not paused.
            if !self.problems.contains(&text) {
                self.problems.push(text);
            }
            let grounds = format!("no worker of lane {lane} can be started from here");
            return waiting(WaitReason::LanePaused, grounds);
        }
        if let MachineReady::No { cause, text } = self.machine_ready(lane)? {
            self.pause(Some(lane), cause, &text)?;
            return waiting(WaitReason::LanePaused, format!("{cause}: {text}"));
        }
        if self.options.dry_run {
            self.rehearsed.push(Rehearsed { task: task.id.clone(), lane });
            return Ok((End::WouldDispatch, String::new()));
        }
        let claimed = claim(
            self.ports,
            self.setup,
            &Claim {
                id: &task.id,
                lane,
                settings,
                test_command: judged.test_command.as_ref().map(TestCommand::text),
                base,
                base_made_from: judged.branches.made_from.clone(),
                branch: judged.branches.own.clone(),
                counted_before: judged.counts.counted,
            },
        )?;
        Ok(match claimed {
            Claimed::HandedOver { slot, attempt } => {
                if judged.gate == Gate::Probe {
                    governor::begin_probe(self.ports, lane)?;
                }
                (End::Dispatched { slot, attempt }, String::new())
            }
            Claimed::NoSlot => (End::Waiting { reason: WaitReason::NoFreeSlot }, String::new()),
            Claimed::Busy(who) => (End::Waiting { reason: WaitReason::NoFreeSlot }, who),
            Claimed::Withdrawn(found) => withdrawn(found.as_ref()),
        })
    }

    /// What keeps workers of a lane from being started where this pass runs.
    fn missing_here(&mut self, lane: Lane) -> Option<String> {
        let (ports, setup) = (self.ports, self.setup);
        let missing = self.missing.get_or_insert_with(|| from_here::missing(ports, setup));
        from_here::told(lane, missing)
    }

    /// What only the machine can say, asked before any slot is claimed: confinement (W3.3), disk space and the local
    /// model (D4.2).
    fn machine_ready(&mut self, lane: Lane) -> Result<MachineReady, PortError> {
        let config = &self.setup.config;
        if let Some(text) = confinement_fault(config, lane, self.setup.confined) {
            return Ok(MachineReady::No { cause: PauseCause::ConfinementMissing, text });
        }
        let (free, least) = (self.ports.vcs.free_mib()?, config.limits.min_free_mib);
        if free < least {
            let text = format!("{free} MiB are free where the slots are, {least} are required");
            return Ok(MachineReady::No { cause: PauseCause::DiskFull, text });
        }
        if lane == Lane::Frontier {
            return Ok(MachineReady::Yes);
        }
        if self.readiness.is_none() {
            let settings = self.setup.lanes.get(&lane).and_then(|read| read.as_ref().ok());
            let model = settings.and_then(|settings| settings.model.as_deref()).unwrap_or_default();
            let url = &config.lanes.local.health_check_url;
            self.readiness = Some(self.ports.agent.readiness(url, model));
        }
        Ok(match &self.readiness {
            Some(Err(why)) => {
                MachineReady::No { cause: PauseCause::LocalModelNotLoaded, text: why.clone() }
            }
            Some(Ok(())) | None => MachineReady::Yes,
        })
    }

    fn pause_for(&mut self, lane: Option<Lane>, error: &PortError) {
        let Some(cause) = error.pause else { return };
        if let Err(second) = self.pause(lane, cause, &error.chain()) {
            self.problems.push(second.chain());
        }
    }

    fn pause(&self, lane: Option<Lane>, cause: PauseCause, detail: &str) -> Result<(), PortError> {
        match lane {
            Some(lane) if !self.options.dry_run => {
                let language = self.setup.config.language;
                governor::lane_fault(self.ports, language, lane, cause, detail, None)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Tells a person of a wait that only they can end, once between two attempts.
    fn say_once(&self, task: &Task, reason: WaitReason, text: &str) -> Result<(), PortError> {
        let record = self.facts.seen.records.get(&task.id);
        let said = json!({
            "reason": reason.as_str(),
            "lastAttempt": record.map(|record| record.last_attempt),
        });
        if self.options.dry_run
            || self.ports.store.read_private(&task.id, SAID)?.as_ref() == Some(&said)
        {
            return Ok(());
        }
        if reason == WaitReason::TooManyFaults {
            // Nothing else on the task tells why nobody works on it.
            let language = self.setup.config.language;
            let comment =
                PassMessage::Waits.render(language, &[("reason", &reason), ("text", &text)]);
            self.ports.board.comment(&task.id, &for_comment(&comment))?;
        }
        self.ports.notifier.notify(&format!("{}: {reason}", task.id), text);
        self.ports.store.write_private(&task.id, SAID, &said)
    }
}

fn withdrawn(found: Option<&Status>) -> Decided {
    let grounds =
        found.map_or_else(|| "it left the board".to_owned(), |found| format!("it is {found} now"));
    (End::Withdrawn, grounds)
}

#[cfg(test)]
mod tests {
    use dispatch_core::message::blocked_word;

    use super::*;

    /// D8.1: the next attempt finds the comment by its first word.
    #[test]
    fn the_comment_of_a_blocked_task_begins_with_that_word() {
        assert_eq!(PassMessage::faults(), []);
        for language in Language::ALL {
            assert!(PassMessage::Blocked.text(*language).starts_with(blocked_word(*language)));
        }
    }
}
