//! The status of a task that has subtasks (B5).

use std::collections::{BTreeMap, BTreeSet};

use crate::board::Board;
use crate::dependencies::effectively_done;
use crate::id::TaskId;
use crate::status::Status;
use crate::task::{OneLine, Task};
use crate::triage::Tier;

/// Whether a parent's pull request is merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merged {
    /// It is.
    Yes,
    /// It is not.
    No,
    /// It could not be asked.
    Unknown,
}

/// What the records say about a parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParentFacts {
    /// Whether its pull request is merged.
    pub merged: Merged,
    /// Whether one of its attempts saw all its subtasks' merged commits.
    pub close_attempt_covers_children: bool,
}

/// A node of the tree of tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The status written on the board.
    pub literal: Status,
    /// Whether it integrates on a branch of its own (B5.3).
    pub own_branch: bool,
    /// What the records say about it.
    pub facts: ParentFacts,
    /// Its subtasks.
    pub children: Vec<Node>,
}

/// Whether a parent integrates on a branch of its own: it is complex, or it declares one (B5.3).
pub fn has_own_branch(task: &Task) -> bool {
    task.tier.given() == Some(Tier::Complex) || task.branch != OneLine::Missing
}

/// Whether an attempt of the task would close a parent: its subtasks are done and it integrates on a branch of its own
/// (B5.3). A board that may hide a subtask never says so.
pub fn closes_parent(board: &Board, task: &Task) -> bool {
    !board.may_hide_a_subtask()
        && !task.children.is_empty()
        && has_own_branch(task)
        && task.children.iter().all(|child| effectively_done(board, child))
}

/// The effective status of a node (B5.2, B5.3).
pub fn effective_status(node: &Node) -> Status {
    if node.children.is_empty() {
        return node.literal.clone();
    }
    let children: Vec<Status> = node.children.iter().map(effective_status).collect();
    of_parent(&node.literal, node.own_branch, node.facts, &children)
}

fn of_parent(
    literal: &Status,
    own_branch: bool,
    facts: ParentFacts,
    children: &[Status],
) -> Status {
    let done = children.iter().filter(|status| **status == Status::Done).count();
    if done == children.len() {
        return all_done(literal, own_branch, facts);
    }
    if done > 0 || children.contains(&Status::InProgress) {
        return Status::InProgress;
    }
    if children.contains(&Status::Blocked) { Status::Blocked } else { Status::ToDo }
}

fn all_done(literal: &Status, own_branch: bool, facts: ParentFacts) -> Status {
    if !own_branch || facts.merged == Merged::Yes || *literal == Status::Done {
        return Status::Done;
    }
    if facts.close_attempt_covers_children { literal.clone() } else { Status::Queued }
}

/// The parents of a board whose written status is not the derived one, with the derived one, subtasks first.
///
/// Nothing is derived on a board that may hide a subtask (B5.4); tasks on a cycle of parents, and those above it, are left alone.
pub fn derive(board: &Board, facts: impl Fn(&Task) -> ParentFacts) -> Vec<(TaskId, Status)> {
    if board.may_hide_a_subtask() {
        return Vec::new();
    }
    let mut derivation = Derivation {
        board,
        facts,
        known: BTreeMap::new(),
        open: BTreeSet::new(),
        changes: Vec::new(),
    };
    for id in board.tasks.keys() {
        derivation.status(id);
    }
    derivation.changes
}

/// The ancestors of a task, nearest first; it ends where a cycle begins.
pub fn ancestors(board: &Board, id: &TaskId) -> Vec<TaskId> {
    let mut found: Vec<TaskId> = Vec::new();
    let mut at = board.find(id).and_then(|task| task.parent.clone());
    while let Some(parent) = at {
        if found.contains(&parent) || parent == *id {
            break;
        }
        at = board.find(&parent).and_then(|task| task.parent.clone());
        found.push(parent);
    }
    found
}

struct Derivation<'a, F> {
    board: &'a Board,
    facts: F,
    known: BTreeMap<TaskId, Option<Status>>,
    open: BTreeSet<TaskId>,
    changes: Vec<(TaskId, Status)>,
}

impl<F: Fn(&Task) -> ParentFacts> Derivation<'_, F> {
    /// The effective status; none on a cycle, above one, or for a task the board does not hold.
    fn status(&mut self, id: &TaskId) -> Option<Status> {
        if let Some(known) = self.known.get(id) {
            return known.clone();
        }
        if self.board.completed.contains_key(id) {
            return Some(Status::Done);
        }
        let task = self.board.tasks.get(id)?;
        if !self.open.insert(id.clone()) {
            return None;
        }
        let children: Option<Vec<Status>> = {
            let all: Vec<Option<Status>> =
                task.children.iter().map(|child| self.status(child)).collect();
            all.into_iter().collect()
        };
        let status = children.map(|children| {
            if children.is_empty() {
                task.status.clone()
            } else {
                of_parent(&task.status, has_own_branch(task), (self.facts)(task), &children)
            }
        });
        if let Some(status) = status.as_ref().filter(|status| **status != task.status) {
            self.changes.push((id.clone(), status.clone()));
        }
        self.open.remove(id);
        self.known.insert(id.clone(), status.clone());
        status
    }
}

#[cfg(test)]
mod tests {
    use camino::Utf8Path;
    use proptest::prelude::*;
    use test_case::test_case;

    use super::*;
    use crate::board::{Found, assemble};
    use crate::board_config::BoardConfig;

    const NONE: ParentFacts =
        ParentFacts { merged: Merged::No, close_attempt_covers_children: false };

    fn leaf(literal: Status) -> Node {
        Node { literal, own_branch: false, facts: NONE, children: Vec::new() }
    }

    fn parent(own_branch: bool, facts: ParentFacts, children: &[Status]) -> Node {
        let children = children.iter().cloned().map(leaf).collect();
        Node { literal: Status::InProgress, own_branch, facts, children }
    }

    use Status::{Blocked, Done, InProgress, Queued, ToDo};

    #[test_case(&[ToDo, InProgress], &InProgress; "any in progress")]
    #[test_case(&[Done, ToDo], &InProgress; "done and unfinished mixed")]
    #[test_case(&[Done, Blocked], &InProgress; "done and blocked mixed")]
    #[test_case(&[Blocked, Queued], &Blocked; "any blocked")]
    #[test_case(&[Queued, ToDo], &ToDo; "queued is not propagated")]
    #[test_case(&[Done, Done], &Done; "all done without a branch of its own")]
    fn b5_2_a_parent_follows_its_subtasks(children: &[Status], expected: &Status) {
        assert_eq!(effective_status(&parent(false, NONE, children)), *expected);
    }

    #[test_case(Merged::No, false, &Queued; "a close attempt is needed")]
    #[test_case(Merged::Unknown, false, &Queued; "also when merging could not be asked")]
    #[test_case(Merged::Yes, false, &Done; "merged")]
    #[test_case(Merged::No, true, &InProgress; "a close attempt covered them")]
    #[test_case(Merged::Unknown, true, &InProgress; "unknown never concludes done")]
    fn b5_3_a_parent_with_a_branch_needs_a_close_attempt(
        merged: Merged,
        covered: bool,
        expected: &Status,
    ) {
        let facts = ParentFacts { merged, close_attempt_covers_children: covered };
        assert_eq!(effective_status(&parent(true, facts, &[Done])), *expected);
    }

    fn board(files: &[(&str, &str, &str)]) -> Board {
        let files: Vec<(String, Found)> = files
            .iter()
            .map(|(id, status, extra)| {
                let text = format!("---\nid: {id}\ntitle: x\nstatus: {status}\n{extra}---\n");
                (format!("tasks/{} - x.md", id.to_lowercase()), Found::Bytes(text.into_bytes()))
            })
            .collect();
        let config = BoardConfig::parse("task_prefix: T");
        assemble(files.iter().map(|(path, found)| (Utf8Path::new(path), found)), &config)
    }

    fn changes(board: &Board) -> Vec<(String, Status)> {
        derive(board, |_| NONE).into_iter().map(|(id, status)| (id.to_string(), status)).collect()
    }

    /// N43: a parent set `Done` by hand does not close before its children, three levels down.
    #[test]
    fn n43_a_parent_done_by_hand_is_reopened_by_an_unfinished_task_three_levels_down() {
        let board = board(&[
            ("T-1", "Done", ""),
            ("T-1.1", "Done", "parent_task_id: T-1\n"),
            ("T-1.1.1", "Done", "parent_task_id: T-1.1\n"),
            ("T-1.1.1.1", "In Progress", "parent_task_id: T-1.1.1\n"),
        ]);
        let reopened = ["T-1.1.1", "T-1.1", "T-1"].map(|id| (id.to_owned(), InProgress));
        assert_eq!(changes(&board), reopened);
    }

    /// N9, B5.4: nothing is derived from half the children.
    #[test]
    fn n9_nothing_is_derived_on_an_incomplete_board() {
        let mut board = board(&[("T-1", "To Do", ""), ("T-1.1", "Done", "parent_task_id: T-1\n")]);
        assert_eq!(changes(&board), [("T-1".to_owned(), Done)]);
        board.complete = false;
        assert_eq!(changes(&board), []);
    }

    /// B5.4, B2.5: a subtask set aside for the command it carries, or not read at all, is no finished one.
    #[test_case("onStatusChange: touch x\n"; "set aside")]
    #[test_case("title2: [\nonStatusChange: touch x\n"; "not read")]
    fn b5_4_a_hostile_subtask_finishes_no_parent(carried: &str) {
        let hostile = format!("parent_task_id: T-1\n{carried}");
        let board = board(&[
            ("T-1", "To Do", "labels: ['tier:complex']\n"),
            ("T-1.1", "Done", "parent_task_id: T-1\n"),
            ("T-1.2", "To Do", &hostile),
        ]);
        assert!(board.complete && board.hostile());
        assert_eq!(changes(&board), []);
        assert!(!closes_parent(&board, &board.tasks[&TaskId::parse("T-1").unwrap()]));
    }

    #[test]
    fn b5_4_a_cycle_and_what_stands_above_it_are_left_alone() {
        let board = board(&[
            ("T-1", "Done", "parent_task_id: T-2\n"),
            ("T-2", "To Do", "parent_task_id: T-1\n"),
            ("T-3", "To Do", ""),
            ("T-3.1", "Done", "parent_task_id: T-3\n"),
        ]);
        assert_eq!(changes(&board), [("T-3".to_owned(), Done)]);
        assert_eq!(ancestors(&board, &TaskId::parse("T-1").unwrap()).len(), 1);
    }

    fn arb_status() -> impl Strategy<Value = Status> {
        prop::sample::select(vec![ToDo, Queued, InProgress, Blocked, Done])
    }

    /// B5.3, B2.5.
    #[test]
    fn b5_3_an_attempt_closes_a_parent_once_every_subtask_is_done() {
        let whole = |child: &str, branch: &str| {
            board(&[
                ("T-1", "Queued", branch),
                ("T-1.1", "Done", "parent_task_id: T-1\n"),
                ("T-1.2", child, "parent_task_id: T-1\n"),
            ])
        };
        let id = |text| TaskId::parse(text).unwrap();
        let closes = |board: &Board| closes_parent(board, &board.tasks[&id("T-1")]);
        let complex = "labels: ['tier:complex']\n";
        assert!(closes(&whole("Done", complex)));
        assert!(!closes(&whole("To Do", complex)), "unfinished work");
        assert!(!closes(&whole("Done", "")), "no branch of its own");
        let mut torn = whole("Done", complex);
        torn.complete = false;
        assert!(!closes(&torn), "an incomplete board");
        let leaf = whole("Done", complex);
        assert!(!closes_parent(&leaf, &leaf.tasks[&id("T-1.1")]), "no parent");
    }

    fn arb_facts() -> impl Strategy<Value = ParentFacts> {
        (prop::sample::select(vec![Merged::Yes, Merged::No, Merged::Unknown]), any::<bool>())
            .prop_map(|(merged, close_attempt_covers_children)| ParentFacts {
                merged,
                close_attempt_covers_children,
            })
    }

    /// How far a parent has come.
    fn progress(status: &Status, children: &[Status]) -> u8 {
        match status {
            _ if children.iter().all(|child| *child == Done) => 4,
            Done => 5,
            InProgress => 3,
            Blocked => 2,
            Queued => 1,
            ToDo | Status::Other(_) => 0,
        }
    }

    proptest! {
        /// B5.5: writing the derived status changes nothing more.
        #[test]
        fn b5_5_derivation_is_idempotent(
            literal in arb_status(), own_branch: bool, facts in arb_facts(),
            children in prop::collection::vec(arb_status(), 1..6),
        ) {
            let once = of_parent(&literal, own_branch, facts, &children);
            prop_assert_eq!(of_parent(&once, own_branch, facts, &children), once);
        }

        /// B5.5: the order of the children does not matter.
        #[test]
        fn b5_5_the_order_of_children_is_irrelevant(
            literal in arb_status(), own_branch: bool, facts in arb_facts(),
            children in prop::collection::vec(arb_status(), 1..6).prop_shuffle(),
        ) {
            let mut sorted = children.clone();
            sorted.sort();
            prop_assert_eq!(
                of_parent(&literal, own_branch, facts, &children),
                of_parent(&literal, own_branch, facts, &sorted)
            );
        }

        /// B5.5: finishing one more child never moves a parent backwards.
        #[test]
        fn b5_5_finishing_a_child_never_moves_a_parent_backwards(
            literal in arb_status(), own_branch: bool, facts in arb_facts(),
            children in prop::collection::vec(arb_status(), 1..6), which: prop::sample::Index,
        ) {
            let before = of_parent(&literal, own_branch, facts, &children);
            let mut finished = children.clone();
            finished[which.index(children.len())] = Done;
            let after = of_parent(&before, own_branch, facts, &finished);
            prop_assert!(progress(&after, &finished) >= progress(&before, &children));
        }

        /// B5.4: a parent never leaves `Done` while every child is done, and unknown never makes it so.
        #[test]
        fn b5_4_done_is_kept_and_never_guessed(
            literal in arb_status(), covered: bool, children in 1_usize..5,
        ) {
            let facts = ParentFacts { merged: Merged::Unknown, close_attempt_covers_children: covered };
            let derived = of_parent(&literal, true, facts, &vec![Done; children]);
            prop_assert_eq!(derived == Done, literal == Done);
        }
    }
}
