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
