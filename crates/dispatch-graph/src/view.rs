//! What of a graph is shown (R1.5).

use std::collections::BTreeSet;
use std::fmt::{self, Write};

use dispatch_core::id::TaskId;
use dispatch_core::nearest::nearest;
use dispatch_core::status::Status;
use thiserror::Error;

use crate::graph::{Edge, Graph, Node};
use crate::label::label;
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

/// How much of a graph is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All its tasks, or all that are not finished.
    Board,
    /// Those a filter chose. The critical path and the problems are the whole board's all the same.
    Filtered,
}

/// A root that is not in the graph.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("there is no task {id} on the board{}", meant(near.as_deref()))]
pub struct NoSuchTask {
    /// What was asked for.
    pub id: TaskId,
    /// The id with the same numbers and another prefix.
    pub near: Option<Box<str>>,
}

/// A word of a filter that means nothing on the board: most likely it is misspelt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    what: &'static str,
    word: String,
    near: Option<String>,
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = label(&self.word, 60);
        let near = meant(self.near.as_deref());
        write!(f, "no task has the {} `{word}`{near}", self.what)
    }
}

fn meant(near: Option<&str>) -> String {
    near.map_or_else(String::new, |near| format!("; did you mean `{}`?", label(near, 60)))
}

impl Filter {
    /// Its words that mean nothing: statuses which neither the board knows nor a task has, and labels no task has.
    pub fn unknown(&self, graph: &Graph, statuses: &[String]) -> Vec<Unknown> {
        let words = |what, asked: &[&str], known: &BTreeSet<&str>| -> Vec<Unknown> {
            let known_as: BTreeSet<String> = known.iter().map(|word| word.to_lowercase()).collect();
            let unknown = asked.iter().filter(|word| !known_as.contains(&word.to_lowercase()));
            unknown
                .map(|word| Unknown {
                    what,
                    word: (*word).to_owned(),
                    near: nearest(word, known.iter().copied()).map(str::to_owned),
                })
                .collect()
        };
        let own = graph.nodes.iter().map(|node| node.status.as_str());
        let known: BTreeSet<&str> = statuses.iter().map(String::as_str).chain(own).collect();
        let asked: Vec<&str> = self.statuses.iter().map(Status::as_str).collect();
        let mut unknown = words("status", &asked, &known);
        let known = graph.nodes.iter().flat_map(|node| &node.labels).map(String::as_str).collect();
        let asked: Vec<&str> = self.labels.iter().map(String::as_str).collect();
        unknown.extend(words("label", &asked, &known));
        unknown
    }

    fn scope(&self) -> Scope {
        if self.statuses.is_empty() && self.labels.is_empty() && self.roots.is_empty() {
            Scope::Board
        } else {
            Scope::Filtered
        }
    }
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
    /// Whether a filter chose them.
    pub scope: Scope,
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
            around.as_ref().is_none_or(|around| around[position])
                && (filter.finished == Finished::Shown || !node.finished)
                && (filter.statuses.is_empty()
                    || filter.statuses.iter().any(|status| same(status, &node.status)))
                && (filter.labels.is_empty() || has_label(node, &filter.labels))
        };
        let keep: Vec<bool> = (0..graph.nodes.len()).map(chosen).collect();
        let edges =
            graph.edges.iter().filter(|edge| keep[edge.from] && keep[edge.to]).copied().collect();
        let shown = (0..graph.nodes.len()).filter(|position| keep[*position]).collect();
        Ok(Self { graph, shown, edges, scope: filter.scope() })
    }

    /// The tasks shown, each with its position.
    pub fn nodes(&self) -> impl Iterator<Item = (usize, &'a Node)> + '_ {
        self.shown.iter().map(|position| (*position, &self.graph.nodes[*position]))
    }

    /// What is shown, in a line.
    pub(crate) fn summary(&self) -> String {
        let finished = self.graph.nodes.iter().filter(|node| node.finished).count();
        let (shown, all) = (self.shown.len(), self.graph.nodes.len());
        let mut line = match self.scope {
            Scope::Board => format!("{shown} of {all} tasks, {finished} finished"),
            Scope::Filtered => {
                format!("{shown} of {all} tasks; of the whole board: {finished} finished")
            }
        };
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

/// Which tasks the roots bring.
fn around(graph: &Graph, roots: &[TaskId]) -> Result<Option<Vec<bool>>, NoSuchTask> {
    if roots.is_empty() {
        return Ok(None);
    }
    let waits = graph.waits();
    let dependents = reversed(&waits);
    let mut brought = vec![false; graph.nodes.len()];
    for id in roots {
        let root = graph.position(id).ok_or_else(|| no_such_task(graph, id))?;
        brought[root] = true;
        for reached in [reach(&waits, root), reach(&dependents, root)] {
            for (brought, reached) in brought.iter_mut().zip(reached) {
                *brought |= reached;
            }
        }
    }
    Ok(Some(brought))
}

fn no_such_task(graph: &Graph, id: &TaskId) -> NoSuchTask {
    let numbers = |id: &TaskId| id.canonical().split_once('-').map(|(_, rest)| rest.to_owned());
    let asked = numbers(id);
    let near = graph.nodes.iter().find(|node| numbers(&node.id) == asked);
    NoSuchTask { id: id.clone(), near: near.map(|node| node.id.as_str().into()) }
}
