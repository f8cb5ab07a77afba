//! Where nothing is written, and what nothing waits for (R1.4).

use std::fs;
use std::os::unix::fs::symlink;

use camino::Utf8Path;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use test_case::test_case;

use crate::{Place, said};

const MARKED: &str = "<!-- BEGIN backlog-graph -->\nold\n<!-- END backlog-graph -->\n";

fn pipe(at: &Utf8Path) {
    fs::create_dir_all(at.parent().unwrap()).unwrap();
    mknodat(CWD, at.as_std_path(), FileType::Fifo, Mode::RWXU, 0).unwrap();
}

fn repository(place: &Place) {
    let git = place.board.root().join(".git");
    fs::create_dir_all(git.join("hooks")).unwrap();
    fs::write(git.join("config"), "[core]\n").unwrap();
}

/// Runs it and expects a refusal that says `why`, and nothing changed at `kept`.
fn refused(place: &Place, args: &[&str], why: &str, kept: &Utf8Path) {
    let before = fs::read(kept).ok();
    let output = place.run(args);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {}", said(&output));
    assert!(said(&output).contains(why), "{args:?}: {}", said(&output));
    assert_eq!(fs::read(kept).ok(), before, "{args:?}");
}

#[test]
fn a_pipe_in_the_place_of_the_document_is_not_waited_for() {
    let place = Place::with_three();
    pipe(&place.document());
    for args in [&["--write"][..], &["--check"]] {
        let output = place.run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let said = said(&output);
        assert!(said.contains("dependency-graph.md`: it is not a regular file"), "{said}");
    }
}

#[test]
fn pipes_and_devices_among_the_documents_are_passed_over() {
    let place = Place::with_three();
    let docs = place.board.folder().join("docs");
    pipe(&docs.join("guides/doc-3 - pipe.md"));
    symlink("/dev/zero", docs.join("doc-4 - endless.md")).unwrap();
    symlink(docs.join("guides/doc-3 - pipe.md"), docs.join("doc-5 - link.md")).unwrap();
    fs::write(docs.join("doc-7 - real.md"), "---\nid: doc-7\ntitle: x\n---\n").unwrap();
    place.prints(&["--write"]);
    assert!(fs::read_to_string(place.document()).unwrap().starts_with("---\nid: doc-8\n"));
}

#[test_case("backlog.config.yml"; "the configuration in the project root")]
#[test_case(".backlog/dispatch/lanes.json"; "the configuration of the dispatcher")]
#[test_case(".backlog/tasks/t-9 - pipe.md"; "a task")]
fn a_pipe_elsewhere_stops_no_drawing(at: &str) {
    let place = Place::with_three();
    pipe(&place.board.root().join(at));
    assert!(place.prints(&["--write"]).is_empty());
    assert!(place.document().is_file());
}

#[test]
fn a_link_is_neither_followed_nor_replaced() {
    let place = Place::with_three();
    let target = place.scratch.root().join("precious.md");
    fs::write(&target, MARKED).unwrap();
    for link in [place.board.root().join("link.md"), place.document()] {
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(&target, &link).unwrap();
        refused(&place, &["--write", link.as_str()], "is a symbolic link", &target);
        refused(&place, &["--svg", link.as_str(), "--force"], "is a symbolic link", &target);
    }
    refused(&place, &["--write"], "is a symbolic link", &target);
}

#[test]
fn a_folder_that_leads_out_of_the_repository_is_not_written_to() {
    let place = Place::with_three();
    let outside = place.scratch.dir("outside");
    fs::write(outside.join("dependency-graph.md"), MARKED).unwrap();
    let docs = place.board.folder().join("docs");
    fs::remove_dir_all(&docs).ok();
    symlink(&outside, &docs).unwrap();
    let why = "leads out of the repository";
    refused(&place, &["--write"], why, &outside.join("dependency-graph.md"));
    refused(&place, &["--write", ".backlog/docs/new.md"], why, &outside.join("new.md"));
    refused(&place, &["--svg", ".backlog/docs/a/new.svg"], why, &outside.join("a"));
}

#[test_case(".git/config", "git's own"; "a file of git")]
#[test_case(".git/hooks/post-commit", "git's own"; "a new hook")]
#[test_case(".GIT/config", "git's own"; "another spelling")]
#[test_case("x/../.git/config", "git's own"; "a way round")]
#[test_case(".backlog/config.yml", "a part of the board itself"; "the board's configuration")]
#[test_case(".backlog/tasks/new.svg", "a part of the board itself"; "a new file among the tasks")]
#[test_case(".backlog/dispatch/lanes.json", "a part of the board itself"; "our configuration")]
fn what_is_gits_or_the_boards_is_never_written(at: &str, why: &str) {
    let place = Place::with_three();
    repository(&place);
    let file = place.board.root().join(at);
    refused(&place, &["--write", at], why, &file);
    refused(&place, &["--svg", at], why, &file);
    refused(&place, &["--svg", at, "--force"], why, &file);
}

/// A worker can put the marks anywhere.
#[test]
fn a_marked_task_is_no_document() {
    let place = Place::with_three();
    let task = place.board.file("T-2");
    let text = place.board.text("T-2");
    fs::write(&task, format!("{text}\n{MARKED}")).unwrap();
    refused(&place, &["--write", task.as_str()], "a part of the board itself", &task);
}

#[test]
fn only_a_marked_document_of_the_repository_is_written() {
    let place = Place::with_three();
    let notes = place.board.root().join("notes.md");
    fs::write(&notes, "# Mine\n").unwrap();
    refused(&place, &["--write", "notes.md"], "it has no place for the graph", &notes);
    let new = place.board.root().join("new.md");
    refused(&place, &["--write", "new.md"], "a new document is made below", &new);
    let script = place.board.folder().join("docs/run.sh");
    refused(&place, &["--write", script.as_str()], "as a Markdown file", &script);
    let outside = place.scratch.root().join("outside.md");
    fs::write(&outside, MARKED).unwrap();
    refused(&place, &["--write", outside.as_str()], "lies outside the repository", &outside);
    place.prints(&["--write", ".backlog/docs/deps.md"]);
    assert!(place.board.folder().join("docs/deps.md").is_file());
}

#[test]
fn a_picture_replaces_a_picture_of_ours_alone_unless_forced() {
    let place = Place::with_three();
    let picture = place.board.root().join("graph.svg");
    place.prints(&["--svg", "graph.svg"]);
    place.board.set_status("T-2", "Blocked");
    place.prints(&["--svg", "graph.svg"]);
    let drawn = fs::read_to_string(&picture).unwrap();
    assert_eq!(drawn, place.prints(&["--format", "svg"]));
    for text in ["<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>", "notes", ""] {
        fs::write(&picture, text).unwrap();
        refused(&place, &["--svg", "graph.svg"], "`--force` replaces it", &picture);
        refused(&place, &["--svg", "graph.svg", "--check"], "`--force` replaces it", &picture);
    }
    place.prints(&["--svg", "graph.svg", "--force"]);
    assert_eq!(fs::read_to_string(&picture).unwrap(), drawn);
}
