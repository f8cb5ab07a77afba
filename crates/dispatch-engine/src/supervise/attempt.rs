//! An attempt as its supervisor holds it: the record, what is kept for recovery, and the beat.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::time::Duration;

use dispatch_close::commit::CommitFacts;
use dispatch_close::execute::{CloseRun, Stop};
use dispatch_close::integrity::Snapshot;
use dispatch_close::listed::Listed;
use dispatch_close::phrase::Said;
use dispatch_close::plan::{Detail, Disposition, Failure};
use dispatch_core::attempt::{AttemptCounts, AttemptNumber, Ordinal, Tally};
use dispatch_core::branch::{BranchName, attempt_ref};
use dispatch_core::id::TaskId;
use dispatch_core::names::{CloseStep, Outcome, RequeueReason};
use dispatch_core::object::{CommitId, TreeId};
use dispatch_core::record::{Phase, Record, Request, Waiting};
use dispatch_core::secret::{HandedOut, Secret};
use dispatch_core::status::Status;
use dispatch_core::task::Task;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Context;
use crate::hand_over::{HandOver, HandOverError};
use crate::ports::{
    AttemptFile, CommandEnd, CommandSpec, PortError, Ports, PrivatePlace, SlotPlace,
};
use crate::setup::Policies;
use crate::texts::moment;

/// The name under which the store keeps an [`AttemptState`].
const STATE: &str = "attempt";
/// A beat is written at most this often (D9.4).
const BEAT_EVERY_MS: u64 = 5_000;

/// What a recovery supervisor needs to go on, beside the record and the hand-over.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct AttemptState {
    /// The claim it belongs to.
    pub(crate) token: String,
    /// What was counted when the attempt began.
    pub(crate) counts_before: AttemptCounts,
    /// The protected part of the task when the worker started (B4).
    pub(crate) snapshot: Option<Snapshot>,
    /// The task's title, for texts when the board cannot be read.
    pub(crate) title: String,
    /// The branch the board was on when the attempt began, when the configuration names none.
    pub(crate) board_branch: Option<BranchName>,
    /// Whether this attempt closes a parent (B5.3).
    pub(crate) close_attempt: bool,
    /// The private folders.
    pub(crate) place: Option<PrivatePlace>,
    /// What is kept of the credentials that the worker was given (C3.3); none before its launch was built.
    pub(crate) handed_out: Option<Vec<HandedOut>>,
    /// Files in which the base conflicts with the start (D6.6).
    pub(crate) conflicts: Listed,
    /// Why it could not be found out whether the base fits the start, which then is without it (D6.6).
    pub(crate) base_left_out: Option<String>,
    /// The ref or branch with the earlier work that this attempt goes on from.
    pub(crate) started_from: Option<String>,
    /// Whether this attempt goes on from saved work.
    pub(crate) continues_saved: bool,
    /// Saved work that this attempt does not start from (D6.6).
    pub(crate) set_aside: Option<CommitId>,
    /// Why we stop the worker, written before the first signal (D9.5).
    pub(crate) stopped: Option<Outcome>,
    /// Where a cancelled task goes.
    pub(crate) cancel_to: Option<Status>,
    /// How the worker ended, for `outcome.json`.
    pub(crate) ended: Option<Value>,
    /// When a used-up usage window ends, ISO 8601 UTC.
    pub(crate) limit_resets_at: Option<String>,
    /// Tool calls that were denied.
    pub(crate) denials: Listed,
    /// What is left to do of the close and what was done, once it began.
    pub(crate) close: Option<CloseRun>,
    /// What its steps found out.
    pub(crate) found: Findings,
}

/// What the steps of a close found out, kept with the journal (C1.4).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Findings {
    /// The frozen tree.
    pub(crate) tree: Option<TreeId>,
    /// Repositories found inside the slot, shown.
    pub(crate) nested: Listed,
    /// What could not be put into the tree, with why.
    pub(crate) left_out: Listed,
    /// Generated files, which neither scope nor a person has to look at (C6).
    pub(crate) generated: Listed,
    /// Which entries of `generated` ran: what their outputs match is generated.
    pub(crate) generators: BTreeSet<usize>,
    /// Changed files that no formatter covers.
    pub(crate) uncovered: Listed,
    /// The changed files, shown.
    pub(crate) files: Listed,
    /// Files for a person to look at, with their class.
    pub(crate) review_files: Listed,
    /// Files that the task does not declare and the lane lets through.
    pub(crate) undeclared: Listed,
    /// Files that no lane may touch, with their class (C3.5).
    pub(crate) forbidden_files: Listed,
    /// Whether the classes of the tree's files are known.
    pub(crate) judged: bool,
    /// Whether the tree holds what must not leave this machine; unknown until it was looked for (C10.1).
    pub(crate) dangerous: Option<bool>,
    /// The test command that passed.
    pub(crate) test: Option<String>,
    /// Whether a formatter or a linter ran, and so proved something.
    pub(crate) linted: bool,
    /// What the reviewer said.
    pub(crate) review: Option<String>,
    /// The work of this attempt, once it is saved.
    pub(crate) saved: Option<CommitId>,
    /// The commit made of the tree.
    pub(crate) commit: Option<CommitId>,
    /// Whether the comment about the proposal was written.
    pub(crate) announced: bool,
    /// What the attempt is held against, once that is decided.
    pub(crate) tally: Option<Tally>,
}

/// An attempt under the supervisor that owns it.
pub(crate) struct Attempt<'a> {
    pub(crate) ports: Ports<'a>,
    pub(crate) context: &'a Context,
    pub(crate) hand: HandOver,
    pub(crate) record: Record,
    pub(crate) state: AttemptState,
    pub(crate) policies: Policies,
    last_beat_ms: u64,
}

/// What is asked of a supervisor from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Take the task away; a status to set, or the one that a person set.
    Cancel(Option<Status>),
    /// Put it back to the queue.
    Interrupt,
}

impl Asked {
    /// What becomes of the attempt for it; `step` is the one of the close it was met in.
    pub(crate) fn failure(self, step: Option<CloseStep>) -> Failure {
        match self {
            Self::Interrupt => {
                let why = match step {
                    Some(step) => Said::StoppedDuring.phrase(&[("step", &step)]),
                    None => Said::StoppedBefore.phrase(&[]),
                };
                Failure::requeue(step, RequeueReason::Interrupted, why)
            }
            Self::Cancel(to) => {
                Failure { step, disposition: Disposition::Leave { to }, detail: Detail::Nothing }
            }
        }
    }
}

/// How a program that we ran for the attempt ended.
pub(crate) enum Ran {
    /// As the program ended.
    Ended(CommandEnd),
    /// We were asked to stop: it did not start, or was ended.
    Asked(Asked),
}

impl<'a> Attempt<'a> {
    /// Takes over the attempt that the record and the hand-over describe.
    pub(crate) fn take_over(
        ports: Ports<'a>,
        context: &'a Context,
        id: &TaskId,
    ) -> Result<Self, HandOverError> {
        let record = ports.store.record(id)?.ok_or_else(|| {
            PortError::new(format!("take over the attempt of {id}"), "there is no record of it")
        })?;
        let (hand, policies) = HandOver::of_claim(ports.store, &record)?;
        let kept = ports.store.read_private(id, STATE)?;
        // What is left of an earlier claim is nothing to go on from.
        let state = kept
            .filter(|value| value["token"] == record.token.as_str())
            .map(serde_json::from_value::<AttemptState>)
            .transpose()
            .map_err(|source| {
                let doing =
                    format!("understand what was kept of attempt {} of {id}", record.attempt);
                HandOverError::Unusable(PortError::new(doing, source))
            })?
            .unwrap_or_else(|| AttemptState {
                token: record.token.clone(),
                counts_before: record.counts,
                ..AttemptState::default()
            });
        let mut attempt = Self { ports, context, hand, record, state, policies, last_beat_ms: 0 };
        attempt.record.supervisor = Some(ports.commands.ourselves());
        attempt.record.waiting = None;
        attempt.write_record()?;
        Ok(attempt)
    }

    pub(crate) fn id(&self) -> &TaskId {
        &self.record.task_id
    }

    pub(crate) fn number(&self) -> AttemptNumber {
        self.record.attempt
    }

    /// How people are told of this attempt, which counts as far as anybody knows.
    pub(crate) fn ordinal(&self) -> Ordinal {
        Ordinal {
            number: self.number(),
            counted: self.hand.counted_before.saturating_add(1),
            counts: true,
            of: self.hand.config.attempts,
        }
    }

    /// How people are told of this attempt once it ended so.
    pub(crate) fn ordinal_after(&self, disposition: &Disposition) -> Ordinal {
        match disposition.tally() {
            Tally::Counted => self.ordinal(),
            Tally::Fault | Tally::Excused => {
                Ordinal { counted: self.hand.counted_before, counts: false, ..self.ordinal() }
            }
        }
    }

    pub(crate) fn slot(&self) -> SlotPlace {
        self.hand.roots.slot(&self.record.slot)
    }

    pub(crate) fn log_shown(&self) -> String {
        self.ports.store.attempt_dir_shown(self.id(), self.number())
    }

    pub(crate) fn attempt_ref(&self) -> String {
        attempt_ref(self.id(), self.number())
    }

    pub(crate) fn commit_facts(&self) -> CommitFacts<'_> {
        CommitFacts { id: self.id(), title: &self.state.title, attempt: self.number() }
    }

    /// The commit that everything is compared with, and the one the worker started from.
    pub(crate) fn base_and_start(&self) -> Result<(CommitId, CommitId), PortError> {
        self.record.base.clone().zip(self.record.start.clone()).ok_or_else(|| {
            PortError::new("compare the work with its start", "the record names no start commit")
        })
    }

    /// The work of this attempt, once it is saved; the record may name an earlier one's.
    pub(crate) fn saved(&self) -> Option<&CommitId> {
        self.state.found.saved.as_ref()
    }

    /// Forgets what was found out about another tree.
    pub(crate) fn freeze_as(&mut self, tree: TreeId) {
        let found = self.found();
        if found.tree.as_ref() != Some(&tree) {
            found.judged = false;
            found.dangerous = None;
            found.files = Listed::default();
            found.review_files = Listed::default();
            found.undeclared = Listed::default();
            found.forbidden_files = Listed::default();
        }
        found.tree = Some(tree);
    }

    /// What the steps of the close found out.
    pub(crate) fn found(&mut self) -> &mut Findings {
        &mut self.state.found
    }

    /// Checks under our lock that the attempt is still ours (D9.7).
    pub(crate) fn verify(&self) -> Result<(), Stop> {
        match self.ports.store.record(self.id()) {
            Ok(Some(record)) if record.token == self.record.token => Ok(()),
            Ok(_) => Err(Stop::NotOurs),
            Err(error) => Err(Stop::Leave(error.chain())),
        }
    }

    /// Enters a phase, durably, after checking that the attempt is still ours.
    pub(crate) fn enter(&mut self, phase: Phase) -> Result<(), Stop> {
        self.verify()?;
        self.save_state()?;
        self.record.phase = phase;
        self.write_record().map_err(|error| Stop::Leave(error.chain()))?;
        tracing::info!(task = %self.record.task_id, %phase, "phase");
        Ok(())
    }

    /// Keeps what a recovery supervisor needs.
    pub(crate) fn save_state(&self) -> Result<(), Stop> {
        let value =
            serde_json::to_value(&self.state).map_err(|error| Stop::Leave(error.to_string()))?;
        self.ports
            .store
            .write_private(self.id(), STATE, &value)
            .map_err(|error| Stop::Leave(error.chain()))
    }

    /// Writes the record, which also shows that we live: a beat is never written back older than it was.
    pub(crate) fn write_record(&mut self) -> Result<(), PortError> {
        self.touch_beat();
        self.ports.store.write_record(&self.record)
    }

    fn touch_beat(&mut self) {
        let beat = self.ports.clock.beat();
        self.last_beat_ms = beat.awake_ms;
        self.record.beat = Some(beat);
        self.record.heartbeat_at = Some(moment(self.ports.clock.now()));
    }

    /// Shows that we live, unless that was just done (D9.4).
    pub(crate) fn beat(&mut self) {
        let now = self.ports.clock.beat().awake_ms;
        if now.saturating_sub(self.last_beat_ms) < BEAT_EVERY_MS {
            return;
        }
        if let Err(error) = self.write_record() {
            tracing::warn!(error = error.chain(), "the beat could not be written");
        }
    }

    /// Sleeps with a beat, at most until somebody asks for something.
    pub(crate) fn rest(&mut self, duration: Duration) -> Option<Asked> {
        self.rest_until(duration, |_| false)
    }

    /// The same, at most until it is `enough`; that is asked once a second.
    fn rest_until(
        &mut self,
        duration: Duration,
        mut enough: impl FnMut(&Ports<'_>) -> bool,
    ) -> Option<Asked> {
        const SLICE: Duration = Duration::from_secs(1);
        let mut left = duration;
        while !left.is_zero() && !enough(&self.ports) {
            let slice = left.min(SLICE);
            self.ports.clock.sleep(slice);
            left -= slice;
            self.beat();
            if let Some(asked) = self.asked() {
                return Some(asked);
            }
        }
        None
    }

    /// Waits a fault out (C1.5), for at least `least` and then until a pass is wished for, since whoever does that may have
    /// mended what is wrong.
    pub(crate) fn wait_out(&mut self, why: &str, least: Duration, most: Duration) -> Option<Asked> {
        let until = self.ports.clock.now() + most;
        self.waits(Some(Waiting { why: why.to_owned(), until: Some(moment(until)) }));
        let before = self.ports.store.wishes().ok();
        let asked = self.rest(least.min(most)).or_else(|| {
            let wished = |ports: &Ports<'_>| ports.store.wishes().ok() != before;
            self.rest_until(most.saturating_sub(least), wished)
        });
        self.waits(None);
        asked
    }

    /// Says in the record what is waited for, for whoever looks.
    pub(crate) fn waits(&mut self, waiting: Option<Waiting>) {
        self.record.waiting = waiting;
        if let Err(error) = self.write_record() {
            tracing::warn!(error = error.chain(), "what is waited for could not be written");
        }
    }

    /// Runs a program for the attempt for as long as nobody asks us to stop (D9.9).
    pub(crate) fn run(&mut self, spec: &CommandSpec) -> Result<Ran, PortError> {
        let commands = self.ports.commands;
        let end = self.unless_asked(|alive| commands.run(spec, alive));
        Ok(match end {
            Err(asked) => Ran::Asked(asked),
            Ok(end) => Ran::Ended(end?),
        })
    }

    /// Waits for something that calls `alive` meanwhile; gives what was asked of us when that is why it ended.
    pub(crate) fn unless_asked<T>(
        &mut self,
        wait: impl FnOnce(&mut dyn FnMut() -> ControlFlow<()>) -> T,
    ) -> Result<T, Asked> {
        let mut asked = self.asked();
        if let Some(asked) = asked {
            return Err(asked);
        }
        let done = wait(&mut || {
            self.beat();
            asked = self.asked();
            if asked.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        asked.map_or(Ok(done), Err)
    }

    /// What somebody asks of us (M2, D9.9).
    pub(crate) fn asked(&self) -> Option<Asked> {
        let request = self.ports.store.request(self.id()).unwrap_or_else(|error| {
            tracing::warn!(error = error.chain(), "the request could not be read");
            None
        });
        match request {
            Some(Request::Cancel { to }) => Some(Asked::Cancel(to)),
            Some(Request::Interrupt | Request::Stop) => Some(Asked::Interrupt),
            None => self.ports.commands.asked_to_end().then_some(Asked::Interrupt),
        }
    }

    /// Adds a line to the readable log.
    pub(crate) fn note(&self, text: &str) {
        let line = format!("{} {}\n", moment(self.ports.clock.now()), text.trim_end());
        self.append(AttemptFile::RunLog, line.as_bytes());
        tracing::info!(task = %self.record.task_id, "{text}");
    }

    /// Adds to a log file; a log that cannot be written fails nothing.
    pub(crate) fn append(&self, file: AttemptFile, content: &[u8]) {
        let appended =
            self.ports.store.append_attempt_file(self.id(), self.number(), file, content);
        if let Err(error) = appended {
            tracing::warn!(error = error.chain(), "a log could not be written");
        }
    }

    /// Writes a file of the attempt, whole.
    pub(crate) fn write(&self, file: AttemptFile, content: &[u8]) -> Result<(), PortError> {
        self.ports.store.write_attempt_file(self.id(), self.number(), file, content)
    }

    /// Makes the private folders, empty: nothing that ran before in this attempt is found by what runs next.
    pub(crate) fn fresh_folders(&mut self) -> Result<PrivatePlace, PortError> {
        let place = self.ports.agent.private_place(self.id(), self.number())?;
        self.state.place = Some(place.clone());
        Ok(place)
    }

    /// Keeps the protected part of the task as the worker finds it.
    pub(crate) fn remember(&mut self, task: &Task) {
        self.state.snapshot = Some(Snapshot::of(task));
        self.state.title.clone_from(&task.title);
    }

    /// The credentials that the worker was given (C3.3); none when that was not kept.
    pub(crate) fn secrets(&self) -> Option<Vec<Secret>> {
        let (person, lane) = (&self.context.environment, &self.hand.settings.env);
        let known = |name: &str| person.get(name).into_iter().chain(lane.get(name));
        let handed_out = self.state.handed_out.as_ref()?;
        Some(handed_out.iter().map(|kept| kept.found_among(known(&kept.name))).collect())
    }
}

/// The person's environment, as it was given to us.
pub type Environment = BTreeMap<String, String>;
