//! `backlog-watch` on a board at work.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use dispatch_testkit::model_server::{Gate, Turn};
use dispatch_testkit::processes::{self, Process};
use dispatch_testkit::wait;
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::session::{PlainSession, Session};
use crate::world::{World, make_and_tick, task, work};

/// The passes that were begun, by their causes.
fn causes(lines: &[String]) -> Vec<&str> {
    let cause = |line: &str| {
        line.ends_with(" queued") || line.ends_with("it is time") || line.ends_with(" merged")
    };
    let after = |line: &'_ str| line.find("pass: ").map(|at| at + "pass: ".len());
    lines
        .iter()
        .filter(|line| cause(line))
        .filter_map(|line| after(line).map(|at| &line[at..]))
        .collect()
}

/// R2.1, R2.2: a task set to `Queued` appears, runs and ends before a person's eyes; the log opens, `q` leaves.
#[test]
fn r2_2_a_task_set_to_queued_appears_runs_and_ends_in_the_terminal() {
    let Some(world) = World::with_git() else { return };
    let gate = Gate::new();
    world.worker(
        "T-1",
        [make_and_tick([("src/parser.rs", "//! A parser.\n")]), Turn::text("Done.").behind(&gate)],
    );
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs").status("To Do")]);
    let mut session = Session::start(&world, &["--interval", "1h", "--graph"], 80, 30);
    session.shows(&["backlog-watch", "notifications"]);
    session.shows(&["Queue", "empty"]);
    session.shows(&["next pass in"]);
    session.shows(&["1 slot-1", "free"]);

    world.board().set_status("T-1", "Queued");

    session.shows(&["1 slot-1", "T-1", "Add a parser"]);
    session.shows(&["frontier", "attempt 1", "running"]);
    session.shows(&["T-1: To Do → Queued"]);
    session.shows(&["pass: T-1 queued"]);
    gate.wait_for(1);
    session.shows(&["1 turn"]);
    session.types("1l");
    session.shows(&["Log of T-1"]);
    session.types("\u{1b}");
    session.shows(&["Events"]);
    session.types("c");
    session.shows(&["Cancel T-1", "y / n"]);
    session.types("n");
    session.shows(&["q quit"]);
    gate.open();
    session.shows(&["T-1: attempt 1 ended"]);
    session.shows(&["1 slot-1", "free"]);
    assert_eq!(world.board().status("T-1"), "In Progress", "{}", world.story("T-1"));
    let graph =
        fs::read_to_string(world.board().folder().join("docs/dependency-graph.md")).unwrap();
    assert!(graph.contains("T-1"), "{graph}");
    let screen = session.screen();
    assert!(screen.len() <= 30 && screen.iter().all(|line| line.chars().count() <= 80));
    assert!(!session.written().contains("\u{1b}[32m"), "NO_COLOR is set");

    session.types("q");

    let (status, written) = session.ends();
    assert!(status.success(), "{status}\n{written}");
    assert!(written.contains("\u{1b}[?1049l"), "the screen is given back");
    assert!(written.contains("stopped watching"), "{written}");
}

/// R2.2: a person cancels what is chosen, after a question.
#[test]
fn r2_2_a_task_is_cancelled_after_a_question() {
    let Some(world) = World::with_git() else { return };
    let gate = Gate::new();
    world.worker("T-1", [Turn::text("Done.").behind(&gate)]);
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs")]);
    let mut session = Session::start(&world, &["--interval", "1h"], 40, 24);
    session.shows(&["1 slot-1", "T-1"]);
    gate.wait_for(1);

    session.types("c");
    session.shows(&["Cancel T-1"]);
    session.types("y");

    session.shows(&["T-1: cancelling"]);
    wait::until("the status after the cancellation", || world.board().status("T-1") == "To Do");
    session.shows(&["1 slot-1", "free"]);
    gate.open();
    assert!(session.screen().iter().all(|line| line.chars().count() <= 40));
    session.types("\u{3}");
    let (status, written) = session.ends();
    assert!(status.success(), "{written}");
}

/// R2.3: Ctrl-C ends the watching; what runs goes on to its end.
#[test]
fn r2_3_ctrl_c_stops_the_watching_and_not_the_supervisors() {
    let Some(world) = World::with_git() else { return };
    let gate = Gate::new();
    world
        .worker("T-1", work([("src/parser.rs", "//! A parser.\n")]).map(|turn| turn.behind(&gate)));
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs")]);
    let session = PlainSession::start(&world, &["--plain", "--interval", "1h"]);
    session.says("pass: T-1: dispatched", 1);
    session.says("T-1: attempt 1 on lane frontier in slot-1", 1);
    gate.wait_for(1);

    session.interrupt();

    let (status, lines) = session.ends();
    assert!(status.success(), "{status}");
    assert!(lines.last().unwrap().ends_with("stopped watching; what runs goes on"), "{lines:?}");
    let times = lines.iter().all(|line| line.as_bytes()[10] == b'T' && line.as_bytes()[19] == b'Z');
    assert!(times, "{lines:?}");
    assert_eq!(world.bound_slots(), ["slot-1"]);
    gate.open();
    wait::until("the end of the attempt", || world.bound_slots().is_empty());
    assert!(world.repo().remote_branches().contains_key("task/T-1"), "{}", world.story("T-1"));
}

/// R2.1, R2.3: ten thousand events are no trigger, the board may be replaced, a pass may fail, a file may be half
/// written; a task that becomes `Queued` is found all the same, and each starts one pass.
fn survives(world: &World, args: &[&str]) {
    world.begin(&[
        task("T-1", "One", "src/one.rs").status("To Do"),
        task("T-2", "Two", "src/two.rs").status("To Do"),
        task("T-3", "Three", "src/three.rs").status("To Do"),
        task("T-4", "Four", "src/four.rs").status("To Do"),
    ]);
    world.ok(&["pause", "--reason", "nothing is to run"]);
    let session = PlainSession::start(world, args);
    session.says("pass: nothing new", 1);

    let folder = world.board().folder().to_owned();
    let logs = folder.join(".dispatch/T-9/attempt-1");
    fs::create_dir_all(&logs).unwrap();
    let text = world.board().text("T-2");
    for number in 0..5000 {
        fs::write(logs.join("stream.jsonl"), number.to_string()).unwrap();
        // Written in place, as an editor does: for a moment the file is empty.
        fs::write(world.board().file("T-2"), &text).unwrap();
    }
    world.board().set_status("T-1", "Queued");
    let lines = session.says("T-1: waiting, lane-paused", 1);
    assert_eq!(causes(&lines), ["it is time", "T-1 queued"], "{}", lines.join("\n"));

    let away = world.repo().root().join("away");
    fs::rename(&folder, &away).unwrap();
    session.says("the board cannot be read", 1);
    fs::rename(&away, &folder).unwrap();
    world.board().set_status("T-2", "Queued");
    session.says("T-2: waiting, lane-paused", 1);

    let config = fs::read_to_string(world.config_file()).unwrap();
    fs::write(world.config_file(), "{").unwrap();
    world.board().set_status("T-3", "Queued");
    session.says("pass failed: ", 1);
    fs::write(world.config_file(), config).unwrap();
    world.board().set_status("T-4", "Queued");
    session.says("T-4: waiting, lane-paused", 1);
    let lines = session.says("T-3: waiting, lane-paused", 1);
    assert_eq!(causes(&lines)[..3], ["it is time", "T-1 queued", "T-2 queued"], "{lines:?}");

    session.interrupt();
    let (status, _) = session.ends();
    assert!(status.success());
}

#[test]
fn r2_3_it_survives_a_flood_a_replaced_board_and_a_failing_pass() {
    let Some(world) = World::with_git() else { return };
    survives(&world, &["--plain", "--interval", "1h"]);
}

/// R2.1: the same by looking, where there are no notifications.
#[test]
fn r2_3_it_survives_them_without_notifications() {
    let Some(world) = World::with_git() else { return };
    survives(&world, &["--plain", "--interval", "1h", "--poll"]);
}

/// R2.1: a merge is seen between two passes, and starts one.
#[test]
fn r2_1_a_merge_starts_a_pass() {
    let Some(world) = World::with_git() else { return };
    world.worker("T-1", work([("src/parser.rs", "//! A parser.\n")]));
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs")]);
    let session = PlainSession::start(&world, &["--plain", "--interval", "1h", "--poll-prs", "1s"]);
    session.says("T-1: proposed", 1);
    let is_watcher = |process: &Process| process.command.contains("backlog-watch");
    wait::until("nobody but the watcher to be at work", || {
        processes::in_folder(world.repo().root()).iter().all(is_watcher)
    });
    world.pull();
    world.repo().git(&["fetch", "--quiet", world.repo().remote().as_str(), "task/T-1"]);
    world.repo().git(&["merge", "--quiet", "--no-edit", "FETCH_HEAD"]);
    world.repo().push();

    session.says("pass: T-1 merged", 1);

    session.says("T-1: In Progress → Done", 1);
    session.interrupt();
    assert!(session.ends().0.success());
}

/// R2.3: a document that cannot be written is told once, and Ctrl-C is heard all the same.
#[test]
fn r2_3_a_pipe_in_the_place_of_the_graphs_document_stops_nothing() {
    let Some(world) = World::with_git() else { return };
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs").status("To Do")]);
    let document = world.board().folder().join("docs/dependency-graph.md");
    fs::create_dir_all(document.parent().unwrap()).unwrap();
    mknodat(CWD, document.as_std_path(), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let session = PlainSession::start(&world, &["--plain", "--interval", "1h", "--graph"]);
    world.board().set_status("T-1", "Blocked");
    session.says("the graph failed: could not read", 1);

    session.interrupt();

    let (status, lines) = session.ends();
    assert!(status.success(), "{lines:?}");
    let failures = lines.iter().filter(|line| line.contains("the graph failed")).count();
    assert_eq!(failures, 1, "{lines:?}");
}

/// R2.2: one frame and no pass.
#[test]
fn r2_2_once_renders_one_frame_and_ends() {
    let Some(world) = World::with_git() else { return };
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs")]);
    let output = world.run(env!("CARGO_BIN_EXE_backlog-watch"), &["--once"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    assert!(text.contains("1 slot-1  free") && text.contains("Add a parser"), "{text}");
    assert!(text.contains("launch") && !text.contains('\u{1b}'), "{text}");
    assert_eq!(world.board().status("T-1"), "Queued");
}

/// R2.2: why no task is taken, and that the queue is not known.
#[test]
fn r2_2_once_says_that_the_configuration_is_not_approved_or_cannot_be_used() {
    let Some(world) = World::with_git() else { return };
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs")]);
    let config = fs::read_to_string(world.config_file()).unwrap();
    let once = || {
        let output = world.run(env!("CARGO_BIN_EXE_backlog-watch"), &["--once"]);
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    fs::write(world.config_file(), format!("{config}\n")).unwrap();
    let (code, text) = once();
    assert_eq!(code, Some(0));
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("! No pass takes a task here: the configuration"), "{text}");
    assert!(text.contains("`dispatch trust`"), "{text}");
    fs::write(world.config_file(), "{").unwrap();
    let (code, text) = once();
    assert_eq!(code, Some(1));
    assert!(text.contains("! ") && text.contains("Queue  unknown"), "{text}");
}

/// R2.2: like every command, it ends when nobody reads it any more.
#[test]
fn r2_2_a_closed_pipe_ends_the_watching_quietly() {
    let Some(world) = World::with_git() else { return };
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs").status("To Do")]);
    let errors = world.repo().root().join("watch.err");
    let mut command =
        world.command(env!("CARGO_BIN_EXE_backlog-watch"), &["--plain", "--interval", "1s"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command.stderr(fs::File::create(&errors).unwrap());
    let mut child = command.spawn().unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert!(first.contains("watching by"), "{first}");
    let status = wait::until_some("the end of the watcher", || child.try_wait().unwrap());
    assert!(status.success(), "{status}");
    assert_eq!(fs::read_to_string(&errors).unwrap(), "");
}
