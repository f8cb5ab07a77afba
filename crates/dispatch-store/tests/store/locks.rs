//! D2.1, D6.4, S5: locks.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use dispatch_engine::ports::{Store, TaskLock, TryLock};

use crate::children::{answer, as_stdin, start};
use crate::{Scratch, id, said};

fn taken(store: &dyn Store) -> Box<dyn TaskLock> {
    match store.try_task_lock(&id("T-1")).unwrap() {
        TryLock::Taken(lock) => lock,
        TryLock::Busy(holder) => panic!("held by {holder}"),
    }
}

fn is_busy(store: &dyn Store) -> bool {
    matches!(store.try_task_lock(&id("t-001")).unwrap(), TryLock::Busy(_))
}

#[test]
fn d2_1_a_second_pass_is_told_who_runs() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let TryLock::Taken(lock) = store.try_pass_lock().unwrap() else { panic!("busy") };
    let words = answer(start("try-pass-lock", &scratch.root, 0, Stdio::null()));
    let expected = format!("pid {}, started 2", std::process::id());
    assert!(words[0].starts_with(&expected), "{words:?}");
    drop(lock);
    assert_eq!(answer(start("try-pass-lock", &scratch.root, 0, Stdio::null())), ["taken"]);
}

#[test]
fn a_lock_ends_with_its_holder_and_its_file_stays_the_same() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let mut child = start("hold-pass-lock", &scratch.root, 0, Stdio::piped());
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "said: held"));
    assert!(matches!(store.try_pass_lock().unwrap(), TryLock::Busy(_)));
    let inode = |name: &str| {
        use std::os::unix::fs::MetadataExt;
        scratch.state(name).metadata().unwrap().ino()
    };
    let before = inode("pass.lock");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(matches!(store.try_pass_lock().unwrap(), TryLock::Taken(_)));
    assert_eq!(inode("pass.lock"), before);
}

#[test]
fn b1_6_one_task_has_one_lock_however_its_id_is_spelled() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let lock = taken(&store);
    assert!(is_busy(&store));
    drop(lock);
    assert!(!is_busy(&store));
}

#[test]
fn d6_4_a_lock_is_handed_over_without_ever_being_free() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let lock = taken(&store);
    let handed = lock.descriptor().unwrap().try_clone_to_owned().unwrap();
    let child = start("adopt", &scratch.root, 0, as_stdin(handed));
    drop(lock);
    assert!(is_busy(&store), "the child has the open file as its standard input");
    std::fs::write(scratch.root.join("let go"), "").unwrap();
    assert_eq!(answer(child), ["adopted", "ours true, still held after dropping false"]);
    assert!(!is_busy(&store));
}

#[test]
fn only_the_lock_file_of_that_task_is_taken_over() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let lock = taken(&store);
    let TryLock::Taken(_other) = store.try_task_lock(&id("T-2")).unwrap() else { panic!("busy") };
    let handed = lock.descriptor().unwrap().try_clone_to_owned().unwrap();
    let words = said(store.adopt_lock(&id("T-2"), handed));
    assert!(words.contains("T-2.lock` ") || words.ends_with("T-2.lock`"), "{words}");

    let stranger = std::fs::File::open(scratch.state("tasks/T-1.lock")).unwrap();
    let words = said(store.adopt_lock(&id("T-1"), stranger.into()));
    assert_eq!(words, "could not take over the lock of T-1: another process holds it");
}

#[test]
fn d6_4_no_lock_reaches_a_child_that_it_was_not_handed_to() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let _task = taken(&store);
    let TryLock::Taken(_pass) = store.try_pass_lock().unwrap() else { panic!("busy") };
    let open = answer(start("look-at-descriptors", &scratch.root, 0, Stdio::null()));
    assert!(!open.is_empty());
    assert!(open.iter().all(|target| !target.contains(".lock")), "{open:?}");
}
