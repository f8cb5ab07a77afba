//! Worktrees: preparing, freezing, verifying (V1.3, V1.4, V2, D6.5, C3.1, C5.2).

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use camino::Utf8PathBuf;
use dispatch_core::path::{RepoPath, TreePath};
use dispatch_engine::ports::{Lying, Push, Vcs};
use dispatch_git::VcsSettings;
use dispatch_proc::{Call, run};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::sandbox::{Sandbox, branch, bytes_path, gits, with_each_git, write};

fn paths(names: &[&str]) -> Vec<TreePath> {
    names.iter().map(|name| TreePath::new(*name)).collect()
}

/// BR-01, I6: a branch that a worktree of somebody else has checked out keeps no slot from it, and stays theirs.
#[test]
fn br_01_a_branch_checked_out_elsewhere_is_no_obstacle() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        let slot = sandbox.slot("dispatch-1");
        let start = sandbox.commit("HEAD");
        let foreign = sandbox.root.join("foreign");
        sandbox.at(&["worktree", "add", "-q", "-b", "task/T-1", foreign.as_str()]);
        repository.prepare_slot(&slot, &start, &[]).unwrap();
        let work = sandbox.commit_file("work.txt", "work.txt", "work");
        assert_eq!(repository.push(&branch("task/T-1"), &work, None).unwrap(), Push::Pushed);
        assert_eq!(sandbox.git(&foreign, &["rev-parse", "HEAD"]), start.as_str());
        assert_eq!(sandbox.git(&foreign, &["branch", "--show-current"]), "task/T-1");
    });
}

/// N27.
#[test]
fn d6_5_a_missing_slot_is_made_detached_and_clean_at_the_start_commit() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        let slot = sandbox.slot("dispatch-1");
        let start = sandbox.commit("HEAD");
        let branches = sandbox.at(&["for-each-ref"]);
        let prepared = repository.prepare_slot(&slot, &start, &[]).unwrap();
        assert!(prepared.fresh);
        assert_eq!(fs::read_to_string(slot.path.join("src/lib.rs")).unwrap(), "one\ntwo\nthree\n");
        assert_eq!(sandbox.git(&slot.path, &["rev-parse", "HEAD"]), start.as_str());
        assert_eq!(sandbox.git(&slot.path, &["branch", "--show-current"]), "");
        assert_eq!(sandbox.git(&slot.path, &["status", "--porcelain"]), "");
        assert_eq!(sandbox.at(&["for-each-ref"]), branches, "I6: no ref is made");
        assert!(!repository.prepare_slot(&slot, &start, &[]).unwrap().fresh);
    });
}

#[test]
fn c3_1_the_frozen_tree_holds_tracked_changes_and_unignored_files_of_any_name() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        let slot = sandbox.slot("dispatch-1");
        let start = sandbox.commit("HEAD");
        repository.prepare_slot(&slot, &start, &[]).unwrap();
        assert_eq!(repository.freeze(&slot, &start).unwrap().tree, sandbox.tree("HEAD"));

        write(&slot.path.join("src/lib.rs"), "one\n2\nthree\n");
        fs::remove_file(slot.path.join("README.md")).unwrap();
        write(&slot.path.join("noise.log"), "ignored\n");
        write(&slot.path.join("target/out"), "ignored\n");
        write(&slot.path.join("new/a b.txt"), "blank\n");
        fs::write(bytes_path(&slot.path, b"new/\xff\"\n"), "bytes\n").unwrap();
        write(&slot.path.join("-x"), "dash\n");
        write(&slot.path.join(":(top)star*"), "magic\n");
        write(&slot.path.join("git~1/x"), "no name for other systems\n");
        symlink("/etc/passwd", slot.path.join("link")).unwrap();
        write(&slot.path.join("run.sh"), "#!/bin/sh\n");
        fs::set_permissions(slot.path.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        let frozen = repository.freeze(&slot, &start).unwrap();
        assert_eq!(
            sandbox.listed(&frozen.tree),
            [
                "-x",
                ".gitignore",
                ":(top)star*",
                "backlog/tasks/t-1.md",
                "git~1/x",
                "link",
                "new/a b.txt",
                "new/\\xff\\\"\\n",
                "run.sh",
                "src/lib.rs"
            ]
        );
        assert_eq!(sandbox.show(&frozen.tree, "src/lib.rs"), "one\n2\nthree");
        assert_eq!(sandbox.show(&frozen.tree, "link"), "/etc/passwd");
        let listed = sandbox.at(&["ls-tree", frozen.tree.as_str(), "run.sh"]);
        assert!(listed.starts_with("100755"));
        assert!(frozen.nested.is_empty() && frozen.left_out.is_empty());
        assert_eq!(repository.freeze(&slot, &start).unwrap(), frozen, "again, the same");
    });
}

#[test]
fn v1_4_flags_in_the_slots_own_index_hide_nothing() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        let slot = sandbox.slot("dispatch-1");
        let start = sandbox.commit("HEAD");
        repository.prepare_slot(&slot, &start, &[]).unwrap();
        sandbox.git(&slot.path, &["update-index", "--skip-worktree", "README.md"]);
        sandbox.git(&slot.path, &["update-index", "--assume-unchanged", "src/lib.rs"]);
        write(&slot.path.join("README.md"), "hidden\n");
        write(&slot.path.join("src/lib.rs"), "hidden\n");
        assert_eq!(sandbox.git(&slot.path, &["status", "--porcelain"]), "", "git itself is fooled");
        let frozen = repository.freeze(&slot, &start).unwrap();
        let found = repository.changes(&start, &frozen.tree).unwrap();
        let changed: Vec<_> = found.into_iter().map(|change| change.path).collect();
        assert_eq!(changed, paths(&["README.md", "src/lib.rs"]));
    });
}

#[test]
fn v1_4_repositories_inside_a_slot_are_found_and_their_files_saved() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        let slot = sandbox.slot("dispatch-1");
        let start = sandbox.commit("HEAD");
        repository.prepare_slot(&slot, &start, &[]).unwrap();
        for inner in ["empty", "a b/full", "node_modules/ignored"] {
            let path = slot.path.join(inner);
            fs::create_dir_all(&path).unwrap();
            sandbox.git(&path, &["init", "-q"]);
            write(&path.join("work.txt"), "work\n");
        }
        symlink("work.txt", slot.path.join("a b/full/link")).unwrap();
        let full = slot.path.join("a b/full");
        sandbox.git(&full, &["add", "-A"]);
        sandbox.git(&full, &["commit", "-q", "-m", "inner"]);
        let frozen = repository.freeze(&slot, &start).unwrap();
        let nested: Vec<_> = frozen.nested.iter().map(|nested| nested.path.clone()).collect();
        assert_eq!(nested, paths(&["a b/full", "empty"]));
        let listed = sandbox.listed(&frozen.tree);
        for path in ["a b/full/work.txt", "a b/full/link", "empty/work.txt"] {
            assert!(listed.iter().any(|found| found == path), "{path} in {listed:?}");
        }
        assert!(!listed.iter().any(|path| path.starts_with("node_modules")));
        repository.prepare_slot(&slot, &start, &[]).unwrap();
        assert!(!slot.path.join("empty").exists() && !slot.path.join("a b").exists());
    });
}

/// BR-04.
#[test]
fn v2_2_a_recorded_submodule_stays_as_it_is_and_one_the_worker_fills_is_found() {
    with_each_git(|sandbox| {
        let module = sandbox.root.join("module");
        sandbox.git(&sandbox.root, &["init", "-q", "-b", "main", "module"]);
        write(&module.join("m.txt"), "m\n");
        sandbox.git(&module, &["add", "-A"]);
        sandbox.git(&module, &["commit", "-q", "-m", "m"]);
        sandbox.at(&["submodule", "--quiet", "add", module.as_str(), "sub"]);
        sandbox.at(&["commit", "-q", "-m", "sub"]);
        let start = sandbox.commit("HEAD");
        let repository = sandbox.repository();
        let slot = sandbox.slot("dispatch-1");
        repository.prepare_slot(&slot, &start, &[]).unwrap();
        let frozen = repository.freeze(&slot, &start).unwrap();
        assert_eq!(frozen.tree, sandbox.tree("HEAD"));
        assert!(frozen.nested.is_empty());
        sandbox.git(&slot.path, &["submodule", "--quiet", "update", "--init"]);
        write(&slot.path.join("sub/work.txt"), "work\n");
        let frozen = repository.freeze(&slot, &start).unwrap();
        assert_eq!(frozen.nested[0].path, TreePath::new("sub"));
        assert_eq!(sandbox.show(&frozen.tree, "sub/work.txt"), "work");
        repository.prepare_slot(&slot, &start, &[]).unwrap();
        assert_eq!(fs::read_dir(slot.path.join("sub")).unwrap().count(), 0);
        assert_eq!(repository.freeze(&slot, &start).unwrap().tree, sandbox.tree("HEAD"));
    });
}

#[test]
fn what_a_tree_cannot_hold_is_named_and_what_is_shut_is_opened() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        let slot = sandbox.slot("dispatch-1");
        let start = sandbox.commit("HEAD");
        repository.prepare_slot(&slot, &start, &[]).unwrap();
        let call = Call::new("mkfifo", &slot.path, std::time::Duration::from_mins(1))
            .arg("pipe")
            .env("PATH", std::env::var_os("PATH").unwrap());
        assert!(run(&call).unwrap().is_success());
        write(&slot.path.join("shut/in.txt"), "in\n");
        fs::set_permissions(slot.path.join("shut/in.txt"), fs::Permissions::from_mode(0o0))
            .unwrap();
        fs::set_permissions(slot.path.join("shut"), fs::Permissions::from_mode(0o0)).unwrap();
        let mut deep = slot.path.join("deep");
        for _ in 0..140 {
            deep.push("d");
        }
        write(&deep.join("end.txt"), "end\n");
        let frozen = repository.freeze(&slot, &start).unwrap();
        let out: Vec<_> =
            frozen.left_out.iter().map(|(path, why)| (path.to_string(), why)).collect();
        assert_eq!(out.len(), 2, "{out:?}");
        assert_eq!(out[0].0, "pipe");
        assert!(out[1].0.starts_with("deep/d/d/"));
        assert_eq!(sandbox.show(&frozen.tree, "shut/in.txt"), "in");
        repository.prepare_slot(&slot, &start, &[]).unwrap();
        assert_eq!(sandbox.git(&slot.path, &["status", "--porcelain", "--ignored"]), "");
    });
}

#[test]
fn d6_5_only_kept_folders_that_nobody_changed_survive() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        let slot = sandbox.slot("dispatch-1");
        let start = sandbox.commit("HEAD");
        let keep = ["node_modules", "target"].map(|path| RepoPath::parse(path).unwrap());
        repository.prepare_slot(&slot, &start, &keep).unwrap();
        write(&slot.path.join("node_modules/a/x.js"), "good\n");
        write(&slot.path.join("target/x"), "good\n");
        repository.remember_kept(&slot, &keep).unwrap();
        write(&slot.path.join("other.log"), "ignored\n");
        let prepared = repository.prepare_slot(&slot, &start, &keep).unwrap();
        assert_eq!(prepared.dropped, []);
        assert!(slot.path.join("node_modules/a/x.js").exists());
        assert!(!slot.path.join("other.log").exists());

        let planted = slot.path.join("node_modules/a/x.js");
        let times = fs::metadata(&planted).unwrap().modified().unwrap();
        fs::write(&planted, "evil\n").unwrap();
        fs::File::options().write(true).open(&planted).unwrap().set_modified(times).unwrap();
        let prepared = repository.prepare_slot(&slot, &start, &keep).unwrap();
        assert_eq!(prepared.dropped, keep[..1]);
        assert!(!slot.path.join("node_modules").exists());
        assert!(slot.path.join("target/x").exists());
    });
}

#[test]
fn a_link_planted_on_the_way_leads_nobody_outside() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        let slot = sandbox.slot("dispatch-1");
        let start = sandbox.commit("HEAD");
        let keep =
            [RepoPath::parse("src/cache").unwrap(), RepoPath::parse("node_modules").unwrap()];
        repository.prepare_slot(&slot, &start, &keep).unwrap();
        let precious = sandbox.root.join("precious");
        write(&precious.join("cache/photo"), "precious\n");
        write(&precious.join("lib.rs"), "precious\n");
        fs::remove_dir_all(slot.path.join("src")).unwrap();
        symlink(&precious, slot.path.join("src")).unwrap();
        symlink(&precious, slot.path.join("node_modules")).unwrap();
        let frozen = repository.freeze(&slot, &start).unwrap();
        assert!(
            sandbox.listed(&frozen.tree).contains(&"src".to_owned()),
            "the link itself is saved"
        );
        repository.prepare_slot(&slot, &start, &keep).unwrap();
        assert_eq!(fs::read_to_string(precious.join("cache/photo")).unwrap(), "precious\n");
        assert_eq!(fs::read_to_string(precious.join("lib.rs")).unwrap(), "precious\n");
        assert_eq!(fs::read_to_string(slot.path.join("src/lib.rs")).unwrap(), "one\ntwo\nthree\n");
        assert!(!slot.path.join("node_modules").exists());
    });
}

#[test]
fn d6_5_content_that_no_record_explains_is_saved_before_it_is_cleared() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        let slot = sandbox.slot("dispatch-1");
        let start = sandbox.commit("HEAD");
        repository.prepare_slot(&slot, &start, &[]).unwrap();
        assert_eq!(repository.prepare_slot(&slot, &start, &[]).unwrap().rescued, None);
        write(&slot.path.join("lost.txt"), "work\n");
        let (name, commit) = repository.prepare_slot(&slot, &start, &[]).unwrap().rescued.unwrap();
        assert!(name.starts_with("refs/dispatch/rescue/dispatch-1/"));
        assert_eq!(sandbox.commit(&name), commit);
        assert_eq!(sandbox.at(&["show", &format!("{name}:lost.txt")]), "work");
        assert!(!slot.path.join("lost.txt").exists());

        write(&slot.path.join("saved.txt"), "work\n");
        let tree = repository.freeze(&slot, &start).unwrap().tree;
        let saved = repository.commit(&tree, std::slice::from_ref(&start), "attempt").unwrap();
        repository.keep("refs/dispatch/attempts/T-1/1", &saved).unwrap();
        assert_eq!(repository.prepare_slot(&slot, &start, &[]).unwrap().rescued, None);
    });
}

/// BR-02.
#[test]
fn v2_1_nothing_that_is_not_a_slot_of_ours_is_touched() {
    with_each_git(|sandbox| {
        let start = sandbox.commit("HEAD");
        let slots = sandbox.code_root.join(".claude/worktrees");
        fs::create_dir_all(&slots).unwrap();
        // A folder with files that git does not know.
        write(&slots.join("foreign/precious.txt"), "precious\n");
        // A link to the main checkout.
        symlink(&sandbox.code_root, slots.join("linked")).unwrap();
        // A file.
        write(&slots.join("file"), "precious\n");
        // A worktree of another repository.
        sandbox.git(&sandbox.root, &["init", "-q", "-b", "main", "other"]);
        let other = sandbox.root.join("other");
        sandbox.git(&other, &["commit", "-q", "--allow-empty", "-m", "x"]);
        sandbox.git(&other, &["worktree", "add", "-q", "--detach", slots.join("others").as_str()]);
        let repository = sandbox.repository();
        for name in ["foreign", "linked", "file", "others"] {
            let error = repository.prepare_slot(&sandbox.slot(name), &start, &[]).unwrap_err();
            assert!(
                error.chain().contains("is not a slot of this repository"),
                "{}",
                error.chain()
            );
        }
        // A slots root that makes the main checkout, or a place outside, look like a slot.
        let mut main = sandbox.slot("code");
        main.path = sandbox.code_root.clone();
        let settings = VcsSettings { slots_root: sandbox.root.clone(), ..sandbox.settings() };
        let error = sandbox.repository_with(settings).prepare_slot(&main, &start, &[]).unwrap_err();
        assert!(error.chain().contains("it is the main checkout"), "{}", error.chain());
        assert!(repository.prepare_slot(&main, &start, &[]).is_err());
        main.path = slots.join("../..");
        assert!(repository.prepare_slot(&main, &start, &[]).is_err());
        assert_eq!(fs::read_to_string(slots.join("foreign/precious.txt")).unwrap(), "precious\n");
        assert!(sandbox.code_root.join("README.md").exists());
    });
}

#[test]
fn v2_1_a_slots_root_inside_another_slot_is_refused() {
    with_each_git(|sandbox| {
        let start = sandbox.commit("HEAD");
        let slot = sandbox.slot("dispatch-1");
        sandbox.repository().prepare_slot(&slot, &start, &[]).unwrap();
        let settings = VcsSettings { slots_root: slot.path.join("inner"), ..sandbox.settings() };
        let mut inner = sandbox.slot("dispatch-2");
        inner.path = slot.path.join("inner/dispatch-2");
        let error =
            sandbox.repository_with(settings).prepare_slot(&inner, &start, &[]).unwrap_err();
        assert!(error.chain().contains("is inside the worktree"), "{}", error.chain());
    });
}

#[test]
fn d6_5_a_broken_slot_is_mended_and_its_content_saved() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        let slot = sandbox.slot("dispatch-1");
        let start = sandbox.commit("HEAD");
        repository.prepare_slot(&slot, &start, &[]).unwrap();
        let admin =
            Utf8PathBuf::from(sandbox.git(&slot.path, &["rev-parse", "--absolute-git-dir"]));
        let breaks: [(&str, &dyn Fn()); 5] = [
            ("gone from the disk", &|| fs::remove_dir_all(&slot.path).unwrap()),
            ("without its pointer", &|| fs::remove_file(slot.path.join(".git")).unwrap()),
            ("pointer replaced by a repository", &|| {
                fs::remove_file(slot.path.join(".git")).unwrap();
                sandbox.git(&slot.path, &["init", "-q"]);
            }),
            ("in the middle of a rebase", &|| {
                write(&admin.join("rebase-merge/head-name"), "refs/heads/main\n");
                write(&admin.join("index.lock"), "");
            }),
            ("on a branch", &|| {
                write(&admin.join("HEAD"), "ref: refs/heads/main\n");
            }),
        ];
        for (what, break_it) in breaks {
            write(&slot.path.join("work.txt"), what);
            break_it();
            let kept = slot.path.join("work.txt").exists();
            let prepared = repository.prepare_slot(&slot, &start, &[]).unwrap();
            assert_eq!(prepared.rescued.is_some(), kept, "{what}");
            if let Some((name, _)) = prepared.rescued {
                assert_eq!(sandbox.at(&["show", &format!("{name}:work.txt")]), what);
            }
            assert_eq!(sandbox.git(&slot.path, &["status", "--porcelain"]), "", "{what}");
            assert_eq!(sandbox.git(&slot.path, &["rev-parse", "HEAD"]), start.as_str(), "{what}");
            assert_eq!(sandbox.commit("main"), start, "{what}");
        }
    });
}

#[test]
fn v2_2_paths_with_blanks_quotes_and_newlines_work() {
    for git in gits() {
        let sandbox = Sandbox::below(git, "it's a \"path\"\nwith ünicode");
        let repository = sandbox.repository();
        assert_eq!(repository.code_root(), sandbox.code_root);
        let slot = sandbox.slot("dispatch-1");
        let start = sandbox.commit("HEAD");
        repository.prepare_slot(&slot, &start, &[]).unwrap();
        write(&slot.path.join("x"), "x\n");
        let frozen = repository.freeze(&slot, &start).unwrap();
        assert_eq!(sandbox.show(&frozen.tree, "x"), "x");
        repository.prepare_slot(&slot, &start, &[]).unwrap();
        assert!(!slot.path.join("x").exists());
    }
}

#[test]
fn c5_2_the_verification_tree_holds_exactly_the_frozen_tree_and_notices_changes() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        let slot = sandbox.slot("dispatch-1");
        let start = sandbox.commit("HEAD");
        repository.prepare_slot(&slot, &start, &[]).unwrap();
        write(&slot.path.join("src/new.rs"), "new\n");
        write(&slot.path.join("target/forged"), "passed\n");
        let tree = repository.freeze(&slot, &start).unwrap().tree;
        for _ in 0..2 {
            let path = repository.verification_tree(&slot, &tree, &start).unwrap();
            assert_eq!(path, slot.verification());
            assert_eq!(fs::read_to_string(path.join("src/new.rs")).unwrap(), "new\n");
            assert!(!path.join("target").exists(), "what is ignored does not come along");
            assert_eq!(repository.changed_in_verification(&slot, &tree).unwrap(), []);
            write(&path.join("target/ignored"), "x");
            assert_eq!(repository.changed_in_verification(&slot, &tree).unwrap(), []);
            write(&path.join("src/lib.rs"), "changed by a test\n");
            write(&path.join("left.txt"), "x");
            let changed = repository.changed_in_verification(&slot, &tree).unwrap();
            assert_eq!(changed, paths(&["left.txt", "src/lib.rs"]));
        }
    });
}

/// BR-05.
#[test]
fn v2_2_a_missing_required_filter_is_a_clear_error() {
    with_each_git(|sandbox| {
        sandbox.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
        sandbox.at(&["add", "-A"]);
        sandbox.at(&["commit", "-q", "-m", "lfs"]);
        let start = sandbox.commit("HEAD");
        let error = sandbox
            .repository()
            .prepare_slot(&sandbox.slot("dispatch-1"), &start, &[])
            .unwrap_err();
        assert!(error.chain().contains("the filter `lfs`"), "{}", error.chain());
    });
}

#[test]
fn v1_6_many_slots_are_made_at_once() {
    with_each_git(|sandbox| {
        let start = sandbox.commit("HEAD");
        std::thread::scope(|scope| {
            for number in 1..=8 {
                let start = &start;
                scope.spawn(move || {
                    let slot = sandbox.slot(&format!("dispatch-{number}"));
                    sandbox.repository().prepare_slot(&slot, start, &[]).unwrap();
                    assert_eq!(sandbox.git(&slot.path, &["status", "--porcelain"]), "");
                });
            }
        });
    });
}

/// P5.7: the file an agent would find, and nothing that a link leads to.
#[test]
fn p5_7_what_lies_in_a_slot_is_told_without_following_a_link() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        let slot = sandbox.slot("dispatch-1");
        repository.prepare_slot(&slot, &sandbox.commit("HEAD"), &[]).unwrap();
        let path = RepoPath::parse(".claude/settings.json").unwrap();
        let lying = || repository.lying(&slot, &path).unwrap();
        let folder = slot.path.join(".claude");
        assert_eq!(lying(), Lying::Nothing);
        write(&folder, "a file");
        assert_eq!(lying(), Lying::Other);
        fs::remove_file(&folder).unwrap();
        write(&folder.join("settings.json"), "{}");
        assert_eq!(lying(), Lying::File(b"{}".to_vec()));
        fs::remove_file(folder.join("settings.json")).unwrap();
        write(&folder.join("other"), "{}");
        symlink("other", folder.join("settings.json")).unwrap();
        assert_eq!(lying(), Lying::Other);
        fs::remove_file(folder.join("settings.json")).unwrap();
        fs::create_dir(folder.join("settings.json")).unwrap();
        assert_eq!(lying(), Lying::Other);
        fs::rename(&folder, slot.path.join("elsewhere")).unwrap();
        symlink("elsewhere", &folder).unwrap();
        assert_eq!(lying(), Lying::Other);
    });
}

/// Whoever can write below the git directory can put pipes there that nobody serves.
#[test]
fn v1_3_pipes_planted_in_our_git_directory_are_replaced_and_not_waited_for() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        let slot = sandbox.slot("dispatch-1");
        let start = sandbox.commit("HEAD");
        repository.prepare_slot(&slot, &start, &[]).unwrap();
        let private = repository.common_dir().join("dispatch/git/dispatch-1.git");
        for name in ["config", "info/exclude", "checked-out", "kept.json"] {
            let at = private.join(name);
            // What is remembered of kept folders is not there while none is kept.
            fs::remove_file(&at).ok();
            mknodat(CWD, at.as_std_path(), FileType::Fifo, Mode::RWXU, 0).unwrap();
        }
        repository.prepare_slot(&slot, &start, &[]).unwrap();
        for name in ["config", "info/exclude", "checked-out"] {
            assert!(fs::symlink_metadata(private.join(name)).unwrap().is_file(), "{name}");
        }
    });
}

#[test]
fn w3_4_a_hard_link_to_a_file_outside_is_found() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        let slot = sandbox.slot("dispatch-1");
        repository.prepare_slot(&slot, &sandbox.commit("HEAD"), &[]).unwrap();
        write(&slot.path.join("a"), "a");
        fs::hard_link(slot.path.join("a"), slot.path.join("b")).unwrap();
        assert_eq!(repository.hard_link_outside(&slot).unwrap(), None);
        write(&sandbox.root.join("outside"), "x");
        fs::hard_link(sandbox.root.join("outside"), slot.path.join("src/in")).unwrap();
        assert_eq!(repository.hard_link_outside(&slot).unwrap(), Some(TreePath::new("src/in")));
    });
}

/// V1.2, V1.3: git is told where everything is: a slot whose `.git` leads to a repository of the worker's own is handled as
/// if it still led to ours, and nothing is written into that one.
#[test]
fn v1_2_nothing_is_discovered_from_inside_a_slot() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        let slot = sandbox.slot("dispatch-1");
        let start = sandbox.commit("HEAD");
        repository.prepare_slot(&slot, &start, &[]).unwrap();
        sandbox.git(&sandbox.root, &["init", "-q", "theirs"]);
        let theirs = sandbox.root.join("theirs/.git");
        write(&slot.path.join("src/lib.rs"), "done\n");
        write(&slot.path.join(".git"), &format!("gitdir: {theirs}\n"));
        let before = sandbox.at(&["for-each-ref", "refs/heads"]);
        let frozen = repository.freeze(&slot, &start).unwrap();
        assert_eq!(sandbox.show(&frozen.tree, "src/lib.rs"), "done");
        let changed = repository.changes(&start, &frozen.tree).unwrap();
        assert_eq!(changed.into_iter().map(|c| c.path).collect::<Vec<_>>(), paths(&["src/lib.rs"]));
        let commit =
            repository.commit(&frozen.tree, std::slice::from_ref(&start), "saved\n").unwrap();
        repository.keep("refs/dispatch/attempts/T-1/1", &commit).unwrap();
        assert_eq!(sandbox.commit("refs/dispatch/attempts/T-1/1"), commit);
        assert_eq!(sandbox.at(&["for-each-ref", "refs/heads"]), before);
        assert_eq!(sandbox.git(&theirs, &["for-each-ref"]), "");
        assert_eq!(sandbox.git(&theirs, &["count-objects"]), "0 objects, 0 kilobytes");
    });
}
