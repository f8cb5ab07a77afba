//! A remote and a forge that refuse, move or lose their answer.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::Duration;

use dispatch_testkit::forge_server::{Fault, Injection};
use dispatch_testkit::model_server::{Gate, Turn};
use dispatch_testkit::scene::Forge;
use dispatch_testkit::wait;

use crate::world::{World, task, writes_and_ends};

/// A remote that refuses branches of tasks while the file `refuse` is there, and says so in the file `refused`.
fn refuse_pushes(world: &World) {
    let (refuse, refused) = (world.path("refuse"), world.path("refused"));
    fs::write(&refuse, "").unwrap();
    let script = format!(
        "while read -r old new name; do\n  case $name in refs/heads/task/*)\n    \
         if [ -e '{refuse}' ]; then echo 'no pushes during the release' >&2; echo once >> '{refused}'; exit 1; fi ;;\n  \
         esac\ndone\n"
    );
    pre_receive(world, &script);
}

/// Lets the remote run a shell script before it takes anything.
fn pre_receive(world: &World, script: &str) {
    let hook = world.repo().remote().join("hooks/pre-receive");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, format!("#!/bin/sh\n{script}")).unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
}

/// C1.5: a refused push is the remote's fault: it is tried again, the task is not blocked and nothing is counted.
#[test]
fn a_push_the_remote_refuses_is_tried_again_and_the_task_is_not_blocked() {
    let Some(world) = World::with_a_task(Forge::Git) else { return };
    world.begin();
    refuse_pushes(&world);
    world.ok(&["pass"]);
    wait::until("the push to be refused", || world.path("refused").exists());
    assert_eq!(world.board().status("T-1"), "In Progress");
    assert_eq!(world.record("T-1")["phase"], "closing:open-pr");

    fs::remove_file(world.path("refuse")).unwrap();
    world.settle();

    assert_eq!(world.model().requests_of("T-1").len(), 2, "no second attempt was needed");
    assert_eq!(world.outcome("T-1", 1)["outcome"], "success");
    let log = fs::read_to_string(world.attempt("T-1", 1).join("run.log")).unwrap();
    assert!(log.contains("no pushes during the release"), "{log}");
    world.assert_proposed("src/one.rs");
}

/// D9.4: a supervisor whose push takes long shows all the while that it lives.
#[test]
fn d9_4_the_beat_goes_on_during_one_long_push() {
    let Some(world) = World::with_a_task(Forge::Git) else { return };
    world.begin();
    let (goes, pushing) = (world.path("goes"), world.path("pushing"));
    pre_receive(
        &world,
        &format!(
            "while read -r old new name; do\n  case $name in refs/heads/task/*)\n    \
             echo once > '{pushing}'; while ! test -e '{goes}'; do sleep 0.1; done ;;\n  esac\ndone\n"
        ),
    );
    world.ok(&["pass"]);
    wait::until("the push to begin", || pushing.exists());
    let beat = || world.record("T-1")["beat"]["awakeMs"].as_u64();
    let before = beat();
    assert!(before.is_some());
    wait::until_some_within("another beat", Duration::from_mins(1), || {
        (beat() > before).then_some(())
    });
    assert_eq!(world.record("T-1")["phase"], "closing:open-pr");

    fs::write(&goes, "").unwrap();
    world.settle();
    world.assert_proposed("src/one.rs");
}

/// C9.1: a branch that moved meanwhile is never overwritten: the work is saved, the task queued again uncounted, and the
/// next attempt starts from what is there.
#[test]
fn a_branch_that_moved_meanwhile_is_not_overwritten() {
    let Some(world) = World::new(Forge::Git) else { return };
    let gate = Gate::new();
    world.add_task(
        "T-1",
        [
            Turn::new_file("src/one.rs", "//! First.\n"),
            Turn::text("Done.").behind(&gate),
            Turn::new_file("src/two.rs", "//! Second.\n"),
            Turn::text("Done."),
        ],
    );
    world.begin();
    world.ok(&["pass"]);
    gate.wait_for(1);
    let theirs = world.repo().someone_pushes("task/T-1", "src/theirs.rs", "//! Theirs.\n");
    gate.open();
    world.settle();

    let first = world.outcome("T-1", 1);
    assert_eq!(first["counted"], false, "{first:#}");
    assert!(world.comments("T-1").contains("remote-moved"), "{}", world.comments("T-1"));
    assert_eq!(world.saved("T-1", 1, "src/one.rs"), "//! First.");
    let tip = &world.repo().remote_branches()["task/T-1"];
    world.repo().git_in(&world.repo().remote(), &["merge-base", "--is-ancestor", &theirs, tip]);
    assert_eq!(
        world.repo().remote_changes("main", "task/T-1"),
        ["src/theirs.rs", "src/two.rs"],
        "what is on the remote is the start"
    );
    let prompt = world.model().requests_of("T-1")[2].prompt();
    assert!(prompt.contains("refs/dispatch/attempts/T-1/1"), "the kept work is named: {prompt}");
    world.assert_invariants();
}

/// V4.3: a pull request whose creation was carried out but not answered is found, not made twice.
#[test]
fn a_lost_answer_of_the_forge_makes_one_pull_request() {
    let Some(world) = World::with_a_task(Forge::GitHub) else { return };
    world.begin();
    let lost = Injection::on("POST /repos/acme/widgets/pulls").fault(Fault::LostAnswer).times(1);
    world.forge().inject(lost);

    world.pass();

    assert_eq!(world.forge().pull_requests().len(), 1);
    assert_eq!(world.outcome("T-1", 1)["outcome"], "success");
    world.assert_proposed("src/one.rs");
}

/// D3.5, M1.1: a forge that cannot be asked changes nothing: an open proposal stays as it is.
#[test]
fn a_forge_that_cannot_be_asked_changes_nothing() {
    let Some(world) = World::with_a_task(Forge::GitHub) else { return };
    world.begin();
    world.pass();
    world.forge().inject(Injection::on("").fault(Fault::ServerError(502)));
    let before = world.board().text("T-1");

    let (said, _) = world.ended(&["pass"], 1);
    world.settle();

    assert!(said.contains("HTTP 502"), "it is said: {said}");
    assert_eq!(world.board().text("T-1"), before);
    world.assert_proposed("src/one.rs");
}

/// C9.4, K1, K2: a `gh` without a login is told by everything a person asks, before any work is begun.
#[test]
fn without_a_login_at_the_forge_nothing_is_begun_and_logging_in_lets_it_go_on() {
    let Some(world) = World::with_a_task(Forge::GitHub) else { return };
    world.configure(|config| config["forge"]["tokenFromEnv"] = false.into());
    let (login, hidden) = (world.path("gh/hosts.yml"), world.path("hosts.yml"));
    fs::rename(&login, &hidden).unwrap();
    world.begin();
    let told_by_all = "`gh` is not logged in to github.com (no oauth token found for github.com): log in with `gh auth login`";
    for (asked, code) in [(&["config", "check"][..], 0), (&["status"], 0), (&["explain", "1"], 0)] {
        let (said, _) = world.ended(asked, code);
        assert!(said.contains(told_by_all), "{asked:?}: {said}");
    }
    let queue = world.ok(&["status"]);
    assert!(queue.lines().any(|line| line.contains("T-1") && line.ends_with("wait")), "{queue}");
    let (said, told) = world.ended(&["--wait"], 1);
    assert!(format!("{said}{told}").contains(told_by_all), "{said}{told}");
    assert_eq!(world.board().status("T-1"), "Queued");

    fs::rename(&hidden, &login).unwrap();
    world.ok(&["--wait"]);
    world.settle();
    world.assert_proposed("src/one.rs");
}

/// C1.5: a login that is lost meanwhile is told by whoever is asked, and the pass after it is back ends the waiting.
#[test]
fn c1_5_what_a_close_waits_for_is_shown_and_told() {
    let Some(world) = World::new(Forge::GitHub) else { return };
    world.configure(|config| config["forge"]["tokenFromEnv"] = false.into());
    let gate = Gate::new();
    let [write, _] = &writes_and_ends("src/one.rs")[..] else { unreachable!() };
    world.board().add(&task("T-1", "src/one.rs"));
    world.add_worker("T-1", [write.clone(), Turn::text("Done.").behind(&gate)]);
    world.begin();
    let mut waiting = world.dispatch_command(&["--wait"]);
    let waiting = waiting.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    gate.wait_for(1);
    let (login, hidden) = (world.path("gh/hosts.yml"), world.path("hosts.yml"));
    fs::rename(&login, &hidden).unwrap();
    gate.open();
    let shown = |asked: &[&str]| world.ok(asked).replace('\n', " ");
    wait::until("the close to wait", || shown(&["status"]).contains("is tried again at"));
    for asked in [&["status"][..], &["explain", "1"]] {
        let said = shown(asked);
        assert!(said.contains("log in with `gh auth login`"), "{asked:?}: {said}");
    }
    fs::rename(&hidden, &login).unwrap();
    world.ok(&["pass"]);
    let output = waiting.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let told = "T-1: `closing:open-pr` is tried again at ";
    assert!(said.contains(told) && said.contains("`gh auth login`"), "{said}");
    assert!(said.contains("T-1: attempt 1 ended, proposed as "), "{said}");
    world.settle();
    world.assert_proposed("src/one.rs");
}
