use super::*;

fn file(id: &str, extra: &str) -> Found {
    Found::Bytes(format!("---\nid: {id}\ntitle: x\nstatus: To Do\n{extra}---\n").into_bytes())
}

fn board(files: &[(&str, Found)]) -> Board {
    let config = BoardConfig::parse("task_prefix: \"T\"");
    assemble(files.iter().map(|(path, found)| (Utf8Path::new(*path), found)), &config)
}

fn ids(tasks: &BTreeMap<TaskId, Task>) -> Vec<String> {
    tasks.keys().map(ToString::to_string).collect()
}

#[test]
fn b2_1_tasks_completed_and_archived_are_told_apart_and_the_rest_is_no_task() {
    let board = board(&[
        ("tasks/t-1 - a.md", file("T-1", "")),
        ("completed/t-2 - b.md", file("T-2", "")),
        ("archive/tasks/t-3 - c.md", file("T-3", "")),
        ("drafts/t-4 - d.md", file("T-4", "")),
        ("tasks/sub/t-5 - e.md", file("T-5", "")),
        ("tasks/T-6 - f.md", file("T-6", "")),
        ("tasks/t-7 - g.MD", file("T-7", "")),
        ("tasks/notes.md", file("T-8", "")),
    ]);
    assert_eq!(ids(&board.tasks), ["T-1"]);
    assert_eq!(ids(&board.completed), ["T-2"]);
    assert_eq!(ids(&board.archived), ["T-3"]);
    assert!(board.complete, "{:?}", board.problems);
}

/// BR-12: two files with one id, spelled differently.
#[test]
fn br_12_two_files_with_one_id_are_both_dropped_and_both_named() {
    let board = board(&[
        ("tasks/t-7 - one.md", file("T-7", "")),
        ("tasks/t-007 - two.md", file("t-007", "")),
        ("tasks/t-8 - other.md", file("T-8", "")),
    ]);
    assert_eq!(ids(&board.tasks), ["T-8"]);
    assert!(!board.complete);
    let named: Vec<String> = board.problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        named,
        [
            "tasks/t-007 - two.md: it claims the id T-7 as `tasks/t-7 - one.md` does too; give one of them another id",
            "tasks/t-7 - one.md: it claims the id T-7 as `tasks/t-007 - two.md` does too; give one of them another id",
        ]
    );
}

/// N8: an unreadable task is dropped and named, never replaced by a stub.
#[test]
fn n8_an_unreadable_task_is_named_and_the_board_is_incomplete() {
    let board = board(&[
        ("tasks/t-1 - a.md", Found::Bytes(b"---\nid: T-1\ntitle: \"open\n---\n".to_vec())),
        ("tasks/t-2 - b.md", file("T-2", "")),
        ("tasks/t-3 - c.md", Found::Unreadable("permission denied".to_owned())),
    ]);
    assert_eq!(ids(&board.tasks), ["T-2"]);
    assert!(!board.complete);
    let named: Vec<_> =
        board.problems.iter().map(|p| (p.class, p.id.clone().unwrap().to_string())).collect();
    assert_eq!(
        named,
        [
            (ProblemClass::Unreadable, "T-1".to_owned()),
            (ProblemClass::Unreadable, "T-3".to_owned())
        ]
    );
}

#[test]
fn b2_7_a_hostile_file_anywhere_is_named_and_the_rest_counts_as_complete() {
    for path in ["tasks/t-9 - x.md", "docs/deep/x.md", "completed/t-9 - x.md", "tasks/readme.md"] {
        let hostile = Found::Bytes(b"\xef\xbb\xbf--- JavaScript\r\n{}\n---\n".to_vec());
        let board = board(&[("tasks/t-1 - a.md", file("T-1", "")), (path, hostile)]);
        assert!(board.hostile() && board.complete, "{path}: {:?}", board.problems);
        assert_eq!(ids(&board.tasks), ["T-1"]);
    }
}

/// B2.7: a task that carries a command takes part in nothing, and is there to be told of; one that is run as soon as it
/// is read is not.
#[test]
fn b2_7_a_task_that_carries_a_command_is_set_aside() {
    let board = board(&[
        ("tasks/t-1 - a.md", file("T-1", "dependencies: [T-2]\n")),
        ("tasks/t-2 - b.md", file("T-2", "'onStatusChange': 'touch x'\n")),
        ("tasks/t-3 - c.md", file("T-3", "<<: {onStatusChange: x}\n")),
    ]);
    assert_eq!(ids(&board.tasks), ["T-1"]);
    assert_eq!(ids(&board.hostile_tasks), ["T-2"]);
    assert!(board.complete);
    let carrier = board.hostile_tasks.keys().next().unwrap();
    assert!(board.hostile_file_of(carrier).unwrap().cause.contains("remove that key"));
}

/// B2.4, B2.7: a file that carries a command claims its id as any other does, so that no edit goes to the wrong one.
#[test]
fn b2_4_a_twin_that_carries_a_command_drops_both() {
    for twin in ["tasks/t-1 - twin.md", "completed/t-1 - twin.md"] {
        let board = board(&[
            ("tasks/t-1 - a.md", file("T-1", "")),
            (twin, file("T-1", "onStatusChange: touch x\n")),
        ]);
        assert!(board.tasks.is_empty() && board.hostile_tasks.is_empty() && !board.complete);
        let twice = board.problems.iter().filter(|p| p.class == ProblemClass::Duplicate).count();
        assert_eq!((twice, board.hostile()), (2, true), "{:?}", board.problems);
    }
}

/// B2.5, B5.4: a subtask that takes part in nothing is not finished, and neither is its parent.
#[test]
fn b5_4_a_subtask_that_carries_a_command_is_a_subtask() {
    let board = board(&[
        ("tasks/t-3 - p.md", file("T-3", "")),
        ("tasks/t-3.1 - c.md", file("T-3.1", "parent_task_id: T-3\n")),
        ("tasks/t-3.2 - c.md", file("T-3.2", "parent_task_id: T-3\nonStatusChange: touch x\n")),
    ]);
    let children = &board.tasks[&TaskId::parse("T-3").unwrap()].children;
    assert_eq!(children.iter().map(ToString::to_string).collect::<Vec<_>>(), ["T-3.1", "T-3.2"]);
    assert!(board.complete && !board.may_hide_a_subtask());
}

#[test]
fn b5_children_come_from_active_and_completed_tasks_in_natural_order() {
    let board = board(&[
        ("tasks/t-3 - p.md", file("T-3", "")),
        ("tasks/t-3.10 - c.md", file("T-3.10", "parent_task_id: T-3\n")),
        ("completed/t-3.2 - c.md", file("T-3.2", "parent_task_id: t-03\n")),
        ("archive/tasks/t-3.3 - c.md", file("T-3.3", "parent_task_id: T-3\n")),
    ]);
    let children: Vec<String> = board.tasks[&TaskId::parse("T-3").unwrap()]
        .children
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(children, ["T-3.2", "T-3.10"]);
}

#[test]
fn b5_4_a_cycle_of_parents_is_a_named_problem() {
    let board = board(&[
        ("tasks/t-1 - a.md", file("T-1", "parent_task_id: T-2\n")),
        ("tasks/t-2 - b.md", file("T-2", "parent_task_id: T-1\n")),
        ("tasks/t-3 - c.md", file("T-3", "parent_task_id: T-2\n")),
    ]);
    let cycles: Vec<&Problem> =
        board.problems.iter().filter(|p| p.class == ProblemClass::ParentCycle).collect();
    assert_eq!(cycles.len(), 1);
    assert_eq!(cycles[0].cause, "these tasks are each other's parents: T-1, T-2");
    assert!(board.complete);
}
