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

/// README §3: what is approved is shown in short: programs, grants, confinement, and what is missing.
#[test]
fn trust_shows_what_new_files_let_run() {
    let Some(world) = World::with_a_task(Forge::Git) else { return };
    world.configure(|config| {
        config["promptHooks"] =
            serde_json::json!([{ "kind": "prompt", "command": ["hooks/context.sh"] }]);
        config["provision"] = serde_json::json!({ "install": ["npm", "ci"], "lockfile": "p.json" });
    });
    std::fs::remove_file(world.board().folder().join("dispatch/local.settings.json")).unwrap();
    let expected = [
        "agent: `claude`, with the login in `ANTHROPIC_API_KEY`",
        "prompt hook: `hooks/context.sh`",
        "provisioning of a slot: `npm ci`",
        "test command beside the built-in ones: `sh check.sh`",
        "A worker of the frontier lane, at most 2 at once:",
        "may: Read(./**), Edit(./**)",
        "is not confined by the kernel",
        "missing: could not read the settings of lane local",
        "missing: the prompt hook `hooks/context.sh`",
    ];
    for command in [&["trust", "--show"][..], &["trust"]] {
        let said = world.ok(command);
        for line in expected {
            assert!(said.contains(line), "`{line}` is not in\n{said}");
        }
        assert_eq!(said.contains("approved: "), command.len() == 1, "{said}");
    }
    let again = world.ok(&["trust"]);
    assert!(again.starts_with("the configuration is the approved one"), "{again}");
    assert!(!again.contains("prompt hook"), "nothing is new: {again}");
}

/// K1, K2: what a pass needs is told by `config check` all at once, each with what to do, and it asks no network.
#[test]
fn config_check_tells_what_keeps_a_pass_from_working_here() {
    let Some(world) = World::with_a_task(Forge::Git) else { return };
    let check = |code: i32| world.ended(&["config", "check"], code).0;
    world.publish();
    assert!(check(0).contains("can be used once it is approved: look at `dispatch trust --show`"));
    world.ok(&["trust"]);
    assert!(check(0).contains("can be used, and is the approved one"));

    world.write_settings("frontier", &serde_json::json!({ "permissions": { "denny": [] } }));
    world.configure(|config| {
        config["agent"] = serde_json::json!({ "credential": { "env": "NO_SUCH_TOKEN" } });
    });
    world.ok(&["trust"]);
    let said = check(0);
    assert!(said.contains("permissions.denny: unknown name; did you mean `deny`?"), "{said}");
    assert!(said.contains("`NO_SUCH_TOKEN` (`agent.credential.env`) is not set: export"), "{said}");
    assert!(said.contains("as things are no worker is started from here"), "{said}");

    // The first pass is the one that remembers where the board is.
    world.ended(&["pass"], 1);
    world.repo().git(&["switch", "--quiet", "--create", "elsewhere"]);
    let said = check(0);
    assert!(
        said.contains("warning: no pass takes a task here: ") && said.contains("elsewhere"),
        "{said}"
    );
    world.repo().git(&["switch", "--quiet", "main"]);

    // One run tells all, and approving tells what would keep every worker from its start.
    world.write_settings(
        "frontier",
        &serde_json::json!({ "permissions": { "allow": ["Bash(ls"], "deny": [] } }),
    );
    assert!(world.ok(&["trust", "--show"]).contains("is never started while this stands: "));
    world.write_settings("frontier", &serde_json::json!({ "permissions": { "deny": [] } }));

    world.configure(|config| config["confinement"] = serde_json::json!({ "mode": "required" }));
    world.repo().git(&["remote", "set-url", "origin", "https://203.0.113.1/none.git"]);
    let said = check(1);
    assert!(said.contains("error: lane frontier demands kernel confinement"), "{said}");
    world.repo().git(&["remote", "remove", "origin"]);
    let said = check(1);
    for part in ["demands kernel confinement", "no remote `origin`", "git remote add origin"] {
        assert!(said.contains(part), "{said}");
    }
    assert!(!said.contains("can be used"), "{said}");
}

/// K6: a test command is judged as a pass would in this repository.
#[test]
fn k6_inspect_judges_a_test_command_by_the_configuration_found_here() {
    let Some(world) = World::with_a_task(Forge::Git) else { return };
    let judged = |name: &str| -> Value {
        let mut command = world.dispatch_command(&["inspect", "test-command"]);
        let input = world.path("input.json");
        std::fs::write(&input, format!("{{\"text\": \"sh {name}\"}}")).unwrap();
        command.stdin(std::fs::File::open(&input).unwrap());
        serde_json::from_str(&programs::read(&mut command)).unwrap()
    };
    assert_eq!(judged("check.sh")["argv"], serde_json::json!(["sh", "check.sh"]));
    assert_eq!(judged("other.sh")["refused"], "unexpected-word");
    std::fs::remove_file(world.config_file()).unwrap();
    assert_eq!(judged("check.sh")["refused"], "unknown-program");
}

/// K2: an unknown name hides neither a pattern that cannot be used nor a place that no slot may have.
#[test]
fn k2_config_check_tells_every_fault_of_a_configuration_in_one_run() {
    let Some(world) = World::with_a_task(Forge::Git) else { return };
    world.configure(|config| {
        config["atempts"] = 3.into();
        config["slotsRoot"] = ".".into();
        config["testCommands"] = serde_json::json!([["rm;", "-rf"]]);
        config["checks"] = serde_json::json!({ "ownedDod": { "tests": "(" } });
    });
    let said = world.ended(&["config", "check"], 1).1;
    for part in [
        "atempts: unknown name",
        "`slotsRoot` cannot be used",
        "`testCommands` cannot be used",
        "`checks` cannot be used",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

/// K6: what a lane would grant a task is shown without touching the task's labels.
#[test]
fn k6_inspect_surface_shows_a_task_on_the_lane_that_is_asked_for() {
    let Some(world) = World::with_a_task(Forge::Git) else { return };
    world.begin();
    let surface = |lane: &[&str]| -> Value {
        let args = [&["inspect", "surface", "--task", "1"], lane].concat();
        serde_json::from_str(&world.ok(&args)).unwrap()
    };
    let (own, local) = (surface(&[]), surface(&["--lane", "local"]));
    assert_eq!(own, surface(&["--lane", "frontier"]), "the task's labels say `frontier`");
    let granted = |surface: &Value| surface["granted"].to_string();
    assert!(granted(&local).contains("worker-edit T-1"), "{local}");
    assert_ne!(own["free"], local["free"], "the local lane has the bare tools");
}
