//! What is wrong with a board as a graph (R1.2).

use std::fmt;

use dispatch_core::board::{self, Board, ProblemClass};
use dispatch_core::dependencies::NeverDone;
use dispatch_core::id::TaskId;

use crate::cycles::Cycles;
use crate::graph::{Edge, EdgeKind, Node};
use crate::label::label;

/// How many steps of a cycle are told in a sentence.
const STEPS_TOLD: usize = 40;

/// How much of a dependency that is no id, and of what the reader of the board found, is told in a sentence.
const NAME_COLUMNS: usize = 100;
const CAUSE_COLUMNS: usize = 400;

/// Something about the graph that a person should look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// Tasks that wait for each other: none of them can ever start.
    Cycle {
        /// The way round; the last step leads to the first.
        path: Vec<Step>,
    },
    /// More cycles than are spelled out.
    MoreCycles {
        /// How many waits lie on cycles but on none that is spelled out.
        waits: usize,
    },
    /// A dependency that can never become done.
    Dangling {
        /// The task that has it.
        task: TaskId,
        /// The dependency as written.
        dependency: String,
        /// What keeps it from becoming done.
        why: NeverDone,
    },
    /// A dependency that was not seen on a board that was not read completely.
    Unseen {
        /// The task that has it.
        task: TaskId,
        /// The dependency.
        dependency: TaskId,
    },
    /// A parent that depends on a subtask of its own, at any depth.
    ParentNeedsDescendant {
        /// The parent.
        parent: TaskId,
        /// The subtask.
        descendant: TaskId,
    },
    /// A subtask of a task that is not on the board.
    NoSuchParent {
        /// The subtask.
        task: TaskId,
        /// What it names.
        parent: TaskId,
    },
    /// What the reader of the board found.
    Board(board::Problem),
}

/// A step of a cycle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The task.
    pub task: TaskId,
    /// Why it waits for the next one.
    pub because: EdgeKind,
}

impl Problem {
    /// The name of its kind, as JSON has it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Cycle { .. } => "cycle",
            Self::MoreCycles { .. } => "more-cycles",
            Self::Dangling { .. } => "dangling-dependency",
            Self::Unseen { .. } => "unseen-dependency",
            Self::ParentNeedsDescendant { .. } => "parent-needs-descendant",
            Self::NoSuchParent { .. } => "no-such-parent",
            Self::Board(problem) => problem.class.as_str(),
        }
    }

    /// The tasks it is about, a cycle in the order of its path.
    pub fn tasks(&self) -> Vec<TaskId> {
        match self {
            Self::Cycle { path } => path.iter().map(|step| step.task.clone()).collect(),
            Self::MoreCycles { .. } => Vec::new(),
            Self::Dangling { task, .. }
            | Self::Unseen { task, .. }
            | Self::NoSuchParent { task, .. } => {
                vec![task.clone()]
            }
            Self::ParentNeedsDescendant { parent, descendant } => {
                vec![parent.clone(), descendant.clone()]
            }
            Self::Board(problem) => problem.id.iter().cloned().collect(),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Board(_) => 0,
            Self::Cycle { .. } => 1,
            Self::MoreCycles { .. } => 2,
            Self::ParentNeedsDescendant { .. } => 3,
            Self::Dangling { .. } => 4,
            Self::Unseen { .. } => 5,
            Self::NoSuchParent { .. } => 6,
        }
    }
}

impl Ord for Problem {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let key = |problem: &Self| (problem.rank(), problem.tasks(), problem.to_string());
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for Problem {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cycle { path } => {
                f.write_str("cycle: ")?;
                for step in path.iter().take(STEPS_TOLD) {
                    match step.because {
                        EdgeKind::Needs => write!(f, "{} → ", step.task)?,
                        EdgeKind::Contains => write!(f, "{} (its subtask) → ", step.task)?,
                    }
                }
                if path.len() > STEPS_TOLD {
                    write!(f, "({} more) → ", path.len() - STEPS_TOLD)?;
                }
                path.first().map_or(Ok(()), |first| write!(f, "{}", first.task))
            }
            Self::MoreCycles { waits } => write!(
                f,
                "{waits} more waits lie on further cycles; break those that are told first, then look again"
            ),
            Self::Dangling { task, dependency, why } => {
                let why = match why {
                    NeverDone::Archived => "which is archived",
                    NeverDone::NoSuchTask => "which is not on the board",
                    NeverDone::NotAnId => "which is no task id",
                };
                write!(f, "{task} depends on `{}`, {why}", label(dependency, NAME_COLUMNS))
            }
            Self::Unseen { task, dependency } => {
                write!(
                    f,
                    "{task} depends on {dependency}, which was not seen: the board is incomplete"
                )
            }
            Self::ParentNeedsDescendant { parent, descendant } => {
                write!(f, "{parent} depends on {descendant}, its own subtask")
            }
            Self::NoSuchParent { task, parent } => {
                write!(f, "{task} is a subtask of {parent}, which is not on the board")
            }
            Self::Board(problem) => f.write_str(&label(&problem.to_string(), CAUSE_COLUMNS)),
        }
    }
}

/// Cycles by position as problems.
pub(crate) fn of_cycles(nodes: &[Node], edges: &[Edge], cycles: &Cycles) -> Vec<Problem> {
    let because = |from: usize, to: usize| {
        let needs = Edge { from, to, kind: EdgeKind::Needs };
        if edges.binary_search(&needs).is_ok() { EdgeKind::Needs } else { EdgeKind::Contains }
    };
    let step = |cycle: &[usize], at: usize| Step {
        task: nodes[cycle[at]].id.clone(),
        because: because(cycle[at], cycle[(at + 1) % cycle.len()]),
    };
    let told = cycles
        .found
        .iter()
        .map(|cycle| Problem::Cycle { path: (0..cycle.len()).map(|at| step(cycle, at)).collect() });
    let more = (cycles.left_out > 0).then_some(Problem::MoreCycles { waits: cycles.left_out });
    told.chain(more).collect()
}

/// Parents that depend on what they contain.
pub(crate) fn of_parents(nodes: &[Node], edges: &[Edge]) -> Vec<Problem> {
    let mut parents: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for edge in edges.iter().filter(|edge| edge.kind == EdgeKind::Contains) {
        parents[edge.to].push(edge.from);
    }
    let is_above = |ancestor: usize, node: usize| {
        let mut seen = std::collections::BTreeSet::new();
        let mut open = parents[node].clone();
        while let Some(at) = open.pop() {
            if at == ancestor {
                return true;
            }
            if seen.insert(at) {
                open.extend(&parents[at]);
            }
        }
        false
    };
    edges
        .iter()
        .filter(|edge| edge.kind == EdgeKind::Needs && is_above(edge.from, edge.to))
        .map(|edge| Problem::ParentNeedsDescendant {
            parent: nodes[edge.from].id.clone(),
            descendant: nodes[edge.to].id.clone(),
        })
        .collect()
}

/// What the reader found, but for what is found here better and what changes nothing.
pub(crate) fn of_board(board: &Board) -> Vec<Problem> {
    let shown = |problem: &&board::Problem| match problem.class {
        ProblemClass::Unreadable
        | ProblemClass::Duplicate
        | ProblemClass::Hostile
        | ProblemClass::Listing => true,
        ProblemClass::ParentCycle | ProblemClass::Note => false,
    };
    board.problems.iter().filter(shown).cloned().map(Problem::Board).collect()
}
