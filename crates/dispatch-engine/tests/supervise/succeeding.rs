//! Attempts whose work is proposed.

use dispatch_core::branch::BranchName;
use dispatch_core::record::Phase;
use dispatch_core::status::Status;
use dispatch_engine::ports::{ForgeKind, PullRequest};
use dispatch_engine::supervise::{Drain, End, Mode};

use crate::world::{Act, State, World, diligent, result};

fn ended(reason: &str) -> End {
    End::Ended { reason: reason.to_owned(), drain: Drain::Pass }
}

#[test]
fn c1_finished_work_passes_every_gate_and_becomes_a_pull_request() {
    let world = World::new(diligent());
    assert_eq!(world.supervise(Mode::Begin), ended("success"));
    insta::assert_snapshot!(world.steps(), @"board-check format freeze scope-check checks reviewer acceptance open-pr release-slot recompute-parents drain");
    let state = world.state();
    let (opened, title) = &state.pull_requests[0];
    assert_eq!(title, "[T-5] Say hello");
    assert!(opened.body.as_ref().unwrap().contains("`cargo test -p hello` — passed"));
    let commit = &state.repository.remote[&BranchName::parse("task/T-5").unwrap()];
    assert_eq!(state.repository.files(commit)["src/hello.rs"], "fn hello() {}");
    assert!(state.repository.message(commit).starts_with("feat(T-5): Say hello\n"));
    assert_eq!(state.repository.refs["refs/dispatch/attempts/T-5/1"], *commit);
}

/// C9.6: the status stays until the sweep sees what became of the pull request.
#[test]
fn c9_6_the_record_holds_the_proposal_and_the_task_stays_in_progress() {
    let world = World::new(diligent());
    world.supervise(Mode::Begin);
    assert_eq!(world.status(), Status::InProgress);
    let record = world.read();
    assert_eq!(record.phase, Phase::Ended);
    assert_eq!(record.counts.counted, 1);
    let proposal = record.pr.unwrap();
    assert_eq!(proposal.number, Some(1));
    assert_eq!(proposal.settled, None);
    let state = world.state();
    assert!(state.comments[0].contains("https://forge.example/pr/1"));
    assert!(state.entry.task_id.is_none());
    let dod = &state.task.as_ref().unwrap().definition_of_done;
    assert!(dod.iter().all(|item| item.checked), "{dod:?}");
}

#[test]
fn d6_8_the_slot_is_free_before_the_record_ends() {
    let world = World::new(diligent());
    world.supervise(Mode::Begin);
    assert!(world.position("push task/T-5") < world.position("free the slot"));
    assert!(world.position("free the slot") < world.position("end the record"));
}

/// D9.7, S5: once the task's lock is let go, a new claim may keep its own state there.
#[test]
fn d9_7_nothing_of_the_task_is_written_after_its_lock_was_let_go() {
    let world = World::new(diligent());
    world.supervise(Mode::Begin);
    let end = world.position("end the record");
    let log = &world.state().log;
    assert!(log[..end].iter().any(|line| line == "keep attempt"), "{log:#?}");
    assert!(!log[end..].iter().any(|line| line == "keep attempt"), "{log:#?}");
}

#[test]
fn c5_2_checks_run_in_the_verification_tree_with_the_command_of_the_launch() {
    let world = World::new(diligent());
    // N36: what the task says by then does not count.
    world.state().acts.insert(0, Act::Idle(2));
    world.supervise(Mode::Begin);
    assert_eq!(world.state().ran, ["Verification cargo test -p hello"]);
}

/// C5.2: a worker can leave settings in its home, where tools of a check would look for them.
#[test]
fn c5_2_checks_get_private_folders_that_no_worker_was_in() {
    let world = World::new(diligent());
    world.supervise(Mode::Begin);
    let state = world.state();
    let launched = state.log.iter().position(|line| line == "launch").unwrap();
    assert!(state.log[launched..].iter().any(|line| line == "private folders"), "{:?}", state.log);
}

#[test]
fn c9_5_without_a_forge_the_pushed_branch_is_the_result() {
    let world = World::new(diligent());
    world.state().forge_kind = ForgeKind::Git;
    assert_eq!(world.supervise(Mode::Begin), ended("success"));
    let proposal = world.read().pr.unwrap();
    assert_eq!((proposal.number, proposal.branch.as_str()), (None, "task/T-5"));
    let comment = world.state().comments[0].clone();
    assert!(comment.contains("branch `task/T-5` for `main`"), "{comment}");
    // No pull request says it.
    assert!(comment.contains("The worker ran without kernel confinement."), "{comment}");
}

/// N63, BR-09: an open pull request of the branch is reused and keeps what people wrote.
#[test]
fn br_09_an_open_pull_request_is_reused_with_a_persons_text() {
    let world = World::new(diligent());
    let open = PullRequest {
        number: 9,
        url: "https://forge.example/pr/9".to_owned(),
        base: BranchName::parse("release").unwrap(),
        body: Some("My own words.".to_owned()),
    };
    world.state().pull_requests.push((open, "old".to_owned()));
    assert_eq!(world.supervise(Mode::Begin), ended("success"));
    let body = world.state().pull_requests[0].0.body.clone().unwrap();
    assert!(body.starts_with("My own words.\n") && body.contains("<!-- dispatch:begin -->"));
    let proposal = world.read().pr.unwrap();
    // A person turned it to another base: what becomes of it is asked about that one.
    assert_eq!((proposal.number, proposal.base.as_str()), (Some(9), "release"));
    assert!(
        world.state().comments[0].contains("into `release`, where a person turned it, not `main`")
    );
}

/// C1.5: a forge that does not answer is waited for in place; the slot and the phase are kept.
#[test]
fn c1_5_an_unreachable_forge_is_waited_out() {
    let world = World::new(diligent());
    world.state().forge_faults = 3;
    assert_eq!(world.supervise(Mode::Begin), ended("success"));
    assert_eq!(world.state().repository.commits.len(), 2, "one commit, however often it was tried");
}

/// C1.5: what is waited for stands in the record, for `status`, `explain` and whoever waits for the attempt.
#[test]
fn c1_5_the_record_says_what_is_waited_for_and_until_when() {
    let world = World::new(diligent());
    world.state().forge_faults = 2;
    assert_eq!(world.supervise(Mode::Begin), ended("success"));
    let waited = world.state().waited.clone();
    assert_eq!(waited.len(), 2, "{waited:?}");
    assert_eq!(waited[0].why, "could not look for a pull request: no route to host");
    assert!(waited[0].until < waited[1].until, "{waited:?}");
    assert_eq!(world.read().waiting, None);
}

/// C1.5: whoever wishes for a pass may have mended what is wrong, so nobody sleeps a back-off out after that.
#[test]
fn c1_5_a_wish_for_a_pass_ends_the_waiting() {
    let took_s = |faults, wish_after_s: Option<u64>| {
        let world = World::new(diligent());
        let before = world.state().awake_ms;
        world.state().forge_faults = faults;
        world.state().wish_at = wish_after_s.map(|after| before + after * 1000);
        assert_eq!(world.supervise(Mode::Begin), ended("success"));
        (world.state().awake_ms - before) / 1000
    };
    let work = took_s(0, None);
    assert_eq!(took_s(5, None), work + 5 + 10 + 20 + 40 + 80);
    assert_eq!(took_s(5, Some(work + 110)), work + 110);
    assert_eq!(took_s(5, Some(work + 80)), work + 75 + 30, "half a minute is always waited");
}

/// C1.4b: nothing is concluded from another branch's files.
#[test]
fn c1_4b_the_close_waits_while_the_board_is_elsewhere() {
    let mut acts = diligent();
    acts.insert(acts.len() - 1, Act::Switch("feature"));
    let world = World::new(acts);
    let back = world.state().awake_ms + 600_000;
    world.state().back_at = Some(back);
    assert_eq!(world.supervise(Mode::Begin), ended("success"));
    assert!(world.state().awake_ms >= back);
}

/// C1.4b: the forge may have taken a while.
#[test]
fn c1_4b_the_announcement_waits_while_the_board_is_elsewhere() {
    let world = World::new(diligent());
    world.state().meanwhile.push(("create", State::board_leaves));
    assert_eq!(world.supervise(Mode::Begin), ended("success"));
    assert!(world.state().comments[0].contains("https://forge.example/pr/1"));
    assert!(world.state().task.as_ref().unwrap().definition_of_done[2].checked);
}

/// W2: the worker's edits go through the broker, and what it may not do is refused there.
#[test]
fn w2_the_broker_applies_the_policy_again() {
    let world = World::new(vec![
        Act::Write("src/hello.rs", "fn hello() {}"),
        Act::Mail(vec!["T-5", "--view"]),
        Act::Mail(vec!["T-6", "--check-ac", "1"]),
        Act::Mail(vec!["T-5", "--status", "Done"]),
        Act::Mail(vec!["T-5", "--check-dod", "1"]),
        Act::Mail(vec!["T-5", "--plan", "reads otherwise"]),
        Act::Mail(vec!["T-5", "--check-ac", "1", "--check-ac", "2"]),
        result("Done."),
        Act::Exit(0),
    ]);
    assert_eq!(world.supervise(Mode::Begin), ended("success"));
    let exits: Vec<i32> = world.state().answers.iter().map(|(exit, ..)| *exit).collect();
    assert_eq!(exits, [0, 2, 2, 2, 2, 0]);
    assert!(
        world.state().answers[4].2.contains("(protected-fields)"),
        "{}",
        world.state().answers[4].2
    );
    assert!(world.state().answers[0].1.contains("Task T-5"));
}
