//! The clocks of this machine.

use std::time::Duration;

use dispatch_core::record::Beat;
use dispatch_engine::ports::Clock;
use rustix::time::{ClockId, clock_gettime};
use time::OffsetDateTime;

/// The machine's clocks: the wall clock, and the one that stands still while the machine sleeps (S6).
#[derive(Debug, Clone)]
pub struct SystemClock {
    boot_id: String,
}

impl SystemClock {
    /// The clocks of the present boot.
    pub fn new() -> Self {
        Self { boot_id: dispatch_proc::boot_id() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> OffsetDateTime {
        OffsetDateTime::now_utc()
    }

    fn beat(&self) -> Beat {
        let reading = clock_gettime(ClockId::Monotonic);
        let seconds = u64::try_from(reading.tv_sec).unwrap_or(0);
        let milliseconds = u64::try_from(reading.tv_nsec / 1_000_000).unwrap_or(0);
        Beat { boot_id: self.boot_id.clone(), awake_ms: seconds * 1000 + milliseconds }
    }

    fn sleep(&self, duration: Duration) {
        std::thread::sleep(duration);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beats_of_one_boot_never_go_back() {
        let clock = SystemClock::new();
        let first = clock.beat();
        clock.sleep(Duration::from_millis(2));
        let second = clock.beat();
        assert_eq!(first.boot_id, second.boot_id);
        assert!(second.awake_ms > first.awake_ms);
        assert!(!first.boot_id.is_empty());
    }
}
