//! Waiting for what another process or thread does: polls with a deadline, so that a test neither sleeps for its
//! outcome nor hangs.

use std::thread;
use std::time::{Duration, Instant};

/// Long enough for a slow, busy machine; a passing test never waits it out.
pub const PATIENCE: Duration = Duration::from_mins(1);

const PAUSE: Duration = Duration::from_millis(10);

/// Waits until `ready` holds.
///
/// # Panics
///
/// When it does not hold within [`PATIENCE`]; `what` names what was awaited.
#[track_caller]
pub fn until(what: &str, mut ready: impl FnMut() -> bool) {
    until_some(what, || ready().then_some(()));
}

/// Waits until `look` finds something, and returns it.
///
/// # Panics
///
/// When it finds nothing within [`PATIENCE`].
#[track_caller]
pub fn until_some<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    until_some_within(what, PATIENCE, look)
}

/// Waits until `look` finds something, for at most `limit`.
///
/// # Panics
///
/// When it finds nothing in that time.
#[track_caller]
pub fn until_some_within<T>(what: &str, limit: Duration, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited {limit:?} in vain for {what}");
        thread::sleep(PAUSE);
    }
}
