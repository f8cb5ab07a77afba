//! S5, B1.5: attempt directories and their numbers.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use dispatch_core::attempt::AttemptCounts;
use dispatch_core::record::Phase;
use dispatch_engine::ports::{AttemptFile, Store};

use crate::children::{answer, start};
use crate::{Scratch, attempt, id, record, said};

#[test]
fn numbers_go_up_and_are_never_given_again() {
    let scratch = Scratch::new();
    let store = scratch.store();
    assert_eq!(store.allocate_attempt(&id("T-1"), None).unwrap(), attempt(1));
    assert_eq!(store.allocate_attempt(&id("T-1"), None).unwrap(), attempt(2));
    std::fs::remove_dir(scratch.attempts("T-1/attempt-2")).unwrap();
    assert_eq!(store.allocate_attempt(&id("T-1"), Some(attempt(2))).unwrap(), attempt(3));
    std::fs::rename(scratch.attempts("T-1/attempt-3"), scratch.attempts("T-1/attempt-3.archived"))
        .unwrap();
    assert_eq!(store.allocate_attempt(&id("T-1"), None).unwrap(), attempt(4));
}

#[test]
fn the_record_and_an_older_dispatchers_directories_count_too() {
    let scratch = Scratch::new();
    let store = scratch.store();
    std::fs::create_dir_all(scratch.attempts("t-1/intento-6")).unwrap();
    assert_eq!(store.allocate_attempt(&id("T-1"), None).unwrap(), attempt(7));
    let mut known = record("T-2", Phase::Ended);
    known.last_attempt = attempt(11);
    store.write_record(&known).unwrap();
    assert_eq!(store.allocate_attempt(&id("T-2"), None).unwrap(), attempt(12));
}

#[test]
fn processes_that_allocate_at_once_get_different_numbers() {
    let scratch = Scratch::new();
    let children: Vec<_> =
        (0..8).map(|_| start("allocate", &scratch.root, 5, Stdio::null())).collect();
    let numbers: Vec<String> = children.into_iter().flat_map(answer).collect();
    let different: BTreeSet<&String> = numbers.iter().collect();
    assert_eq!((numbers.len(), different.len()), (40, 40));
}

#[test]
fn attempts_are_private_and_no_commit_takes_them_along() {
    let scratch = Scratch::new();
    let store = scratch.store();
    store.allocate_attempt(&id("T-1"), None).unwrap();
    let mode = |name: &str| scratch.attempts(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(""), mode("T-1"), mode("T-1/attempt-1")), (0o700, 0o700, 0o700));
    assert_eq!(std::fs::read_to_string(scratch.attempts(".gitignore")).unwrap(), "*\n");
    assert_eq!(store.attempt_dir_shown(&id("T-1"), attempt(1)), "backlog/.dispatch/T-1/attempt-1");
}

#[test]
fn a_link_in_place_of_the_attempts_is_refused() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let elsewhere = scratch.root.join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, scratch.root.join("backlog/.dispatch")).unwrap();
    let words = said(store.allocate_attempt(&id("T-1"), None));
    assert!(words.ends_with("it is not a directory of its own"), "{words}");
    assert_eq!(std::fs::read_dir(elsewhere).unwrap().count(), 0);
}

#[test]
fn b1_5_counts_come_from_directories_and_from_the_record() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let outcomes = [
        r#"{"counted":true}"#,
        r#"{"counted":false}"#,
        r#"{"counted":false,"excused":true}"#,
        r#"{"steps":[]}"#,
    ];
    for outcome in outcomes {
        let number = store.allocate_attempt(&id("T-1"), None).unwrap();
        store
            .write_attempt_file(&id("T-1"), number, AttemptFile::Outcome, outcome.as_bytes())
            .unwrap();
    }
    store.allocate_attempt(&id("T-1"), None).unwrap();
    std::fs::create_dir_all(scratch.attempts("T-1/intento-1")).unwrap();
    assert_eq!(
        store.attempt_counts(&id("T-1")).unwrap(),
        AttemptCounts { counted: 2, uncounted: 2, excused: 1 }
    );

    let mut known = record("T-1", Phase::Ended);
    known.counts = AttemptCounts { counted: 5, uncounted: 0, excused: 0 };
    store.write_record(&known).unwrap();
    assert_eq!(
        store.attempt_counts(&id("T-1")).unwrap(),
        AttemptCounts { counted: 5, uncounted: 2, excused: 1 }
    );
    std::fs::remove_dir_all(scratch.attempts("")).unwrap();
    assert_eq!(
        store.attempt_counts(&id("T-1")).unwrap(),
        AttemptCounts { counted: 5, uncounted: 0, excused: 0 }
    );
}

#[test]
fn files_of_an_attempt_are_written_added_to_and_read_even_after_a_clean() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let (task, number) = (id("T-1"), store.allocate_attempt(&id("T-1"), None).unwrap());
    assert!(store.has_attempts(&task).unwrap());
    std::fs::remove_dir_all(scratch.attempts("")).unwrap();
    assert!(!store.has_attempts(&task).unwrap());
    store.append_attempt_file(&task, number, AttemptFile::RunLog, b"one\n").unwrap();
    store.append_attempt_file(&task, number, AttemptFile::RunLog, b"two\n").unwrap();
    let read = |file| store.read_attempt_file(&task, number, file).unwrap();
    assert_eq!(read(AttemptFile::RunLog).as_deref(), Some(b"one\ntwo\n".as_slice()));
    assert_eq!(read(AttemptFile::Review), None);
    let end = |file, most| store.read_attempt_file_end(&task, number, file, most).unwrap();
    assert_eq!(end(AttemptFile::RunLog, 3).as_deref(), Some(b"wo\n".as_slice()));
    assert_eq!(end(AttemptFile::RunLog, 100).as_deref(), Some(b"one\ntwo\n".as_slice()));
    assert_eq!(end(AttemptFile::Review, 3), None);
}

/// M4, B1.5: what is set aside counts no more, keeps its content, and its number is not given again.
#[test]
fn m4_attempts_that_are_set_aside_count_no_more() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let number = store.allocate_attempt(&id("T-1"), None).unwrap();
    let counted = br#"{"counted":true}"#;
    store.write_attempt_file(&id("T-1"), number, AttemptFile::Outcome, counted).unwrap();
    std::fs::create_dir_all(scratch.attempts("t-1/intento-4")).unwrap();
    assert_eq!(store.attempt_counts(&id("T-1")).unwrap().counted, 2);
    assert_eq!(store.archive_attempts(&id("T-1")).unwrap(), 2);
    assert_eq!(store.archive_attempts(&id("T-1")).unwrap(), 0);
    assert_eq!(store.attempt_counts(&id("T-1")).unwrap(), AttemptCounts::default());
    let kept = std::fs::read(scratch.attempts("T-1/attempt-1.archived/outcome.json")).unwrap();
    assert_eq!(kept, counted);
    assert_eq!(store.allocate_attempt(&id("T-1"), None).unwrap(), attempt(5));
}
