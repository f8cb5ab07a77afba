//! The real board program behind the adapter, and what must keep us from starting it.

use std::fs;

use dispatch_board::BacklogCli;
use dispatch_core::config::BoardWriter;
use dispatch_core::status::Status;
use dispatch_core::task::Checklist;
use dispatch_engine::ports::{Board, StatusChange, StatusWrite, Tick};
use dispatch_testkit::programs::{self, Peer};

use crate::support::backlog;
use crate::writes::{TASK, id, place};

/// B3.1, B3.9: with `board.writer: "cli"` the program writes what it can, and a status is still ours.
#[test]
fn b3_1_the_program_writes_when_it_is_told_to() {
    for peer in [Peer::Backlog, Peer::OldBacklog] {
        let Some(program) = programs::find(peer) else { return };
        let place = place("");
        let board = place.board_with(BoardWriter::Cli).with_program(&program);
        board.comment(&id(), "--status Done\n---\nsecond line").unwrap();
        assert_eq!(board.tick(&id(), Checklist::Acceptance, "two").unwrap(), Tick::Ticked);
        let change = StatusChange {
            expected: vec![Status::Queued],
            to: Status::Blocked,
            comment: Some("ours".to_owned()),
        };
        assert_eq!(board.set_status(&id(), &change).unwrap(), StatusWrite::Written);
        let task = board.task(&id()).unwrap().unwrap();
        let said: Vec<&str> = task.comments.iter().map(|comment| comment.body.as_str()).collect();
        assert_eq!(said, ["--status Done\n\\---\nsecond line", "ours"]);
        assert!(task.acceptance[1].checked && !task.acceptance[0].checked);
        assert_eq!(task.status, Status::Blocked);
    }
}

/// N4: a failed command of the program says which, how it ended and its own words.
#[test]
fn n4_a_refusal_of_the_program_is_told_in_its_own_words() {
    let Some(program) = programs::find(Peer::Backlog) else { return };
    let place = place("");
    let cli = place.board().with_program(&program).program().unwrap();
    assert_eq!(cli.version().unwrap(), "1.52.0");
    let error = cli.command(&["task", "view", "T-9", "--plain"]).unwrap_err().to_string();
    assert!(
        error.contains("task view T-9 --plain") && error.contains("Task T-9 not found"),
        "{error}"
    );
}

/// B2.8: a view of more than 64 KiB arrives whole.
#[test]
fn b2_8_a_large_view_is_not_cut() {
    let Some(program) = programs::find(Peer::Backlog) else { return };
    let place = place("");
    let long = format!("{}\nthe very end", "a line of text\n".repeat(20_000));
    fs::write(&place.file, TASK.replace("Text.", &long)).unwrap();
    let view = place.board().with_program(&program).view(&id()).unwrap();
    assert!(view.len() > 300_000 && view.contains("the very end"));
}

/// B2.7: whatever the real program runs when it lists a board, the reader calls hostile.
#[test]
fn b2_7_what_the_program_would_run_is_hostile() {
    let Some(program) = programs::find(Peer::Backlog) else { return };
    let openings = [
        "---js",
        "--- js",
        "---JS",
        "---\tjs  ",
        "---javascript",
        "--- JavaScript",
        "\u{feff}---js",
        "---js\r",
        "---\rjs",
        "---\u{a0}js",
        "---\u{feff}js",
        "---coffee",
        "---yaml",
        "---json",
        "----js",
        " ---js",
        "---",
    ];
    let (mut ran, mut harmless) = (0, 0);
    for (opening, folder) in openings.iter().zip(["tasks", "completed"].into_iter().cycle()) {
        let place = place("");
        let code = "{ id: (Bun.spawnSync(['touch', 'ran']), 'T-7'), title: 'x', status: 'To Do' }";
        fs::create_dir_all(place.root.join("backlog").join(folder)).unwrap();
        let file = place.root.join(format!("backlog/{folder}/t-7 - x.md"));
        fs::write(&file, format!("{opening}\n{code}\n---\n")).unwrap();
        let board = place.board().with_program(&program);
        let hostile = board.read().hostile();
        backlog(&program, &place.root, &["task", "view", "T-1", "--plain"]);
        if place.root.join("ran").exists() {
            ran += 1;
            assert!(hostile, "the program ran what {opening:?} in {folder} holds");
        } else {
            harmless += 1;
        }
        if hostile {
            assert!(board.program().is_err(), "{opening:?}");
            board.comment(&id(), "the native writer goes on").unwrap();
        }
    }
    println!("{ran} files the program runs are all called hostile; {harmless} others");
    assert!(ran >= 7);
}

/// B3.3: where the words that would tell are lost, a busy board is not taken for one that refuses for good.
#[test]
fn b3_3_a_refusal_whose_words_are_lost_counts_as_busy() {
    let keep = tempfile::tempdir().unwrap();
    let root = camino::Utf8Path::from_path(keep.path()).unwrap();
    let script = |name: &str, text: &str| {
        let path = root.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&path, mode).unwrap();
        let path_variable = ("PATH".into(), std::env::var_os("PATH").unwrap());
        let program = BacklogCli::new(path, root, [path_variable].into());
        program.command(&["task", "list"]).unwrap_err()
    };
    let lost = script("lost", "rm \"$(readlink /proc/$$/fd/1)\"; exit 1");
    assert!(lost.is_busy(), "{lost}");
    let plain = script("plain", "echo 'no such task'; exit 1");
    assert!(!plain.is_busy(), "{plain}");
}
