//! D2.1, D9.4, D11.2, C10.1: what several processes change at once.

use std::process::Stdio;

use dispatch_core::record::Beat;
use dispatch_core::triage::Lane;
use dispatch_engine::ports::{OwnerRecord, Store};

use crate::children::{answer, start};
use crate::{Scratch, id, said};

#[test]
fn d2_1_no_wish_is_lost() {
    let scratch = Scratch::new();
    let store = scratch.store();
    assert_eq!(store.wishes().unwrap(), 0);
    let children: Vec<_> =
        (0..10).map(|_| start("wish", &scratch.root, 5, Stdio::null())).collect();
    for child in children {
        answer(child);
    }
    assert_eq!(store.wishes().unwrap(), 50);
}

#[test]
fn lane_states_change_apart_and_keep_what_a_newer_version_wrote() {
    let scratch = Scratch::new();
    let store = scratch.store();
    std::fs::write(scratch.state("lanes-state.json"), r#"{"local":{"mood":"calm"},"cloud":{}}"#)
        .unwrap();
    for _ in 0..2 {
        store.change_lane_state(Lane::Local, &mut |state| state.provision_failures += 1).unwrap();
    }
    store.change_lane_state(Lane::Frontier, &mut |state| state.provision_failures = 7).unwrap();
    assert_eq!(store.lane_state(Lane::Local).unwrap().provision_failures, 2);
    assert_eq!(store.lane_state(Lane::Frontier).unwrap().provision_failures, 7);
    let text = std::fs::read_to_string(scratch.state("lanes-state.json")).unwrap();
    assert!(text.contains("calm") && text.contains("cloud"), "{text}");
}

#[test]
fn a_lane_state_that_cannot_be_parsed_is_an_error() {
    let scratch = Scratch::new();
    let store = scratch.store();
    std::fs::write(scratch.state("lanes-state.json"), r#"{"local":{"pause":4}}"#).unwrap();
    assert!(said(store.lane_state(Lane::Local)).contains("lanes-state.json`"));
}

#[test]
fn owner_observations_and_backups_read_back() {
    let scratch = Scratch::new();
    let store = scratch.store();
    assert_eq!(store.owner().unwrap(), OwnerRecord::default());
    let owner = OwnerRecord { board: Some("/b".into()), ..OwnerRecord::default() };
    store.write_owner(&owner).unwrap();
    assert_eq!(store.owner().unwrap(), owner);

    let beat = |awake_ms| Beat { boot_id: "boot".to_owned(), awake_ms };
    assert_eq!(store.observed(&id("T-1")).unwrap(), None);
    store.write_observed(&id("T-1"), &beat(1), &beat(2)).unwrap();
    store.write_observed(&id("T-2"), &beat(3), &beat(4)).unwrap();
    assert_eq!(store.observed(&id("t-1")).unwrap(), Some((beat(1), beat(2))));

    store
        .change_backups(&mut |list| *list.entry("refs/dispatch/x".to_owned()).or_default() += 1)
        .unwrap();
    store
        .change_backups(&mut |list| *list.entry("refs/dispatch/x".to_owned()).or_default() += 1)
        .unwrap();
    assert_eq!(store.backups().unwrap()["refs/dispatch/x"], 2);
}
