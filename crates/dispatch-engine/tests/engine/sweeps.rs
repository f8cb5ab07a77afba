//! M1: the sweep.

use dispatch_core::names::CloseStep;
use dispatch_core::record::{Owed, Phase, Request};
use dispatch_core::status::Status;
use dispatch_core::task::Task;
use dispatch_engine::by_hand::cancel;
use dispatch_engine::ports::{Store, TryLock};

use crate::sim::{Act, World, branch, config, id, result, setup, setup_of, slot, task};

/// A world in which a supervisor of T-1 was started and has not done anything.
fn started() -> World {
    let world = World::new(vec![task("T-1")]);
    world.pass(&setup());
    world
}

/// Kills every process that has not run yet.
fn kill_supervisors(world: &World) {
    world.state().pending.clear();
    world.state().locks.clear();
}

fn in_phase(world: &World, phase: Phase) {
    world.state().records.get_mut(&id("T-1")).unwrap().phase = phase;
}

/// N67: every step is wired.
#[test]
fn m1_2_a_sweep_right_after_another_does_nothing() {
    let world = World::new(vec![task("T-1")]);
    world.settle(&setup());
    world.pass(&setup());
    let writes = world.state().board_writes;
    let listings = world.state().listings;
    let report = world.pass(&setup());
    assert!(report.rounds[0].maintenance.is_empty(), "{:?}", report.lines());
    assert_eq!(world.state().board_writes, writes);
    assert_eq!(world.state().listings, listings + 1, "its pull request is open");
}

#[test]
fn m1_2_without_an_open_pull_request_the_forge_is_not_asked() {
    let world = World::new(vec![task("T-1")]);
    world.pass(&setup());
    assert_eq!(world.state().listings, 0);
}

#[test]
fn m1_step_1_the_board_is_committed_and_our_own_commit_is_no_surprise() {
    let world = started();
    let report = world.pass(&setup());
    let line = report.lines()[0].clone();
    assert!(line.starts_with("committed the board as "), "{line}");
    assert!(!world.state().board_dirty);
    let head = world.state().place.head.clone();
    assert_eq!(world.state().owner.head, head);
    assert_eq!(world.pass(&setup()).rounds[0].selection.to_string(), "no-queued-task");
}

#[test]
fn m1_step_2_a_claim_whose_pass_was_killed_goes_back_to_the_queue_and_is_dispatched_again() {
    let world = started();
    kill_supervisors(&world);
    let lines = world.lines(&setup());
    assert!(lines.iter().any(|line| line == "T-1: its claim was cut off: it is queued again"));
    assert!(lines.iter().any(|line| line.starts_with("T-1: dispatched, attempt 2")), "{lines:?}");
    assert_eq!(world.record("T-1").counts.uncounted, 1);
}

#[test]
fn m1_step_2_anything_further_on_is_recovered_by_a_new_supervisor() {
    for phase in [Phase::Prepared, Phase::Running, Phase::Closing(CloseStep::OpenPr)] {
        let world = started();
        kill_supervisors(&world);
        in_phase(&world, phase);
        let lines = world.lines(&setup());
        let expected =
            format!("T-1: its supervisor was gone in phase {phase}: a new one recovers it");
        assert!(lines.contains(&expected), "{lines:?}");
        assert!(world.state().pending[0].recover);
        // Its lock is held again: the next pass leaves it alone.
        assert!(!world.lines(&setup()).contains(&expected));
    }
}

/// N25: a healthy close is not swept.
#[test]
fn d9_4_a_supervisor_whose_beat_advances_is_left_alone_however_long_it_takes() {
    let world = started();
    for _ in 0..5 {
        world.wait(3600);
        let beat = dispatch_core::record::Beat {
            boot_id: "boot".into(),
            awake_ms: world.state().awake_ms,
        };
        world.state().records.get_mut(&id("T-1")).unwrap().beat = Some(beat);
        world.wait(500);
        world.pass(&setup());
    }
    assert!(world.state().requests.is_empty());
}

#[test]
fn d9_4_a_standing_beat_is_asked_to_stop_then_stopped_each_after_two_readings() {
    let world = started();
    let supervisor =
        dispatch_core::record::ProcessMark { pid: 7, start: 1, boot_id: "boot".into() };
    world.state().records.get_mut(&id("T-1")).unwrap().supervisor = Some(supervisor);
    let sweep = |seconds| {
        world.wait(seconds);
        world.pass(&setup());
        let state = world.state();
        (state.requests.get(&id("T-1")).cloned(), state.killed.clone())
    };
    assert_eq!(sweep(601), (None, vec![]), "one reading proves nothing");
    assert_eq!(sweep(30), (None, vec![]), "nor does a second one too soon");
    assert_eq!(sweep(31), (Some(Request::Stop), vec![]));
    assert_eq!(sweep(30), (Some(Request::Stop), vec![]));
    assert_eq!(sweep(31), (Some(Request::Stop), vec![7]));
}

/// M2: what a person asked for is still asked for when the supervisor had to be ended.
#[test]
fn m2_a_standing_supervisor_does_not_cost_a_person_their_cancellation() {
    let world = started();
    let supervisor =
        dispatch_core::record::ProcessMark { pid: 7, start: 1, boot_id: "boot".into() };
    world.state().records.get_mut(&id("T-1")).unwrap().supervisor = Some(supervisor);
    cancel(&world.ports(), &id("T-1"), &Status::ToDo).unwrap();
    for seconds in [601, 61] {
        world.wait(seconds);
        world.pass(&setup());
    }
    assert_eq!(world.state().killed, [7]);
    let asked = world.state().requests[&id("T-1")].clone();
    assert_eq!(asked, Request::Cancel { to: Some(Status::ToDo) });
}

#[test]
fn readme_i5_a_slot_bound_to_a_task_that_nothing_runs_for_is_freed() {
    let world = World::new(vec![]);
    world.state().registry[0].task_id = Some(id("T-5"));
    world.state().registry[1].task_id = Some(id("T-6"));
    world.state().registry[1].held = Some("no space left".into());
    world.pass(&setup());
    assert_eq!(world.bound(), [None, Some("T-6".to_owned())]);
}

#[test]
fn m1_step_4_a_running_task_that_a_person_took_back_is_cancelled_and_their_status_stays() {
    let world = started();
    in_phase(&world, Phase::Running);
    world.edit("T-1", |task| task.status = Status::ToDo);
    let lines = world.lines(&setup());
    assert!(
        lines.iter().any(|line| line.starts_with("T-1: it was set to To Do while")),
        "{lines:?}"
    );
    assert_eq!(world.state().requests[&id("T-1")], Request::Cancel { to: None });
    assert_eq!(world.status("T-1"), Status::ToDo);
    let again = world.lines(&setup());
    assert!(!again.iter().any(|line| line.starts_with("T-1: ")), "{again:?}");
}

/// M1 step 4, M2: a person's word counts also where the dispatcher asked for something less.
#[test]
fn m1_step_4_a_person_who_takes_a_task_back_is_heard_while_its_supervisor_is_asked_to_stop() {
    let world = started();
    in_phase(&world, Phase::Running);
    world.state().requests.insert(id("T-1"), Request::Stop);
    world.edit("T-1", |task| task.status = Status::ToDo);
    world.pass(&setup());
    assert_eq!(world.state().requests[&id("T-1")], Request::Cancel { to: None });
}

#[test]
fn m1_step_4_one_that_is_closing_finishes() {
    let world = started();
    in_phase(&world, Phase::Closing(CloseStep::Block));
    world.edit("T-1", |task| task.status = Status::Blocked);
    world.pass(&setup());
    assert!(world.state().requests.is_empty());
}

#[test]
fn m1_step_4_a_cancelled_worker_is_stopped_its_work_saved_and_its_slot_freed() {
    let world = World::new(vec![task("T-1")]);
    world.state().scripts.insert(
        id("T-1"),
        vec![
            Act::Write("src/t-1.rs".into(), "half".into()),
            Act::Idle(5),
            result("Done."),
            Act::Exit(0),
        ],
    );
    world.pass(&setup());
    world.state().requests.insert(id("T-1"), Request::Cancel { to: None });
    world.edit("T-1", |task| task.status = Status::ToDo);
    world.settle(&setup());
    assert_eq!(world.status("T-1"), Status::ToDo);
    assert_eq!((world.phase("T-1"), world.bound()), (Phase::Ended, vec![None, None]));
    assert!(world.state().workers.iter().all(|worker| !worker.alive));
}

#[test]
fn m1_3_while_the_board_is_elsewhere_nothing_is_concluded_from_its_files() {
    let world = started();
    in_phase(&world, Phase::Running);
    world.state().place.branch = Some(branch("feature"));
    world.edit("T-1", |task| task.status = Status::Done);
    let mut orphan = task("T-2");
    orphan.status = Status::InProgress;
    orphan.updated = Some("2025-01-01 10:00".into());
    world.state().tasks.insert(id("T-2"), orphan);
    let writes = world.state().board_writes;
    let report = world.pass(&setup());
    assert!(report.rounds[0].maintenance.is_empty(), "{:?}", report.lines());
    assert_eq!(world.state().board_writes, writes);
    assert!(world.state().requests.is_empty());
    // A cut-off claim waits too: going back to the queue writes the board.
    kill_supervisors(&world);
    in_phase(&world, Phase::Claimed);
    world.pass(&setup());
    assert_eq!(world.phase("T-1"), Phase::Claimed);
}

#[test]
fn m1_3_a_merge_seen_while_the_board_is_elsewhere_is_not_written_into_another_branchs_files() {
    let world = World::new(vec![task("T-1")]);
    world.settle(&setup());
    let head = world.record("T-1").pr.unwrap().commit;
    let merged = dispatch_engine::ports::ProposalState::Merged { head, merge: None };
    world.state().proposals.insert(1, merged);
    let away = world.state().tasks.remove(&id("T-1")).unwrap();
    world.state().place.branch = Some(branch("feature"));
    world.pass(&setup());
    world.state().place.branch = Some(branch("main"));
    world.state().tasks.insert(id("T-1"), away);
    world.pass(&setup());
    assert_eq!(world.status("T-1"), Status::Done);
}

fn orphan_after(hours: f64, change: impl FnOnce(&World)) -> Status {
    let mut orphan = task("T-1");
    orphan.status = Status::InProgress;
    // The world's clock begins at 12:00 on 2026-01-01.
    orphan.updated = Some("2026-01-01 07:30".into());
    let world = World::new(vec![orphan]);
    change(&world);
    let mut config = config();
    config.orphan_in_progress_threshold_hours = hours;
    world.pass(&setup_of(config));
    world.status("T-1")
}

#[test]
fn m1_step_3c_a_task_in_progress_that_nothing_ever_worked_on_is_blocked() {
    assert_eq!(orphan_after(4.0, |_| {}), Status::Blocked);
    assert_eq!(orphan_after(5.0, |_| {}), Status::InProgress);
}

/// N24: zero turns the step off, it is not the most aggressive limit.
#[test]
fn m1_step_3c_zero_hours_turn_it_off() {
    assert_eq!(orphan_after(0.0, |_| {}), Status::InProgress);
}

#[test]
fn m1_step_3c_nothing_is_an_orphan_on_an_incomplete_board_or_with_a_trace_of_work() {
    assert_eq!(orphan_after(4.0, |world| world.state().complete = false), Status::InProgress);
    let with_attempts = |world: &World| {
        world.state().attempts.insert(id("T-1"), dispatch_core::attempt::AttemptNumber::FIRST);
    };
    assert_eq!(orphan_after(4.0, with_attempts), Status::InProgress);
    let parent = |world: &World| world.edit("T-1", |task| task.children = vec![id("T-1.1")]);
    assert_eq!(orphan_after(4.0, parent), Status::InProgress);
}

#[test]
fn c10_1_a_backup_is_tried_five_times_and_then_said_once() {
    let world = World::new(vec![]);
    let name = "refs/dispatch/attempts/T-1/1".to_owned();
    let commit = world.state().place.head.clone().unwrap();
    world.state().repository.refs.insert(name.clone(), commit);
    world.state().backups.insert(name.clone(), 1);
    world.state().push_fails = true;
    for _ in 0..7 {
        world.pass(&setup());
    }
    assert_eq!(world.state().backups[&name], 5);
    assert_eq!(world.state().notified, ["a backup cannot be pushed"]);
    world.state().backups.insert(name.clone(), 4);
    world.state().push_fails = false;
    world.pass(&setup());
    assert!(world.state().backups.is_empty());
}

/// N44: a held slot is not reused, and is released once its work is saved.
#[test]
fn m1_step_5_a_held_slot_is_saved_and_released_once_its_cause_is_gone() {
    let world = World::new(vec![task("T-1")]);
    world.state().scripts.insert(
        id("T-1"),
        vec![
            Act::Write("src/t-1.rs".into(), "half".into()),
            result("NEEDS-GUIDANCE: ?"),
            Act::Exit(0),
        ],
    );
    world.state().failing.push("freeze");
    world.pass(&setup());
    while world.supervise_next().is_some() {}
    assert_eq!(world.status("T-1"), Status::Blocked);
    assert_eq!(world.bound()[0].as_deref(), Some("T-1"));
    assert!(world.state().registry[0].held.is_some());
    world.state().failing.clear();
    world.state().free_mib = 1;
    world.pass(&setup());
    assert!(world.state().pending.is_empty(), "there is still no space");
    world.state().free_mib = 100_000;
    world.wait(700);
    world.settle(&setup());
    assert_eq!(world.bound(), [None, None]);
    let saved = world.record("T-1").saved.unwrap();
    assert_eq!(world.state().repository.files(&saved)["src/t-1.rs"], "half");
}

#[test]
fn a_failing_step_does_not_keep_the_next_from_running() {
    let world = started();
    kill_supervisors(&world);
    world.state().failing.push("board");
    world.state().backups.insert("refs/dispatch/attempts/T-9/1".into(), 1);
    let commit = world.state().place.head.clone().unwrap();
    world.state().repository.refs.insert("refs/dispatch/attempts/T-9/1".into(), commit);
    let report = world.pass(&setup());
    assert!(report.failed());
    assert!(world.state().backups.is_empty(), "{:?}", report.lines());
}

#[test]
fn two_passes_do_not_look_into_each_others_tasks() {
    let world = started();
    let other = world.new_process();
    // A supervisor holds T-1; nobody else gets it.
    assert!(matches!(other.try_task_lock(&id("T-1")).unwrap(), TryLock::Busy(_)));
    assert_eq!(world.state().registry[0].name, slot("dispatch-1"));
}

#[test]
fn b5_a_parents_status_follows_from_its_children() {
    let mut parent = task("T-5");
    parent.status = Status::ToDo;
    parent.children = vec![id("T-5.1"), id("T-5.2")];
    let child = |text: &str, status| {
        let mut child = task(text);
        child.parent = Some(id("T-5"));
        child.status = status;
        child
    };
    let world =
        World::new(vec![parent, child("T-5.1", Status::Done), child("T-5.2", Status::ToDo)]);
    world.pass(&setup());
    assert_eq!(world.status("T-5"), Status::InProgress);
    world.edit("T-5.2", |task| task.status = Status::Done);
    world.pass(&setup());
    assert_eq!(world.status("T-5"), Status::Done);
}

/// B2.7, I4: what could not be written while the task's file was dangerous is written once it is clean, and only over
/// the status that was left.
#[test]
fn b2_7_a_status_that_is_owed_is_given_once_the_file_is_clean() {
    for (left, expected, comments) in
        [(Status::InProgress, Status::Blocked, 1), (Status::ToDo, Status::ToDo, 0)]
    {
        let world = started();
        in_phase(&world, Phase::Ended);
        world.state().locks.clear();
        world.state().pending.clear();
        let owed = Owed { to: Status::Blocked, comment: Some("Blocked: look.".to_owned()) };
        world.state().records.get_mut(&id("T-1")).unwrap().owed = Some(owed);
        let kept = world.state().tasks.remove(&id("T-1")).unwrap();
        world.state().problems = vec![dispatch_core::board::Problem {
            class: dispatch_core::board::ProblemClass::Hostile,
            file: Some("tasks/t-1 - Task.md".into()),
            line: Some(1),
            id: Some(id("T-1")),
            cause: "its front matter names the language `js`".to_owned(),
        }];
        world.pass(&setup());
        assert!(world.state().records[&id("T-1")].owed.is_some(), "it is still owed");

        world.state().problems.clear();
        world.state().tasks.insert(id("T-1"), Task { status: left.clone(), ..kept });
        world.pass(&setup());
        assert_eq!(world.status("T-1"), expected);
        assert_eq!(world.state().comments.len(), comments, "{left}");
        assert!(world.state().records[&id("T-1")].owed.is_none());
    }
}
