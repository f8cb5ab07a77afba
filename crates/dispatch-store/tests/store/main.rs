//! Our own files, with real files, real locks and several real processes.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod attempts;
mod children;
mod locks;
mod older;
mod records;
mod registry;
mod shared;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_core::attempt::{AttemptCounts, AttemptNumber};
use dispatch_core::branch::BranchName;
use dispatch_core::id::TaskId;
use dispatch_core::record::{Beat, Phase, Record, Rest};
use dispatch_core::slot::SlotName;
use dispatch_core::triage::Lane;
use dispatch_engine::ports::{Clock, PortError, SlotPlace};
use dispatch_store::{DiskStore, Places};
use time::OffsetDateTime;

/// A code root with its store, gone at the end of the test.
struct Scratch {
    _dir: tempfile::TempDir,
    root: Utf8PathBuf,
}

impl Scratch {
    fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("dispatch store ").tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(dir.path().to_owned()).unwrap();
        std::fs::create_dir_all(root.join(".git")).unwrap();
        std::fs::create_dir_all(root.join("backlog")).unwrap();
        Self { _dir: dir, root }
    }

    fn store(&self) -> DiskStore {
        open(&self.root, &["s-1", "s-2"])
    }

    fn store_with(&self, slots: &[&str]) -> DiskStore {
        open(&self.root, slots)
    }

    fn state(&self, name: &str) -> Utf8PathBuf {
        self.root.join(".git/dispatch").join(name)
    }

    fn attempts(&self, name: &str) -> Utf8PathBuf {
        self.root.join("backlog/.dispatch").join(name)
    }
}

/// A clock that a minute passes on whenever somebody looks at it.
#[derive(Debug, Clone, Default)]
struct SteppingClock(Arc<AtomicU64>);

impl SteppingClock {
    fn readings(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

impl Clock for SteppingClock {
    fn now(&self) -> OffsetDateTime {
        OffsetDateTime::UNIX_EPOCH
    }

    fn beat(&self) -> Beat {
        let reading = self.0.fetch_add(1, Ordering::SeqCst) + 1;
        Beat { boot_id: "boot".to_owned(), awake_ms: reading * 60_000 }
    }

    fn sleep(&self, duration: Duration) {
        std::thread::sleep(duration);
    }
}

fn open(root: &Utf8Path, slots: &[&str]) -> DiskStore {
    DiskStore::open(Places {
        state_dir: root.join(".git/dispatch"),
        board_dir: root.join("backlog"),
        board_root: root.to_owned(),
        slots_root: root.join("slots"),
        slots: slots
            .iter()
            .map(|name| SlotPlace { name: slot(name), path: root.join("slots").join(name) })
            .collect(),
    })
    .unwrap()
}

fn id(text: &str) -> TaskId {
    TaskId::parse(text).unwrap()
}

fn slot(text: &str) -> SlotName {
    SlotName::parse(text).unwrap()
}

fn attempt(number: u32) -> AttemptNumber {
    AttemptNumber::new(number).unwrap()
}

fn record(task: &str, phase: Phase) -> Record {
    Record {
        task_id: id(task),
        attempt: attempt(1),
        token: "t".to_owned(),
        slot: slot("s-1"),
        lane: Lane::Local,
        phase,
        supervisor: None,
        worker: None,
        beat: None,
        heartbeat_at: None,
        started_at: "2026-01-01T00:00:00.000Z".to_owned(),
        base_branch: None,
        base: None,
        start: None,
        branch: BranchName::parse("task/T-1").unwrap(),
        saved: None,
        pr: None,
        last_attempt: attempt(1),
        counts: AttemptCounts::default(),
        lost_in_a_row: 0,
        merged_before: 0,
        covered_children: None,
        owed: None,
        waiting: None,
        rest: Rest::new(),
    }
}

/// What a person would read of an error.
fn said<T>(result: Result<T, PortError>) -> String {
    match result {
        Ok(_) => panic!("it succeeded"),
        Err(error) => error.chain(),
    }
}
