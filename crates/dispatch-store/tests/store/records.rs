//! S5: records, requests, private values.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use dispatch_core::names::CloseStep;
use dispatch_core::object::CommitId;
use dispatch_core::record::{Phase, Record, Request};
use dispatch_core::status::Status;
use dispatch_engine::ports::{Recorded, Store, TryLock};
use dispatch_testkit::wait;
use serde_json::json;
use test_case::test_case;

use crate::{Scratch, SteppingClock, id, record, said};

#[test]
fn a_record_reads_back_as_it_was_written() {
    let scratch = Scratch::new();
    let store = scratch.store();
    assert_eq!(store.record(&id("T-1")).unwrap(), None);
    let written = record("T-1", Phase::Closing(CloseStep::SaveWork));
    store.write_record(&written).unwrap();
    assert_eq!(store.record(&id("t-001")).unwrap(), Some(written));
}

#[test]
fn fields_of_a_newer_version_are_kept_when_a_record_is_rewritten() {
    let scratch = Scratch::new();
    let store = scratch.store();
    store.write_record(&record("T-1", Phase::Claimed)).unwrap();
    let path = scratch.state("tasks/T-1.json");
    let mut value: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    value["novelty"] = json!({"deep": [1, 2]});
    std::fs::write(&path, value.to_string()).unwrap();
    let mut read = store.record(&id("T-1")).unwrap().unwrap();
    read.phase = Phase::Running;
    store.write_record(&read).unwrap();
    let after: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(after["novelty"], json!({"deep": [1, 2]}));
    assert_eq!(after["phase"], "running");
}

#[test]
fn a_record_that_cannot_be_read_stands_beside_the_others_and_names_its_place() {
    let scratch = Scratch::new();
    let store = scratch.store();
    store.write_record(&record("T-2", Phase::Claimed)).unwrap();
    store.write_private(&id("T-2"), "hand-over", &json!({})).unwrap();
    std::fs::write(scratch.state("tasks/T-1.json"), "{\n  \"taskId\": 5\n}").unwrap();
    std::fs::write(scratch.state("tasks/.new-left-by-a-crash"), "half").unwrap();
    let found = store.records().unwrap();
    let [Recorded::Unreadable { error, .. }, Recorded::Read(read)] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!(read.task_id, id("T-2"));
    let words = error.chain();
    assert!(words.contains("tasks/T-1.json`") && words.contains("line 2 column"), "{words}");
}

#[test]
fn a_record_under_another_tasks_name_is_refused() {
    let scratch = Scratch::new();
    let store = scratch.store();
    store.write_record(&record("T-1", Phase::Claimed)).unwrap();
    std::fs::rename(scratch.state("tasks/T-1.json"), scratch.state("tasks/T-2.json")).unwrap();
    assert!(said(store.record(&id("T-2"))).ends_with("it is the record of T-1"));
}

/// M2: a person's wish outlives the dispatcher's own, in whichever order they come.
#[test]
fn m2_the_weightier_of_two_requests_stands() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let to = |status| Request::Cancel { to: Some(status) };
    let asked = [
        (Request::Stop, Request::Stop),
        (Request::Interrupt, Request::Interrupt),
        (Request::Stop, Request::Interrupt),
        (Request::Cancel { to: None }, Request::Cancel { to: None }),
        (to(Status::ToDo), to(Status::ToDo)),
        (Request::Interrupt, to(Status::ToDo)),
        (Request::Cancel { to: None }, to(Status::ToDo)),
        (to(Status::Blocked), to(Status::Blocked)),
    ];
    for (request, stands) in asked {
        store.write_request(&id("T-1"), &request).unwrap();
        assert_eq!(store.request(&id("T-1")).unwrap(), Some(stands), "after {request:?}");
    }
}

#[test]
fn requests_and_private_values_come_and_go() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let request = Request::Cancel { to: Some(dispatch_core::status::Status::ToDo) };
    store.write_request(&id("T-1"), &request).unwrap();
    assert_eq!(store.request(&id("T-1")).unwrap(), Some(request));
    store.clear_request(&id("T-1")).unwrap();
    store.clear_request(&id("T-1")).unwrap();
    assert_eq!(store.request(&id("T-1")).unwrap(), None);

    assert_eq!(store.read_private(&id("T-1"), "hand-over").unwrap(), None);
    store.write_private(&id("T-1"), "hand-over", &json!({"a": 1})).unwrap();
    assert_eq!(store.read_private(&id("T-1"), "hand-over").unwrap(), Some(json!({"a": 1})));
    assert!(store.records().unwrap().is_empty());
}

#[test]
fn only_the_owner_may_look_inside() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.state("")).unwrap();
    std::fs::set_permissions(scratch.state(""), std::fs::Permissions::from_mode(0o755)).unwrap();
    let store = scratch.store();
    store.write_record(&record("T-1", Phase::Claimed)).unwrap();
    let mode = |name: &str| scratch.state(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(""), mode("tasks"), mode("tasks/T-1.json")), (0o700, 0o700, 0o600));
}

#[test]
fn tokens_differ() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let (one, other) = (store.random_token().unwrap(), store.random_token().unwrap());
    assert_ne!(one, other);
    assert!(one.len() == 32 && one.bytes().all(|byte| byte.is_ascii_hexdigit()), "{one}");
}

/// N26, D9.4: while a supervisor waits for something long a thread of its own shows that it lives; neither of the two takes
/// back what the other wrote, and nothing of it is left once the lock ends, since the record is somebody else's then.
#[test]
fn d9_4_the_beat_advances_under_the_lock_and_ends_with_it() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let TryLock::Taken(lock) = store.try_task_lock(&id("T-1")).unwrap() else { panic!("busy") };
    let mut written = record("T-1", Phase::Closing(CloseStep::OpenPr));
    store.write_record(&written).unwrap();
    let every = Duration::from_millis(20);
    let lock = store.beating(lock, SteppingClock::default(), every).unwrap();
    let beat = || store.record(&id("T-1")).unwrap().unwrap().beat.map(|beat| beat.awake_ms);
    let first = wait::until_some("a beat", beat);
    wait::until("another beat", || beat() > Some(first));
    // What the supervisor writes meanwhile stays.
    written.saved = Some(CommitId::parse(&"a".repeat(40)).unwrap());
    store.write_record(&written).unwrap();
    wait::until("a beat after that", || beat().is_some());
    let read = store.record(&id("T-1")).unwrap().unwrap();
    assert_eq!((&read.saved, read.phase), (&written.saved, written.phase));
    assert!(read.heartbeat_at.is_some());
    assert_eq!(lock.id(), &id("T-1"));
    assert!(matches!(store.try_task_lock(&id("T-1")).unwrap(), TryLock::Busy(_)));
    drop(lock);
    let last = store.record(&id("T-1")).unwrap();
    store.write_record(&record("T-1", Phase::Claimed)).unwrap();
    assert_ne!(last.unwrap().beat, None);
    assert!(matches!(store.try_task_lock(&id("T-1")).unwrap(), TryLock::Taken(_)));
    assert_eq!(beat(), None, "nobody writes any more");
}

/// D9.7, D9.4: the record of another claim is left alone, and so is one that has ended.
#[test_case(|record| record.token = "another".to_owned(); "another claim")]
#[test_case(|record| record.phase = Phase::Ended; "ended")]
fn d9_4_a_record_that_is_not_ours_any_more_gets_no_beat(change: fn(&mut Record)) {
    let scratch = Scratch::new();
    let store = scratch.store();
    let TryLock::Taken(lock) = store.try_task_lock(&id("T-1")).unwrap() else { panic!("busy") };
    let mut written = record("T-1", Phase::Running);
    store.write_record(&written).unwrap();
    let clock = SteppingClock::default();
    let lock = store.beating(lock, clock.clone(), Duration::from_millis(5)).unwrap();
    change(&mut written);
    store.write_record(&written).unwrap();
    // A record of the same claim shows that the thread went round.
    if written.phase == Phase::Ended {
        let read = clock.readings();
        wait::until("the thread to look", || clock.readings() > read + 2);
    }
    drop(lock);
    assert_eq!(store.record(&id("T-1")).unwrap().unwrap().beat, None);
}
