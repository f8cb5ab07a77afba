//! Parents that integrate on a branch of their own, to any depth (B5, D6.6).

use dispatch_testkit::board::TaskText;
use dispatch_testkit::forge_server::Merge;
use dispatch_testkit::model_server::{Lane, ModelRequest};
use dispatch_testkit::scene::verdict;
use dispatch_testkit::wait;
use serde_json::Value;

use crate::world::{World, task, work};

/// A parent that integrates on its own branch, not yet queued.
fn complex(id: &str, title: &str) -> TaskText {
    TaskText::new(id, title)
        .labels(["tier:complex", "lane:frontier", "path:direct"])
        .description("All of it together.")
        .criterion("The parts fit together")
}

/// A queued subtask.
fn subtask(id: &str, parent: &str, file: &str) -> TaskText {
    task(id, "Write a part", file).parent(parent)
}

/// What the worker of a task answers; `T-1` alone would be said to the workers of its subtasks too.
fn worker<const N: usize>(world: &World, id: &str, files: [(&'static str, &'static str); N]) {
    let lane = Lane::worker(id).when_said(format!("/worker-edit {id} --"));
    world.model().add(lane.turns(work(files)));
}

/// Runs passes until there is a pull request from `head`, which must be for `base`; gives its number. The pass that a
/// supervisor runs at its end may have started what ours would have.
#[track_caller]
fn pull_request(world: &World, head: &str, base: &str) -> u64 {
    let pull = wait::until_some(&format!("a pull request from {head}"), || {
        world.pass();
        world.forge().pull_requests().into_iter().find(|pull| pull.head == head)
    });
    assert_eq!(pull.base, base, "{pull:#?}");
    pull.number
}

/// Runs passes until a task has a status.
#[track_caller]
fn until_status(world: &World, id: &str, status: &str) {
    wait::until(&format!("{id} {status}"), || {
        world.pass();
        world.board().status(id) == status
    });
}

fn record(world: &World, id: &str) -> Value {
    let file = world.repo().code().join(format!(".git/dispatch/tasks/{id}.json"));
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

/// B5.1, B5.3, D6.6: the children are proposed to the parent's branch; once all are merged the parent gets one close
/// attempt, which sees the whole, and its own pull request; merged, it is done.
#[test]
fn a_parent_is_closed_once_all_its_children_are_merged() {
    let Some(world) = World::with_forge() else { return };
    worker(&world, "T-1.1", [("src/one.rs", "//! One.\n")]);
    worker(&world, "T-1.2", [("src/two.rs", "//! Two.\n")]);
    world.begin(&[
        complex("T-1", "Add both parts"),
        subtask("T-1.1", "T-1", "src/one.rs"),
        subtask("T-1.2", "T-1", "src/two.rs").status("To Do"),
    ]);

    let first = pull_request(&world, "task/T-1.1", "task/T-1");
    until_status(&world, "T-1", "In Progress");
    let merged_first = world.forge().pull_request(first).head_oid;
    world.forge().merge(first, Merge::Squash);
    world.board().set_status("T-1.2", "Queued");
    let second = pull_request(&world, "task/T-1.2", "task/T-1");
    assert_eq!(world.board().status("T-1.1"), "Done");
    // N64: a subtask is compared with the branch it started from, not with the one its parent is proposed for.
    let body = world.forge().pull_request(second).body;
    assert!(body.contains("src/two.rs") && !body.contains("src/one.rs"), "{body}");
    let merged_second = world.forge().pull_request(second).head_oid;
    world.forge().merge(second, Merge::Commit);

    worker(&world, "T-1", [("src/both.rs", "//! Both.\n")]);
    let whole = pull_request(&world, "task/T-1", "main");

    let prompt = world.asked("T-1")[0].prompt();
    assert!(prompt.contains("Close the parent task T-1"), "{prompt}");
    assert!(prompt.contains("T-1.1") && prompt.contains("T-1.2"), "{prompt}");
    let files = ["src/both.rs", "src/one.rs", "src/two.rs"];
    assert_eq!(world.repo().remote_changes("main", "task/T-1"), files);
    let covered = record(&world, "T-1")["coveredChildren"].clone();
    assert_eq!(covered, serde_json::json!([merged_first, merged_second]));
    assert_eq!(world.board().status("T-1"), "In Progress");
    world.pass();
    assert_eq!(world.asked("T-1").len(), 2, "one close attempt is enough");

    world.forge().merge(whole, Merge::Squash);
    world.pull_when_settled();
    until_status(&world, "T-1", "Done");
    assert_eq!(world.repo().remote_branches().keys().collect::<Vec<_>>(), ["main"]);
}

/// C7.2: the reviewer of a close attempt is shown subtask by subtask, and what the close attempt changed itself.
#[test]
fn a_close_attempt_is_reviewed_subtask_by_subtask() {
    let Some(world) = World::with_forge() else { return };
    world.configure(|config| config["lanes"]["frontier"]["reviewer"] = true.into());
    worker(&world, "T-1.1", [("src/one.rs", "//! One.\n")]);
    world.reviewer("T-1.1", [verdict("approve", &[])]);
    world.begin(&[complex("T-1", "Add both parts"), subtask("T-1.1", "T-1", "src/one.rs")]);
    let child = pull_request(&world, "task/T-1.1", "task/T-1");
    world.forge().merge(child, Merge::Squash);
    worker(&world, "T-1", [("src/both.rs", "//! Both.\n")]);
    world.reviewer("T-1", [verdict("approve", &[]), verdict("approve", &["fine"])]);

    pull_request(&world, "task/T-1", "main");

    let asked = world.model().requests_of("review of T-1");
    let prompts: Vec<String> = asked.iter().map(ModelRequest::prompt).collect();
    let [first, second] = prompts.as_slice() else { panic!("{prompts:#?}") };
    assert!(first.contains("`T-1.1, Write a part`") && first.contains("src/one.rs"), "{first}");
    assert!(!first.contains("src/both.rs"), "{first}");
    assert!(second.contains("src/both.rs") && !second.contains("src/one.rs"), "{second}");
}

/// B5.3, M1.2: a parent that the guards block is not queued again by its children, pass after pass.
#[test]
fn a_parent_whose_close_attempt_is_blocked_by_a_guard_waits_for_a_person() {
    let Some(world) = World::with_git() else { return };
    let parent =
        TaskText::new("T-1", "Add both parts").labels(["tier:complex"]).criterion("It fits");
    world.begin(&[parent, subtask("T-1.1", "T-1", "src/one.rs").status("Done")]);
    until_status(&world, "T-1", "Blocked");
    assert!(world.last_comment("T-1").contains("missing-triage"), "{}", world.story("T-1"));
    let before = world.board().text("T-1");

    world.pass();
    world.pass();

    assert_eq!(world.board().text("T-1"), before);
}

/// D6.6, D4 4b: with `parentBranch: require` the integration branch is a person's to make, and the subtask waits for it.
#[test]
fn a_required_parent_branch_is_waited_for_and_never_made() {
    let Some(world) = World::with_forge() else { return };
    world.configure(|config| config["parentBranch"] = "require".into());
    worker(&world, "T-1.1", [("src/one.rs", "//! One.\n")]);
    let parent = complex("T-1", "Add both parts").description("Branch: task/whole");
    world.begin(&[parent, subtask("T-1.1", "T-1", "src/one.rs")]);

    assert_eq!(world.verdict("T-1.1"), "waiting parent-branch-missing");
    assert!(!world.repo().remote_branches().contains_key("task/whole"));

    let remote = world.repo().remote();
    world.repo().git(&["push", "--quiet", remote.as_str(), "main:refs/heads/task/whole"]);
    pull_request(&world, "task/T-1.1", "task/whole");
}

/// B5.1, D6.6: three levels: each parent's branch is made from that of the parent above, and closing goes up level by
/// level.
#[test]
fn parents_close_level_by_level() {
    let Some(world) = World::with_forge() else { return };
    worker(&world, "T-1.1.1", [("src/deep.rs", "//! Deep.\n")]);
    worker(&world, "T-1.1", [("src/middle.rs", "//! Middle.\n")]);
    worker(&world, "T-1", [("src/top.rs", "//! Top.\n")]);
    world.begin(&[
        complex("T-1", "The top"),
        complex("T-1.1", "The middle").parent("T-1"),
        subtask("T-1.1.1", "T-1.1", "src/deep.rs"),
    ]);

    for (head, base) in
        [("task/T-1.1.1", "task/T-1.1"), ("task/T-1.1", "task/T-1"), ("task/T-1", "main")]
    {
        let number = pull_request(&world, head, base);
        world.forge().merge(number, Merge::Squash);
    }
    world.pull_when_settled();
    until_status(&world, "T-1", "Done");

    for id in ["T-1.1.1", "T-1.1", "T-1"] {
        assert_eq!(world.board().status(id), "Done", "{id}\n{}", world.story(id));
    }
    for path in ["src/deep.rs", "src/middle.rs", "src/top.rs"] {
        assert!(world.repo().remote_file("main", path).is_some(), "{path}\n{}", world.story("T-1"));
    }
}
