//! Maintenance: what every pass does first (M1).
//!
//! Steps are independent: one that fails is reported and the next still runs. The sweep decides and writes small
//! things; what takes long it hands to a supervisor. With nothing to do it writes nothing (M1.2).

mod backups;
mod board_commit;
mod cancelled;
mod dead;
mod done_by_hand;
mod held;
mod orphans;
mod owed;
mod parents;
pub(crate) mod proposals;
mod pull_requests;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use dispatch_core::board::Board;
use dispatch_core::id::TaskId;
use dispatch_core::names::BlockReason;
use dispatch_core::record::{Phase, Record};
use serde::{Deserialize, Serialize};

use crate::board_place::BoardBranch;
use crate::budget::{Budget, put_off};
use crate::ports::{PortError, Ports, ProposalState, Recorded, RemoteView, TaskLock, TryLock};
use crate::setup::Setup;
use crate::texts::notify_blocked;

/// The steps, in their order (M1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SweepStep {
    /// Commits the board (B6).
    BoardCommit,
    /// Recovers attempts whose supervisor is gone or stands still.
    DeadAttempts,
    /// Follows recorded pull requests.
    PullRequests,
    /// Questions a `Done` that the forge does not confirm.
    DoneByHand,
    /// Blocks tasks `In Progress` that nothing works on.
    Orphans,
    /// Stops what a person took back.
    CancelledByHand,
    /// Pushes saved work again whose backup failed.
    Backups,
    /// Tries again to save what only a slot holds.
    HeldSlots,
    /// Derives the statuses of parents.
    Parents,
}

impl SweepStep {
    /// Every step, in order.
    pub const ALL: [Self; 9] = [
        Self::BoardCommit,
        Self::DeadAttempts,
        Self::PullRequests,
        Self::DoneByHand,
        Self::Orphans,
        Self::CancelledByHand,
        Self::Backups,
        Self::HeldSlots,
        Self::Parents,
    ];

    /// Whether the step needs the board on its branch (M1.3). What became of a pull request is asked once, and what
    /// follows from it must not be written into another branch's files.
    const fn needs_board(self) -> bool {
        match self {
            Self::BoardCommit
            | Self::PullRequests
            | Self::DoneByHand
            | Self::Orphans
            | Self::CancelledByHand
            | Self::Parents => true,
            Self::DeadAttempts | Self::Backups | Self::HeldSlots => false,
        }
    }

    fn run(self, sweep: &mut Sweep<'_>) -> Result<(), PortError> {
        match self {
            Self::BoardCommit => board_commit::run(sweep),
            Self::DeadAttempts => dead::run(sweep),
            Self::PullRequests => pull_requests::run(sweep),
            Self::DoneByHand => {
                done_by_hand::run(sweep);
                Ok(())
            }
            Self::Orphans => {
                orphans::run(sweep);
                owed::run(sweep)
            }
            Self::CancelledByHand => cancelled::run(sweep),
            Self::Backups => backups::run(sweep),
            Self::HeldSlots => held::run(sweep),
            Self::Parents => parents::run(sweep),
        }
    }
}

/// Something the sweep did, or could not do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SweepLine {
    /// The step.
    pub step: SweepStep,
    /// The task it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<TaskId>,
    /// What, as a clause for a person.
    pub text: String,
    /// Whether it is something that went wrong.
    pub problem: bool,
}

impl SweepLine {
    /// Whether it says what became of a pull request.
    pub(crate) fn is_news_of_the_forge(&self) -> bool {
        self.step == SweepStep::PullRequests && !self.problem
    }
}

/// What a sweep works with.
pub(crate) struct Sweep<'a> {
    pub(crate) ports: &'a Ports<'a>,
    pub(crate) setup: &'a Setup,
    /// The board as it was read before the sweep.
    pub(crate) board: &'a Board,
    /// Whether the board's files may be acted on.
    pub(crate) place: &'a BoardBranch,
    /// What the remote said.
    pub(crate) remote: &'a RemoteView,
    budget: &'a Budget,
    /// What became of recorded pull requests; filled by the step that asks.
    pub(crate) proposals: BTreeMap<TaskId, ProposalState>,
    lines: Vec<SweepLine>,
    put_off: BTreeSet<String>,
    step: SweepStep,
}

/// What a sweep did.
pub(crate) struct Swept {
    pub(crate) lines: Vec<SweepLine>,
    /// What it left to the next pass for lack of time, for the report.
    pub(crate) put_off: BTreeSet<String>,
}

/// Runs every step.
pub(crate) fn run<'a>(
    ports: &'a Ports<'a>,
    setup: &'a Setup,
    board: &'a Board,
    place: &'a BoardBranch,
    remote: &'a RemoteView,
    budget: &'a Budget,
) -> Swept {
    let mut sweep = Sweep {
        ports,
        setup,
        board,
        place,
        remote,
        budget,
        proposals: BTreeMap::new(),
        lines: Vec::new(),
        put_off: BTreeSet::new(),
        step: SweepStep::BoardCommit,
    };
    for step in SweepStep::ALL {
        sweep.take(step);
    }
    // What the steps wrote is committed at once: a second sweep right after this one has nothing to do (M1.2).
    if sweep.lines.iter().any(|line| !line.problem && line.step != SweepStep::BoardCommit) {
        sweep.take(SweepStep::BoardCommit);
    }
    Swept { lines: sweep.lines, put_off: sweep.put_off }
}

/// A task's record, read under its lock.
pub(crate) struct Locked {
    pub(crate) lock: Box<dyn TaskLock>,
    pub(crate) record: Record,
}

impl Sweep<'_> {
    /// Runs one step; its failure is reported.
    fn take(&mut self, step: SweepStep) {
        if step.needs_board() && !self.place.is_here() {
            return;
        }
        self.step = step;
        if let Err(error) = step.run(self) {
            self.problem(None, error.chain());
        }
    }

    /// The limit of a call on the network (D2.2); none when it is left to the next pass, which is said.
    fn left(&mut self, what: &str) -> Option<Duration> {
        let left = self.budget.left(self.ports.clock);
        if left.is_none() {
            self.put_off.insert(put_off(what));
        }
        left
    }

    pub(crate) fn did(&mut self, id: &TaskId, text: impl Into<String>) {
        self.lines.push(SweepLine {
            step: self.step,
            id: Some(id.clone()),
            text: text.into(),
            problem: false,
        });
    }

    pub(crate) fn said(&mut self, text: impl Into<String>) {
        let line = SweepLine { step: self.step, id: None, text: text.into(), problem: false };
        self.lines.push(line);
    }

    pub(crate) fn problem(&mut self, id: Option<&TaskId>, text: String) {
        let line = SweepLine { step: self.step, id: id.cloned(), text, problem: true };
        self.lines.push(line);
    }

    /// Does `work` for every record of the kind asked for; a failure is reported and the next one follows.
    pub(crate) fn each_record(
        &mut self,
        wanted: impl Fn(&Record) -> bool,
        work: fn(&mut Self, &Record) -> Result<(), PortError>,
    ) -> Result<(), PortError> {
        for recorded in self.ports.store.records()? {
            match recorded {
                Recorded::Read(record) => {
                    if wanted(&record)
                        && let Err(error) = work(self, &record)
                    {
                        self.problem(Some(&record.task_id), error.chain());
                    }
                }
                // Said once, by the step that looks at all records first.
                Recorded::Unreadable { error, .. } => {
                    if self.step == SweepStep::DeadAttempts {
                        self.problem(None, error.chain());
                    }
                }
            }
        }
        Ok(())
    }

    /// Takes a task's lock and its record as it is now; none while somebody else has the lock, or without a record.
    pub(crate) fn lock(&self, id: &TaskId) -> Result<Option<Locked>, PortError> {
        match self.ports.store.try_task_lock(id)? {
            TryLock::Busy(_) => Ok(None),
            TryLock::Taken(lock) => {
                Ok(self.ports.store.record(id)?.map(|record| Locked { lock, record }))
            }
        }
    }

    /// Takes a task's lock if its record has ended.
    pub(crate) fn lock_ended(&self, id: &TaskId) -> Result<Option<Locked>, PortError> {
        Ok(self.lock(id)?.filter(|locked| locked.record.phase == Phase::Ended))
    }

    pub(crate) fn notify_blocked(&self, id: &TaskId, reason: BlockReason, body: &str) {
        notify_blocked(self.ports, self.setup.config.language, id, reason, body);
    }
}
