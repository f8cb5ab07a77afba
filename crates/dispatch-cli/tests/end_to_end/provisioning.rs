//! The dependencies of a slot and of its verification tree (D6.7).

use std::fs;

use dispatch_testkit::json;
use dispatch_testkit::model_server::Turn;
use dispatch_testkit::wait;
use serde_json::Value;

use crate::world::{World, make, make_and_tick, task, work};

/// A world whose provisioning leaves a line per call in the scratch folder: what was called, and where.
fn provisioned(provision: &Value) -> Option<World> {
    let world = World::with_git()?;
    let log = world.repo().root().join("provision.log");
    for name in ["link", "install", "install-locked"] {
        world.repo().write_program(
            &format!("tools/{name}.sh"),
            &format!("#!/bin/sh\necho \"{name} $(basename \"$PWD\")\" >> '{log}'\n"),
        );
    }
    world.repo().write("widgets.lock", "one\n");
    world.configure(|config| config["provision"] = provision.clone());
    Some(world)
}

fn calls(world: &World) -> Vec<String> {
    let log = fs::read_to_string(world.repo().root().join("provision.log")).unwrap_or_default();
    log.lines().map(str::to_owned).collect()
}

/// D6.7, C5.2: both trees are provisioned; the slot again only when the lockfile is another one.
#[test]
fn slot_and_verification_tree_are_provisioned_and_an_unchanged_lockfile_is_skipped() {
    let Some(world) = provisioned(&json!({
        "link": ["tools/link.sh"], "install": ["tools/install.sh"], "lockfile": "widgets.lock",
    })) else {
        return;
    };
    world.worker("T-1", [make([("src/parser.rs", "//! A parser.\n")]), Turn::text("Done.")]);
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs")]);

    world.blocked("T-1", "acceptance-unmet");

    let both = ["link slot-1", "install slot-1", "link slot-1.verify", "install slot-1.verify"];
    assert_eq!(calls(&world), both);
    world.worker("T-1", [make_and_tick([]), Turn::text("Done.")]);
    world.answer("T-1", "Tick it.");
    world.proposed("T-1");
    assert_eq!(calls(&world)[4..], ["link slot-1.verify", "install slot-1.verify"]);
}

/// D6.7: what the task itself did to the dependencies is installed without their scripts only.
#[test]
fn a_lockfile_that_the_task_changed_is_installed_without_scripts() {
    let Some(world) = provisioned(&json!({
        "install": ["tools/install.sh"], "installLocked": ["tools/install-locked.sh"], "lockfile": "more.lock",
    })) else {
        return;
    };
    world.worker("T-1", work([("src/parser.rs", "//! A parser.\n"), ("more.lock", "two\n")]));
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs")]);

    world.proposed("T-1");

    assert_eq!(calls(&world), ["install slot-1", "install-locked slot-1.verify"]);
}

/// D6.7: without a form that runs no scripts a person decides.
#[test]
fn a_lockfile_that_the_task_changed_blocks_when_there_is_no_install_without_scripts() {
    let Some(world) = provisioned(&json!({
        "install": ["tools/install.sh"], "lockfile": "more.lock",
    })) else {
        return;
    };
    world.worker("T-1", work([("src/parser.rs", "//! A parser.\n"), ("more.lock", "two\n")]));
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs")]);

    let comment = world.blocked("T-1", "provision-changed");

    assert!(comment.contains("more.lock"), "{comment}");
    assert_eq!(world.backed_up("T-1", 1), world.kept("T-1", 1));
    assert_eq!(calls(&world), ["install slot-1"]);
}

/// N70, D6.7, D11: an installation that fails is the machine's fault; three in a row pause the lane.
#[test]
fn three_installations_that_fail_pause_the_lane_and_count_no_attempt() {
    let Some(world) = provisioned(&json!({ "install": ["tools/broken.sh"] })) else { return };
    world.repo().write_program("tools/broken.sh", "#!/bin/sh\necho 'no network' >&2\nexit 4\n");
    world.worker("T-1", work([("src/parser.rs", "//! A parser.\n")]));
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs")]);

    world.pass();

    let state = world.repo().code().join(".git/dispatch/lanes-state.json");
    wait::until("the pause", || {
        world.dispatch(&["--wait"]);
        fs::read_to_string(&state).is_ok_and(|text| text.contains("\"cause\""))
    });
    let state = fs::read_to_string(&state).unwrap();
    assert!(state.contains("provision-failed"), "{state}");
    assert_eq!(world.verdict("T-1"), "waiting lane-paused");
    for number in 1..=3 {
        let outcome = world.outcome("T-1", number);
        assert_eq!(outcome["counted"], false, "{outcome:#}");
        assert!(world.attempt_file("T-1", number, "prepare.log").contains("no network"));
    }
    assert!(!world.board().folder().join(".dispatch/T-1/attempt-4").exists());
    assert!(world.asked("T-1").is_empty());
}

/// D6.7: a link to a file outside would let a worker change that file.
#[test]
fn a_hard_link_to_the_outside_refuses_the_launch() {
    let Some(world) = provisioned(&json!({ "install": ["tools/linking.sh"] })) else { return };
    world.repo().write_program(
        "tools/linking.sh",
        "#!/bin/sh\necho cached > ../store\nln ../store linked.txt\n",
    );
    world.worker("T-1", work([("src/parser.rs", "//! A parser.\n")]));
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs")]);

    world.pass();

    wait::until("an outcome", || {
        world.board().folder().join(".dispatch/T-1/attempt-1/outcome.json").exists()
    });
    let outcome = world.outcome("T-1", 1);
    assert_eq!(outcome["reason"], "hard-link-outside", "{outcome:#}");
    assert_eq!(outcome["counted"], false);
    assert!(world.asked("T-1").is_empty());
}
