//! D6.1, D6.2: the slot registry.

use std::process::Stdio;

use dispatch_core::record::Phase;
use dispatch_core::triage::Lane;
use dispatch_engine::ports::{SlotChange, Store};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::children::{answer, start};
use crate::{Scratch, attempt, id, record, said, slot};

fn bind(task: &str) -> SlotChange {
    SlotChange::Bind { lane: Lane::Frontier, task: id(task), attempt: attempt(1) }
}

/// Q1.6: nothing is lost, and a slot goes to one task.
#[test]
fn two_hundred_updates_from_twenty_processes_are_all_there() {
    let scratch = Scratch::new();
    let children: Vec<_> = (0..20)
        .map(|number| start("update-registry", &scratch.root, number, Stdio::null()))
        .collect();
    let words: Vec<String> = children.into_iter().flat_map(answer).collect();
    assert_eq!(words.iter().filter(|word| *word == "bound").count(), 1, "{words:?}");
    assert_eq!(words.len(), 20);
    let names: Vec<String> = (0..20).map(|n| format!("s-{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let registry = scratch.store_with(&names).registry().unwrap();
    for (number, entry) in registry.slots.iter().enumerate() {
        assert_eq!(entry.name.as_str(), format!("s-{number}"));
        assert_eq!(entry.lockfile_hash, Some(format!("{number}-9")));
    }
    assert_eq!(registry.slots.len(), 20);
}

#[test]
fn a_bound_slot_is_neither_bound_to_another_task_nor_freed_for_one() {
    let scratch = Scratch::new();
    let store = scratch.store();
    store.change_slot(&slot("s-1"), &bind("T-1")).unwrap();
    assert_eq!(
        said(store.change_slot(&slot("s-1"), &bind("T-2"))),
        "could not bind slot s-1 to T-2: it is bound to T-1"
    );
    store.change_slot(&slot("s-1"), &SlotChange::Free { task: id("T-2") }).unwrap();
    assert_eq!(store.registry().unwrap().slots[0].task_id, Some(id("T-1")));
    store.change_slot(&slot("s-1"), &SlotChange::Free { task: id("t-01") }).unwrap();
    assert_eq!(store.registry().unwrap().slots[0].task_id, None);
}

#[test]
fn a_held_slot_is_not_bound() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let hold = SlotChange::Hold { task: id("T-1"), cause: "no space left".into() };
    store.change_slot(&slot("s-1"), &bind("T-1")).unwrap();
    store.change_slot(&slot("s-1"), &hold).unwrap();
    assert_eq!(
        said(store.change_slot(&slot("s-1"), &bind("T-1"))),
        "could not bind slot s-1 to T-1: it is held: no space left"
    );
}

/// C1.3: only a slot that is bound to the task is held for it.
#[test]
fn a_slot_that_is_not_bound_to_the_task_is_not_held() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let hold = SlotChange::Hold { task: id("T-1"), cause: "no space left".into() };
    store.change_slot(&slot("s-1"), &hold).unwrap();
    store.change_slot(&slot("s-2"), &bind("T-2")).unwrap();
    store.change_slot(&slot("s-2"), &hold).unwrap();
    let cause_of = |number: usize| store.registry().unwrap().slots[number].held.clone();
    assert_eq!((cause_of(0), cause_of(1)), (None, None));

    let own = SlotChange::Hold { task: id("T-2"), cause: "no space left".into() };
    store.change_slot(&slot("s-2"), &own).unwrap();
    for (task, expected) in [(None, true), (Some("T-1"), true), (Some("T-2"), false)] {
        store.change_slot(&slot("s-2"), &SlotChange::Unhold { task: task.map(id) }).unwrap();
        assert_eq!(cause_of(1).is_some(), expected, "{task:?}");
    }
}

#[test]
fn d6_1_a_slot_that_is_not_configured_keeps_its_binding_and_gets_no_new_one() {
    let scratch = Scratch::new();
    scratch.store_with(&["old"]).change_slot(&slot("old"), &bind("T-1")).unwrap();
    let store = scratch.store();
    let registry = store.registry().unwrap();
    let names: Vec<&str> = registry.slots.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["s-1", "s-2", "old"]);
    assert_eq!(registry.slots[2].task_id, Some(id("T-1")));
    assert_eq!(registry.configured, [slot("s-1"), slot("s-2")]);
    store.change_slot(&slot("old"), &SlotChange::Free { task: id("T-1") }).unwrap();
    assert_eq!(
        said(store.change_slot(&slot("old"), &bind("T-2"))),
        "could not bind slot old to T-2: it is not configured any more"
    );
}

#[test]
fn a_missing_registry_is_rebuilt_from_records_and_the_list_of_worktrees() {
    let scratch = Scratch::new();
    let store = scratch.store();
    store.write_record(&record("T-7", Phase::Running)).unwrap();
    store.write_record(&record("T-8", Phase::Ended)).unwrap();
    let worktree = |name: &str, path: &str| {
        let dir = scratch.root.join(".git/worktrees").join(name);
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("gitdir"), format!("{path}/.git\n")).unwrap();
    };
    worktree("gone", scratch.root.join("slots/gone").as_str());
    worktree("verify", scratch.root.join("slots/s-1.verify").as_str());
    worktree("foreign", "/somewhere/else");
    let planted = scratch.root.join(".git/worktrees/pipe/gitdir");
    std::fs::create_dir_all(planted.parent().unwrap()).unwrap();
    mknodat(CWD, planted.as_std_path(), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let registry = store.registry().unwrap();
    let seen: Vec<(&str, Option<String>)> = registry
        .slots
        .iter()
        .map(|entry| (entry.name.as_str(), entry.task_id.as_ref().map(ToString::to_string)))
        .collect();
    assert_eq!(seen, [("s-1", Some("T-7".to_owned())), ("s-2", None), ("gone", None)]);
    assert!(scratch.state("registry.json").exists());
}

#[test]
fn a_missing_registry_is_not_guessed_beside_a_record_that_cannot_be_read() {
    let scratch = Scratch::new();
    let store = scratch.store();
    std::fs::write(scratch.state("tasks/T-1.json"), "{").unwrap();
    assert!(said(store.registry()).contains("tasks/T-1.json"));
}

#[test]
fn a_registry_that_cannot_be_parsed_is_an_error_with_file_and_position() {
    let scratch = Scratch::new();
    let store = scratch.store();
    std::fs::write(scratch.state("registry.json"), "{\"slots\":[\n{\"name\":5}]}").unwrap();
    let words = said(store.registry());
    assert!(words.contains("registry.json`"), "{words}");
    assert!(words.contains("line 2 column"), "{words}");
    assert!(said(store.change_slot(&slot("s-1"), &bind("T-1"))).contains("registry.json`"));
}

#[test]
fn fields_of_a_newer_version_survive_a_change() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let text = r#"{"slots":[{"name":"s-1","path":"/x","lane":null,"taskId":null,"attempt":null,"lockfileHash":"h","mood":"calm"}],"epoch":9}"#;
    std::fs::write(scratch.state("registry.json"), text).unwrap();
    store.change_slot(&slot("s-1"), &bind("T-1")).unwrap();
    let after: serde_json::Value =
        serde_json::from_slice(&std::fs::read(scratch.state("registry.json")).unwrap()).unwrap();
    assert_eq!(after["epoch"], 9);
    assert_eq!(after["slots"][0]["mood"], "calm");
    assert_eq!(after["slots"][0]["taskId"], "T-1");
}
