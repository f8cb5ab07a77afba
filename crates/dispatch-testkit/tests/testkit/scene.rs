//! A whole world, looked at with the programs on its own `PATH`.

use dispatch_testkit::board::TaskText;
use dispatch_testkit::model_server::{Lane, Turn};
use dispatch_testkit::programs;
use dispatch_testkit::scene::{Forge, SLUG, Scene};

#[test]
fn the_programs_on_the_path_are_the_pinned_ones_and_reach_the_scene() {
    let Some(scene) = Scene::new(Forge::GitHub) else { return };
    scene.model().add(Lane::new("any").turn(Turn::text("I am scripted.")));
    scene.board().add(&TaskText::ready("T-1", "Add a parser").test_command("sh check.sh"));
    let sh = |script: &str| {
        programs::read(&mut scene.command("/bin/sh", &["-c", script])).trim().to_owned()
    };

    assert_eq!(sh("backlog --version"), "1.52.0");
    assert!(sh("backlog task list --plain").contains("T-1 - Add a parser"));
    assert_eq!(sh(&format!("gh api repos/{SLUG} --jq .full_name")), SLUG);
    assert!(
        sh("claude -p hello --bare --setting-sources '' </dev/null").contains("I am scripted.")
    );
    assert_eq!(sh("git ls-remote --symref origin HEAD | head -1"), "ref: refs/heads/main\tHEAD");
    assert_eq!(sh("sh check.sh"), "every file says something");
}

#[test]
fn what_is_published_is_on_the_remote_and_a_pull_brings_what_others_merged() {
    let Some(scene) = Scene::new(Forge::Git) else { return };
    scene.configure(|config| config["attempts"] = 1.into());

    let commit = scene.publish();
    scene.repo().someone_pushes("main", "src/other.rs", "//! Other.\n");
    scene.pull();

    let config = scene.repo().remote_file("main", ".backlog/dispatch/lanes.json").unwrap();
    assert!(config.contains("\"attempts\": 1"));
    assert!(scene.repo().code().join("src/other.rs").is_file());
    assert_ne!(scene.repo().git(&["rev-parse", "HEAD"]), commit);
}
