//! S6: whatever process is killed before whatever call, one undisturbed pass and the supervisors it starts leave
//! a sound state.

use std::panic;

use dispatch_core::record::Phase;
use dispatch_core::status::Status;
use dispatch_engine::pass::Options;
use test_case::test_case;

use crate::sim::{Act, Life, World, frontier, id, result, setup, task};

/// Passes and supervisors as long as something happens; whichever process is killed stays dead.
fn play(world: &World) {
    for _ in 0..40 {
        let pass = world.try_pass(&setup(), &Options::default());
        let mut ran = false;
        while let Some(life) = world.supervise_next() {
            ran = true;
            if life == Life::Killed {
                return;
            }
        }
        if pass.is_none() || !ran {
            return;
        }
    }
    panic!("it does not come to an end");
}

fn invariants(world: &World, dies: usize) {
    let state = world.state();
    let at = format!("killed before call {dies}");
    // I1 and I2 are asserted where they could break: in `launch` and in `change_slot`.
    assert!(state.workers.iter().all(|worker| !worker.alive), "{at}: a worker lives");
    assert!(state.locks.is_empty(), "{at}: {:?}", state.locks);
    // I3: whatever a worker wrote is saved, and the record says where.
    for worker in &state.workers {
        let record = &state.records[&worker.id];
        let wrote = state.scripts[&worker.id].iter().find_map(|act| match act {
            Act::Write(path, text) => Some((path.clone(), text.clone())),
            Act::Say(_) | Act::Tick | Act::Idle(_) | Act::Exit(_) => None,
        });
        let Some((path, text)) =
            wrote.filter(|_| worker.acts.len() < state.scripts[&worker.id].len())
        else {
            continue;
        };
        let proposed = record.pr.as_ref().map(|pr| pr.commit.clone());
        let commits = [&record.saved, &proposed];
        let kept = commits
            .into_iter()
            .flatten()
            .any(|commit| state.repository.files(commit).get(&path) == Some(&text));
        assert!(kept, "{at}: {path} of {} is lost", worker.id);
    }
    for record in state.records.values() {
        // I5, and nothing is left half done.
        assert_eq!(record.phase, Phase::Ended, "{at}: {}", record.task_id);
    }
    assert!(state.registry.iter().all(|entry| entry.task_id.is_none()), "{at}: a slot is bound");
    for task in state.tasks.values() {
        let proposed = state.records.get(&task.id).is_some_and(|record| record.pr.is_some());
        // I4.
        assert!(task.status != Status::InProgress || proposed, "{at}: {} hangs", task.id);
    }
    // I6: nothing but our own names and the tasks' branches.
    assert!(state.repository.refs.keys().all(|name| name.starts_with("refs/dispatch/")), "{at}");
    let ours = |name: &str| name == "main" || name.starts_with("task/");
    assert!(state.repository.remote.keys().all(|name| ours(name.as_str())), "{at}");
}

/// Kills at every call in turn and recovers; gives how many calls there are.
fn kill_everywhere(new: impl Fn() -> World, check: impl Fn(&World, usize)) -> usize {
    panic::set_hook(Box::new(|info| {
        // A killed process says nothing; a failed assertion does.
        if info.payload().is::<String>() || info.payload().is::<&str>() {
            use std::io::Write;
            writeln!(std::io::stderr(), "{info}").ok();
        }
    }));
    let whole = new();
    whole.die_before(None);
    play(&whole);
    let calls = whole.calls();
    invariants(&whole, usize::MAX);
    check(&whole, usize::MAX);
    for dies in 0..calls {
        let world = new();
        world.die_before(Some(dies));
        play(&world);
        world.die_before(None);
        world.settle(&setup());
        invariants(&world, dies);
        check(&world, dies);
    }
    calls
}

#[test]
fn a_task_on_its_way_to_a_pull_request_survives_any_kill() {
    let calls = kill_everywhere(
        || World::new(vec![task("T-1")]),
        |world, dies| {
            // I8: a kill neither blocks a task the first time nor uses up an attempt.
            assert_eq!(world.status("T-1"), Status::InProgress, "call {dies}");
            assert!(world.record("T-1").counts.counted <= 1, "call {dies}");
            assert!(world.state().opened <= 1, "call {dies}: proposed twice");
        },
    );
    assert!(calls > 60, "{calls}");
}

#[test]
fn tasks_side_by_side_that_fail_and_wait_survive_any_kill() {
    let new = || {
        let mut after = frontier("T-3");
        after.dependencies = vec![id("T-2")];
        let world = World::new(vec![task("T-1"), frontier("T-2"), after]);
        world.state().scripts.insert(
            id("T-2"),
            vec![
                Act::Write("src/t-2.rs".into(), "half".into()),
                result("NEEDS-GUIDANCE: which way?"),
                Act::Exit(0),
            ],
        );
        world
    };
    let calls = kill_everywhere(new, |world, dies| {
        assert_eq!(world.status("T-1"), Status::InProgress, "call {dies}");
        assert_eq!(world.status("T-2"), Status::Blocked, "call {dies}");
        assert_eq!(world.status("T-3"), Status::Queued, "call {dies}: its dependency is not done");
        let blocks = world.comments("T-2").iter().filter(|text| text.contains("locked")).count();
        assert_eq!(blocks, 1, "call {dies}: {:?}", world.comments("T-2"));
    });
    assert!(calls > 100, "{calls}");
}

/// Q1.4 (c): every call that changes something fails once.
#[test]
fn a_call_that_fails_once_loses_nothing_and_hangs_nothing() {
    let whole = World::new(vec![task("T-1")]);
    whole.fail_at(None);
    play(&whole);
    let calls = whole.calls();
    assert!(calls > 60, "{calls}");
    for fails in 1..=calls {
        let world = World::new(vec![task("T-1")]);
        world.fail_at(Some(fails));
        play(&world);
        world.fail_at(None);
        // A lane that was paused for it goes on after a while.
        for _ in 0..3 {
            world.settle(&setup());
            world.wait(3700);
        }
        invariants(&world, fails);
    }
}

/// Q1.4 (c), I3, I8: the disk fills up at every call in turn, stays full until everybody gave up, and is cleared then: no
/// work is lost, nothing hangs, and the task goes on or says to a person why not.
#[test]
fn a_disk_that_fills_up_at_any_call_loses_nothing() {
    let whole = World::new(vec![task("T-1")]);
    whole.full_from(None);
    play(&whole);
    let calls = whole.calls();
    assert!(calls > 60, "{calls}");
    for full in 1..=calls {
        let world = World::new(vec![task("T-1")]);
        world.full_from(Some(full));
        // Not to the end: with a full disk nobody comes to one.
        for _ in 0..3 {
            world.try_pass(&setup(), &Options::default());
            while world.supervise_next().is_some() {}
            world.wait(3700);
        }
        world.full_from(None);
        for _ in 0..4 {
            world.settle(&setup());
            world.wait(3700);
        }
        invariants(&world, full);
        let status = world.status("T-1");
        assert!(matches!(status, Status::InProgress | Status::Blocked), "call {full}: {status}");
        let told = status == Status::InProgress || !world.comments("T-1").is_empty();
        assert!(told, "call {full}: blocked without a word");
    }
}

/// Q1.5b: the wall clock is for people and for times from outside: one that jumps, forwards by a day (a machine that slept)
/// or backwards by an hour, ends no attempt, takes nobody for dead, and loses nothing.
#[test_case(86_400; "a day forwards")]
#[test_case(-3_600; "an hour backwards")]
fn a_wall_clock_that_jumps_at_any_call_changes_nothing(jump: i64) {
    let whole = World::new(vec![task("T-1")]);
    play(&whole);
    let undisturbed = (whole.status("T-1"), whole.record("T-1").counts);
    let (before_pass, before_supervisor, before_sweep) = (0, 1, 2);
    for at in [before_pass, before_supervisor, before_sweep] {
        let world = World::new(vec![task("T-1")]);
        let jumps = |now| {
            if at == now {
                world.state().wall_jump_s = jump;
            }
        };
        jumps(before_pass);
        world.pass(&setup());
        jumps(before_supervisor);
        // A pass beside a supervisor that has just begun.
        let report = world.pass(&setup());
        let told = report.lines().join("\n");
        assert!(!told.contains("sign of life") && !told.contains("supervisor was gone"), "{told}");
        while world.supervise_next().is_some() {}
        jumps(before_sweep);
        world.settle(&setup());
        invariants(&world, at);
        assert_eq!((world.status("T-1"), world.record("T-1").counts), undisturbed, "jump at {at}");
        assert!(world.state().killed.is_empty() && world.state().requests.is_empty());
        assert_eq!(world.state().opened, 1);
    }
}
