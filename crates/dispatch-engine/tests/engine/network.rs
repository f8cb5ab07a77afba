//! D2.2, D3.5: what a pass asks of the network, how long it waits for it, and what it does without an answer.

use dispatch_core::config::Owner;
use dispatch_core::record::Phase;
use dispatch_core::status::Status;
use dispatch_engine::explain::explain;
use dispatch_engine::pass::PassReport;
use dispatch_engine::ports::ProposalState;
use dispatch_engine::setup::Setup;
use dispatch_engine::status;

use crate::sim::{World, branch, config, context, frontier, id, setup, setup_of, slot, task};

/// Every call that a pass can make on the network, but for the two that only a merge asks for.
const CALLS: [&str; 4] = ["lease", "default branch", "fetch", "listing"];

fn leased() -> Setup {
    let mut config = config();
    config.owner = Owner::Lease;
    setup_of(config)
}

/// A world in which the pull request of T-1 is open, a backup is missing and T-2 is queued.
fn with_everything_to_ask() -> World {
    let world = World::new(vec![task("T-1")]);
    world.settle(&setup());
    let mut state = world.state();
    let name = "refs/dispatch/attempts/T-9/1".to_owned();
    let commit = state.place.head.clone().unwrap();
    state.repository.refs.insert(name.clone(), commit);
    state.backups.insert(name, 0);
    state.tasks.insert(id("T-2"), frontier("T-2"));
    state.asked.clear();
    drop(state);
    world
}

/// A pass, and how many seconds it took.
fn timed(world: &World, setup: &Setup) -> (PassReport, u64) {
    let before = world.state().awake_ms;
    let report = world.pass(setup);
    let took = world.state().awake_ms - before;
    (report, took / 1000)
}

fn has(report: &PassReport, line: &str) {
    assert!(report.lines().iter().any(|found| found.contains(line)), "{:#?}", report.lines());
}

/// D2.2: all calls share 30 s. git leaves the forge 10 of them, and asking for the default branch leaves the fetch half of
/// what there is.
#[test]
fn d2_2_every_call_gets_what_the_ones_before_it_left() {
    let world = with_everything_to_ask();
    world.state().slow = CALLS.map(|call| (call, 3)).into();
    let (report, took) = timed(&world, &leased());
    let expected =
        [("lease", 20), ("default branch", 8), ("fetch", 14), ("listing", 21), ("backup", 18)];
    assert_eq!(world.state().asked, expected);
    assert_eq!(took, 12);
    has(&report, "T-2: dispatched");
    assert!(world.state().backups.is_empty());
}

/// D2.2: what does not answer is unknown; nothing of it is a task's fault or a failure of the pass.
#[test]
fn d2_2_a_remote_that_hangs_leaves_the_forge_its_time_and_ends_with_the_pass() {
    let world = with_everything_to_ask();
    world.state().slow = ["lease", "default branch", "fetch"].map(|call| (call, 3600)).into();
    let merged =
        ProposalState::Merged { head: world.record("T-1").pr.unwrap().commit, merge: None };
    world.state().proposals.insert(1, merged);
    let (report, took) = timed(&world, &leased());
    assert_eq!(world.state().asked[..2], [("lease", 20), ("listing", 10)]);
    assert!(took <= 30, "{took}");
    has(&report, "for the network are used up: the next pass asks about the branches");
    has(&report, "T-1: ");
    assert_eq!(world.status("T-1"), Status::Done, "the forge answered");
    assert_eq!(world.status("T-2"), Status::Queued);
    assert!(!report.failed(), "{:#?}", report.lines());
}

/// D2.2: with nothing left a step is put off and said; the next pass does it.
#[test]
fn d2_2_what_finds_no_time_left_is_said_and_done_by_the_next_pass() {
    let world = with_everything_to_ask();
    world.state().slow = [("fetch", 19), ("listing", 9)].into();
    let head = world.record("T-1").pr.unwrap().commit;
    world.state().proposals.insert(1, ProposalState::Merged { head, merge: None });
    world.state().slow.insert("deletion", 2);
    let (report, took) = timed(&world, &leased());
    assert!(took <= 30, "{took}");
    has(&report, "the next pass pushes the backups");
    assert!(!report.failed(), "{:#?}", report.lines());
    assert_eq!(world.state().backups.values().collect::<Vec<_>>(), [&0], "it was not tried");
    world.state().slow.clear();
    let (report, _) = timed(&world, &leased());
    assert!(world.state().backups.is_empty(), "{:#?}", report.lines());
    assert_eq!(world.state().deleted, [branch("task/T-1")]);
}

/// D2.2: every combination of calls that hang or are slow ends within the budget.
#[test]
fn d2_2_whatever_hangs_the_network_takes_a_pass_no_longer_than_its_budget() {
    for hanging in 0..16_u32 {
        for seconds in [7, 3600] {
            let world = with_everything_to_ask();
            let slow = CALLS.iter().enumerate().filter(|(bit, _)| hanging & (1 << bit) != 0);
            world.state().slow = slow.map(|(_, call)| (*call, seconds)).collect();
            let (report, took) = timed(&world, &leased());
            let lines = report.lines();
            assert!(took <= 30, "{hanging:04b} {seconds}: {took} s, {lines:#?}");
            let limits: Vec<u64> = world.state().asked.iter().map(|(_, limit)| *limit).collect();
            assert!(limits.iter().all(|limit| (1..=30).contains(limit)), "{limits:?}");
            assert_ne!(world.status("T-2"), Status::Blocked);
            assert!(world.comments("T-2").is_empty());
        }
    }
}

/// D2.2: a clock that started anew (another boot) has nothing to measure with, so nothing is left.
#[test]
fn d2_2_time_that_cannot_be_measured_counts_as_used_up() {
    let world = with_everything_to_ask();
    world.state().queued_meanwhile.push(frontier("T-3"));
    world.state().reboots_in_fetch = true;
    let (report, _) = timed(&world, &setup());
    has(&report, "the next pass asks what became of the pull requests");
    assert_eq!(world.status("T-1"), Status::InProgress);
}

/// D3.5, README §3: the last known default branch is used while the remote is silent, so the board still is where it
/// belongs, and what only needs the board is done.
#[test]
fn d3_5_while_the_remote_is_silent_the_default_branch_it_named_last_counts() {
    let world = World::new(vec![task("T-1")]);
    world.pass(&setup());
    assert_eq!(world.state().owner.default_branch, Some(branch("main")));
    world.state().records.get_mut(&id("T-1")).unwrap().phase = Phase::Running;
    world.state().remote_answers = false;
    world.edit("T-1", |task| task.status = Status::ToDo);
    let mut lacking = frontier("T-2");
    lacking.acceptance.clear();
    world.state().tasks.insert(id("T-2"), lacking);
    world.state().tasks.insert(id("T-3"), frontier("T-3"));
    world.state().board_dirty = true;
    let report = world.pass(&setup());
    has(&report, "going on with main, which it named last");
    has(&report, "T-1: it was set to To Do while");
    has(&report, "committed the board as ");
    has(&report, "T-2: blocked, missing-acceptance-criteria");
    has(&report, "T-3: waiting, remote-unknown");
    has(&report, "selection done");
}

/// D3.5: without an answer ever, the tasks wait for the remote; the board is not called elsewhere, but nothing is written
/// into files that may be another branch's.
#[test]
fn d3_5_before_the_remote_ever_answered_tasks_wait_for_it() {
    let mut lacking = frontier("T-2");
    lacking.acceptance.clear();
    let world = World::new(vec![task("T-1"), lacking]);
    world.state().remote_answers = false;
    world.state().board_dirty = true;
    let report = world.pass(&setup());
    has(&report, "T-1: waiting, remote-unknown: the remote never named its default branch");
    has(&report, "T-2: waiting, remote-unknown: ");
    has(&report, "pass complete: dispatched 0, blocked 0, waiting 2; selection done");
    assert!(world.state().board_dirty, "it was not committed");
    assert_eq!(world.state().board_writes, 0);
    assert!(!report.failed());
    world.state().remote_answers = true;
    has(&world.pass(&setup()), "T-1: dispatched");
}

/// V2.4: what the remote says now outranks what it said before, and a configured branch outranks both.
#[test]
fn v2_4_a_default_branch_that_changed_is_followed_and_a_configured_one_is_not_asked_about() {
    let world = World::new(vec![]);
    world.pass(&setup());
    world.state().default_branch = branch("trunk");
    has(&world.pass(&setup()), "the board's checkout is on main, not on trunk");
    assert_eq!(world.state().owner.default_branch, Some(branch("trunk")));
    let mut config = config();
    config.base_branch = Some(branch("main"));
    world.state().asked.clear();
    let report = world.pass(&setup_of(config));
    has(&report, "selection no-queued-task");
    assert!(world.state().asked.iter().all(|(call, _)| *call != "default branch"));
}

/// K1: looking waits for no network: the branch is the remembered one, and the remote is as the last pass saw it.
#[test]
fn k1_explain_and_status_make_no_call_on_the_network() {
    let mut lacking = frontier("T-1");
    lacking.acceptance.clear();
    let world = World::new(vec![lacking]);
    let unknown = explain(&world.ports(), &setup(), &context(), &id("T-1")).unwrap();
    assert_eq!(unknown.branches.base, None);
    world.pass(&setup());
    world.edit("T-1", |task| task.status = Status::Queued);
    world.state().asked.clear();
    let explained = explain(&world.ports(), &setup(), &context(), &id("T-1")).unwrap();
    assert_eq!(explained.branches.base.unwrap().name, branch("main"));
    let report = status::read(&world.ports(), &setup()).unwrap();
    assert_eq!(report.queue.len(), 1);
    assert_eq!(report.slots[0].name, slot("dispatch-1"));
    assert!(world.state().asked.is_empty(), "{:?}", world.state().asked);
}
