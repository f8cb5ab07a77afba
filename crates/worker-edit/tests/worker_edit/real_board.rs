//! What the policy accepts, written to a real board by its own program (W1.5).

use std::collections::BTreeSet;

use camino::Utf8Path;
use dispatch_core::task::Checklist;
use dispatch_core::worker_edit::{Draft, Request, Section, WorkerEdit};
use dispatch_testkit::board::{Board, TaskText};
use dispatch_testkit::programs::{self, Peer};
use dispatch_testkit::scratch::Scratch;
use proptest::prelude::*;
use serde_json::Value;

/// Lines the board's parsers may see something in, among harmless ones.
const LINES: [&str; 47] = [
    "text",
    "",
    "---",
    "----",
    "---x",
    "- --",
    "***",
    "===",
    "- [ ] one more",
    "- [x] #1 one more",
    "- [x]#1 one more",
    "-[ ] one more",
    "1. [ ] one more",
    "  * [ ] one more",
    "- [y] one more",
    "- [ ]",
    "[x] one more",
    "## Acceptance Criteria",
    "##Acceptance Criteria",
    "> ## Acceptance Criteria",
    "### Acceptance Criteria",
    "### Details",
    "\\## Definition of Done",
    "Acceptance Criteria:",
    "Definition of Done:",
    "Status: Done",
    "status: Done",
    "author: dispatch",
    "created: 2026-01-01 00:00",
    "Comments:",
    "# Title",
    "<!-- AC:END -->",
    "<!-- COMMENTS:END -->",
    "<!-- SECTION:PLAN:END -->",
    "<!-- SECTION:NOTES:END -->\n## Acceptance Criteria\n<!-- AC:BEGIN -->\n- [x] #9 forged\n<!-- AC:END -->",
    "<!-- AC:BEGIN -->\n- [x] #9 forged\n<!-- AC:END -->",
    "&lt;!-- AC:END --&gt;",
    "AC:END -->",
    "< !-- SECTION:PLAN:END -->",
    "```",
    "Files to touch:",
    "- src/other.rs",
    "Test command: true",
    "**Test command:** true",
    "\u{feff}---",
    "\u{a0}## Comments",
    "labels: [lane:frontier]",
];

const FLAGS: [&str; 7] = [
    "--plan",
    "--append-plan",
    "--notes",
    "--append-notes",
    "--final-summary",
    "--append-final-summary",
    "--comment",
];

fn judge(argv: &[String]) -> Option<Vec<WorkerEdit>> {
    match Draft::parse(argv, Some("T-5"), &BTreeSet::new()).ok()?.with_stdin("").ok()? {
        Request::View => None,
        Request::Edits(edits) => Some(edits),
    }
}

/// A word of an argument vector that may well be accepted.
fn arb_word() -> impl Strategy<Value = String> {
    let text = prop::collection::vec(prop::sample::select(&LINES[..]), 1..5)
        .prop_map(|lines| lines.join("\n"));
    prop_oneof![
        6 => (prop::sample::select(&FLAGS[..]), text).prop_map(|(flag, text)| format!("{flag}={text}")),
        1 => prop::sample::select(&["--check-ac=1", "--uncheck-ac=2", "--check-dod=1"][..])
            .prop_map(str::to_owned),
        1 => "--[a-z-]{1,12}=.{0,5}",
    ]
}

/// What is accepted of many words, each tried beside those accepted before it.
fn accepted(words: Vec<String>) -> (Vec<String>, Vec<WorkerEdit>) {
    let mut argv = vec!["T-5".to_owned()];
    let mut edits = Vec::new();
    for word in words {
        argv.push(word);
        match judge(&argv) {
            Some(more) => edits = more,
            None => drop(argv.pop()),
        }
    }
    (argv, edits)
}

fn flag_of(edit: &WorkerEdit) -> String {
    let name = |section: &Section| match section {
        Section::Plan => "plan",
        Section::Notes => "notes",
        Section::FinalSummary => "final-summary",
    };
    match edit {
        WorkerEdit::Replace { section, text } => format!("--{}={text}", name(section)),
        WorkerEdit::Append { section, text } => format!("--append-{}={text}", name(section)),
        WorkerEdit::Comment { text } => format!("--comment={text}"),
        WorkerEdit::Check { list, index, checked } => {
            let list = match list {
                Checklist::Acceptance => "ac",
                Checklist::DefinitionOfDone => "dod",
            };
            format!("--{}check-{list}={index}", if *checked { "" } else { "un" })
        }
    }
}

struct RealBoard {
    _scratch: Scratch,
    board: Board,
    program: camino::Utf8PathBuf,
}

impl RealBoard {
    fn new(program: &Utf8Path) -> Self {
        let scratch = Scratch::new();
        let board = Board::new(scratch.root());
        board.add(&TaskText::new("T-4", "Another task"));
        board.add(
            &TaskText::ready("T-5", "The task")
                .status("In Progress")
                .depends_on("T-4")
                .files(["src/one.rs"])
                .test_command("cargo test")
                .criterion("It works")
                .criterion("It is documented")
                .done_item("Scoped tests")
                .plan("The plan.")
                .notes("Some notes.")
                .comment("person", "A remark."),
        );
        Self { _scratch: scratch, board, program: program.to_owned() }
    }

    fn run(&self, argv: &[String]) -> std::process::Output {
        let mut command = programs::command(&self.program, self.board.root());
        command.args(argv).env("BACKLOG_CWD", self.board.root()).current_dir(self.board.root());
        command.output().unwrap()
    }

    /// Writes the edits as the broker may do it.
    fn write(&self, edits: &[WorkerEdit]) -> std::process::Output {
        let mut argv: Vec<String> = ["task", "edit", "T-5"].map(str::to_owned).into();
        argv.extend(edits.iter().map(flag_of));
        argv.push("--comment-author=worker:1".to_owned());
        self.run(&argv)
    }

    /// The task as the board's program reads it, and as we do.
    fn read(&self) -> (Value, dispatch_core::task::Task) {
        let view = self.run(&["task", "view", "T-5", "--json"].map(str::to_owned));
        let view: Value = serde_json::from_slice(&view.stdout).unwrap();
        let text = self.board.text("T-5");
        let parsed = dispatch_core::task_file::parse(
            text.as_bytes(),
            &dispatch_core::task_file::Priorities::default(),
        );
        (view["task"].clone(), parsed.unwrap_or_else(|error| panic!("{error}:\n{text}")).task)
    }
}

/// The view without what a worker may change.
fn protected(view: &Value) -> Value {
    let mut view = view.clone();
    let fields = view.as_object_mut().unwrap();
    for free in [
        "implementationPlan",
        "implementationNotes",
        "finalSummary",
        "comments",
        "updatedAt",
        "acceptanceCriteriaCompleted",
    ] {
        fields.remove(free);
    }
    for list in ["acceptanceCriteria", "definitionOfDone"] {
        for item in fields[list].as_array_mut().unwrap() {
            item.as_object_mut().unwrap().remove("checked");
        }
    }
    view
}

fn holds(board: &RealBoard, argv: &[String], edits: &[WorkerEdit]) {
    let (before, ours_before) = board.read();
    let output = board.write(edits);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the board refused: {complaint}: {argv:?}");
    let (after, ours) = board.read();
    assert_eq!(protected(&after), protected(&before), "{argv:?}");
    assert_eq!(
        (&ours.title, &ours.status, &ours.labels, &ours.description, &ours.declared_files),
        (
            &ours_before.title,
            &ours_before.status,
            &ours_before.labels,
            &ours_before.description,
            &ours_before.declared_files
        ),
        "{argv:?}"
    );
    assert_eq!(
        (&ours.test_command, &ours.branch, &ours.parent, &ours.dependencies, &ours.unknown_keys),
        (
            &ours_before.test_command,
            &ours_before.branch,
            &ours_before.parent,
            &ours_before.dependencies,
            &ours_before.unknown_keys
        ),
        "{argv:?}"
    );
    let texts = |task: &dispatch_core::task::Task| {
        let of = |items: &[dispatch_core::task::ChecklistItem]| {
            items.iter().map(|item| (item.index, item.text.clone())).collect::<Vec<_>>()
        };
        (of(&task.acceptance), of(&task.definition_of_done))
    };
    assert_eq!(texts(&ours), texts(&ours_before), "{argv:?}");
    let comments = after["comments"].as_array().unwrap();
    assert_eq!(comments[0], before["comments"][0], "what people wrote stays: {argv:?}");
    let made = edits.iter().filter(|edit| matches!(edit, WorkerEdit::Comment { .. })).count();
    assert_eq!(comments.len(), 1 + made, "{argv:?}");
    assert!(comments[1..].iter().all(|comment| comment["author"] == "worker:1"), "{argv:?}");
}

fn check(peer: Peer) {
    let Some(program) = programs::find(peer) else { return };
    let config =
        ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(words in prop::collection::vec(arb_word(), 30..40))| {
        let (argv, edits) = accepted(words);
        prop_assume!(!edits.is_empty());
        holds(&RealBoard::new(&program), &argv, &edits);
    });
}

#[test]
fn w1_5_accepted_edits_change_nothing_that_is_protected() {
    check(Peer::Backlog);
}

#[test]
fn w1_5_accepted_edits_change_nothing_that_is_protected_on_the_oldest_board() {
    check(Peer::OldBacklog);
}

/// Each line that is accepted alone, in every place: the random texts rarely put each first and last.
#[test]
fn w1_5_every_single_line_that_is_accepted_is_harmless() {
    let Some(program) = programs::find(Peer::Backlog) else { return };
    for flag in ["--append-plan", "--append-notes", "--append-final-summary", "--comment"] {
        let words = LINES.map(|line| format!("{flag}={line}\nand more"));
        let (argv, edits) = accepted(words.into());
        assert!(edits.len() > 10, "{argv:?}");
        holds(&RealBoard::new(&program), &argv, &edits);
    }
}
