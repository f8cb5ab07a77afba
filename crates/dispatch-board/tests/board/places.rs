//! S3: the board is found where the board program finds it.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_board::{LocateError, locate};
use dispatch_testkit::programs::{self, Peer};
use dispatch_testkit::repo::Repo;
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::support::{backlog, scratch};

const CONFIG: &str = "project_name: \"x\"\nstatuses: [\"To Do\", \"Done\"]\ntask_prefix: \"T\"\ncheck_active_branches: false\nremote_operations: false\n";

/// Makes a board below a folder and says in which directory.
type MakeBoard = fn(&Utf8Path) -> Option<&'static str>;

fn board(dir: &Utf8Path) {
    fs::create_dir_all(dir.join("tasks")).unwrap();
    fs::write(dir.join("config.yml"), CONFIG).unwrap();
    let task =
        format!("---\nid: T-1\ntitle: in {}\nstatus: To Do\n---\n", dir.file_name().unwrap());
    fs::write(dir.join("tasks/t-1 - x.md"), task).unwrap();
}

/// Every place is asked of the real program too: both see the same task, or neither sees a board.
#[test]
fn the_board_is_found_where_the_program_finds_it() {
    let program = programs::find(Peer::Backlog);
    let (_guard, root) = scratch();
    let made: [(&str, MakeBoard); 8] = [
        ("plain", |at| {
            board(&at.join("backlog"));
            Some("backlog")
        }),
        ("hidden", |at| {
            board(&at.join(".backlog"));
            Some(".backlog")
        }),
        ("both", |at| {
            board(&at.join(".backlog"));
            board(&at.join("backlog"));
            Some("backlog")
        }),
        ("without-config", |at| {
            board(&at.join(".backlog"));
            fs::create_dir_all(at.join("backlog/tasks")).unwrap();
            Some(".backlog")
        }),
        ("configured", |at| {
            board(&at.join("docs/board"));
            fs::write(
                at.join("backlog.config.yml"),
                format!("{CONFIG}backlog_directory: docs/board\n"),
            )
            .unwrap();
            Some("docs/board")
        }),
        ("root-config", |at| {
            board(&at.join(".backlog"));
            fs::write(at.join("backlog.config.yml"), CONFIG).unwrap();
            Some(".backlog")
        }),
        ("symlink", |at| {
            board(&at.join("elsewhere"));
            std::os::unix::fs::symlink(at.join("elsewhere"), at.join("backlog")).unwrap();
            Some("backlog")
        }),
        ("none", |_| None),
    ];
    for (name, make) in made {
        let at = root.join(name);
        fs::create_dir_all(at.join("sub/deep")).unwrap();
        let expected = make(&at);
        for start in [at.clone(), at.join("sub/deep")] {
            let found = locate(&start, None);
            match expected {
                Some(dir) => {
                    let found = found.unwrap();
                    assert_eq!((found.root, found.dir), (at.clone(), at.join(dir)), "{name}");
                    assert_eq!(found.config.task_prefix, "T");
                }
                None => assert!(matches!(found, Err(LocateError::NoBoard { .. })), "{name}"),
            }
        }
        if let Some(program) = &program {
            let (ok, words) =
                backlog(program, &at.join("sub/deep"), &["task", "view", "T-1", "--plain"]);
            assert_eq!(ok, expected.is_some(), "{name}: {words}");
            let seen = expected.and_then(|dir| locate(&at, None).ok().map(|found| (dir, found)));
            if let Some((_, found)) = seen {
                let task = fs::read_to_string(found.dir.join("tasks/t-1 - x.md")).unwrap();
                let title = task.lines().find_map(|line| line.strip_prefix("title: ")).unwrap();
                assert!(words.contains(title), "{name}: {words}");
            }
        }
    }
}

#[test]
fn backlog_cwd_decides_and_a_missing_folder_is_an_error() {
    let (_guard, root) = scratch();
    board(&root.join("one/backlog"));
    board(&root.join("two/backlog"));
    fs::create_dir_all(root.join("two/sub")).unwrap();
    let one = root.join("one");
    assert_eq!(locate(&one, Some("../two/sub")).unwrap().root, root.join("two"));
    assert_eq!(locate(&one, Some(root.join("two").as_str())).unwrap().root, root.join("two"));
    std::os::unix::fs::symlink(root.join("two"), root.join("link")).unwrap();
    let linked = locate(&one, Some(root.join("link/sub").as_str())).unwrap();
    assert_eq!(linked.root, root.join("two"), "one board has one name");
    assert_eq!(locate(&one, Some("  ")).unwrap().root, one, "empty is not set");
    let error = locate(&one, Some("missing")).unwrap_err();
    assert_eq!(error.to_string(), format!("`BACKLOG_CWD` is `{one}/missing`, which is no folder"));
}

/// Whoever can write to the checkout can put a pipe that nobody serves anywhere in it.
#[test]
fn a_planted_pipe_is_not_waited_for() {
    let (_guard, root) = scratch();
    board(&root.join("backlog"));
    for name in ["backlog.config.yml", ".git"] {
        mknodat(CWD, root.join(name).as_std_path(), FileType::Fifo, Mode::RWXU, 0).unwrap();
    }
    assert_eq!(locate(&root, None).unwrap().dir, root.join("backlog"));
}

#[test]
fn a_linked_worktree_is_mapped_to_the_main_checkout() {
    for git in programs::gits() {
        let repo = Repo::new(&git);
        board(&repo.code().join("apps/web/backlog"));
        repo.git(&["add", "."]);
        repo.commit("board");
        let linked = repo.root().join("linked tree");
        repo.git(&["worktree", "add", "--detach", linked.as_str()]);
        let copy = linked.join("apps/web");
        assert!(copy.join("backlog/tasks").is_dir(), "the worktree has a copy of its own");
        let found = locate(&copy, None).unwrap();
        assert_eq!(found.root, repo.code().join("apps/web"));
        let there: Utf8PathBuf = locate(&copy, Some(".")).unwrap().root;
        assert_eq!(there, copy, "BACKLOG_CWD means what it says");
    }
}
