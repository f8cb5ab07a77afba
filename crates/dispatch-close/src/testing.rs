//! A task to test with.

use dispatch_core::id::TaskId;
use dispatch_core::status::Status;
use dispatch_core::task::{ChecklistItem, DeclaredFile, OneLine, Task};
use dispatch_core::triage::{Answer, ExecutionPath, Lane, Tier};

/// A triaged task with two criteria, ticked, and a definition of done.
pub(crate) fn task() -> Task {
    let item = |index, checked, text: &str| ChecklistItem { index, checked, text: text.to_owned() };
    Task {
        id: TaskId::parse("T-5").unwrap(),
        title: "Add a slug helper".to_owned(),
        status: Status::InProgress,
        labels: vec!["lane:local".to_owned()],
        tier: Answer::Given(Tier::Minor),
        lane: Answer::Given(Lane::Local),
        path: Answer::Given(ExecutionPath::Direct),
        priority: 2,
        created: None,
        updated: None,
        parent: None,
        children: Vec::new(),
        dependencies: Vec::new(),
        foreign_dependencies: Vec::new(),
        declared_files: vec![DeclaredFile { text: "src/slug.rs".to_owned(), shared: false }],
        test_command: OneLine::Given("cargo test -p slug".to_owned()),
        branch: OneLine::Missing,
        acceptance: vec![
            item(1, true, "slugs are lower-case"),
            item(2, true, "blanks become hyphens"),
        ],
        definition_of_done: vec![
            item(1, true, "Scoped tests pass"),
            item(2, true, "Formatting and lint are clean"),
            item(3, false, "Every acceptance criterion is checked"),
            item(4, false, "PR opened to main"),
        ],
        comments: Vec::new(),
        description: "Titles need slugs.".to_owned(),
        plan: String::new(),
        notes: String::new(),
        final_summary: String::new(),
        unknown_keys: std::collections::BTreeMap::new(),
    }
}
