//! Two ways to do one thing, timed alternately in one run and told as a ratio.
//!
//! A benchmark is a `bench` target with `harness = false` that builds its input, and reports one line a comparison;
//! `cargo xtask bench` runs them all. Figures of another machine, or of another minute, say nothing about each other:
//! only a ratio within one run does.
//!
//! ```
//! use std::time::Duration;
//! use dispatch_testkit::bench::{Compared, alternate};
//!
//! let compared = alternate(3, || drop(vec![0_u8; 10]), || drop(vec![0_u8; 1000]));
//! assert!(compared.line("ten bytes", "a thousand").contains("ten bytes"));
//! let exact = Compared { ours: Duration::from_millis(2), other: Duration::from_millis(8) };
//! assert_eq!(exact.line("ours", "theirs"), "ours 2.0 ms, theirs 8.0 ms: 4.00 times as fast");
//! ```

use std::time::{Duration, Instant};

/// The median times of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compared {
    /// What is measured.
    pub ours: Duration,
    /// What it is measured against.
    pub other: Duration,
}

impl Compared {
    /// How many of ours fit into one of the other.
    pub fn ratio(&self) -> f64 {
        self.other.as_secs_f64() / self.ours.as_secs_f64().max(f64::EPSILON)
    }

    /// The comparison as a line of text.
    pub fn line(&self, ours: &str, other: &str) -> String {
        let ratio = self.ratio();
        let words = if ratio >= 1.0 {
            format!("{ratio:.2} times as fast")
        } else {
            format!("{:.2} times the time", 1.0 / ratio)
        };
        format!("{ours} {:.1} ms, {other} {:.1} ms: {words}", ms(self.ours), ms(self.other))
    }
}

/// Runs both `rounds` times, one after the other, and takes the median of each.
pub fn alternate(rounds: usize, mut ours: impl FnMut(), mut other: impl FnMut()) -> Compared {
    let (mut our_times, mut other_times) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        our_times.push(time(&mut ours));
        other_times.push(time(&mut other));
    }
    Compared { ours: median(our_times), other: median(other_times) }
}

/// How long `work` takes.
pub fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// The one in the middle.
///
/// # Panics
///
/// When there is none.
pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
