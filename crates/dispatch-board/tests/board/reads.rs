//! B2: reading a board that changes, is torn, or was made to mislead.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use dispatch_board::{locate, read_board};
use dispatch_core::board::{Board, ProblemClass};
use dispatch_core::board_config::BoardConfig;
use dispatch_testkit::programs::{self, Peer};
use dispatch_testkit::wait;
use serde_json::Value;

use crate::support::{backlog, recorded, scratch};
use crate::writes::{TASK, place};

/// Ends the other threads also when an assertion fails.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn read(root: &camino::Utf8Path) -> Board {
    let place = locate(root, None).unwrap();
    read_board(&place.dir, &place.config)
}

/// N9, N65: a listing that fails is an empty board that says it is incomplete, and so does every later reading of it.
#[test]
fn n9_n65_a_failed_listing_is_an_empty_incomplete_board() {
    let (_guard, root) = scratch();
    let board = read_board(&root.join("nowhere"), &BoardConfig::default());
    assert!(board.tasks.is_empty() && !board.complete);
    assert_eq!(board.problems[0].class, ProblemClass::Listing);
    let kept: Value = serde_json::to_value(&board).unwrap();
    assert_eq!(kept["complete"], false);
}

#[test]
fn b2_1_the_recorded_boards_read_as_they_list() {
    for version in ["1.46.0", "1.50.1", "1.52.0"] {
        let recorded = recorded(version, false);
        let board = read(&recorded.root);
        assert!(board.complete, "{version}: {:?}", board.problems);
        assert_eq!(board.tasks.len(), recorded.cases.len());
        assert_eq!((board.completed.len(), board.archived.len()), (1, 1));
    }
}

#[test]
fn b2_4_what_is_no_readable_file_is_named() {
    let place = place("");
    let tasks = place.root.join("backlog/tasks");
    fs::create_dir(tasks.join("t-2 - folder.md")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", tasks.join("t-3 - endless.md")).unwrap();
    std::os::unix::fs::symlink("nowhere", tasks.join("t-4 - dangling.md")).unwrap();
    fs::write(tasks.join("t-5 - bytes.md"), b"---\nid: T-5\n---\n\xff\xfe\n").unwrap();
    fs::write(tasks.join("t-6 - empty.md"), "").unwrap();
    let odd = std::ffi::OsStr::from_bytes(b"t-7 - \xff.md");
    fs::write(tasks.as_std_path().join(odd), "---\nid: T-7\n---\n").unwrap();
    let board = read(&place.root);
    let named: Vec<String> = board
        .problems
        .iter()
        .filter(|p| p.class == ProblemClass::Unreadable)
        .map(ToString::to_string)
        .collect();
    assert_eq!(named.len(), 5, "{named:?}");
    assert!(named[0].ends_with("t-3 - endless.md: it is not a regular file"), "{named:?}");
    assert!(named[1].ends_with("it is a link to a file that is not there"), "{named:?}");
    assert!(named[4].ends_with("its name is not UTF-8"), "{named:?}");
    assert!(!board.complete && board.tasks.len() == 1);
}

/// B2.9: while a file is written in place, over and over and slowly, no reading takes the torn text for the task.
#[test]
fn b2_9_a_file_torn_by_a_write_in_place_is_read_again() {
    let place = place("");
    let long = TASK.replace("Text.", &format!("{}\n", "old text ".repeat(400)));
    let short = TASK.replace("status: Queued", "status: Blocked");
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let _stop = StopOnDrop(&stop);
        scope.spawn(|| {
            use std::os::unix::fs::FileExt;
            let mut next = [&long, &short].into_iter().cycle();
            while !stop.load(Ordering::Relaxed) {
                let text = next.next().unwrap();
                let file = fs::OpenOptions::new().write(true).open(&place.file).unwrap();
                file.write_all_at(text.as_bytes(), 0).unwrap();
                thread::yield_now();
                file.set_len(text.len() as u64).unwrap();
                drop(file);
                thread::sleep(Duration::from_millis(120));
            }
        });
        let mut seen = 0;
        for _ in 0..40 {
            let board = read(&place.root);
            seen += board.tasks.len();
            for task in board.tasks.values() {
                let whole = task.acceptance.len() == 2 && !task.description.contains("SECTION");
                assert!(whole, "a torn reading was taken for the task: {task:?}");
            }
        }
        assert!(seen > 0, "no reading saw the task at all");
    });
}

/// B2.6: a task that moves to another folder while the board is read is in one of them.
#[test]
fn b2_6_a_file_that_moves_meanwhile_is_seen() {
    let place = place("");
    let completed = place.root.join("backlog/completed");
    fs::create_dir(&completed).unwrap();
    let there = completed.join("t-1 - One.md");
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let _stop = StopOnDrop(&stop);
        scope.spawn(|| {
            let pause = || thread::sleep(Duration::from_millis(7));
            while !stop.load(Ordering::Relaxed) {
                fs::rename(&place.file, &there).unwrap();
                pause();
                fs::rename(&there, &place.file).unwrap();
                pause();
            }
        });
        let mut whole = 0;
        for _ in 0..60 {
            let board = read(&place.root);
            whole += u32::from(board.complete);
            let seen = board.tasks.len() + board.completed.len();
            assert!(
                seen == 1 || !board.complete,
                "a vanished task is never a silent absence: {board:?}"
            );
        }
        assert!(whole > 0, "no reading was complete");
    });
}

/// BR-15: reading a board starts no process and does not look at branches, however many there are.
#[test]
fn br_15_reading_a_large_board_starts_no_process() {
    let (_guard, root) = scratch();
    fs::create_dir_all(root.join("backlog/tasks")).unwrap();
    fs::write(root.join("backlog/config.yml"), "project_name: x\ntask_prefix: \"T\"\n").unwrap();
    for number in 1..=2000 {
        let text = TASK.replace("id: T-1", &format!("id: T-{number}"));
        fs::write(root.join(format!("backlog/tasks/t-{number} - x.md")), text).unwrap();
    }
    let before = (children(), faults_of_ended_children());
    let board = read(&root);
    assert_eq!((board.tasks.len(), board.complete), (2000, true));
    assert_eq!((children(), faults_of_ended_children()), before);
}

/// What every program that was started and waited for leaves behind: its page faults are added to ours.
#[test]
fn an_ended_child_is_noticed() {
    let (_guard, home) = scratch();
    let before = faults_of_ended_children();
    programs::read(&mut programs::command("true", &home));
    assert!(faults_of_ended_children() > before);
}

/// The page faults of all children that ended, `cminflt` of `/proc/self/stat`.
fn faults_of_ended_children() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    fields.split(' ').nth(8).unwrap().parse().unwrap()
}

fn children() -> usize {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    tasks
        .filter_map(|task| fs::read_to_string(task.unwrap().path().join("children")).ok())
        .map(|list| list.split_whitespace().count())
        .sum()
}

/// B2.1 and B2.2 say the same about every task, as long as nobody writes, and while the real program writes.
#[test]
fn b2_the_files_reader_sees_what_the_program_wrote() {
    let Some(program) = programs::find(Peer::Backlog) else { return };
    let place = place("");
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let _stop = StopOnDrop(&stop);
            for number in 1..=6 {
                let note = format!("--append-notes=note {number}");
                let (ok, words) = backlog(&program, &place.root, &["task", "edit", "T-1", &note]);
                assert!(ok, "{words}");
            }
        });
        let mut last = 0;
        while !stop.load(Ordering::Relaxed) {
            let board = read(&place.root);
            assert!(board.complete, "{:?}", board.problems);
            let notes = board.tasks.values().next().unwrap().notes.matches("note").count();
            assert!(notes >= last, "no reading goes back in time");
            last = notes;
        }
        writer.join().unwrap();
    });
    wait::until("all six notes are read", || {
        read(&place.root).tasks.values().next().unwrap().notes.matches("note").count() == 6
    });
}
