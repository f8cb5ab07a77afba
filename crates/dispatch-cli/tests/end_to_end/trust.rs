//! Whose configuration is used, and which board (S3).

use crate::world::{World, task, work};

/// S3: a changed configuration waits until a person has seen it.
#[test]
fn a_changed_configuration_waits_for_trust() {
    let Some(world) = World::with_git() else { return };
    world.worker("T-1", work([("src/parser.rs", "//! A parser.\n")]));
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs")]);
    world.configure(|config| config["attempts"] = 7.into());

    let pass = world.dispatch(&["--wait", "--json"]);

    assert_eq!(pass.status.code(), Some(1), "a timer's mail tells that nothing is done here");
    let report: serde_json::Value = serde_json::from_slice(&pass.stdout).unwrap();
    assert_eq!(report["rounds"][0]["selection"]["reason"], "config-changed", "{report:#}");
    let grounds = report["rounds"][0]["selection"]["grounds"].as_str().unwrap();
    assert!(grounds.contains("\"attempts\": 7"), "{grounds}");
    assert_eq!(world.board().status("T-1"), "Queued");
    assert!(world.asked("T-1").is_empty());
    // B6: nor does the pass make it part of the history.
    let left = world.repo().git(&["status", "--porcelain", "--", ".backlog/dispatch"]);
    assert!(left.contains(".backlog/dispatch/lanes.json"), "{left}");
    assert!(world.ok(&["trust", "--show"]).contains("\"attempts\": 7"));

    world.ok(&["trust"]);
    world.publish();
    world.proposed("T-1");
}

/// S3: the files of another branch are not the board.
#[test]
fn a_checkout_on_another_branch_is_not_the_board() {
    let Some(world) = World::with_git() else { return };
    world.worker("T-1", work([("src/parser.rs", "//! A parser.\n")]));
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs").status("To Do")]);
    world.pass();
    world.repo().git(&["switch", "--quiet", "--create", "elsewhere"]);
    world.board().set_status("T-1", "Queued");

    let report = world.pass();

    assert_eq!(report["rounds"][0]["selection"]["reason"], "board-elsewhere", "{report:#}");
    assert!(world.asked("T-1").is_empty());

    world.repo().git(&["switch", "--quiet", "main"]);
    world.proposed("T-1");
}
