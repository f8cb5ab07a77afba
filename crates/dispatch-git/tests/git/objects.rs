//! Trees, commits, changes, contents (C3.2, C3.3, C7.2, C9.1).

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use dispatch_core::path::{RepoPath, TreePath};
use dispatch_core::secret::{HandedOut, Secret};
use dispatch_engine::ports::{ChangeStatus, Diff, EntryKind, Vcs};

use crate::sandbox::{with_each_git, write};

#[test]
fn c3_2_changes_count_both_names_of_a_rename_deletions_modes_and_types() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        sandbox.commit_file("moved.txt", &"same\n".repeat(20), "add");
        sandbox.commit_file("mode.sh", "#!/bin/sh\n", "add");
        let start = sandbox.commit_file("type.txt", "text\n", "add");
        let slot = sandbox.slot("dispatch-1");
        repository.prepare_slot(&slot, &start, &[]).unwrap();
        fs::rename(slot.path.join("moved.txt"), slot.path.join("new name.txt")).unwrap();
        fs::set_permissions(slot.path.join("mode.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::remove_file(slot.path.join("type.txt")).unwrap();
        symlink("../outside", slot.path.join("type.txt")).unwrap();
        let tree = repository.freeze(&slot, &start).unwrap().tree;
        let changes = repository.changes(&start, &tree).unwrap();
        let seen: Vec<_> = changes
            .iter()
            .map(|c| (c.path.to_string(), c.status, c.kind, c.size_bytes, c.link_target.as_deref()))
            .collect();
        assert_eq!(
            seen,
            [
                ("mode.sh".into(), ChangeStatus::Modified, Some(EntryKind::File), Some(10), None),
                ("moved.txt".into(), ChangeStatus::Deleted, None, None, None),
                (
                    "new name.txt".into(),
                    ChangeStatus::Added,
                    Some(EntryKind::File),
                    Some(100),
                    None
                ),
                (
                    "type.txt".into(),
                    ChangeStatus::TypeChanged,
                    Some(EntryKind::Link),
                    Some(10),
                    Some(&b"../outside"[..])
                ),
            ]
        );
    });
}

#[test]
fn c3_3_files_that_hold_a_credential_are_found_of_any_size() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        let slot = sandbox.slot("dispatch-1");
        let start = sandbox.commit("HEAD");
        repository.prepare_slot(&slot, &start, &[]).unwrap();
        write(&slot.path.join("a b/leak.txt"), "x sk-secret y");
        write(&slot.path.join("clean.txt"), "sk-secre");
        let mut large = " ".repeat((20 << 20) - 5);
        large.push_str("sk-secret");
        write(&slot.path.join("large.bin"), &large);
        let tree = repository.freeze(&slot, &start).unwrap().tree;
        let asked = ["a b/leak.txt", "clean.txt", "large.bin", "gone"].map(TreePath::new);
        let kept = HandedOut::of_account("TOKEN", "sk-secret").unwrap();
        for secret in [Secret::Value("sk-secret".to_owned()), Secret::Kept(kept)] {
            let secrets = [secret, Secret::Value(String::new())];
            let found = repository.holding(&tree, &asked, &secrets).unwrap();
            assert_eq!(
                found.iter().map(ToString::to_string).collect::<Vec<_>>(),
                ["a b/leak.txt", "large.bin"]
            );
        }
        let path = RepoPath::parse("a b/leak.txt").unwrap();
        assert_eq!(repository.file_at(&tree, &path).unwrap().unwrap(), b"x sk-secret y");
        assert_eq!(repository.file_at(&tree, &RepoPath::parse("gone").unwrap()).unwrap(), None);
        assert_eq!(repository.file_at(&tree, &RepoPath::parse("src").unwrap()).unwrap(), None);
    });
}

#[test]
fn c7_2_the_diff_is_whole_and_attributes_hide_no_text() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        let slot = sandbox.slot("dispatch-1");
        let start = sandbox.commit("HEAD");
        repository.prepare_slot(&slot, &start, &[]).unwrap();
        write(&slot.path.join(".gitattributes"), "*.rs -diff\n");
        write(&slot.path.join("src/lib.rs"), "one\nevil\nthree\n");
        write(&slot.path.join("src/main.rs"), "// \0\nworse\n");
        let tree = repository.freeze(&slot, &start).unwrap().tree;
        let Diff::Text(text) = repository.diff(&start, &tree, 100_000).unwrap() else {
            panic!("too large")
        };
        assert!(text.contains("\n+evil\n"), "{text}");
        assert!(text.contains("\n+// \0\n+worse\n"), "{text}");
        assert_eq!(
            repository.diff(&start, &tree, 10).unwrap(),
            Diff::TooLarge { bytes: text.len() as u64 }
        );
    });
}

#[test]
fn c9_1_a_commit_is_made_of_the_tree_with_our_identity_and_kept() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        sandbox.at(&["config", "commit.gpgSign", "true"]);
        sandbox.at(&["config", "gpg.program", "false"]);
        let start = sandbox.commit("HEAD");
        let tree = sandbox.tree("HEAD");
        let message = "feat(T-1): it's ünicode\n\n# not a comment\n";
        let commit = repository.commit(&tree, std::slice::from_ref(&start), message).unwrap();
        let shown = sandbox.at(&["log", "-1", "--format=%an <%ae>|%cn|%P|%B", commit.as_str()]);
        assert_eq!(
            shown,
            format!("dispatch <dispatch@example.org>|dispatch|{start}|{}", message.trim_end())
        );
        repository.keep("refs/dispatch/attempts/T-1/1", &commit).unwrap();
        assert_eq!(repository.kept("refs/dispatch/attempts/T-1/1").unwrap(), Some(commit.clone()));
        assert_eq!(repository.kept("refs/dispatch/attempts/T-1/2").unwrap(), None);
        assert!(repository.keep("refs/heads/main", &commit).is_err());
        assert_eq!(repository.tree_of(&commit).unwrap(), tree);
    });
}

#[test]
fn v1_7_without_a_configured_identity_the_repositorys_own_is_used_or_the_error_says_what_to_do() {
    with_each_git(|sandbox| {
        let settings = dispatch_git::VcsSettings { identity: None, ..sandbox.settings() };
        let tree = sandbox.tree("HEAD");
        let repository = sandbox.repository_with(settings.clone());
        let commit = repository.commit(&tree, &[], "x").unwrap();
        assert_eq!(sandbox.at(&["log", "-1", "--format=%an", commit.as_str()]), "A Person");
        sandbox.at(&["config", "--global", "--unset", "user.name"]);
        sandbox.at(&["config", "--global", "--unset", "user.email"]);
        sandbox.at(&["config", "--global", "user.useConfigOnly", "true"]);
        let error = sandbox.repository_with(settings).commit(&tree, &[], "x").unwrap_err();
        assert!(error.chain().contains("commit.identity"), "{}", error.chain());
    });
}
