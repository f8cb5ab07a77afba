//! D2, D3, D6.4, S3: passes.

use dispatch_core::attempt::AttemptNumber;
use dispatch_core::config::{ConfinementMode, Language, Owner, SettingSource};
use dispatch_core::names::{PauseCause, SelectionOff, WaitReason};
use dispatch_core::record::{Phase, Request};
use dispatch_core::status::Status;
use dispatch_core::triage::Lane;
use dispatch_engine::by_hand;
use dispatch_engine::governor::{configuration_approved, lane_fault};
use dispatch_engine::hand_over::HandOver;
use dispatch_engine::pass::{End, Options, PassError, Selection};
use dispatch_engine::ports::{AttemptFile, Lease, OwnerRecord, Review, Store, TryLock, Verdict};
use dispatch_engine::setup::Trust;
use test_case::test_case;

use crate::sim::{Act, World, branch, config, frontier, id, result, setup, setup_of, slot, task};

fn last(lines: &[String]) -> &str {
    lines.last().unwrap()
}

/// N66.
#[test]
fn d3_2_lanes_fill_up_in_order_of_priority_and_age() {
    let mut urgent = task("T-2");
    urgent.priority = 3;
    let world = World::new(vec![task("T-1"), urgent, frontier("T-3")]);
    let lines = world.lines(&setup());
    assert_eq!(lines[0], "T-2: dispatched, attempt 1 in dispatch-1");
    assert!(lines[1].starts_with("T-1: waiting, lane-at-capacity: "), "{lines:?}");
    assert_eq!(lines[2], "T-3: dispatched, attempt 1 in dispatch-2");
    assert_eq!(last(&lines), "pass complete: dispatched 2, blocked 0, waiting 1; selection done");
    assert_eq!(world.bound(), [Some("T-2".to_owned()), Some("T-3".to_owned())]);
    assert_eq!(world.status("T-2"), Status::InProgress);
    assert_eq!(world.status("T-1"), Status::Queued);
}

#[test]
fn a_queued_task_becomes_a_pull_request_and_done_once_it_is_merged() {
    let world = World::new(vec![task("T-1")]);
    world.settle(&setup());
    let proposal = world.record("T-1").pr.unwrap();
    assert_eq!(world.status("T-1"), Status::InProgress);
    assert_eq!(world.state().repository.remote[&branch("task/T-1")], proposal.commit);
    assert_eq!(world.bound(), [None, None]);
}

#[test]
fn d3_2_a_task_that_waits_does_not_starve_the_queue() {
    let mut waiting = frontier("T-1");
    waiting.priority = 3;
    waiting.dependencies = vec![id("T-9")];
    let mut open = task("T-9");
    open.status = Status::ToDo;
    let world = World::new(vec![waiting, open, task("T-2")]);
    let lines = world.lines(&setup());
    assert!(lines[0].starts_with("T-1: waiting, dependency-not-done: "), "{lines:?}");
    assert_eq!(lines[1], "T-2: dispatched, attempt 1 in dispatch-1");
}

#[test]
fn d4_a_task_that_lacks_something_is_blocked_with_what_to_do_and_the_next_one_runs() {
    let mut lacking = frontier("T-1");
    lacking.acceptance.clear();
    let world = World::new(vec![lacking, task("T-2")]);
    let lines = world.lines(&setup());
    assert!(lines[0].starts_with("T-1: blocked, missing-acceptance-criteria: "), "{lines:?}");
    assert_eq!(world.status("T-1"), Status::Blocked);
    let comments = world.comments("T-1");
    assert!(comments[0].starts_with("Blocked (`missing-acceptance-criteria`): "), "{comments:?}");
    assert!(
        world.state().notified.contains(&"T-1 blocked: missing-acceptance-criteria".to_owned())
    );
    assert_eq!(world.status("T-2"), Status::InProgress);
}

#[test]
fn d2_1_while_another_pass_runs_a_trigger_only_leaves_a_wish() {
    let world = World::new(vec![task("T-1")]);
    let other = world.new_process();
    let TryLock::Taken(lock) = other.try_pass_lock().unwrap() else { panic!("busy") };
    let report = world.pass(&setup());
    assert!(report.rounds.is_empty());
    assert!(report.lines()[0].ends_with("); it will look again"), "{:?}", report.lines());
    assert_eq!(world.state().wishes, 1);
    assert_eq!(world.status("T-1"), Status::Queued);
    drop(lock);
}

#[test]
fn d2_1_a_wish_during_a_round_makes_another_round() {
    let world = World::new(vec![task("T-1")]);
    world.state().wishes_to_come = 2;
    assert_eq!(world.pass(&setup()).rounds.len(), 3);
}

#[test]
fn d2_1_a_round_for_anothers_wish_selects_even_if_our_own_trigger_did_not_want_to() {
    let options = |reason| Options { selection_off: Some(reason), ..Options::default() };
    let run = |reason| {
        let world = World::new(vec![task("T-1")]);
        world.state().wishes_to_come = 1;
        let report = world.try_pass(&setup(), &options(reason)).unwrap().unwrap();
        let off = Selection::Off { reason, grounds: String::new() };
        assert_eq!(report.rounds[0].selection, off);
        report.rounds[1].selection.clone()
    };
    assert_eq!(run(SelectionOff::Callback), Selection::Done);
    let off = Selection::Off { reason: SelectionOff::Sentinel, grounds: String::new() };
    assert_eq!(run(SelectionOff::Sentinel), off);
}

/// N42.
#[test]
fn d3_5_without_an_answer_of_the_remote_nothing_starts() {
    let world = World::new(vec![task("T-1")]);
    world.state().remote_answers = false;
    let lines = world.lines(&setup());
    assert!(lines.iter().any(|line| line.starts_with("T-1: waiting, remote-unknown")), "{lines:?}");
    assert!(world.state().records.is_empty());
}

/// N54: a retry whose branch was not seen is never started afresh from the base.
#[test]
fn d3_5_a_task_dispatched_before_waits_for_the_remote() {
    let world = World::new(vec![task("T-1")]);
    world.settle(&setup());
    world.edit("T-1", |task| task.status = Status::Queued);
    world.state().remote_answers = false;
    let report = world.pass(&setup());
    let end = End::Waiting { reason: WaitReason::RemoteUnknown };
    assert_eq!(report.rounds[0].considered[0].end, end);
}

#[test]
fn d3_5_only_branches_of_interest_are_fetched() {
    let mut done = task("T-8");
    done.status = Status::Done;
    let world = World::new(vec![task("T-1"), done]);
    world.pass(&setup());
    let fetched = world.state().fetched[0].clone();
    assert_eq!(fetched, [branch("main"), branch("task/T-1")].into());
}

/// A pass over a task of each lane, where the local one loads `rule` from the person's settings; answers what the pass
/// said about its task.
fn with_loaded(rule: &str) -> (World, String) {
    let mut config = config();
    config.lanes.local.setting_sources = vec![SettingSource::User];
    let mut setup = setup_of(config);
    let text = format!(r#"{{"permissions": {{"allow": ["{rule}"]}}}}"#);
    setup.agent_settings.person.text = Ok(Some(text));
    let world = World::new(vec![task("T-1"), frontier("T-2")]);
    let lines = world.lines(&setup);
    assert_eq!(world.status("T-2"), Status::InProgress, "the other lane loads nothing");
    let line = lines.iter().find(|line| line.starts_with("T-1: ")).unwrap().clone();
    (world, line)
}

/// P5.4, D4: across a grant of the lane, it is the lane's conflict.
#[test_case("Bash"; "wider than every grant")]
#[test_case("Bash(/opt/dispatch/worker-edit:*)"; "wider than the board command")]
fn p5_4_a_loaded_rule_that_lies_across_a_grant_of_the_lane_pauses_it(rule: &str) {
    let (world, line) = with_loaded(rule);
    assert!(line.starts_with("T-1: waiting, permission-conflict: "), "{line}");
    assert!(line.contains(rule) && line.contains("settings.json"), "{line}");
    let state = world.state().lanes[&Lane::Local].clone();
    assert_eq!(state.pause.unwrap().cause.as_str(), "launch-refused");
}

/// N15, P5.4, D4: across the task's own test command, it is the task's.
#[test]
fn p5_4_a_loaded_rule_that_lies_across_the_test_command_blocks_the_task() {
    let test_command = task("T-1").test_command.given().unwrap().to_owned();
    let program = test_command.split(' ').next().unwrap();
    let (world, line) = with_loaded(&format!("Bash({program}:*)"));
    assert!(line.starts_with("T-1: blocked, permission-conflict: "), "{line}");
    assert_eq!(world.status("T-1"), Status::Blocked);
}

/// N59, P5.4: what a grant covers adds nothing.
#[test]
fn p5_4_a_loaded_rule_that_a_grant_covers_is_harmless() {
    let (_, line) = with_loaded("Edit(src/**)");
    assert!(line.starts_with("T-1: dispatched"), "{line}");
}

/// P5.2, P5.6, D3.6: a settings file that the agent would drop stops the lanes that load it, and the pass fails.
#[test]
fn p5_6_settings_that_the_agent_would_drop_stop_the_lanes_that_load_them() {
    let mut config = config();
    config.lanes.local.setting_sources = vec![SettingSource::User];
    let mut setup = setup_of(config);
    setup.agent_settings.person.text = Ok(Some("{".to_owned()));
    let world = World::new(vec![task("T-1"), frontier("T-2")]);
    let report = world.pass(&setup);
    let end = End::Waiting { reason: WaitReason::SettingsUnreadable };
    assert_eq!(report.rounds[0].considered[0].end, end);
    assert!(report.failed());
    assert_eq!(world.status("T-2"), Status::InProgress);
}

/// P5.2: the project's file is the base commit's.
#[test]
fn p5_2_the_project_s_settings_are_read_from_the_base_commit() {
    let mut config = config();
    config.lanes.local.setting_sources = vec![SettingSource::Project];
    let world = World::new(vec![task("T-1")]);
    {
        let mut state = world.state();
        let text = r#"{"permissions": {"allow": ["Bash"]}}"#;
        let commit = state.repository.first_commit(&[(".claude/settings.json", text)]);
        state.repository.remote.insert(branch("main"), commit);
    }
    let lines = world.lines(&setup_of(config));
    assert!(lines[0].starts_with("T-1: waiting, permission-conflict: "), "{lines:?}");
    assert!(lines[0].contains(".claude/settings.json"), "{lines:?}");
}

#[test]
fn d3_6_unreadable_settings_stop_their_lane_and_nothing_else() {
    let world = World::new(vec![task("T-1"), frontier("T-2")]);
    let mut setup = setup();
    setup.lanes.insert(Lane::Local, Err("`local.settings.json`: no `model`".to_owned()));
    let report = world.pass(&setup);
    let end = End::Waiting { reason: WaitReason::SettingsUnreadable };
    assert_eq!(report.rounds[0].considered[0].end, end);
    assert!(report.failed());
    assert!(report.lines().iter().any(|line| line.contains("local.settings.json")));
    assert_eq!(world.status("T-2"), Status::InProgress);
}

/// D3.6: a person hears of it before a task has to wait for it, and once.
#[test]
fn d3_6_unreadable_settings_are_told_with_an_empty_queue_too() {
    for (tasks, selection) in [(vec![], "no-queued-task"), (vec![task("T-1")], "done")] {
        let world = World::new(tasks);
        let mut setup = setup();
        setup.lanes.insert(Lane::Local, Err("`local.settings.json`: no `model`".to_owned()));
        let report = world.pass(&setup);
        assert_eq!(report.rounds[0].selection.to_string(), selection);
        let problems = &report.rounds[0].problems;
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].contains("local.settings.json"), "{problems:?}");
        assert!(report.failed());
    }
}

/// D8.1: a review that is longer than what an attempt is told says that it goes on.
#[test]
fn d8_1_a_review_that_is_cut_says_so() {
    let world = World::new(vec![task("T-1")]);
    let answer = format!("The first finding.\n{}", "One more line.\n".repeat(20_000));
    world.state().reviews =
        vec![Review::Verdict { verdict: Verdict::RequestChanges, findings: Vec::new(), answer }];
    world.settle(&setup());
    world.edit("T-1", |task| task.status = Status::Queued);
    world.pass(&setup());
    world.supervise_next();
    let dir = world.ports().store.attempt_dir(&id("T-1"), AttemptNumber::new(2).unwrap());
    let prompt = world.state().files[&dir.join(AttemptFile::Prompt.file_name())].clone();
    let prompt = String::from_utf8(prompt).unwrap();
    assert!(prompt.contains("The first finding.") && prompt.contains("[cut: "), "{prompt}");
    assert!(prompt.len() < 150_000);
}

/// D2.3: what a person does by hand needs no pass lock: a pass that takes long does not keep them waiting.
#[test]
fn d2_3_a_person_acts_while_a_pass_goes_on() {
    let world = World::new(vec![task("T-1"), frontier("T-2")]);
    world.pass(&setup());
    let other = world.new_process();
    let TryLock::Taken(lock) = other.try_pass_lock().unwrap() else { panic!("busy") };
    let asked = by_hand::cancel(&world.ports(), &id("T-1"), &Status::ToDo).unwrap();
    assert!(matches!(asked, by_hand::Cancelled::Asked { .. }), "{asked:?}");
    assert_eq!(world.state().requests[&id("T-1")], Request::Cancel { to: Some(Status::ToDo) });
    by_hand::cancel(&world.ports(), &id("T-2"), &Status::ToDo).unwrap();
    while world.supervise_next().is_some() {}
    assert_eq!(world.status("T-1"), Status::ToDo);
    assert_eq!(world.status("T-2"), Status::ToDo);
    assert_eq!(world.state().wishes, 1, "nobody had to wish for a pass");
    drop(lock);
}

#[test]
fn d3_4_selection_says_why_it_is_off() {
    fn off(world: &World, setup: &dispatch_engine::setup::Setup) -> SelectionOff {
        match world.pass(setup).rounds[0].selection.clone() {
            Selection::Off { reason, .. } => reason,
            other => panic!("{other:?}"),
        }
    }
    let world = World::new(vec![task("T-1")]);
    let mut changed = setup();
    changed.trust = Trust::Changed("slots: 2 → 3".to_owned());
    assert_eq!(off(&world, &changed), SelectionOff::ConfigChanged);

    let mut leased = config();
    leased.owner = Owner::Lease;
    world.state().lease = Lease::Other { who: "mia@desk".into(), until: "2026-01-01".into() };
    assert_eq!(off(&world, &setup_of(leased.clone())), SelectionOff::NotOwner);
    world.state().lease = Lease::Unreachable("no route".into());
    assert_eq!(off(&world, &setup_of(leased)), SelectionOff::NotOwner);

    world.state().place.branch = Some(branch("feature"));
    assert_eq!(off(&world, &setup()), SelectionOff::BoardElsewhere);
    assert_eq!(world.status("T-1"), Status::Queued);
    assert!(world.state().records.is_empty());
}

#[test]
fn readme_3_a_rewritten_board_branch_counts_once_it_stood_for_a_pass() {
    let world = World::new(vec![task("T-1")]);
    world.pass(&setup());
    let other = world.state().repository.first_commit(&[("README.md", "amended")]);
    world.state().place.head = Some(other.clone());
    world.edit("T-1", |task| task.status = Status::ToDo);
    let selection = |world: &World| world.pass(&setup()).rounds[0].selection.to_string();
    assert_eq!(selection(&world), "off (board-elsewhere)");
    assert_eq!(world.state().owner.seen_elsewhere, Some(other.clone()));
    assert_eq!(selection(&world), "no-queued-task");
    let owner = world.state().owner.clone();
    assert_eq!((owner.seen_elsewhere, owner.head), (None, world.state().place.head.clone()));
}

#[test]
fn readme_3_a_wish_does_not_make_a_rewritten_branch_accepted_in_the_same_pass() {
    let world = World::new(vec![task("T-1")]);
    world.pass(&setup());
    let other = world.state().repository.first_commit(&[("README.md", "amended")]);
    world.state().place.head = Some(other);
    world.state().wishes_to_come = 1;
    let report = world.pass(&setup());
    let both: Vec<String> = report.rounds.iter().map(|round| round.selection.to_string()).collect();
    assert_eq!(both, ["off (board-elsewhere)", "off (board-elsewhere)"]);
}

#[test]
fn readme_3_one_state_directory_serves_one_pair_of_board_and_code_root() {
    let world = World::new(vec![task("T-1")]);
    world.state().owner =
        OwnerRecord { board: Some("/elsewhere".into()), ..OwnerRecord::default() };
    world.state().owner.code_root = Some("/code".into());
    let end = world.try_pass(&setup(), &Options::default()).unwrap();
    assert!(matches!(end, Err(PassError::OtherPair { .. })));
    assert_eq!(world.state().wishes, 0);
}

/// D3.5, I8: the branch of a task that was queued while a pass fetched is not known yet; the wish of whoever queued it
/// makes the round that asks about it.
#[test]
fn d3_5_a_task_queued_during_the_fetch_waits_for_a_round_that_asks_about_its_branch() {
    let world = World::new(vec![task("T-1")]);
    world.state().queued_meanwhile.push(frontier("T-2"));
    let report = world.pass(&setup());
    let of_second: Vec<String> =
        report.lines().into_iter().filter(|line| line.starts_with("T-2: ")).collect();
    let expected = [
        "T-2: waiting, remote-unknown: the remote was not asked about the branch task/T-2 yet",
        "T-2: dispatched, attempt 1 in dispatch-2",
    ];
    assert_eq!(of_second, expected);
    world.settle(&setup());
    assert!(world.state().lanes.values().all(|lane| lane.pause.is_none()));
    assert_eq!(world.record("T-2").counts.uncounted, 0);
}

/// I3: a task whose earlier work is held in a slot is not started elsewhere, where that work would be forgotten.
#[test]
fn d6_8_a_task_whose_work_is_held_in_a_slot_waits_for_it() {
    let world = World::new(vec![task("T-1")]);
    world.state().registry[1].task_id = Some(id("T-1"));
    world.state().registry[1].held = Some("no space left".into());
    let lines = world.lines(&setup());
    assert!(
        lines[0].starts_with("T-1: waiting, no-free-slot: slot dispatch-2 still holds"),
        "{lines:?}"
    );
    assert_eq!(world.status("T-1"), Status::Queued);
    assert!(!world.state().records.contains_key(&id("T-1")));
}

/// D4 guard 5: one notification for each time that a task gets there.
#[test]
fn d4_a_wait_that_only_a_person_can_end_is_said_once_between_two_attempts() {
    let world = World::new(vec![task("T-1")]);
    world.settle(&setup());
    world.edit("T-1", |task| task.status = Status::Queued);
    let faults = |attempt: u32| {
        let mut state = world.state();
        let record = state.records.get_mut(&id("T-1")).unwrap();
        record.counts.uncounted = 5;
        record.last_attempt = AttemptNumber::new(attempt).unwrap();
    };
    faults(6);
    let said = || {
        world.state().notified.clear();
        world.pass(&setup());
        world.state().notified.clone()
    };
    assert_eq!(said(), ["T-1: too-many-faults"]);
    assert!(said().is_empty());
    let comments = world.comments("T-1");
    let [_, comment] = comments.as_slice() else { panic!("{comments:?}") };
    assert!(comment.starts_with("Waits (`too-many-faults`): 5 attempts were lost"), "{comment}");
    assert!(comment.ends_with("run `dispatch retry T-1`."), "{comment}");
    faults(12);
    assert_eq!(said(), ["T-1: too-many-faults"]);
}

/// D11.2: a pause whose cause a configuration can be lets the next pass find out once a person approved one; any other
/// goes on.
#[test]
fn d11_2_an_approved_configuration_has_the_next_pass_find_out_whether_the_pause_is_over() {
    for (cause, tried) in [(PauseCause::ConfinementMissing, true), (PauseCause::UsageLimit, false)]
    {
        let world = World::new(vec![task("T-1")]);
        let ports = world.ports();
        lane_fault(&ports, Language::En, Lane::Local, cause, "found", None).unwrap();
        assert!(world.lines(&setup())[0].contains("lane-paused"));
        let told = configuration_approved(&ports, Lane::Local).unwrap();
        assert_eq!(told, tried.then_some(cause));
        assert_eq!(world.lines(&setup())[0].contains("dispatched"), tried, "{cause}");
    }
}

/// N62: a model server that is down costs its lane, not the pass.
#[test]
fn d4_2_a_model_that_is_not_loaded_pauses_the_lane_before_anything_is_claimed() {
    let world = World::new(vec![task("T-1"), task("T-2"), frontier("T-3")]);
    world.state().ready = Err("connection refused".to_owned());
    let lines = world.lines(&setup());
    assert_eq!(lines[0], "T-1: waiting, lane-paused: local-model-not-loaded: connection refused");
    assert!(lines[1].starts_with("T-2: waiting, lane-paused: "), "{lines:?}");
    assert_eq!(world.status("T-3"), Status::InProgress);
    assert!(!world.state().records.contains_key(&id("T-1")));
    let said = world.state().notified.clone();
    assert_eq!(said, ["Lane local paused: local-model-not-loaded"]);
}

/// W3.3: what a lane demands and the machine does not have is the lane's matter; nothing starts unconfined by default.
#[test]
fn w3_3_a_lane_that_demands_confinement_starts_nothing_without_it() {
    let world = World::new(vec![task("T-1")]);
    let mut config = config();
    config.confinement.mode = ConfinementMode::Required;
    let lines = world.lines(&setup_of(config));
    assert!(lines[0].starts_with("T-1: waiting, lane-paused: confinement-missing: "), "{lines:?}");
    assert!(!world.state().records.contains_key(&id("T-1")));
    let said = world.state().notified.clone();
    assert_eq!(said, ["Lane local paused: confinement-missing"]);
}

/// K2, I8: work that could not be proposed is not begun, and the lane is not paused for what another environment has.
#[test]
fn k2_nothing_is_claimed_where_nothing_can_be_proposed() {
    let world = World::new(vec![task("T-1")]);
    world.state().forge_missing = Some("`gh` is not logged in".to_owned());
    let report = world.pass(&setup());
    let lines = report.lines().join("\n");
    assert!(lines.contains("can be started: `gh` is not logged in"), "{lines}");
    assert!(report.failed());
    assert!(!world.state().records.contains_key(&id("T-1")));
    world.state().forge_missing = None;
    assert_eq!(world.lines(&setup())[0], "T-1: dispatched, attempt 1 in dispatch-1");
}

#[test]
fn d11_2_after_a_pause_one_attempt_finds_out_and_its_success_resumes_the_lane() {
    let world = World::new(vec![task("T-1"), task("T-2")]);
    world.state().ready = Err("connection refused".to_owned());
    world.pass(&setup());
    world.state().ready = Ok(());
    assert!(world.lines(&setup())[0].starts_with("T-1: waiting, lane-paused"));
    world.wait(61);
    let lines = world.lines(&setup());
    assert_eq!(lines[0], "T-1: dispatched, attempt 1 in dispatch-1");
    assert!(lines[1].starts_with("T-2: waiting, lane-paused"), "{lines:?}");
    world.settle(&setup());
    assert_eq!(world.state().lanes[&Lane::Local].pause, None);
    assert!(world.record("T-2").pr.is_some());
}

#[test]
fn d11_1_a_full_disk_pauses_the_lane_before_a_slot_is_claimed() {
    let world = World::new(vec![frontier("T-1")]);
    world.state().free_mib = 3;
    let lines = world.lines(&setup());
    assert!(lines[0].starts_with("T-1: waiting, lane-paused: disk-full: 3 MiB"), "{lines:?}");
    assert_eq!(world.bound(), [None, None]);
}

#[test]
fn max_dispatch_ends_the_pass() {
    let world = World::new(vec![task("T-1"), frontier("T-2")]);
    let options = Options { max_dispatch: Some(1), ..Options::default() };
    let report = world.try_pass(&setup(), &options).unwrap().unwrap();
    assert_eq!(report.dispatched().collect::<Vec<_>>(), [&id("T-1")]);
    assert_eq!(world.status("T-2"), Status::Queued);
}

#[test]
fn a_dry_run_says_what_would_happen_and_changes_nothing() {
    let mut lacking = frontier("T-2");
    lacking.acceptance.clear();
    let world = World::new(vec![task("T-1"), lacking]);
    let options = Options { dry_run: true, ..Options::default() };
    let lines = world.try_pass(&setup(), &options).unwrap().unwrap().lines();
    assert_eq!(lines[0], "T-1: would be dispatched");
    assert!(lines[1].starts_with("T-2: blocked, missing-acceptance-criteria"), "{lines:?}");
    let state = world.state();
    assert_eq!((state.board_writes, state.wishes, state.records.len()), (0, 0, 0));
    assert_eq!(state.owner, OwnerRecord::default());
    assert!(state.notified.is_empty());
}

/// K1: what a rehearsal would start takes its slot, its room on the lane and its claims from those after it.
#[test]
fn k1_a_dry_run_gives_out_no_more_slots_than_there_are() {
    let world = World::new(vec![task("T-1"), task("T-2"), frontier("T-3"), frontier("T-4")]);
    let mut setup = setup();
    setup.config.lanes.frontier.max_parallel = 2;
    let options = Options { dry_run: true, ..Options::default() };
    let rehearsal = world.try_pass(&setup, &options).unwrap().unwrap();
    let ends: Vec<(String, End)> = rehearsal.rounds[0]
        .considered
        .iter()
        .map(|considered| (considered.id.to_string(), considered.end.clone()))
        .collect();
    let waiting = |reason| End::Waiting { reason };
    assert_eq!(
        ends,
        [
            ("T-1".to_owned(), End::WouldDispatch),
            ("T-2".to_owned(), waiting(WaitReason::LaneAtCapacity)),
            ("T-3".to_owned(), End::WouldDispatch),
            ("T-4".to_owned(), waiting(WaitReason::NoFreeSlot)),
        ]
    );

    let pass = world.pass(&setup);
    let same = |end: &End| matches!(end, End::Dispatched { .. } | End::WouldDispatch);
    for (real, (id, rehearsed)) in pass.rounds[0].considered.iter().zip(&ends) {
        assert!(real.end == *rehearsed || (same(&real.end) && same(rehearsed)), "{id}: {real}");
    }
}

#[test]
fn d3_3_what_bounds_the_launch_travels_to_the_supervisor() {
    let world = World::new(vec![task("T-1")]);
    world.pass(&setup());
    let hand = HandOver::read(&world, &id("T-1")).unwrap().unwrap();
    let record = world.record("T-1");
    assert_eq!((hand.token, hand.attempt), (record.token, record.attempt));
    assert_eq!(hand.config, config());
    assert_eq!(hand.test_command.as_deref(), Some("cargo test -p hello"));
    assert_eq!(hand.base.name, branch("main"));
}

/// N47: nothing stays `In Progress` for a time-to-live because its start failed.
#[test]
fn d6_4_a_supervisor_that_cannot_be_started_leaves_the_task_queued() {
    let world = World::new(vec![task("T-1")]);
    world.state().starting_fails = true;
    let report = world.pass(&setup());
    assert_eq!(report.rounds[0].considered[0].end, End::Failed);
    assert!(report.failed());
    assert_eq!(world.status("T-1"), Status::Queued);
    assert_eq!(world.bound(), [None, None]);
    let record = world.record("T-1");
    assert_eq!(
        (record.phase, record.counts.counted, record.counts.uncounted),
        (Phase::Ended, 0, 0)
    );
    assert!(world.state().locks.is_empty());
}

#[test]
fn d6_4_a_person_who_takes_the_task_back_in_the_last_moment_is_respected() {
    let world = World::new(vec![task("T-1")]);
    world.state().meanwhile =
        Some(|state| state.tasks.get_mut(&id("T-1")).unwrap().status = Status::ToDo);
    let lines = world.lines(&setup());
    assert_eq!(lines[0], "T-1: withdrawn: it is To Do now");
    assert_eq!(world.status("T-1"), Status::ToDo);
    assert_eq!((world.phase("T-1"), world.bound()), (Phase::Ended, vec![None, None]));
    assert!(world.state().pending.is_empty());
}

#[test]
fn d6_4_a_claim_that_cannot_be_taken_back_is_taken_back_by_the_next_pass() {
    let world = World::new(vec![task("T-1")]);
    world.state().failing.push("board");
    world.pass(&setup());
    assert_eq!(world.phase("T-1"), Phase::Claimed);
    world.state().failing.clear();
    let lines = world.lines(&setup());
    assert!(lines[0].starts_with("T-1: its claim was cut off"), "{lines:?}");
    assert_eq!(lines[1], "T-1: dispatched, attempt 2 in dispatch-1");
}

#[test]
fn d6_1_a_slot_of_an_attempt_that_has_not_ended_is_not_free_whatever_the_registry_says() {
    let world = World::new(vec![frontier("T-1"), frontier("T-2")]);
    world.pass(&setup());
    world.state().registry.iter_mut().for_each(|entry| entry.task_id = None);
    world.edit("T-2", |task| task.status = Status::InProgress);
    let mut third = frontier("T-3");
    third.declared_files[0].text = "src/three.rs".to_owned();
    world.state().tasks.insert(id("T-3"), third);
    let lines = world.lines(&setup());
    assert!(lines.iter().any(|line| line.starts_with("T-3: waiting, no-free-slot")), "{lines:?}");
}

#[test]
fn a_record_that_cannot_be_read_fails_the_pass_and_stops_no_other_task() {
    let world = World::new(vec![task("T-1")]);
    world.state().unreadable.push(id("T-7"));
    let report = world.pass(&setup());
    let end = &report.rounds[0].considered[0].end;
    assert!(matches!(end, End::Dispatched { .. }), "{end:?}");
    assert!(report.failed());
}

/// N46: the registry is read after the sweep freed a slot.
#[test]
fn a_slot_that_the_sweep_freed_is_used_in_the_same_pass() {
    let world = World::new(vec![task("T-1")]);
    let mut setup = setup_of(config());
    setup.config.slots = vec![slot("dispatch-1")];
    world.state().configured = vec![slot("dispatch-1")];
    world.state().registry.truncate(1);
    world.state().registry[0].task_id = Some(id("T-9"));
    let lines = world.lines(&setup);
    assert!(lines[0].starts_with("T-9: freed slot dispatch-1"), "{lines:?}");
    assert_eq!(lines[1], "T-1: dispatched, attempt 1 in dispatch-1");
}

#[test]
fn d6_6_a_retry_continues_saved_work_even_after_an_attempt_that_saved_nothing() {
    let world = World::new(vec![task("T-1")]);
    let script = |acts| world.state().scripts.insert(id("T-1"), acts);
    script(vec![
        Act::Write("src/t-1.rs".into(), "half".into()),
        result("NEEDS-GUIDANCE: which way?"),
        Act::Exit(0),
    ]);
    world.settle(&setup());
    assert_eq!(world.status("T-1"), Status::Blocked);
    let saved = world.record("T-1").saved.unwrap();
    for _ in 0..2 {
        script(vec![result("NEEDS-GUIDANCE: still which way?"), Act::Exit(0)]);
        world.edit("T-1", |task| task.status = Status::Queued);
        world.settle(&setup());
        let record = world.record("T-1");
        let start = record.start.unwrap();
        assert!(world.state().repository.is_ancestor(&saved, &start), "attempt {}", record.attempt);
    }
}

#[test]
fn d4_attempts_are_exhausted_after_the_configured_number_and_faults_do_not_count() {
    let world = World::new(vec![task("T-1")]);
    world.state().scripts.insert(id("T-1"), vec![result("NEEDS-GUIDANCE: ?"), Act::Exit(0)]);
    for _ in 0..3 {
        world.edit("T-1", |task| task.status = Status::Queued);
        world.settle(&setup());
    }
    assert_eq!(world.record("T-1").counts.counted, 3);
    world.edit("T-1", |task| task.status = Status::Queued);
    let lines = world.lines(&setup());
    assert!(lines[0].starts_with("T-1: blocked, attempts-exhausted"), "{lines:?}");
}

#[test]
fn m2_a_request_about_an_earlier_attempt_does_not_stop_the_next_one() {
    let world = World::new(vec![task("T-1")]);
    let request = dispatch_core::record::Request::Cancel { to: None };
    world.state().requests.insert(id("T-1"), request);
    world.settle(&setup());
    assert!(world.record("T-1").pr.is_some());
}

fn carries_a_command(name: &str) -> dispatch_core::board::Problem {
    dispatch_core::board::Problem {
        class: dispatch_core::board::ProblemClass::Hostile,
        file: Some(format!("tasks/{name} - Task.md").into()),
        line: Some(5),
        id: Some(id(name)),
        cause: "it carries its own `onStatusChange`".to_owned(),
    }
}

/// B2.7: such a task is never dispatched, and a person finds on it what they have to do.
#[test]
fn b2_7_a_queued_task_that_carries_a_command_is_blocked_with_what_to_do() {
    let world = World::new(vec![task("T-1"), task("T-2")]);
    world.state().problems = vec![carries_a_command("T-1")];
    world.pass(&setup());
    assert_eq!(world.status("T-1"), Status::Blocked);
    assert_eq!(world.status("T-2"), Status::InProgress);
    let (of, comment) = world.state().comments[0].clone();
    assert_eq!(of, id("T-1"));
    assert!(
        comment.starts_with("Blocked (`launch-refused`): tasks/T-1 - Task.md:5: it carries"),
        "{comment}"
    );
    assert!(comment.contains("in a text editor"), "{comment}");
}

/// D8.1: the review that blocked a task reaches the attempt that answers it, though one that did not count lies between.
#[test_case(false, true; "an interrupted attempt has not answered it")]
#[test_case(true, false; "an attempt that counts has")]
fn d8_1_the_review_that_blocked_is_told_until_an_attempt_that_counts(between: bool, told: bool) {
    let world = World::new(vec![task("T-1")]);
    world.state().reviews = vec![Review::Verdict {
        verdict: Verdict::RequestChanges,
        findings: vec!["It leaks.".to_owned()],
        answer: "The buffer is never freed.".to_owned(),
    }];
    world.settle(&setup());
    assert_eq!(world.status("T-1"), Status::Blocked);
    let ports = world.ports();
    let file = |attempt: u32, file: AttemptFile| {
        let attempt = AttemptNumber::new(attempt).unwrap();
        ports.store.attempt_dir(&id("T-1"), attempt).join(file.file_name())
    };
    let outcome = format!(r#"{{"counted": {between}}}"#).into_bytes();
    world.state().files.insert(file(2, AttemptFile::Outcome), outcome);
    world.state().records.get_mut(&id("T-1")).unwrap().last_attempt =
        AttemptNumber::new(2).unwrap();
    world.edit("T-1", |task| task.status = Status::Queued);
    world.settle(&setup());
    let prompt = world.state().files[&file(3, AttemptFile::Prompt)].clone();
    let prompt = String::from_utf8(prompt).unwrap();
    assert_eq!(prompt.contains("The buffer is never freed."), told, "{prompt}");
}

/// A fault of the terminal or timer that this pass was started from is no fault of the lane: another pass may start it.
#[test]
fn a_pass_without_what_a_worker_needs_claims_nothing_and_pauses_nothing() {
    let world = World::new(vec![frontier("T-1")]);
    world.state().account_unset = true;
    let report = world.pass(&setup());
    assert_eq!(world.status("T-1"), Status::Queued);
    let lines = report.lines();
    assert!(
        lines.iter().any(|line| line.contains("`CLAUDE_CODE_OAUTH_TOKEN` is not set")),
        "{lines:?}"
    );
    assert!(report.failed());
    world.state().account_unset = false;
    world.pass(&setup());
    assert_eq!(world.status("T-1"), Status::InProgress);
}
