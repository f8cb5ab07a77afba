//! What becomes of a pull request (M1 step 3, M3, V3).

use dispatch_testkit::forge_server::{Fault, Injection, Merge, ReviewState};
use test_case::test_case;

use crate::world::{World, task, work};

fn proposed() -> Option<World> {
    let world = World::with_forge()?;
    world.worker("T-1", work([("src/parser.rs", "//! A parser.\n")]));
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs")]);
    world.proposed("T-1");
    Some(world)
}

/// V3, M3: however it was merged, the task is done and its branch goes.
#[test_case(Merge::Commit; "by a merge commit")]
#[test_case(Merge::Squash; "squashed")]
#[test_case(Merge::Rebase; "rebased")]
fn a_merged_pull_request_is_done_and_its_branch_cleaned(how: Merge) {
    let Some(world) = proposed() else { return };
    world.forge().merge(1, how);
    world.pull_when_settled();

    let report = world.pass();

    assert_eq!(world.board().status("T-1"), "Done", "{report:#}\n{}", world.story("T-1"));
    let branches = world.repo().remote_branches();
    assert_eq!(branches.keys().collect::<Vec<_>>(), ["main"], "{report:#}");
    let before = world.board().text("T-1");
    world.pass();
    assert_eq!(world.board().text("T-1"), before);
}

#[test]
fn a_closed_pull_request_blocks_the_task() {
    let Some(world) = proposed() else { return };
    world.forge().close(1);

    world.pass();

    assert_eq!(world.board().status("T-1"), "Blocked");
    assert!(world.last_comment("T-1").contains("pr-closed"), "{}", world.story("T-1"));
    assert!(world.repo().remote_branches().contains_key("task/T-1"));
}

#[test]
fn a_review_that_asks_for_changes_blocks_the_task_with_its_text() {
    let Some(world) = proposed() else { return };
    world.forge().review(1, "bob", ReviewState::ChangesRequested, "Please name it `grammar`.");

    world.pass();

    assert_eq!(world.board().status("T-1"), "Blocked");
    let comment = world.last_comment("T-1");
    assert!(comment.contains("pr-changes-requested"), "{comment}");
    assert!(comment.contains("Please name it `grammar`."), "{comment}");
}

/// I7: what the forge does not say is not known, and nothing is concluded from it.
#[test]
fn a_forge_that_does_not_answer_changes_nothing() {
    let Some(world) = proposed() else { return };
    world.forge().merge(1, Merge::Squash);
    let (text, branches) = (world.board().text("T-1"), world.repo().remote_branches());

    for fault in [Fault::Unauthorised, Fault::ServerError(503), Fault::NullData] {
        world.forge().inject(Injection::on("").fault(fault.clone()));
        world.dispatch(&["--wait"]);
        assert_eq!(world.board().text("T-1"), text, "{fault:?}");
        assert_eq!(world.repo().remote_branches(), branches, "{fault:?}");
        world.forge().recover();
    }
}

/// C9.4: a token left over in the environment does not outrank the stored login.
#[test]
fn a_stale_token_in_the_environment_is_not_used() {
    let Some(world) = World::with_forge() else { return };
    world.worker("T-1", work([("src/parser.rs", "//! A parser.\n")]));
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs")]);
    let mut pass = world.command(env!("CARGO_BIN_EXE_dispatch"), &["--wait"]);
    pass.env("GH_TOKEN", "stale").env("GITHUB_TOKEN", "stale");

    dispatch_testkit::programs::read(&mut pass);

    let calls = world.forge().calls();
    assert!(!calls.is_empty() && calls.iter().all(|call| call.token != "stale"), "{calls:#?}");
    assert_eq!(world.forge().pull_requests().len(), 1);
}

/// S5, M3: queued again after its pull request was merged, a task gets a branch of its own and starts from the base.
#[test]
fn a_merged_task_that_is_queued_again_gets_a_new_branch() {
    let Some(world) = proposed() else { return };
    let merged = world.forge().merge(1, Merge::Squash);
    world.pull_when_settled();
    world.pass();
    assert_eq!(world.board().status("T-1"), "Done", "{}", world.story("T-1"));

    world.worker("T-1", work([("src/more.rs", "//! More.\n")]));
    world.board().set_status("T-1", "Queued");
    world.pass();

    let branches = world.repo().remote_branches();
    assert!(branches.contains_key("task/T-1-r1"), "{branches:?}\n{}", world.story("T-1"));
    assert_eq!(world.repo().remote_changes("main", "task/T-1-r1"), ["src/more.rs"]);
    assert_eq!(world.outcome("T-1", 2)["base"], merged.as_str());
}
