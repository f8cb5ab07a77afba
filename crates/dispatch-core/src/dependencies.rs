//! What a task waits for (guard 4).

use std::collections::BTreeSet;

use crate::board::Board;
use crate::id::TaskId;
use crate::status::Status;
use crate::task::Task;

/// What the dependencies of a task say about starting it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dependencies {
    /// All are effectively done.
    Met,
    /// These are not done yet.
    NotDone(Vec<TaskId>),
    /// These were not seen, and the board was not read completely: nothing can be said (B2.5).
    Unseen(Vec<TaskId>),
    /// These can never become done, each with why.
    Unknown(Vec<(String, NeverDone)>),
    /// The task depends on itself, along these.
    Cycle(Vec<TaskId>),
}

/// Why a dependency can never become done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NeverDone {
    /// It was archived.
    Archived,
    /// No task has this id.
    NoSuchTask,
    /// It is no task id.
    NotAnId,
}

/// Whether a task counts as done: completed, or `Done` with all its subtasks done (N43).
pub fn effectively_done(board: &Board, id: &TaskId) -> bool {
    fn done(board: &Board, id: &TaskId, seen: &mut BTreeSet<TaskId>) -> bool {
        if board.completed.contains_key(id) {
            return true;
        }
        let Some(task) = board.tasks.get(id) else { return false };
        if task.status != Status::Done || !seen.insert(id.clone()) {
            return false;
        }
        task.children.iter().all(|child| done(board, child, seen))
    }
    done(board, id, &mut BTreeSet::new())
}

/// Judges the dependencies of `task`. What can never be met is said before what may still be.
pub fn judge(board: &Board, task: &Task) -> Dependencies {
    if task.dependencies.is_empty() && task.foreign_dependencies.is_empty() {
        return Dependencies::Met;
    }
    let mut never: Vec<(String, NeverDone)> =
        task.foreign_dependencies.iter().map(|text| (text.clone(), NeverDone::NotAnId)).collect();
    let (mut unseen, mut not_done) = (Vec::new(), Vec::new());
    for id in &task.dependencies {
        if board.tasks.contains_key(id) || board.completed.contains_key(id) {
            if !effectively_done(board, id) {
                not_done.push(id.clone());
            }
        } else if board.may_hide(id) {
            unseen.push(id.clone());
        } else if board.archived.contains_key(id) {
            never.push((id.to_string(), NeverDone::Archived));
        } else {
            never.push((id.to_string(), NeverDone::NoSuchTask));
        }
    }
    if !never.is_empty() {
        return Dependencies::Unknown(never);
    }
    if let Some(cycle) = cycle(board, task) {
        return Dependencies::Cycle(cycle);
    }
    if !unseen.is_empty() {
        return Dependencies::Unseen(unseen);
    }
    if not_done.is_empty() { Dependencies::Met } else { Dependencies::NotDone(not_done) }
}

/// The shortest way from a task back to itself along dependencies, beginning and ending with it.
fn cycle(board: &Board, task: &Task) -> Option<Vec<TaskId>> {
    let mut trails: Vec<Vec<&TaskId>> = vec![vec![&task.id]];
    let mut seen: BTreeSet<&TaskId> = BTreeSet::new();
    while !trails.is_empty() {
        let mut next = Vec::new();
        for trail in trails {
            let here = trail.last().and_then(|id| board.tasks.get(*id));
            for id in here.into_iter().flat_map(|task| &task.dependencies) {
                let mut longer = trail.clone();
                longer.push(id);
                if *id == task.id {
                    return Some(longer.into_iter().cloned().collect());
                }
                if seen.insert(id) {
                    next.push(longer);
                }
            }
        }
        trails = next;
    }
    None
}

#[cfg(test)]
mod tests {
    use camino::Utf8Path;
    use test_case::test_case;

    use super::*;
    use crate::board::{Found, assemble};
    use crate::board_config::BoardConfig;

    fn board(complete: bool) -> Board {
        let task = |id: &str, status: &str, extra: &str| {
            Found::Bytes(
                format!("---\nid: {id}\ntitle: x\nstatus: {status}\n{extra}---\n").into_bytes(),
            )
        };
        let files = [
            ("tasks/t-1 - x.md", task("T-1", "Done", "")),
            ("tasks/t-2 - x.md", task("T-2", "In Progress", "dependencies: [T-1]\n")),
            ("completed/t-3 - x.md", task("T-3", "To Do", "")),
            ("archive/tasks/t-4 - x.md", task("T-4", "Done", "")),
            ("tasks/t-5 - x.md", task("T-5", "Done", "")),
            ("tasks/t-5.1 - x.md", task("T-5.1", "To Do", "parent_task_id: T-5\n")),
            ("tasks/t-6 - x.md", task("T-6", "Queued", "dependencies: [T-7]\n")),
            ("tasks/t-7 - x.md", task("T-7", "Queued", "dependencies: [T-6]\n")),
            ("tasks/t-8 - x.md", task("T-8", "Queued", "dependencies: [T-8]\n")),
            ("tasks/t-9 - x.md", task("T-9", "Done", "onStatusChange: touch x\n")),
        ];
        let config = BoardConfig::parse("task_prefix: T");
        let mut board =
            assemble(files.iter().map(|(path, found)| (Utf8Path::new(*path), found)), &config);
        board.complete = complete;
        board
    }

    fn id(text: &str) -> TaskId {
        TaskId::parse(text).unwrap()
    }

    fn judged(dependencies: &[&str], complete: bool) -> Dependencies {
        let board = board(complete);
        let mut task = board.tasks[&id("T-1")].clone();
        task.id = id("T-100");
        task.dependencies = dependencies.iter().map(|text| id(text)).collect();
        judge(&board, &task)
    }

    #[test_case(&["T-1", "t-003"], true, &Dependencies::Met; "done and completed ones are met")]
    #[test_case(&["T-2", "T-1"], true, &Dependencies::NotDone(vec![id("T-2")]); "unfinished ones are waited for")]
    #[test_case(&["T-5"], true, &Dependencies::NotDone(vec![id("T-5")]); "a parent set done by hand waits for its subtasks")]
    #[test_case(&["T-4"], true, &Dependencies::Unknown(vec![("T-4".into(), NeverDone::Archived)]); "an archived one")]
    #[test_case(&["T-99", "T-2"], true, &Dependencies::Unknown(vec![("T-99".into(), NeverDone::NoSuchTask)]); "one that does not exist")]
    #[test_case(&["T-99", "T-2"], false, &Dependencies::Unseen(vec![id("T-99")]); "an absence proves nothing on an incomplete board")]
    #[test_case(&["T-9", "T-2"], true, &Dependencies::Unseen(vec![id("T-9")]); "one set aside for the command it carries")]
    #[test_case(&["T-6"], true, &Dependencies::NotDone(vec![id("T-6")]); "a cycle of others is theirs")]
    fn guard_4_dependencies(dependencies: &[&str], complete: bool, expected: &Dependencies) {
        assert_eq!(judged(dependencies, complete), *expected);
    }

    #[test]
    fn guard_4_a_task_on_a_cycle_is_told_its_way_round() {
        let board = board(true);
        let around = |text: &str| judge(&board, &board.tasks[&id(text)]);
        assert_eq!(around("T-6"), Dependencies::Cycle(vec![id("T-6"), id("T-7"), id("T-6")]));
        assert_eq!(around("T-8"), Dependencies::Cycle(vec![id("T-8"), id("T-8")]));
    }
}
