//! What an attempt may change (C3, C4), and where its work is kept when it changed more.

use dispatch_testkit::scene::verdict;

use crate::world::{World, make_and_tick, task, work};

/// C3.4, C10.1: the local lane changes declared files only; nothing is lost, and the slot is free.
#[test]
fn an_undeclared_file_on_the_local_lane_fails_and_the_work_is_kept() {
    let Some(world) = World::with_git() else { return };
    let files = [("src/parser.rs", "//! A parser.\n"), ("docs/other.md", "Other.\n")];
    world.worker("T-1", work(files));
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs").lane("local")]);

    let comment = world.blocked("T-1", "scope-check-failed");

    assert!(comment.contains("docs/other.md") && comment.contains("out-of-scope"), "{comment}");
    assert!(comment.contains("refs/dispatch/attempts/T-1/1"), "{comment}");
    let kept = world.kept("T-1", 1);
    assert_eq!(world.backed_up("T-1", 1), kept);
    assert_eq!(world.repo().git(&["show", &format!("{kept}:docs/other.md")]), "Other.");
    assert_eq!(world.bound_slots(), [""; 0]);
    assert!(!world.repo().remote_branches().contains_key("task/T-1"));
    assert_eq!(world.outcome("T-1", 1)["counted"], true);
    assert!(world.model().requests_of("review of T-1").is_empty());
}

/// C4: hard paths are nobody's, and a continuous integration definition is a hard path.
#[test]
fn a_hard_path_on_the_frontier_lane_fails() {
    let Some(world) = World::with_git() else { return };
    let files = [("src/parser.rs", "//! A parser.\n"), (".github/workflows/ci.yml", "on: push\n")];
    world.worker("T-1", work(files));
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs")]);

    let comment = world.blocked("T-1", "scope-check-failed");

    assert!(comment.contains(".github/workflows/ci.yml"), "{comment}");
    assert!(comment.contains("forbidden"), "{comment}");
    assert_eq!(world.backed_up("T-1", 1), world.kept("T-1", 1));
}

/// C3.4, C9.5: what the frontier lane lets through is named where a person looks, also without a pull request.
#[test]
fn an_undeclared_file_on_the_frontier_lane_is_named_in_the_comment_of_a_pushed_branch() {
    let Some(world) = World::with_git() else { return };
    world.worker("T-1", work([("src/parser.rs", "//! A parser.\n"), ("extra.txt", "more\n")]));
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs")]);
    world.configure(|config| config["language"] = "es".into());
    world.ok(&["trust"]);

    world.proposed("T-1");

    let comment = world.last_comment("T-1");
    for part in [
        "**Propuesta**: rama `task/T-1` para `main`",
        "Cambiados aunque la tarea no los declara:\n\n```text\nextra.txt\n```",
        "El agente se ejecutó sin confinamiento del núcleo.",
    ] {
        assert!(comment.contains(part), "{part}: {comment}");
    }
    // The readable log tells what the agent did beside what the dispatcher did.
    let log = world.ok(&["logs", "T-1"]);
    for part in ["the agent uses: Edit /", "the agent says: Done.", "scope-check passed: 2 files"] {
        assert!(log.contains(part), "{part}: {log}");
    }
}

/// C3.4, C9.3: other files are allowed on the frontier lane, and those a person should see are marked.
#[test]
fn a_file_for_human_review_is_allowed_and_marked_on_the_pull_request() {
    let Some(world) = World::with_forge() else { return };
    let files = [("src/parser.rs", "//! A parser.\n"), ("AGENTS.md", "Be kind.\n")];
    world.worker("T-1", work(files));
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs")]);

    world.proposed("T-1");

    let pull = world.forge().pull_request(1);
    let (_, section) = pull.body.split_once("<!-- dispatch:human-review:begin -->").unwrap();
    assert!(section.contains("AGENTS.md"), "{}", pull.body);
    assert_eq!(pull.labels, ["human-review"]);
}

/// C3.4: an attempt that changes nothing is none.
#[test]
fn an_attempt_that_changes_nothing_is_blocked() {
    let Some(world) = World::with_git() else { return };
    world.worker("T-1", work([]));
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs")]);

    let comment = world.blocked("T-1", "no-changes");

    assert!(comment.contains("There was no work to save."), "{comment}");
}

/// C3.3: a file that looks like a secret leaves this machine neither as a branch nor as a backup.
#[test]
fn a_file_that_looks_like_a_secret_fails_and_is_not_pushed() {
    let Some(world) = World::with_git() else { return };
    let files = [("src/parser.rs", "//! A parser.\n"), ("deploy/key.pem", "made up\n")];
    world.worker("T-1", [make_and_tick(files), work([])[1].clone()]);
    world.reviewer("T-1", [verdict("approve", &[])]);
    world.begin(&[task("T-1", "Add a parser", "src/parser.rs")]);

    let comment = world.blocked("T-1", "scope-check-failed");

    assert!(comment.contains("deploy/key.pem") && comment.contains("dangerous"), "{comment}");
    let kept = world.kept("T-1", 1);
    let remote = world.repo().remote();
    let refs = world.repo().git_in(&remote, &["for-each-ref", "--format=%(objectname)"]);
    assert!(!refs.contains(&kept), "{refs}");
}
