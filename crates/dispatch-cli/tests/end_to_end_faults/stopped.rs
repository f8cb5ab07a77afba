//! Workers that are stopped: by a limit, with everything they started.

use dispatch_testkit::model_server::Turn;
use dispatch_testkit::scene::Forge;

use dispatch_testkit::processes;

use crate::world::World;

/// BR-16, D9.5: a worker past its time is ended with everything it started: what ignores signals, what left its session,
/// and what threw its environment away; its work is saved and the task is blocked.
#[test]
fn a_worker_past_its_time_is_ended_with_all_it_started_and_its_work_is_saved() {
    let Some(world) = World::new(Forge::Git) else { return };
    // A number nobody else sleeps for finds the processes that hide.
    let time = format!("4711.{}", std::process::id());
    let ran = world.path("ran");
    world.worker_runs(&format!(
        "touch '{ran}'; trap '' TERM INT HUP\n\
         sh -c \"trap '' TERM INT HUP; sleep {time}\" &\n\
         setsid sh -c \"trap '' TERM INT HUP; sleep {time}\" &\n\
         (cd / && env -i setsid sh -c \"trap '' TERM INT HUP; /bin/sleep {time}\" &) &\n\
         sleep {time}\n"
    ));
    world.configure(|config| config["lanes"]["frontier"]["timeoutMinutes"] = 0.15.into());
    let turns = [Turn::new_file("src/one.rs", "//! Half.\n"), Turn::bash("sh check.sh")];
    world.add_task("T-1", turns);
    world.begin();

    world.pass();

    assert!(ran.exists(), "the worker started them");
    let left: Vec<_> =
        processes::all().into_iter().filter(|process| process.command.contains(&time)).collect();
    assert!(left.is_empty(), "{left:#?}");
    assert_eq!(world.board().status("T-1"), "Blocked");
    assert!(world.comments("T-1").contains("timeout"), "{}", world.comments("T-1"));
    assert_eq!(world.outcome("T-1", 1)["outcome"], "timeout");
    assert_eq!(world.outcome("T-1", 1)["counted"], true);
    assert_eq!(world.saved("T-1", 1, "src/one.rs"), "//! Half.");
    world.assert_invariants();
}

/// D9.5: a worker that says nothing for too long is ended.
#[test]
fn a_worker_that_says_nothing_for_too_long_is_stalled() {
    let Some(world) = World::new(Forge::Git) else { return };
    world.configure(|config| config["lanes"]["frontier"]["stallTimeoutMinutes"] = 0.15.into());
    world.add_task("T-1", [Turn::new_file("src/one.rs", "//! Half.\n"), Turn::hang()]);
    world.begin();

    world.pass();

    assert_eq!(world.board().status("T-1"), "Blocked");
    assert!(world.comments("T-1").contains("stalled"), "{}", world.comments("T-1"));
    assert_eq!(world.outcome("T-1", 1)["outcome"], "stalled");
    assert_eq!(world.saved("T-1", 1, "src/one.rs"), "//! Half.");
    world.assert_invariants();
}
