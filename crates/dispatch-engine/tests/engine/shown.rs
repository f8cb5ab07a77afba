//! K1: `status` and `explain` as values.

use dispatch_core::config::SettingSource;
use dispatch_core::status::Status;
use dispatch_core::triage::Lane;
use dispatch_engine::explain::{ExplainError, ExplainedLaunch, explain};
use dispatch_engine::status;
use dispatch_guards::permission::{Denied, DenyReason};

use crate::sim::{World, context, frontier, id, setup, task};

#[test]
fn status_shows_slots_running_attempts_lanes_and_the_queue() {
    let world = World::new(vec![task("T-1"), task("T-2")]);
    world.pass(&setup());
    world.wait(90);
    let report = status::read(&world.ports(), &setup()).unwrap();
    assert_eq!(report.slots[0].task, Some(id("T-1")));
    let running = &report.running[0];
    assert_eq!((running.elapsed_s, running.beat_age_s), (Some(90), Some(90)));
    assert!(running.supervised);
    let local = report.lanes.iter().find(|lane| lane.lane == Lane::Local).unwrap();
    assert_eq!((local.running, local.max_parallel), (1, 1));
    assert_eq!(report.queue[0].id, id("T-2"));
    assert_eq!(report.queue[0].verdict.reason, Some("lane-at-capacity"));
}

#[test]
fn status_changes_nothing() {
    let world = World::new(vec![task("T-1")]);
    world.pass(&setup());
    world.die_before(Some(0));
    status::read(&world.ports(), &setup()).unwrap();
    assert_eq!(world.calls(), 0);
}

#[test]
fn explain_shows_every_guard_and_the_exact_launch_and_its_input_says_the_same_again() {
    let mut lacking = frontier("T-1");
    lacking.acceptance.clear();
    let world = World::new(vec![lacking]);
    let mut off = setup();
    off.trust = dispatch_engine::setup::Trust::Changed(String::new());
    world.pass(&off);
    let explained = explain(&world.ports(), &setup(), &context(), &id("T-1")).unwrap();
    assert_eq!(explained.status, Status::Queued);
    assert_eq!(explained.verdict.reason, Some("missing-acceptance-criteria"));
    assert_eq!(explained.guards.len(), 9);
    let ExplainedLaunch::Would { argv, denied, environment, .. } = &explained.launch else {
        panic!("{:?}", explained.launch)
    };
    assert!(argv.contains(&"--allowedTools".to_owned()), "{argv:?}");
    assert!(argv.iter().any(|word| word.contains("worker-edit T-1")), "{argv:?}");
    assert!(!denied.is_empty());
    assert!(environment.contains(&"DISPATCH_TASK_ID".to_owned()));
    let again = explained.input.evaluate().unwrap();
    let language = dispatch_core::config::Language::En;
    assert_eq!(again.printed_all(language), explained.guards);
}

/// P5.1, P5.8: what settings files add is shown as denied, and is part of what can be evaluated again.
#[test]
fn explain_shows_what_the_person_s_settings_would_add() {
    let world = World::new(vec![frontier("T-1")]);
    let mut setup = setup();
    setup.config.lanes.frontier.setting_sources = vec![SettingSource::User];
    let text = r#"{"permissions": {"allow": ["Bash(gh:*)"]}}"#;
    setup.agent_settings.person.text = Ok(Some(text.to_owned()));
    let explained = explain(&world.ports(), &setup, &context(), &id("T-1")).unwrap();
    let ExplainedLaunch::Would { denied, .. } = &explained.launch else { panic!("no launch") };
    let reason = DenyReason::Loaded { file: "settings.json".to_owned() };
    assert!(denied.contains(&Denied { rule: "Bash(gh:*)".to_owned(), reason }), "{denied:?}");
    assert_eq!(explained.input.surface.loaded[0].allow, ["Bash(gh:*)"]);

    setup.agent_settings.person.text = Ok(Some("[]".to_owned()));
    let explained = explain(&world.ports(), &setup, &context(), &id("T-1")).unwrap();
    let ExplainedLaunch::Refused { why } = &explained.launch else { panic!("a launch") };
    assert!(why.contains("settings.json"), "{why}");
    assert_eq!(explained.verdict.reason, Some("settings-unreadable"));
    let again = explained.input.evaluate().unwrap();
    assert_eq!(again.printed_all(dispatch_core::config::Language::En), explained.guards);
}

#[test]
fn explaining_a_task_that_is_not_there_says_so() {
    let world = World::new(vec![]);
    let end = explain(&world.ports(), &setup(), &context(), &id("T-4"));
    assert!(matches!(end, Err(ExplainError::NoSuchTask { .. })));
}
