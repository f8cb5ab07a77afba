//! What must hold for any bytes that the parsers are given: nothing panics, and nothing is forged.
//!
//! `cargo +nightly fuzz run task_file` looks for bytes for which it does not; the property tests of `dispatch-core` try
//! the same on the stable toolchain.

use std::collections::BTreeSet;

use dispatch_core::board_config::{BoardConfig, Priorities};
use dispatch_core::stream::StreamSummary;
use dispatch_core::task_edit::{self, Edit};
use dispatch_core::worker_edit::Draft;
use dispatch_core::{task_file, task_json, task_view};

/// A task file is read or refused with a cause, and a status written to it changes no other fact of its front matter.
///
/// Of a body with stray markers the board program makes another one at any edit, and so do we; what the writer must
/// protect it compares before it writes.
pub fn task_file(bytes: &[u8]) {
    let priorities = Priorities::default();
    let before = match task_file::parse(bytes, &priorities) {
        Ok(file) => file.task,
        Err(error) => return assert!(!error.cause.is_empty()),
    };
    let edit = [Edit::Status("Blocked".to_owned())];
    let Ok(Some(edited)) = task_edit::apply(bytes, &edit, "2026-01-01 00:00") else { return };
    let after =
        task_file::parse(&edited.bytes, &priorities).expect("what we wrote can be read").task;
    assert_eq!(after.status.to_string(), "Blocked");
    assert_eq!(
        (after.id, after.title, after.labels, after.priority, after.dependencies, after.parent),
        (
            before.id,
            before.title,
            before.labels,
            before.priority,
            before.dependencies,
            before.parent
        ),
    );
}

/// The JSON of a task is read or refused.
pub fn task_json(bytes: &[u8]) {
    drop(task_json::parse(&String::from_utf8_lossy(bytes), &Priorities::default()));
}

/// The plain view of a task is read or refused.
pub fn task_view(bytes: &[u8]) {
    drop(task_view::parse(&String::from_utf8_lossy(bytes), &Priorities::default()));
}

/// A board's configuration is always read, the same each time.
pub fn board_config(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    assert_eq!(BoardConfig::parse(&text), BoardConfig::parse(&text));
}

/// A worker's words, one a line, are a request about its own task or refused.
pub fn worker_edit(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let argv: Vec<String> = text.split('\n').map(str::to_owned).collect();
    if let Ok(draft) = Draft::parse(&argv, Some("T-1"), &BTreeSet::from([1])) {
        assert!(argv.first().is_some_and(|id| id.to_ascii_uppercase().starts_with("T-")));
        drop(draft.with_stdin(&text));
    }
}

/// An agent's stream says the same wherever its bytes are cut.
pub fn stream(bytes: &[u8]) {
    let read = |size: usize| {
        let mut summary = StreamSummary::default();
        for piece in bytes.chunks(size) {
            summary.push(piece);
        }
        summary.end();
        format!("{summary:?}")
    };
    assert_eq!(read(bytes.len().max(1)), read(1 + bytes.len() % 13));
}
