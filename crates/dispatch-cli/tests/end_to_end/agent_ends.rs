//! How a worker can end (D10), and whose fault that is (D11).

use dispatch_testkit::json;
use dispatch_testkit::model_server::Turn;

use crate::world::{World, make, make_and_tick, task};

fn begin(world: &World, turns: impl IntoIterator<Item = Turn>) {
    world.worker("T-1", turns);
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs")]);
}

/// The lane is paused for `cause`, and the task waits as if nothing had happened.
fn is_put_back(world: &World, cause: &str) {
    let report = world.pass();

    assert_eq!(world.board().status("T-1"), "Queued", "{report:#}\n{}", world.story("T-1"));
    let outcome = world.outcome("T-1", 1);
    assert_eq!(outcome["counted"], false, "{outcome:#}");
    let state = world.repo().code().join(".git/dispatch/lanes-state.json");
    let state = std::fs::read_to_string(state).unwrap();
    assert!(state.contains(cause), "{state}");
    assert_eq!(world.verdict("T-1"), "waiting lane-paused");
    assert_eq!(world.bound_slots(), [""; 0]);
}

/// D10: the work so far is kept.
#[test]
fn turns_used_up_block_and_keep_the_work() {
    let Some(world) = World::with_git() else { return };
    world.configure(|config| config["lanes"]["frontier"]["maxTurns"] = 1.into());
    begin(&world, [make_and_tick([("src/parser.rs", "//! A parser.\n")])]);

    let comment = world.blocked("T-1", "turns-exhausted");

    assert!(comment.contains("refs/dispatch/attempts/T-1/1"), "{comment}");
    assert!(!world.kept("T-1", 1).is_empty());
}

/// D7.3, D10.
#[test]
fn a_budget_used_up_blocks_and_keeps_the_work() {
    let Some(world) = World::with_git() else { return };
    world.configure(|config| config["lanes"]["frontier"]["maxBudgetUsd"] = json!(0.01));
    let dear = Turn::worker_edit("--check-ac 1").usage(1_000_000, 100_000);
    begin(&world, [make([("src/parser.rs", "//! A parser.\n")]), dear]);

    world.blocked("T-1", "budget-exceeded");

    assert!(!world.kept("T-1", 1).is_empty());
}

/// D10: an error that is about this request alone.
#[test]
fn an_error_of_the_api_about_the_request_blocks() {
    let Some(world) = World::with_git() else { return };
    begin(&world, [Turn::error_saying(400, "the request makes no sense")]);

    let comment = world.blocked("T-1", "api-error");

    assert!(comment.contains("the request makes no sense"), "{comment}");
    assert_eq!(world.outcome("T-1", 1)["counted"], true);
}

/// D11.1: an overloaded provider is nobody's fault.
#[test]
fn an_overloaded_provider_pauses_the_lane() {
    let Some(world) = World::with_git() else { return };
    world.write_settings(
        "frontier",
        &json!({
            "permissions": {"allow": ["Read(./**)", "Edit(./**)"], "deny": []},
            "env": {"CLAUDE_CODE_MAX_RETRIES": "0"},
        }),
    );
    begin(&world, [Turn::error(529)]);
    is_put_back(&world, "overloaded");
}

/// D11.1: nor is a login that ended.
#[test]
fn a_login_that_is_not_accepted_pauses_the_lane() {
    let Some(world) = World::with_git() else { return };
    begin(&world, [Turn::error(401).header("x-should-retry", "false")]);
    is_put_back(&world, "login-expired");
}

/// D10: no result is a crash, whatever the exit status.
#[test]
fn an_agent_that_ends_without_a_result_has_crashed() {
    let Some(world) = World::with_git() else { return };
    world.add_program("claude", "#!/bin/sh\necho '{\"type\":\"keep_alive\"}'\nexit 0\n");
    begin(&world, [Turn::text("never asked")]);

    let comment = world.blocked("T-1", "crash");

    assert!(comment.contains("There was no work to save."), "{comment}");
}

/// D10.
#[test]
fn an_empty_answer_blocks() {
    let Some(world) = World::with_git() else { return };
    begin(&world, [make([("src/parser.rs", "//! A parser.\n")]), Turn::empty()]);
    world.blocked("T-1", "empty-answer");
}
