//! The dispatcher's own files: lost, broken, and a store that takes nothing.

use std::fs;

use dispatch_testkit::model_server::{Gate, Turn};
use dispatch_testkit::scene::Forge;

use crate::world::{World, task, writes_and_ends};

/// A world in which the worker on T-1 has written its file and waits.
fn with_a_waiting_worker() -> Option<(World, Gate)> {
    let world = World::new(Forge::Git)?;
    let gate = Gate::new();
    let turns = [Turn::new_file("src/one.rs", "//! One.\n"), Turn::text("Done.").behind(&gate)];
    world.add_task("T-1", turns);
    world.begin();
    world.ok(&["pass"]);
    gate.wait_for(1);
    Some((world, gate))
}

/// S5: cleaning the checkout loses logs and nothing else.
#[test]
fn cleaning_the_checkout_during_a_run_loses_logs_only() {
    let Some((world, gate)) = with_a_waiting_worker() else { return };

    world.repo().git(&["clean", "--quiet", "-fdx"]);
    assert!(!world.attempt("T-1", 1).join("prompt.md").exists());
    gate.open();
    world.settle();

    assert_eq!(world.record("T-1")["counts"]["counted"], 1);
    world.assert_proposed("src/one.rs");
}

/// S5: a missing registry is rebuilt: the slot of the running attempt is not given away.
#[test]
fn a_missing_registry_is_rebuilt_and_no_slot_is_given_away() {
    let Some((world, gate)) = with_a_waiting_worker() else { return };
    world.board().add(&task("T-2", "src/two.rs"));
    let [write, end] = &writes_and_ends("src/two.rs")[..] else { unreachable!() };
    world.add_worker("T-2", [write.clone(), end.clone().behind(&gate)]);

    fs::remove_file(world.state_path("registry.json")).unwrap();
    world.ok(&["pass"]);
    gate.wait_for(2);
    let bound = world.bound_slots();
    assert_eq!((bound["slot-1"].as_str(), bound["slot-2"].as_str()), ("T-1", "T-2"));
    gate.open();
    world.settle();

    assert_eq!(world.repo().remote_changes("main", "task/T-2"), ["src/two.rs"]);
    world.assert_proposed("src/one.rs");
}

/// S5: a record that cannot be parsed is an error naming the file, never "empty"; other tasks go on.
#[test]
fn a_broken_record_is_named_and_other_tasks_go_on() {
    let Some(world) = World::with_a_task(Forge::Git) else { return };
    world.begin();
    world.pass();
    let file = world.state_path("tasks/T-1.json");
    fs::write(&file, "{\"taskId\": \"T-1\", \"attempt\": ").unwrap();
    world.board().add(&task("T-2", "src/two.rs"));
    world.add_worker("T-2", writes_and_ends("src/two.rs"));

    let output = world.dispatch(&["pass"]);
    world.settle();

    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(said.contains("tasks/T-1.json"), "the file is named: {said}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "{\"taskId\": \"T-1\", \"attempt\": ");
    assert_eq!(world.board().status("T-1"), "In Progress", "nothing is concluded about it");
    assert_eq!(world.repo().remote_changes("main", "task/T-2"), ["src/two.rs"]);
    assert_eq!(world.board().status("T-2"), "In Progress");
}

/// BR-03, C10.1, M1 step 5: work that cannot even be written keeps its slot; once it can, a pass saves it and frees the
/// slot.
#[test]
fn work_that_cannot_be_written_holds_its_slot_until_it_can() {
    let Some((world, gate)) = with_a_waiting_worker() else { return };
    let (git, objects) =
        (world.repo().code().join(".git"), world.repo().code().join(".git/objects"));
    // Modes do not stop root: a file where the folder was does.
    fs::rename(&objects, git.join("objects.away")).unwrap();
    fs::write(&objects, "").unwrap();
    gate.open();
    world.settle();

    assert_eq!(world.board().status("T-1"), "Blocked", "{}", world.comments("T-1"));
    assert!(world.comments("T-1").contains("work-held"), "{}", world.comments("T-1"));
    let registry = world.state("registry.json");
    assert!(registry["slots"][0]["held"].is_string(), "{registry:#}");
    let kept = world.path("slots/slot-1/src/one.rs");
    assert_eq!(fs::read_to_string(&kept).unwrap(), "//! One.\n");

    fs::remove_file(&objects).unwrap();
    fs::rename(git.join("objects.away"), &objects).unwrap();
    world.pass();

    assert_eq!(world.saved("T-1", 1, "src/one.rs"), "//! One.");
    assert_eq!(world.board().status("T-1"), "Blocked");
    world.assert_invariants();
}
