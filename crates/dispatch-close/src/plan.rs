//! Which steps follow the end of a worker (C1).

use dispatch_core::attempt::Tally;
use dispatch_core::names::{BlockReason, CloseStep, Outcome, OutcomeMeans, RequeueReason};
use dispatch_core::status::Status;
use dispatch_core::triage::Lane;
use serde::{Deserialize, Serialize};

use crate::listed::Listed;
use crate::phrase::Phrase;

/// What a plan depends on besides the outcome.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CloseFacts {
    /// The lanes whose work is reviewed by an agent.
    pub reviewed: Vec<Lane>,
    /// Whether generated files are configured (C6).
    pub generated: bool,
    /// Where a cancelled task goes; none leaves the status a person set.
    pub cancel_to: Option<Status>,
}

/// What happens to a task whose attempt did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Disposition {
    /// A person has to act.
    Block(BlockReason),
    /// It goes back to `Queued`, uncounted.
    Requeue(RequeueReason),
    /// A person took it away: their status stays, or the one they asked for is set.
    Leave {
        /// The status they asked for.
        to: Option<Status>,
    },
}

impl Disposition {
    /// The reason in text and JSON.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Block(reason) => reason.as_str(),
            Self::Requeue(reason) => reason.as_str(),
            Self::Leave { .. } => "cancelled",
        }
    }

    /// What the attempt is held against (I8, D11.1): only what the task caused uses up one of the configured number.
    pub const fn tally(&self) -> Tally {
        match self {
            Self::Block(BlockReason::WorkHeld)
            | Self::Requeue(
                RequeueReason::RemoteMoved
                | RequeueReason::WorkerLost
                | RequeueReason::SupervisorLost
                | RequeueReason::HardLinkOutside
                | RequeueReason::BoardUnreadable
                | RequeueReason::ProvisionFailed
                | RequeueReason::SettingsDrift,
            ) => Tally::Fault,
            Self::Block(_) => Tally::Counted,
            // A person stopped it or changed the task, or the lane is paused for every task.
            Self::Leave { .. }
            | Self::Requeue(
                RequeueReason::Interrupted | RequeueReason::TaskEdited | RequeueReason::Paused(_),
            ) => Tally::Excused,
        }
    }
}

/// What there is to say about a failure.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Detail {
    /// Nothing beyond the reason.
    #[default]
    Nothing,
    /// Our own words.
    Words(Phrase),
    /// What a program said went wrong: told as it is, in no particular language.
    Error(String),
    /// A question to a person, in an agent's words.
    Question(String),
    /// The end of a program's output, after our words about it.
    Output {
        /// What ran and how it ended.
        about: Phrase,
        /// The last lines.
        tail: String,
    },
    /// Our words and a list of what they are about.
    List {
        /// What the list holds.
        about: Phrase,
        /// The entries.
        #[serde(flatten)]
        items: Listed,
    },
}

impl From<Phrase> for Detail {
    fn from(words: Phrase) -> Self {
        Self::Words(words)
    }
}

impl From<String> for Detail {
    fn from(error: String) -> Self {
        Self::Error(error)
    }
}

impl From<&str> for Detail {
    fn from(error: &str) -> Self {
        Self::Error(error.to_owned())
    }
}

impl std::fmt::Display for Detail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Nothing => Ok(()),
            Self::Words(words) => words.fmt(f),
            Self::Error(text) | Self::Question(text) => f.write_str(text),
            Self::Output { about, tail } => write!(f, "{about} {tail}"),
            Self::List { about, items } => write!(f, "{about} {items}"),
        }
    }
}

/// Why an attempt does not become a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    /// The step that failed; none when the worker's own outcome is the reason.
    pub step: Option<CloseStep>,
    /// What happens to the task.
    pub disposition: Disposition,
    /// What there is to say.
    pub detail: Detail,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.disposition.reason())?;
        match &self.detail {
            Detail::Nothing => Ok(()),
            detail @ (Detail::Words(_)
            | Detail::Error(_)
            | Detail::Question(_)
            | Detail::Output { .. }
            | Detail::List { .. }) => write!(f, ": {detail}"),
        }
    }
}

impl Failure {
    /// An error inside a step: the reason is `<step>-failed` (C1.3).
    pub fn inside(step: CloseStep, why: impl Into<String>) -> Self {
        Self {
            step: Some(step),
            disposition: Disposition::Block(step.failed()),
            detail: Detail::Error(why.into()),
        }
    }

    /// A finding of a step about the task's work.
    pub fn found(step: CloseStep, reason: BlockReason, detail: impl Into<Detail>) -> Self {
        Self { step: Some(step), disposition: Disposition::Block(reason), detail: detail.into() }
    }

    /// What puts the task back to `Queued`.
    pub fn requeue(
        step: Option<CloseStep>,
        reason: RequeueReason,
        detail: impl Into<Detail>,
    ) -> Self {
        Self { step, disposition: Disposition::Requeue(reason), detail: detail.into() }
    }

    /// What takes the task out of our hands: a person did.
    pub fn taken_away(step: Option<CloseStep>, why: Phrase) -> Self {
        Self { step, disposition: Disposition::Leave { to: None }, detail: Detail::Words(why) }
    }
}

/// The ordered steps of a close, and why it is no success when it is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClosePlan {
    /// The steps still to run, in order.
    pub steps: Vec<CloseStep>,
    /// The failure that the plan carries out; none for the success plan.
    pub failure: Option<Failure>,
}

/// Plans the close of a worker that ended with `outcome`; `detail` is what the outcome has to say (C1).
pub fn plan_close(outcome: Outcome, detail: Detail, lane: Lane, facts: &CloseFacts) -> ClosePlan {
    let disposition = match outcome.means() {
        OutcomeMeans::Success => return success_plan(lane, facts),
        OutcomeMeans::Block(reason) => Disposition::Block(reason),
        OutcomeMeans::Pause(cause) => Disposition::Requeue(RequeueReason::Paused(cause)),
        OutcomeMeans::Cancelled => Disposition::Leave { to: facts.cancel_to.clone() },
        OutcomeMeans::Interrupted => Disposition::Requeue(RequeueReason::Interrupted),
    };
    failure_plan(Failure { step: None, disposition, detail }, Frozen::NotYet)
}

/// Whether the tree of the attempt was taken already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frozen {
    /// It was.
    Already,
    /// It was not.
    NotYet,
}

/// The steps that end a failed attempt: the work is saved before the task changes hands, and the task changes
/// hands before its slot is released (C1.2).
pub fn failure_plan(failure: Failure, frozen: Frozen) -> ClosePlan {
    let mut steps = match frozen {
        Frozen::Already => Vec::new(),
        Frozen::NotYet => vec![CloseStep::Freeze],
    };
    steps.push(CloseStep::SaveWork);
    match &failure.disposition {
        Disposition::Block(_) => steps.push(CloseStep::Block),
        Disposition::Requeue(_) => steps.push(CloseStep::Requeue),
        Disposition::Leave { .. } => {}
    }
    steps.extend([CloseStep::ReleaseSlot, CloseStep::RecomputeParents, CloseStep::Drain]);
    ClosePlan { steps, failure: Some(failure) }
}

/// The steps that end an attempt whose slot holds nothing yet that could be lost: it is only handed back.
pub fn hand_back_plan(failure: Failure) -> ClosePlan {
    let mut plan = failure_plan(failure, Frozen::Already);
    plan.steps.retain(|step| *step != CloseStep::SaveWork);
    plan
}

fn success_plan(lane: Lane, facts: &CloseFacts) -> ClosePlan {
    let mut steps = vec![CloseStep::BoardCheck, CloseStep::Format];
    if facts.generated {
        steps.push(CloseStep::GeneratedFiles);
    }
    steps.extend([CloseStep::Freeze, CloseStep::ScopeCheck, CloseStep::Checks]);
    if facts.reviewed.contains(&lane) {
        steps.push(CloseStep::Reviewer);
    }
    steps.extend([
        CloseStep::Acceptance,
        CloseStep::OpenPr,
        CloseStep::ReleaseSlot,
        CloseStep::RecomputeParents,
        CloseStep::Drain,
    ]);
    ClosePlan { steps, failure: None }
}

#[cfg(test)]
mod tests {
    use dispatch_core::names::PauseCause;

    use super::*;

    fn shown(plan: &ClosePlan) -> String {
        plan.steps.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn c1_success_runs_every_gate_before_the_pull_request() {
        let facts =
            CloseFacts { reviewed: vec![Lane::Local], generated: true, ..CloseFacts::default() };
        let local = plan_close(Outcome::Success, Detail::Nothing, Lane::Local, &facts);
        insta::assert_snapshot!(shown(&local), @"board-check format generated-files freeze scope-check checks reviewer acceptance open-pr release-slot recompute-parents drain");
        let frontier = plan_close(
            Outcome::Success,
            Detail::Nothing,
            Lane::Frontier,
            &CloseFacts { generated: false, ..facts },
        );
        insta::assert_snapshot!(shown(&frontier), @"board-check format freeze scope-check checks acceptance open-pr release-slot recompute-parents drain");
    }

    #[test]
    fn c1_2_only_success_leads_to_a_pull_request_and_every_failure_saves_then_hands_over_then_releases()
     {
        for outcome in Outcome::ALL {
            let plan = plan_close(*outcome, Detail::Nothing, Lane::Local, &CloseFacts::default());
            let at = |step| plan.steps.iter().position(|found| *found == step);
            if *outcome == Outcome::Success {
                assert!(at(CloseStep::OpenPr).is_some());
                continue;
            }
            assert_eq!(at(CloseStep::OpenPr), None, "{outcome}");
            assert_eq!(at(CloseStep::Freeze), Some(0), "{outcome}");
            assert_eq!(at(CloseStep::SaveWork), Some(1), "{outcome}");
            let handed = at(CloseStep::Block).or(at(CloseStep::Requeue)).unwrap_or(1);
            assert!(handed < at(CloseStep::ReleaseSlot).unwrap(), "{outcome}");
        }
    }

    #[test]
    fn i8_machine_and_account_faults_go_back_uncounted_and_a_cancellation_keeps_the_persons_status()
    {
        let facts = CloseFacts { cancel_to: Some(Status::ToDo), ..CloseFacts::default() };
        let plan = |outcome| plan_close(outcome, Detail::Nothing, Lane::Frontier, &facts);
        let limit = plan(Outcome::UsageLimit).failure.unwrap().disposition;
        assert_eq!(limit, Disposition::Requeue(RequeueReason::Paused(PauseCause::UsageLimit)));
        assert_eq!(limit.tally(), Tally::Excused);
        let cancelled = plan(Outcome::Cancelled);
        insta::assert_snapshot!(shown(&cancelled), @"freeze save-work release-slot recompute-parents drain");
        let taken_away = cancelled.failure.unwrap().disposition;
        assert_eq!(taken_away, Disposition::Leave { to: Some(Status::ToDo) });
        assert_eq!(taken_away.tally(), Tally::Excused);
        assert_eq!(plan(Outcome::Crash).failure.unwrap().disposition.tally(), Tally::Counted);
    }
}
