//! BR-11: writers of every kind at once, and no write lost.

use std::collections::BTreeSet;
use std::fs;
use std::thread;

use camino::Utf8Path;
use dispatch_board::DiskBoard;
use dispatch_core::status::Status;
use dispatch_core::task::{Checklist, Task};
use dispatch_engine::ports::{Board, StatusChange, StatusWrite, Tick};
use dispatch_testkit::programs::{self, Peer};
use rustix::fs::{CWD, RenameFlags, renameat_with};

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

/// A person's editor that saves by rename: it adds a line to the description. It looks whether the file changed since it
/// read it, as late as an editor can, and answers the marks it saved over nevertheless: those it lost itself.
fn save_by_rename(place: &Place, mark: &str) -> BTreeSet<String> {
    let aside = place.root.join("editor");
    for _ in 0..2000 {
        let before = fs::read_to_string(&place.file).unwrap();
        let after = before.replace("Text.", &format!("Text.\n{mark}"));
        fs::write(&aside, &after).unwrap();
        if fs::read_to_string(&place.file).unwrap() == before {
            // An exchange puts the file there as a rename does, and shows what it was put over.
            let exchange = RenameFlags::EXCHANGE;
            renameat_with(CWD, aside.as_std_path(), CWD, place.file.as_std_path(), exchange)
                .unwrap();
            let over = fs::read_to_string(&aside).unwrap();
            return &marks(&over) - &marks(&after);
        }
    }
    panic!("the editor never got its turn");
}

/// The marks an editor left in a text.
fn marks(text: &str) -> BTreeSet<String> {
    text.lines().filter(|line| line.starts_with("mark-")).map(str::to_owned).collect()
}

/// The texts of the saves that the writers kept aside.
fn kept(place: &Place) -> Vec<String> {
    let Ok(entries) = place.root.join("backlog/.dispatch").read_dir_utf8() else {
        return Vec::new();
    };
    let files = entries.map(|entry| entry.unwrap().into_path());
    files
        .filter(|path| path.file_name() != Some(".gitignore"))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect()
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

/// Six native writers and an editor that saves by rename a round: each of its saves is in the file, or is kept because
/// the editor itself made a newer one over ours. A writer that meets a save at every try, or whose comment the editor
/// saves over, says so: it asks again.
#[test]
fn br_11_an_editor_that_saves_by_rename_is_never_overwritten() {
    let rounds = rounds(5);
    let place = place("");
    let board = place.board();
    let (mut excused, mut aside) = (0, 0);
    for round in 0..rounds {
        fs::write(&place.file, TASK).unwrap();
        let before = kept(&place).len();
        let own_fault = thread::scope(|scope| {
            for writer in 0..6 {
                let board = &board;
                scope.spawn(move || {
                    while let Err(error) = board.comment(&id(), &format!("{writer}")) {
                        let why = error.chain();
                        let told = ["was saved by somebody else each time", "does not show"];
                        assert!(told.iter().any(|told| why.contains(told)), "{why}");
                    }
                });
            }
            let place = &place;
            let saves = (0..4).map(|save| format!("mark-{round}-{save}"));
            let editor = scope.spawn(move || {
                saves.flat_map(|mark| save_by_rename(place, &mark)).collect::<BTreeSet<_>>()
            });
            editor.join().unwrap()
        });
        let description = task(&board).description;
        let kept = kept(&place);
        for save in 0..4 {
            let mark = format!("mark-{round}-{save}");
            let stands = marks(&description).contains(&mark);
            let is_kept = kept.iter().any(|text| marks(text).contains(&mark));
            assert!(
                stands || is_kept || own_fault.contains(&mark),
                "round {round}, {mark}: {description}"
            );
        }
        excused += own_fault.len();
        aside += kept.len() - before;
    }
    println!(
        "{rounds} rounds of 6 native writers and an editor: no save lost ({aside} kept aside, {excused} saved over by the editor itself)"
    );
}
