//! From places to SVG.

use std::fmt::Write;

use dispatch_core::printable::one_line;

use super::measure::{width, wrap};
use super::{BEGINNING, BOX_HEIGHT, BOX_WIDTH, Picture, Point};
use crate::graph::{Edge, EdgeKind, Node};
use crate::label::label;
use crate::mermaid::problem_lines;
use crate::text::STATUS_COLUMNS;
use crate::tone::Tone;
use crate::view::{Scope, View};

const MARGIN: f64 = 28.0;
const PAD: f64 = 12.0;
const LEAST_WIDTH: f64 = 720.0;
const LINE: f64 = 18.0;

/// The longest line of a tooltip.
const TOOLTIP_COLUMNS: usize = 200;

/// Paints a picture with its heading, legend and problems.
pub(crate) fn paint(view: &View<'_>, picture: &Picture) -> String {
    let inner = picture.width.max(LEAST_WIDTH);
    let mut head = Head { out: String::new(), y: MARGIN + 16.0, right: MARGIN + inner };
    head.text("heading", "Dependencies");
    head.text("faint", &view.summary());
    head.critical_path(view);
    head.problems(view);
    head.legend(view);
    let top = head.y + 10.0;
    let (full_width, full_height) = (inner + 2.0 * MARGIN, top + picture.height + MARGIN);
    let mut out = format!(
        "{BEGINNING}width=\"{full_width:.0}\" height=\"{full_height:.0}\" viewBox=\"0 0 {full_width:.0} {full_height:.0}\" role=\"img\" aria-label=\"Dependencies of the tasks of a board\">\n"
    );
    out.push_str(&style());
    out.push_str(MARKERS);
    out.push_str("<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n");
    out.push_str(&head.out);
    let _ = writeln!(out, "<g transform=\"translate({MARGIN:.0} {top:.1})\">");
    // What is on the critical path lies on top.
    let mut edges: Vec<(&Edge, &Vec<Point>)> = view.edges.iter().zip(&picture.ways).collect();
    edges.sort_by_key(|(edge, _)| view.graph.is_critical(edge));
    for (edge, way) in edges {
        paint_edge(view, edge, way, &mut out);
    }
    for (position, corner) in &picture.boxes {
        paint_task(view, *position, corner, &mut out);
    }
    if view.shown.is_empty() {
        out.push_str("<text class=\"faint\" x=\"0\" y=\"0\">No tasks to show</text>\n");
    }
    out.push_str("</g>\n</svg>\n");
    out
}

const MARKERS: &str = "<defs>\
<marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\" markerUnits=\"userSpaceOnUse\"><path class=\"tip\" d=\"M0 0L8 4L0 8z\"/></marker>\
<marker id=\"tip-critical\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"11\" markerHeight=\"11\" orient=\"auto\" markerUnits=\"userSpaceOnUse\"><path class=\"tip-critical\" d=\"M0 0L8 4L0 8z\"/></marker>\
<marker id=\"tip-bad\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"9\" markerHeight=\"9\" orient=\"auto\" markerUnits=\"userSpaceOnUse\"><path class=\"tip-bad\" d=\"M0 0L8 4L0 8z\"/></marker>\
</defs>\n";

fn style() -> String {
    let mut css = String::from(
        "<style>\
text{font-family:ui-sans-serif,system-ui,\"Segoe UI\",Roboto,\"Helvetica Neue\",Arial,\"Noto Sans\",sans-serif;font-size:12px;fill:#1c2733}\
.page{fill:#ffffff}.heading{font-size:18px;font-weight:600}.faint{fill:#5b6b7d}.id{font-weight:600}.state{font-size:10.5px;fill:#47566a}.bad{fill:#a3160c}\
.edge{fill:none;stroke:#9aa7b6;stroke-width:1.4}.part{stroke-dasharray:5 4}.edge.critical{stroke:#1c2733;stroke-width:2.6}.edge.cycle{stroke:#d1372c;stroke-width:1.8}\
.tip{fill:#9aa7b6}.tip-critical{fill:#1c2733}.tip-bad{fill:#d1372c}.card{stroke-width:1}.critical-card{fill:none;stroke:#1c2733;stroke-width:2.6}.problems{fill:#fff5f4;stroke:#d1372c}",
    );
    for tone in Tone::ALL {
        let (fill, line) = tone.colors();
        let _ = write!(
            css,
            ".{0} .card{{fill:{fill};stroke:{line}}}.{0} .bar{{fill:{line}}}",
            tone.class()
        );
    }
    css.push_str(
        "@media (prefers-color-scheme:dark){\
text{fill:#e6ebf1}.page{fill:#12171d}.faint{fill:#93a1b1}.state{fill:#b4c0cd}.bad{fill:#ff9d94}\
.edge{stroke:#5d6c7d}.edge.critical{stroke:#f2f5f8}.tip{fill:#5d6c7d}.tip-critical{fill:#f2f5f8}.critical-card{stroke:#f2f5f8}.problems{fill:#2b1715}",
    );
    for tone in Tone::ALL {
        let _ = write!(css, ".{} .card{{fill:{}}}", tone.class(), tone.dark_fill());
    }
    css.push_str("}</style>\n");
    css
}

/// What stands above the picture, from the top down.
struct Head {
    out: String,
    y: f64,
    right: f64,
}

impl Head {
    fn text(&mut self, class: &str, text: &str) {
        for line in wrap(text, 12.0, self.right - MARGIN, 6) {
            let _ = writeln!(
                self.out,
                "<text class=\"{class}\" x=\"{MARGIN:.0}\" y=\"{:.1}\">{}</text>",
                self.y,
                escape(&line)
            );
            self.y += LINE;
        }
        self.y += 2.0;
    }

    fn critical_path(&mut self, view: &View<'_>) {
        let path = &view.graph.critical_path;
        if path.len() > 1 {
            let ids: Vec<&str> =
                path.iter().map(|position| view.graph.nodes[*position].id.as_str()).collect();
            let whole = match view.scope {
                Scope::Board => "",
                Scope::Filtered => " of the whole board",
            };
            self.text("faint", &format!("Critical path{whole}: {}", ids.join(" → ")));
        }
    }

    fn problems(&mut self, view: &View<'_>) {
        let room = self.right - MARGIN - 2.0 * PAD;
        let lines: Vec<String> =
            problem_lines(view).iter().flat_map(|line| wrap(line, 12.0, room, 2)).collect();
        if lines.is_empty() {
            return;
        }
        let height = LINE * f64::from(u32::try_from(lines.len()).unwrap_or(u32::MAX)) + 12.0;
        let _ = writeln!(
            self.out,
            "<rect class=\"problems\" x=\"{MARGIN:.0}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{height:.1}\" rx=\"6\"/>",
            self.y - 12.0,
            self.right - MARGIN
        );
        self.y += 6.0;
        for (number, line) in lines.iter().enumerate() {
            let class = if number == 0 { "bad id" } else { "bad" };
            let _ = writeln!(
                self.out,
                "<text class=\"{class}\" x=\"{:.0}\" y=\"{:.1}\">{}</text>",
                MARGIN + PAD,
                self.y,
                escape(line)
            );
            self.y += LINE;
        }
        self.y += 12.0;
    }

    fn legend(&mut self, view: &View<'_>) {
        let mut x = MARGIN;
        let mut place = |out: &mut Self, symbol: &str, wide: f64, name: &str| {
            let total = wide + 8.0 + width(name, 12.0) + 18.0;
            if x + total > out.right && x > MARGIN {
                x = MARGIN;
                out.y += LINE + 4.0;
            }
            let _ = writeln!(
                out.out,
                "<g transform=\"translate({x:.1} {:.1})\">{symbol}<text class=\"faint\" x=\"{:.1}\" y=\"4\">{name}</text></g>",
                out.y,
                wide + 8.0
            );
            x += total;
        };
        for tone in Tone::ALL {
            if tone == Tone::Other && !view.nodes().any(|(_, node)| Tone::of(node) == Tone::Other) {
                continue;
            }
            let swatch = format!(
                "<g class=\"{}\"><rect class=\"card\" x=\"0\" y=\"-7\" width=\"18\" height=\"14\" rx=\"3\"/><rect class=\"bar\" x=\"0\" y=\"-7\" width=\"5\" height=\"14\" rx=\"2\"/></g>",
                tone.class()
            );
            place(self, &swatch, 18.0, tone.name());
        }
        let arrow = |class: &str, tip: &str| {
            format!("<path class=\"{class}\" d=\"M0 0H30\" marker-end=\"url(#{tip})\"/>")
        };
        place(self, &arrow("edge", "tip"), 30.0, "is done before");
        place(self, &arrow("edge part", "tip"), 30.0, "is a subtask of");
        place(self, &arrow("edge critical", "tip-critical"), 30.0, "critical path");
        if view.nodes().any(|(_, node)| node.on_cycle) {
            place(self, &arrow("edge cycle", "tip-bad"), 30.0, "cycle");
        }
        self.y += LINE;
    }
}

fn paint_edge(view: &View<'_>, edge: &Edge, way: &[Point], out: &mut String) {
    let on_cycle = view.graph.groups[edge.from] == view.graph.groups[edge.to];
    let mut class = String::from("edge");
    let mut tip = "tip";
    if edge.kind == EdgeKind::Contains {
        class.push_str(" part");
    }
    if on_cycle {
        class.push_str(" cycle");
        tip = "tip-bad";
    } else if view.graph.is_critical(edge) {
        class.push_str(" critical");
        tip = "tip-critical";
    }
    let Some((first, rest)) = way.split_first() else { return };
    let mut d = format!("M{:.1} {:.1}", first.x, first.y);
    let mut from = *first;
    for to in rest {
        if (to.y - from.y).abs() < 0.05 {
            let _ = write!(d, "H{:.1}", to.x);
        } else {
            let middle = f64::midpoint(from.x, to.x);
            let _ = write!(
                d,
                "C{middle:.1} {:.1} {middle:.1} {:.1} {:.1} {:.1}",
                from.y, to.y, to.x, to.y
            );
        }
        from = *to;
    }
    let _ = writeln!(out, "<path class=\"{class}\" d=\"{d}\" marker-end=\"url(#{tip})\"/>");
}

fn paint_task(view: &View<'_>, position: usize, corner: &Point, out: &mut String) {
    let node = &view.graph.nodes[position];
    let tone = Tone::of(node);
    let _ = write!(
        out,
        "<g class=\"{}\" transform=\"translate({:.1} {:.1})\"><title>{}</title><rect class=\"card\" width=\"{BOX_WIDTH:.0}\" height=\"{BOX_HEIGHT:.0}\" rx=\"7\"/><rect class=\"bar\" width=\"6\" height=\"{BOX_HEIGHT:.0}\" rx=\"3\"/>",
        tone.class(),
        corner.x,
        corner.y,
        escape(&tooltip(node))
    );
    if node.critical && view.graph.critical_path.len() > 1 {
        let _ = write!(
            out,
            "<rect class=\"critical-card\" width=\"{BOX_WIDTH:.0}\" height=\"{BOX_HEIGHT:.0}\" rx=\"7\"/>"
        );
    }
    let room = BOX_WIDTH - 2.0 * PAD - 4.0;
    let left = PAD + 4.0;
    let id = wrap(node.id.as_str(), 12.0, room * 0.6, 1).concat();
    let id_width = width(&id, 12.0) * 1.08;
    let state = wrap(&state(node), 10.5, room - id_width - 8.0, 1).concat();
    let _ = write!(out, "<text class=\"id\" x=\"{left:.0}\" y=\"18\">{}</text>", escape(&id));
    let _ = write!(
        out,
        "<text class=\"state\" x=\"{:.0}\" y=\"18\" text-anchor=\"end\">{}</text>",
        BOX_WIDTH - PAD,
        escape(&state)
    );
    let title = wrap(&one_line(&node.title), 12.0, room, 2);
    for (y, line) in [34, 49].into_iter().zip(&title) {
        let _ = write!(out, "<text x=\"{left:.0}\" y=\"{y}\">{}</text>", escape(line));
    }
    if node.on_cycle {
        let _ = write!(
            out,
            "<rect class=\"edge cycle\" width=\"{BOX_WIDTH:.0}\" height=\"{BOX_HEIGHT:.0}\" rx=\"7\"/>"
        );
    }
    out.push_str("</g>\n");
}

/// The status and the most telling fact.
fn state(node: &Node) -> String {
    let status = label(node.status.as_str(), STATUS_COLUMNS);
    if node.on_cycle {
        format!("{status} · cycle")
    } else if !node.overlaps.is_empty() {
        format!("{status} · overlaps")
    } else if node.ready {
        format!("{status} · ready")
    } else {
        status
    }
}

fn tooltip(node: &Node) -> String {
    let mut text = format!(
        "{}: {}\n{}",
        node.id,
        label(&node.title, TOOLTIP_COLUMNS),
        label(node.status.as_str(), STATUS_COLUMNS)
    );
    if let Some(lane) = node.lane {
        let _ = write!(text, ", lane {lane}");
    }
    if !node.blocked_by.is_empty() {
        let all = label(&node.blocked_by.join(", "), TOOLTIP_COLUMNS);
        let _ = write!(text, "\nwaits for {all}");
    }
    for overlap in &node.overlaps {
        let _ = write!(
            text,
            "\nclaims `{}` as {} claims `{}`",
            label(&overlap.claim, TOOLTIP_COLUMNS),
            overlap.task,
            label(&overlap.other_claim, TOOLTIP_COLUMNS)
        );
    }
    text
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
