//! M1 step 3, M1 step 3b, M3, V3: what becomes of recorded pull requests.

use std::collections::BTreeSet;

use dispatch_core::record::Phase;
use dispatch_core::status::Status;
use dispatch_core::task::Task;
use dispatch_engine::merges;
use dispatch_engine::ports::{Answer, ForgeKind, ProposalState, ReviewSince};

use crate::sim::{World, branch, config, id, setup, setup_of, task};

/// A world in which T-1 has an open pull request.
fn proposed() -> World {
    let world = World::new(vec![task("T-1")]);
    world.settle(&setup());
    assert!(world.record("T-1").pr.is_some());
    world
}

fn answer(world: &World, state: ProposalState) {
    world.state().proposals.insert(1, state);
}

fn merged(world: &World) {
    let head = world.record("T-1").pr.unwrap().commit;
    answer(world, ProposalState::Merged { head, merge: None });
}

fn settled(world: &World) -> Option<String> {
    world.record("T-1").pr.unwrap().settled
}

fn review(at: &str, body: &str) -> ReviewSince {
    ReviewSince { author: "mia".into(), body: body.into(), at: at.into() }
}

#[test]
fn m1_step_3_merged_work_is_done_and_its_branch_deleted() {
    let world = proposed();
    merged(&world);
    world.pass(&setup());
    assert_eq!(world.status("T-1"), Status::Done);
    assert_eq!(world.state().deleted, [branch("task/T-1")]);
    let listings = world.state().listings;
    assert!(world.pass(&setup()).rounds[0].maintenance.is_empty());
    assert_eq!(world.state().listings, listings, "it is not asked about again");
}

/// N29, D6.6: a merge that the forge tells of came after the fetch of the same pass; what waited for it starts from it.
#[test]
fn d6_6_what_waited_for_a_merge_starts_from_it() {
    let waiting = Task { dependencies: vec![id("T-1")], ..task("T-2") };
    let world = World::new(vec![task("T-1"), waiting]);
    world.settle(&setup());
    merged(&world);
    let work = world.record("T-1").pr.unwrap().commit;
    world.state().lands.insert(branch("main"), work.clone());
    world.pass(&setup());
    assert_eq!(world.record("T-2").phase, Phase::Claimed);
    world.settle(&setup());
    assert_eq!(world.record("T-2").base, Some(work));
}

/// N31, V3: the merged head may hold more than our commit, never less.
#[test]
fn v3_a_merge_without_our_later_commit_is_said_and_deletes_nothing() {
    let world = proposed();
    let head = world.state().place.head.clone().unwrap();
    answer(&world, ProposalState::Merged { head, merge: None });
    world.pass(&setup());
    assert_eq!(world.status("T-1"), Status::Blocked);
    assert!(world.comments("T-1").last().unwrap().contains("merged-with-later-commits"));
    assert!(world.state().deleted.is_empty());
}

/// V3: a person pushed once more and merged, and the branch was gone before a pass could fetch it.
#[test]
fn v3_a_merged_head_that_was_never_fetched_is_looked_at() {
    let world = proposed();
    let head = {
        let mut state = world.state();
        let ours = state.records[&id("T-1")].pr.as_ref().unwrap().commit.clone();
        let tree = state.repository.tree(std::collections::BTreeMap::new());
        let head = state.repository.commit(&tree, &[ours], "a person's touch");
        state.not_here.insert(head.clone());
        head
    };
    answer(&world, ProposalState::Merged { head, merge: None });
    world.pass(&setup());
    assert_eq!(world.status("T-1"), Status::Done);
}

#[test]
fn m3_a_branch_that_moved_after_the_merge_is_kept_and_said_once() {
    let world = proposed();
    merged(&world);
    let later = world.state().repository.first_commit(&[("later.rs", "")]);
    world.state().repository.remote.insert(branch("task/T-1"), later);
    world.pass(&setup());
    world.pass(&setup());
    assert_eq!(world.status("T-1"), Status::Done);
    let comments = world.comments("T-1");
    let kept: Vec<&String> = comments.iter().filter(|text| text.contains("was kept")).collect();
    assert_eq!(kept.len(), 1, "{comments:?}");
    assert!(world.state().repository.remote.contains_key(&branch("task/T-1")));
}

#[test]
fn m1_step_3_a_closed_pull_request_blocks_the_task() {
    let world = proposed();
    answer(&world, ProposalState::Closed);
    world.pass(&setup());
    assert_eq!(world.status("T-1"), Status::Blocked);
    assert!(world.comments("T-1").last().unwrap().contains("`pr-closed`"));
    assert!(world.state().notified.contains(&"T-1 blocked: pr-closed".to_owned()));
    let comments = world.comments("T-1").len();
    world.pass(&setup());
    assert_eq!(world.comments("T-1").len(), comments);
}

#[test]
fn m1_step_3_requested_changes_block_the_task_with_the_reviews_text_once() {
    let world = proposed();
    let open = |reviews| ProposalState::Open { changes_requested: reviews };
    answer(&world, open(vec![review("2026-01-01T13:00:00Z", "Rename it.")]));
    world.pass(&setup());
    assert_eq!(world.status("T-1"), Status::Blocked);
    let comment = world.comments("T-1").last().unwrap().clone();
    assert!(comment.contains("Rename it.") && comment.contains("mia"), "{comment}");
    // The person answers and puts the task back to where it waits for its pull request.
    world.edit("T-1", |task| task.status = Status::InProgress);
    world.pass(&setup());
    assert_eq!(world.status("T-1"), Status::InProgress);
    let again = vec![
        review("2026-01-01T13:00:00Z", "Rename it."),
        review("2026-01-02T13:00:00Z", "And test it."),
    ];
    answer(&world, open(again));
    world.pass(&setup());
    let comment = world.comments("T-1").last().unwrap().clone();
    assert!(comment.contains("And test it.") && !comment.contains("Rename it."), "{comment}");
}

/// D8.1: a person who queues the task again before the review was put on it does not hide it from the next attempt.
#[test]
fn m1_step_3_requested_changes_are_said_on_a_task_that_a_person_queued_already() {
    let world = proposed();
    let reviews = vec![review("2026-01-01T13:00:00Z", "Rename it.")];
    answer(&world, ProposalState::Open { changes_requested: reviews });
    world.edit("T-1", |task| task.status = Status::Queued);
    let lines = world.lines(&setup());
    assert!(
        lines.iter().any(|line| line == "T-1: dispatched, attempt 2 in dispatch-1"),
        "{lines:?}"
    );
    assert!(world.comments("T-1").iter().any(|comment| comment.contains("Rename it.")));
}

#[test]
fn m1_step_3_requested_changes_queue_the_task_again_when_configured() {
    let world = proposed();
    let mut config = config();
    config.reviews.auto_retry = true;
    let reviews = vec![review("2026-01-01T13:00:00Z", "Rename it.")];
    answer(&world, ProposalState::Open { changes_requested: reviews });
    let lines = world.lines(&setup_of(config));
    assert!(
        lines.iter().any(|line| line == "T-1: dispatched, attempt 2 in dispatch-1"),
        "{lines:?}"
    );
    assert!(world.comments("T-1").last().unwrap().contains("Rename it."));
    // The next attempt continues the branch and its pull request.
    world.settle(&setup());
    assert_eq!(world.record("T-1").branch, branch("task/T-1"));
}

/// N3, N40, I7.
#[test]
fn m1_1_an_unknown_answer_changes_nothing() {
    let world = proposed();
    answer(&world, ProposalState::Unknown("401".into()));
    world.edit("T-1", |task| task.status = Status::Done);
    let writes = world.state().board_writes;
    let report = world.pass(&setup());
    assert!(report.failed());
    assert_eq!(world.state().board_writes, writes);
    assert!(world.state().deleted.is_empty());
    assert_eq!(settled(&world), None);
}

#[test]
fn m1_step_3b_a_done_by_hand_is_taken_back_once_and_then_respected() {
    let world = proposed();
    world.edit("T-1", |task| task.status = Status::Done);
    world.pass(&setup());
    assert_eq!(world.status("T-1"), Status::InProgress);
    assert!(world.comments("T-1").last().unwrap().contains("still open"));
    world.edit("T-1", |task| task.status = Status::Done);
    world.pass(&setup());
    assert_eq!(world.status("T-1"), Status::Done);
}

#[test]
fn m1_step_3b_a_done_over_a_closed_pull_request_becomes_blocked_once() {
    let world = proposed();
    answer(&world, ProposalState::Closed);
    world.pass(&setup());
    world.edit("T-1", |task| task.status = Status::Done);
    world.pass(&setup());
    assert_eq!(world.status("T-1"), Status::Blocked);
    world.edit("T-1", |task| task.status = Status::Done);
    world.pass(&setup());
    assert_eq!(world.status("T-1"), Status::Done);
}

#[test]
fn v3_without_pull_requests_the_fetched_base_says_what_is_merged() {
    let world = World::new(vec![task("T-1")]);
    world.state().forge = ForgeKind::Git;
    world.settle(&setup());
    assert_eq!(world.status("T-1"), Status::InProgress);
    world.state().merged = Answer::Unknown;
    world.pass(&setup());
    assert_eq!(world.status("T-1"), Status::InProgress);
    world.state().merged = Answer::Yes;
    world.pass(&setup());
    assert_eq!(world.status("T-1"), Status::Done);
    assert_eq!(world.state().listings, 0);
}

#[test]
fn m1_step_3_without_pull_requests_a_branch_deleted_before_its_merge_blocks_the_task() {
    let world = World::new(vec![task("T-1")]);
    world.state().forge = ForgeKind::Git;
    world.settle(&setup());
    world.state().repository.remote.remove(&branch("task/T-1"));
    world.pass(&setup());
    assert_eq!(world.status("T-1"), Status::Blocked);
    let comment = world.comments("T-1").last().unwrap().clone();
    assert!(comment.contains("`task/T-1` was deleted on the remote"), "{comment}");
    assert!(comment.contains("is not in `main`"), "{comment}");
}

#[test]
fn v3_a_deleted_branch_whose_work_is_in_the_base_is_merged() {
    let world = World::new(vec![task("T-1")]);
    world.state().forge = ForgeKind::Git;
    world.settle(&setup());
    world.state().repository.remote.remove(&branch("task/T-1"));
    world.state().merged = Answer::Unknown;
    world.pass(&setup());
    assert_eq!(world.status("T-1"), Status::InProgress, "nobody knows yet");
    world.state().merged = Answer::Yes;
    world.pass(&setup());
    assert_eq!(world.status("T-1"), Status::Done);
}

/// V3: git tells about what was proposed as a branch, also where the remote has pull requests by now; the forge is asked
/// about its own.
#[test]
fn v3_a_branch_proposed_before_there_were_pull_requests_is_followed_to_its_merge() {
    let world = World::new(vec![task("T-1")]);
    world.state().forge = ForgeKind::Git;
    world.settle(&setup());
    world.state().forge = ForgeKind::GitHub;
    world.state().merged = Answer::No;
    let report = world.pass(&setup());
    assert!(report.rounds[0].maintenance.is_empty() && !report.failed(), "{report:?}");
    assert_eq!(merges::seen(&world.ports()).unwrap(), BTreeSet::new());
    world.state().merged = Answer::Yes;
    assert_eq!(merges::seen(&world.ports()).unwrap(), BTreeSet::from([id("T-1")]));
    world.pass(&setup());
    assert_eq!(world.status("T-1"), Status::Done);
    assert_eq!(world.state().listings, 0, "there was no pull request to ask about");
}

#[test]
fn a_merge_seen_while_an_attempt_runs_waits_for_its_end() {
    let world = proposed();
    world.edit("T-1", |task| task.status = Status::Queued);
    world.pass(&setup());
    assert_eq!(world.phase("T-1"), Phase::Claimed);
    merged(&world);
    world.pass(&setup());
    assert_eq!(world.status("T-1"), Status::InProgress);
}

#[test]
fn readme_5_a_task_queued_again_after_its_merge_gets_a_branch_of_its_own() {
    let world = proposed();
    merged(&world);
    world.pass(&setup());
    world.edit("T-1", |task| task.status = Status::Queued);
    world.pass(&setup());
    let record = world.record("T-1");
    assert_eq!((record.branch, record.merged_before), (branch("task/T-1-r1"), 1));
    assert_eq!((record.pr, record.saved), (None, None));
    assert!(world.state().pending.iter().any(|pending| pending.id == id("T-1")));
}
