//! Questions, answers and second attempts.

use dispatch_testkit::model_server::Turn;

use crate::world::{World, make, task, work};

/// D10, C10.2, D8.1, D6.6: the question reaches the person, the answer reaches the worker, and the work goes on where it was.
#[test]
fn a_question_is_answered_and_the_next_attempt_goes_on_with_the_work() {
    let Some(world) = World::with_forge() else { return };
    let question = Turn::text("I am stuck.\nNEEDS-GUIDANCE: which grammar do you mean?");
    world.worker("T-1", [make([("src/lexer.rs", "//! Half of it.\n")]), question]);
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs")]);

    let comment = world.blocked("T-1", "needs-guidance");

    assert!(comment.contains("which grammar do you mean?"), "{comment}");
    assert_eq!(world.outcome("T-1", 1)["counted"], true);
    let kept = world.kept("T-1", 1);

    world.worker("T-1", work([("src/parser.rs", "//! The other half.\n")]));
    world.answer("T-1", "The one in the manual.");
    world.proposed("T-1");

    let prompt = world.asked("T-1").last().unwrap().prompt();
    for part in ["which grammar do you mean?", "The one in the manual.", "attempt 2 of 3"] {
        assert!(prompt.contains(part), "{part}\n{prompt}");
    }
    assert_eq!(world.outcome("T-1", 2)["start"], kept);
    let changed = world.repo().remote_changes("main", "task/T-1");
    assert_eq!(changed, ["src/lexer.rs", "src/parser.rs"]);
}

/// C9.2, C9.3: a second attempt after a pull request takes it up again and leaves a person's words in it.
#[test]
fn a_retry_reuses_the_pull_request_and_keeps_what_a_person_wrote_in_it() {
    let Some(world) = World::with_forge() else { return };
    world.worker("T-1", work([("src/parser.rs", "//! A parser.\n")]));
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs")]);
    world.proposed("T-1");
    let first = world.repo().remote_branches()["task/T-1"].clone();
    world.forge().edit(1, |pull| pull.body = format!("Mine stays.\n\n{}\n\nThis too.", pull.body));

    world.worker("T-1", work([("src/tests.rs", "//! Tests.\n")]));
    world.answer("T-1", "Tests, please.");
    world.proposed("T-1");

    assert_eq!(world.outcome("T-1", 2)["start"], first);
    assert_eq!(world.forge().pull_requests().len(), 1);
    let pull = world.forge().pull_request(1);
    assert!(pull.body.starts_with("Mine stays.\n"), "{}", pull.body);
    assert!(pull.body.trim_end().ends_with("This too."), "{}", pull.body);
    assert!(pull.body.contains("src/tests.rs"), "{}", pull.body);
    let parent = format!("{}^", world.repo().remote_branches()["task/T-1"]);
    assert_eq!(world.repo().git_in(&world.repo().remote(), &["rev-parse", &parent]), first);
}

/// D4 guard 5: after the configured number of attempts a person has to look.
#[test]
fn a_task_whose_attempts_are_used_up_is_blocked() {
    let Some(world) = World::with_git() else { return };
    world.configure(|config| config["attempts"] = 1.into());
    world.worker("T-1", [Turn::text("NEEDS-GUIDANCE: what?")]);
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs")]);
    world.blocked("T-1", "needs-guidance");
    let asked = world.asked("T-1").len();

    world.answer("T-1", "That.");
    world.pass();

    assert_eq!(world.board().status("T-1"), "Blocked");
    assert!(world.last_comment("T-1").contains("attempts-exhausted"), "{}", world.story("T-1"));
    assert_eq!(world.asked("T-1").len(), asked);
}
