//! Real processes, also those that do not want to end.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod ending;
mod handing_over;
mod running;

use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_proc::{Call, ProcessIdentity};

/// Far more than anything here takes.
const LONG: Duration = Duration::from_mins(1);

fn shell(dir: &Utf8Path, script: &str) -> Call {
    Call::new("sh", dir, LONG).arg("-c").arg(script).env("PATH", std::env::var("PATH").unwrap())
}

fn scratch() -> (tempfile::TempDir, Utf8PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(dir.path().to_owned()).unwrap();
    (dir, path)
}

/// Waits until `found` finds something.
fn eventually<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(value) = found() {
            return value;
        }
        assert!(began.elapsed() < LONG, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The process whose number a script wrote into a file.
fn noted(path: &Utf8Path) -> ProcessIdentity {
    eventually("a process to note its number", || {
        let text = std::fs::read_to_string(path).ok()?;
        ProcessIdentity::of(text.strip_suffix('\n')?.parse().ok()?)
    })
}

fn is_gone(process: &ProcessIdentity) {
    eventually("a process to be gone", || (!process.is_alive()).then_some(()));
}
