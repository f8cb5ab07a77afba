//! P5: a worker that loads the person's settings, on the real agent.

use std::fs;

use dispatch_testkit::model_server::Turn;
use serde_json::{Value, json};

use crate::world::{World, make_and_tick, task};

/// The person's own settings file of the agent.
fn person_has(world: &World, settings: &Value) {
    let folder = world.repo().home().join(".claude");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
}

fn loading(world: &World, sources: &[&str]) {
    world.configure(|config| config["lanes"]["frontier"]["settingSources"] = json!(sources));
}

/// N13, P5.1, P5.4, P5.8, D7.6: the person's denials hold, their grants do not reach the worker, the lane's own stay.
#[test]
fn the_person_s_settings_bound_a_worker_and_widen_nothing() {
    let Some(world) = World::with_git() else { return };
    loading(&world, &["user"]);
    person_has(
        &world,
        &json!({"permissions": {"allow": ["Bash(python3:*)"], "deny": ["Read(./secret.txt)"]}}),
    );
    fs::write(world.repo().code().join("secret.txt"), "hush\n").unwrap();
    world.worker(
        "T-1",
        [
            Turn::bash("python3 -c 'open(\"made\", \"w\")'"),
            Turn::bash("cat secret.txt"),
            Turn::bash("cat README.md"),
            make_and_tick([("src/parser.rs", "//! A parser.\n")]),
            Turn::text("Done."),
        ],
    );
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs")]);

    let explained = world.ok(&["explain", "T-1"]);
    assert!(
        explained.contains("Bash(python3:*)") && explained.contains("would grant it"),
        "{explained}"
    );
    world.proposed("T-1");

    let asked = world.asked("T-1");
    let results: Vec<(String, bool)> =
        asked.iter().flat_map(dispatch_testkit::model_server::ModelRequest::tool_results).collect();
    let refused: Vec<bool> = results.iter().map(|(_, is_error)| *is_error).collect();
    assert_eq!(refused[..3], [true, true, false], "{results:#?}");
    assert_eq!(world.repo().remote_changes("main", "task/T-1"), ["src/parser.rs"]);
    let launch: Value = serde_json::from_str(&world.attempt_file("T-1", 1, "launch.json")).unwrap();
    let argv: Vec<&str> =
        launch["argv"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let sources = argv.iter().position(|word| *word == "--setting-sources").unwrap();
    assert_eq!(argv[sources + 1], "user");
    assert!(argv.contains(&"Bash(python3:*)"), "denied: {argv:?}");
}

/// P5.4, P5.6, D4 1b: what can be neither kept nor denied, or not be read at all, starts nothing and blocks nothing.
#[test]
fn settings_of_the_person_that_cannot_be_loaded_make_the_task_wait() {
    let Some(world) = World::with_git() else { return };
    loading(&world, &["user"]);
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs")]);
    person_has(&world, &json!({"permissions": {"allow": "Bash"}}));
    let check = world.dispatch(&["config", "check"]);
    assert!(
        !check.status.success()
            && String::from_utf8_lossy(&check.stdout).contains("`permissions.allow`"),
        "{check:?}"
    );
    let pass = world.dispatch(&["--wait"]);
    let told = String::from_utf8_lossy(&pass.stdout).into_owned();
    assert_eq!(pass.status.code(), Some(1), "{told}");
    assert!(told.contains("settings-unreadable") && told.contains("settings.json"), "{told}");

    person_has(&world, &json!({"permissions": {"allow": ["Bash"]}}));
    assert_eq!(world.verdict("T-1"), "waiting permission-conflict");
    assert_eq!(world.board().status("T-1"), "Queued");
    assert!(world.model().requests().is_empty());
}
