//! Parts of tests that have to be played by processes of their own: this very test binary, started again.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::{Child, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_core::triage::Lane;
use dispatch_engine::ports::{SlotChange, Store, TryLock};

use crate::{attempt, id, open, slot};

const PART: &str = "DISPATCH_STORE_TEST_PART";
const ROOT: &str = "DISPATCH_STORE_TEST_ROOT";
const NUMBER: &str = "DISPATCH_STORE_TEST_NUMBER";

/// Starts this test binary again to play `part`.
pub(crate) fn start(part: &str, root: &Utf8Path, number: usize, stdin: Stdio) -> Child {
    #[expect(clippy::disallowed_methods, reason = "a test of locks needs other processes")]
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "children::plays_its_part", "--nocapture"])
        .env(PART, part)
        .env(ROOT, root)
        .env(NUMBER, number.to_string())
        .stdin(stdin)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits for a child that has to succeed, and gives what it said after `said: `.
pub(crate) fn answer(child: Child) -> Vec<String> {
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "a child failed: {text}");
    text.lines()
        .filter_map(|line| line.split_once("said: ").map(|(_, words)| words.to_owned()))
        .collect()
}

/// Not a claim of its own: the body of the processes that the other tests start.
#[test]
fn plays_its_part() {
    let Ok(part) = std::env::var(PART) else { return };
    let root = Utf8PathBuf::from(std::env::var(ROOT).unwrap());
    let number: usize = std::env::var(NUMBER).unwrap().parse().unwrap();
    match part.as_str() {
        "update-registry" => update_registry(&root, number),
        "allocate" => allocate(&root, number),
        "wish" => {
            for _ in 0..number {
                open(&root, &[]).wish_for_pass().unwrap();
            }
        }
        "try-pass-lock" => try_pass_lock(&root),
        "hold-pass-lock" => hold_pass_lock(&root),
        "adopt" => adopt(&root),
        "look-at-descriptors" => look_at_descriptors(),
        other => panic!("no such part: {other}"),
    }
}

fn say(words: &str) {
    // The harness prints the name of the test on the same line, hence the mark.
    #[expect(clippy::print_stdout, reason = "the parent reads it")]
    {
        println!("\nsaid: {words}");
    }
}

fn update_registry(root: &Utf8Path, number: usize) {
    let names: Vec<String> = (0..20).map(|n| format!("s-{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let store = open(root, &names);
    // Ten updates each: every slot gets its own, so that a lost one shows.
    for round in 0..10 {
        let hash = Some(format!("{number}-{round}"));
        store
            .change_slot(&slot(names[number]), &SlotChange::Installed { lockfile_hash: hash })
            .unwrap();
    }
    let bind = SlotChange::Bind {
        lane: Lane::Local,
        task: id(&format!("T-{number}")),
        attempt: attempt(1),
    };
    say(if store.change_slot(&slot("s-0"), &bind).is_ok() { "bound" } else { "refused" });
}

fn allocate(root: &Utf8Path, number: usize) {
    let store = open(root, &[]);
    for _ in 0..number {
        say(&store.allocate_attempt(&id("T-1"), None).unwrap().to_string());
    }
}

fn try_pass_lock(root: &Utf8Path) {
    match open(root, &[]).try_pass_lock().unwrap() {
        TryLock::Taken(_) => say("taken"),
        TryLock::Busy(holder) => say(&holder),
    }
}

fn hold_pass_lock(root: &Utf8Path) {
    let TryLock::Taken(_lock) = open(root, &[]).try_pass_lock().unwrap() else { panic!("busy") };
    say("held");
    // Until the parent kills us.
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

fn adopt(root: &Utf8Path) {
    let store = open(root, &[]);
    let lock = store.adopt_lock_from_stdin(&id("T-1")).unwrap();
    assert_eq!(lock.id(), &id("T-1"));
    say("adopted");
    let busy =
        |store: &dyn Store| matches!(store.try_task_lock(&id("T-1")).unwrap(), TryLock::Busy(_));
    let wait_for = root.join("let go");
    let lock_is_ours = busy(&store);
    while !wait_for.exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    drop(lock);
    say(&format!("ours {lock_is_ours}, still held after dropping {}", busy(&store)));
}

fn look_at_descriptors() {
    for entry in std::fs::read_dir("/proc/self/fd").unwrap() {
        if let Ok(target) = std::fs::read_link(entry.unwrap().path()) {
            say(&target.to_string_lossy());
        }
    }
}

/// The descriptor of an open file, to be a child's standard input.
pub(crate) fn as_stdin(file: OwnedFd) -> Stdio {
    Stdio::from(File::from(file))
}
