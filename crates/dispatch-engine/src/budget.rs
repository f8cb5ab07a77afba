//! The time a pass may spend on the network (D2.2).

use std::time::Duration;

use dispatch_core::record::Beat;

use crate::ports::Clock;

/// Lease, fetch and the forge's listing have this long together.
pub(crate) const NETWORK: Duration = Duration::from_secs(30);

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

    /// What is left of it.
    pub(crate) fn left(&self, clock: &dyn Clock) -> Duration {
        let spent = awake_between(&self.since, &clock.beat()).unwrap_or(self.total);
        self.total.saturating_sub(spent)
    }
}

/// Machine-awake time between two readings; none when they are of two boots or in the wrong order.
pub(crate) fn awake_between(from: &Beat, to: &Beat) -> Option<Duration> {
    if from.boot_id != to.boot_id {
        return None;
    }
    to.awake_ms.checked_sub(from.awake_ms).map(Duration::from_millis)
}
