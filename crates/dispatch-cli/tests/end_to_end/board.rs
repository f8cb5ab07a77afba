//! The task itself while it is worked on, and its criteria (B4, C8).

use dispatch_testkit::model_server::Turn;

use crate::world::{World, make, make_and_tick, task};

/// C8: the worker ticks what it has done; an open criterion is not done.
#[test]
fn an_open_criterion_blocks() {
    let Some(world) = World::with_git() else { return };
    world.worker(
        "T-1",
        [make_and_tick([("src/parser.rs", "//! A parser.\n")]), Turn::text("Done.")],
    );
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs").criterion("It is documented")]);

    let comment = world.blocked("T-1", "acceptance-unmet");

    assert!(comment.contains("It is documented") && !comment.contains("It is done"), "{comment}");
    assert_eq!(world.backed_up("T-1", 1), world.kept("T-1", 1));
}

/// B4: without confinement a change of the task's text may be the worker's doing.
#[test]
fn a_task_whose_text_changes_under_way_is_blocked_naming_what_changed() {
    let Some(world) = World::with_git() else { return };
    let board = world.board().clone();
    let work = make([("src/parser.rs", "//! A parser.\n")]);
    world.worker(
        "T-1",
        [
            Turn::made(move |_| {
                board.replace("T-1", "What to do is said in the title.", "Do nothing at all.");
                work.clone()
            }),
            Turn::text("Done."),
        ],
    );
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs")]);

    let comment = world.blocked("T-1", "board-tampered");

    assert!(comment.contains("description"), "{comment}");
    assert!(comment.contains("What to do is said in the title."), "{comment}");
    assert!(comment.contains("Do nothing at all."), "{comment}");
    assert_eq!(world.backed_up("T-1", 1), world.kept("T-1", 1));
}

/// M1 step 4: a person who moves the task away cancels it; their status stays.
#[test]
fn a_task_that_a_person_moves_away_under_way_keeps_their_status() {
    let Some(world) = World::with_git() else { return };
    let board = world.board().clone();
    let work = make_and_tick([("src/parser.rs", "//! A parser.\n")]);
    world.worker(
        "T-1",
        [
            Turn::made(move |_| {
                board.set_status("T-1", "To Do");
                work.clone()
            }),
            Turn::text("Done."),
        ],
    );
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs")]);

    world.pass();

    assert_eq!(world.board().status("T-1"), "To Do", "{}", world.story("T-1"));
    assert!(!world.repo().remote_branches().contains_key("task/T-1"));
    assert!(!world.kept("T-1", 1).is_empty());
    assert_eq!(world.bound_slots(), [""; 0]);
}
