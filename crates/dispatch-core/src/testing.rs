//! Values for the tests of this crate.

use crate::config::{Config, Found, Location, load};
use crate::id::TaskId;
use crate::status::Status;
use crate::task::{ChecklistItem, DeclaredFile, OneLine, Task};
use crate::triage::{Answer, ExecutionPath, Lane, Tier};

/// The example configuration.
pub(crate) fn config() -> Config {
    let place = Location { file: "lanes.json".into(), found: Found::Given, board_dir: None };
    load(include_str!("../../../fixtures/config/example.json"), &place).unwrap().config
}

/// A small task that passes the guards.
pub(crate) fn task(id: &str) -> Task {
    Task {
        id: TaskId::parse(id).unwrap(),
        title: "Say hello".to_owned(),
        status: Status::Queued,
        labels: Vec::new(),
        tier: Answer::Given(Tier::Minor),
        lane: Answer::Given(Lane::Local),
        path: Answer::Given(ExecutionPath::Direct),
        priority: 2,
        created: Some("2026-01-02 03:04".to_owned()),
        updated: None,
        parent: None,
        children: Vec::new(),
        dependencies: Vec::new(),
        foreign_dependencies: Vec::new(),
        declared_files: vec![DeclaredFile { text: "src/hello.rs".to_owned(), shared: false }],
        test_command: OneLine::Given("cargo test -p hello".to_owned()),
        branch: OneLine::Missing,
        acceptance: vec![
            ChecklistItem { index: 1, checked: false, text: "It says hello".to_owned() },
            ChecklistItem { index: 2, checked: false, text: "It is tested".to_owned() },
        ],
        definition_of_done: vec![
            ChecklistItem { index: 1, checked: false, text: "Scoped tests pass".to_owned() },
            ChecklistItem { index: 2, checked: false, text: "The README says so".to_owned() },
        ],
        comments: Vec::new(),
        description: "Greet the user.\n\nFiles to touch:\n- src/hello.rs\n\nTest command: cargo test -p hello".to_owned(),
        plan: String::new(),
        notes: String::new(),
        final_summary: String::new(),
        unknown_keys: std::collections::BTreeMap::new(),
    }
}
