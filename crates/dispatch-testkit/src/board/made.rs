//! Boards of any size, the same at every call.

use super::{Board, TaskText};

/// Adds `count` tasks to `board`: about a third subtasks, at most three levels deep, dependencies on earlier tasks only,
/// statuses, lanes, priorities, criteria and comments varying with `seed`. Returns them in the order they were made.
pub fn made(board: &Board, count: usize, seed: u64) -> Vec<TaskText> {
    let mut dice = Dice(seed.wrapping_add(0x9E37_79B9_7F4A_7C15));
    let mut numbers: Vec<String> = Vec::new();
    let (mut tops, mut tasks) = (0, Vec::new());
    for index in 0..count {
        let parent = (index > 0 && dice.below(3) == 0)
            .then(|| numbers[index - 1 - dice.below(index.min(40))].clone())
            .filter(|parent| parent.matches('.').count() < 3);
        let number = if let Some(parent) = &parent {
            let siblings = numbers.iter().filter(|other| is_child(parent, other)).count();
            format!("{parent}.{}", siblings + 1)
        } else {
            tops += 1;
            tops.to_string()
        };
        let mut task = make(&mut dice, index, &number);
        if let Some(parent) = &parent {
            task = task.parent(&format!("T-{parent}"));
        }
        for _ in 0..dice.below(3) {
            if index > 0 {
                let other = &numbers[dice.below(index)];
                // A task that waits for its own parent could never start.
                if !number.starts_with(&format!("{other}.")) {
                    task = task.depends_on(&format!("T-{other}"));
                }
            }
        }
        board.add(&task);
        tasks.push(task);
        numbers.push(number);
    }
    tasks
}

fn make(dice: &mut Dice, index: usize, number: &str) -> TaskText {
    let verb = dice.pick(&["Add", "Fix", "Remove", "Rename", "Split", "Measure"]);
    let noun =
        dice.pick(&["the parser", "the ledger", "a queue", "the lock file", "the board view"]);
    let status = dice.pick(&["To Do", "To Do", "Queued", "In Progress", "Blocked", "Done"]);
    let ordinal = u32::try_from(1000 * (index + 1)).unwrap_or(u32::MAX);
    let tier = dice.pick(&["tier:minor", "tier:medium", "tier:complex"]);
    let lane = if tier == "tier:minor" { "lane:local" } else { "lane:frontier" };
    let mut task = TaskText::new(&format!("T-{number}"), &format!("{verb} {noun} {index}"))
        .status(status)
        .labels([tier, lane, dice.pick(&["path:direct", "path:sdd"])])
        .created(&format!("2026-{:02}-{:02} 08:00", 1 + index / 28 % 12, 1 + index % 28))
        .ordinal(ordinal)
        .description("A line of text.\n\nAnother paragraph, with a colon: here.");
    let file = format!("src/module_{index}.rs");
    task = task.files([file.as_str()]).test_command("cargo test --workspace");
    for criterion in 0..=dice.below(4) {
        let text = format!("Criterion {criterion} holds");
        let met = status == "Done";
        task = if met { task.met_criterion(&text) } else { task.criterion(&text) };
    }
    if dice.below(3) == 0 {
        task = task.priority(dice.pick(&["low", "medium", "high"]));
    }
    for comment in 0..dice.below(3) {
        task = task.comment("person", &format!("Remark {comment}."));
    }
    task
}

fn is_child(parent: &str, other: &str) -> bool {
    other
        .strip_prefix(parent)
        .and_then(|rest| rest.strip_prefix('.'))
        .is_some_and(|rest| !rest.contains('.'))
}

/// A linear congruential generator: boards need variety, not randomness.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let high = usize::try_from(self.0 >> 33).expect("31 bits fit");
        high % limit.max(1)
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}
