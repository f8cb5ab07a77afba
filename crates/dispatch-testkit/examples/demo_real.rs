//! The first run once more, with the real board program, the real agent and the real forge client: only the model behind
//! the agent and the forge behind the client are scripted, on loopback and a socket file.
//!
//! `cargo xtask demo --real` builds everything and starts it; its argument is the `dispatch` program.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a demonstration prints, and fails by panicking"
)]

use std::process::ExitCode;

use dispatch_testkit::board::TaskText;
use dispatch_testkit::forge_server::Merge;
use dispatch_testkit::model_server::{Lane, Turn};
use dispatch_testkit::scene::{Forge, Scene};
use dispatch_testkit::wait;
use serde_json::{Value, json};

/// A task, what the scripted model does with it, and how it must end.
struct Case {
    id: &'static str,
    title: &'static str,
    file: &'static str,
    after: Option<&'static str>,
    turns: Vec<Turn>,
    ends: Ending,
}

enum Ending {
    Merged,
    Proposed,
    Blocked(&'static str),
}

fn cases() -> Vec<Case> {
    let tick = || Turn::worker_edit("--check-ac 1 --final-summary 'It is written.'");
    let done = || Turn::text("Done.");
    vec![
        Case {
            id: "T-1",
            title: "Add a parser",
            file: "src/parser.rs",
            after: None,
            turns: vec![Turn::new_file("src/parser.rs", "//! A parser.\n"), tick(), done()],
            ends: Ending::Merged,
        },
        Case {
            id: "T-2",
            title: "Stay in scope",
            file: "src/scope.rs",
            after: None,
            turns: vec![Turn::new_file(".github/workflows/ci.yml", "on: push\n"), tick(), done()],
            ends: Ending::Blocked("scope-check-failed"),
        },
        Case {
            id: "T-3",
            title: "Pass the tests",
            file: "src/empty.rs",
            after: None,
            turns: vec![
                Turn::bash("sh check.sh"),
                Turn::new_file("src/empty.rs", "x"),
                Turn::made(|request| {
                    let file = format!("{}/src/empty.rs", request.cwd().unwrap_or_default());
                    Turn::tool(
                        "Edit",
                        json!({"file_path": file, "old_string": "x", "new_string": ""}),
                    )
                }),
                tick(),
                done(),
            ],
            ends: Ending::Blocked("checks-failed"),
        },
        Case {
            id: "T-4",
            title: "Build on the parser",
            file: "src/printer.rs",
            after: Some("T-1"),
            turns: vec![Turn::new_file("src/printer.rs", "//! A printer.\n"), tick(), done()],
            ends: Ending::Proposed,
        },
        Case {
            id: "T-5",
            title: "Ask when it is unclear",
            file: "src/unclear.rs",
            after: None,
            turns: vec![Turn::text("NEEDS-GUIDANCE Which format is meant?")],
            ends: Ending::Blocked("needs-guidance"),
        },
    ]
}

fn main() -> ExitCode {
    let dispatch = std::env::args().nth(1).expect("the path of the `dispatch` program");
    let Some(scene) = Scene::new(Forge::GitHub) else { return ExitCode::FAILURE };
    let cases = cases();
    for case in &cases {
        scene.model().add(Lane::worker(case.id).when_said(case.id).turns(case.turns.clone()));
        let mut task =
            TaskText::ready(case.id, case.title).files([case.file]).test_command("sh check.sh");
        if let Some(other) = case.after {
            task = task.depends_on(other);
        }
        scene.board().add(&task);
    }
    scene.publish();
    let pass = |what: &str| {
        println!("{what}");
        // Every call is a wish for a pass, and the one that runs goes round again for each: ask only when it is quiet.
        let mut quiet = 0;
        while quiet < 2 {
            wait::until("no slot is bound", || {
                nothing_is_bound(&scene.run(&dispatch, &["status", "--json"]).stdout)
            });
            let output = scene.run(&dispatch, &["pass", "--wait", "--json"]);
            if !output.status.success() {
                println!("{}", String::from_utf8_lossy(&output.stderr));
            }
            quiet = if is_quiet(&output.stdout) { quiet + 1 } else { 0 };
        }
    };
    scene.run(&dispatch, &["trust"]);
    pass("Two tasks at a time; T-4 waits for T-1.");
    if let Some(pull) = scene.forge().pull_requests().iter().find(|pull| pull.head.contains("T-1"))
    {
        println!("A person merges pull request {}: {}", pull.number, pull.title);
        scene.forge().merge(pull.number, Merge::Squash);
    }
    pass("T-1 is merged, so T-4 may start.");
    report(&scene, &cases)
}

/// Whether a pass dispatched nothing and met no other one.
fn is_quiet(report: &[u8]) -> bool {
    let report: Value = serde_json::from_slice(report).unwrap();
    let rounds = report["rounds"].as_array().into_iter().flatten();
    let considered = rounds.filter_map(|round| round["considered"].as_array()).flatten();
    report["another"].is_null()
        && considered.into_iter().all(|task| task["verdict"] != "dispatched")
}

fn nothing_is_bound(status: &[u8]) -> bool {
    let status: Value = serde_json::from_slice(status).unwrap();
    let slots = status["slots"].as_array().into_iter().flatten();
    slots.into_iter().all(|slot| slot["task"].is_null())
}

fn report(scene: &Scene, cases: &[Case]) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    let pulls = scene.forge().pull_requests();
    for case in cases {
        let status = scene.board().status(case.id);
        let proposed = pulls.iter().any(|pull| pull.title.contains(&format!("[{}]", case.id)));
        let last =
            scene.board().comments(case.id).pop().map(|comment| comment.body).unwrap_or_default();
        let as_expected = match case.ends {
            Ending::Merged => status == "Done" && proposed,
            Ending::Proposed => status == "In Progress" && proposed,
            Ending::Blocked(reason) => status == "Blocked" && !proposed && last.contains(reason),
        };
        let mark = if as_expected { "ok" } else { "NOT AS EXPECTED" };
        println!("{}  {status:<12} {:<24} {mark}", case.id, case.title);
        println!("      {}", last.lines().next().unwrap_or_default());
        if !as_expected {
            code = ExitCode::FAILURE;
        }
    }
    code
}
