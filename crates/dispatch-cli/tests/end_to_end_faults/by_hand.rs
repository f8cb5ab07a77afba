//! What a person does while a worker runs: cancelling, moving the task, releasing the slot.

use dispatch_testkit::model_server::{Gate, Turn};
use dispatch_testkit::scene::Forge;
use dispatch_testkit::wait;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use test_case::test_case;

use crate::world::World;

/// A world in which the worker on T-1 has written half a file and waits.
fn with_a_running_worker() -> Option<(World, Gate)> {
    let world = World::new(Forge::Git)?;
    let gate = Gate::new();
    world.add_task(
        "T-1",
        [Turn::new_file("src/one.rs", "//! Half.\n"), Turn::text("Done.").behind(&gate)],
    );
    world.begin();
    world.ok(&["pass"]);
    gate.wait_for(1);
    Some((world, gate))
}

/// M4: the worker is stopped, its work saved, the slot freed, and the task is `To Do`.
#[test]
fn cancel_stops_the_worker_saves_its_work_and_frees_the_slot() {
    let Some((world, _gate)) = with_a_running_worker() else { return };

    let said = world.ok(&["cancel", "T-1"]);
    world.settle();

    assert!(said.contains("refs/dispatch/attempts/T-1/1"), "{said}");
    assert_eq!(world.board().status("T-1"), "To Do");
    assert_eq!(world.saved("T-1", 1, "src/one.rs"), "//! Half.");
    assert_eq!(world.outcome("T-1", 1)["outcome"], "cancelled");
    assert_eq!(world.outcome("T-1", 1)["counted"], false);
    assert!(world.comments("T-1").contains("refs/dispatch/attempts/T-1/1"));
    world.assert_invariants();
}

/// D9.9, M2: an installation that never ends is ended for a person who cancels; nobody waits for its limit.
#[test]
fn cancel_ends_an_installation_that_is_under_way() {
    let Some(world) = World::with_a_task(Forge::Git) else { return };
    let begun = world.path("installing");
    world.repo().write_program(
        "tools/install.sh",
        &format!("#!/bin/sh\nsetsid sleep 3600 &\necho $$ > '{begun}'\nsleep 3600\n"),
    );
    world.configure(|config| {
        config["provision"] = serde_json::json!({ "install": ["tools/install.sh"] });
        config["confinement"]["readable"] = serde_json::json!([world.repo().root()]);
    });
    world.begin();
    world.ok(&["pass"]);
    wait::until("the installation to begin", || begun.exists());
    assert_eq!(world.record("T-1")["phase"], "claimed");

    world.ok(&["cancel", "T-1"]);
    // Looks at every process of the attempt too.
    world.settle();

    assert_eq!(world.board().status("T-1"), "To Do");
    assert_eq!(world.outcome("T-1", 1)["counted"], false);
    let log = std::fs::read_to_string(world.attempt("T-1", 1).join("prepare.log")).unwrap();
    assert!(log.contains("asked to stop"), "{log}");
    assert!(world.model().requests_of("T-1").is_empty(), "no worker was started");
    world.assert_invariants();
}

/// M1 step 4: a task that a person moved away from `In Progress` is cancelled, and the person's status stays.
#[test]
fn a_task_moved_away_by_a_person_is_cancelled_and_keeps_the_persons_status() {
    let Some((world, _gate)) = with_a_running_worker() else { return };

    world.board().set_status("T-1", "Blocked");
    world.pass();

    assert_eq!(world.board().status("T-1"), "Blocked");
    assert_eq!(world.saved("T-1", 1, "src/one.rs"), "//! Half.");
    assert_eq!(world.outcome("T-1", 1)["outcome"], "cancelled");
    world.assert_invariants();
}

/// M4: a slot with a live attempt is only released by force, after its supervisor ended; what was in it is saved.
#[test]
fn a_slot_at_work_is_released_only_by_force_and_its_work_is_saved() {
    let Some((world, _gate)) = with_a_running_worker() else { return };
    // A pass that follows must not take the task again.
    world.ok(&["--no-select"]);

    let (_, refused) = world.ended(&["release-slot", "slot-1"], 2);
    assert!(refused.contains("T-1") && refused.contains("dispatch cancel T-1"), "{refused}");
    assert_eq!(world.bound_slots()["slot-1"], "T-1");

    let said = world.ok(&["release-slot", "slot-1", "--force"]);
    assert!(said.contains("slot-1"), "{said}");
    assert_eq!(world.saved("T-1", 1, "src/one.rs"), "//! Half.");
    assert!(world.record("T-1")["attempt"] != 1 || world.record("T-1")["phase"] == "ended");
}

/// K1, M4: what does not exist, what is not running, and what is written wrongly is refused with 2 and said.
#[test]
fn unknown_names_and_wrong_usage_are_refused_with_2() {
    let Some(world) = World::with_a_task(Forge::Git) else { return };
    world.begin();
    world.ok(&["--no-select"]);

    let (_, unknown) = world.ended(&["release-slot", "slot-9"], 2);
    assert!(unknown.contains("slot-9") && unknown.contains("slot-1"), "{unknown}");
    let (_, unknown) = world.ended(&["cancel", "T-99"], 2);
    assert!(unknown.contains("T-99"), "{unknown}");
    world.ended(&["release-slot", "--force"], 2);
    world.ended(&["release-slot"], 2);
    world.ended(&["no-such-command"], 2);
    world.ended(&["cancel", "no id"], 2);
    let (_, no_status) = world.ended(&["cancel", "T-1", "--to", "Parked"], 2);
    assert!(no_status.contains("Parked") && no_status.contains("To Do, Queued"), "{no_status}");
    assert_eq!(world.board().status("T-1"), "Queued");
    let free = world.ok(&["release-slot", "slot-1"]);
    assert!(free.contains("free"), "{free}");
    let (_, no_wait) = world.ended(&["pass", "--wait", "--detach"], 2);
    assert!(!no_wait.is_empty());
}

/// D8.3: a template that no attempt could use is told before a task is taken.
#[test]
fn d8_3_an_unknown_placeholder_keeps_a_pass_from_taking_a_task() {
    let Some(world) = World::with_a_task(Forge::Git) else { return };
    world.repo().write("entry.md", "Do {{idd}}.\n");
    world.configure(|config| {
        config["templates"] = serde_json::json!({ "frontierEntry": "entry.md" });
    });
    world.begin();
    for command in [&["config", "check"][..], &["pass"][..]] {
        let (said, error) = world.ended(command, 1);
        assert!(format!("{said}{error}").contains("{{idd}}"), "{said}{error}");
    }
    assert_eq!(world.board().status("T-1"), "Queued");
    assert!(!world.attempt("T-1", 1).exists());
}

/// K2: what can be told from the configuration is told by `config check`, not by the first task that meets it.
#[test]
fn a_configuration_that_no_attempt_could_use_is_refused_before_any_task_is_taken() {
    let Some(world) = World::with_a_task(Forge::Git) else { return };
    world.begin();
    world.configure(|config| config["checks"]["ownedDod"] = serde_json::json!({"lint": "("}));
    for command in [&["config", "check"][..], &["trust"][..], &["pass"][..]] {
        let (said, error) = world.ended(command, 1);
        assert!([said, error].concat().contains("checks.ownedDod.lint"), "{command:?}");
    }
    let board_config = world.board().folder().join("config.yml");
    let text = std::fs::read_to_string(&board_config).unwrap();
    std::fs::write(&board_config, text.replace("Blocked", "Parked")).unwrap();
    let (said, _) = world.ended(&["config", "check"], 1);
    assert!(said.contains("has no status `Blocked`") && said.contains("config.yml"), "{said}");
    std::fs::write(&board_config, text).unwrap();
    let git = world.repo().code().join(".git/slots");
    world.configure(|config| config["slotsRoot"] = git.as_str().into());
    let (_, error) = world.ended(&["config", "check"], 1);
    assert!(error.contains("slotsRoot") && error.contains("git's own directory"), "{error}");
    assert_eq!(world.board().status("T-1"), "Queued");
}

/// S3: a pipe that nobody serves in the configuration's place is said, and waited for by nobody.
#[test]
fn a_pipe_in_the_place_of_the_configuration_stops_nothing() {
    let Some(world) = World::with_a_task(Forge::Git) else { return };
    world.begin();
    world.ok(&["--no-select"]);
    std::fs::remove_file(world.config_file()).unwrap();
    let file = world.config_file();
    mknodat(CWD, file.as_std_path(), FileType::Fifo, Mode::RWXU, 0).unwrap();

    for command in [&["status"][..], &["pass"][..], &["config", "check"][..]] {
        let (_, error) = world.ended(command, 1);
        assert!(error.contains("it is not a regular file"), "{error}");
    }
    let said = world.ok(&["release-slot", "slot-1"]);
    assert!(said.contains("free"), "{said}");
}

/// M4: releasing needs no valid configuration.
#[test]
fn a_slot_is_released_without_a_valid_configuration() {
    let Some(world) = World::with_a_task(Forge::Git) else { return };
    world.begin();
    world.ok(&["--no-select"]);
    std::fs::write(world.config_file(), "{ not json").unwrap();

    let said = world.ok(&["release-slot", "slot-1"]);
    assert!(said.contains("free"), "{said}");
    let (_, error) = world.ended(&["pass"], 1);
    assert!(error.contains("lanes.json"), "{error}");
}

/// S3: a board that is stashed away and back again is the board that it was.
#[test]
fn a_board_that_is_stashed_for_a_moment_goes_on_as_if_nothing_was() {
    let Some((world, gate)) = with_a_running_worker() else { return };
    world.repo().write("src/lib.rs", "//! Half done.\n");
    world.repo().git(&["stash", "push", "--quiet", "--include-untracked"]);
    assert_eq!(world.board().status("T-1"), "Queued");
    world.repo().git(&["stash", "pop", "--quiet"]);
    world.ok(&["pass"]);
    gate.open();
    world.settle();

    assert_eq!(world.record("T-1")["attempt"], 1);
    world.repo().git(&["checkout", "--quiet", "--", "src/lib.rs"]);
    world.assert_proposed("src/one.rs");
}

/// S3, S6: whatever a person does with git to the board's files under a running worker, nothing is lost, no second
/// worker runs beside the first, and the task ends in one proposal.
#[test_case(&[&["stash", "push", "--quiet", "--include-untracked"], &["stash", "drop", "--quiet"]]; "stash and drop")]
#[test_case(&[&["pull", "--quiet", "--no-edit", "--no-rebase", "--autostash", "origin", "main"], &["status"]]; "pull")]
#[test_case(&[&["pull", "--quiet", "--rebase", "--autostash", "origin", "main"], &["status"]]; "pull and rebase")]
#[test_case(&[&["reset", "--quiet", "--hard", "HEAD"], &["status"]]; "reset to the last commit")]
#[test_case(&[&["fetch", "--quiet", "origin", "main"], &["reset", "--quiet", "--hard", "FETCH_HEAD"]]; "reset to the remote")]
fn what_git_does_to_the_board_under_a_running_worker_loses_nothing(commands: &[&[&str]]) {
    let Some((world, gate)) = with_a_running_worker() else { return };
    world.repo().someone_pushes("main", "docs/theirs.md", "Theirs.\n");
    for command in commands {
        world.repo().git(command);
        // A board that moved backwards is believed by the pass after the one that saw it.
        world.ok(&["pass"]);
        world.ok(&["pass"]);
        assert!(world.bound_slots().len() <= 1, "{:?}", world.bound_slots());
    }
    gate.open();
    world.settle();
    world.pass();
    world.pass();

    assert_eq!(world.saved("T-1", 1, "src/one.rs"), "//! Half.");
    assert_eq!(world.repo().remote_file("task/T-1", "src/one.rs").unwrap(), "//! Half.\n");
    world.assert_proposed("src/one.rs");
}
