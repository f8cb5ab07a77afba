//! Passes: many at once, from the board's own program, from a callback of our own.

use std::fs;
use std::time::{Duration, Instant};

use dispatch_testkit::model_server::{Gate, Turn};
use dispatch_testkit::scene::Forge;
use dispatch_testkit::{programs, wait};

use crate::world::{World, task, writes_and_ends};

/// A world with two tasks that do not touch the same files.
fn with_two_tasks() -> Option<World> {
    let world = World::new(Forge::Git)?;
    for (id, file) in [("T-1", "src/one.rs"), ("T-2", "src/two.rs")] {
        world.board().add(&task(id, file));
        world.add_worker(id, writes_and_ends(file));
    }
    world.begin();
    Some(world)
}

/// D2.1: of many triggers at once one runs a pass and the others leave their wish; each task is taken once.
#[test]
fn twelve_triggers_at_once_dispatch_each_task_once() {
    let Some(world) = with_two_tasks() else { return };
    let mut triggers: Vec<_> = (0..12).map(|_| world.start(&[])).collect();
    for trigger in &mut triggers {
        assert!(trigger.wait().unwrap().success());
    }
    world.settle();

    for (id, file) in [("T-1", "src/one.rs"), ("T-2", "src/two.rs")] {
        assert_eq!(world.board().status(id), "In Progress");
        assert_eq!(world.model().requests_of(id).len(), 2, "one worker for {id}");
        assert_eq!(world.record(id)["attempt"], 1);
        assert_eq!(world.repo().remote_changes("main", &format!("task/{id}")), [file]);
    }
    world.assert_invariants();
}

/// I2, D6.3: however many passes run, no lane has more workers than it may have, and no slot more than one.
#[test]
fn fifty_passes_at_once_never_exceed_the_capacity() {
    let Some(world) = World::new(Forge::Git) else { return };
    let gate = Gate::new();
    for number in 1..=4 {
        let (id, file) = (format!("T-{number}"), format!("src/of_{number}.rs"));
        world.board().add(&task(&id, &file));
        world.add_worker(&id, [Turn::text("Nothing.").behind(&gate)]);
    }
    world.begin();
    let mut passes: Vec<_> = (0..50).map(|_| world.start(&[])).collect();
    gate.wait_for(2);
    for pass in &mut passes {
        assert!(pass.wait().unwrap().success());
    }

    assert_eq!(gate.entered(), 2);
    let bound = world.bound_slots();
    assert_eq!(bound.len(), 2, "{bound:?}");
    let running = |id: &String| world.board().status(id) == "In Progress";
    let tasks: Vec<String> = (1..=4).map(|number| format!("T-{number}")).collect();
    assert_eq!(tasks.iter().filter(|id| running(id)).count(), 2);
    gate.open();
    world.settle();
    for id in &tasks {
        assert_eq!(world.board().status(id), "Blocked", "{id}: {}", world.comments(id));
        assert_eq!(world.record(id)["attempt"], 1, "{id}");
    }
    world.assert_invariants();
}

/// D2.1: a wish that comes while a pass runs makes the holder go round again: the task queued in between is taken.
#[test]
fn a_trigger_during_a_pass_is_not_lost() {
    let Some(world) = World::new(Forge::Git) else { return };
    let hold = world.path("hold-git");
    let git = world.repo().git_program().to_owned();
    fs::remove_file(world.bin().join("git")).unwrap();
    world.add_program(
        "git",
        &format!(
            "#!/bin/sh\nwhile [ -e '{hold}' ]; do echo >> '{hold}.met'; sleep 0.1; done\nexec '{git}' \"$@\"\n"
        ),
    );
    world.begin();
    world.ok(&["--no-select"]);
    fs::write(&hold, "").unwrap();
    let mut first = world.start(&["pass"]);
    wait::until("the first pass to hold the lock", || world.path("hold-git.met").exists());
    world.board().add(&task("T-1", "src/one.rs"));
    world.add_worker("T-1", writes_and_ends("src/one.rs"));
    let mut second = world.start(&["pass"]);
    // The second needs git to find the checkout; it is let through together with the first.
    fs::remove_file(&hold).unwrap();
    assert!(first.wait().unwrap().success());
    assert!(second.wait().unwrap().success());
    world.settle();

    world.assert_proposed("src/one.rs");
}

/// D1.1, D1.2, D1.4: the board's own program calls back when a person queues a task, and does not wait for the worker.
#[test]
fn queueing_a_task_with_the_boards_own_program_starts_a_pass() {
    let Some(world) = World::new(Forge::Git) else { return };
    let gate = Gate::new();
    let [write, _] = &writes_and_ends("src/one.rs")[..] else { unreachable!() };
    world.board().add(&task("T-1", "src/one.rs").status("To Do"));
    world.add_worker("T-1", [write.clone(), Turn::text("Done.").behind(&gate)]);
    let config = world.board().folder().join("config.yml");
    let text = fs::read_to_string(&config).unwrap();
    let line = format!("onStatusChange: '{} --detach'\n", env!("CARGO_BIN_EXE_dispatch"));
    fs::write(&config, text + &line).unwrap();
    world.begin();

    programs::read(&mut world.command("backlog", &["task", "edit", "T-1", "-s", "Queued"]));
    gate.wait_for(1);
    assert_eq!(world.board().status("T-1"), "In Progress");
    // N71, D9.8: nobody but the pass that follows the attempt can see this one, and it is not that callback's any more.
    world.board().add(&task("T-2", "src/two.rs"));
    world.add_worker("T-2", writes_and_ends("src/two.rs"));
    gate.open();
    world.settle();

    world.assert_proposed("src/one.rs");
    assert!(!world.record("T-2")["pr"].is_null(), "{}", world.record("T-2"));
}

/// D1.3: the callback of one of our own writes ends at once and touches nothing, not even a broken configuration.
#[test]
fn the_callback_of_our_own_write_touches_nothing() {
    let Some(world) = World::with_a_task(Forge::Git) else { return };
    world.begin();
    fs::write(world.config_file(), "{ not json").unwrap();
    let mut command = world.dispatch_command(&[]);
    command.env("BACKLOG_DISPATCH_ACTIVE", "1").env("TASK_ID", "T-1");
    command.env("OLD_STATUS", "To Do").env("NEW_STATUS", "Queued");

    let output = programs::output(&mut command);

    assert!(output.status.success());
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("T-1") && said.contains("Queued"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(!world.state_path("").exists(), "no state was made");
    assert_eq!(world.board().status("T-1"), "Queued");
}

/// D1.2, D1.3: a callback about another status maintains and selects nothing; neither does a process that a worker
/// started.
#[test]
fn a_callback_about_another_status_selects_nothing() {
    let Some(world) = World::with_a_task(Forge::Git) else { return };
    world.begin();
    let callback = [("TASK_ID", "T-9"), ("OLD_STATUS", "Queued"), ("NEW_STATUS", "Done")];
    for variables in [&callback[..], &[("BACKLOG_DISPATCH_ACTIVE", "1")][..]] {
        let mut command = world.dispatch_command(&["pass"]);
        let said = programs::read(command.envs(variables.iter().copied()));
        assert!(said.contains("selection off"), "{said}");
    }
    assert_eq!(world.board().status("T-1"), "Queued");
}

/// D1.4: `--detach` comes back at once, whatever the pass behind it waits for, and holds none of the caller's streams.
#[test]
fn a_detached_pass_comes_back_at_once() {
    let Some(world) = World::with_a_task(Forge::Git) else { return };
    world.begin();
    world.ok(&["--no-select"]);
    // Whoever holds this lock holds back the pass, not its caller.
    let begun = Instant::now();
    let output = programs::output(&mut world.dispatch_command(&["--detach"]));
    let took = begun.elapsed();

    assert!(output.status.success());
    assert_eq!((output.stdout.len(), output.stderr.len()), (0, 0));
    // 100 ms on a machine at rest; here it shares two processors with everything else.
    assert!(took < Duration::from_secs(2), "{took:?}");
    world.settle();
    world.assert_proposed("src/one.rs");
}
