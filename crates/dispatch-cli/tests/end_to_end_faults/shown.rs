//! What a person reads: standstills first, refusals with one exit status, and nothing that a terminal would obey.

use dispatch_testkit::programs;
use dispatch_testkit::scene::Forge;
use serde_json::Value;
use test_case::test_case;

use crate::world::{World, task};

/// K3: whatever a task is called, no command hands a terminal anything to obey.
#[test]
fn a_hostile_title_reaches_no_terminal() {
    let Some(world) = World::new(Forge::Git) else { return };
    for (id, status) in [("T-1", "Queued"), ("T-2", "Blocked"), ("T-3", "Queued")] {
        let file = format!("src/{}.rs", id.to_lowercase());
        world.board().add(&task(id, &file).status(status));
        let text = world.board().text(id);
        let title = format!("Write {file}");
        let hostile = "\"Evil \\e[2J\\e]0;x\\a \\u009b2J \\u202e desrever \\u2066\"";
        assert!(text.contains(&title), "{text}");
        std::fs::write(world.board().file(id), text.replace(&title, hostile)).unwrap();
    }
    world.board().add(&task("T-4", "src/\u{9b}31m\u{202e}x.rs"));
    world.begin();

    let commands: &[&[&str]] = &[
        &["status"],
        &["status", "--json"],
        &["explain", "T-1"],
        &["explain", "T-2"],
        &["explain", "T-4"],
        &["explain", "T-1", "--json"],
        &["--dry-run"],
        &["--dry-run", "--json"],
        &["config", "check"],
        &["--wait", "--max-dispatch", "2"],
        &["logs", "T-1"],
        &["explain", "T-1"],
        &["retry", "T-2"],
        &["cancel", "T-2"],
        &["status"],
    ];
    let mut all = String::new();
    for command in commands {
        let output = world.dispatch(command);
        let bytes = [output.stdout, output.stderr].concat();
        let said = String::from_utf8(bytes).unwrap();
        let obeyed = |c: char| {
            (c.is_control() && c != '\n' && c != '\t')
                || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        assert!(!said.contains(obeyed), "{command:?}: {said:?}");
        all.push_str(&said);
    }
    assert!(all.contains("Evil") && all.contains("\\u{202e}"), "the titles are shown: {all}");
    world.settle();
}

/// README §3: what keeps every pass from working is the first line, with what to do about it.
#[test]
fn status_and_explain_begin_with_what_keeps_a_pass_from_running() {
    let Some(world) = World::with_a_task(Forge::Git) else { return };
    world.publish();
    let begins = |with: &[&str]| {
        for command in [&["status"][..], &["explain", "1"]] {
            let said = world.ok(command);
            let first = said.lines().next().unwrap_or_default().to_owned();
            assert!(first.starts_with("No pass takes a task here: "), "{said}");
            for part in with {
                assert!(first.contains(part), "`{part}` in {first}");
            }
        }
    };
    begins(&["not the approved one", "`dispatch trust`"]);
    world.ok(&["trust"]);
    assert!(world.ok(&["status"]).starts_with("Slots\n"));
    let unasked = world.ok(&["explain", "T-1"]);
    assert!(unasked.starts_with("T-1 is Queued: the next pass asks the remote"), "{unasked}");
    world.ok(&["--no-select"]);
    assert!(world.ok(&["explain", "T-1"]).starts_with("T-1 is Queued: the next pass starts it\n"));

    world.repo().git(&["switch", "--quiet", "--create", "feature"]);
    world.configure(|config| config["baseBranch"] = "main".into());
    world.ok(&["trust"]);
    begins(&["on feature, not on main", "check out main in `/"]);
    let pass = world.ok(&["pass"]);
    assert!(pass.contains("check out main in `/"), "{pass}");
    world.repo().git(&["switch", "--quiet", "main"]);

    world.repo().git(&["remote", "remove", "origin"]);
    begins(&["no remote `origin`", "git remote add origin"]);

    let board_config = world.board().folder().join("config.yml");
    let text = std::fs::read_to_string(&board_config).unwrap();
    std::fs::write(&board_config, text.replace("Blocked", "Parked")).unwrap();
    let (said, error) = world.ended(&["status"], 1);
    let first = said.lines().next().unwrap_or_default();
    assert!(first.contains("has no status `Blocked`") && first.contains("config.yml"), "{said}");
    assert!(error.contains("has no status `Blocked`"), "{error}");
}

/// K1: one exit status for a mistake of one kind, whatever the command.
#[test_case(&["explain", "T-99"], "no task T-99"; "explain what is not there")]
#[test_case(&["explain", "99"], "no task T-99"; "explain a number that is not there")]
#[test_case(&["cancel", "T-99"], "no task T-99"; "cancel what is not there")]
#[test_case(&["retry", "T-99"], "no task T-99"; "retry what is not there")]
#[test_case(&["logs", "T-99"], "no task T-99"; "logs of what is not there")]
#[test_case(&["logs", "T-1"], "never dispatched"; "logs of what never ran")]
#[test_case(&["cancel", "T-1", "--to", "Nirvana"], "no status `Nirvana`"; "a status that is not there")]
#[test_case(&["release-slot", "slot-9"], "slot-9"; "a slot that is not there")]
#[test_case(&["pause", "--lane", "x"], "not a lane"; "a lane that is not there")]
#[test_case(&["--json", "status"], "dispatch status --json"; "an option in the wrong place")]
fn k1_what_is_not_there_is_refused_with_status_2(command: &[&str], says: &str) {
    let Some(world) = World::with_a_task(Forge::Git) else { return };
    world.begin();
    let (said, error) = world.ended(command, 2);
    assert!(error.contains(says), "{error}");
    assert_eq!(said, "", "results alone are on standard output");
}

/// K1: who asked for JSON is told of an error in JSON too.
#[test]
fn k1_an_error_is_json_where_json_was_asked_for() {
    let Some(world) = World::with_a_task(Forge::Git) else { return };
    world.begin();
    let of = |command: &[&str], code: i32| {
        let (said, error) = world.ended(command, code);
        let object: Value = serde_json::from_str(&said).unwrap();
        assert_eq!(object["error"]["exitStatus"], code);
        let message = object["error"]["message"].as_str().unwrap().to_owned();
        assert!(error.contains(&message), "{error}");
        message
    };
    assert!(of(&["explain", "T-99", "--json"], 2).contains("no task T-99"));
    let mut command = world.dispatch_command(&["inspect", "lint"]);
    command.stdin(std::process::Stdio::null());
    let inspected = programs::output(&mut command);
    let object: Value = serde_json::from_slice(&inspected.stdout).unwrap();
    assert_eq!(object["error"]["exitStatus"], 2);
    std::fs::write(world.config_file(), "{ not json").unwrap();
    for command in [&["--json"][..], &["explain", "T-1", "--json"]] {
        let message = of(command, 1);
        assert!(message.contains("lanes.json:1:3: not valid JSON: "), "{message}");
        assert!(!message.contains("line 1"), "the place is said once: {message}");
    }
}
