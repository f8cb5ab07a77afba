//! The graph of a board and the facts of every task in it (R1.1).

use std::collections::BTreeMap;

use dispatch_core::board::Board;
use dispatch_core::dependencies::{NeverDone, effectively_done};
use dispatch_core::id::TaskId;
use dispatch_core::parent::has_own_branch;
use dispatch_core::status::Status;
use dispatch_core::task::Task;
use dispatch_core::triage::{Answer, Lane};
use dispatch_guards::claims::TestSiblings;
use serde::Serialize;

use crate::overlap::{self, Overlap};
use crate::problem::{self, Problem};
use crate::{cycles, layers};

/// The tasks of a board and what they wait for.
#[derive(Debug, Clone)]
pub struct Graph {
    /// The tasks in `tasks/` and `completed/`, in natural order of their ids. Edges name them by position.
    pub nodes: Vec<Node>,
    /// Who waits for whom, by position of the waiting task, then of the other.
    pub edges: Vec<Edge>,
    /// What is wrong, never left out of any format (R1.2).
    pub problems: Vec<Problem>,
    /// Whether every task of the board was read.
    pub complete: bool,
    /// The longest chain of unfinished tasks, each waiting for the one before; tasks on cycles take no part.
    pub critical_path: Vec<usize>,
    /// The cycle group of every task: tasks that wait for each other share one, and what a task waits for never has
    /// a higher one.
    pub(crate) groups: Vec<usize>,
}

/// A task with its facts.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Node {
    /// Its id in the board's spelling.
    pub id: TaskId,
    /// Its title as written.
    pub title: String,
    /// Its status.
    pub status: Status,
    /// The lane its labels give, when they give one.
    pub lane: Option<Lane>,
    /// Its labels as written.
    pub labels: Vec<String>,
    /// Its rank, higher first (B1.2).
    pub priority: u32,
    /// When it was created, as the board writes it.
    pub created: Option<String>,
    /// Whether it and its subtasks are done.
    pub finished: bool,
    /// Whether work on it could start now: it is `To Do` or `Queued`, there is work of its own in it, and all that it
    /// depends on and all its subtasks are done (D4, B5.1).
    pub ready: bool,
    /// The dependencies that are not done, as written, those that can never be included.
    pub blocked_by: Vec<String>,
    /// The length of the longest chain of tasks it waits for, finished ones counted; tasks on one cycle share it.
    pub layer: usize,
    /// Whether it lies on the critical path.
    pub critical: bool,
    /// Whether it waits, through others, for itself.
    pub on_cycle: bool,
    /// Whether an agent works on it at all: a parent without a branch of its own follows its subtasks (B5.3).
    pub own_work: bool,
    /// Other unfinished tasks that claim a common path although neither waits for the other; the first ten.
    pub overlaps: Vec<Overlap>,
    /// Whether there are more than those.
    pub more_overlaps: bool,
    /// Whether a dependency can never be done or was not seen.
    pub(crate) stuck: bool,
}

/// A task waits for another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// The position of the waiting task.
    pub from: usize,
    /// The position of the task that has to be done first.
    pub to: usize,
    /// Why it waits.
    pub kind: EdgeKind,
}

/// Why one task waits for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EdgeKind {
    /// It depends on it.
    Needs,
    /// It is its parent.
    Contains,
}

/// What the claims of tasks are relative to.
#[derive(Debug, Clone)]
pub struct ClaimBasis<'a> {
    /// The project root inside the repository.
    pub project_root: &'a str,
    /// The test siblings of a source file.
    pub siblings: &'a TestSiblings,
}

impl Graph {
    /// Finds the graph of a board.
    pub fn of(board: &Board, basis: &ClaimBasis<'_>) -> Self {
        let mut tasks: BTreeMap<&TaskId, &Task> = board.completed.iter().collect();
        tasks.extend(&board.tasks);
        let positions: BTreeMap<&TaskId, usize> =
            tasks.keys().enumerate().map(|(position, id)| (*id, position)).collect();
        let mut nodes: Vec<Node> = tasks.values().map(|task| node(board, task)).collect();
        let mut edges = Vec::new();
        let mut problems = Vec::new();
        for (from, task) in tasks.values().enumerate() {
            for (id, kind) in waits_for(task) {
                match positions.get(id) {
                    Some(to) => edges.push(Edge { from, to: *to, kind }),
                    None if kind == EdgeKind::Needs => {
                        nodes[from].stuck = true;
                        if board.tasks.contains_key(&task.id) {
                            problems.push(absent(board, task, id));
                        }
                    }
                    None => {}
                }
            }
            if board.tasks.contains_key(&task.id) {
                problems.extend(task.foreign_dependencies.iter().map(|text| Problem::Dangling {
                    task: task.id.clone(),
                    dependency: text.clone(),
                    why: NeverDone::NotAnId,
                }));
                problems.extend(absent_parent(board, task));
            }
        }
        edges.sort_unstable();
        edges.dedup();
        let waits = adjacency(nodes.len(), &edges);
        let groups = cycles::groups(&waits);
        let on_cycle = cycles::on_cycle(&waits, &groups);
        for (position, layer) in layers::layers(&waits, &groups).into_iter().enumerate() {
            nodes[position].layer = layer;
            nodes[position].on_cycle = on_cycle[position];
        }
        let takes_part: Vec<bool> =
            nodes.iter().map(|node| !node.finished && !node.on_cycle).collect();
        let critical_path = layers::longest_chain(&waits, &groups, &takes_part);
        for position in &critical_path {
            nodes[*position].critical = true;
        }
        problems.extend(problem::of_cycles(&nodes, &edges, &cycles::covering(&waits, &groups)));
        problems.extend(problem::of_parents(&nodes, &edges));
        problems.extend(problem::of_board(board));
        problems.sort();
        problems.dedup();
        let claimed: Vec<&Task> = tasks.values().copied().collect();
        overlap::find(&mut nodes, &claimed, &waits, basis);
        Self { nodes, edges, problems, complete: board.complete, critical_path, groups }
    }

    /// The position of a task.
    pub fn position(&self, id: &TaskId) -> Option<usize> {
        self.nodes.binary_search_by(|node| node.id.cmp(id)).ok()
    }

    /// Whether the waiting lies on the critical path.
    pub fn is_critical(&self, edge: &Edge) -> bool {
        self.nodes[edge.from].critical
            && self.nodes[edge.to].critical
            && self.critical_path.windows(2).any(|pair| pair[0] == edge.to && pair[1] == edge.from)
    }

    /// What each task waits for, by position.
    pub(crate) fn waits(&self) -> Vec<Vec<usize>> {
        adjacency(self.nodes.len(), &self.edges)
    }
}

/// What a task waits for; its subtasks are those that name it, not those it names.
fn waits_for(task: &Task) -> impl Iterator<Item = (&TaskId, EdgeKind)> {
    let needs = task.dependencies.iter().map(|id| (id, EdgeKind::Needs));
    needs.chain(task.children.iter().map(|id| (id, EdgeKind::Contains)))
}

/// The targets of every task's edges, in order and each once.
pub(crate) fn adjacency(count: usize, edges: &[Edge]) -> Vec<Vec<usize>> {
    let mut waits = vec![Vec::new(); count];
    for edge in edges {
        if waits[edge.from].last() != Some(&edge.to) {
            waits[edge.from].push(edge.to);
        }
    }
    waits
}

fn node(board: &Board, task: &Task) -> Node {
    let finished = effectively_done(board, &task.id);
    let mut blocked_by: Vec<String> = task
        .dependencies
        .iter()
        .filter(|id| !effectively_done(board, id))
        .map(ToString::to_string)
        .collect();
    blocked_by.extend(task.foreign_dependencies.iter().cloned());
    let own_work = task.children.is_empty() || has_own_branch(task);
    let ready = match task.status {
        Status::ToDo | Status::Queued => {
            let parts_done = task.children.iter().all(|child| effectively_done(board, child));
            !finished && own_work && parts_done && blocked_by.is_empty()
        }
        Status::InProgress | Status::Blocked | Status::Done | Status::Other(_) => false,
    };
    Node {
        id: task.id.clone(),
        title: task.title.clone(),
        status: task.status.clone(),
        lane: match &task.lane {
            Answer::Given(lane) => Some(*lane),
            Answer::Missing | Answer::Conflicting(_) => None,
        },
        labels: task.labels.clone(),
        priority: task.priority,
        created: task.created.clone(),
        finished,
        ready,
        blocked_by,
        layer: 0,
        critical: false,
        on_cycle: false,
        own_work,
        overlaps: Vec::new(),
        more_overlaps: false,
        stuck: !task.foreign_dependencies.is_empty(),
    }
}

/// A dependency that is not among the nodes. Where it may be hidden nothing is concluded from that (B2.5).
fn absent(board: &Board, task: &Task, dependency: &TaskId) -> Problem {
    let task = task.id.clone();
    let why = if board.archived.contains_key(dependency) {
        NeverDone::Archived
    } else if board.may_hide(dependency) {
        return Problem::Unseen { task, dependency: dependency.clone() };
    } else {
        NeverDone::NoSuchTask
    };
    Problem::Dangling { task, dependency: dependency.to_string(), why }
}

fn absent_parent(board: &Board, task: &Task) -> Option<Problem> {
    let parent = task.parent.as_ref()?;
    let known = board.tasks.contains_key(parent) || board.completed.contains_key(parent);
    (!known && !board.may_hide(parent))
        .then(|| Problem::NoSuchParent { task: task.id.clone(), parent: parent.clone() })
}
