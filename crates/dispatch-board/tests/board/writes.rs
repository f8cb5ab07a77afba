//! B3: what the adapter writes, and what it refuses to write.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_board::{DiskBoard, TaskLock, locate};
use dispatch_core::attempt::AttemptNumber;
use dispatch_core::config::BoardWriter;
use dispatch_core::id::TaskId;
use dispatch_core::status::Status;
use dispatch_core::task::Checklist;
use dispatch_core::worker_edit::{Section, WorkerEdit};
use dispatch_engine::ports::{Board, StatusChange, StatusWrite, Tick, WorkerEditEnd};
use dispatch_testkit::programs;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;

use crate::support::scratch;

pub(crate) const TASK: &str = "---\nid: T-1\ntitle: One\nstatus: Queued\nassignee: []\ncreated_date: '2026-03-01 09:15'\nlabels: []\ndependencies: []\n---\n\n## Description\n\n<!-- SECTION:DESCRIPTION:BEGIN -->\nText.\n\nFiles to touch:\n- src/a.rs\n\nTest command: `cargo test`\n<!-- SECTION:DESCRIPTION:END -->\n\n## Acceptance Criteria\n<!-- AC:BEGIN -->\n- [ ] #1 one\n- [ ] #2 two\n<!-- AC:END -->\n";

pub(crate) struct Place {
    _guard: TempDir,
    pub(crate) root: Utf8PathBuf,
    pub(crate) file: Utf8PathBuf,
}

pub(crate) fn place(config: &str) -> Place {
    let (guard, root) = scratch();
    fs::create_dir_all(root.join("backlog/tasks")).unwrap();
    let config = format!(
        "project_name: x\nstatuses: [\"To Do\", \"Queued\", \"In Progress\", \"Blocked\", \"Done\"]\ntask_prefix: \"T\"\ncheck_active_branches: false\nremote_operations: false\nauto_commit: false\n{config}"
    );
    fs::write(root.join("backlog/config.yml"), config).unwrap();
    let file = root.join("backlog/tasks/t-1 - One.md");
    fs::write(&file, TASK).unwrap();
    Place { _guard: guard, root, file }
}

impl Place {
    pub(crate) fn board(&self) -> DiskBoard {
        self.board_with(BoardWriter::Native)
    }

    pub(crate) fn board_with(&self, writer: BoardWriter) -> DiskBoard {
        let environment: BTreeMap<OsString, OsString> = programs::environment(&self.root)
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        DiskBoard::new(locate(&self.root, None).unwrap(), writer, environment)
    }

    pub(crate) fn text(&self) -> String {
        fs::read_to_string(&self.file).unwrap()
    }
}

pub(crate) fn id() -> TaskId {
    TaskId::parse("T-1").unwrap()
}

fn block(comment: &str) -> StatusChange {
    StatusChange {
        expected: vec![Status::Queued, Status::InProgress],
        to: Status::Blocked,
        comment: Some(comment.to_owned()),
    }
}

#[test]
fn b3_1b_a_status_and_its_comment_are_one_edit() {
    let place = place("");
    let board = place.board();
    assert_eq!(board.set_status(&id(), &block("why\n---\nit is")).unwrap(), StatusWrite::Written);
    let task = board.task(&id()).unwrap().unwrap();
    assert_eq!(task.status, Status::Blocked);
    assert_eq!(task.comments[0].author.as_deref(), Some("dispatch"));
    assert_eq!(task.comments[0].body, "why\n\\---\nit is");
    assert!(!place.root.join("backlog/.locks/task-t-1").exists(), "the lock is given back");
    let left: Vec<_> = fs::read_dir(place.root.join("backlog/.dispatch"))
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(left, [".gitignore"], "no temporary file stays");
}

#[test]
fn b3_9_another_status_is_a_persons_decision_and_nothing_changes() {
    let place = place("");
    let done = TASK.replace("status: Queued", "status: done");
    fs::write(&place.file, &done).unwrap();
    let wrote = place.board().set_status(&id(), &block("x")).unwrap();
    assert_eq!(wrote, StatusWrite::Mismatch { found: Status::Done });
    assert_eq!(place.text(), done);
}

#[test]
fn b3_9_a_task_the_board_does_not_hold_is_gone_and_one_that_cannot_be_read_is_not() {
    let place = place("");
    let board = place.board();
    let other = TaskId::parse("T-2").unwrap();
    assert_eq!(board.set_status(&other, &block("x")).unwrap(), StatusWrite::Gone);
    assert_eq!(board.task(&other).unwrap(), None);
    fs::write(place.root.join("backlog/tasks/t-2 - Two.md"), "---\nid: \"T-2\n---\n").unwrap();
    assert!(board.set_status(&other, &block("x")).is_err());
    assert!(board.task(&other).is_err());
}

#[test]
fn b3_9_a_status_the_board_does_not_have_is_an_error_that_names_its_statuses() {
    let place = place("statuses: [\"To Do\", \"Queued\", \"Done\"]\n");
    let error = place.board().set_status(&id(), &block("x")).unwrap_err();
    assert_eq!(
        error.chain(),
        "could not set T-1 to `Blocked`: the board has no status `Blocked`; its statuses are `To Do`, `Queued`, `Done`"
    );
}

#[test]
fn b3_10_links_are_not_edited() {
    let place = place("");
    let elsewhere = place.root.join("elsewhere.md");
    fs::rename(&place.file, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &place.file).unwrap();
    let error = place.board().set_status(&id(), &block("x")).unwrap_err().chain();
    assert!(error.ends_with("is not edited: it is a symbolic link"), "{error}");
    fs::remove_file(&place.file).unwrap();
    fs::hard_link(&elsewhere, &place.file).unwrap();
    let error = place.board().set_status(&id(), &block("x")).unwrap_err().chain();
    assert!(error.ends_with("has 2 names (hard links)"), "{error}");
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), TASK);
}

/// BR-14: each file keeps its own line endings, and reads the same in every one.
#[test]
fn br_14_line_endings_are_kept() {
    for (name, text) in [
        ("lf", TASK.to_owned()),
        ("crlf", TASK.replace('\n', "\r\n")),
        ("no newline at the end", TASK.trim_end().to_owned()),
        ("a byte order mark", format!("\u{feff}{}", TASK.replace('\n', "\r\n"))),
    ] {
        let place = place("");
        fs::write(&place.file, &text).unwrap();
        let board = place.board();
        let before = board.task(&id()).unwrap().unwrap();
        assert_eq!(board.set_status(&id(), &block("x")).unwrap(), StatusWrite::Written, "{name}");
        let after = board.task(&id()).unwrap().unwrap();
        assert_eq!(
            (&after.description, &after.acceptance),
            (&before.description, &before.acceptance)
        );
        let written = place.text();
        let lone = written.replace("\r\n", "").matches('\n').count();
        let pairs = written.matches("\r\n").count();
        assert_eq!(
            (lone == 0, pairs == 0),
            (text.contains("\r\n"), !text.contains("\r\n")),
            "{name}"
        );
    }
}

#[test]
fn b3_10_the_mode_of_the_file_is_kept() {
    use std::os::unix::fs::PermissionsExt;
    let place = place("");
    fs::set_permissions(&place.file, fs::Permissions::from_mode(0o640)).unwrap();
    place.board().comment(&id(), "x").unwrap();
    assert_eq!(fs::metadata(&place.file).unwrap().permissions().mode() & 0o777, 0o640);
}

/// N5, B3.2: our own status write tells its callback that it is ours.
#[test]
fn n5_the_callback_of_our_own_write_recognises_itself() {
    let place = place(
        "onStatusChange: 'echo \"$TASK_ID|$OLD_STATUS|$NEW_STATUS|$TASK_TITLE|$BACKLOG_DISPATCH_ACTIVE|$BACKLOG_CWD|$PWD\" >> seen'\n",
    );
    let board = place.board();
    board.set_status(&id(), &block("x")).unwrap();
    board.comment(&id(), "no status changes here").unwrap();
    let root = &place.root;
    assert_eq!(
        fs::read_to_string(root.join("seen")).unwrap(),
        format!("T-1|Queued|Blocked|One|1|{root}|{root}\n")
    );
}

#[test]
fn the_callback_runs_under_the_lock_and_its_failure_changes_nothing() {
    let place = place("onStatusChange: 'ls backlog/.locks > seen; exit 3'\n");
    assert_eq!(place.board().set_status(&id(), &block("x")).unwrap(), StatusWrite::Written);
    assert_eq!(fs::read_to_string(place.root.join("seen")).unwrap(), "task-t-1\n");
}

#[test]
fn a_callback_nobody_approved_is_not_run() {
    let place = place("onStatusChange: 'touch first'\n");
    let board = place.board();
    let config = place.root.join("backlog/config.yml");
    let changed = fs::read_to_string(&config).unwrap().replace("touch first", "touch second");
    fs::write(&config, changed).unwrap();
    board.set_status(&id(), &block("x")).unwrap();
    assert!(!place.root.join("first").exists() && !place.root.join("second").exists());
}

#[test]
fn b2_7_a_command_a_task_carries_is_never_run_though_the_task_can_be_blocked() {
    let place = place("");
    let text = TASK.replace("labels: []", "labels: []\n\"onStatus\\x43hange\": 'touch pwned'");
    fs::write(&place.file, &text).unwrap();
    let board = place.board();
    let ours = board.read().hostile_file_of(&id()).cloned().unwrap();
    assert!(ours.to_string().contains("remove that key in a text editor"), "{ours}");
    assert!(board.read().complete);
    board.set_status(&id(), &block("look at the file")).unwrap();
    assert!(!place.root.join("pwned").exists());
    let written = place.text();
    assert!(
        written.contains("status: Blocked") && written.contains("look at the file"),
        "{written}"
    );
    assert!(
        written.contains("\nonStatusChange: touch pwned\n"),
        "a person has to see it: {written}"
    );
    assert!(board.view(&id()).unwrap_err().chain().contains("the board program is not started"));
}

#[test]
fn b2_7_a_file_in_another_language_is_neither_run_nor_edited() {
    let place = place("");
    let text = TASK.replacen("---", "---js", 1);
    fs::write(&place.file, &text).unwrap();
    let board = place.board();
    assert!(board.set_status(&id(), &block("x")).is_err());
    assert!(board.read().hostile_file_of(&id()).is_some() && board.read().complete);
    assert_eq!(place.text(), text);
}

/// N38, B3.6: a tick is found by its text, whatever number it has by now.
#[test]
fn n38_a_tick_is_found_by_text() {
    let place = place("");
    fs::write(&place.file, TASK.replace("- [ ] #1 one", "- [ ] #1 zero\n- [ ] #2 one")).unwrap();
    let board = place.board();
    let tick = |text: &str| board.tick(&id(), Checklist::Acceptance, text).unwrap();
    assert_eq!(tick("two"), Tick::Ticked);
    assert_eq!(tick("two"), Tick::AlreadyTicked);
    assert_eq!(tick("three"), Tick::NoSuchItem);
    let ticked: Vec<String> = board
        .task(&id())
        .unwrap()
        .unwrap()
        .acceptance
        .into_iter()
        .filter(|i| i.checked)
        .map(|i| i.text)
        .collect();
    assert_eq!(ticked, ["two"]);
}

/// B3.6: of two items with the same text each is ticked in its turn.
#[test]
fn b3_6_of_two_items_with_one_text_the_open_one_is_ticked() {
    let place = place("");
    let twice = TASK.replace("- [ ] #1 one", "- [ ] #1 one\n- [ ] #2 one");
    fs::write(&place.file, twice.replace("#2 two", "#3 two")).unwrap();
    let board = place.board();
    let tick = || board.tick(&id(), Checklist::Acceptance, "one").unwrap();
    assert_eq!([tick(), tick(), tick()], [Tick::Ticked, Tick::Ticked, Tick::AlreadyTicked]);
    let task = board.task(&id()).unwrap().unwrap();
    let ticked: Vec<bool> = task.acceptance.iter().map(|item| item.checked).collect();
    assert_eq!(ticked, [true, true, false]);
}

#[test]
fn w2_a_workers_edits_are_one_edit_under_its_name() {
    let place = place("");
    let board = place.board();
    let edits = [
        WorkerEdit::Replace { section: Section::Plan, text: "1. do it".to_owned() },
        WorkerEdit::Append { section: Section::Notes, text: "note".to_owned() },
        WorkerEdit::Comment { text: "asking".to_owned() },
        WorkerEdit::Check { list: Checklist::Acceptance, index: 2, checked: true },
    ];
    let attempt = AttemptNumber::FIRST;
    assert_eq!(board.edit_for_worker(&id(), &edits, attempt).unwrap(), WorkerEditEnd::Written);
    let task = board.task(&id()).unwrap().unwrap();
    assert_eq!((task.plan.as_str(), task.notes.as_str()), ("1. do it", "note"));
    assert_eq!(task.comments[0].author.as_deref(), Some("worker:1"));
    assert!(task.acceptance[1].checked && task.status == Status::Queued);
}

/// N36: a plan that carries claims or a test command would change what the close believes.
#[test]
fn n36_a_workers_edit_that_would_change_a_protected_field_is_refused() {
    let place = place("");
    let board = place.board();
    for text in ["Test command: `true`", "Files:\n- secrets/", "Branch: other"] {
        let edits = [WorkerEdit::Replace { section: Section::Plan, text: text.to_owned() }];
        let end = board.edit_for_worker(&id(), &edits, AttemptNumber::FIRST).unwrap();
        assert!(
            matches!(&end, WorkerEditEnd::Protected(why) if why.contains("only a person may change")),
            "{text}: {end:?}"
        );
        assert_eq!(place.text(), TASK);
    }
    let edits = [
        WorkerEdit::Comment { text: "all or nothing".to_owned() },
        WorkerEdit::Check { list: Checklist::Acceptance, index: 9, checked: true },
    ];
    let end = board.edit_for_worker(&id(), &edits, AttemptNumber::FIRST).unwrap();
    assert_eq!(
        end,
        WorkerEditEnd::Refused("`Acceptance Criteria` has no item #9; it has 2".to_owned())
    );
    assert_eq!(place.text(), TASK);
}

/// B2.8: a comment that would be taken for part of a comment that never ends is refused before anything is written.
#[test]
fn b2_8_what_would_not_show_is_not_written() {
    let place = place("");
    let open = "\n## Comments\n\n<!-- COMMENTS:BEGIN -->\n<!-- COMMENT:BEGIN -->\nx\n";
    let text = format!("---\nid: T-1\ntitle: One\nstatus: Queued\n---\n{open}");
    fs::write(&place.file, &text).unwrap();
    let error = place.board().set_status(&id(), &block("why")).unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains("T-1 is not written"), "{cause}");
    assert_eq!(place.text(), text);
}

#[test]
fn b3_3_a_lock_held_for_a_moment_is_waited_for() {
    let place = place("");
    let lock = TaskLock::take(Utf8Path::new(&place.root.join("backlog")), "T-1").unwrap();
    let board = place.board();
    let writer = std::thread::spawn(move || board.set_status(&id(), &block("x")).unwrap());
    dispatch_testkit::wait::until("the writer waits", || true);
    drop(lock);
    assert_eq!(writer.join().unwrap(), StatusWrite::Written);
}

/// A pipe under the name of a task is waited for by no writer.
#[test]
fn b3_10_a_planted_pipe_stops_no_writer() {
    let place = place("");
    let pipe = place.file.with_file_name("t-1 - pipe.md");
    mknodat(CWD, pipe.as_std_path(), FileType::Fifo, Mode::RWXU, 0).unwrap();
    place.board().comment(&id(), "written all the same").unwrap();
    assert!(fs::read_to_string(&place.file).unwrap().contains("written all the same"));
}
