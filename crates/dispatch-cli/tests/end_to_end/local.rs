//! The local lane: a bare harness, a model that must be loaded, a reviewer.

use dispatch_testkit::scene::MODEL;
use dispatch_testkit::scene::verdict;
use serde_json::Value;

use crate::world::{World, task, work};

/// D4.2, D7.2, C7: readiness, the bare launch, and a reviewer that agrees.
#[test]
fn a_local_task_is_reviewed_and_becomes_a_pull_request() {
    let Some(world) = World::with_forge() else { return };
    world.worker("T-1", work([("src/parser.rs", "//! A parser.\n")]));
    world.reviewer("T-1", [verdict("approve", &[])]);
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs").lane("local")]);

    world.proposed("T-1");

    let pull = world.forge().pull_request(1);
    assert!(pull.body.to_lowercase().contains("approve"), "{}", pull.body);
    let launch: Value = serde_json::from_str(&world.attempt_file("T-1", 1, "launch.json")).unwrap();
    let argv: Vec<&str> =
        launch["argv"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    for flag in ["--bare", "--disable-slash-commands", "--no-session-persistence", "--effort"] {
        assert!(argv.contains(&flag), "{flag}: {argv:?}");
    }
    let review = &world.model().requests_of("review of T-1")[0];
    assert!(review.prompt().contains("+//! A parser."), "{}", review.prompt());
    assert!(world.attempt_file("T-1", 1, "review.md").contains("approve"));
    assert!(world.board().text("T-1").contains("- [x] #1 It is done"));
}

/// D4.2, D11: a model that is not there is the machine's fault.
#[test]
fn a_local_model_that_is_not_loaded_pauses_the_lane_and_leaves_the_task_queued() {
    let Some(world) = World::with_git() else { return };
    world.model().load_local(MODEL, "not-loaded");
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs").lane("local")]);

    let said = world.verdict("T-1");

    assert_eq!(said, "waiting lane-paused");
    assert_eq!(world.board().status("T-1"), "Queued");
    assert_eq!(world.board().comments("T-1"), []);
    let state = world.repo().code().join(".git/dispatch/lanes-state.json");
    let state = std::fs::read_to_string(state).unwrap();
    assert!(state.contains("local-model-not-loaded"), "{state}");
    assert!(world.model().requests().is_empty());
}
