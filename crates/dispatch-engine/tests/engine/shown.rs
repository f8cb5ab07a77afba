//! K1: `status` and `explain` as values.

use dispatch_core::config::SettingSource;
use dispatch_core::names::BlockReason;
use dispatch_core::record::Phase;
use dispatch_core::status::Status;
use dispatch_core::task::Comment;
use dispatch_core::triage::Lane;
use dispatch_engine::explain::{ExplainError, ExplainedLaunch, explain};
use dispatch_engine::setup::{Setup, Trust};
use dispatch_engine::stage::Stage;
use dispatch_engine::standstill::StandstillCause;
use dispatch_engine::status;
use dispatch_guards::permission::{Denied, DenyReason};
use dispatch_guards::verdict::VerdictKind;

use crate::sim::{World, branch, context, frontier, id, setup, task};

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
/// The branch of a task that nobody has queued was never asked about, and the remote is not to blame for that.
#[test]
fn explain_judges_a_task_that_is_not_queued_as_if_it_were() {
    let mut planned = task("T-2");
    planned.status = Status::parse("To Do");
    let world = World::new(vec![task("T-1"), planned]);
    world.settle(&setup());
    let explained = explain(&world.ports(), &setup(), &context(), &id("T-2")).unwrap();
    assert_eq!(explained.stage, Stage::NotQueued);
    assert_eq!((explained.verdict.verdict, explained.verdict.reason), (VerdictKind::Launch, None));
}

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

/// K1: `status` and `explain` say what a pass that was made here would do, not what the guards alone would let go.
#[test]
fn k1_a_task_that_no_pass_would_start_from_here_is_shown_to_wait() {
    let world = World::new(vec![frontier("T-1")]);
    world.state().owner.default_branch = Some(branch("main"));
    let shown = |setup: &Setup| {
        let report = status::read(&world.ports(), setup).unwrap();
        let explained = explain(&world.ports(), setup, &context(), &id("T-1")).unwrap();
        let [task] = report.queue.as_slice() else { panic!("{:?}", report.queue) };
        assert_eq!(task.verdict.verdict, VerdictKind::Launch);
        let told = report.held_back().into_iter().map(str::to_owned).collect::<Vec<_>>();
        (task.outlook().0, told, explained.held_back)
    };
    assert_eq!(shown(&setup()), (VerdictKind::Launch, Vec::new(), None));

    world.state().forge_missing = Some("`gh` is not logged in".to_owned());
    let text = "from here no worker of lane frontier can be started: `gh` is not logged in";
    let told = vec![text.to_owned()];
    assert_eq!(shown(&setup()), (VerdictKind::Wait, told, Some(text.to_owned())));

    // A standstill says it all.
    world.state().place.branch = Some(branch("feature"));
    let (outlook, told, _) = shown(&setup());
    assert_eq!((outlook, told), (VerdictKind::Wait, Vec::new()));
}

/// README §3: what keeps every pass from working is the first thing to be told.
#[test]
fn a_standstill_is_told_before_anything_else() {
    let world = World::new(vec![frontier("T-1")]);
    // What a pass heard of the remote: looking asks nobody.
    world.state().owner.default_branch = Some(branch("main"));
    let found = |setup: &Setup| {
        let status = status::read(&world.ports(), setup).unwrap().standstill;
        let explained = explain(&world.ports(), setup, &context(), &id("T-1")).unwrap().standstill;
        assert_eq!(status, explained);
        status.map(|standstill| (standstill.cause, standstill.text))
    };
    assert_eq!(found(&setup()), None);

    let mut changed = setup();
    changed.trust = Trust::Changed("new: lanes.json".to_owned());
    let (cause, text) = found(&changed).unwrap();
    assert_eq!(cause, StandstillCause::ConfigChanged);
    assert!(text.contains("`dispatch trust`"), "{text}");

    world.state().place.branch = Some(branch("feature"));
    let (cause, text) = found(&setup()).unwrap();
    assert_eq!(cause, StandstillCause::BoardElsewhere);
    assert!(text.contains("on feature") && text.contains("check out main in `/"), "{text}");
}

/// K1: what a person asks of a task that is not queued is how far it has come.
#[test]
fn explain_says_how_far_a_task_has_come() {
    let world = World::new(vec![frontier("T-1")]);
    let stage = || explain(&world.ports(), &setup(), &context(), &id("T-1")).unwrap().stage;
    assert_eq!(stage(), Stage::Queued);
    world.pass(&setup());
    let running = stage();
    assert!(
        matches!(&running, Stage::Running { phase: Phase::Claimed, supervised: true, .. }),
        "{running:?}"
    );
    world.settle(&setup());
    let Stage::Proposed { base, link } = stage() else { panic!("{:?}", stage()) };
    assert_eq!((base.as_str(), link.is_empty()), ("main", false));
    world.edit("T-1", |task| task.status = Status::ToDo);
    assert_eq!(stage(), Stage::NotQueued);
}

/// K1: a person who comes back sees what needs them.
#[test]
fn status_lists_what_is_blocked_with_the_reason() {
    let world = World::new(vec![frontier("T-1"), frontier("T-2")]);
    let said = Comment {
        index: 1,
        author: Some("dispatch".to_owned()),
        created: None,
        body: "**Blocked: `checks-failed`** (attempt 1 of 3)".to_owned(),
    };
    world.edit("T-1", |task| {
        task.status = Status::Blocked;
        task.comments = vec![said];
    });
    world.edit("T-2", |task| task.status = Status::Blocked);
    let blocked = status::read(&world.ports(), &setup()).unwrap().blocked;
    let shown: Vec<_> = blocked.iter().map(|task| (task.id.as_str(), task.reason)).collect();
    assert_eq!(shown, [("T-1", Some(BlockReason::ChecksFailed)), ("T-2", None)]);
}

#[test]
fn explaining_a_task_that_is_not_there_says_so() {
    let world = World::new(vec![]);
    let end = explain(&world.ports(), &setup(), &context(), &id("T-4"));
    assert!(matches!(end, Err(ExplainError::NoSuchTask { .. })));
}
