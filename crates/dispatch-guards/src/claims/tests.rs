use proptest::prelude::*;
use test_case::test_case;

use super::*;

fn claims(paths: &[&str]) -> Claims {
    Claims::new(paths.iter().map(|path| Claim::parse(path)), &TestSiblings::default())
}

/// L8.2.
#[test_case("src/a.rs", &["src/a.rs", "src/a.test.rs", "src/a.test/"]; "a source file")]
#[test_case(".gitignore", &[".gitignore"]; "a dot file")]
#[test_case("src/.env", &["src/.env"]; "a dot file in a folder")]
#[test_case("foo", &["foo"]; "no extension")]
#[test_case("dir/", &["dir/"]; "a folder")]
#[test_case("a.test.rs", &["a.test.rs"]; "a test")]
#[test_case("a.tar.gz", &["a.tar.gz", "a.tar.test.gz", "a.tar.test/"]; "two extensions")]
#[test_case("a.b/c", &["a.b/c"]; "a dot in the folder alone")]
#[test_case("a.", &["a."]; "an empty extension")]
fn expansion_adds_the_test_siblings(path: &str, expected: &[&str]) {
    assert_eq!(expand_claim(path, &TestSiblings::default()), expected);
}

#[test]
fn configured_siblings_are_added() {
    let siblings = TestSiblings::new([
        "tests/{stem}{ext}".to_owned(),
        "{dir}/spec/{stem}_spec{ext}".to_owned(),
    ]);
    let ground = expand_claim("src/a.rb", &siblings);
    assert_eq!(ground[3..], ["src/tests/a.rb", "src/spec/a_spec.rb"]);
}

/// L8.3.
#[test_case("src/a", "src/a", true; "equal")]
#[test_case("src/", "src/a/b.rs", true; "above")]
#[test_case("src/a/b.rs", "src", true; "below")]
#[test_case("src/a", "src/ab", false; "cut at a slash only")]
#[test_case("Src/a", "src/a", false; "letter case counts")]
fn overlap_is_equality_or_containment(a: &str, b: &str, expected: bool) {
    assert_eq!(has_path_overlap(a, b), expected);
    assert_eq!(has_path_overlap(b, a), expected);
}

/// L8.6: a glob widens to the folder before its first glob character.
#[test_case("src/**/x.rs", "src/y.md", true; "under the folder")]
#[test_case("src/**/x.rs", "lib/x.rs", false; "elsewhere")]
#[test_case("**/x.rs", "anything", true; "no plain folder is the whole repository")]
#[test_case("src/a*.rs", "src/", true; "the folder itself")]
fn globs_overlap_by_their_folder(glob: &str, path: &str, expected: bool) {
    assert_eq!(claims(&[glob]).overlap(&claims(&[path])).is_some(), expected);
    assert_eq!(claims(&[path]).overlap(&claims(&[glob])).is_some(), expected);
}

/// L8.6: what is declared is narrower than what overlaps.
#[test_case("src/a.rs", "src/a.rs", true; "the file")]
#[test_case("src/a.rs", "src/a.test.rs", true; "its test")]
#[test_case("src/a.rs", "src/a.test/case.rs", true; "in its test folder")]
#[test_case("src/a.rs", "src/b.rs", false; "another file")]
#[test_case("src/", "src/a/b.rs", true; "under a folder")]
#[test_case("src", "src/a/b.rs", true; "under a folder without slash")]
#[test_case("src/a/b.rs", "src/a", false; "above a claim")]
#[test_case("src/**/x.rs", "src/d/x.rs", true; "matched by the glob")]
#[test_case("src/**/x.rs", "src/d/y.rs", false; "only in the folder of the glob")]
#[test_case("src/*.rs", "src/d/x.rs", false; "a star stops at a slash")]
fn only_what_is_written_is_declared(claim: &str, changed: &str, expected: bool) {
    assert_eq!(claims(&[claim]).declares(changed), expected);
}

#[test]
fn entries_outside_the_repository_take_no_part() {
    let outside = claims(&["../x", "/etc", "a//b", "a\\b", "./a", "C:/x"]);
    assert!(outside.is_empty());
}

#[test_case("src/a.rs (shared)", "src/a.rs", ClaimField::Shared; "marked")]
#[test_case("src/a.rs", "src/a.rs", ClaimField::Owns; "not marked")]
#[test_case("src/a(shared)", "src/a(shared)", ClaimField::Owns; "part of the name")]
fn the_shared_mark_is_set_aside(entry: &str, path: &str, field: ClaimField) {
    assert_eq!(Claim::parse(entry), Claim { path: path.to_owned(), field });
}

fn graph(edges: &[(u8, u8)], parents: &[(u8, u8)]) -> TaskGraph<u8> {
    let mut graph = TaskGraph::default();
    for (from, to) in edges {
        graph.depends_on.entry(*from).or_default().insert(*to);
    }
    graph.parent.extend(parents.iter().copied());
    graph
}

fn conflict(edges: &[(u8, u8)], parents: &[(u8, u8)]) -> Option<Conflict<u8>> {
    let busy = [(2, claims(&["src/b.rs"])), (3, claims(&["src/", "lib/x"]))].into();
    let own = claims(&["src/b.rs", "lib/"]);
    decide_overlap((&1, &own), &busy, &graph(edges, parents))
}

/// L8.7.
#[test]
fn the_smallest_unordered_overlap_is_reported() {
    let first = conflict(&[], &[]).unwrap();
    assert_eq!(first.task, 2);
    let second = conflict(&[(2, 9), (9, 1)], &[]).unwrap();
    assert_eq!(second.task, 3);
    assert_eq!(second.overlap.candidate.path, "lib/");
    assert_eq!(second.overlap.busy.path, "lib/x");
    assert_eq!(conflict(&[(2, 1), (1, 3)], &[]), None);
}

#[test]
fn a_parent_and_its_subtask_do_not_conflict_but_two_subtasks_do() {
    assert_eq!(conflict(&[(3, 1)], &[(1, 2)]), None);
    assert_eq!(conflict(&[(3, 1)], &[(2, 1)]), None);
    assert_eq!(conflict(&[(3, 1)], &[(2, 7), (7, 1)]), None);
    assert!(conflict(&[(3, 1)], &[(2, 7), (1, 7)]).is_some());
    assert!(conflict(&[(3, 1)], &[(2, 7), (7, 2)]).is_some());
}

fn open(tasks: &[(u8, u8, &[&str])]) -> BTreeMap<u8, OpenTask<u8>> {
    let task = |paths: &[&str], group| OpenTask { claims: claims(paths), group };
    tasks.iter().map(|(id, group, paths)| (*id, task(paths, *group))).collect()
}

fn linted(edges: &[(u8, u8)], parents: &[(u8, u8)], check: ClaimCheck) -> String {
    let tasks = open(&[
        (1, 1, &["src/", "lib/x (shared)"]),
        (2, 1, &["src/b.rs", "src/a.rs", "lib/"]),
        (3, 3, &["lib/x (shared)", "docs/a.md"]),
        (4, 4, &["docs/b.md"]),
    ]);
    let found = lint_claims(&tasks, &graph(edges, parents), check);
    let shown = |found: &ClaimFinding<u8>| {
        let (own, other) = &found.claims;
        format!(
            "{} {}: {} / {}: {}",
            found.rule.as_str(),
            found.task,
            own.path,
            found.other,
            other.path
        )
    };
    found.iter().map(shown).collect::<Vec<_>>().join("\n")
}

/// L8.7: every two tasks that are not ordered, by rule; the smallest overlap of each.
#[test]
fn the_lint_advises_about_every_overlap_that_nothing_orders() {
    insta::assert_snapshot!(linted(&[], &[], ClaimCheck::Advice), @"
    claim-owns 1: src/ / 2: src/a.rs
    claim-shared 1: lib/x / 2: lib/
    claim-shared 1: lib/x / 3: lib/x
    claim-shared 2: lib/ / 3: lib/x
    ");
    insta::assert_snapshot!(linted(&[(1, 9), (9, 2)], &[], ClaimCheck::Advice), @"
    claim-shared 1: lib/x / 3: lib/x
    claim-shared 2: lib/ / 3: lib/x
    ");
    assert_eq!(
        linted(&[(1, 2), (3, 1)], &[], ClaimCheck::Advice),
        "",
        "3 depends on 2 by way of 1"
    );
}

/// L8.6: a subtask is part of its parent.
#[test]
fn the_lint_leaves_a_parent_and_its_subtask_alone() {
    insta::assert_snapshot!(linted(&[], &[(2, 1)], ClaimCheck::Advice), @"
    claim-shared 1: lib/x / 3: lib/x
    claim-shared 2: lib/ / 3: lib/x
    ");
}

/// L8.7: the strict form.
#[test]
fn the_strict_lint_forbids_two_owners_and_judges_shares_inside_a_group_alone() {
    insta::assert_snapshot!(linted(&[], &[], ClaimCheck::Strict), @"
    claim-owns 1: src/ / 2: src/a.rs
    claim-shared 1: lib/x / 2: lib/
    ");
    insta::assert_snapshot!(linted(&[(1, 2)], &[], ClaimCheck::Strict), @"claim-owns 1: src/ / 2: src/a.rs");
}

#[test]
fn claim_rules_have_their_names() {
    for rule in ClaimRule::ALL {
        assert_eq!(serde_json::to_value(rule).unwrap(), rule.as_str());
    }
}

fn arb_path() -> impl Strategy<Value = String> {
    "[ab.]{1,3}(/[ab]{1,2}){0,2}(\\.(rs|test\\.rs|ts))?/?"
}

/// A second reading of L8.3: the lists of segments, one a start of the other.
fn overlap_by_segments(a: &str, b: &str) -> bool {
    let segments =
        |path: &str| path.trim_end_matches('/').split('/').map(str::to_owned).collect::<Vec<_>>();
    let (a, b) = (segments(a), segments(b));
    a.starts_with(&b) || b.starts_with(&a)
}

proptest! {
    /// L8.8.
    #[test]
    fn overlap_agrees_with_segments_and_is_symmetric(a in arb_path(), b in arb_path()) {
        prop_assert!(has_path_overlap(&a, &a));
        prop_assert_eq!(has_path_overlap(&a, &b), has_path_overlap(&b, &a));
        prop_assert_eq!(has_path_overlap(&a, &b), overlap_by_segments(&a, &b));
    }

    /// L8.8: a path is in its own expansion, and expanding a test sibling adds nothing.
    #[test]
    fn expansion_keeps_the_path_and_ends(path in arb_path()) {
        let ground = expand_claim(&path, &TestSiblings::default());
        prop_assert_eq!(&ground[0], &path);
        for sibling in &ground[1..] {
            prop_assert_eq!(expand_claim(sibling, &TestSiblings::default()), vec![sibling.clone()]);
        }
    }

    /// L8.8: one more edge never makes a conflict, and never takes away what was reachable.
    #[test]
    fn edges_only_take_conflicts_away(
        edges in prop::collection::vec((0_u8..5, 0_u8..5), 0..8),
        more in (0_u8..5, 0_u8..5),
    ) {
        let with = |extra: bool| {
            let mut all = edges.clone();
            all.extend(extra.then_some(more));
            all
        };
        let busy = (1..5).map(|id| (id, claims(&["src/"]))).collect();
        let own = claims(&["src/a"]);
        let conflicts = |extra| decide_overlap((&0, &own), &busy, &graph(&with(extra), &[]));
        if conflicts(false).is_none() {
            prop_assert_eq!(conflicts(true), None);
        }
        let reached = |extra| find_reachable(&graph(&with(extra), &[]).depends_on, [0]);
        prop_assert!(reached(false).is_subset(&reached(true)));
    }

    /// L8.7: the guard stops exactly the candidates that the lint would name beside a busy task.
    #[test]
    fn the_lint_and_the_guard_agree(
        one in prop::collection::vec(arb_path(), 0..3),
        two in prop::collection::vec(arb_path(), 0..3),
        edges in prop::collection::vec((0_u8..4, 0_u8..4), 0..4),
        parents in prop::collection::vec((0_u8..4, 0_u8..4), 0..2),
    ) {
        let of = |paths: &[String]| claims(&paths.iter().map(String::as_str).collect::<Vec<_>>());
        let graph = graph(&edges, &parents);
        let busy = [(1, of(&two))].into();
        let guard = decide_overlap((&0, &of(&one)), &busy, &graph);
        let tasks = [(0, one), (1, two)]
            .map(|(id, paths)| (id, OpenTask { claims: of(&paths), group: id }))
            .into();
        let lint = lint_claims(&tasks, &graph, ClaimCheck::Advice);
        prop_assert_eq!(guard.is_some(), !lint.is_empty());
        if let (Some(guard), [found]) = (guard, lint.as_slice()) {
            prop_assert_eq!((guard.overlap.candidate, guard.overlap.busy), found.claims.clone());
        }
    }

    /// L8.8: an admitted path never leaves the root, whatever it is joined to.
    #[test]
    fn contained_paths_stay_inside(path in "[a./\\\\:]{0,12}") {
        if is_contained(&path) {
            let mut depth = 0_i32;
            for segment in path.split('/') {
                depth += match segment { ".." => -1, "." | "" => 0, _ => 1 };
                prop_assert!(depth > 0);
            }
        }
    }
}

/// Declared entries of every kind.
const DECLARED: &[&str] = &[
    "a",
    "a/",
    "a/b",
    "a/b/",
    "a/b.rs",
    "a/b.test.rs",
    "a/b.test/",
    "a/b.test/c.rs",
    "a/b.rs (shared)",
    "a/b.rs(shared)",
    "a/b",
    "A/b.rs",
    "a/c.rs",
    "ab/c.rs",
    "a/*.rs",
    "a/**",
    "a/**/b.rs",
    "**/b.rs",
    "*.rs",
    "a/[bc].rs",
    "a/{b,c}.rs",
    "a/?.rs",
    "**",
    ".",
    "",
    "/a",
    "../a",
    "a/../b",
    "./a",
    "a//b",
    "a\\b",
    "C:a",
    "a b/c d.rs",
    ".a",
    "a.",
    "a.b.c",
];

#[test]
fn each_declared_entry_against_each() {
    let all: Vec<Claims> = DECLARED.iter().map(|entry| claims(&[entry])).collect();
    let mut table = Vec::new();
    for (entry, mine) in DECLARED.iter().zip(&all) {
        let row: String = all
            .iter()
            .map(|busy| match mine.overlap(busy) {
                None => '.',
                Some(_) => 'x',
            })
            .collect();
        let claim = Claim::parse(entry);
        let stands_for = expand_claim(&claim.path, &TestSiblings::default());
        let (field, admitted, glob) =
            (claim.field.as_str(), claim.is_admitted(), is_glob(&claim.path));
        table.push(format!("{row}  {entry:?} {field} {admitted} {glob} {stands_for:?}"));
    }
    insta::assert_snapshot!(table.join("\n"));
}

#[test]
fn which_changed_files_each_entry_declares() {
    let changed = [
        "a",
        "a/b",
        "a/b.rs",
        "a/b.test.rs",
        "a/b.test/c.rs",
        "a/c.rs",
        "A/b.rs",
        "ab/c.rs",
        "b.rs",
        "x/y/b.rs",
        "a/x/b.rs",
        "a.b.test.c",
        "a b/c d.rs",
        ".a",
        "",
    ];
    let mut table = Vec::new();
    for entry in DECLARED {
        let mine = claims(&[entry]);
        let declared: Vec<&str> =
            changed.iter().copied().filter(|path| mine.declares(path)).collect();
        let files: Vec<&str> =
            changed.iter().copied().filter(|path| mine.declares_file(path)).collect();
        table.push(format!("{entry:?}: {declared:?} {files:?}"));
    }
    insta::assert_snapshot!(table.join("\n"));
}
