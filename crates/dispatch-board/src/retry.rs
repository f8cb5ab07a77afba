//! Trying a write again while the board is busy (B3.3).

use std::thread;
use std::time::{Duration, SystemTime};

use crate::BoardError;

/// The least wait before each further try, in milliseconds: 15.6 s in all, since the lock of a killed holder lives 10 s.
const WAITS_MS: [u64; 7] = [40, 160, 500, 1_200, 2_700, 4_500, 6_500];

/// Runs `write` until it does not fail because the board is busy, at most eight times; then the original error stands.
pub(crate) fn while_busy<T>(
    command: &str,
    write: impl FnMut() -> Result<T, BoardError>,
) -> Result<T, BoardError> {
    while_busy_with(&WAITS_MS, command, write)
}

fn while_busy_with<T>(
    waits: &[u64],
    command: &str,
    mut write: impl FnMut() -> Result<T, BoardError>,
) -> Result<T, BoardError> {
    let tries = waits.len() + 1;
    for (wait, number) in waits.iter().zip(2..) {
        match write() {
            Err(error) if error.is_busy() => {
                tracing::info!("board busy, retry {number}/{tries} for {command}");
                thread::sleep(Duration::from_millis(wait + jitter(*wait)));
            }
            other => return other,
        }
    }
    write()
}

/// Up to half of `wait` more, so that two writers do not meet again.
fn jitter(wait: u64) -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let noise =
        u64::from(now.subsec_nanos()) ^ u64::from(std::process::id()).wrapping_mul(0x9e37_79b9);
    noise % (wait / 2 + 1)
}

#[cfg(test)]
mod tests {
    use dispatch_core::id::TaskId;

    use super::*;
    use crate::lock::LockError;

    fn busy(number: u32) -> BoardError {
        let id = TaskId::parse(&format!("T-{number}")).unwrap();
        BoardError::Lock { id, source: LockError::Busy }
    }

    /// N6: the board's own lock, met for an instant, is no failure.
    #[test]
    fn n6_a_busy_board_is_tried_again() {
        let mut tries = 0;
        let end = while_busy_with(&[0, 0, 0], "write", || {
            tries += 1;
            if tries < 3 { Err(busy(tries)) } else { Ok(tries) }
        });
        assert_eq!(end.unwrap(), 3);
    }

    /// N7: at least one try is made, and the error of the last one is the one that is told.
    #[test]
    fn n7_one_try_is_always_made_and_the_original_error_is_returned() {
        let mut tries = 0;
        let mut fail = |waits: &[u64]| {
            tries = 0;
            let error = while_busy_with::<()>(waits, "write", || {
                tries += 1;
                Err(busy(tries))
            });
            (tries, error.unwrap_err().to_string())
        };
        assert_eq!(fail(&[]), (1, "the board's lock on T-1 was not to be had".to_owned()));
        assert_eq!(fail(&[0, 0]), (3, "the board's lock on T-3 was not to be had".to_owned()));
    }

    #[test]
    fn b3_3_eight_tries_outlast_the_lock_of_a_killed_holder() {
        assert_eq!(WAITS_MS.len() + 1, 8);
        assert!(WAITS_MS.iter().sum::<u64>() >= 15_000);
        assert!(WAITS_MS.is_sorted());
    }

    #[test]
    fn b3_3_any_other_failure_is_returned_at_once() {
        let mut tries = 0;
        let error = while_busy_with::<()>(&[0, 0], "write", || {
            tries += 1;
            Err(BoardError::Hostile { file: "tasks/t-1.md".into() })
        });
        assert!(matches!(error, Err(BoardError::Hostile { .. })));
        assert_eq!(tries, 1);
    }
}
