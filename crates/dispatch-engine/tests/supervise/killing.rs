//! Supervisors that are killed between any two calls (S6).

use std::panic::{AssertUnwindSafe, catch_unwind};

use dispatch_core::record::Phase;
use dispatch_core::status::Status;
use dispatch_engine::supervise::{Drain, End, Mode};
use test_case::test_case;

use crate::world::{Act, World, diligent, result};

/// Recovers until the record has ended, as sweep after sweep would.
fn recover(world: &World) {
    world.die_before(None);
    for _ in 0..3 {
        if world.read().phase == Phase::Ended {
            return;
        }
        world.supervise(Mode::Recover);
    }
    assert_eq!(world.read().phase, Phase::Ended);
}

/// A world whose supervisor was killed when the close had begun.
fn killed_in_the_close(acts: &[Act]) -> World {
    std::panic::set_hook(Box::new(|_| {}));
    for dies in 0.. {
        let world = World::new(acts.to_vec());
        world.die_before(Some(dies));
        let killed = catch_unwind(AssertUnwindSafe(|| world.supervise(Mode::Begin)));
        assert!(killed.is_err(), "no close began");
        world.die_before(None);
        if matches!(world.read().phase, Phase::Closing(_)) {
            return world;
        }
    }
    unreachable!("there are calls without end")
}

/// Each test case takes a quarter of the calls: parts of a long test run side by side.
const PARTS: usize = 4;

fn kill_everywhere(acts: &[Act], part: usize, check: impl Fn(&World, usize)) {
    std::panic::set_hook(Box::new(|_| {}));
    let whole = World::new(acts.to_vec());
    whole.supervise(Mode::Begin);
    let calls = whole.calls();
    assert!(calls > 40, "{calls}");
    for dies in (part..calls).step_by(PARTS) {
        let world = World::new(acts.to_vec());
        world.die_before(Some(dies));
        let killed = catch_unwind(AssertUnwindSafe(|| world.supervise(Mode::Begin)));
        assert!(killed.is_err(), "call {dies} was not reached");
        recover(&world);
        invariants(&world, dies);
        check(&world, dies);
    }
}

fn invariants(world: &World, dies: usize) {
    let record = world.read();
    let state = world.state();
    let task = state.task.as_ref().unwrap();
    // I3: whatever the worker wrote is in the slot, under the attempt's ref or on the remote.
    if let Some(written) = state.slot.get("src/hello.rs") {
        let saved = record.saved.iter().chain(record.pr.as_ref().map(|pr| &pr.commit));
        let found = saved
            .into_iter()
            .any(|commit| state.repository.files(commit).get("src/hello.rs") == Some(written));
        assert!(found, "call {dies}: {written:?} is lost");
    }
    // I4, I5: nothing stays in progress without a proposal, and no slot stays bound.
    assert!(task.status != Status::InProgress || record.pr.is_some(), "call {dies}");
    assert!(state.entry.task_id.is_none(), "call {dies}: the slot is still bound");
    // Nothing is counted twice, said twice or proposed twice.
    let counts = record.counts;
    assert_eq!(counts.counted + counts.uncounted, 1, "call {dies}");
    assert!(state.pull_requests.len() <= 1, "call {dies}");
    assert!(!state.worker_alive, "call {dies}: the worker lives");
}

#[test_case(0; "part 1")]
#[test_case(1; "part 2")]
#[test_case(2; "part 3")]
#[test_case(3; "part 4")]
fn c1_4_a_close_that_was_killed_anywhere_is_finished_by_recovery(part: usize) {
    kill_everywhere(&diligent(), part, |world, dies| {
        // I8: a kill never blocks a task the first time.
        assert_ne!(world.status(), Status::Blocked, "call {dies}");
    });
}

#[test_case(0; "part 1")]
#[test_case(1; "part 2")]
#[test_case(2; "part 3")]
#[test_case(3; "part 4")]
fn a_failing_attempt_that_was_killed_anywhere_loses_nothing(part: usize) {
    let acts =
        [Act::Write("src/hello.rs", "half of it"), result("NEEDS-GUIDANCE: which?"), Act::Exit(0)];
    kill_everywhere(&acts, part, |world, dies| {
        let state = world.state();
        let blocks = state.comments.iter().filter(|comment| comment.contains("Blocked")).count();
        assert!(blocks <= 1, "call {dies}: {blocks} block comments");
    });
}

/// C3.3, C1.4: a recovery supervisor finds what the dead one handed out, whatever its own environment holds.
#[test_case(&[]; "no credential")]
#[test_case(&[("CLAUDE_CODE_OAUTH_TOKEN", "sk-another-token")]; "a newer credential")]
fn c3_3_a_recovery_looks_for_the_credential_that_was_handed_out(
    environment: &'static [(&'static str, &'static str)],
) {
    let mut acts = diligent();
    acts[0] = Act::Write("src/hello.rs", "let key = \"sk-secret-token\";");
    let world = killed_in_the_close(&acts);
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    world.state().environment = environment.iter().map(owned).collect();
    let reason = "scope-check-failed".to_owned();
    assert_eq!(world.supervise(Mode::Recover), End::Ended { reason, drain: Drain::Pass });
    assert!(world.state().comments[0].contains("dangerous: src/hello.rs"));
    assert!(world.state().repository.remote_refs.is_empty());
    assert!(world.state().pull_requests.is_empty());
}
