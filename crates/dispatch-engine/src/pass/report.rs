//! What a pass reports (D3.4).

use std::fmt;

use dispatch_core::attempt::AttemptNumber;
use dispatch_core::id::TaskId;
use dispatch_core::names::{BlockReason, SelectionOff, WaitReason};
use dispatch_core::slot::SlotName;
use serde::{Deserialize, Serialize};

use crate::sweep::SweepLine;

/// What a pass did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PassReport {
    /// Another pass is running, which will look again: what it says of itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub another: Option<String>,
    /// One entry a round: a wish that came meanwhile makes another one.
    pub rounds: Vec<RoundReport>,
}

/// One round of a pass.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RoundReport {
    /// What maintenance did.
    pub maintenance: Vec<SweepLine>,
    /// The tasks that were considered, in order.
    pub considered: Vec<Considered>,
    /// Whether tasks were selected.
    pub selection: Selection,
    /// Whether nothing was started on purpose (`--dry-run`).
    pub rehearsed: bool,
    /// What a person should know: task files that cannot be read, a remote that did not answer.
    pub notes: Vec<String>,
    /// What went wrong beside all of that.
    pub problems: Vec<String>,
}

/// A task that was considered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Considered {
    /// The task.
    pub id: TaskId,
    /// What was decided.
    #[serde(flatten)]
    pub end: End,
    /// The facts it rests on.
    pub grounds: String,
}

/// What became of a task that was considered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "verdict")]
pub enum End {
    /// A supervisor has it.
    Dispatched {
        /// The slot.
        slot: SlotName,
        /// The attempt.
        attempt: AttemptNumber,
    },
    /// It would be dispatched (`--dry-run`).
    WouldDispatch,
    /// It is blocked, or would be.
    Blocked {
        /// The reason it is given.
        reason: BlockReason,
    },
    /// It stays `Queued`.
    Waiting {
        /// The reason it is given.
        reason: WaitReason,
    },
    /// A person moved it meanwhile.
    Withdrawn,
    /// Dispatching it failed; it stays `Queued`.
    Failed,
}

/// Whether tasks were selected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Selection {
    /// They were.
    Done,
    /// There was none to select from.
    NoQueuedTask,
    /// They were not.
    Off {
        /// The reason it is given.
        reason: SelectionOff,
        /// The facts, for a person.
        grounds: String,
    },
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done => f.write_str("done"),
            Self::NoQueuedTask => f.write_str("no-queued-task"),
            Self::Off { reason, .. } => write!(f, "off ({reason})"),
        }
    }
}

impl fmt::Display for Considered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.id)?;
        match &self.end {
            End::Dispatched { slot, attempt } => {
                write!(f, "dispatched, attempt {attempt} in {slot}")?;
            }
            End::WouldDispatch => f.write_str("would be dispatched")?,
            End::Blocked { reason } => write!(f, "blocked, {reason}")?,
            End::Waiting { reason } => write!(f, "waiting, {reason}")?,
            End::Withdrawn => f.write_str("withdrawn")?,
            End::Failed => f.write_str("failed")?,
        }
        if self.grounds.is_empty() { Ok(()) } else { write!(f, ": {}", self.grounds) }
    }
}

/// How many tasks a round dispatched, blocked and left waiting.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Dispatched, or to be dispatched.
    pub dispatched: u32,
    /// Blocked, or to be blocked.
    pub blocked: u32,
    /// Left `Queued`.
    pub waiting: u32,
}

impl RoundReport {
    /// How many tasks were dispatched, blocked and left waiting.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for considered in &self.considered {
            match considered.end {
                End::Dispatched { .. } | End::WouldDispatch => counts.dispatched += 1,
                End::Blocked { .. } => counts.blocked += 1,
                End::Waiting { .. } | End::Failed => counts.waiting += 1,
                End::Withdrawn => {}
            }
        }
        counts
    }

    fn lines(&self) -> impl Iterator<Item = String> + '_ {
        let maintenance = self.maintenance.iter().map(|line| match &line.id {
            Some(id) => format!("{id}: {}", line.text),
            None => line.text.clone(),
        });
        let off = match &self.selection {
            Selection::Off { grounds, .. } if !grounds.is_empty() => Some(grounds.clone()),
            Selection::Off { .. } | Selection::Done | Selection::NoQueuedTask => None,
        };
        let Counts { dispatched, blocked, waiting } = self.counts();
        let (selection, rehearsed) = (&self.selection, self.rehearsed);
        let counts = if rehearsed {
            format!("would dispatch {dispatched}, block {blocked}, leave {waiting} waiting")
        } else {
            format!("dispatched {dispatched}, blocked {blocked}, waiting {waiting}")
        };
        let last = format!("pass complete: {counts}; selection {selection}");
        maintenance
            .chain(self.notes.iter().cloned())
            .chain(self.problems.iter().cloned())
            .chain(self.considered.iter().map(ToString::to_string))
            .chain(off)
            .chain([last])
    }
}

impl PassReport {
    /// What a person reads: one line a considered task, and what the pass came to.
    pub fn lines(&self) -> Vec<String> {
        let another = self
            .another
            .iter()
            .map(|holder| format!("another pass is running ({holder}); it will look again"));
        self.rounds.iter().flat_map(RoundReport::lines).chain(another).collect()
    }

    /// The tasks that were dispatched.
    pub fn dispatched(&self) -> impl Iterator<Item = &TaskId> {
        self.rounds.iter().flat_map(|round| &round.considered).filter_map(|considered| {
            matches!(considered.end, End::Dispatched { .. }).then_some(&considered.id)
        })
    }

    /// Whether something went wrong that a person should look at: exit status 1. A configuration that is not approved is
    /// one that cannot be used.
    pub fn failed(&self) -> bool {
        self.rounds.iter().any(|round| {
            !round.problems.is_empty()
                || matches!(
                    round.selection,
                    Selection::Off { reason: SelectionOff::ConfigChanged, .. }
                )
                || round.maintenance.iter().any(|line| line.problem)
                || round.considered.iter().any(|considered| considered.end == End::Failed)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn considered(id: &str, end: End, grounds: &str) -> Considered {
        Considered { id: TaskId::parse(id).unwrap(), end, grounds: grounds.to_owned() }
    }

    /// N28.
    #[test]
    fn d3_4_a_line_a_task_and_a_last_line() {
        let slot = SlotName::parse("dispatch-1").unwrap();
        let dispatched = End::Dispatched { slot, attempt: AttemptNumber::FIRST };
        let round = RoundReport {
            maintenance: Vec::new(),
            considered: vec![
                considered("T-1", dispatched, ""),
                considered("T-2", End::Blocked { reason: BlockReason::MissingTriage }, "no lane"),
                considered("T-3", End::Waiting { reason: WaitReason::NoFreeSlot }, ""),
            ],
            selection: Selection::Done,
            rehearsed: false,
            notes: Vec::new(),
            problems: Vec::new(),
        };
        let report = PassReport { another: None, rounds: vec![round] };
        assert_eq!(
            report.lines(),
            [
                "T-1: dispatched, attempt 1 in dispatch-1",
                "T-2: blocked, missing-triage: no lane",
                "T-3: waiting, no-free-slot",
                "pass complete: dispatched 1, blocked 1, waiting 1; selection done",
            ]
        );
        assert!(!report.failed());
        assert_eq!(
            serde_json::to_value(&report.rounds[0].considered[1]).unwrap(),
            serde_json::json!({
                "id": "T-2", "verdict": "blocked", "reason": "missing-triage", "grounds": "no lane"
            })
        );
    }

    #[test]
    fn d2_1_a_pass_that_finds_another_says_so() {
        let another = Some("pid 7, started 2026-01-01T00:00:00Z".to_owned());
        let report = PassReport { another, rounds: Vec::new() };
        assert_eq!(
            report.lines(),
            ["another pass is running (pid 7, started 2026-01-01T00:00:00Z); it will look again"]
        );
    }
}
