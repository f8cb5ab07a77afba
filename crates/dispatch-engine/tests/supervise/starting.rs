//! Attempts that end before their worker starts.

use dispatch_core::branch::BranchName;
use dispatch_core::status::Status;
use dispatch_core::task::{OneLine, Task};
use dispatch_engine::ports::{AttemptFile, RemoteBranch};
use dispatch_engine::supervise::{Drain, End, Mode};
use test_case::test_case;

use crate::world::{Act, World, diligent, result};

fn ended(reason: &str) -> End {
    End::Ended { reason: reason.to_owned(), drain: Drain::Pass }
}

/// N51, BR-21.
#[test]
fn d7_1_prompt_and_launch_are_written_before_the_worker_starts_and_hold_no_secret() {
    let world = World::new(diligent());
    world.supervise(Mode::Begin);
    let state = world.state();
    let text = |file| String::from_utf8_lossy(&state.files[&file]).into_owned();
    assert!(text(AttemptFile::Prompt).contains("Say hello"));
    assert!(text(AttemptFile::SystemPrompt).len() > 100);
    let launch = text(AttemptFile::Launch);
    assert!(
        launch.contains("--disallowedTools")
            && launch.contains("Bash(/opt/dispatch/worker-edit T-5:*)")
    );
    assert!(!launch.contains("sk-secret-token"), "{launch}");
}

/// BR-25: a disk that is nearly full pauses the lane and costs the task nothing.
#[test]
fn br_25_too_little_space_is_not_the_tasks_fault() {
    let world = World::new(diligent());
    world.state().free_mib = 10;
    assert_eq!(world.supervise(Mode::Begin), ended("disk-full"));
    assert_eq!(world.status(), Status::Queued);
    insta::assert_snapshot!(world.steps(), @"requeue release-slot recompute-parents drain");
    assert_eq!(world.state().lane.pause.as_ref().unwrap().cause.as_str(), "disk-full");
}

#[test]
fn d6_7_three_failed_provisionings_in_a_row_pause_the_lane_and_block_nothing() {
    for (before, paused) in [(0, false), (2, true)] {
        let world = World::new(diligent());
        world
            .hand_over(|hand| hand.config.provision.install = vec!["npm".into(), "install".into()]);
        world.state().lane.provision_failures = before;
        world.state().failing.push("npm");
        assert_eq!(world.supervise(Mode::Begin), ended("provision-failed"));
        assert_eq!(world.status(), Status::Queued);
        assert_eq!(world.state().lane.pause.is_some(), paused);
        assert_eq!(world.read().counts.counted, 0);
    }
}

#[test]
fn d6_7_an_installation_is_repeated_only_when_the_lockfile_changed() {
    for (installed, runs) in [(Some("digest-1"), false), (Some("digest-0"), true), (None, true)] {
        let world = World::new(diligent());
        world
            .hand_over(|hand| hand.config.provision.install = vec!["npm".into(), "install".into()]);
        world.state().entry.lockfile_hash = installed.map(str::to_owned);
        world.supervise(Mode::Begin);
        let in_slot = world.state().ran.iter().any(|line| line == "Slot npm install");
        assert_eq!(in_slot, runs, "{installed:?}");
        assert_eq!(world.state().entry.lockfile_hash.as_deref(), Some("digest-1"));
    }
}

#[test]
fn w3_4_hard_links_out_of_the_slot_refuse_the_launch() {
    let world = World::new(diligent());
    world.state().hard_link = true;
    assert_eq!(world.supervise(Mode::Begin), ended("hard-link-outside"));
    assert_eq!(world.status(), Status::Queued);
}

#[test]
fn d10_an_agent_that_cannot_be_started_pauses_the_lane() {
    let world = World::new(diligent());
    world.state().failing.push("agent");
    assert_eq!(world.supervise(Mode::Begin), ended("launch-refused"));
    assert_eq!(world.outcome()["outcome"], "spawn-failed");
    assert_eq!(world.status(), Status::Queued);
}

/// N54: an answer that could not be had is never taken for "there is no branch".
#[test]
fn n54_an_unknown_branch_starts_nothing() {
    let world = World::new(diligent());
    world.hand_over(|hand| hand.branch.seen = RemoteBranch::Unknown);
    assert_eq!(world.supervise(Mode::Begin), ended("remote-unreachable"));
    assert_eq!(world.status(), Status::Queued);
}

/// D6.6: work that was saved before is where the next attempt starts, with the base merged into it.
#[test]
fn d6_6_an_attempt_goes_on_from_saved_work() {
    let world = World::new(vec![
        Act::Write("src/hello.rs", "the second half"),
        Act::Mail(vec!["T-5", "--check-ac", "1", "--check-ac", "2"]),
        result("Done."),
        Act::Exit(0),
    ]);
    let saved = {
        let mut state = world.state();
        let base = state.repository.remote[&BranchName::parse("main").unwrap()].clone();
        let mut files = state.repository.files(&base).clone();
        files.insert("src/hello.rs".to_owned(), "the first half".to_owned());
        let tree = state.repository.tree(files);
        let saved = state.repository.commit(&tree, &[base], "saved");
        state.record.as_mut().unwrap().saved = Some(saved.clone());
        saved
    };
    assert_eq!(world.supervise(Mode::Begin), ended("success"));
    let record = world.read();
    assert_eq!(record.start, Some(saved.clone()));
    let commit = record.pr.unwrap().commit;
    assert!(world.state().repository.is_ancestor(&saved, &commit));
}

#[test]
fn a_task_that_left_the_board_is_left_to_the_person() {
    let world = World::new(diligent());
    world.state().task = None;
    assert_eq!(world.supervise(Mode::Begin), ended("cancelled"));
    assert!(world.state().entry.task_id.is_none());
}

#[test]
fn i8_a_board_that_cannot_be_read_costs_nothing() {
    let world = World::new(diligent());
    world.state().board_broken = true;
    assert_eq!(world.supervise(Mode::Begin), ended("board-unreadable"));
    assert_eq!(world.read().counts.counted, 0);
}

/// D3.3, D7.5: the task that is launched is the one the guards judged: what was granted for a test command that is gone or
/// has become doubtful by now is granted to nobody.
#[test_case(|task| task.test_command = OneLine::Missing; "the test command is gone")]
#[test_case(|task| task.test_command = OneLine::Given("cargo test --workspace".into()); "it is another one")]
#[test_case(|task| task.test_command = OneLine::Conflicting(vec!["a".into(), "b".into()]); "there are two")]
#[test_case(|task| task.acceptance.clear(); "no criterion is left")]
fn d3_3_a_task_edited_between_claim_and_launch_is_judged_again(edit: fn(&mut Task)) {
    let mut config = crate::world::config();
    config.whole_test_command = None;
    let world = World::with(config, diligent());
    edit(world.state().task.as_mut().unwrap());
    assert_eq!(world.supervise(Mode::Begin), ended("task-edited"));
    assert_eq!(world.status(), Status::Queued);
    assert_eq!(world.read().counts.counted, 0);
    assert!(!world.state().files.contains_key(&AttemptFile::Launch), "no worker was started");
}

/// D6.6: a base of which git cannot tell whether it fits is left out, and worker and pull request are told.
#[test]
fn d6_6_a_base_that_could_not_be_judged_is_told_to_the_worker_and_in_the_pull_request() {
    let world = World::new(diligent());
    world.state().merge_unknown = true;
    assert_eq!(world.supervise(Mode::Begin), ended("success"));
    let state = world.state();
    let prompt = String::from_utf8_lossy(&state.files[&AttemptFile::Prompt]).into_owned();
    assert!(prompt.contains("could not be told, so it was left out"), "{prompt}");
    let body = state.pull_requests[0].0.body.clone().unwrap();
    assert!(
        body.contains("The base is not merged into this work") && body.contains("shallow"),
        "{body}"
    );
}
