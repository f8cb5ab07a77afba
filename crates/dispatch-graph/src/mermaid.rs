//! Mermaid flow charts.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::graph::EdgeKind;
use crate::label::{label, shorten};
use crate::tone::Tone;
use crate::view::{Scope, View};

/// The most problems spelled out in a picture.
pub(crate) const PROBLEMS_SHOWN: usize = 20;

/// The longest title in a picture, in columns.
pub(crate) const TITLE_COLUMNS: usize = 60;

/// The most edges a viewer draws unless it is configured otherwise.
pub const MOST_EDGES: usize = 500;

/// Renders a view as a Mermaid flow chart. Arrows follow the work: from what is done first to what waits for it.
pub fn render(view: &View<'_>) -> String {
    let mut out = String::from("flowchart LR\n");
    let _ = writeln!(out, "    %% {}", escape(&view.summary()));
    let mut classes: BTreeMap<Tone, Vec<usize>> = BTreeMap::new();
    let mut critical = Vec::new();
    for (position, node) in view.nodes() {
        let title = label(&node.title, TITLE_COLUMNS);
        let _ = writeln!(
            out,
            "    n{position}[\"{}<br>{}\"]",
            escape(node.id.as_str()),
            escape(&title)
        );
        classes.entry(Tone::of(node)).or_default().push(position);
        if node.critical {
            critical.push(position);
        }
    }
    if view.shown.is_empty() {
        out.push_str("    empty[\"No tasks to show\"]\n");
    }
    let mut critical_links = Vec::new();
    for (number, edge) in view.edges.iter().enumerate() {
        let arrow = match edge.kind {
            EdgeKind::Needs => "-->",
            EdgeKind::Contains => "-.->",
        };
        let _ = writeln!(out, "    n{} {arrow} n{}", edge.to, edge.from);
        if view.graph.is_critical(edge) {
            critical_links.push(number.to_string());
        }
    }
    problems(view, &mut out);
    for (tone, positions) in &classes {
        let (fill, line) = tone.colors();
        let class = tone.class();
        let _ = writeln!(out, "    classDef {class} fill:{fill},stroke:{line},color:#1c2733");
        let _ = writeln!(out, "    class {} {class}", names(positions));
    }
    if critical.len() > 1 {
        out.push_str("    classDef critical stroke-width:4px\n");
        let _ = writeln!(out, "    class {} critical", names(&critical));
    }
    if !critical_links.is_empty() {
        let _ = writeln!(out, "    linkStyle {} stroke-width:4px", critical_links.join(","));
    }
    out
}

fn problems(view: &View<'_>, out: &mut String) {
    let lines = problem_lines(view);
    if lines.is_empty() {
        return;
    }
    let lines: Vec<String> = lines.iter().map(|line| escape(line)).collect();
    let _ = writeln!(out, "    problems[\"{}\"]", lines.join("<br>"));
    out.push_str("    classDef problems fill:#fff,stroke:#d1372c,stroke-width:3px,color:#a3160c,text-align:left\n");
    out.push_str("    class problems problems\n");
}

/// What a picture says about problems: nothing when there are none.
pub(crate) fn problem_lines(view: &View<'_>) -> Vec<String> {
    let problems = &view.graph.problems;
    if problems.is_empty() && view.graph.complete {
        return Vec::new();
    }
    let whole = match view.scope {
        Scope::Board => "",
        Scope::Filtered => " of the whole board",
    };
    let mut lines = vec![match problems.len() {
        0 => "The board could not be read completely".to_owned(),
        1 => format!("1 problem{whole}"),
        many => format!("{many} problems{whole}"),
    }];
    lines.extend(
        problems.iter().take(PROBLEMS_SHOWN).map(|problem| shorten(&problem.to_string(), 160)),
    );
    if problems.len() > PROBLEMS_SHOWN {
        lines.push(format!("and {} more", problems.len() - PROBLEMS_SHOWN));
    }
    lines
}

fn names(positions: &[usize]) -> String {
    let names: Vec<String> = positions.iter().map(|position| format!("n{position}")).collect();
    names.join(",")
}

/// Every character that could mean something to Mermaid, Markdown or HTML as a numeric entity.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_alphanumeric()
            || matches!(c, ' ' | '-' | '_' | '.' | ',' | '→' | '…')
            || (!c.is_ascii() && !c.is_control())
        {
            out.push(c);
        } else {
            let _ = write!(out, "#{};", u32::from(c));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_label_means_anything_to_the_reader() {
        assert_eq!(
            escape("a\"] --> b; %%{init}%% `x` <b>&amp; <!-- #35; é"),
            "a#34;#93; --#62; b#59; #37;#37;#123;init#125;#37;#37; #96;x#96; #60;b#62;#38;amp#59; #60;#33;-- #35;35#59; é"
        );
    }
}
