//! BR-11: writers of every kind at once, and no write lost.

use std::fs;
use std::thread;

use camino::Utf8Path;
use dispatch_board::DiskBoard;
use dispatch_core::status::Status;
use dispatch_core::task::{Checklist, Task};
use dispatch_engine::ports::{Board, StatusChange, StatusWrite, Tick};
use dispatch_testkit::programs::{self, Peer};

use crate::support::backlog;
use crate::writes::{Place, TASK, id, place};

/// Rounds: a few in every run, as many as `DISPATCH_STRESS_ROUNDS` says when it is set.
fn rounds(usual: usize) -> usize {
    std::env::var("DISPATCH_STRESS_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

fn task(board: &DiskBoard) -> Task {
    board.task(&id()).unwrap().unwrap()
}

/// A comment by the real program, tried again while it says that the task is busy.
fn comment_by_program(program: &Utf8Path, place: &Place, text: &str) {
    let option = format!("--comment={text}");
    for _ in 0..400 {
        let (ok, words) = backlog(program, &place.root, &["task", "edit", "T-1", &option]);
        if ok {
            return;
        }
        assert!(words.contains("being modified by another process"), "{words}");
    }
    panic!("the program never got its turn");
}

/// A person's editor that saves by rename: it adds a line to the description, and looks whether its own save replaced
/// somebody else's.
fn save_by_rename(place: &Place, mark: &str) {
    let aside = place.root.join(format!("editor-{mark}"));
    for _ in 0..2000 {
        let before = fs::read_to_string(&place.file).unwrap();
        let after = before.replace("Text.", &format!("Text.\n{mark}"));
        fs::write(&aside, after).unwrap();
        // An editor looks whether the file changed under it, as late as it can.
        if fs::read_to_string(&place.file).unwrap() == before {
            fs::rename(&aside, &place.file).unwrap();
            return;
        }
    }
    panic!("the editor never got its turn");
}

/// Eight native writers a round: comments, ticks and one status change, all of them in the file afterwards.
#[test]
fn br_11_eight_native_writers_lose_nothing() {
    let rounds = rounds(5);
    let place = place("");
    let board = place.board();
    for round in 0..rounds {
        fs::write(&place.file, TASK).unwrap();
        thread::scope(|scope| {
            for writer in 0..5 {
                let board = &board;
                scope.spawn(move || board.comment(&id(), &format!("{round}.{writer}")).unwrap());
            }
            for text in ["one", "two"] {
                let board = &board;
                scope.spawn(move || {
                    assert_eq!(
                        board.tick(&id(), Checklist::Acceptance, text).unwrap(),
                        Tick::Ticked
                    );
                });
            }
            scope.spawn(|| {
                let change = StatusChange {
                    expected: vec![Status::Queued],
                    to: Status::Blocked,
                    comment: Some(format!("{round}.status")),
                };
                assert_eq!(board.set_status(&id(), &change).unwrap(), StatusWrite::Written);
            });
        });
        let task = task(&board);
        let mut said: Vec<&str> =
            task.comments.iter().map(|comment| comment.body.as_str()).collect();
        said.sort_unstable();
        let mut expected: Vec<String> = (0..5).map(|writer| format!("{round}.{writer}")).collect();
        expected.push(format!("{round}.status"));
        assert_eq!(said, expected, "round {round}");
        assert!(task.status == Status::Blocked && task.acceptance.iter().all(|item| item.checked));
    }
    println!("{rounds} rounds of 8 native writers: 0 lost writes");
}

/// Four native writers and four of the real program a round.
#[test]
fn br_11_native_writers_and_the_real_program_lose_nothing() {
    let Some(program) = programs::find(Peer::Backlog) else { return };
    let rounds = rounds(2);
    let place = place("");
    let board = place.board();
    for round in 0..rounds {
        fs::write(&place.file, TASK).unwrap();
        thread::scope(|scope| {
            for writer in 0..4 {
                let (board, program, place) = (&board, &program, &place);
                scope.spawn(move || {
                    // Our own writer tries again by itself; a round longer than its patience is told, never silent.
                    while board.comment(&id(), &format!("ours {writer}")).is_err() {}
                });
                scope
                    .spawn(move || comment_by_program(program, place, &format!("theirs {writer}")));
            }
        });
        let task = task(&board);
        let mut said: Vec<&str> =
            task.comments.iter().map(|comment| comment.body.as_str()).collect();
        said.sort_unstable();
        let expected: Vec<String> = ["ours", "theirs"]
            .iter()
            .flat_map(|who| (0..4).map(move |writer| format!("{who} {writer}")))
            .collect();
        assert_eq!(said, expected, "round {round}");
    }
    println!("{rounds} rounds of 4 native writers and 4 of the real program: 0 lost writes");
}

/// Six native writers and two editors that save by rename a round. The editors look before they rename, as editors do;
/// what they then overwrite is theirs, so only what they saved must not be lost. A writer that meets a save at every try
/// says so and has written nothing: it asks again.
#[test]
fn br_11_an_editor_that_saves_by_rename_is_never_overwritten() {
    let rounds = rounds(5);
    let place = place("");
    let board = place.board();
    for round in 0..rounds {
        fs::write(&place.file, TASK).unwrap();
        thread::scope(|scope| {
            for writer in 0..6 {
                let board = &board;
                scope.spawn(move || {
                    while let Err(error) = board.comment(&id(), &format!("{writer}")) {
                        let why = error.chain();
                        assert!(why.contains("somebody saves this file over and over"), "{why}");
                    }
                });
            }
            let place = &place;
            scope.spawn(move || {
                for save in 0..4 {
                    save_by_rename(place, &format!("mark-{save}"));
                }
            });
        });
        let description = task(&board).description;
        for save in 0..4 {
            assert!(
                description.contains(&format!("mark-{save}")),
                "round {round}, save {save}: {description}"
            );
        }
    }
    println!("{rounds} rounds of 6 native writers and an editor: none of its saves lost");
}
