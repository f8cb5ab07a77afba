//! Slots in which a worker did what it wanted, and a person at work in the main checkout meanwhile.

use std::collections::BTreeMap;
use std::fs;

use camino::Utf8Path;
use dispatch_testkit::model_server::{Gate, Turn};
use dispatch_testkit::scene::Forge;
use dispatch_testkit::{programs, wait};
use test_case::test_case;

use crate::world::{World, task, writes_and_ends};

/// A world in which the worker on T-1 runs a script in its slot.
fn with_a_script(script: &str) -> Option<World> {
    let world = World::new(Forge::Git)?;
    world.add_task("T-1", [Turn::bash("sh check.sh"), Turn::text("Done.")]);
    world.worker_runs(&script.replace("{root}", world.repo().root().as_str()));
    world.begin();
    Some(world)
}

/// C3.3: links that leave the repository, secrets by name and by content, and files that are too large are dangerous: the
/// work is kept here, and nothing of it leaves this machine.
#[test]
fn dangerous_files_are_listed_and_never_leave_the_machine() {
    let script = "printf '//! One.\\n' > src/one.rs\nln -s /etc/passwd src/outside\nln -s ../../.. src/above\n\
                  echo A=1 > .env\necho 'key: sk-test-made-up' > src/notes.txt\n\
                  head -c 6000000 /dev/zero > src/large.bin\n";
    let Some(world) = with_a_script(script) else { return };

    world.pass();

    let comments = world.comments("T-1");
    assert_eq!(world.board().status("T-1"), "Blocked", "{comments}");
    assert!(comments.contains("scope-check-failed"), "{comments}");
    for file in ["src/outside", "src/above", ".env", "src/notes.txt", "src/large.bin"] {
        assert!(comments.contains(file), "`{file}` is not listed: {comments}");
    }
    assert!(!comments.contains("sk-test-made-up"), "the credential is not repeated");
    assert_eq!(world.saved("T-1", 1, ".env"), "A=1");
    let listed = world.repo().git_in(&world.repo().remote(), &["for-each-ref"]);
    assert!(!listed.contains("T-1"), "nothing is pushed, not even as a backup: {listed}");
    world.assert_invariants();
}

/// V1.4: the files of a repository inside the slot are not lost, and not proposed.
#[test]
fn a_repository_inside_the_slot_is_saved_and_not_proposed() {
    let script = "printf '//! One.\\n' > src/one.rs\nmkdir vendor && cd vendor && git init -q .\n\
                  echo inner > inner.txt && git add . && git -c user.name=w -c user.email=w@x commit -qm inner\n\
                  echo changed > loose.txt\n";
    let Some(world) = with_a_script(script) else { return };

    world.pass();

    let comments = world.comments("T-1");
    assert_eq!(world.board().status("T-1"), "Blocked", "{comments}");
    assert!(comments.contains("scope-check-failed") && comments.contains("vendor"), "{comments}");
    assert_eq!(world.saved("T-1", 1, "vendor/inner.txt"), "inner");
    assert_eq!(world.saved("T-1", 1, "vendor/loose.txt"), "changed");
    assert!(!world.repo().remote_branches().contains_key("task/T-1"));
    world.assert_invariants();
}

/// What a worker plants to be run by whoever uses git on its slot next. What the next agent itself runs among its own
/// kind is not ours to stop without confinement: such a run carries the attempt's mark and is not noted.
const PLANT: &str = "printf '//! One.\\n' > src/one.rs\n\
    evil='{root}/evil.sh'; printf '#!/bin/sh\\n[ -n \"$DISPATCH_ATTEMPT\" ] || echo \"$0 $*\" >> {root}/evil-ran\\nexit 1\\n' > \"$evil\"; chmod +x \"$evil\"\n\
    common=$(git rev-parse --path-format=absolute --git-common-dir)\n\
    mkdir -p {root}/evil-hooks \"$common/hooks\" \"$common/info\"\n\
    for hook in pre-commit commit-msg post-commit post-checkout reference-transaction pre-push post-index-change \
    fsmonitor-watchman post-rewrite pre-auto-gc; do cp \"$evil\" {root}/evil-hooks/$hook; cp \"$evil\" \"$common/hooks/$hook\"; done\n\
    git config core.hooksPath {root}/evil-hooks\n\
    git config core.fsmonitor \"$evil\"\n\
    git config filter.evil.clean \"$evil\"; git config filter.evil.smudge \"$evil\"; git config filter.evil.process \"$evil\"\n\
    git config diff.external \"$evil\"; git config diff.evil.command \"$evil\"; git config diff.evil.textconv \"$evil\"\n\
    git config merge.evil.driver \"$evil\"; git config core.pager \"$evil\"; git config core.editor \"$evil\"\n\
    git config gpg.program \"$evil\"; git config commit.gpgSign true; git config log.showSignature true\n\
    git config core.sshCommand \"$evil\"; git config core.alternateRefsCommand \"$evil\"; git config credential.helper \"!$evil\"\n\
    echo '* filter=evil diff=evil merge=evil' > \"$common/info/attributes\"\n\
    cp -r {root}/evil-hooks .evil-hooks; rm -f .git; git init -q .; git config core.fsmonitor \"$evil\"\n\
    git config core.hooksPath {root}/evil-hooks; echo '* filter=evil' > .git/info/attributes; rm -rf .evil-hooks\n\
    rm -f {root}/evil-ran\n";

/// V1.1, V1.3, N12: nothing a worker planted for git ever runs, and the slot is whole again for the next task.
#[test]
fn nothing_a_worker_planted_for_git_is_ever_run() {
    let Some(world) = with_a_script(PLANT) else { return };
    world.configure(|config| config["slots"] = serde_json::json!(["slot-1"]));
    world.begin();
    let config = world.repo().code().join(".git/config");
    let before = fs::read(&config).unwrap();

    world.pass();
    // The next task in the same slot, while everything is still planted.
    world.board().add(&task("T-2", "src/two.rs"));
    world.add_worker("T-2", writes_and_ends("src/two.rs"));
    world.pass();

    let ran = fs::read_to_string(world.path("evil-ran")).unwrap_or_default();
    assert_eq!(ran, "", "something planted ran");
    assert_ne!(fs::read(&config).unwrap(), before, "the worker planted it");
    // From here on the test's own git is used.
    fs::write(&config, before).unwrap();
    fs::remove_dir_all(world.repo().code().join(".git/hooks")).unwrap();
    fs::remove_file(world.repo().code().join(".git/info/attributes")).unwrap();
    assert_eq!(world.repo().remote_changes("main", "task/T-2"), ["src/two.rs"]);
    world.assert_proposed("src/one.rs");
}

/// S5: what a worker does to branches and stashes of its worktree changes nothing: its files count.
#[test]
fn a_worker_that_switches_commits_and_stashes_is_judged_by_its_files() {
    let script = "git switch -qc mine && printf '//! One.\\n' > src/one.rs && git add src/one.rs\n\
                  git -c user.name=w -c user.email=w@x commit -qm 'feat: mine'\n\
                  echo rest > src/rest.txt && git add src/rest.txt\n\
                  git -c user.name=w -c user.email=w@x stash -q && git stash pop -q\n";
    let Some(world) = with_a_script(script) else { return };
    let main = world.refs("refs/heads/main");

    world.pass();

    assert_eq!(world.repo().remote_changes("main", "task/T-1"), ["src/one.rs", "src/rest.txt"]);
    assert_eq!(world.board().status("T-1"), "In Progress");
    let parent = world.repo().git_in(&world.repo().remote(), &["rev-parse", "task/T-1^"]);
    assert_eq!(BTreeMap::from([("refs/heads/main".to_owned(), parent)]), main);
    // The slot is used again although its branch is checked out in it.
    world.repo().git(&["branch", "--list"]);
    world.board().add(&task("T-2", "src/two.rs"));
    world.add_worker("T-2", writes_and_ends("src/two.rs"));
    world.pass();
    assert_eq!(world.repo().remote_changes("main", "task/T-2"), ["src/two.rs"]);
}

/// S3, C1.4b: a person who switches the main checkout away under a running worker loses nothing and stops
/// nothing: the close waits until the board is back.
#[test]
fn a_person_who_switches_branches_under_a_running_worker_delays_only_the_close() {
    let Some(world) = World::new(Forge::Git) else { return };
    let gate = Gate::new();
    let turns = [Turn::new_file("src/one.rs", "//! One.\n"), Turn::text("Done.").behind(&gate)];
    world.add_task("T-1", turns);
    world.begin();
    world.ok(&["pass"]);
    gate.wait_for(1);
    world.repo().git(&["switch", "--quiet", "--create", "elsewhere"]);
    world.repo().write("src/lib.rs", "//! A person's work.\n");
    world.repo().git(&["stash", "push", "--quiet", "--", "src/lib.rs"]);

    let said = world.ok(&["pass"]);
    assert!(said.contains("board-elsewhere"), "{said}");
    gate.open();
    world.model().wait_for("T-1", 2);
    wait::until("the close to wait for the board", || {
        world.record("T-1")["phase"].as_str().is_some_and(|phase| phase.starts_with("closing"))
    });
    world.repo().git(&["switch", "--quiet", "main"]);
    world.settle();

    assert_eq!(world.repo().git(&["stash", "list"]).lines().count(), 1, "the person's stash");
    world.repo().git(&["stash", "drop", "--quiet"]);
    world.repo().git(&["branch", "--quiet", "-D", "elsewhere"]);
    world.assert_proposed("src/one.rs");
}

/// I6, N11: what a person has staged stays staged and what is half done stays so; only the board is committed.
#[test]
fn a_persons_staged_and_half_done_work_is_left_alone() {
    let Some(world) = World::with_a_task(Forge::Git) else { return };
    world.begin();
    let before = world.repo().git(&["rev-parse", "HEAD"]);
    world.repo().write("src/staged.rs", "//! Staged.\n");
    world.repo().git(&["add", "src/staged.rs"]);
    world.repo().write("src/lib.rs", "//! Half done.\n");
    world.repo().write("loose.txt", "loose\n");
    world.board().replace("T-1", "What to do", "All that is to do");

    world.pass();
    world.pass();

    let status = world.repo().git(&["status", "--porcelain", "--", ".", ":(exclude).backlog"]);
    let lines: Vec<&str> = status.lines().map(str::trim_start).collect();
    assert_eq!(lines, ["M src/lib.rs", "A  src/staged.rs", "?? loose.txt"]);
    let log = world.repo().git(&["diff", "--name-only", &before, "HEAD"]);
    assert!(!log.is_empty(), "the board was committed");
    assert!(log.lines().all(|path| path.starts_with(".backlog/")), "{log}");
    assert_eq!(world.repo().remote_changes("main", "task/T-1"), ["src/one.rs"]);
}

/// V1.1: a shell full of git's own variables changes nothing.
#[test]
fn variables_of_git_in_the_environment_change_nothing() {
    let Some(world) = World::with_a_task(Forge::Git) else { return };
    world.begin();
    let trap = world.path("trap");
    fs::create_dir_all(&trap).unwrap();
    let mut command = world.dispatch_command(&["pass"]);
    for name in
        ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"]
    {
        command.env(name, trap.join(name));
    }
    command.env("GIT_EXTERNAL_DIFF", "false").env("GIT_SSH_COMMAND", "false");
    command.env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", "core.bare");
    command.env("GIT_CONFIG_VALUE_0", "true");

    programs::read(&mut command);
    world.settle();

    assert_eq!(fs::read_dir(&trap).unwrap().count(), 0);
    world.assert_proposed("src/one.rs");
}

/// V2.2: a slots folder may have any name.
#[test]
fn slots_in_a_folder_with_blanks_quotes_a_newline_and_more_work() {
    let Some(world) = World::new(Forge::Git) else { return };
    world.add_task("T-1", [Turn::bash("sh check.sh"), Turn::text("Done.")]);
    world.worker_runs("printf '//! One.\\n' > src/one.rs\n");
    let name = "../slots of \"Zoë\" 'x'\n$HOME `id` ünder";
    world.configure(|config| config["slotsRoot"] = name.into());
    world.begin();

    world.pass();

    assert!(world.repo().code().join(Utf8Path::new(name)).join("slot-1").is_dir());
    world.assert_proposed("src/one.rs");
}

/// BR-06, S3: a checkout, and with it the board, may lie in a folder of any name.
#[test_case("-it's a \"code\" $HOME `id` *?[x]{a,b} ünder 漢字 "; "every odd sign")]
#[test_case("two\nlines"; "a newline")]
#[test_case(&"long ".repeat(45); "a long name")]
fn a_checkout_in_a_folder_of_any_name_works(name: &str) {
    let Some(world) = World::named(Forge::GitHub, name) else { return };
    let tick = Turn::made(|request| {
        let command = request.board_command().expect("the worker is told the board command");
        Turn::bash(format!("{command} --append-notes 'it works'"))
    });
    world.add_task("T-1", [tick, Turn::new_file("src/one.rs", "//! One.\n"), Turn::text("Done.")]);
    world.begin();

    world.pass();

    assert_eq!(world.forge().pull_requests().len(), 1, "{}", world.comments("T-1"));
    assert!(world.board().text("T-1").contains("it works"), "{}", world.board().text("T-1"));
    world.assert_proposed("src/one.rs");
    assert!(world.ok(&["status"]).contains("T-1"));
    assert!(world.ok(&["logs", "T-1"]).contains("open-pr"));
    assert!(world.ok(&["explain", "T-1"]).contains("T-1"));
}
