//! The time a pass may spend on the network (D2.2).

use std::time::Duration;

use dispatch_core::record::Beat;

use crate::ports::Clock;

/// All calls of a pass that speak to the remote or to the forge have this long together.
pub(crate) const NETWORK: Duration = Duration::from_secs(30);
/// What sending work may take a supervisor.
pub(crate) const PUSH: Duration = Duration::from_mins(9);
/// What is kept of it for the forge while git asks the remote: one that hangs must not silence the other.
const FOR_THE_FORGE: Duration = Duration::from_secs(10);
/// No call is begun with less: it would only fail.
const LEAST: Duration = Duration::from_secs(1);

/// A time budget that began at some moment.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    since: Beat,
    total: Duration,
}

impl Budget {
    pub(crate) fn start(clock: &dyn Clock, total: Duration) -> Self {
        Self { since: clock.beat(), total }
    }

    /// The limit of a call that begins now; none when what is left is not enough for one.
    pub(crate) fn left(&self, clock: &dyn Clock) -> Option<Duration> {
        self.left_of(self.total, clock)
    }

    /// The same for git, before the forge is asked.
    pub(crate) fn left_for_git(&self, clock: &dyn Clock) -> Option<Duration> {
        self.left_of(self.total.saturating_sub(FOR_THE_FORGE), clock)
    }

    fn left_of(&self, total: Duration, clock: &dyn Clock) -> Option<Duration> {
        let spent = awake_between(&self.since, &clock.beat()).unwrap_or(total);
        Some(total.saturating_sub(spent)).filter(|left| *left >= LEAST)
    }
}

/// What a report says of a step that found nothing left of the budget.
pub(crate) fn put_off(what: &str) -> String {
    let seconds = NETWORK.as_secs();
    format!("the {seconds} s a pass has for the network are used up: the next pass {what}")
}

/// Machine-awake time between two readings; none when they are of two boots or in the wrong order.
pub(crate) fn awake_between(from: &Beat, to: &Beat) -> Option<Duration> {
    if from.boot_id != to.boot_id {
        return None;
    }
    to.awake_ms.checked_sub(from.awake_ms).map(Duration::from_millis)
}
