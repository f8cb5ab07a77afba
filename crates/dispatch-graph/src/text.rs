//! A tree for terminals.

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write;

use crate::graph::{Edge, EdgeKind, Node};
use crate::label::label;
use crate::tone::Tone;
use crate::view::{Scope, View};

/// How deep a tree goes before it goes on below.
const DEPTH: usize = 24;

/// The longest title and the longest status in a line, in columns.
pub(crate) const TITLE_COLUMNS: usize = 80;
pub(crate) const STATUS_COLUMNS: usize = 30;

/// What the signs of a tree mean.
const LEGEND: &str =
    "below a task stands what it waits for; ○ to do, ◔ queued, ◒ in progress, ● blocked, ✔ done";

/// Renders a view as trees: a task, below it what it waits for. Every task is written out once; where it stands again,
/// a reference does.
pub fn render(view: &View<'_>) -> String {
    let mut out = String::new();
    let mut forest = Forest::of(view);
    let waited_for: BTreeSet<usize> =
        view.edges.iter().filter(|edge| edge.from != edge.to).map(|edge| edge.to).collect();
    let tops: Vec<usize> =
        view.shown.iter().copied().filter(|node| !waited_for.contains(node)).collect();
    for top in tops {
        forest.tree(top, &mut out);
    }
    // What only cycles lead to has no top.
    for position in &view.shown {
        if !forest.written.contains(position) {
            forest.tree(*position, &mut out);
        }
    }
    if view.shown.is_empty() {
        out.push_str("No tasks to show.\n");
    }
    let _ = writeln!(out, "\n{}", view.summary());
    if !view.shown.is_empty() {
        let _ = writeln!(out, "{LEGEND}");
    }
    if view.graph.critical_path.len() > 1 {
        let ids: Vec<&str> = view
            .graph
            .critical_path
            .iter()
            .map(|position| view.graph.nodes[*position].id.as_str())
            .collect();
        let whole = match view.scope {
            Scope::Board => "",
            Scope::Filtered => " of the whole board",
        };
        let _ = writeln!(out, "critical path{whole} (*): {}", ids.join(" → "));
    }
    if view.scope == Scope::Filtered && !view.graph.problems.is_empty() {
        out.push_str("problems of the whole board:\n");
    }
    for problem in &view.graph.problems {
        let _ = writeln!(out, "problem: {problem}");
    }
    out
}

struct Forest<'a> {
    nodes: &'a [Node],
    below: Vec<Vec<Edge>>,
    written: BTreeSet<usize>,
    later: VecDeque<usize>,
}

struct Row {
    node: usize,
    kind: Option<EdgeKind>,
    depth: usize,
    lead: String,
    last: bool,
}

impl<'a> Forest<'a> {
    fn of(view: &View<'a>) -> Self {
        let mut below = vec![Vec::new(); view.graph.nodes.len()];
        for edge in &view.edges {
            below[edge.from].push(*edge);
        }
        Self { nodes: &view.graph.nodes, below, written: BTreeSet::new(), later: VecDeque::new() }
    }

    /// Writes the tree of a task, then those that were too deep in it.
    fn tree(&mut self, top: usize, out: &mut String) {
        self.later.push_back(top);
        while let Some(top) = self.later.pop_front() {
            if self.written.contains(&top) {
                continue;
            }
            let mut open =
                vec![Row { node: top, kind: None, depth: 0, lead: String::new(), last: true }];
            while let Some(row) = open.pop() {
                self.row(&row, &mut open, out);
            }
        }
    }

    fn row(&mut self, row: &Row, open: &mut Vec<Row>, out: &mut String) {
        let branch = match (row.depth, row.last) {
            (0, _) => "",
            (_, true) => "└─ ",
            (_, false) => "├─ ",
        };
        let part = match row.kind {
            Some(EdgeKind::Contains) => "subtask ",
            Some(EdgeKind::Needs) | None => "",
        };
        let node = &self.nodes[row.node];
        let has_below = !self.below[row.node].is_empty();
        let _ = write!(out, "{}{branch}{part}", row.lead);
        if self.written.contains(&row.node) {
            let shown = if has_below { " (see its place)" } else { "" };
            let _ = writeln!(out, "{}{shown}", line(node));
            return;
        }
        if has_below && row.depth >= DEPTH {
            self.later.push_back(row.node);
            let _ = writeln!(out, "{} (goes on below)", line(node));
            return;
        }
        self.written.insert(row.node);
        let _ = writeln!(out, "{}", line(node));
        let lead = match (row.depth, row.last) {
            (0, _) => String::new(),
            (_, true) => format!("{}   ", row.lead),
            (_, false) => format!("{}│  ", row.lead),
        };
        for (back, edge) in self.below[row.node].iter().rev().enumerate() {
            open.push(Row {
                node: edge.to,
                kind: Some(edge.kind),
                depth: row.depth + 1,
                lead: lead.clone(),
                last: back == 0,
            });
        }
    }
}

fn line(node: &Node) -> String {
    let icon = match Tone::of(node) {
        Tone::Done => "✔",
        Tone::InProgress => "◒",
        Tone::Blocked => "●",
        Tone::Queued => "◔",
        Tone::ToDo | Tone::Other => "○",
    };
    let mut facts = vec![label(node.status.as_str(), STATUS_COLUMNS)];
    facts.extend(node.lane.map(|lane| lane.to_string()));
    if node.ready {
        facts.push("ready".to_owned());
    }
    if node.on_cycle {
        facts.push("on a cycle".to_owned());
    }
    if let Some(first) = node.overlaps.first() {
        let more = if node.overlaps.len() > 1 { " and others" } else { "" };
        facts.push(format!("overlaps {}{more}", first.task));
    }
    let star = if node.critical { " *" } else { "" };
    format!("{icon} {}{star} {} [{}]", node.id, label(&node.title, TITLE_COLUMNS), facts.join(", "))
}
