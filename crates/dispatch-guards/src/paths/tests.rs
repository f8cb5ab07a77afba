use proptest::prelude::*;
use test_case::test_case;

use super::*;
use crate::claims::{Claim, TestSiblings};

fn policy(lists: &PathLists) -> PathPolicy {
    let places = PolicyPlaces {
        board_dir: Some("backlog".to_owned()),
        files: vec!["scripts/backlog/lanes.json".to_owned()],
    };
    PathPolicy::new(lists, &places).unwrap()
}

fn declares(path: &str) -> Claims {
    Claims::new([Claim::owns(path)], &TestSiblings::default())
}

fn forbidden(path: &str, lane: Lane) -> bool {
    policy(&PathLists::default()).forbids(path, Some(lane), &Claims::default()).is_some()
}

/// C4: hard on every lane, whatever the letter case.
#[test_case(".git"; "the repository")]
#[test_case(".git/hooks/pre-commit"; "inside it")]
#[test_case("sub/.GIT/config"; "one further down in capitals")]
#[test_case("sub/git~1/config"; "its short name")]
#[test_case(".g\u{200c}it/config"; "with a character some file systems ignore")]
#[test_case(".git./config"; "with a dot some file systems drop")]
#[test_case("backlog/tasks/t-1.md"; "the board")]
#[test_case("Backlog/tasks/t-1.md"; "the board in capitals")]
#[test_case("scripts/backlog/lanes.json"; "the configuration")]
#[test_case(".gitmodules"; "submodules")]
#[test_case("src/.gitattributes"; "attributes")]
#[test_case(".claude/settings.json"; "agent settings")]
#[test_case(".claude/settings.local.json"; "local agent settings")]
#[test_case(".claude/hooks/a/b.ts"; "agent hooks")]
#[test_case(".mcp.json"; "servers")]
#[test_case(".husky/pre-push"; "git hooks")]
#[test_case(".githooks/pre-push"; "more git hooks")]
#[test_case(".github/workflows/ci.yml"; "a workflow")]
#[test_case(".github/actions/x/action.yml"; "an action")]
#[test_case(".gitlab-ci.yml"; "a pipeline")]
#[test_case(".circleci/config.yml"; "another pipeline")]
fn c4_hard_paths_are_forbidden_on_both_lanes(path: &str) {
    assert!(forbidden(path, Lane::Frontier));
    assert!(forbidden(path, Lane::Local));
}

#[test_case(".claude/skills/a.md"; "agent folder")]
#[test_case(".github/CODEOWNERS"; "forge folder")]
#[test_case("src/auth/login.rs"; "auth")]
#[test_case("auth/login.rs"; "auth at the top")]
#[test_case("src/security/x.rs"; "security")]
#[test_case("db/migrations/1.sql"; "migrations")]
#[test_case("app/.env.local"; "environment")]
#[test_case("certs/a.pem"; "key")]
#[test_case("terraform/main.tf"; "infrastructure")]
#[test_case("web/pnpm-lock.yaml"; "lockfile")]
#[test_case("Cargo.toml"; "manifest")]
fn c4_local_forbidden_paths_are_free_on_the_frontier_lane(path: &str) {
    assert!(forbidden(path, Lane::Local));
    assert!(!forbidden(path, Lane::Frontier));
    assert!(policy(&PathLists::default()).forbids(path, None, &Claims::default()).is_some());
}

#[test_case("src/main.rs"; "code")]
#[test_case("src/infrastructure/db.rs"; "a code folder of that name")]
#[test_case("src/authors.rs"; "a name that begins the same")]
#[test_case("backlog.md"; "a name that begins like the board")]
#[test_case(".gitignore"; "ignore file")]
#[test_case("src/.gitattributes.md"; "a longer name")]
fn c4_other_paths_are_free(path: &str) {
    assert!(!forbidden(path, Lane::Local));
}

#[test_case("AGENTS.md")]
#[test_case("sub/CLAUDE.md")]
#[test_case("Cargo.lock")]
#[test_case("package.json")]
#[test_case("build.rs")]
#[test_case("docker/Dockerfile.dev")]
#[test_case(".github/CODEOWNERS")]
fn c4_human_review_paths_ask_for_a_person(path: &str) {
    assert!(policy(&PathLists::default()).asks_review(path).is_some());
}

/// C4: a CI definition is free only on the frontier lane, only when that very file is declared.
#[test]
fn c4_a_declared_ci_file_is_free_on_the_frontier_lane() {
    let policy = policy(&PathLists::default());
    let path = ".github/workflows/ci.yml";
    assert!(policy.forbids(path, Some(Lane::Frontier), &declares(path)).is_none());
    assert!(policy.forbids(path, Some(Lane::Local), &declares(path)).is_some());
    for around in [".github/", ".github/workflows/", ".github/workflows/*.yml"] {
        assert!(
            policy.forbids(path, Some(Lane::Frontier), &declares(around)).is_some(),
            "{around}"
        );
    }
    let hook = ".husky/pre-push";
    assert!(policy.forbids(hook, Some(Lane::Frontier), &declares(hook)).is_some());
}

#[test]
fn c4_lists_can_be_added_to_and_are_narrowed_only_explicitly() {
    let lists = PathLists {
        hard: vec!["Vendor/**".to_owned()],
        local_forbidden: vec!["docs/".to_owned()],
        human_review: vec!["api/*.yaml".to_owned()],
        except: vec![
            "**/auth/**".to_owned(),
            ".git/**".to_owned(),
            ".husky/**".to_owned(),
            "vendor/x".to_owned(),
            "Cargo.toml".to_owned(),
        ],
    };
    let policy = policy(&lists);
    let free = |path: &str, lane| policy.forbids(path, Some(lane), &Claims::default()).is_none();
    assert!(!free("vendor/a/b.c", Lane::Frontier));
    assert!(!free("docs/x.md", Lane::Local));
    assert!(policy.asks_review("api/v1.yaml").is_some());
    assert!(free("src/auth/x.rs", Lane::Local));
    assert!(free(".husky/x", Lane::Frontier));
    assert!(policy.asks_review("Cargo.toml").is_none());
    // Neither the repository itself nor an entry of one's own is freed.
    assert!(!free(".git/config", Lane::Frontier));
    assert!(!free("vendor/x", Lane::Frontier));
}

/// Guard 3 looks at what is declared: files, folders, and globs by their folder.
#[test_case(".github/workflows/", true; "a hard folder")]
#[test_case(".husky/*", true; "a glob in a hard folder")]
#[test_case("backlog/**/x.md", true; "a glob in the board")]
#[test_case("**/*.rs", false; "a glob over everything")]
#[test_case("src/", false; "an ordinary folder")]
fn declared_entries_in_a_hard_place_are_found(entry: &str, expected: bool) {
    let found =
        policy(&PathLists::default()).forbids_claim(entry, Some(Lane::Frontier), &declares(entry));
    assert_eq!(found.is_some(), expected);
}

#[test]
fn a_configured_glob_that_cannot_be_read_is_named() {
    let lists = PathLists { hard: vec!["a[".to_owned()], ..PathLists::default() };
    let error = PathPolicy::new(&lists, &PolicyPlaces::default()).unwrap_err();
    assert_eq!(error.to_string(), "`a[` in `paths` is not a glob");
}

fn arb_path() -> impl Strategy<Value = String> {
    let known = [
        ".git",
        "src",
        "auth",
        "package.json",
        "Cargo.lock",
        ".github",
        "workflows",
        "a.pem",
        ".env.local",
        "backlog",
        "migrations",
        "x",
        "CLAUDE.md",
        ".claude",
        "settings.json",
        "infra",
        "Dockerfile",
        "a.",
        "docs",
    ];
    prop::collection::vec(prop::sample::select(known.to_vec()), 1..4)
        .prop_map(|segments| segments.join("/"))
}

proptest! {
    /// What is asked of all entries at once leaves out none that covers the path.
    #[test]
    fn c4_nothing_slips_past_the_question_to_all_entries(path in arb_path()) {
        let lists = PathLists {
            hard: vec!["src/**/x".to_owned(), "docs/*".to_owned()],
            local_forbidden: vec!["x/".to_owned(), "infra/**".to_owned()],
            ..PathLists::default()
        };
        let policy = policy(&lists);
        for entries in [&policy.hard, &policy.local, &policy.review] {
            for path in [path.clone(), fold(&path)] {
                let one_by_one = entries.all.iter().find(|entry| entry.covers(&path));
                let found = entries.find(&path, |_| true);
                prop_assert_eq!(found.map(|entry| &entry.glob), one_by_one.map(|entry| &entry.glob));
            }
        }
    }

    /// A path that is taken as it is folds to itself in the long way, too.
    #[test]
    fn c4_a_plain_path_folds_to_itself(path in "[a-z0-9._/-]{0,12}") {
        let dotted = path.split('/').any(|segment| segment.ends_with('.'));
        prop_assert_eq!(fold(&path) == path, !dotted || path.split('/').all(|s| s.chars().all(|c| c == '.') || !s.ends_with('.')));
    }
}
