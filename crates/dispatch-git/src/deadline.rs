//! A limit that several calls share.

use std::time::{Duration, Instant};

/// When all that belongs together has to be over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    began: Instant,
    limit: Duration,
}

impl Deadline {
    pub(crate) fn within(limit: Duration) -> Self {
        Self { began: Instant::now(), limit }
    }

    /// What is left, for one call of it at most `most`.
    pub(crate) fn left(&self, most: Duration) -> Duration {
        self.limit.saturating_sub(self.began.elapsed()).min(most)
    }
}
