//! Commands that run often: a callback with nothing to do, a pass with nothing to do, a worker's change to its task.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot run ends")]

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use camino::Utf8Path;
use dispatch_testkit::bench::{Compared, alternate, median, time};
use dispatch_testkit::board::TaskText;
use dispatch_testkit::programs;
use dispatch_testkit::scene::{Forge, Scene};
use dispatch_testkit::scratch::Scratch;

const DISPATCH: &str = env!("CARGO_BIN_EXE_dispatch");
const TASKS: usize = 1000;
/// How many changes a worker makes, and how many the board program makes for comparison.
const CHANGES: usize = 10;

fn main() {
    callback();
    idle_pass();
    worker_edit();
}

/// What the board calls at each of our own writes.
fn callback() {
    let Some(node) = programs::on_path("node") else { return };
    let scratch = Scratch::new();
    let own_write = || {
        let mut command = programs::command(DISPATCH, &scratch.home());
        let task = [("BACKLOG_DISPATCH_ACTIVE", "1"), ("TASK_ID", "T-1"), ("NEW_STATUS", "Done")];
        succeed(command.envs(task).stderr(Stdio::null()));
    };
    let compared = alternate(41, own_write, || {
        succeed(programs::command(&node, &scratch.home()).args(["-e", "0"]));
    });
    println!("commands: {}", compared.line("a callback of our own write", "`node -e 0`"));
}

/// A pass over a board of which nothing is queued, its fetch from a repository on the same disk included.
fn idle_pass() {
    let Some(scene) = Scene::new(Forge::Git) else { return };
    for number in 1..=TASKS {
        scene.board().add(&TaskText::new(&format!("T-{number}"), "Do what has to be done"));
    }
    ready(&scene);
    succeed(&mut scene.command(DISPATCH, &["pass"]));
    let compared = alternate(
        15,
        || succeed(&mut scene.command(DISPATCH, &["pass"])),
        || succeed(&mut scene.command("git", &["status"])),
    );
    let fetch = (0..15).map(|_| {
        let remote = scene.repo().remote();
        time(|| succeed(&mut scene.command("git", &["fetch", "--quiet", remote.as_str(), "main"])))
    });
    let fetch = median(fetch.collect());
    println!(
        "commands: {}",
        compared.line("a pass with nothing to do, its fetch included", "`git status`")
    );
    let without = Compared { ours: compared.ours.saturating_sub(fetch), ..compared };
    println!(
        "commands: {}",
        without.line("the same less the time of one `git fetch`", "`git status`")
    );
}

/// Changes of a task by its worker, through the mailbox and the supervisor of a real attempt.
fn worker_edit() {
    let Some(scene) = Scene::new(Forge::Git) else { return };
    let client = programs::built("worker-edit");
    let times = scene.repo().root().join("times");
    // In the agent's place: it measures, and ends without a result.
    let script = format!(
        "#!/bin/sh\nfor note in $(seq {CHANGES}); do\n  begin=$(date +%s%N)\n  '{client}' T-1 --append-notes \"note $note\" || exit 1\n  \
         echo $(($(date +%s%N) - begin)) >> '{times}'\ndone\n"
    );
    scene.add_program("claude", &script);
    let ready_task = TaskText::ready("T-1", "Write notes").files(["src/notes.rs"]);
    scene.board().add(&ready_task.test_command("sh check.sh"));
    ready(&scene);
    succeed(&mut scene.command(DISPATCH, &["pass", "--wait"]));
    let ours = nanoseconds(&times);
    assert_eq!(ours.len(), CHANGES, "the worker could not change its task");
    let theirs = (0..CHANGES).map(|note| {
        let note = format!("note {note}");
        let mut edit = scene.command("backlog", &["task", "edit", "1", "--append-notes", &note]);
        time(|| succeed(edit.stdout(Stdio::null())))
    });
    let compared = Compared { ours: median(ours), other: median(theirs.collect()) };
    println!("commands: {}", compared.line("a worker's change to its task", "`backlog task edit`"));
}

fn ready(scene: &Scene) {
    scene.publish();
    succeed(&mut scene.command(DISPATCH, &["trust"]));
}

fn nanoseconds(file: &Utf8Path) -> Vec<Duration> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().map(|line| Duration::from_nanos(line.parse().unwrap())).collect()
}

fn succeed(command: &mut Command) {
    let output = command.stdin(Stdio::null()).stdout(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
