//! Board commits (B6) and where the board stands (S3).

use std::fs;

use dispatch_engine::ports::{BoardCommit, Vcs};
use dispatch_git::VcsSettings;

use crate::sandbox::{branch, executable, with_each_git, write};

#[test]
fn b6_only_the_board_is_committed_and_what_a_person_staged_stays_staged() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        assert_eq!(repository.commit_board("board").unwrap(), BoardCommit::Nothing);
        executable(&sandbox.code_root.join(".git/hooks/pre-commit"), "#!/bin/sh\nexit 1\n");
        executable(
            &sandbox.code_root.join(".git/hooks/prepare-commit-msg"),
            "#!/bin/sh\necho evil > $1\n",
        );
        sandbox.write("src/lib.rs", "staged\n");
        sandbox.at(&["add", "src/lib.rs"]);
        sandbox.write("README.md", "not staged\n");
        sandbox.write("untracked.txt", "untracked\n");
        sandbox.write("backlog/tasks/t-2 - it's new.md", "new\n");
        sandbox.write("backlog/.dispatch/T-1/attempt-1/prompt.md", "ours\n");
        fs::rename(
            sandbox.code_root.join("backlog/tasks/t-1.md"),
            sandbox.code_root.join("backlog/tasks/t-1 - renamed.md"),
        )
        .unwrap();
        let before = sandbox.commit("HEAD");
        let BoardCommit::Committed(commit) = repository.commit_board("chore: board\n").unwrap()
        else {
            panic!("nothing was committed")
        };
        assert_eq!(sandbox.commit("main"), commit);
        assert_eq!(
            sandbox.at(&["log", "-1", "--format=%an|%P|%B"]),
            format!("dispatch|{before}|chore: board")
        );
        assert_eq!(
            sandbox.at(&["show", "--no-renames", "--name-status", "--format="]),
            "A\tbacklog/tasks/t-1 - renamed.md\nD\tbacklog/tasks/t-1.md\nA\tbacklog/tasks/t-2 - it's new.md"
        );
        assert_eq!(
            sandbox.at(&["status", "--porcelain"]),
            " M README.md\nM  src/lib.rs\n?? backlog/.dispatch/\n?? untracked.txt"
        );
        assert_eq!(repository.commit_board("board").unwrap(), BoardCommit::Nothing);
    });
}

/// README §3: what bounds workers is committed by the person who wrote it, and can be taken back until then.
#[test]
fn b6_the_configuration_in_the_boards_folder_is_left_to_the_person_who_wrote_it() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        sandbox.write("backlog/dispatch/lanes.json", "{}\n");
        sandbox.at(&["add", "backlog/dispatch"]);
        sandbox.at(&["commit", "-q", "-m", "configuration"]);
        sandbox.write("backlog/dispatch/lanes.json", "{nope\n");
        sandbox.write("backlog/dispatch/frontier.settings.json", "{}\n");
        assert_eq!(repository.commit_board("board").unwrap(), BoardCommit::Nothing);
        sandbox.write("backlog/docs/dispatch/notes.md", "a document\n");
        assert!(matches!(repository.commit_board("board").unwrap(), BoardCommit::Committed(_)));
        assert_eq!(
            sandbox.at(&["show", "--name-only", "--format="]),
            "backlog/docs/dispatch/notes.md"
        );
        assert_eq!(
            sandbox.at(&["status", "--porcelain"]),
            " M backlog/dispatch/lanes.json\n?? backlog/dispatch/frontier.settings.json"
        );
        sandbox.at(&["checkout", "-q", "backlog/dispatch"]);
        let back = fs::read_to_string(sandbox.code_root.join("backlog/dispatch/lanes.json"));
        assert_eq!(back.unwrap(), "{}\n");
    });
}

#[test]
fn b6_a_checkout_in_the_middle_of_something_is_left_alone() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        sandbox.write("backlog/tasks/t-2.md", "new\n");
        let git_dir = sandbox.code_root.join(".git");
        for (file, expected) in [
            ("MERGE_HEAD", "a merge is under way"),
            ("CHERRY_PICK_HEAD", "a cherry-pick is under way"),
            ("rebase-merge/done", "a rebase is under way"),
            ("BISECT_LOG", "a bisect is under way"),
        ] {
            write(&git_dir.join(file), "x\n");
            let skipped = repository.commit_board("board").unwrap();
            assert_eq!(skipped, BoardCommit::Skipped(expected.into()), "{file}");
            let top = git_dir.join(file.split('/').next().unwrap());
            let remove = if top.is_dir() { fs::remove_dir_all(top) } else { fs::remove_file(top) };
            remove.unwrap();
        }
        sandbox.at(&["checkout", "-q", "--detach"]);
        assert_eq!(
            repository.commit_board("board").unwrap(),
            BoardCommit::Skipped("HEAD is detached".into())
        );
        sandbox.at(&["checkout", "-q", "main"]);
        assert_eq!(sandbox.at(&["status", "--porcelain"]), "?? backlog/tasks/t-2.md");
        assert!(matches!(repository.commit_board("board").unwrap(), BoardCommit::Committed(_)));
    });
}

/// V1.3: a filter that is not named may not run, and without it the wrong content would be committed.
#[test]
fn b6_board_files_that_need_a_filter_nobody_allowed_are_left_alone() {
    with_each_git(|sandbox| {
        sandbox.at(&["config", "filter.secret=x.clean", "touch ../ran; cat"]);
        sandbox.write("backlog/tasks/t-2.md", "new\n");
        let repository = sandbox.repository();
        assert!(matches!(repository.commit_board("board").unwrap(), BoardCommit::Committed(_)));
        sandbox.write(".gitattributes", "/backlog/** filter=secret=x\n");
        sandbox.write("backlog/tasks/t-3.md", "new\n");
        let BoardCommit::Skipped(why) = repository.commit_board("board").unwrap() else {
            panic!("committed")
        };
        assert!(why.contains("`secret=x`"), "{why}");
        assert!(!sandbox.root.join("ran").exists());
    });
}

/// V1.6: waits up to 10 s, then says so; never removes somebody's lock file.
#[test]
fn b6_an_index_locked_by_another_process_is_waited_for_and_then_skipped() {
    let sandbox = crate::sandbox::Sandbox::new(crate::sandbox::gits().remove(0));
    let repository = sandbox.repository();
    sandbox.write("backlog/tasks/t-2.md", "new\n");
    let lock = sandbox.code_root.join(".git/index.lock");
    write(&lock, "");
    let skipped = repository.commit_board("board").unwrap();
    assert_eq!(skipped, BoardCommit::Skipped("its index is locked by another git process".into()));
    assert!(lock.exists());
    let waiting = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(300));
        fs::remove_file(lock).unwrap();
    });
    assert!(matches!(repository.commit_board("board").unwrap(), BoardCommit::Committed(_)));
    waiting.join().unwrap();
}

#[test]
fn where_the_board_stands_is_told_and_a_board_outside_git_is_no_error() {
    with_each_git(|sandbox| {
        let place = sandbox.repository().board_place().unwrap();
        assert_eq!(place.branch, Some(branch("main")));
        assert_eq!(place.head, Some(sandbox.commit("HEAD")));
        assert!(place.repository);
        sandbox.at(&["checkout", "-q", "--detach"]);
        assert_eq!(sandbox.repository().board_place().unwrap().branch, None);
        let outside = sandbox.root.join("board");
        fs::create_dir_all(&outside).unwrap();
        let repository = sandbox
            .repository_with(VcsSettings { board_dir: outside.clone(), ..sandbox.settings() });
        let place = repository.board_place().unwrap();
        assert_eq!((place.branch, place.head, place.repository), (None, None, false));
        assert_eq!(repository.commit_board("board").unwrap(), BoardCommit::Nothing);
    });
}

#[test]
fn the_code_root_is_the_main_checkout_from_anywhere() {
    with_each_git(|sandbox| {
        let linked = sandbox.root.join("linked");
        sandbox.at(&["worktree", "add", "-q", "--detach", linked.as_str()]);
        for dir in [sandbox.code_root.join("src"), linked.join("src"), linked] {
            let repository =
                dispatch_git::Repository::discover(sandbox.program(), sandbox.settings(), &dir)
                    .unwrap();
            assert_eq!(repository.code_root(), sandbox.code_root);
            assert_eq!(repository.common_dir(), sandbox.code_root.join(".git"));
        }
        let error = dispatch_git::Repository::discover(
            sandbox.program(),
            sandbox.settings(),
            &sandbox.root,
        )
        .unwrap_err();
        assert!(error.to_string().contains("is in no git repository"), "{error}");
    });
}

/// BR-07: a pass started from inside a hook of another repository.
#[test]
fn v1_1_variables_of_a_hook_of_another_repository_redirect_nothing() {
    with_each_git(|sandbox| {
        sandbox.git(&sandbox.root, &["init", "-q", "other"]);
        let other = sandbox.root.join("other");
        let config = fs::read_to_string(other.join(".git/config")).unwrap();
        let mut env = sandbox.env.clone();
        for (name, value) in [
            ("GIT_DIR", other.join(".git").into_string()),
            ("GIT_WORK_TREE", other.to_string()),
            ("GIT_INDEX_FILE", other.join(".git/index").into_string()),
            ("GIT_OBJECT_DIRECTORY", other.join(".git/objects").into_string()),
            ("GIT_CEILING_DIRECTORIES", sandbox.root.to_string()),
        ] {
            env.push((name.into(), value.into()));
        }
        let git = dispatch_git::Git::new(&sandbox.git, env);
        let repository =
            dispatch_git::Repository::discover(git, sandbox.settings(), &sandbox.code_root)
                .unwrap();
        assert_eq!(repository.code_root(), sandbox.code_root);
        sandbox.write("backlog/tasks/t-2.md", "new\n");
        assert!(matches!(repository.commit_board("board").unwrap(), BoardCommit::Committed(_)));
        repository.prepare_slot(&sandbox.slot("dispatch-1"), &sandbox.commit("HEAD"), &[]).unwrap();
        assert_eq!(fs::read_to_string(other.join(".git/config")).unwrap(), config);
        assert!(!other.join(".git/index").exists());
        assert_eq!(sandbox.git(&other, &["for-each-ref"]), "");
    });
}
