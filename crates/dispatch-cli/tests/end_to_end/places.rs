//! Where the board may lie, and where `dispatch` may be called (S3).

use std::fs;
use std::os::unix::fs::symlink;

use camino::Utf8Path;
use dispatch_testkit::board::{Board, TaskText};
use dispatch_testkit::programs;

use crate::world::{World, task, work};

fn parser_task() -> TaskText {
    task("T-1", "Add a parser", "src/parser.rs")
}

/// Calls `dispatch` in a folder of the code root; it must succeed.
#[track_caller]
fn call_in(world: &World, dir: &Utf8Path, args: &[&str]) -> String {
    programs::read(world.command(env!("CARGO_BIN_EXE_dispatch"), args).current_dir(dir))
}

/// S3: a linked worktree is mapped to the main checkout: its copy of the board is not the board.
#[test]
fn called_from_a_linked_worktree_the_main_checkout_s_board_is_worked() {
    let Some(world) = World::with_git() else { return };
    world.worker("T-1", work([("src/parser.rs", "//! A parser.\n")]));
    world.begin(&[parser_task()]);
    let linked = world.repo().root().join("linked");
    world.repo().git(&["worktree", "add", "--quiet", "--detach", linked.as_str()]);

    call_in(&world, &linked.join("src"), &["--wait"]);

    assert_eq!(world.board().status("T-1"), "In Progress", "{}", world.story("T-1"));
    assert!(world.repo().remote_branches().contains_key("task/T-1"));
    let copy = fs::read_to_string(linked.join(".backlog/tasks").join(parser_task().file_name()));
    assert!(copy.unwrap().contains("status: Queued"));
}

/// S3: one code root serves one board; another one is refused, both are named, and nothing of it is touched.
#[test]
fn a_second_board_of_the_same_code_root_is_refused() {
    let Some(world) = World::with_git() else { return };
    let second = Board::new(&world.repo().code().join("apps/web"));
    second.add(&parser_task());
    world.begin(&[parser_task().status("To Do")]);
    world.pass();
    let before = second.text("T-1");

    let config = world.config_file();
    let args = ["--config", config.as_str(), "--wait"];
    let mut pass = world.command(env!("CARGO_BIN_EXE_dispatch"), &args);
    let refused = programs::output(pass.env("BACKLOG_CWD", second.root()));

    let words = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success(), "{refused:?}");
    assert!(words.contains(world.board().folder().as_str()), "{words}");
    assert_eq!(second.text("T-1"), before);
    // The same board by another spelling is the same board.
    let link = world.repo().root().join("link");
    symlink(world.repo().code(), &link).unwrap();
    let mut pass = world.command(env!("CARGO_BIN_EXE_dispatch"), &["--wait"]);
    programs::read(pass.env("BACKLOG_CWD", link));
}

/// S3: the board of a part of a monorepo; paths and branches are those of the whole repository.
#[test]
fn a_board_in_a_sub_directory_is_worked_from_there() {
    let Some(world) = World::with_git() else { return };
    world.worker("T-1", work([("src/parser.rs", "//! A parser.\n")]));
    let part = world.repo().code().join("apps/web");
    let board = Board::new(&part);
    world.configure(|config| {
        for lane in ["local", "frontier"] {
            config["lanes"][lane]["settings"] =
                format!("apps/web/.backlog/dispatch/{lane}.settings.json").into();
        }
    });
    fs::rename(world.board().folder().join("dispatch"), board.folder().join("dispatch")).unwrap();
    fs::remove_dir_all(world.board().folder()).unwrap();
    board.add(&parser_task());
    world.publish();
    call_in(&world, &part, &["trust"]);

    let report = call_in(&world, &part, &["--wait", "--json"]);

    let log = board.folder().join(".dispatch/T-1/attempt-1/run.log");
    let log = fs::read_to_string(log).unwrap_or_default();
    assert_eq!(board.status("T-1"), "In Progress", "{report}\n{log}\n{}", board.text("T-1"));
    assert!(world.repo().remote_branches().contains_key("task/T-1"), "{report}\n{log}");
    assert_eq!(world.repo().remote_changes("main", "task/T-1"), ["src/parser.rs"]);
    assert!(board.folder().join(".dispatch/T-1/attempt-1/outcome.json").is_file());
}

/// S3, B6: a board directory that is a symbolic link is read, written and committed where it really lies.
#[test]
fn a_board_directory_that_is_a_link_is_worked() {
    let Some(world) = World::with_git() else { return };
    world.worker("T-1", work([("src/parser.rs", "//! A parser.\n")]));
    let code = world.repo().code();
    fs::create_dir(code.join("boards")).unwrap();
    fs::rename(code.join(".backlog"), code.join("boards/main")).unwrap();
    symlink("boards/main", code.join(".backlog")).unwrap();
    world.begin(&[parser_task()]);

    world.proposed("T-1");

    assert!(code.join(".backlog").is_symlink());
    world.pull_when_settled();
    let committed = world.repo().git(&["log", "-1", "--format=%s", "--", "boards/main/tasks"]);
    assert!(!committed.contains("set the scene"), "{committed}");
}
