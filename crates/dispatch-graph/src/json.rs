//! A stable JSON document.
//!
//! `schemaVersion` is raised when a field changes its meaning or goes away; fields may be added without that.
//!
//! | field | what |
//! | --- | --- |
//! | `schemaVersion`, `kind` | 1, `"backlog-graph"` |
//! | `complete` | whether every task of the board was read; with `false`, nothing may be concluded from an absence |
//! | `tasks[]` | `id`, `title`, `status`, `lane` (or `null`), `labels`, `priority` (higher first), `finished`, `ready` (work on it could start now), `blockedBy[]` (as written), `layer`, `onCriticalPath`, `onCycle`, `overlaps[]` (`task`, `claim`, `otherClaim`; the first ten), `moreOverlaps` |
//! | `edges[]` | `from` waits for `to`; `kind` is `needs`, or `contains` when `to` is a subtask of `from` |
//! | `problems[]` | `kind`, `tasks[]` (a cycle in the order of its path), `message` |
//! | `criticalPath[]` | ids, what is done first first |
//! | `waves[][]`, `stuck[]` | ids, only with a plan |
//!
//! Tasks, edges and problems are sorted; ids are in the board's own spelling. Facts of a task, `problems` and
//! `criticalPath` hold for the whole board, whatever is shown. Texts are as written; what is longer than 1,000
//! characters is cut and marked with `…`. Characters that are not seen (control characters, and those that reorder a
//! line) are escaped.

use std::borrow::Cow;

use dispatch_core::id::TaskId;
use dispatch_core::printable;
use dispatch_core::triage::Lane;
use serde::Serialize;

use crate::graph::{EdgeKind, Node};
use crate::overlap::Overlap;
use crate::view::View;
use crate::waves::Waves;

/// The longest text of a task.
const MOST_CHARACTERS: usize = 1000;

/// The version of the document.
pub const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    schema_version: u32,
    kind: &'static str,
    complete: bool,
    tasks: Vec<Task<'a>>,
    edges: Vec<EdgeRow<'a>>,
    problems: Vec<ProblemRow>,
    critical_path: Vec<&'a TaskId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waves: Option<Vec<Vec<&'a TaskId>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stuck: Option<Vec<&'a TaskId>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of the document")]
struct Task<'a> {
    id: &'a TaskId,
    title: Cow<'a, str>,
    status: Cow<'a, str>,
    lane: Option<Lane>,
    labels: Vec<Cow<'a, str>>,
    priority: u32,
    finished: bool,
    ready: bool,
    blocked_by: Vec<Cow<'a, str>>,
    layer: usize,
    on_critical_path: bool,
    on_cycle: bool,
    overlaps: &'a [Overlap],
    more_overlaps: bool,
}

#[derive(Serialize)]
struct EdgeRow<'a> {
    from: &'a TaskId,
    to: &'a TaskId,
    kind: EdgeKind,
}

#[derive(Serialize)]
struct ProblemRow {
    kind: &'static str,
    tasks: Vec<TaskId>,
    message: String,
}

/// Renders a view as JSON, with a plan when there is one.
pub fn render(view: &View<'_>, plan: Option<&Waves>) -> String {
    let nodes = &view.graph.nodes;
    let ids = |positions: &[usize]| {
        positions.iter().map(|position| &nodes[*position].id).collect::<Vec<_>>()
    };
    let document = Document {
        schema_version: SCHEMA_VERSION,
        kind: "backlog-graph",
        complete: view.graph.complete,
        tasks: view.nodes().map(|(_, node)| task(node)).collect(),
        edges: view
            .edges
            .iter()
            .map(|edge| EdgeRow {
                from: &nodes[edge.from].id,
                to: &nodes[edge.to].id,
                kind: edge.kind,
            })
            .collect(),
        problems: view
            .graph
            .problems
            .iter()
            .map(|problem| ProblemRow {
                kind: problem.kind(),
                tasks: problem.tasks(),
                message: problem.to_string(),
            })
            .collect(),
        critical_path: ids(&view.graph.critical_path),
        waves: plan.map(|plan| plan.waves.iter().map(|wave| ids(wave)).collect()),
        stuck: plan.map(|plan| ids(&plan.stuck)),
    };
    let mut text = serde_json::to_string_pretty(&document)
        .expect("a document of texts, numbers and lists has a form in JSON");
    text.push('\n');
    printable::json(&text).into_owned()
}

/// A text as written, unless nobody wrote it to be read.
fn written(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MOST_CHARACTERS) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
    }
}

fn task(node: &Node) -> Task<'_> {
    Task {
        id: &node.id,
        title: written(&node.title),
        status: written(node.status.as_str()),
        lane: node.lane,
        labels: node.labels.iter().map(|label| written(label)).collect(),
        priority: node.priority,
        finished: node.finished,
        ready: node.ready,
        blocked_by: node.blocked_by.iter().map(|id| written(id)).collect(),
        layer: node.layer,
        on_critical_path: node.critical,
        on_cycle: node.on_cycle,
        overlaps: &node.overlaps,
        more_overlaps: node.more_overlaps,
    }
}
