//! What of a graph is shown (R1.5).

use std::collections::BTreeSet;
use std::fmt::Write;

use dispatch_core::id::TaskId;
use dispatch_core::status::Status;
use thiserror::Error;

use crate::graph::{Edge, Graph, Node};
use crate::overlap::{reach, reversed};

/// What is shown. The default shows everything.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Tasks of one of these statuses; all when empty.
    pub statuses: Vec<Status>,
    /// Tasks with one of these labels, letter case aside; all when empty.
    pub labels: Vec<String>,
    /// These tasks, what they wait for and what waits for them; all when empty.
    pub roots: Vec<TaskId>,
    /// What to do with finished work.
    pub finished: Finished,
}

/// What to do with finished work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Finished {
    /// It is shown.
    #[default]
    Shown,
    /// It is left out.
    Hidden,
}

/// A root that is not in the graph.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("there is no task {id} on the board")]
pub struct NoSuchTask {
    /// What was asked for.
    pub id: TaskId,
}

/// The part of a graph that is shown. What is said of a task is said of the whole board.
#[derive(Debug)]
pub struct View<'a> {
    /// The whole graph.
    pub graph: &'a Graph,
    /// The positions of the tasks shown.
    pub shown: Vec<usize>,
    /// The edges between them.
    pub edges: Vec<Edge>,
}

impl<'a> View<'a> {
    /// Chooses what is shown.
    ///
    /// # Errors
    ///
    /// When a root is not in the graph.
    pub fn of(graph: &'a Graph, filter: &Filter) -> Result<Self, NoSuchTask> {
        let around = around(graph, &filter.roots)?;
        let chosen = |position: usize| {
            let node = &graph.nodes[position];
            around.as_ref().is_none_or(|around| around.contains(&position))
                && (filter.finished == Finished::Shown || !node.finished)
                && (filter.statuses.is_empty()
                    || filter.statuses.iter().any(|status| same(status, &node.status)))
                && (filter.labels.is_empty() || has_label(node, &filter.labels))
        };
        let keep: Vec<bool> = (0..graph.nodes.len()).map(chosen).collect();
        let edges =
            graph.edges.iter().filter(|edge| keep[edge.from] && keep[edge.to]).copied().collect();
        let shown = (0..graph.nodes.len()).filter(|position| keep[*position]).collect();
        Ok(Self { graph, shown, edges })
    }

    /// The tasks shown, each with its position.
    pub fn nodes(&self) -> impl Iterator<Item = (usize, &'a Node)> + '_ {
        self.shown.iter().map(|position| (*position, &self.graph.nodes[*position]))
    }

    /// What is shown, in a line.
    pub(crate) fn summary(&self) -> String {
        let finished = self.graph.nodes.iter().filter(|node| node.finished).count();
        let mut line = format!(
            "{} of {} tasks, {finished} finished",
            self.shown.len(),
            self.graph.nodes.len()
        );
        if self.graph.critical_path.len() > 1 {
            let _ = write!(line, ", critical path of {}", self.graph.critical_path.len());
        }
        if !self.graph.complete {
            line.push_str("; the board could not be read completely");
        }
        line
    }
}

fn same(a: &Status, b: &Status) -> bool {
    a == b || a.as_str().to_lowercase() == b.as_str().to_lowercase()
}

fn has_label(node: &Node, labels: &[String]) -> bool {
    node.labels
        .iter()
        .any(|own| labels.iter().any(|label| own.to_lowercase() == label.to_lowercase()))
}

fn around(graph: &Graph, roots: &[TaskId]) -> Result<Option<BTreeSet<usize>>, NoSuchTask> {
    if roots.is_empty() {
        return Ok(None);
    }
    let waits = graph.waits();
    let dependents = reversed(&waits);
    let mut found = BTreeSet::new();
    for id in roots {
        let root = graph.position(id).ok_or_else(|| NoSuchTask { id: id.clone() })?;
        found.insert(root);
        found.extend(reach(&waits, root));
        found.extend(reach(&dependents, root));
    }
    Ok(Some(found))
}
