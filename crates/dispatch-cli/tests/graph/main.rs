//! `backlog-graph` on boards on disk, beside the real board program.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod parsers;
mod places;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Output;

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_testkit::board::{Board, TaskText, made};
use dispatch_testkit::programs::{self, Peer};
use dispatch_testkit::scratch::Scratch;
use serde_json::Value;

struct Place {
    scratch: Scratch,
    board: Board,
}

impl Place {
    fn new() -> Self {
        let scratch = Scratch::new();
        let board = Board::new(&scratch.dir("code"));
        Self { scratch, board }
    }

    fn with_three() -> Self {
        let place = Self::new();
        place.board.add(&TaskText::new("T-1", "Lay the ground").status("Done"));
        place.board.add(
            &TaskText::new("T-2", "Build")
                .status("Queued")
                .labels(["lane:local"])
                .depends_on("T-1"),
        );
        place.board.add(
            &TaskText::new("T-3", "Paint").status("To Do").labels(["area:ui"]).depends_on("T-2"),
        );
        place
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command =
            programs::command(env!("CARGO_BIN_EXE_backlog-graph"), &self.scratch.home());
        command.args(args).current_dir(self.board.root());
        programs::output(&mut command)
    }

    fn prints(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", said(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    fn document(&self) -> Utf8PathBuf {
        self.board.folder().join("docs/dependency-graph.md")
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The inode too: an untouched file is not replaced by its like.
fn seen(path: &Utf8Path) -> (Vec<u8>, u64, i64) {
    let metadata = fs::metadata(path).unwrap();
    (fs::read(path).unwrap(), metadata.ino(), metadata.mtime_nsec())
}

#[test]
fn r1_3_every_format_is_printed_the_same_twice() {
    let place = Place::with_three();
    for (format, begins) in [
        ("mermaid", "flowchart LR\n"),
        ("dot", "digraph "),
        ("json", "{\n"),
        ("svg", "<svg "),
        ("text", "○ T-3"),
    ] {
        let first = place.prints(&["--format", format]);
        assert!(first.starts_with(begins), "{first}");
        assert_eq!(first, place.prints(&["--format", format]));
        assert_eq!(
            first.contains("T-1"),
            format == "json",
            "finished work is hidden but in JSON: {first}"
        );
        assert!(place.prints(&["--format", format, "--all"]).contains("T-1"));
    }
    assert_eq!(place.prints(&[]), place.prints(&["--format", "mermaid"]));
    assert!(!place.prints(&["--format", "json", "--open"]).contains("Lay the ground"));
}

#[test]
fn r1_5_filters_and_a_root_that_is_not_there() {
    let place = Place::with_three();
    let ids = |args: &[&str]| -> Vec<String> {
        let mut all = vec!["--format", "json"];
        all.extend(args);
        let document: Value = serde_json::from_str(&place.prints(&all)).unwrap();
        let tasks = document["tasks"].as_array().unwrap();
        tasks.iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&["--status", "queued", "--status", "Done"]), ["T-1", "T-2"]);
    assert_eq!(ids(&["--label", "area:ui"]), ["T-3"]);
    assert_eq!(ids(&["--root", "t-01"]), ["T-1", "T-2", "T-3"]);
    assert_eq!(
        ids(&["--root", "01"]),
        ["T-1", "T-2", "T-3"],
        "a number alone, as the board program takes it"
    );
    let output = place.run(&["--root", "T-9"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("no task T-9"));
    assert!(place.prints(&["--plan"]).starts_with("Wave 1 (local 1)\n  T-2 Build"));
    let plan: Value = serde_json::from_str(&place.prints(&["--plan", "--format", "json"])).unwrap();
    assert_eq!(plan["waves"], serde_json::json!([["T-2"], ["T-3"]]));
}

#[test]
fn r1_2_r1_6_problems_are_told_and_strict_exits_3_on_an_incomplete_board() {
    let place = Place::with_three();
    place.board.add(&TaskText::new("T-4", "Loop").depends_on("T-4"));
    let output = place.run(&["--strict"]);
    assert_eq!(output.status.code(), Some(0), "a problem does not make a board incomplete");
    assert!(said(&output).contains("problem: cycle: T-4 → T-4"));
    fs::write(place.board.folder().join("tasks/t-5 - x.md"), "---\nid: T-5\ntitle: \"open\n---\n")
        .unwrap();
    let output = place.run(&["--strict"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(said(&output).contains("tasks/t-5 - x.md"));
    assert!(String::from_utf8_lossy(&output.stdout).contains("could not be read completely"));
    assert_eq!(place.run(&[]).status.code(), Some(0));
}

#[test]
fn r1_4_write_makes_the_document_then_leaves_it_alone_until_something_changed() {
    let place = Place::with_three();
    let output = place.run(&["--write", "--check"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("dependency-graph.md` is not there yet"), "{}", said(&output));
    assert!(!place.document().exists(), "a check writes nothing");
    place.prints(&["--write"]);
    let made = seen(&place.document());
    assert_eq!(fs::metadata(place.document()).unwrap().permissions().mode() & 0o600, 0o600);
    place.prints(&["--write"]);
    place.prints(&["--check"]);
    assert_eq!(seen(&place.document()), made);
    place.board.set_status("T-2", "Blocked");
    let output = place.run(&["--check"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("out of date"));
    assert_eq!(seen(&place.document()), made);
    place.prints(&["--write"]);
    assert_ne!(seen(&place.document()).0, made.0);
    place.prints(&["--check"]);
}

#[test]
fn r1_4_only_the_part_between_the_markers_changes_and_the_picture_lies_beside() {
    let place = Place::with_three();
    let notes = place.board.root().join("notes.md");
    fs::write(
        &notes,
        "# Mine\r\n<!-- BEGIN backlog-graph -->\r\nold\r\n<!-- END backlog-graph -->\r\nafter",
    )
    .unwrap();
    fs::set_permissions(&notes, fs::Permissions::from_mode(0o640)).unwrap();
    let picture = place.scratch.root().join("graph.svg");
    place.prints(&["--write", "notes.md", "--svg", picture.as_str()]);
    let text = fs::read_to_string(&notes).unwrap();
    assert!(text.starts_with("# Mine\r\n<!-- BEGIN backlog-graph -->\r\n```mermaid\r\n"));
    assert!(text.ends_with("```\r\n<!-- END backlog-graph -->\r\nafter"));
    assert_eq!(fs::metadata(&notes).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_to_string(&picture).unwrap(), place.prints(&["--format", "svg"]));
    let before = seen(&picture);
    place.prints(&["--write", notes.as_str(), "--svg", picture.as_str(), "--check"]);
    assert_eq!(seen(&picture), before);
    assert!(!place.document().exists());
}

#[test]
fn r1_4_markers_that_are_no_pair_leave_everything_alone() {
    let place = Place::with_three();
    let file = place.board.root().join("notes.md");
    for text in [
        "<!-- BEGIN backlog-graph -->\n",
        "<!-- END backlog-graph -->\n<!-- BEGIN backlog-graph -->",
    ] {
        fs::write(&file, text).unwrap();
        let output = place.run(&["--write", file.as_str()]);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains("left `") && said(&output).contains("notes.md"));
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
}

/// R1.5: a word that means nothing on the board is told, with the one it may have been.
#[test]
fn r1_5_a_misspelt_filter_is_told() {
    let place = Place::with_three();
    let told = |args: &[&str]| {
        let output = place.run(args);
        assert_eq!(output.status.code(), Some(0));
        said(&output)
    };
    assert_eq!(
        told(&["--label", "area:iu", "--status", "queud", "--status", "In Progress"]),
        "note: no task has the status `queud`; did you mean `Queued`?\n\
         note: no task has the label `area:iu`; did you mean `area:ui`?\n"
    );
    assert_eq!(told(&["--status", "to do", "--label", "AREA:UI"]), "");
    assert!(told(&["--label", "nothing like it"]).ends_with("the label `nothing like it`\n"));
    let output = place.run(&["--root", "TASK-3"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("no task TASK-3 on the board; did you mean `T-3`?"));
    let done = place.prints(&["--status", "Done"]);
    assert!(done.contains("T-1<br>"), "a status that is asked for is not hidden: {done}");
}

/// R1.2, R1.5: what is said of the whole board under a filter says so.
#[test]
fn r1_5_problems_and_the_critical_path_are_the_boards_whatever_is_shown() {
    let place = Place::with_three();
    place.board.add(&TaskText::new("T-4", "Loop").depends_on("T-4"));
    for format in ["mermaid", "dot", "svg", "text"] {
        let shown = place.prints(&["--format", format, "--label", "area:ui"]);
        assert!(shown.contains("of the whole board"), "{format}: {shown}");
        let all = place.prints(&["--format", format]);
        assert!(!all.contains("of the whole board"), "{format}: {all}");
    }
    let text = place.prints(&["--format", "text", "--label", "area:ui"]);
    assert!(text.contains("critical path of the whole board (*): T-2 → T-3"), "{text}");
    assert!(said(&place.run(&["--root", "T-2"])).starts_with("problems of the whole board"));
}

/// A configuration that was named has to be there.
#[test]
fn a_named_configuration_that_is_missing_is_an_error() {
    let place = Place::with_three();
    for args in [&["--config", "none.json"][..], &["--config", "none.json", "--plan"]] {
        let output = place.run(args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(said(&output).contains("none.json") && output.stdout.is_empty());
    }
}

#[test]
fn without_a_board_it_says_so() {
    let scratch = Scratch::new();
    let mut command = programs::command(env!("CARGO_BIN_EXE_backlog-graph"), &scratch.home());
    let output = programs::output(command.current_dir(scratch.root()));
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("Backlog.md board"));
}

#[test]
fn the_help_shows_examples() {
    let help = Place::new().prints(&["--help"]);
    assert!(help.contains("Examples:") && help.contains("backlog-graph --write --check"));
}

/// R1.4: the board program lists and shows the written document, and another document of it gets another id.
#[test]
fn r1_4_the_real_board_program_accepts_the_document() {
    for peer in [Peer::Backlog, Peer::OldBacklog] {
        let Some(backlog) = programs::find(peer) else { return };
        let place = Place::with_three();
        let home = place.scratch.home();
        let cli = |args: &[&str]| programs::read(place.board.cli(&backlog, &home).args(args));
        cli(&["doc", "create", "Mine"]);
        place.prints(&["--write"]);
        let list = cli(&["doc", "list", "--plain"]);
        assert!(
            list.contains("doc-1 - Mine") && list.contains("doc-2 - Dependency graph"),
            "{list}"
        );
        let shown = cli(&["doc", "view", "doc-2"]);
        assert!(shown.contains("flowchart LR"), "{shown}");
        cli(&["doc", "create", "Another"]);
        assert!(cli(&["doc", "list", "--plain"]).contains("doc-3 - Another"));
        assert!(cli(&["task", "list", "--plain"]).contains("T-2 - Build"));
        place.prints(&["--check"]);
        cli(&["task", "edit", "T-3", "-s", "Queued"]);
        assert_eq!(place.run(&["--check"]).status.code(), Some(1));
    }
}

/// The dependencies drawn are those the board program prints as JSON.
#[test]
fn r1_1_the_edges_are_those_of_the_real_board_program() {
    let Some(backlog) = programs::find(Peer::Backlog) else { return };
    let place = Place::new();
    made(&place.board, 14, 5);
    let document: Value = serde_json::from_str(&place.prints(&["--format", "json"])).unwrap();
    let home = place.scratch.home();
    let mut expected = Vec::new();
    for task in document["tasks"].as_array().unwrap() {
        let id = task["id"].as_str().unwrap();
        let shown =
            programs::read(place.board.cli(&backlog, &home).args(["task", "view", id, "--json"]));
        let shown: Value = serde_json::from_str(&shown).unwrap();
        let needs = shown["task"]["dependencies"].as_array().cloned().unwrap_or_default();
        expected.extend(
            needs.iter().map(|need| (id.to_owned(), need.as_str().unwrap().to_owned(), "needs")),
        );
        if let Some(parent) = shown["task"]["parentTaskId"].as_str() {
            expected.push((parent.to_owned(), id.to_owned(), "contains"));
        }
    }
    let mut found: Vec<(String, String, &str)> = document["edges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|edge| {
            let text = |key: &str| edge[key].as_str().unwrap();
            (text("from").to_owned(), text("to").to_owned(), text("kind"))
        })
        .collect();
    found.sort();
    expected.sort();
    expected.dedup();
    assert!(found.iter().any(|edge| edge.2 == "contains"));
    assert_eq!(found, expected);
}

/// R1.4: a drawing is checked by itself; the board's own document is nobody's question then.
#[test]
fn r1_4_a_check_of_a_drawing_asks_for_no_document() {
    let place = Place::with_three();
    let picture = place.board.root().join("graph.svg");
    let check = ["--svg", picture.as_str(), "--check"];
    assert_eq!(place.run(&check).status.code(), Some(1), "there is no drawing yet");
    place.prints(&["--svg", picture.as_str()]);
    place.prints(&check);
    assert!(!place.document().exists());
}
