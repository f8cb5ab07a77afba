//! Boards made here, held against the real board program.

use std::fs;

use camino::Utf8Path;
use dispatch_testkit::board::{Board, BoardConfig, TaskText, made};
use dispatch_testkit::programs::{self, Peer};
use dispatch_testkit::scratch::Scratch;
use serde_json::Value;

fn json(board: &Board, backlog: &Utf8Path, home: &Utf8Path, args: &[&str]) -> Value {
    serde_json::from_str(&programs::read(board.cli(backlog, home).args(args).arg("--json")))
        .unwrap()
}

/// The text without what depends on the clock: the dates of the file and of its comments.
fn undated(text: &str) -> String {
    let lines = text.lines().filter(|line| {
        !["created_date:", "updated_date:", "created:", "ordinal:"]
            .iter()
            .any(|key| line.starts_with(key))
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_task_is_written_as_the_board_program_writes_it() {
    for peer in [Peer::Backlog, Peer::OldBacklog] {
        let Some(backlog) = programs::find(peer) else { return };
        let scratch = Scratch::new();
        let (ours, theirs) = (Board::new(&scratch.dir("ours")), Board::new(&scratch.dir("theirs")));
        let run = |args: &[&str]| programs::read(theirs.cli(&backlog, &scratch.home()).args(args));
        run(&[
            "task",
            "create",
            "Add a parser: it's small",
            "-d",
            "Do it.\n\nTest command: cargo test",
        ]);
        run(&[
            "task",
            "edit",
            "T-1",
            "--ac",
            "It parses",
            "--ac",
            "It refuses",
            "--dod",
            "Tests pass",
        ]);
        run(&["task", "edit", "T-1", "--check-ac", "2", "-s", "Queued", "--priority", "high"]);
        run(&["task", "edit", "T-1", "--add-label", "tier:minor", "--add-label", "lane:local"]);
        run(&["task", "edit", "T-1", "--plan", "1. one\n2. two", "--notes", "A note."]);
        run(&["task", "edit", "T-1", "--comment", "First.", "--comment-author", "person"]);
        run(&[
            "task",
            "edit",
            "T-1",
            "--comment",
            "Second.\n\nMore.",
            "--comment-author",
            "dispatch",
        ]);
        run(&["task", "edit", "T-1", "--final-summary", "It was done.", "-a", "@worker"]);

        let task = TaskText::new("T-1", "Add a parser: it's small")
            .status("Queued")
            .assignee("@worker")
            .labels(["tier:minor", "lane:local"])
            .priority("high")
            .ordinal(1000)
            .description("Do it.")
            .test_command("cargo test")
            .criterion("It parses")
            .met_criterion("It refuses")
            .done_when("Tests pass")
            .plan("1. one\n2. two")
            .notes("A note.")
            .comment("person", "First.")
            .comment("dispatch", "Second.\n\nMore.")
            .final_summary("It was done.");
        ours.add(&task);

        assert_eq!(undated(&ours.text("T-1")), undated(&theirs.text("T-1")), "{peer:?}");
        assert_eq!(
            theirs.comments("T-1").iter().map(|comment| comment.body.as_str()).collect::<Vec<_>>(),
            ["First.", "Second.\n\nMore."]
        );
    }
}

#[test]
fn the_board_program_reads_every_task_of_a_made_board() {
    let Some(backlog) = programs::find(Peer::Backlog) else { return };
    let scratch = Scratch::new();
    let board = Board::new(scratch.root());
    let tasks = made(&board, 120, 7);

    let list = json(&board, &backlog, &scratch.home(), &["task", "list"]);

    let mut listed: Vec<&str> =
        list["tasks"].as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap()).collect();
    let mut written: Vec<&str> = tasks.iter().map(TaskText::id).collect();
    listed.sort_unstable();
    written.sort_unstable();
    assert_eq!(listed, written);
    assert!(written.iter().any(|id| id.contains('.')), "a made board has subtasks");
}

#[test]
fn a_made_board_is_the_same_at_every_call_and_another_for_another_seed() {
    let text = |seed| {
        let scratch = Scratch::new();
        let board = Board::new(scratch.root());
        made(&board, 30, seed).iter().map(ToString::to_string).collect::<String>()
    };

    assert_eq!(text(1), text(1));
    assert_ne!(text(1), text(2));
}

#[test]
fn a_ready_task_is_what_the_board_program_shows() {
    let Some(backlog) = programs::find(Peer::Backlog) else { return };
    let scratch = Scratch::new();
    let board = Board::new(scratch.root());
    board.add(&TaskText::new("T-1", "First").status("Done"));
    board.add(
        &TaskText::ready("T-2", "Second")
            .files(["src/a.rs"])
            .test_command("cargo test")
            .depends_on("T-1"),
    );

    let view = json(&board, &backlog, &scratch.home(), &["task", "view", "T-2"]);

    let task = &view["task"];
    assert_eq!(task["status"], "Queued");
    assert_eq!(task["dependencies"], serde_json::json!(["T-1"]));
    assert_eq!(task["labels"], serde_json::json!(["tier:minor", "lane:frontier", "path:direct"]));
    assert_eq!(
        task["description"],
        "What to do is said in the title.\n\nFiles to touch:\n\n- src/a.rs\n\nTest command: cargo test"
    );
}

#[test]
fn a_person_edits_a_task_by_its_file() {
    let scratch = Scratch::new();
    let config = BoardConfig {
        folder: "backlog".to_owned(),
        prefix: "BUG".to_owned(),
        ..BoardConfig::default()
    };
    let board = Board::with(scratch.root(), &config);
    let file = board.add(&TaskText::ready("BUG-1", "Mend it").test_command("true"));

    board.set_status("BUG-1", "Done");
    board.tick("BUG-1", 1);

    assert_eq!(board.status("BUG-1"), "Done");
    assert!(board.text("BUG-1").contains("- [x] #1 It is done"));
    assert_eq!(fs::read_to_string(file).unwrap(), board.text("BUG-1"));
}
