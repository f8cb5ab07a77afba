//! The frontier lane, from a queued task to a pull request.

use serde_json::Value;

use crate::world::{World, task, work};

/// D3, D6, D7, D8, C9: the whole way.
#[test]
fn a_queued_task_becomes_a_pull_request() {
    let Some(world) = World::with_forge() else { return };
    world.worker("T-1", work([("src/parser.rs", "//! A parser.\n")]));
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs")]);

    world.proposed("T-1");

    assert_eq!(world.repo().remote_changes("main", "task/T-1"), ["src/parser.rs"]);
    let pulls = world.forge().pull_requests();
    let [pull] = pulls.as_slice() else { panic!("{pulls:#?}") };
    assert_eq!((pull.title.as_str(), pull.base.as_str()), ("[T-1] Add a parser", "main"));
    assert_eq!(pull.head, "task/T-1");
    for part in [
        "## Summary",
        "## Acceptance criteria",
        "- [x] It is done",
        "src/parser.rs",
        "sh check.sh",
        "attempt 1 of 3",
        ".dispatch/T-1/attempt-1",
    ] {
        assert!(pull.body.to_lowercase().contains(&part.to_lowercase()), "{part}\n{}", pull.body);
    }
    let comment = world.last_comment("T-1");
    assert!(comment.contains("https://github.com/acme/widgets/pull/1"), "{comment}");
    assert!(world.board().text("T-1").contains("- [x] #1 It is done"));
    assert_eq!(world.bound_slots(), [""; 0]);
    let outcome = world.outcome("T-1", 1);
    assert_eq!(outcome["reason"], "success", "{outcome:#}");
    assert_eq!(outcome["counted"], true);
}

/// W3.3, D7: what is kept about a launch, and what the worker is told.
#[test]
fn the_worker_is_told_its_exact_board_command_and_the_launch_is_kept() {
    let Some(world) = World::with_git() else { return };
    world.worker("T-1", work([("src/parser.rs", "//! A parser.\n")]));
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs")]);

    world.proposed("T-1");

    let launch: Value = serde_json::from_str(&world.attempt_file("T-1", 1, "launch.json")).unwrap();
    assert_eq!(launch["confinement"], "off", "{launch:#}");
    assert!(!launch.to_string().contains("sk-test-made-up"), "{launch:#}");
    let argv = launch["argv"].as_array().unwrap();
    let command = world.asked("T-1")[0].board_command().unwrap();
    assert!(
        argv.iter().any(|word| word.as_str().unwrap().contains(&command)),
        "{command}: {launch:#}"
    );
    let first = &world.asked("T-1")[0];
    assert!(first.system().contains(&command), "{}", first.system());
    assert!(first.prompt().contains("Add a parser"), "{}", first.prompt());
    let prompt = world.attempt_file("T-1", 1, "prompt.md");
    assert!(first.prompt().contains(prompt.trim()), "{}", first.prompt());
}
