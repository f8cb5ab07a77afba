//! Ancestry, merging the base, and whether work is merged (V2.3, V3, D6.6, C3.2).

use dispatch_core::object::CommitId;
use dispatch_core::path::TreePath;
use dispatch_engine::ports::{Answer, Merge, Vcs};

use crate::sandbox::{Sandbox, branch, with_each_git};

/// Two commits on a branch of their own, and back on main.
fn work(sandbox: &Sandbox) -> CommitId {
    sandbox.at(&["checkout", "-q", "-b", "work"]);
    sandbox.commit_file("f.txt", "a\nb\n", "one");
    let tip = sandbox.commit_file("f.txt", "a\nb\nc\n", "two");
    sandbox.at(&["checkout", "-q", "main"]);
    tip
}

/// The answer after main was fetched as the remote's.
fn merged(sandbox: &Sandbox, commit: &CommitId) -> Answer {
    sandbox.at(&["push", "-q", "origin", "main"]);
    let repository = sandbox.repository();
    repository.fetch(&[branch("main")].into(), std::time::Duration::from_mins(1));
    repository.merged(commit, &branch("main"))
}

fn squash(sandbox: &Sandbox) {
    sandbox.at(&["merge", "-q", "--squash", "work"]);
    sandbox.at(&["commit", "-q", "-m", "squashed"]);
}

/// N41, BR-08.
#[test]
fn v3_every_way_of_merging_is_recognised_and_nothing_else_is() {
    type Case = (&'static str, fn(&Sandbox), Answer);
    let cases: [Case; 9] = [
        (
            "merge commit",
            |s| drop(s.at(&["merge", "-q", "--no-ff", "--no-edit", "work"])),
            Answer::Yes,
        ),
        ("squash", squash, Answer::Yes),
        (
            "rebase",
            |s| {
                s.commit_file("other.txt", "x\n", "other");
                s.at(&["cherry-pick", "main..work"]);
            },
            Answer::Yes,
        ),
        (
            "squash, then the base changed the same line",
            |s| {
                squash(s);
                s.commit_file("f.txt", "a\nB\nc\n", "later");
            },
            Answer::Yes,
        ),
        ("one of two picked", |s| drop(s.at(&["cherry-pick", "work~1"])), Answer::No),
        (
            "squash, then reverted",
            |s| {
                squash(s);
                s.at(&["revert", "--no-edit", "HEAD"]);
            },
            // Its patch was in the base once: what a person took back is not proposed again.
            Answer::Yes,
        ),
        (
            "squash edited by a reviewer",
            |s| {
                squash(s);
                s.write("f.txt", "a\nb edited\nc\n");
                s.at(&["commit", "-q", "-a", "--amend", "--no-edit"]);
            },
            Answer::No,
        ),
        ("open", |s| drop(s.commit_file("other.txt", "x\n", "other")), Answer::No),
        ("nothing happened", |_| (), Answer::No),
    ];
    with_each_git(|outer| {
        for (what, happens, expected) in cases {
            let sandbox = Sandbox::new(outer.git.clone());
            let commit = work(&sandbox);
            happens(&sandbox);
            assert_eq!(merged(&sandbox, &commit), expected, "{what} with {}", sandbox.git);
        }
    });
}

#[test]
fn v3_an_unknown_commit_and_a_base_never_fetched_stay_open() {
    with_each_git(|sandbox| {
        let commit = work(sandbox);
        assert_eq!(sandbox.repository().merged(&commit, &branch("main")), Answer::Unknown);
        let nowhere = CommitId::parse(&"1".repeat(40)).unwrap();
        assert_eq!(merged(sandbox, &nowhere), Answer::Unknown);
        assert_eq!(sandbox.repository().is_ancestor(&nowhere, &commit), Answer::Unknown);
    });
}

#[test]
fn v2_3_in_a_shallow_clone_ancestry_is_unknown() {
    with_each_git(|sandbox| {
        let first = sandbox.commit("HEAD");
        let second = sandbox.commit_file("x", "x", "second");
        assert_eq!(sandbox.repository().is_ancestor(&first, &second), Answer::Yes);
        assert_eq!(sandbox.repository().is_ancestor(&second, &first), Answer::No);
        sandbox.commit_file("x", "y", "third");
        sandbox.at(&["push", "-q", "origin", "main"]);
        let url = format!("file://{}", sandbox.remote);
        sandbox.git(&sandbox.root, &["clone", "-q", "--depth", "2", &url, "shallow"]);
        let dir = sandbox.root.join("shallow");
        let repository =
            dispatch_git::Repository::discover(sandbox.program(), sandbox.settings(), &dir)
                .unwrap();
        let (second, third) = (second, sandbox.commit("HEAD"));
        assert_eq!(repository.is_ancestor(&first, &third), Answer::Unknown);
        assert_eq!(repository.is_ancestor(&second, &third), Answer::Unknown);
        assert!(repository.merge_base(&first, &third).is_err());
        assert!(matches!(repository.merge(&second, &third, "m").unwrap(), Merge::Unknown(_)));
    });
}

#[test]
fn d6_6_a_clean_base_is_merged_and_a_conflicting_one_is_told() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        let start = work(sandbox);
        let base = sandbox.commit("main");
        assert_eq!(repository.merge(&start, &base, "m").unwrap(), Merge::UpToDate);
        let base = sandbox.commit_file("other.txt", "x\n", "other");
        let Merge::Merged(commit) = repository.merge(&start, &base, "merge main").unwrap() else {
            panic!("not merged")
        };
        assert_eq!(
            sandbox.at(&["log", "-1", "--format=%P|%s|%cn", commit.as_str()]),
            format!("{start} {base}|merge main|dispatch")
        );
        assert_eq!(sandbox.at(&["show", &format!("{commit}:other.txt")]), "x");
        assert_eq!(sandbox.at(&["show", &format!("{commit}:f.txt")]), "a\nb\nc");
        let base = sandbox.commit_file("f.txt", "something else\n", "clash");
        assert_eq!(
            repository.merge(&start, &base, "m").unwrap(),
            Merge::Conflict(vec![TreePath::new("f.txt")])
        );
        assert_eq!(repository.merge_base(&start, &base).unwrap(), Some(sandbox.commit("work~2")));
        sandbox.at(&["checkout", "-q", "--orphan", "unrelated"]);
        let unrelated = sandbox.commit_file("u", "u", "unrelated");
        assert_eq!(repository.merge_base(&start, &unrelated).unwrap(), None);
    });
}

#[test]
fn c3_2_what_somebody_else_changed_last_is_told_from_our_own_attempts() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        let base = sandbox.commit("HEAD");
        let ours = sandbox.commit_file("ours.txt", "1\n", "attempt");
        repository.keep("refs/dispatch/attempts/T-1/1", &ours).unwrap();
        sandbox.commit_file("theirs.txt", "1\n", "by hand");
        sandbox.commit_file("ours.txt", "2\n", "by hand too");
        let again = sandbox.commit_file("theirs then ours.txt", "1\n", "attempt");
        repository.keep("refs/dispatch/attempts/T-1/2", &again).unwrap();
        let foreign = repository.foreign_changes(&base, &again).unwrap();
        assert_eq!(foreign, ["ours.txt", "theirs.txt"].map(TreePath::new).into());
        assert!(repository.foreign_changes(&base, &base).unwrap().is_empty());
    });
}
