//! What waits for what (D3, D4).

use dispatch_testkit::model_server::{Gate, Turn};
use dispatch_testkit::wait;

use crate::world::{World, make_and_tick, task, work};

/// D4 guard 4.
#[test]
fn a_task_waits_for_its_dependency_and_then_runs() {
    let Some(world) = World::with_git() else { return };
    world.worker("T-2", work([("src/second.rs", "//! Second.\n")]));
    world.begin(&[
        task("T-1", "Add the first", "src/first.rs").status("To Do"),
        task("T-2", "Add the second", "src/second.rs").depends_on("T-1"),
    ]);

    assert_eq!(world.verdict("T-2"), "waiting dependency-not-done");
    assert_eq!(world.board().status("T-2"), "Queued");

    world.board().set_status("T-1", "Done");
    world.proposed("T-2");
}

/// N60, D6, D4 guard 7: two tasks run at once in slots of their own; a third that claims the same file waits.
#[test]
fn two_tasks_run_at_once_and_one_that_claims_the_same_file_waits() {
    let Some(world) = World::with_git() else { return };
    let gate = Gate::new();
    for (id, file) in [("T-1", "src/first.rs"), ("T-2", "src/second.rs")] {
        let turn = make_and_tick([(file, "//! Made.\n")]).behind(&gate);
        world.worker(id, [turn, Turn::text("Done.")]);
    }
    world.configure(|config| {
        config["slots"] = dispatch_testkit::json!(["slot-1", "slot-2", "slot-3"]);
        config["lanes"]["frontier"]["maxParallel"] = 3.into();
    });
    world.begin(&[
        task("T-1", "Add the first", "src/first.rs"),
        task("T-2", "Add the second", "src/second.rs"),
        task("T-3", "Change the first", "src/first.rs"),
    ]);

    let report = world.ok(&[]);

    assert!(report.contains("T-3: waiting, claims-overlap"), "{report}");
    assert!(report.contains("src/first.rs"), "{report}");
    gate.wait_for(2);
    assert_eq!(world.bound_slots(), ["slot-1", "slot-2"]);
    let folders = ["T-1", "T-2"].map(|id| world.asked(id)[0].cwd().unwrap());
    assert_ne!(folders[0], folders[1]);
    gate.open();
    wait::until("both branches", || {
        let branches = world.repo().remote_branches();
        branches.contains_key("task/T-1") && branches.contains_key("task/T-2")
    });
    wait::until("free slots", || world.bound_slots().is_empty());
    assert_eq!(world.repo().remote_changes("main", "task/T-1"), ["src/first.rs"]);
    assert_eq!(world.repo().remote_changes("main", "task/T-2"), ["src/second.rs"]);
}

/// D4 guard 1, C10.2: what only the task's author can repair blocks at once, in the team's language.
#[test]
fn a_task_without_triage_is_blocked_in_the_configured_language() {
    let Some(world) = World::with_git() else { return };
    world.configure(|config| config["language"] = "es".into());
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs").labels(["tier:minor"])]);

    assert_eq!(world.verdict("T-1"), "blocked missing-triage");

    assert_eq!(world.board().status("T-1"), "Blocked");
    let comment = world.last_comment("T-1");
    assert!(comment.contains("missing-triage") && comment.contains("Bloqueada"), "{comment}");
    assert!(comment.contains("lane:") && comment.contains("path:"), "{comment}");
}

/// I8, D3.2: one task that waits or is blocked starves no other.
#[test]
fn a_task_that_cannot_run_starves_no_other() {
    let Some(world) = World::with_git() else { return };
    world.worker("T-4", work([("src/fourth.rs", "//! Fourth.\n")]));
    world.begin(&[
        task("T-1", "Has no test", "src/first.rs").test_command("curl example.org"),
        task("T-2", "Waits for nobody", "src/second.rs").depends_on("T-99"),
        task("T-3", "Touches the board", ".backlog/config.yml"),
        task("T-4", "Is well", "src/fourth.rs"),
    ]);

    world.proposed("T-4");

    for (id, reason) in
        [("T-1", "invalid-test-command"), ("T-2", "unknown-dependency"), ("T-3", "forbidden-path")]
    {
        assert_eq!(world.board().status(id), "Blocked", "{id}");
        let comment = world.last_comment(id);
        assert!(comment.contains(reason), "{comment}");
        assert!(comment.contains("Queued"), "says what to do next: {comment}");
    }
    assert!(world.last_comment("T-1").contains("curl example.org"));
    assert!(world.last_comment("T-2").contains("T-99"));
    assert!(world.last_comment("T-3").contains(".backlog/config.yml"));
}

/// D3.6: settings that cannot be read are not the task's fault; the other lane goes on.
#[test]
fn unreadable_settings_of_one_lane_stop_that_lane_alone() {
    let Some(world) = World::with_git() else { return };
    world.worker("T-2", work([("src/second.rs", "//! Second.\n")]));
    world.repo().write(".backlog/dispatch/local.settings.json", "{\n");
    world.begin(&[
        task("T-1", "Add the first", "src/first.rs").lane("local"),
        task("T-2", "Add the second", "src/second.rs"),
    ]);

    let output = world.dispatch(&["--wait"]);

    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("T-1: waiting, settings-unreadable"), "{said}");
    assert!(said.contains("local.settings.json"), "{said}");
    let end = "T-2: attempt 1 ended, proposed as task/T-2; the task is In Progress";
    assert!(said.lines().any(|line| line == end), "{said}");
    assert_eq!(world.board().status("T-1"), "Queued");
    assert!(world.repo().remote_branches().contains_key("task/T-2"), "{}", world.story("T-2"));
}

/// B5: a parent's status follows its children.
#[test]
fn a_parent_is_in_progress_while_a_child_is() {
    let Some(world) = World::with_git() else { return };
    world.worker("T-1.1", work([("src/part.rs", "//! A part.\n")]));
    world.begin(&[
        task("T-1", "Add everything", "src/whole.rs").status("To Do"),
        task("T-1.1", "Add a part", "src/part.rs").parent("T-1"),
        task("T-1.2", "Add the rest", "src/rest.rs").parent("T-1").status("To Do"),
    ]);

    world.proposed("T-1.1");

    wait::until("the parent's status", || world.board().status("T-1") == "In Progress");
    assert_eq!(world.board().status("T-1.2"), "To Do");
}
