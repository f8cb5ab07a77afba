//! Reading a board of a thousand tasks, against the board program and against `cat`.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot run ends")]

use std::fs::File;
use std::hint::black_box;
use std::time::{Duration, SystemTime};

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_board::{locate, read_board};
use dispatch_testkit::bench::{Compared, alternate, median, time};
use dispatch_testkit::board::{Board, made};
use dispatch_testkit::programs::{self, Peer};
use dispatch_testkit::scratch::Scratch;

const TASKS: usize = 1000;
const ROUNDS: usize = 15;
/// The board program takes about a second a call: so many views stand for all of them.
const VIEWS: usize = 8;

fn main() {
    let scratch = Scratch::new();
    let board = Board::new(scratch.root());
    let ids: Vec<String> = made(&board, TASKS, 1).iter().map(|task| task.id().to_owned()).collect();
    let location = locate(scratch.root(), None).unwrap();
    let read = || {
        let read = read_board(&location.dir, &location.config);
        assert!(read.complete && read.tasks.len() == TASKS, "{:?}", read.problems);
        black_box(read);
    };

    let files: Vec<Utf8PathBuf> = location
        .dir
        .join("tasks")
        .read_dir_utf8()
        .unwrap()
        .map(|entry| entry.unwrap().into_path())
        .collect();
    // A file that was written this very moment is read twice, which no board of this size is.
    let earlier = SystemTime::now() - Duration::from_mins(1);
    for file in &files {
        File::options().append(true).open(file).unwrap().set_modified(earlier).unwrap();
    }
    let cat = || {
        // The output is a pipe that is read to its end.
        let bytes = programs::read(programs::command("cat", scratch.root()).args(&files));
        assert!(bytes.len() > TASKS * 100);
    };
    let compared = alternate(ROUNDS, read, cat);
    println!("board: {}", compared.line("reading 1,000 tasks", "`cat` of the same files"));

    let Some(program) = programs::find(Peer::Backlog) else { return };
    let call = |args: &[&str]| run(&program, scratch.root(), args);
    let (mut reads, mut lists, mut views) = (Vec::new(), Vec::new(), Vec::new());
    for id in ids.iter().step_by(TASKS / VIEWS) {
        reads.push(time(read));
        lists.push(time(|| call(&["task", "list", "--plain"])));
        views.push(time(|| call(&["task", "view", id, "--plain"])));
    }
    let all_views = median(views) * u32::try_from(TASKS).unwrap();
    let compared = Compared { ours: median(reads), other: median(lists) + all_views };
    let other = format!("`task list` and 1,000 × `task view --plain` ({VIEWS} views measured)");
    println!("board: {}", compared.line("reading 1,000 tasks", &other));
}

/// Runs the board program with a file as its output: on a pipe it would cut it.
fn run(program: &Utf8Path, root: &Utf8Path, args: &[&str]) {
    let output = File::create(root.join("output")).unwrap();
    let status = programs::command(program, root)
        .args(args)
        .current_dir(root)
        .env("BACKLOG_CWD", root)
        .stdout(output)
        .status()
        .unwrap();
    assert!(status.success(), "{args:?}");
}
