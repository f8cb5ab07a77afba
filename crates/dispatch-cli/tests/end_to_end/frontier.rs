//! The frontier lane, from a queued task to a pull request.

use dispatch_testkit::wait;
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

/// S3: the oldest supported board and forge programs do the same job.
#[test]
fn the_oldest_supported_programs_do_the_same_job() {
    let Some(world) = World::with_forge_and_oldest_programs() else { return };
    world.worker("T-1", work([("src/parser.rs", "//! A parser.\n")]));
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs")]);

    world.proposed("T-1");

    assert_eq!(world.forge().pull_requests().len(), 1);
    let read = world.run("backlog", &["task", "T-1", "--plain"]);
    let read = String::from_utf8_lossy(&read.stdout).into_owned();
    assert!(read.contains("In Progress") && read.contains("[x] #1 It is done"), "{read}");
    assert!(read.contains("https://github.com/acme/widgets/pull/1"), "{read}");
}

/// B3.5, C5.5, C8: what the dispatcher itself proves it ticks; the worker is not asked to.
#[test]
fn the_items_that_the_dispatcher_proves_are_ticked_by_it() {
    let Some(world) = World::with_forge() else { return };
    world.worker("T-1", work([("src/parser.rs", "//! A parser.\n")]));
    let items = ["Scoped tests pass", "Every acceptance criterion is checked", "PR opened"];
    let task = task("T-1", "Add a parser", "src/parser.rs");
    world.begin(&[items.iter().fold(task, |task, item| task.done_when(item))]);

    world.proposed("T-1");

    let text = world.board().text("T-1");
    for (number, item) in (1..).zip(items) {
        assert!(text.contains(&format!("- [x] #{number} {item}")), "{text}");
    }
}

/// D1: a person queues the task with the board's own program, whose callback does the rest.
#[test]
fn queueing_a_task_with_the_board_s_program_is_enough() {
    let Some(world) = World::with_git() else { return };
    world.worker("T-1", work([("src/parser.rs", "//! A parser.\n")]));
    let config = world.board().folder().join("config.yml");
    let trigger = format!("onStatusChange: '{} --detach'\n", env!("CARGO_BIN_EXE_dispatch"));
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, text + &trigger).unwrap();
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs").status("To Do")]);

    let moved = world.run("backlog", &["task", "edit", "T-1", "--status", "Queued"]);

    assert!(moved.status.success(), "{moved:?}");
    wait::until("the branch", || world.repo().remote_branches().contains_key("task/T-1"));
    wait::until("the free slot", || world.bound_slots().is_empty());
    assert_eq!(world.board().status("T-1"), "In Progress", "{}", world.story("T-1"));
}
