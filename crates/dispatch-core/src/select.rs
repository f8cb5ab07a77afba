//! Which tasks a pass looks at, in which order (D3.1).

use std::cmp::Ordering;

use crate::board::Board;
use crate::status::Status;
use crate::task::Task;

/// The queued tasks: highest priority first, then the oldest, then by id.
///
/// A task whose file names no creation date comes after those that do.
pub fn candidates(board: &Board) -> Vec<&Task> {
    let mut found: Vec<&Task> =
        board.tasks.values().filter(|task| task.status == Status::Queued).collect();
    found.sort_by(|a, b| order(a, b));
    found
}

fn order(a: &Task, b: &Task) -> Ordering {
    let undated = |task: &Task| task.created.is_none();
    b.priority
        .cmp(&a.priority)
        .then_with(|| undated(a).cmp(&undated(b)))
        .then_with(|| a.created.cmp(&b.created))
        .then_with(|| a.id.cmp(&b.id))
}

#[cfg(test)]
mod tests {
    use camino::Utf8Path;
    use proptest::prelude::*;

    use super::*;
    use crate::board::{Found, assemble};
    use crate::board_config::BoardConfig;

    fn board(tasks: &[(u32, &str, &str, &str)]) -> Board {
        let files: Vec<(String, Found)> = tasks
            .iter()
            .map(|(number, status, priority, created)| {
                let text = format!(
                    "---\nid: T-{number}\ntitle: x\nstatus: {status}\npriority: {priority}\ncreated_date: '{created}'\n---\n"
                );
                (format!("tasks/t-{number} - x.md"), Found::Bytes(text.into_bytes()))
            })
            .collect();
        let config = BoardConfig::parse("task_prefix: T");
        assemble(files.iter().map(|(path, found)| (Utf8Path::new(path), found)), &config)
    }

    #[test]
    fn d3_1_priority_then_age_then_id() {
        let board = board(&[
            (10, "Queued", "low", "2026-01-01 10:00"),
            (2, "queued", "low", "2026-01-01 10:00"),
            (3, "Queued", "high", "2026-02-01 10:00"),
            (4, "Queued", "high", "2026-01-31 23:59"),
            (5, "Queued", "", "2020-01-01"),
            (6, "To Do", "high", "2020-01-01"),
            (7, "Queued", "", ""),
        ]);
        let ids: Vec<&str> = candidates(&board).iter().map(|task| task.id.as_str()).collect();
        assert_eq!(ids, ["T-4", "T-3", "T-2", "T-10", "T-5", "T-7"]);
    }

    proptest! {
        /// D3.1: the order is total: every candidate appears once, and no two compare as equal.
        #[test]
        fn d3_1_the_order_is_total(days in proptest::collection::vec(1_u32..4, 1..12)) {
            let dates: Vec<String> = days.iter().map(|day| format!("2026-01-0{day}")).collect();
            let tasks: Vec<(u32, &str, &str, &str)> = (1..)
                .zip(&dates)
                .map(|(number, date)| (number, "Queued", "low", date.as_str()))
                .collect();
            let board = board(&tasks);
            let found = candidates(&board);
            prop_assert_eq!(found.len(), tasks.len());
            for pair in found.windows(2) {
                prop_assert_eq!(order(pair[0], pair[1]), Ordering::Less);
            }
        }
    }
}
