//! What changed between two readings of the board.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::board::Board;
use crate::id::TaskId;
use crate::status::Status;

/// A change of the board that a person may want to know of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BoardChange {
    /// A task that was not there.
    Appeared {
        /// The task.
        id: TaskId,
        /// Its status.
        status: Status,
    },
    /// A task has another status.
    Moved {
        /// The task.
        id: TaskId,
        /// The one it had.
        from: Status,
        /// The one it has.
        to: Status,
    },
    /// A task is no longer among the tasks, by a complete reading.
    Left {
        /// The task.
        id: TaskId,
        /// The status it had.
        from: Status,
    },
}

impl fmt::Display for BoardChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Appeared { id, status } => write!(f, "{id}: new, {status}"),
            Self::Moved { id, from, to } => write!(f, "{id}: {from} → {to}"),
            Self::Left { id, from } => write!(f, "{id}: left the board, was {from}"),
        }
    }
}

/// What a reading showed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Look {
    /// What changed, by task.
    pub changes: Vec<BoardChange>,
    /// The tasks that became `Queued` by a hand that is not ours.
    pub queued: BTreeSet<TaskId>,
}

/// What the last reading showed.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    statuses: Option<BTreeMap<TaskId, Status>>,
    ours: BTreeSet<TaskId>,
}

impl Seen {
    /// Compares a reading with the last one. `ours` are the tasks an attempt works on.
    ///
    /// A task whose attempt gives it back to the queue is no trigger: the supervisor goes on as a pass. It may have
    /// ended between two readings, so the attempts of the last one count too. A task that an incomplete reading does
    /// not show keeps the status it had (B2.5): a file that is half written does not make its task a new one.
    pub fn look(&mut self, board: &Board, ours: BTreeSet<TaskId>) -> Look {
        let now = board.tasks.iter().map(|(id, task)| (id.clone(), task.status.clone()));
        let Some(before) = self.statuses.take() else {
            self.statuses = Some(now.collect());
            self.ours = ours;
            return Look::default();
        };
        let mut after: BTreeMap<TaskId, Status> = now.collect();
        let mut look = Look::default();
        for (id, to) in &after {
            let from = before.get(id);
            if from == Some(to) {
                continue;
            }
            if *to == Status::Queued && !ours.contains(id) && !self.ours.contains(id) {
                look.queued.insert(id.clone());
            }
            look.changes.push(match from {
                None => BoardChange::Appeared { id: id.clone(), status: to.clone() },
                Some(from) => {
                    BoardChange::Moved { id: id.clone(), from: from.clone(), to: to.clone() }
                }
            });
        }
        let gone: Vec<_> = before.into_iter().filter(|(id, _)| !after.contains_key(id)).collect();
        if board.complete {
            let left = gone.into_iter().map(|(id, from)| BoardChange::Left { id, from });
            look.changes.extend(left);
        } else {
            after.extend(gone);
        }
        self.statuses = Some(after);
        self.ours = ours;
        look
    }
}

#[cfg(test)]
mod tests {
    use camino::Utf8PathBuf;
    use proptest::prelude::*;

    use super::*;
    use crate::board::{Found, assemble};
    use crate::board_config::BoardConfig;

    fn board(tasks: &[(u8, &str)], complete: bool) -> Board {
        let files: Vec<(Utf8PathBuf, Found)> = tasks
            .iter()
            .map(|(number, status)| {
                let text = format!("---\nid: T-{number}\ntitle: x\nstatus: {status}\n---\n");
                (format!("tasks/t-{number} - x.md").into(), Found::Bytes(text.into_bytes()))
            })
            .collect();
        let config = BoardConfig::parse("project_name: x\ntask_prefix: T\n");
        let mut board =
            assemble(files.iter().map(|(path, found)| (path.as_path(), found)), &config);
        assert_eq!(board.tasks.len(), tasks.len(), "{:?}", board.problems);
        board.complete = complete;
        board
    }

    fn id(number: u8) -> TaskId {
        TaskId::parse(&format!("T-{number}")).unwrap()
    }

    fn shown(look: &Look) -> Vec<String> {
        look.changes.iter().map(ToString::to_string).collect()
    }

    fn nobody() -> BTreeSet<TaskId> {
        BTreeSet::new()
    }

    #[test]
    fn r2_1_a_task_that_becomes_queued_is_a_trigger_and_one_that_was_is_not() {
        let mut seen = Seen::default();
        let first = seen.look(&board(&[(1, "Queued"), (2, "To Do")], true), nobody());
        assert_eq!(first, Look::default(), "what was there before is no news");
        let look =
            seen.look(&board(&[(1, "Queued"), (2, "Queued"), (3, "queued")], true), nobody());
        assert_eq!(shown(&look), ["T-2: To Do → Queued", "T-3: new, Queued"]);
        assert_eq!(look.queued, [id(2), id(3)].into());
    }

    #[test]
    fn r2_1_a_task_that_its_own_attempt_queues_again_is_no_trigger() {
        let mut seen = Seen::default();
        seen.look(&board(&[(1, "In Progress")], true), [id(1)].into());
        let look = seen.look(&board(&[(1, "Queued")], true), nobody());
        assert_eq!(shown(&look), ["T-1: In Progress → Queued"]);
        assert_eq!(look.queued, nobody(), "its supervisor goes on as a pass");
        seen.look(&board(&[(1, "Blocked")], true), nobody());
        assert_eq!(seen.look(&board(&[(1, "Queued")], true), nobody()).queued, [id(1)].into());
    }

    #[test]
    fn r2_3_a_file_that_is_half_written_makes_no_task_new_or_gone() {
        let mut seen = Seen::default();
        seen.look(&board(&[(1, "Queued"), (2, "Done")], true), nobody());
        assert_eq!(seen.look(&board(&[(2, "Done")], false), nobody()), Look::default());
        assert_eq!(
            seen.look(&board(&[(1, "Queued"), (2, "Done")], true), nobody()),
            Look::default()
        );
        let look = seen.look(&board(&[(1, "Queued")], true), nobody());
        assert_eq!(shown(&look), ["T-2: left the board, was Done"]);
    }

    proptest! {
        /// Looking again at the same board finds nothing, and no reading hides a task that became `Queued`.
        #[test]
        fn r2_1_nothing_is_seen_twice_and_nothing_is_missed(
            readings in proptest::collection::vec((proptest::collection::btree_map(1_u8..5, 0_usize..4, 0..5), any::<bool>()), 1..8)
        ) {
            const STATUSES: [&str; 4] = ["To Do", "Queued", "In Progress", "Blocked"];
            let mut seen = Seen::default();
            let mut known: Option<BTreeMap<u8, &str>> = None;
            for (tasks, complete) in readings {
                let tasks: BTreeMap<u8, &str> = tasks.iter().map(|(number, status)| (*number, STATUSES[*status])).collect();
                let read = board(&tasks.iter().map(|(number, status)| (*number, *status)).collect::<Vec<_>>(), complete);
                let look = seen.look(&read, nobody());
                let expected: BTreeSet<TaskId> = match &known {
                    None => BTreeSet::new(),
                    Some(known) => tasks.iter()
                        .filter(|(number, status)| **status == "Queued" && known.get(number) != Some(&"Queued"))
                        .map(|(number, _)| id(*number)).collect(),
                };
                prop_assert_eq!(look.queued, expected);
                prop_assert_eq!(seen.look(&read, nobody()), Look::default());
                let mut after = tasks.clone();
                if !complete {
                    for (number, status) in known.unwrap_or_default() {
                        after.entry(number).or_insert(status);
                    }
                }
                known = Some(after);
            }
        }
    }
}
