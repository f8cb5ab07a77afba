//! Supervisors that are killed, or told to end, in every phase and in every step of a close: the next pass goes on, and
//! what comes out is what would have come out.

use std::fs;
use std::os::unix::process::ExitStatusExt;

use dispatch_testkit::model_server::{Gate, Lane, Turn};
use dispatch_testkit::scene::{Forge, SLUG, verdict};
use rustix::process::Signal;
use serde_json::json;
use test_case::test_case;

use crate::halt::When::{After, Before};
use crate::halt::{Halts, When, hold_lock, kill_and_wait, wait_until_gone};
use crate::world::{World, kill, kill_and_take, task, writes_and_ends};

/// A world whose close has every step there is, and whose programs can be made to wait.
fn with_every_step() -> Option<World> {
    every_step(writes_and_ends("src/one.rs"))
}

/// The same with a worker whose answers follow from what it has done, not from how often the model was asked: ended at
/// any moment and begun again, it writes its file.
fn with_every_step_and_a_worker_that_can_begin_again() -> Option<World> {
    let turn = || {
        Turn::made(|request| match request.tool_results().as_slice() {
            [] => Turn::new_file("src/one.rs", "//! Written.\n"),
            _ => Turn::text("Done."),
        })
    };
    every_step((0..8).map(|_| turn()).collect())
}

fn every_step(turns: Vec<Turn>) -> Option<World> {
    let world = World::new(Forge::GitHub)?;
    world.add_task("T-1", turns);
    world.repo().write("nothing.sh", "exit 0\n");
    world.configure(|config| {
        let nothing = ["sh", "nothing.sh"];
        config["checks"] = json!({"format": [{"files": ["src/*.rs"], "command": nothing}]});
        config["generated"] =
            json!([{"watch": ["src/*.rs"], "command": nothing, "outputs": ["generated/**"]}]);
        config["lanes"]["frontier"]["reviewer"] = true.into();
    });
    let review = Lane::reviewer("review").turns([verdict("approve", &[])]);
    world.model().add(review);
    Some(world)
}

/// Lets the board call back after every status change.
fn with_callback(world: &World) {
    let config = world.board().folder().join("config.yml");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, text + "onStatusChange: 'callback'\n").unwrap();
}

/// Three triggers at once, so that whoever could be started twice would be; then everything is waited for.
#[track_caller]
fn recover(world: &World) {
    let mut triggers = [world.start(&["pass"]), world.start(&["pass"])];
    world.ok(&["pass"]);
    for trigger in &mut triggers {
        assert!(trigger.wait().unwrap().success());
    }
    world.settle();
}

/// The task was worked on by one worker that came to its end, and is proposed in one pull request.
#[track_caller]
fn assert_proposed_once(world: &World) {
    assert_eq!(world.forge().pull_requests().len(), 1);
    assert_eq!(world.repo().remote_file("task/T-1", "src/one.rs").unwrap(), "//! Written.\n");
    assert_eq!(world.model().requests_of("T-1").len(), 2, "one worker came to its end");
    let address = format!("https://github.com/{SLUG}/pull/1");
    let told = world.board().comments("T-1");
    let told = told.iter().filter(|comment| comment.body.contains(&address)).count();
    assert_eq!(told, 1, "the pull request is told once: {}", world.comments("T-1"));
    assert_eq!(world.record("T-1")["counts"]["counted"], 1, "{:#}", world.record("T-1"));
    assert_eq!(world.record("T-1")["pr"]["number"], 1);
    world.assert_proposed("src/one.rs");
}

/// S6, C1.4, C9.2: whenever the supervisor is killed, the task ends in one pull request; what was closing goes
/// on, and what was not begins again.
#[test_case("claimed", "worktree add", Before, 1; "before the slot is made")]
#[test_case("claimed", "worktree add", After, 1; "after the slot is made")]
#[test_case("prepared", "git", Before, 1; "prepared")]
#[test_case("running", "claude", Before, 1; "running")]
#[test_case("closing:board-check", "git", Before, 0; "board check")]
#[test_case("closing:format", "write-tree", Before, 0; "format")]
#[test_case("closing:generated-files", "write-tree", Before, 0; "generated files")]
#[test_case("closing:freeze", "write-tree", Before, 0; "before the tree is written")]
#[test_case("closing:freeze", "write-tree", After, 0; "after the tree is written")]
#[test_case("closing:scope-check", "diff-tree", Before, 0; "scope check")]
#[test_case("closing:checks", "worktree add", After, 0; "checks")]
#[test_case("closing:reviewer", "claude", Before, 0; "before the review")]
#[test_case("closing:reviewer", "claude", After, 0; "after the review")]
#[test_case("closing:acceptance", "git", Before, 0; "acceptance")]
#[test_case("closing:open-pr", "commit-tree", After, 0; "after the commit")]
#[test_case("closing:open-pr", "push --porcelain", Before, 0; "before the push")]
#[test_case("closing:open-pr", "push --porcelain", After, 0; "after the push")]
#[test_case("closing:open-pr", "--method GET", After, 0; "after the forge was asked")]
#[test_case("closing:open-pr", "--method POST", Before, 0; "before the pull request is made")]
#[test_case("closing:open-pr", "--method POST", After, 0; "after the pull request is made and before it is recorded")]
fn killed_on_the_way_to_its_pull_request(phase: &str, words: &str, when: When, uncounted: u32) {
    let Some(world) = with_every_step() else { return };
    let halts = Halts::install(&world);
    world.begin();
    halts.order(phase, words, when);
    let mut pass = world.start(&["pass"]);

    halts.kill(phase);
    assert!(pass.wait().unwrap().success());
    recover(&world);

    assert_proposed_once(&world);
    let counts = &world.record("T-1")["counts"];
    assert_eq!(counts["uncounted"].as_u64().unwrap_or(0), u64::from(uncounted), "{counts}");
}

/// Takes T-1 to its last gate, holds a lock that what follows needs, and waits for the phase in which it is needed.
#[track_caller]
fn held_up_by(world: &World, halts: &Halts<'_>, lock: &str, phase: &str) -> (i32, fs::File) {
    halts.order("closing:acceptance", "git", Before);
    world.ok(&["pass"]);
    halts.wait_for("closing:acceptance");
    let held = hold_lock(world, lock);
    halts.lift();
    (world.wait_for_phase("T-1", phase), held)
}

/// D6.8, C1.4: killed before the slot is free, it is freed by whoever goes on, and the proposal stands.
#[test]
fn killed_while_its_slot_is_released() {
    let Some(world) = with_every_step() else { return };
    let halts = Halts::install(&world);
    world.begin();
    let (supervisor, lock) = held_up_by(&world, &halts, "registry.lock", "closing:release-slot");
    kill_and_wait(&world, supervisor);
    assert_eq!(world.bound_slots()["slot-1"], "T-1");
    drop(lock);

    recover(&world);

    assert_proposed_once(&world);
}

/// D9.8: killed before it starts the pass that follows, nothing of the task is left to do, and the next task waits for
/// nothing but the next pass.
#[test]
fn killed_before_the_pass_that_follows() {
    let Some(world) = with_every_step() else { return };
    world.configure(|config| config["lanes"]["frontier"]["maxParallel"] = 1.into());
    let halts = Halts::install(&world);
    world.begin();
    let (supervisor, lock) = held_up_by(&world, &halts, "shared.lock", "ended");
    kill_and_wait(&world, supervisor);
    drop(lock);
    world.board().add(&task("T-2", "src/two.rs"));
    world.add_worker("T-2", writes_and_ends("src/two.rs"));

    recover(&world);

    assert_eq!(world.repo().remote_changes("main", "task/T-2"), ["src/two.rs"]);
    assert_eq!(world.forge().pull_requests().len(), 2);
    world.assert_proposed("src/one.rs");
}

/// C1.4, C10.1, C10.3: whenever the supervisor of a failed attempt is killed, its work is saved and the task is blocked,
/// each once.
#[test_case("closing:freeze", "write-tree", Before; "before the tree is written")]
#[test_case("closing:save-work", "commit-tree", After; "after the commit")]
#[test_case("closing:save-work", "update-ref", Before; "before the work is kept")]
#[test_case("closing:save-work", "update-ref", After; "after the work is kept")]
#[test_case("closing:save-work", "push --porcelain", After; "after the backup")]
#[test_case("closing:block", "git", Before; "before the task is blocked")]
#[test_case("closing:block", "callback", Before; "after the task is blocked and before that is recorded")]
fn killed_on_the_way_to_being_blocked(phase: &str, words: &str, when: When) {
    let Some(world) = World::new(Forge::Git) else { return };
    with_callback(&world);
    let halts = Halts::install(&world);
    let ends = Turn::text("NEEDS-GUIDANCE Which one?");
    world.add_task("T-1", [Turn::new_file("src/one.rs", "//! Half.\n"), ends]);
    world.begin();
    halts.order(phase, words, when);
    world.ok(&["pass"]);

    halts.kill(phase);
    recover(&world);

    assert_eq!(world.board().status("T-1"), "Blocked");
    assert_eq!(world.board().comments("T-1").len(), 1, "{}", world.comments("T-1"));
    assert!(world.comments("T-1").contains("Which one?"), "{}", world.comments("T-1"));
    assert_eq!(world.model().requests_of("T-1").len(), 2, "no second attempt");
    assert_eq!(world.saved("T-1", 1, "src/one.rs"), "//! Half.");
    assert_eq!(world.record("T-1")["counts"]["counted"], 1);
    world.assert_invariants();
}

/// C1.4, D9.9: whenever a supervisor that was told to end is killed, its task is queued again once, uncounted, and the
/// next attempt goes on from the saved work.
#[test_case("closing:freeze", "write-tree", After; "after the tree is written")]
#[test_case("closing:save-work", "update-ref", After; "after the work is kept")]
#[test_case("closing:requeue", "git", Before; "before the task is queued again")]
#[test_case("closing:requeue", "callback", Before; "after the task is queued again and before that is recorded")]
fn killed_on_the_way_back_to_the_queue(phase: &str, words: &str, when: When) {
    let Some(world) = World::new(Forge::Git) else { return };
    with_callback(&world);
    let halts = Halts::install(&world);
    let gate = Gate::new();
    world.add_task(
        "T-1",
        [
            Turn::new_file("src/one.rs", "//! Half.\n"),
            Turn::text("Done.").behind(&gate),
            Turn::new_file("src/two.rs", "//! Whole.\n"),
            Turn::text("Done."),
        ],
    );
    world.begin();
    world.ok(&["pass"]);
    gate.wait_for(1);
    halts.order(phase, words, when);
    kill(world.wait_for_phase("T-1", "running"), Signal::TERM);

    halts.kill(phase);
    recover(&world);

    assert_eq!(world.outcome("T-1", 1)["outcome"], "interrupted");
    assert_eq!(world.saved("T-1", 1, "src/one.rs"), "//! Half.");
    assert_eq!(world.repo().remote_changes("main", "task/T-1"), ["src/one.rs", "src/two.rs"]);
    let record = world.record("T-1");
    assert_eq!(
        (&record["counts"]["counted"], &record["counts"]["uncounted"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(record["attempt"], 2);
    assert_eq!(world.board().status("T-1"), "In Progress", "{}", world.comments("T-1"));
    world.assert_invariants();
}

/// D9.9: a supervisor that is told to end, whatever it does, leaves nothing bound and nothing lost; the next pass goes
/// on to one pull request, and no attempt was used up for it.
#[test_case("claimed", "worktree add"; "claimed")]
#[test_case("prepared", "git"; "prepared")]
#[test_case("running", "claude"; "running")]
#[test_case("closing:board-check", "git"; "board check")]
#[test_case("closing:freeze", "write-tree"; "freeze")]
#[test_case("closing:checks", "worktree add"; "checks")]
#[test_case("closing:reviewer", "claude"; "reviewer")]
#[test_case("closing:acceptance", "git"; "acceptance")]
#[test_case("closing:open-pr", "push --porcelain"; "push")]
#[test_case("closing:open-pr", "--method POST"; "pull request")]
fn told_to_end_on_the_way_to_its_pull_request(phase: &str, words: &str) {
    let Some(world) = with_every_step_and_a_worker_that_can_begin_again() else { return };
    let halts = Halts::install(&world);
    world.begin();
    halts.order(phase, words, Before);
    let mut pass = world.start(&["pass"]);

    kill(halts.wait_for(phase), Signal::TERM);
    halts.lift();
    assert!(pass.wait().unwrap().success());
    world.settle();
    world.assert_invariants();
    recover(&world);

    assert_eq!(world.forge().pull_requests().len(), 1);
    assert_eq!(world.repo().remote_file("task/T-1", "src/one.rs").unwrap(), "//! Written.\n");
    assert_eq!(world.record("T-1")["counts"]["counted"], 1, "{:#}", world.record("T-1"));
    world.assert_proposed("src/one.rs");
}

/// D9.9: a second SIGTERM ends the supervisor at once; what it was doing is recovered.
#[test]
fn told_to_end_twice_it_is_gone_at_once_and_recovered() {
    let Some(world) = with_every_step() else { return };
    let halts = Halts::install(&world);
    world.begin();
    halts.order("closing:open-pr", "push --porcelain", Before);
    world.ok(&["pass"]);
    let supervisor = halts.wait_for("closing:open-pr");
    kill_and_take(supervisor, Signal::TERM);
    kill(supervisor, Signal::TERM);
    wait_until_gone(&world, supervisor);
    assert_eq!(world.record("T-1")["phase"], "closing:open-pr");
    halts.lift();

    recover(&world);

    assert_proposed_once(&world);
}

/// N52, D9.1: whoever only waits for the supervisors may go; they do not end with it.
#[test]
fn the_end_of_a_waiting_call_ends_no_supervisor() {
    let Some(world) = World::new(Forge::Git) else { return };
    let gate = Gate::new();
    let turns = [Turn::new_file("src/one.rs", "//! Written.\n"), Turn::text("Done.").behind(&gate)];
    world.add_task("T-1", turns);
    world.begin();
    let mut waiting = world.start(&["pass", "--wait"]);
    gate.wait_for(1);

    kill(i32::try_from(waiting.id()).unwrap(), Signal::TERM);
    let ended = waiting.wait().unwrap();
    gate.open();
    world.settle();

    assert_eq!(ended.signal(), Some(Signal::TERM.as_raw()));
    assert_eq!(world.record("T-1")["counts"]["counted"], 1);
    world.assert_proposed("src/one.rs");
}
