//! The step executor: runs a plan over a [`CloseSteps`], one journalled step after the other (C1).

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use dispatch_core::names::{BlockReason, CloseStep, PauseCause};
use serde::{Deserialize, Serialize};

use crate::phrase::Said;
use crate::plan::{ClosePlan, Detail, Disposition, Failure, Frozen, failure_plan};

/// A close under way: what is left to do and what was done. It is kept with the journal, so that a recovery
/// supervisor goes on where a killed one stopped (C1.4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CloseRun {
    /// What is left to do, the step under way first.
    pub plan: ClosePlan,
    /// What was done.
    pub done: Vec<StepRecord>,
}

/// A step that was executed, for `outcome.json` and the pass's output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepRecord {
    /// The step.
    pub step: CloseStep,
    /// Whether it passed.
    pub passed: bool,
    /// What it has to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// How a step ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepEnd {
    /// It passed; with something to say or not.
    Passed(Option<String>),
    /// It failed, and the task is the cause.
    Failed(Failure),
    /// It failed for a reason that is not the task's (C1.5).
    Fault(Fault),
    /// Nothing may be touched any more.
    Stop(Stop),
}

/// A fault of the machine or of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Which one; none when no cause of the closed set fits.
    pub cause: Option<PauseCause>,
    /// Its words.
    pub why: String,
}

/// Why a close ends in the middle, its phase left as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The record carries another token: the attempt is somebody else's (D9.7).
    NotOurs,
    /// We were told to go at once, or the journal cannot be written; recovery follows.
    Leave(String),
}

/// What to do after a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Patience {
    /// The step is tried again.
    Again,
    /// This happens to the task instead.
    GiveUp(Disposition),
    /// Nothing may be touched any more.
    Stop(Stop),
}

/// How a close ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CloseEnd {
    /// Every step was executed.
    Complete,
    /// It stopped before or in this step; the phase says where to go on.
    Left {
        /// The step.
        step: CloseStep,
        /// What stopped it.
        why: Stop,
    },
}

/// The steps themselves, and the journal.
pub trait CloseSteps {
    /// Keeps the run and the step that starts now, durably (`closing:<step>`).
    fn journal(&mut self, step: CloseStep, run: &CloseRun) -> Result<(), Stop>;

    /// Executes a step. It may have been executed before, wholly or in part (C1.4).
    fn run(&mut self, step: CloseStep, run: &CloseRun) -> StepEnd;

    /// Waits after the fault of a step that was tried `tries` times (C1.5).
    fn wait_out(&mut self, step: CloseStep, fault: &Fault, tries: u32) -> Patience;

    /// Marks the slot as keeping the only copy of the work (C10.1).
    fn hold(&mut self, cause: &str) -> Result<(), Stop>;
}

impl CloseRun {
    /// A close that begins.
    pub const fn new(plan: ClosePlan) -> Self {
        Self { plan, done: Vec::new() }
    }

    /// The failure being carried out.
    pub const fn failure(&self) -> Option<&Failure> {
        self.plan.failure.as_ref()
    }

    /// Whether a step was executed and passed.
    pub fn passed(&self, step: CloseStep) -> bool {
        self.done.iter().any(|record| record.step == step && record.passed)
    }

    fn record(&mut self, step: CloseStep, passed: bool, note: Option<String>) {
        self.plan.steps.retain(|left| *left != step);
        self.done.push(StepRecord { step, passed, note });
    }

    fn fail(&mut self, failure: Failure) {
        let frozen = if self.passed(CloseStep::Freeze) { Frozen::Already } else { Frozen::NotYet };
        self.plan = failure_plan(failure, frozen);
    }
}

/// Executes what is left of a close.
pub fn execute(run: &mut CloseRun, steps: &mut dyn CloseSteps) -> CloseEnd {
    while let Some(step) = run.plan.steps.first().copied() {
        if let Err(why) = steps.journal(step, run) {
            return CloseEnd::Left { step, why };
        }
        match attempt(step, run, steps) {
            Ok(note) => run.record(step, true, note),
            Err(Unpassed::Failed(failure)) => {
                if let Err(why) = take_failure(step, failure, run, steps) {
                    return CloseEnd::Left { step, why };
                }
            }
            Err(Unpassed::Stop(why)) => return CloseEnd::Left { step, why },
        }
    }
    CloseEnd::Complete
}

/// Why a step did not pass, once patience with the machine has ended.
enum Unpassed {
    Failed(Failure),
    Stop(Stop),
}

/// Runs a step until it passes, fails, or the patience with the machine ends.
fn attempt(
    step: CloseStep,
    run: &CloseRun,
    steps: &mut dyn CloseSteps,
) -> Result<Option<String>, Unpassed> {
    let mut tries = 0;
    loop {
        let end = catch_unwind(AssertUnwindSafe(|| steps.run(step, run)))
            .unwrap_or_else(|panic| StepEnd::Failed(Failure::inside(step, panic_text(&*panic))));
        let fault = match end {
            StepEnd::Passed(note) => return Ok(note),
            StepEnd::Failed(failure) => return Err(Unpassed::Failed(failure)),
            StepEnd::Stop(why) => return Err(Unpassed::Stop(why)),
            StepEnd::Fault(fault) => fault,
        };
        tries += 1;
        match steps.wait_out(step, &fault, tries) {
            Patience::Again => {}
            Patience::GiveUp(disposition) => {
                let detail = Detail::Error(fault.why);
                return Err(Unpassed::Failed(Failure { step: Some(step), disposition, detail }));
            }
            Patience::Stop(why) => return Err(Unpassed::Stop(why)),
        }
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| panic.downcast_ref::<String>().cloned());
    format!("a defect of the dispatcher: {}", text.unwrap_or_else(|| "no words".to_owned()))
}

/// What a failed step leads to: the failure plan, a held slot, or a phase that stays for recovery.
fn take_failure(
    step: CloseStep,
    failure: Failure,
    run: &mut CloseRun,
    steps: &mut dyn CloseSteps,
) -> Result<(), Stop> {
    let why = words(&failure.detail);
    match step {
        CloseStep::Block | CloseStep::Requeue | CloseStep::ReleaseSlot => Err(Stop::Leave(why)),
        CloseStep::RecomputeParents | CloseStep::Drain => {
            run.record(step, false, Some(why));
            Ok(())
        }
        CloseStep::Freeze | CloseStep::SaveWork if run.plan.failure.is_some() => {
            steps.hold(&why)?;
            run.record(step, false, Some(why.clone()));
            hold_plan(run, step, &why);
            Ok(())
        }
        CloseStep::BoardCheck
        | CloseStep::Format
        | CloseStep::GeneratedFiles
        | CloseStep::Freeze
        | CloseStep::ScopeCheck
        | CloseStep::Checks
        | CloseStep::Reviewer
        | CloseStep::Acceptance
        | CloseStep::OpenPr
        | CloseStep::SaveWork => {
            run.record(step, false, Some(failure.disposition.reason().to_owned()));
            run.fail(failure);
            Ok(())
        }
    }
}

/// The work cannot be saved: the task is blocked and no later step touches the slot (C10.1).
fn hold_plan(run: &mut CloseRun, step: CloseStep, why: &str) {
    let before = run.plan.failure.as_ref().map_or("", |failure| failure.disposition.reason());
    let about = Said::FailedBefore.phrase(&[("reason", &before)]);
    let detail = Detail::Output { about, tail: why.to_owned() };
    run.plan = ClosePlan {
        steps: vec![CloseStep::Block, CloseStep::RecomputeParents, CloseStep::Drain],
        failure: Some(Failure::found(step, BlockReason::WorkHeld, detail)),
    };
}

fn words(detail: &Detail) -> String {
    match detail {
        Detail::Nothing => "no words".to_owned(),
        Detail::Words(about) | Detail::Output { about, .. } | Detail::List { about, .. } => {
            about.to_string()
        }
        Detail::Error(text) | Detail::Question(text) => text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use dispatch_core::attempt::Tally;
    use dispatch_core::names::{Outcome, RequeueReason};
    use dispatch_core::triage::Lane;
    use proptest::prelude::*;

    use super::*;
    use crate::plan::{CloseFacts, plan_close};

    /// What a scripted step does, the next time it is run.
    #[derive(Debug, Clone)]
    enum Script {
        Pass,
        Fail,
        Fault,
        Panic,
    }

    #[derive(Default)]
    struct ScriptedSteps {
        script: Vec<(CloseStep, Script)>,
        journal: Vec<CloseStep>,
        kept: Option<CloseRun>,
        ran: Vec<CloseStep>,
        held: Option<String>,
        die_before: Option<CloseStep>,
        patience: u32,
    }

    impl CloseSteps for ScriptedSteps {
        fn journal(&mut self, step: CloseStep, run: &CloseRun) -> Result<(), Stop> {
            self.journal.push(step);
            self.kept = Some(run.clone());
            if self.die_before == Some(step) {
                return Err(Stop::Leave("killed".to_owned()));
            }
            Ok(())
        }

        fn run(&mut self, step: CloseStep, _run: &CloseRun) -> StepEnd {
            assert_eq!(
                self.journal.last(),
                Some(&step),
                "a step starts only after it is journalled"
            );
            self.ran.push(step);
            let at = self.script.iter().position(|(scripted, _)| *scripted == step);
            match at.map(|at| self.script.remove(at).1) {
                None | Some(Script::Pass) => StepEnd::Passed(None),
                Some(Script::Fail) => StepEnd::Failed(Failure::inside(step, "it is broken")),
                Some(Script::Fault) => StepEnd::Fault(Fault {
                    cause: Some(PauseCause::ForgeUnreachable),
                    why: "no answer".to_owned(),
                }),
                Some(Script::Panic) => panic!("an index out of nowhere"),
            }
        }

        fn wait_out(&mut self, _step: CloseStep, fault: &Fault, tries: u32) -> Patience {
            if tries <= self.patience {
                return Patience::Again;
            }
            let cause = fault.cause.unwrap_or(PauseCause::DiskFull);
            Patience::GiveUp(Disposition::Requeue(RequeueReason::Paused(cause)))
        }

        fn hold(&mut self, cause: &str) -> Result<(), Stop> {
            self.held = Some(cause.to_owned());
            Ok(())
        }
    }

    fn success() -> CloseRun {
        let facts = CloseFacts { reviewed: vec![Lane::Local], ..CloseFacts::default() };
        CloseRun::new(plan_close(Outcome::Success, Detail::Nothing, Lane::Local, &facts))
    }

    fn shown(run: &CloseRun) -> String {
        let mark = |record: &StepRecord| if record.passed { "" } else { "!" };
        run.done
            .iter()
            .map(|record| format!("{}{}", mark(record), record.step))
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn scripted(script: &[(CloseStep, Script)]) -> ScriptedSteps {
        ScriptedSteps { script: script.to_vec(), ..ScriptedSteps::default() }
    }

    #[test]
    fn c1_the_first_failing_step_turns_into_the_failure_plan() {
        let mut run = success();
        let mut steps = scripted(&[(CloseStep::Checks, Script::Fail)]);
        assert_eq!(execute(&mut run, &mut steps), CloseEnd::Complete);
        insta::assert_snapshot!(shown(&run), @"board-check format freeze scope-check !checks save-work block release-slot recompute-parents drain");
        assert_eq!(run.failure().unwrap().disposition.reason(), BlockReason::ChecksFailed.as_str());
    }

    #[test]
    fn c1_3_a_panic_inside_a_step_is_a_failed_step_with_its_text() {
        let mut run = success();
        let mut steps = scripted(&[(CloseStep::Reviewer, Script::Panic)]);
        assert_eq!(execute(&mut run, &mut steps), CloseEnd::Complete);
        let failure = run.failure().unwrap();
        assert_eq!(failure.disposition.reason(), "reviewer-failed");
        assert_eq!(
            failure.detail,
            Detail::Error("a defect of the dispatcher: an index out of nowhere".to_owned())
        );
    }

    #[test]
    fn c1_5_a_machine_fault_is_waited_out_in_place_and_then_goes_back_uncounted() {
        let mut run = success();
        let faults = vec![(CloseStep::OpenPr, Script::Fault); 2];
        let mut steps = ScriptedSteps { patience: 2, ..scripted(&faults) };
        assert_eq!(execute(&mut run, &mut steps), CloseEnd::Complete);
        assert_eq!(run.failure(), None);

        let mut run = success();
        let mut steps = ScriptedSteps { patience: 1, ..scripted(&faults) };
        assert_eq!(execute(&mut run, &mut steps), CloseEnd::Complete);
        insta::assert_snapshot!(shown(&run), @"board-check format freeze scope-check checks reviewer acceptance !open-pr save-work requeue release-slot recompute-parents drain");
        assert_eq!(run.failure().unwrap().disposition.tally(), Tally::Excused);
    }

    #[test]
    fn c10_1_work_that_cannot_be_saved_holds_the_slot_and_no_later_step_touches_it() {
        let mut run = success();
        let mut steps =
            scripted(&[(CloseStep::Checks, Script::Fail), (CloseStep::SaveWork, Script::Fail)]);
        assert_eq!(execute(&mut run, &mut steps), CloseEnd::Complete);
        assert_eq!(steps.held.as_deref(), Some("it is broken"));
        insta::assert_snapshot!(shown(&run), @"board-check format freeze scope-check !checks !save-work block recompute-parents drain");
        assert_eq!(run.failure().unwrap().disposition, Disposition::Block(BlockReason::WorkHeld));
    }

    #[test]
    fn c10_3_a_status_that_cannot_be_written_leaves_the_phase_for_recovery() {
        let mut run = success();
        let mut steps =
            scripted(&[(CloseStep::ScopeCheck, Script::Fail), (CloseStep::Block, Script::Fail)]);
        let end = execute(&mut run, &mut steps);
        assert!(matches!(end, CloseEnd::Left { step: CloseStep::Block, .. }), "{end:?}");
        assert!(!steps.ran.contains(&CloseStep::ReleaseSlot));
    }

    #[test]
    fn c1_4_a_killed_close_goes_on_at_the_journalled_step() {
        for dies in success().plan.steps {
            let mut run = success();
            let mut killed = ScriptedSteps { die_before: Some(dies), ..scripted(&[]) };
            execute(&mut run, &mut killed);
            let mut recovered = killed.kept.unwrap();
            let mut steps = scripted(&[]);
            assert_eq!(execute(&mut recovered, &mut steps), CloseEnd::Complete);
            assert_eq!(
                shown(&recovered),
                "board-check format freeze scope-check checks reviewer acceptance open-pr release-slot recompute-parents drain"
            );
            assert_eq!(steps.ran.first(), Some(&dies));
        }
    }

    fn arb_script() -> impl Strategy<Value = Vec<(CloseStep, Script)>> {
        let step = prop::sample::select(CloseStep::ALL.to_vec());
        let script = prop_oneof![
            Just(Script::Pass),
            Just(Script::Fail),
            Just(Script::Fault),
            Just(Script::Panic)
        ];
        prop::collection::vec((step, script), 0..8)
    }

    proptest! {
        /// C1.2, C10.1, I3: whatever fails, a slot is released only after a pull request, saved work or neither
        /// needed, and a task is handed over before its slot is.
        #[test]
        fn whatever_fails_no_slot_is_released_with_unsaved_work(script in arb_script(), patience in 0u32..3) {
            std::panic::set_hook(Box::new(|_| {}));
            let mut run = success();
            let mut steps = ScriptedSteps { patience, ..scripted(&script) };
            let end = execute(&mut run, &mut steps);
            let passed = |step| run.passed(step);
            if steps.ran.contains(&CloseStep::ReleaseSlot) {
                prop_assert!(passed(CloseStep::OpenPr) || passed(CloseStep::SaveWork));
                prop_assert!(steps.held.is_none());
                prop_assert!(passed(CloseStep::OpenPr) || passed(CloseStep::Block) || passed(CloseStep::Requeue));
            }
            if end == CloseEnd::Complete {
                prop_assert!(passed(CloseStep::ReleaseSlot) || steps.held.is_some());
            }
        }
    }
}
