//! S5: an older dispatcher's state.

use std::time::{Duration, SystemTime};

use dispatch_engine::ports::Store;
use dispatch_store::OlderDispatcher;

use crate::{Scratch, id};

fn alive(pid: u32) -> bool {
    pid == 77
}

#[test]
fn beside_a_running_older_dispatcher_we_refuse() {
    let scratch = Scratch::new();
    let store = scratch.store();
    std::fs::create_dir_all(scratch.attempts("locks")).unwrap();
    assert_eq!(store.older_dispatcher(&alive).unwrap(), OlderDispatcher::Nothing);
    std::fs::write(scratch.attempts("dispatch.lock"), "76\n").unwrap();
    assert_eq!(store.older_dispatcher(&alive).unwrap(), OlderDispatcher::Nothing);
    let lock = scratch.attempts("locks/T-1.json");
    std::fs::write(&lock, r#"{"pid":77,"slot":"s-1"}"#).unwrap();
    let running = OlderDispatcher::Running { pid: 77, file: lock.clone() };
    assert_eq!(store.older_dispatcher(&alive).unwrap(), running);
    // A number that was used again says nothing once nobody refreshes the file.
    let old = SystemTime::now() - Duration::from_hours(1);
    std::fs::File::options().write(true).open(&lock).unwrap().set_modified(old).unwrap();
    assert_eq!(store.older_dispatcher(&alive).unwrap(), OlderDispatcher::Nothing);
}

#[test]
fn what_an_ended_older_dispatcher_left_is_taken_over_once_and_bound_slots_are_held() {
    let scratch = Scratch::new();
    let store = scratch.store();
    std::fs::create_dir_all(scratch.attempts("")).unwrap();
    let text = r#"{"slots":[{"name":"s-1","taskId":"T-9","lane":"local","lockfileHash":"abc"},
        {"name":"s-2","taskId":null,"lockfileHash":"def"},{"name":"unknown"}]}"#;
    std::fs::write(scratch.attempts("slots.json"), text).unwrap();
    assert_eq!(store.older_dispatcher(&alive).unwrap(), OlderDispatcher::Imported { slots: 2 });
    let slots = store.registry().unwrap().slots;
    assert_eq!(slots[0].task_id, Some(id("T-9")));
    assert_eq!(slots[0].held.as_deref(), Some("an older dispatcher left it bound to T-9"));
    assert_eq!(slots[1].lockfile_hash.as_deref(), Some("def"));
    assert_eq!(store.older_dispatcher(&alive).unwrap(), OlderDispatcher::Nothing);
}
