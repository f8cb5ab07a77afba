//! Supervisors and workers that are killed: whatever they were doing, the next pass goes on.

use std::fs;

use dispatch_testkit::model_server::{Gate, Turn};
use dispatch_testkit::scene::Forge;
use dispatch_testkit::wait;
use rustix::process::Signal;

use crate::halt::kill_and_wait;
use crate::world::{World, kill, pid_of, writes_and_ends};

fn waits_at_model() -> (Gate, Vec<Turn>) {
    let gate = Gate::new();
    let turns = vec![
        Turn::new_file("src/one.rs", "//! Half.\n"),
        Turn::text("Done.").behind(&gate),
        Turn::new_file("src/two.rs", "//! Whole.\n"),
        Turn::text("Done."),
    ];
    (gate, turns)
}

/// BR-17, M1 step 2: a supervisor killed while its worker ran: the worker is ended, its work saved, the task queued again
/// once, uncounted; the next attempt goes on from the saved work.
#[test]
fn killed_while_the_worker_runs_it_saves_and_queues_again_uncounted() {
    let Some(world) = World::new(Forge::Git) else { return };
    let (gate, turns) = waits_at_model();
    world.add_task("T-1", turns);
    world.begin();
    world.ok(&["pass"]);
    gate.wait_for(1);
    let supervisor = world.wait_for_phase("T-1", "running");
    kill(supervisor, Signal::KILL);

    world.pass();

    assert_eq!(world.saved("T-1", 1, "src/one.rs"), "//! Half.");
    assert_eq!(world.outcome("T-1", 1)["counted"], false);
    assert!(world.comments("T-1").contains("supervisor-lost"), "{}", world.comments("T-1"));
    assert_eq!(world.board().status("T-1"), "In Progress");
    assert_eq!(
        world.repo().remote_changes("main", "task/T-1"),
        ["src/one.rs", "src/two.rs"],
        "the second attempt goes on from the saved work"
    );
    assert_eq!(world.record("T-1")["counts"]["uncounted"], 1);
    world.assert_invariants();
}

/// D11.1: a task whose supervisor is lost twice in a row is blocked: it may be what kills it.
#[test]
fn killed_twice_in_a_row_it_blocks_the_task() {
    let Some(world) = World::new(Forge::Git) else { return };
    let gate = Gate::new();
    let turns = [Turn::new_file("src/one.rs", "//! Half.\n"), Turn::text("Done.").behind(&gate)];
    world.add_task("T-1", turns);
    world.begin();
    world.ok(&["pass"]);
    gate.wait_for(1);
    kill(world.wait_for_phase("T-1", "running"), Signal::KILL);
    world.ok(&["pass"]);
    gate.wait_for(2);
    kill(world.wait_for_phase("T-1", "running"), Signal::KILL);

    world.pass();

    assert_eq!(world.board().status("T-1"), "Blocked");
    assert!(world.comments("T-1").contains("supervisor-lost"), "{}", world.comments("T-1"));
    assert_eq!(world.saved("T-1", 1, "src/one.rs"), "//! Half.");
    world.assert_invariants();
}

/// I4, D9.6: an attempt whose hand-over is lost can be neither judged nor saved: its worker is ended, its slot is held
/// and a person is told, who then frees the slot and keeps the work.
#[test]
fn killed_with_its_hand_over_lost_the_attempt_is_given_up_and_its_slot_can_be_freed() {
    let Some(world) = World::new(Forge::Git) else { return };
    let (gate, turns) = waits_at_model();
    world.add_task("T-1", turns);
    world.begin();
    world.ok(&["pass"]);
    gate.wait_for(1);
    kill(world.wait_for_phase("T-1", "running"), Signal::KILL);
    fs::write(world.state_path("tasks/T-1.hand-over.json"), "{}").unwrap();

    world.pass();

    assert_eq!(world.board().status("T-1"), "Blocked");
    let comment = world.comments("T-1");
    assert!(comment.contains("work-held") && comment.contains("slot-1"), "{comment}");
    assert_eq!(world.bound_slots()["slot-1"], "T-1");
    world.assert_invariants();

    let said = world.ok(&["release-slot", "slot-1"]);
    let rescued = world.refs("refs/dispatch/rescue/slot-1");
    let (name, _) = rescued.first_key_value().expect("what lay in the slot is kept");
    assert!(said.contains(name), "{said}");
    assert_eq!(world.repo().git(&["show", &format!("{name}:src/one.rs")]), "//! Half.");
    assert!(world.bound_slots().is_empty());
}

/// M1 step 2: a claim that was cut off while the slot was provisioned leaves nothing: the same pass takes the task again.
#[test]
fn killed_while_preparing_it_is_queued_again_and_nothing_is_left_running() {
    let Some(world) = World::with_a_task(Forge::Git) else { return };
    let hold = world.path("hold-install");
    fs::write(&hold, "").unwrap();
    world.repo().write("install.sh", &format!("while [ -e '{hold}' ]; do sleep 0.1; done\n"));
    world.configure(|config| {
        config["provision"] = serde_json::json!({"install": ["sh", "install.sh"]});
    });
    world.begin();

    world.ok(&["pass"]);
    kill_and_wait(&world, world.wait_for_phase("T-1", "claimed"));
    fs::remove_file(&hold).unwrap();
    world.pass();

    assert_eq!(world.record("T-1")["counts"]["counted"], 1, "{:#}", world.record("T-1"));
    world.assert_proposed("src/one.rs");
}

/// D11.1: a worker that somebody killed is queued again once; the second time in a row the task is blocked.
#[test]
fn a_worker_killed_from_outside_is_tried_again_once() {
    let Some(world) = World::new(Forge::Git) else { return };
    let gate = Gate::new();
    let turns = [Turn::new_file("src/one.rs", "//! Half.\n"), Turn::text("Done.").behind(&gate)];
    world.add_task("T-1", turns);
    world.begin();
    world.ok(&["pass"]);
    for round in 1..=2 {
        gate.wait_for(round);
        let worker = wait::until_some("the worker's mark", || {
            let record = world.record("T-1");
            (record["attempt"] == round).then(|| pid_of(&record["worker"])).flatten()
        });
        kill(worker, Signal::KILL);
    }
    world.settle();

    assert_eq!(world.board().status("T-1"), "Blocked");
    assert!(world.comments("T-1").contains("worker-lost"), "{}", world.comments("T-1"));
    assert_eq!(world.outcome("T-1", 1)["counted"], false);
    assert_eq!(world.saved("T-1", 1, "src/one.rs"), "//! Half.");
    world.assert_invariants();
}

/// D9.9: a supervisor told to end by a shutdown saves and puts the task back, uncounted.
#[test]
fn a_shutdown_saves_and_queues_the_task_again_uncounted() {
    let Some(world) = World::new(Forge::Git) else { return };
    let (gate, turns) = waits_at_model();
    world.add_task("T-1", turns);
    world.begin();
    world.ok(&["pass"]);
    gate.wait_for(1);
    kill(world.wait_for_phase("T-1", "running"), Signal::TERM);
    world.settle();
    world.pass();

    assert_eq!(world.outcome("T-1", 1)["outcome"], "interrupted");
    assert_eq!(world.outcome("T-1", 1)["counted"], false);
    assert_eq!(world.saved("T-1", 1, "src/one.rs"), "//! Half.");
    assert_eq!(world.repo().remote_changes("main", "task/T-1"), ["src/one.rs", "src/two.rs"]);
    world.assert_invariants();
}

/// M1.2: a second pass right after everything ended does nothing.
#[test]
fn after_everything_ended_a_pass_does_nothing() {
    let Some(world) = World::new(Forge::Git) else { return };
    world.add_task("T-1", writes_and_ends("src/one.rs"));
    world.begin();
    world.pass();
    world.pass();
    let head = world.repo().git(&["rev-parse", "HEAD"]);
    let (board, record) = (world.board().text("T-1"), world.record("T-1"));

    world.pass();

    assert_eq!(world.repo().git(&["rev-parse", "HEAD"]), head);
    assert_eq!(world.board().text("T-1"), board);
    assert_eq!(world.record("T-1"), record);
    world.assert_proposed("src/one.rs");
}
