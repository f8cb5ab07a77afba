//! The test command, in a tree that nobody but the dispatcher prepared (C5).

use dispatch_testkit::json;

use crate::world::{World, task, work};

/// C5.4: the comment holds the exit status and what the test said last.
#[test]
fn a_failing_test_blocks_with_its_last_lines() {
    let Some(world) = World::with_git() else { return };
    world.repo().write("check.sh", "seq 100\necho 'expected 42' >&2\nexit 7\n");
    world.worker("T-1", work([("src/parser.rs", "//! A parser.\n")]));
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs")]);

    let comment = world.blocked("T-1", "checks-failed");

    assert!(comment.contains("expected 42") && comment.contains('7'), "{comment}");
    assert!(comment.contains("\n100\n") && !comment.contains("\n50\n"), "{comment}");
    assert!(world.attempt_file("T-1", 1, "test.log").contains("sh check.sh"));
    assert_eq!(world.backed_up("T-1", 1), world.kept("T-1", 1));
}

/// C5.2: what was tested must be what is proposed.
#[test]
fn a_file_that_the_tests_write_is_noticed() {
    let Some(world) = World::with_git() else { return };
    world.repo().write("check.sh", "echo written > src/written.txt\n");
    world.worker("T-1", work([("src/parser.rs", "//! A parser.\n")]));
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs")]);

    let comment = world.blocked("T-1", "tree-changed-by-checks");

    assert!(comment.contains("src/written.txt"), "{comment}");
}

/// C5.2: a result forged through a file that git ignores convinces the test in the slot, not the one that decides.
#[test]
fn a_test_result_forged_through_an_ignored_file_does_not_count() {
    let Some(world) = World::with_git() else { return };
    world.repo().write(".gitignore", "/cache/\n");
    world
        .repo()
        .write("check.sh", "test -e cache/passed || { echo 'no answer yet' >&2; exit 1; }\n");
    world.worker("T-1", work([("src/parser.rs", "//! A parser.\n"), ("cache/passed", "yes\n")]));
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs")]);

    let comment = world.blocked("T-1", "checks-failed");

    assert!(comment.contains("no answer yet"), "{comment}");
}

/// C5.1, C3.1: formatters run before the tree is frozen, so that what they write is what is proposed.
#[test]
fn a_formatter_s_work_is_part_of_what_is_proposed() {
    let Some(world) = World::with_git() else { return };
    world.repo().write("format.sh", "for file; do echo '// formatted' >> \"$file\"; done\n");
    world.configure(|config| {
        config["checks"] =
            json!({"format": [{"files": ["src/*.rs"], "command": ["sh", "format.sh", "{files}"]}]});
    });
    world.worker("T-1", work([("src/parser.rs", "//! A parser.\n")]));
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs")]);

    world.proposed("T-1");

    let proposed = world.repo().remote_file("task/T-1", "src/parser.rs").unwrap();
    assert_eq!(proposed, "//! A parser.\n// formatted\n");
    assert_eq!(world.repo().remote_changes("main", "task/T-1"), ["src/parser.rs"]);
}

/// C5.2, C5.4: a linter decides like a test.
#[test]
fn a_linter_that_complains_blocks() {
    let Some(world) = World::with_git() else { return };
    world.repo().write("lint.sh", "echo \"$1 has no examples\"; exit 1\n");
    world.configure(|config| {
        config["checks"] =
            json!({"lint": [{"files": ["src/*.rs"], "command": ["sh", "lint.sh", "{files}"]}]});
    });
    world.worker("T-1", work([("src/parser.rs", "//! A parser.\n")]));
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs")]);

    let comment = world.blocked("T-1", "checks-failed");

    assert!(comment.contains("src/parser.rs has no examples"), "{comment}");
}
