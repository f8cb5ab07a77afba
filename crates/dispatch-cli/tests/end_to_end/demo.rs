//! The first thing that somebody tries.

use dispatch_testkit::programs;
use dispatch_testkit::scratch::Scratch;
use serde_json::Value;

/// K5: the demo needs this program and git, no account and no settings, and every task in it ends as it says.
#[test]
fn the_demo_plays_with_nothing_but_git() {
    let scratch = Scratch::new();
    let mut demo = programs::command(env!("CARGO_BIN_EXE_dispatch"), &scratch.home());
    demo.args(["demo", "--json"]).env("TMPDIR", scratch.root());

    let report: Value = serde_json::from_str(&programs::read(&mut demo)).unwrap();

    assert_eq!(report["ok"], true, "{report:#}");
    assert_eq!(report["tasks"].as_array().unwrap().len(), 5);
}

/// K5, K3: a demo that does not end as it should says why in the task's own words, not in those of a later step.
#[test]
fn a_demo_that_fails_says_why() {
    let scratch = Scratch::new();
    let only_git = scratch.root().join("only-git");
    std::fs::create_dir(&only_git).unwrap();
    let git = programs::on_path("git").unwrap();
    std::os::unix::fs::symlink(git, only_git.join("git")).unwrap();
    let mut demo = programs::command(env!("CARGO_BIN_EXE_dispatch"), &scratch.home());
    demo.args(["demo"]).env("TMPDIR", scratch.root()).env("PATH", &only_git);

    let ended = demo.output().unwrap();

    let said = String::from_utf8(ended.stdout).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    for part in ["T-1 was not proposed", "NOT AS EXPECTED", "`sh` is not on PATH"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}
