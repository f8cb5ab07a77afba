//! Graphviz.

use std::fmt::Write;

use crate::graph::EdgeKind;
use crate::label::label;
use crate::mermaid::{TITLE_COLUMNS, problem_lines};
use crate::tone::Tone;
use crate::view::View;

/// Renders a view in Graphviz's language. Arrows follow the work: from what is done first to what waits for it.
pub fn render(view: &View<'_>) -> String {
    let mut out = String::from("digraph \"backlog-graph\" {\n");
    out.push_str("    rankdir=LR;\n");
    out.push_str("    node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica\", fontsize=11, fontcolor=\"#1c2733\"];\n");
    out.push_str("    edge [color=\"#6b7a8c\"];\n");
    let _ = writeln!(
        out,
        "    label={}; labelloc=t; fontname=\"Helvetica\";",
        quoted(&[view.summary()])
    );
    for (_, node) in view.nodes() {
        let (fill, line) = Tone::of(node).colors();
        let text = quoted(&[node.id.to_string(), label(&node.title, TITLE_COLUMNS)]);
        let width =
            if node.critical && view.graph.critical_path.len() > 1 { ", penwidth=3" } else { "" };
        let status = quoted(&[label(node.status.as_str(), TITLE_COLUMNS)]);
        let _ = writeln!(
            out,
            "    {} [label={text}, tooltip={status}, fillcolor=\"{fill}\", color=\"{line}\"{width}];",
            quoted(&[node.id.to_string()])
        );
    }
    for edge in &view.edges {
        let nodes = &view.graph.nodes;
        let (first, then) =
            (quoted(&[nodes[edge.to].id.to_string()]), quoted(&[nodes[edge.from].id.to_string()]));
        let kind = match edge.kind {
            EdgeKind::Needs => "",
            EdgeKind::Contains => " [style=dashed]",
        };
        let critical = if view.graph.is_critical(edge) { " [penwidth=3]" } else { "" };
        let _ = writeln!(out, "    {first} -> {then}{kind}{critical};");
    }
    let problems = problem_lines(view);
    if !problems.is_empty() {
        let lines: Vec<String> = problems.iter().map(|line| escape(line)).collect();
        let lines = format!("{}\\l", lines.join("\\l"));
        let _ = writeln!(
            out,
            "    \"problems\" [label=\"{lines}\", style=filled, fillcolor=\"#ffffff\", color=\"#d1372c\", fontcolor=\"#a3160c\", penwidth=2];"
        );
    }
    out.push_str("}\n");
    out
}

fn quoted(lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| escape(line)).collect();
    format!("\"{}\"", lines.join("\\n"))
}

/// A backslash begins an escape, an ampersand an entity.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c => out.push(c),
        }
    }
    out
}
