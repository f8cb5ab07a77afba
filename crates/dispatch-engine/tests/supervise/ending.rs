//! Attempts that do not become a pull request.

use dispatch_core::config::{Credential, FileCommand, GeneratedConfig, HookKind, PromptHook};
use dispatch_core::names::CloseStep;
use dispatch_core::record::{Phase, Request};
use dispatch_core::status::Status;
use dispatch_core::task::{DeclaredFile, OneLine};
use dispatch_engine::hand_over::HandOver;
use dispatch_engine::ports::{AttemptFile, Review, Verdict};
use dispatch_engine::supervise::{Drain, End, Mode};
use serde_json::json;
use test_case::test_case;

use crate::world::{Act, DiffOf, State, World, config, diligent, failed, result, task};

fn ended(reason: &str) -> End {
    End::Ended { reason: reason.to_owned(), drain: Drain::Pass }
}

fn writes_then(acts: Vec<Act>) -> Vec<Act> {
    let mut all = vec![Act::Write("src/hello.rs", "half of it")];
    all.extend(acts);
    all
}

/// I3: what the worker wrote is under the attempt's ref, and the comment says so.
fn saved_and_said(world: &World) {
    let state = world.state();
    let kept = &state.repository.refs["refs/dispatch/attempts/T-5/1"];
    assert!(state.repository.files(kept)["src/hello.rs"].starts_with("half"));
    assert!(state.comments.last().unwrap().contains("refs/dispatch/attempts/T-5/1"));
}

#[test]
fn n50_a_question_blocks_the_task_with_the_question_in_the_comment() {
    let acts = writes_then(vec![result("NEEDS-GUIDANCE: ASCII or Unicode?"), Act::Exit(0)]);
    let world = World::new(acts);
    assert_eq!(world.supervise(Mode::Begin), ended("needs-guidance"));
    insta::assert_snapshot!(world.steps(), @"freeze save-work block release-slot recompute-parents drain");
    assert_eq!(world.status(), Status::Blocked);
    saved_and_said(&world);
    let state = world.state();
    assert!(state.comments[0].contains("ASCII or Unicode?"), "{}", state.comments[0]);
    assert_eq!(state.notified, ["T-5 blocked: needs-guidance"]);
}

/// N54: an attempt that leaves nothing of its own does not make an earlier one's work forgotten.
#[test]
fn n54_an_attempt_without_work_keeps_what_was_saved_before() {
    let world = World::new(vec![Act::Exit(1)]);
    let saved = world.state().repository.first_commit(&[("src/hello.rs", "half, from before")]);
    world.state().record.as_mut().unwrap().saved = Some(saved.clone());
    assert_eq!(world.supervise(Mode::Begin), ended("crash"));
    assert_eq!(world.read().saved, Some(saved));
    assert!(world.state().comments[0].contains("There was no work to save."));
}

/// M2: a supervisor that is closing finishes, but it does not wait an hour for a task that nobody wants.
#[test]
fn m2_a_cancellation_ends_the_waiting_for_a_forge() {
    let world = World::new(diligent());
    world.state().forge_faults = 1000;
    world.state().asked_at_fault = Some(Request::Cancel { to: Some(Status::ToDo) });
    assert_eq!(world.supervise(Mode::Begin), ended("cancelled"));
    assert_eq!(world.status(), Status::ToDo);
    assert!(world.state().repository.refs.contains_key("refs/dispatch/attempts/T-5/1"));
}

#[test]
fn d9_9_a_shutdown_ends_the_waiting_for_a_forge() {
    let world = World::new(diligent());
    world.state().forge_faults = 1000;
    world.state().asked_at_fault = Some(Request::Interrupt);
    assert_eq!(world.supervise(Mode::Begin), ended("interrupted"));
    assert_eq!(world.status(), Status::Queued);
}

#[test]
fn c5_1_a_failing_formatter_blocks_and_an_unformatted_file_is_reported() {
    let mut config = crate::world::config();
    config.checks.format = vec![FileCommand {
        files: vec!["**/*.md".to_owned()],
        cwd: ".".into(),
        command: vec!["prettier".to_owned(), "{files}".to_owned()],
    }];
    let world = World::with(config.clone(), diligent());
    assert_eq!(world.supervise(Mode::Begin), ended("success"));
    let body = world.state().pull_requests[0].0.body.clone().unwrap();
    assert!(body.contains("No formatter covers:\n\n```text\nsrc/hello.rs\n```"), "{body}");

    config.checks.format[0].files = vec!["**/*.rs".to_owned()];
    let world = World::with(config, diligent());
    world.state().failing.push("prettier");
    assert_eq!(world.supervise(Mode::Begin), ended("format-failed"));
    assert_eq!(world.state().ran, ["Slot prettier src/hello.rs"]);
}

#[test_case("src/gen/a.rs", "success"; "an output is part of the change")]
#[test_case("Cargo.lock", "generated-files-failed"; "anything else fails")]
fn n48_c6_generated_files_stay_within_their_outputs(writes: &'static str, reason: &str) {
    let mut config = crate::world::config();
    config.generated = vec![GeneratedConfig {
        watch: vec!["src/*.rs".to_owned()],
        command: vec!["generate".to_owned()],
        outputs: vec!["src/gen/**".to_owned()],
    }];
    let world = World::with(config, diligent());
    world.state().writing.push(("generate", writes, "made"));
    assert_eq!(world.supervise(Mode::Begin), ended(reason));
    if reason == "success" {
        let commit = world.read().pr.unwrap().commit;
        assert!(world.state().repository.files(&commit).contains_key(writes));
    }
}

/// C1.2: a free slot under a task still `In Progress` would read as a vanished worker.
#[test]
fn c1_2_the_task_is_blocked_before_its_slot_is_released() {
    let world = World::new(writes_then(vec![Act::Exit(1)]));
    assert_eq!(world.supervise(Mode::Begin), ended("crash"));
    assert!(world.position("status Blocked") < world.position("free the slot"));
    assert_eq!(world.read().counts.counted, 1);
}

#[test_case(r#"{"api_error_status": 529}"#, "overloaded"; "the provider is overloaded")]
#[test_case(r#"{"api_error_status": 401}"#, "login-expired"; "the login expired")]
#[test_case(r#"{"api_error_status": 429, "result": "usage limit reached|1893456000"}"#, "usage-limit"; "the window is used up")]
fn i8_br_23_br_24_an_accounts_fault_goes_back_to_the_queue_uncounted_and_pauses_the_lane(
    fields: &str,
    cause: &str,
) {
    let world =
        World::new(writes_then(vec![failed(&serde_json::from_str(fields).unwrap()), Act::Exit(1)]));
    assert_eq!(world.supervise(Mode::Begin), ended(cause));
    assert_eq!(world.status(), Status::Queued);
    let counts = world.read().counts;
    assert_eq!((counts.counted, counts.uncounted), (0, 1));
    saved_and_said(&world);
    let state = world.state();
    assert_eq!(state.lane.pause.as_ref().unwrap().cause.as_str(), cause);
    if cause == "usage-limit" {
        let until = state.lane.pause.as_ref().unwrap().until.as_deref();
        assert_eq!(until, Some("2030-01-01T00:01:00.000Z"));
    }
}

#[test]
fn c5_4_a_failing_check_blocks_with_its_last_lines() {
    let world = World::new(diligent());
    world.state().failing.push("cargo test");
    assert_eq!(world.supervise(Mode::Begin), ended("checks-failed"));
    insta::assert_snapshot!(world.steps(), @"board-check format freeze scope-check !checks save-work block release-slot recompute-parents drain");
    let state = world.state();
    assert!(state.comments[0].contains("`cargo test -p hello` ended with exit status 1."));
    assert!(state.comments[0].contains("assertion failed"));
    // N37: nothing was proved, so nothing is ticked.
    assert!(!state.task.as_ref().unwrap().definition_of_done[0].checked);
}

#[test]
fn c5_2_checks_that_change_files_prove_nothing() {
    let world = World::new(diligent());
    world.state().writing.push(("cargo test", "src/hello.rs", "fixed by the test"));
    assert_eq!(world.supervise(Mode::Begin), ended("tree-changed-by-checks"));
}

#[test_case("src/other.rs", "out-of-scope"; "a file that was not declared")]
#[test_case(".github/workflows/ci.yml", "forbidden"; "a file no local worker may touch")]
#[test_case(".env", "forbidden"; "a secret by its name")]
fn c3_4_files_outside_the_task_fail_the_scope_check(path: &'static str, class: &str) {
    let mut acts = diligent();
    acts.insert(0, Act::Write(path, "x"));
    let world = World::new(acts);
    assert_eq!(world.supervise(Mode::Begin), ended("scope-check-failed"));
    let comment = world.state().comments[0].clone();
    assert_eq!(comment.matches(&format!("{class}: {path}")).count(), 1, "{comment}");
    assert!(comment.contains("1 file:"), "{comment}");
}

/// C3.4: a comment lists fifty files and says how many more there are.
#[test]
fn c3_4_many_files_are_counted() {
    let names: Vec<String> = (0..60).map(|number| format!("docs/{number:02}.md")).collect();
    let mut acts = diligent();
    for name in &names {
        acts.insert(0, Act::Write(name.clone().leak(), "x"));
    }
    let world = World::new(acts);
    assert_eq!(world.supervise(Mode::Begin), ended("scope-check-failed"));
    let comment = world.state().comments[0].clone();
    assert!(comment.contains("60 files:") && comment.contains("… +10"), "{comment}");
    assert_eq!(comment.matches("out-of-scope: ").count(), 50, "{comment}");
}

/// README §5: what is kept with the journal is bounded whatever an attempt did, and what is decided is decided by all of
/// its files: the last of a hundred thousand fails the check.
#[test_case(None, "review-diff-too-large"; "all of them declared and only too many for a reviewer")]
#[test_case(Some("zzz.txt"), "scope-check-failed"; "all but the last declared")]
fn a_hundred_thousand_changed_files_are_judged_and_not_kept(
    last: Option<&'static str>,
    reason: &str,
) {
    let mut acts = diligent();
    acts.insert(0, Act::WriteMany("docs", 100_000));
    if let Some(last) = last {
        acts.insert(0, Act::Write(last, "x"));
    }
    let world = World::new(acts);
    let docs = DeclaredFile { text: "docs/".to_owned(), shared: false };
    world.state().task.as_mut().unwrap().declared_files.push(docs);
    assert_eq!(world.supervise(Mode::Begin), ended(reason));
    let state = world.state();
    let kept = state.private["attempt"].to_string();
    assert!(kept.len() < 200_000, "{}", kept.len());
    let outcome = &state.files[&AttemptFile::Outcome];
    assert!(outcome.len() < 200_000, "{}", outcome.len());
    if let Some(last) = last {
        assert!(state.comments[0].contains(&format!("out-of-scope: {last}")));
    } else {
        assert!(String::from_utf8_lossy(outcome).contains("\"100001 files\""));
    }
}

/// C3.2: a deletion is a change like any other.
#[test]
fn c3_2_a_file_that_was_deleted_counts() {
    let mut acts = diligent();
    acts.insert(0, Act::Remove("README.md"));
    let world = World::new(acts);
    assert_eq!(world.supervise(Mode::Begin), ended("scope-check-failed"));
    assert!(world.state().comments[0].contains("out-of-scope: README.md"));
}

/// C3.3, C10.1: a tree that holds a credential is kept here and never leaves this machine.
#[test]
fn c10_1_a_credential_in_the_work_keeps_it_from_being_backed_up() {
    let mut acts = diligent();
    acts[0] = Act::Write("src/hello.rs", "let key = \"sk-secret-token\";");
    let world = World::new(acts);
    assert_eq!(world.supervise(Mode::Begin), ended("scope-check-failed"));
    let state = world.state();
    assert!(state.repository.refs.contains_key("refs/dispatch/attempts/T-5/1"));
    assert!(state.repository.remote_refs.is_empty());
}

/// C3.3: every credential that the worker is given counts, not the account's alone.
#[test_case(|_| (); "handed on from the person's environment")]
#[test_case(|hand| hand.config.agent.credential = Credential::Helper(vec!["get-key".to_owned()]); "beside a helper")]
#[test_case(|hand| { hand.settings.env.insert("ANTHROPIC_AUTH_TOKEN".to_owned(), "npm_a1b2c3".to_owned()); }; "of the lane's settings")]
fn c3_3_every_credential_that_was_handed_out_counts(change: fn(&mut HandOver)) {
    let mut acts = diligent();
    acts[0] = Act::Write("src/hello.rs", "let key = \"npm_a1b2c3\";");
    let world = World::new(acts);
    world.hand_over(|hand| {
        hand.config.lanes.local.env_passthrough = vec!["NPM_TOKEN".to_owned()];
        change(hand);
    });
    world.state().environment.insert("NPM_TOKEN".to_owned(), "npm_a1b2c3".to_owned());
    assert_eq!(world.supervise(Mode::Begin), ended("scope-check-failed"));
    assert!(world.state().comments[0].contains("dangerous: src/hello.rs"));
    assert!(world.state().repository.remote_refs.is_empty());
}

#[test]
fn c10_1_a_failed_backup_is_listed_for_the_sweep() {
    let world = World::new(writes_then(vec![Act::Exit(1)]));
    world.state().backup_broken = true;
    assert_eq!(world.supervise(Mode::Begin), ended("crash"));
    // The sweep tries it five times from here on.
    assert_eq!(world.state().backups["refs/dispatch/attempts/T-5/1"], 0);
}

/// C10.1: once the work is kept, nothing that fails holds the slot.
#[test]
fn c10_1_a_list_of_backups_that_cannot_be_written_holds_no_slot() {
    let world = World::new(writes_then(vec![Act::Exit(1)]));
    world.state().backup_broken = true;
    world.state().backups_broken = true;
    assert_eq!(world.supervise(Mode::Begin), ended("crash"));
    assert!(world.state().entry.task_id.is_none());
    saved_and_said(&world);
}

/// C10.1: a credential counts in a file that no worker may touch, too.
#[test]
fn c10_1_a_credential_in_a_forbidden_file_keeps_the_work_here() {
    let mut acts = diligent();
    acts[0] = Act::Write(".github/workflows/ci.yml", "key: sk-secret-token");
    let world = World::new(acts);
    assert_eq!(world.supervise(Mode::Begin), ended("scope-check-failed"));
    assert!(world.state().comments[0].contains("forbidden: .github/workflows/ci.yml"));
    assert!(world.state().repository.refs.contains_key("refs/dispatch/attempts/T-5/1"));
    assert!(world.state().repository.remote_refs.is_empty());
}

/// C3.3, C6: a generated file is not judged, unless it holds a credential.
#[test]
fn c3_3_a_generated_file_holds_no_credential() {
    let mut config = crate::world::config();
    config.generated = vec![GeneratedConfig {
        watch: vec!["src/*.rs".to_owned()],
        command: vec!["generate".to_owned()],
        outputs: vec!["src/gen/**".to_owned()],
    }];
    let world = World::with(config, diligent());
    world.state().writing.push(("generate", "src/gen/a.rs", "key: sk-secret-token"));
    assert_eq!(world.supervise(Mode::Begin), ended("scope-check-failed"));
    assert!(world.state().comments[0].contains("dangerous: src/gen/a.rs"));
    assert!(world.state().repository.remote_refs.is_empty());
}

/// C10.1: the work of an attempt whose task left the board is backed up like any other.
#[test]
fn c10_1_work_without_a_task_is_backed_up() {
    let mut acts = diligent();
    acts.insert(1, Act::Leave);
    let world = World::new(acts);
    assert_eq!(world.supervise(Mode::Begin), ended("cancelled"));
    assert!(world.state().repository.remote_refs.contains_key("refs/dispatch/attempts/T-5/1"));
}

/// C1.4b: the comment about a cancelled attempt waits for the board.
#[test]
fn c1_4b_a_comment_for_a_person_waits_while_the_board_is_elsewhere() {
    let mut acts = diligent();
    acts.insert(1, Act::Person(|task| task.status = Status::ToDo));
    let world = World::new(acts);
    world.state().meanwhile.push(("backup", State::board_leaves));
    assert_eq!(world.supervise(Mode::Begin), ended("cancelled"));
    assert!(world.state().comments[0].contains("refs/dispatch/attempts/T-5/1"));
}

/// C1.4b: so does a status that a person asks for when the task was handed back already.
#[test]
fn c1_4b_a_late_cancellation_waits_while_the_board_is_elsewhere() {
    let world = World::new(writes_then(vec![Act::Exit(1)]));
    world.state().meanwhile.push(("notify", |state| {
        state.board_leaves();
        state.request = Some(Request::Cancel { to: Some(Status::ToDo) });
    }));
    assert_eq!(world.supervise(Mode::Begin), ended("crash"));
    assert_eq!(world.status(), Status::ToDo);
}

/// K4: a task that a person moved meanwhile is not said to be blocked.
#[test]
fn c10_3_a_status_that_a_person_set_meanwhile_is_not_announced_as_blocked() {
    let world = World::new(writes_then(vec![Act::Exit(1)]));
    world.state().meanwhile.push(("backup", |state| {
        state.task.as_mut().unwrap().status = Status::ToDo;
    }));
    assert_eq!(world.supervise(Mode::Begin), ended("crash"));
    assert_eq!(world.status(), Status::ToDo);
    assert!(world.state().notified.is_empty());
}

fn lint_rules(glob: &str) -> dispatch_core::config::Config {
    let mut config = crate::world::config();
    config.checks.lint = vec![FileCommand {
        files: vec![glob.to_owned()],
        cwd: ".".into(),
        command: vec!["eslint".to_owned(), "{files}".to_owned()],
    }];
    config
}

fn with_lint_item(config: dispatch_core::config::Config) -> World {
    let world = World::with(config, diligent());
    let mut task = task();
    "Lint passes".clone_into(&mut task.definition_of_done[1].text);
    world.state().task = Some(task);
    world
}

/// C5.5, N37: rules for other files prove nothing about these.
#[test]
fn n37_linting_is_proved_by_a_linter_that_ran() {
    let world = with_lint_item(lint_rules("**/*.rs"));
    assert_eq!(world.supervise(Mode::Begin), ended("success"));
    assert!(world.state().task.as_ref().unwrap().definition_of_done[1].checked);

    let world = with_lint_item(lint_rules("**/*.ts"));
    assert_eq!(world.supervise(Mode::Begin), ended("acceptance-unmet"));
    assert!(!world.state().task.as_ref().unwrap().definition_of_done[1].checked);
    let comment = world.state().comments[0].clone();
    assert!(
        comment.contains("no formatter or linter is configured for the changed files"),
        "{comment}"
    );
    assert!(comment.contains("definition of done #2: Lint passes"), "{comment}");
}

/// C5.5: what a formatter proved is ticked where there is nothing else to run.
#[test]
fn c5_5_a_formatter_alone_proves_its_item() {
    let mut config = lint_rules("**/*.ts");
    config.checks.format = vec![FileCommand {
        files: vec!["**/*.rs".to_owned()],
        cwd: ".".into(),
        command: vec!["rustfmt".to_owned(), "{files}".to_owned()],
    }];
    config.whole_test_command = None;
    let world = with_lint_item(config);
    {
        let mut state = world.state();
        let task = state.task.as_mut().unwrap();
        task.test_command = OneLine::Missing;
        task.definition_of_done.remove(0);
    }
    world.hand_over(|hand| hand.test_command = None);
    assert_eq!(world.supervise(Mode::Begin), ended("success"));
    assert_eq!(world.state().ran, ["Slot rustfmt src/hello.rs"]);
}

#[test]
fn c3_4_nothing_changed_is_a_failure_of_its_own() {
    let mut acts = diligent();
    acts.remove(0);
    let world = World::new(acts);
    assert_eq!(world.supervise(Mode::Begin), ended("no-changes"));
    assert!(world.state().repository.refs.is_empty());
}

#[test]
fn c8_open_criteria_are_named() {
    let mut acts = diligent();
    acts.remove(1);
    let world = World::new(acts);
    assert_eq!(world.supervise(Mode::Begin), ended("acceptance-unmet"));
    assert!(world.state().comments[0].contains("acceptance criterion #2: It is tested"));
}

#[test]
fn c7_3_a_reviewer_that_asks_for_changes_blocks_with_its_findings() {
    let world = World::new(diligent());
    world.state().reviews = vec![Review::Verdict {
        verdict: Verdict::RequestChanges,
        findings: vec!["greets nobody".to_owned()],
        answer: "the whole answer".to_owned(),
    }];
    assert_eq!(world.supervise(Mode::Begin), ended("review-changes-requested"));
    assert!(world.state().comments[0].contains("greets nobody"));
}

/// N34, C7.3: a diff that cannot be had is not reviewed as an empty one.
#[test_case(DiffOf::Nothing; "empty although files changed")]
#[test_case(DiffOf::Failing; "without an answer of git")]
fn c7_3_a_diff_that_cannot_be_had_is_never_reviewed(diff: DiffOf) {
    let world = World::new(diligent());
    world.state().diff = diff;
    assert_eq!(world.supervise(Mode::Begin), ended("review-diff-unreadable"));
    assert_eq!(world.state().review_prompts, Vec::<String>::new());
    assert_eq!(world.status(), Status::Blocked);
}

/// N61, I8: a reviewer that is not to be had is waited for an hour, then the task goes back uncounted.
#[test]
fn c7_3_an_unavailable_reviewer_blocks_nothing() {
    let world = World::new(diligent());
    world.state().reviews = vec![Review::TimedOut];
    let before = world.state().awake_ms;
    assert_eq!(world.supervise(Mode::Begin), ended("reviewer-unavailable"));
    assert_eq!(world.status(), Status::Queued);
    let waited_min = (world.state().awake_ms - before) / 60_000;
    assert!((60..=75).contains(&waited_min), "{waited_min}");
    assert_eq!(world.read().counts.uncounted, 1);
}

/// B4: without confinement a difference can be the worker's; with it only a person's.
#[test_case(false, "board-tampered", "Blocked"; "without confinement")]
#[test_case(true, "task-edited", "Queued"; "with confinement")]
fn b4_a_protected_field_that_changed_is_named(confined: bool, reason: &str, status: &str) {
    let mut acts = diligent();
    acts.insert(1, Act::Person(|task| task.test_command = OneLine::Given("true".to_owned())));
    let world = World::new(acts);
    assert_eq!(world.supervise_confined(Mode::Begin, confined), ended(reason));
    assert_eq!(world.status().as_str(), status);
    assert!(world.state().comments[0].contains("test command: "));
}

/// B2.7, I4, I5: a file that nothing may write keeps neither the slot nor the person from knowing.
#[test]
fn b2_7_a_task_whose_file_must_not_be_touched_is_named_to_a_person_and_its_slot_is_free() {
    let mut acts = diligent();
    acts.insert(1, Act::Plant("its front matter names the language `js`"));
    let world = World::new(acts);
    assert_eq!(world.supervise(Mode::Begin), ended("board-tampered"));
    assert_eq!(world.status(), Status::InProgress);
    assert!(world.state().entry.task_id.is_none());
    assert_eq!(world.state().notified.len(), 2, "{:?}", world.state().notified);
    assert_eq!(world.state().notified[0], "T-5: its file has to be cleaned by hand");
    let owed = world.read().owed.unwrap();
    assert_eq!(owed.to, Status::Blocked);
    let comment = owed.comment.unwrap();
    assert!(comment.contains("refs/dispatch/attempts/T-5/1"), "{comment}");
}

/// M1 step 4, B3.9: a status that a person moved stays, the work is saved, the slot is free.
#[test]
fn b4_a_task_that_a_person_took_away_is_left_to_them() {
    let mut acts = diligent();
    acts.insert(1, Act::Person(|task| task.status = Status::ToDo));
    let world = World::new(acts);
    assert_eq!(world.supervise(Mode::Begin), ended("cancelled"));
    insta::assert_snapshot!(world.steps(), @"!board-check freeze save-work release-slot recompute-parents drain");
    assert_eq!(world.status(), Status::ToDo);
    assert!(world.state().entry.task_id.is_none());
    assert!(world.state().comments[0].contains("refs/dispatch/attempts/T-5/1"));
}

#[test]
fn m4_a_cancelled_attempt_is_stopped_saved_and_put_where_it_was_asked_for() {
    let request = Request::Cancel { to: Some(Status::ToDo) };
    let world = World::new(writes_then(vec![Act::Ask(request), Act::Idle(100_000)]));
    assert_eq!(world.supervise(Mode::Begin), ended("cancelled"));
    assert!(world.position("stop the worker") < world.position("status To Do"));
    assert_eq!(world.status(), Status::ToDo);
    assert_eq!(world.state().request, None);
    saved_and_said(&world);
}

/// I4: a person's `git stash` takes the task away and their `git stash pop` puts it back: nobody works on it then.
#[test]
fn m1_step_4_a_task_that_was_taken_away_and_put_back_is_queued_again() {
    let request = Request::Cancel { to: None };
    let world = World::new(writes_then(vec![Act::Ask(request), Act::Idle(100_000)]));
    assert_eq!(world.supervise(Mode::Begin), ended("cancelled"));
    assert_eq!(world.status(), Status::Queued);
    assert_eq!(world.read().counts.uncounted, 1);
    saved_and_said(&world);
}

#[test]
fn d9_9_a_shutdown_puts_the_task_back_uncounted() {
    let world = World::new(writes_then(vec![Act::Ask(Request::Interrupt), Act::Idle(100_000)]));
    assert_eq!(world.supervise(Mode::Begin), ended("interrupted"));
    assert_eq!(world.status(), Status::Queued);
    assert_eq!(world.read().counts.uncounted, 1);
    saved_and_said(&world);
}

/// A world in which each of these programs runs: an installation, a prompt hook, a formatter, the tests, the reviewer.
fn with_every_program(asked: &Request, during: &'static str) -> World {
    let mut config = crate::world::config();
    config.checks.format = vec![FileCommand {
        files: vec!["**/*.rs".to_owned()],
        cwd: ".".into(),
        command: vec!["rustfmt".to_owned(), "{files}".to_owned()],
    }];
    let world = World::with(config, diligent());
    world.hand_over(|hand| {
        hand.config.provision.install = vec!["npm".into(), "install".into()];
        hand.config.prompt_hooks =
            vec![PromptHook { kind: HookKind::Prompt, command: vec!["context".to_owned()] }];
    });
    let happens = match asked {
        Request::Interrupt | Request::Stop => {
            (|state: &mut State| state.request = Some(Request::Interrupt)) as fn(&mut State)
        }
        Request::Cancel { .. } => {
            |state: &mut State| state.request = Some(Request::Cancel { to: Some(Status::ToDo) })
        }
    };
    world.state().meanwhile.push((during, happens));
    world
}

/// D9.9, M2: whatever a supervisor waits for, a request is seen meanwhile: the program is ended, the work is saved, and the
/// task goes where the request says.
#[test_case("npm", false; "an installation")]
#[test_case("context", false; "a prompt hook")]
#[test_case("rustfmt", true; "a formatter")]
#[test_case("cargo", true; "the tests")]
#[test_case("review", true; "the reviewer")]
fn d9_9_a_request_is_seen_while_a_program_runs(during: &'static str, worked: bool) {
    let cancel = Request::Cancel { to: Some(Status::ToDo) };
    for (asked, reason, status) in
        [(Request::Interrupt, "interrupted", Status::Queued), (cancel, "cancelled", Status::ToDo)]
    {
        let world = with_every_program(&asked, during);
        assert_eq!(world.supervise(Mode::Begin), ended(reason));
        assert_eq!(world.status(), status);
        let counts = world.read().counts;
        assert_eq!((counts.counted, counts.uncounted), (0, 1), "{reason}");
        let state = world.state();
        if during != "review" {
            let last = state.ran.last().unwrap();
            assert!(last.ends_with(", ended") && last.contains(during), "{:?}", state.ran);
        }
        assert!(state.pull_requests.is_empty());
        assert_eq!(state.entry.task_id, None, "the slot is free");
        assert_eq!(
            state.repository.refs.contains_key("refs/dispatch/attempts/T-5/1"),
            worked,
            "what a worker did is kept"
        );
    }
}

/// C1.1, D9: before the first step of the close what the worker left is ended, and what it still asked of the board is
/// refused: from then on nothing of it changes anything.
#[test]
fn c1_1_nothing_of_the_worker_acts_once_the_close_begins() {
    let world = World::new(writes_then(vec![result("Done."), Act::Exit(0)]));
    world.state().meanwhile.push(("strays", |state| {
        state.mail.push(["--check-ac", "1"].map(str::to_owned).to_vec());
    }));
    assert_eq!(world.supervise(Mode::Begin), ended("acceptance-unmet"));
    let order = ["launch", "end strays", "status Blocked"].map(|entry| world.position(entry));
    assert!(order.is_sorted(), "{order:?}");
    let state = world.state();
    let (exit, _, why) = state.answers.last().unwrap();
    assert_eq!(*exit, 1);
    assert!(why.contains("the attempt has ended; nothing was written"), "{why}");
    assert!(!state.task.as_ref().unwrap().acceptance[0].checked);
}

/// D9.9, M2: a shutdown does not take a person's cancellation back.
#[test]
fn m2_a_cancellation_outlives_a_shutdown() {
    let world = World::new(writes_then(vec![Act::Idle(100_000)]));
    world.state().request = Some(Request::Cancel { to: Some(Status::ToDo) });
    world.state().asked_to_end = true;
    let end = world.supervise(Mode::Begin);
    assert_eq!(end, End::Ended { reason: "cancelled".to_owned(), drain: Drain::Nothing });
    assert_eq!(world.status(), Status::ToDo);
}

/// D9.9: a pass in our place would start what was just stopped.
#[test]
fn d9_9_no_pass_follows_a_shutdown() {
    let world = World::new(writes_then(vec![Act::Idle(100_000)]));
    world.state().asked_to_end = true;
    let end = world.supervise(Mode::Begin);
    assert_eq!(end, End::Ended { reason: "interrupted".to_owned(), drain: Drain::Nothing });
}

#[test]
fn d9_5_a_worker_over_its_time_is_stopped() {
    let world = World::new(writes_then(vec![Act::Idle(1_000_000)]));
    let before = world.state().awake_ms;
    assert_eq!(world.supervise(Mode::Begin), ended("timeout"));
    assert_eq!((world.state().awake_ms - before) / 60_000, 45);
    saved_and_said(&world);
}

#[test]
fn br_19_a_silent_worker_is_stopped_before_its_time_is_up() {
    let world = World::new(writes_then(vec![Act::Idle(1_000_000)]));
    world.hand_over(|hand| {
        hand.config.lanes.local.stall_timeout_minutes =
            Some(dispatch_core::config::Minutes::new(2.0));
    });
    assert_eq!(world.supervise(Mode::Begin), ended("stalled"));
}

/// D9.10, BR-18: the outcome stays what the last event says.
#[test]
fn br_18_a_worker_that_said_its_last_word_and_stays_is_ended_after_thirty_seconds() {
    let mut acts = diligent();
    acts.pop();
    acts.push(Act::Idle(1_000_000));
    let world = World::new(acts);
    let before = world.state().awake_ms;
    assert_eq!(world.supervise(Mode::Begin), ended("success"));
    assert!(world.state().awake_ms - before < 300_000);
    assert!(world.position("stop the worker") < world.position("push task/T-5"));
}

/// D9.5: the time limit holds for a worker that goes on talking after its result, which then counts.
#[test]
fn d9_5_a_worker_that_talks_on_after_its_result_has_no_more_time_than_others() {
    let mut acts = diligent();
    acts.pop();
    for _ in 0..10_000 {
        acts.extend([Act::Say(json!({"type": "system"}).to_string()), Act::Idle(20)]);
    }
    let world = World::new(acts);
    let limit = config().lanes.local.timeout_minutes.duration();
    let limit_ms = u64::try_from(limit.as_millis()).unwrap();
    let before = world.state().awake_ms;
    assert_eq!(world.supervise(Mode::Begin), ended("success"));
    let took = world.state().awake_ms - before;
    assert!((limit_ms..limit_ms + 300_000).contains(&took), "{took} ms of {limit_ms}");
}

/// S5: what was kept of this very attempt and cannot be understood is no empty beginning.
#[test]
fn i4_an_attempt_whose_kept_state_is_broken_is_given_up_and_not_begun_anew() {
    let world = World::new(diligent());
    let token = world.read().token;
    let broken = json!({"token": token, "close": 5});
    world.state().private.insert("attempt".to_owned(), broken);
    world.state().record.as_mut().unwrap().phase = Phase::Closing(CloseStep::OpenPr);
    assert_eq!(world.supervise(Mode::Recover), ended("work-held"));
    assert!(world.state().comments[0].contains("understand what was kept of attempt 1"));
    assert!(world.state().entry.held.is_some());
}

#[test]
fn d9_11_a_worker_with_more_tools_than_it_was_given_is_stopped_and_the_lane_pauses() {
    let init = json!({"type": "system", "subtype": "init", "permissionMode": "dontAsk", "tools": ["Read", "mcp__db__write"]});
    let world = World::new(writes_then(vec![Act::Say(init.to_string()), Act::Idle(100_000)]));
    assert_eq!(world.supervise(Mode::Begin), ended("surface-mismatch"));
    assert_eq!(world.status(), Status::Queued);
    let pause = world.state().lane.pause.clone().unwrap();
    assert!(pause.detail.contains("mcp__db__write"), "{pause:?}");
}

/// D11.1: once it may be the machine; twice in a row it may be the task.
#[test]
fn d11_1_a_lost_worker_goes_back_once_and_blocks_the_second_time_in_a_row() {
    let world = World::new(writes_then(vec![Act::Vanish]));
    assert_eq!(world.supervise(Mode::Begin), ended("worker-lost"));
    assert_eq!((world.status(), world.read().lost_in_a_row), (Status::Queued, 1));

    let again = World::new(writes_then(vec![Act::Vanish]));
    again.state().record.as_mut().unwrap().lost_in_a_row = 1;
    assert_eq!(again.supervise(Mode::Begin), ended("worker-lost"));
    assert_eq!(again.status(), Status::Blocked);
}

/// N31, C9.1: a branch that moved is never overwritten.
#[test]
fn c9_1_a_branch_that_moved_meanwhile_keeps_what_it_has() {
    let world = World::new(diligent());
    world.state().push_moves = true;
    assert_eq!(world.supervise(Mode::Begin), ended("remote-moved"));
    assert_eq!(world.status(), Status::Queued);
    assert!(world.state().repository.refs.contains_key("refs/dispatch/attempts/T-5/1"));
    assert_eq!(world.read().pr, None);
}

/// N10, C1.3: no other directory is ever taken instead.
#[test]
fn n10_without_a_slot_nothing_is_touched() {
    let mut acts = diligent();
    acts.truncate(1);
    acts.push(Act::Exit(1));
    let world = World::new(acts);
    world.state().entry.task_id = None;
    assert_eq!(world.supervise(Mode::Begin), ended("work-held"));
    assert!(world.state().comments[0].contains("no slot is assigned"));
    assert_eq!(world.state().entry.held, None);
}

#[test]
fn c10_1_work_that_cannot_be_saved_holds_the_slot() {
    let world = World::new(writes_then(vec![Act::Exit(1)]));
    world.state().freeze_broken = true;
    assert_eq!(world.supervise(Mode::Begin), ended("work-held"));
    insta::assert_snapshot!(world.steps(), @"!freeze block recompute-parents drain");
    assert_eq!(world.status(), Status::Blocked);
    let record = world.read();
    assert_eq!((record.phase, record.counts.counted), (Phase::Ended, 0));
    {
        let state = world.state();
        assert!(state.entry.held.is_some() && state.entry.task_id.is_some());
    }
    // M1 step 5: once the cause is gone the work is saved and the slot is free.
    world.state().freeze_broken = false;
    assert_eq!(world.supervise(Mode::Recover), ended("work-held"));
    let state = world.state();
    assert!(state.repository.refs.contains_key("refs/dispatch/attempts/T-5/1"));
    assert!(state.entry.held.is_none() && state.entry.task_id.is_none());
    assert_eq!(state.record.as_ref().unwrap().counts.uncounted, 1);
}

/// C10.1: a person may go on in a held slot; what is saved in the end is what lies there then.
#[test]
fn c10_1_a_held_slot_is_saved_as_it_is_when_its_cause_is_gone() {
    let world = World::new(writes_then(vec![Act::Exit(1)]));
    world.state().keep_broken = true;
    assert_eq!(world.supervise(Mode::Begin), ended("work-held"));
    {
        let mut state = world.state();
        state.keep_broken = false;
        state.slot.insert("src/hello.rs".to_owned(), "half, and key: sk-secret-token".to_owned());
    }
    assert_eq!(world.supervise(Mode::Recover), ended("work-held"));
    let state = world.state();
    let kept = &state.repository.refs["refs/dispatch/attempts/T-5/1"];
    assert_eq!(state.repository.files(kept)["src/hello.rs"], "half, and key: sk-secret-token");
    assert!(state.repository.remote_refs.is_empty());
}

/// I3, I4: without its hand-over nothing can be judged or saved, but neither is it left in progress for ever.
#[test]
fn i4_an_attempt_whose_hand_over_is_broken_holds_its_slot_and_tells_a_person() {
    let world = World::new(diligent());
    world.state().private.insert("hand-over".to_owned(), json!({"taskId": "T-5"}));
    world.state().record.as_mut().unwrap().phase = Phase::Running;
    assert_eq!(world.supervise(Mode::Recover), ended("work-held"));
    assert_eq!(world.status(), Status::Blocked);
    assert!(world.state().entry.held.is_some());
    assert!(world.state().comments[0].contains("/code/slots/dispatch-1"));
    // A second look changes and says nothing more.
    assert!(matches!(world.supervise(Mode::Recover), End::Left { .. }));
    assert_eq!(world.state().comments.len(), 1);
}

/// D9.7: another claim has taken over; nothing more is touched.
#[test]
fn d9_7_an_attempt_whose_token_changed_is_left_alone() {
    let mut acts = diligent();
    acts.insert(1, Act::Idle(5));
    let world = World::new(acts);
    // The claim changes hands while the worker idles.
    let at = world.state().awake_ms + 3_000;
    world.state().steal_at = Some(at);
    assert_eq!(world.supervise(Mode::Begin), End::NotOurs);
    assert_eq!(world.status(), Status::InProgress);
    assert!(world.state().entry.task_id.is_some());
}
