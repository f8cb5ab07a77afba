//! What a watcher of the board does, and when (R2.1).
//!
//! A [`Watch`] is told what happened ([`Happened`]) and answers what is to be done now ([`Act`]). It starts no second
//! pass while one runs and forgets no wish for one; many changes of files become one reading of the board. [`Seen`]
//! finds what changed between two readings and who is to be thanked for it; [`matters`] tells files of the board from
//! everything else that is written below it. Moments are the time since the watcher began.

mod files;
mod seen;

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use crate::id::TaskId;

pub use self::files::{WATCHED_FOLDERS, matters};
pub use self::seen::{BoardChange, Look, Seen};

/// How long the board must be quiet before it is read.
pub const SETTLE: Duration = Duration::from_millis(300);

/// How long a board that is never quiet goes unread.
pub const UNSETTLED_MOST: Duration = Duration::from_secs(2);

/// How often things are done without an occasion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rhythm {
    /// Between two passes.
    pub interval: Duration,
    /// Between two questions whether something was merged; never when there is none.
    pub poll: Option<Duration>,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happened {
    /// Files of the board changed.
    Changed,
    /// These tasks became `Queued`, and not by what we started.
    Queued(BTreeSet<TaskId>),
    /// A person asked for a pass.
    Asked,
    /// The pass ended. It had seen these tasks `Queued` and left none of them blocked.
    PassEnded {
        /// Those tasks.
        served: BTreeSet<TaskId>,
    },
    /// The question was answered: the work on these tasks is merged.
    Polled {
        /// Those tasks.
        merged: BTreeSet<TaskId>,
    },
}

/// Something to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// Read the board.
    Read,
    /// Run a pass, and say so when it has ended.
    Pass(Cause),
    /// Ask whether something was merged, and say so when the answer is there.
    Poll,
}

/// Why a pass is run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cause {
    /// Tasks that became `Queued`.
    pub queued: BTreeSet<TaskId>,
    /// Tasks whose work was merged.
    pub merged: BTreeSet<TaskId>,
    /// A person asked.
    pub asked: bool,
    /// It was time.
    pub due: bool,
}

impl Cause {
    /// Whether there is no cause at all.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |ids: &BTreeSet<TaskId>, what: &str| match ids.len() {
            0 => None,
            1..=3 => {
                let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
                Some(format!("{} {what}", ids.join(", ")))
            }
            more => Some(format!("{more} tasks {what}")),
        };
        let parts = [
            named(&self.queued, "queued"),
            named(&self.merged, "merged"),
            self.asked.then(|| "asked for".to_owned()),
            self.due.then(|| "it is time".to_owned()),
        ];
        f.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join("; "))
    }
}

/// Whether something is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Activity {
    Running,
    Idle,
}

/// Files that changed and were not read yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Unread {
    first: Duration,
    last: Duration,
}

impl Unread {
    fn due(self) -> Duration {
        (self.last + SETTLE).min(self.first + UNSETTLED_MOST)
    }
}

/// Decides what to do next.
#[derive(Debug, Clone)]
pub struct Watch {
    rhythm: Rhythm,
    unread: Option<Unread>,
    wanted: Cause,
    pass: Activity,
    poll: Activity,
    next_pass: Duration,
    next_poll: Option<Duration>,
}

impl Watch {
    /// A watcher that begins with a reading and a pass: what was queued before it came has waited long enough.
    pub fn new(rhythm: Rhythm) -> Self {
        Self {
            rhythm,
            unread: None,
            wanted: Cause::default(),
            pass: Activity::Idle,
            poll: Activity::Idle,
            next_pass: Duration::ZERO,
            next_poll: rhythm.poll,
        }
    }

    /// Takes in what happened.
    pub fn take(&mut self, now: Duration, happened: Happened) {
        match happened {
            Happened::Changed => {
                let first = self.unread.map_or(now, |unread| unread.first);
                self.unread = Some(Unread { first, last: now });
            }
            Happened::Queued(ids) => self.wanted.queued.extend(ids),
            Happened::Asked => self.wanted.asked = true,
            Happened::PassEnded { served } => {
                self.pass = Activity::Idle;
                self.next_pass = now + self.rhythm.interval;
                self.wanted.queued.retain(|id| !served.contains(id));
                // What the pass wrote is to be shown, and what was written beside it to be found.
                self.take(now, Happened::Changed);
            }
            Happened::Polled { merged } => {
                self.poll = Activity::Idle;
                self.next_poll = self.rhythm.poll.map(|every| now + every);
                self.wanted.merged.extend(merged);
            }
        }
    }

    /// What is to be done now.
    pub fn due(&mut self, now: Duration) -> Vec<Act> {
        let mut acts = Vec::new();
        if self.unread.is_some_and(|unread| unread.due() <= now) {
            self.unread = None;
            acts.push(Act::Read);
        }
        if self.pass == Activity::Running {
            return acts;
        }
        if self.next_pass <= now {
            self.wanted.due = true;
        }
        if !self.wanted.is_none() {
            self.pass = Activity::Running;
            acts.push(Act::Pass(std::mem::take(&mut self.wanted)));
        } else if self.poll == Activity::Idle && self.next_poll.is_some_and(|at| at <= now) {
            self.poll = Activity::Running;
            acts.push(Act::Poll);
        }
        acts
    }

    /// When there is something to do next, if nothing happens before.
    pub fn next(&self) -> Option<Duration> {
        let idle = self.pass == Activity::Idle;
        let wanted = (idle && !self.wanted.is_none()).then_some(Duration::ZERO);
        let pass = idle.then_some(self.next_pass);
        let poll = self.next_poll.filter(|_| idle && self.poll == Activity::Idle);
        let unread = self.unread.map(Unread::due);
        [wanted, pass, poll, unread].into_iter().flatten().min()
    }

    /// Whether a pass is running.
    pub fn is_passing(&self) -> bool {
        self.pass == Activity::Running
    }

    /// When the next pass is due, while none runs.
    pub fn next_pass(&self) -> Option<Duration> {
        (!self.is_passing()).then_some(self.next_pass)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RHYTHM: Rhythm =
        Rhythm { interval: Duration::from_mins(5), poll: Some(Duration::from_mins(2)) };

    fn ms(number: u64) -> Duration {
        Duration::from_millis(number)
    }

    fn ids(names: &[&str]) -> BTreeSet<TaskId> {
        names.iter().map(|name| TaskId::parse(name).unwrap()).collect()
    }

    fn passes(acts: &[Act]) -> Vec<Cause> {
        let cause = |act: &Act| match act {
            Act::Pass(cause) => Some(cause.clone()),
            Act::Read | Act::Poll => None,
        };
        acts.iter().filter_map(cause).collect()
    }

    /// A watcher whose first pass has ended.
    fn settled() -> Watch {
        let mut watch = Watch::new(RHYTHM);
        assert_eq!(passes(&watch.due(ms(0))).len(), 1);
        watch.take(ms(0), Happened::PassEnded { served: BTreeSet::new() });
        assert_eq!(watch.due(SETTLE), [Act::Read]);
        watch
    }

    #[test]
    fn r2_1_ten_thousand_events_are_one_reading() {
        let mut watch = settled();
        for at in 0..10_000 {
            watch.take(ms(1000 + at / 100), Happened::Changed);
            assert_eq!(watch.due(ms(1000 + at / 100)), []);
        }
        assert_eq!(watch.due(ms(1099 + 299)), []);
        assert_eq!(watch.due(ms(1099 + 300)), [Act::Read]);
        assert_eq!(watch.due(ms(5000)), []);
    }

    #[test]
    fn r2_1_a_board_that_is_never_quiet_is_read_all_the_same() {
        let mut watch = settled();
        let mut read_at = Vec::new();
        for at in (1000..6000).step_by(50) {
            watch.take(ms(at), Happened::Changed);
            read_at.extend(watch.due(ms(at)).iter().map(|_| at));
        }
        assert_eq!(read_at, [3000, 5050]);
    }

    #[test]
    fn r2_1_a_pass_follows_a_task_that_becomes_queued_a_merge_the_interval_and_a_wish() {
        let mut watch = settled();
        watch.take(ms(1000), Happened::Queued(ids(&["T-1"])));
        let causes = passes(&watch.due(ms(1000)));
        assert_eq!(causes[0].to_string(), "T-1 queued");
        watch.take(ms(2000), Happened::PassEnded { served: ids(&["T-1"]) });

        assert!(watch.due(ms(120_000)).contains(&Act::Poll));
        assert_eq!(watch.due(ms(130_000)), [], "the answer is not there yet");
        watch.take(ms(131_000), Happened::Polled { merged: ids(&["T-2"]) });
        assert_eq!(passes(&watch.due(ms(131_000)))[0].to_string(), "T-2 merged");
        watch.take(ms(140_000), Happened::PassEnded { served: BTreeSet::new() });

        watch.take(ms(140_500), Happened::Asked);
        assert_eq!(passes(&watch.due(ms(140_500)))[0].to_string(), "asked for");
        watch.take(ms(141_000), Happened::PassEnded { served: BTreeSet::new() });
        watch.take(ms(141_000), Happened::Polled { merged: BTreeSet::new() });
        watch.due(ms(150_000));
        assert_eq!(passes(&watch.due(ms(440_999))), []);
        assert_eq!(passes(&watch.due(ms(441_000)))[0].to_string(), "it is time");
    }

    #[test]
    fn r2_1_without_a_poll_nobody_is_asked() {
        let mut watch = Watch::new(Rhythm { poll: None, ..RHYTHM });
        watch.due(ms(0));
        watch.take(ms(0), Happened::PassEnded { served: BTreeSet::new() });
        watch.due(SETTLE);
        assert_eq!(watch.next(), Some(RHYTHM.interval));
        assert_eq!(watch.due(ms(299_999)), []);
    }

    /// A task that our own pass put into the queue and looked at needs no further one.
    #[test]
    fn r2_1_what_the_pass_itself_queued_and_served_starts_no_other() {
        let mut watch = settled();
        watch.take(ms(1000), Happened::Asked);
        watch.due(ms(1000));
        watch.take(ms(1500), Happened::Queued(ids(&["T-1", "T-2"])));
        watch.take(ms(2000), Happened::PassEnded { served: ids(&["T-1"]) });
        assert_eq!(passes(&watch.due(ms(2000)))[0].queued, ids(&["T-2"]));
    }

    #[derive(Debug, Clone)]
    enum Step {
        Wait(u64),
        Change,
        Queue(u8),
        Ask,
        EndPass,
        AnswerPoll(bool),
    }

    fn arb_step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (1_u64..200_000).prop_map(Step::Wait),
            (1_u64..400).prop_map(Step::Wait),
            Just(Step::Change),
            (1_u8..5).prop_map(Step::Queue),
            Just(Step::Ask),
            Just(Step::EndPass),
            any::<bool>().prop_map(Step::AnswerPoll),
        ]
    }

    proptest! {
        /// R2.1: never two passes at once, no wish is lost, and the machine never says it has nothing to wait for.
        #[test]
        fn r2_1_one_pass_at_a_time_and_no_wish_is_lost(steps in proptest::collection::vec(arb_step(), 0..80)) {
            let mut watch = Watch::new(RHYTHM);
            let (mut now, mut passing, mut polling) = (Duration::ZERO, false, false);
            let mut owed: BTreeSet<TaskId> = BTreeSet::new();
            let mut unread = false;
            let steps = steps.into_iter().chain([Step::EndPass, Step::Wait(1), Step::EndPass, Step::Wait(400_000)]);
            for step in steps {
                match step {
                    Step::Wait(time) => now += ms(time),
                    Step::Change => { watch.take(now, Happened::Changed); unread = true; }
                    Step::Queue(number) => {
                        let id = ids(&[&format!("T-{number}")]);
                        watch.take(now, Happened::Queued(id.clone()));
                        owed.extend(id);
                    }
                    Step::Ask => watch.take(now, Happened::Asked),
                    Step::EndPass if passing => {
                        passing = false;
                        watch.take(now, Happened::PassEnded { served: BTreeSet::new() });
                        unread = true;
                    }
                    Step::AnswerPoll(merged) if polling => {
                        polling = false;
                        let merged = if merged { ids(&["T-9"]) } else { BTreeSet::new() };
                        watch.take(now, Happened::Polled { merged });
                    }
                    Step::EndPass | Step::AnswerPoll(_) => {}
                }
                let before = watch.next();
                let acts = watch.due(now);
                prop_assert!(acts.is_empty() || before.is_some_and(|at| at <= now), "{:?}", before);
                for act in acts {
                    match act {
                        Act::Pass(cause) => {
                            prop_assert!(!passing && !cause.is_none());
                            passing = true;
                            owed.retain(|id| !cause.queued.contains(id));
                        }
                        Act::Read => { prop_assert!(unread); unread = false; }
                        Act::Poll => { prop_assert!(!polling && !passing); polling = true; }
                    }
                }
                prop_assert_eq!(watch.is_passing(), passing);
                prop_assert!(passing || watch.next().is_some_and(|at| at > now));
            }
            prop_assert!(owed.is_empty() && !unread, "{:?}", owed);
        }
    }
}
