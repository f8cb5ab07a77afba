//! What we draw is read by the programs it is for: Mermaid's own parser, and Graphviz.

use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;

use dispatch_testkit::board::{TaskText, made};
use dispatch_testkit::programs::{self, Peer};
use serde_json::Value;

use crate::Place;

/// What means something to one of the parsers, or to the page a picture ends up in.
const HOSTILE: [&str; 32] = [
    "\"",
    "'",
    "`",
    "```",
    "]",
    "[",
    "{{",
    "}}",
    "((",
    "))",
    "|",
    ";",
    "#",
    "%%",
    "%%{init: {}}%%",
    "-->",
    "---",
    "\\",
    "\\\"",
    "\\n",
    "<script>alert(1)</script>",
    "</title>",
    "<!-- x -->",
    "&quot;",
    "&#34;",
    "#quot;",
    "#34",
    "end",
    "subgraph x",
    "click n0 call f()",
    "style n0 fill:red",
    "classDef default fill:red",
];

/// A board whose titles are hostile, each alone and with its neighbours, and whose tasks depend on one another.
fn hostile() -> (Place, usize, usize) {
    let place = Place::new();
    let next = |number: usize| HOSTILE[(number + 1) % HOSTILE.len()];
    let titles = HOSTILE.iter().enumerate().flat_map(|(number, piece)| {
        let both = format!("a {piece}{} b", next(number));
        [format!("{piece} x"), format!("x{piece}"), both, format!("{piece}\u{202e}{piece} é日本🎉")]
    });
    let titles: Vec<String> = titles.collect();
    for (number, title) in titles.iter().enumerate() {
        let mut task = TaskText::new(&format!("T-{}", number + 1), title).status("To Do");
        if number > 0 {
            task = task.depends_on(&format!("T-{number}"));
        }
        place.board.add(&task);
    }
    (place, titles.len(), titles.len() - 1)
}

/// The nodes and the number of edges that Mermaid finds.
fn mermaid(place: &Place, text: &str) -> Option<(Vec<(String, String)>, usize)> {
    let (node, library) = (programs::on_path("node")?, programs::find(Peer::Mermaid)?);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/graph/parse.cjs");
    let file = place.scratch.root().join("graph.mmd");
    fs::write(&file, text).unwrap();
    let mut command = programs::command(node, &place.scratch.home());
    command.args([script, library.as_str()]).stdin(Stdio::from(fs::File::open(&file).unwrap()));
    let found: Value = serde_json::from_str(&programs::read(&mut command)).unwrap();
    assert_eq!(found["type"], "flowchart-v2");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let nodes = found["nodes"].as_array().unwrap();
    assert!(nodes.iter().all(|node| node[2].is_null()), "a title made a link");
    let nodes = nodes.iter().map(|node| (text(&node[0]), text(&node[1]))).collect();
    Some((nodes, found["edges"].as_array().unwrap().len()))
}

/// The names of the nodes and the number of edges that Graphviz finds.
fn dot(place: &Place, text: &str) -> Option<(BTreeSet<String>, usize)> {
    let dot = programs::on_path("dot")?;
    let file = place.scratch.root().join("graph.dot");
    fs::write(&file, text).unwrap();
    let mut command = programs::command(dot, &place.scratch.home());
    let output = programs::output(command.args(["-Tplain", file.as_str()]));
    let said = String::from_utf8_lossy(&output.stderr).to_lowercase();
    assert!(output.status.success() && !said.contains("error"), "{said}");
    let plain = String::from_utf8(output.stdout).unwrap();
    let name = |line: &str| line.strip_prefix("node ")?.split(' ').next().map(str::to_owned);
    let names = plain.lines().filter_map(name).map(|name| name.trim_matches('"').to_owned());
    Some((names.collect(), plain.lines().filter(|line| line.starts_with("edge ")).count()))
}

fn expected(count: usize) -> BTreeSet<String> {
    (1..=count).map(|number| format!("T-{number}")).collect()
}

#[test]
fn r1_3_mermaid_itself_reads_the_flow_chart_whatever_the_titles_say() {
    let (place, tasks, edges) = hostile();
    let Some((nodes, found)) = mermaid(&place, &place.prints(&[])) else { return };
    assert_eq!((nodes.len(), found), (tasks, edges));
    let ids: BTreeSet<String> =
        nodes.iter().map(|(_, label)| label.split("<br>").next().unwrap().to_owned()).collect();
    assert_eq!(ids, expected(tasks), "each label begins with its task");
}

#[test]
fn r1_3_graphviz_itself_reads_the_graph_whatever_the_titles_say() {
    let (place, tasks, edges) = hostile();
    let Some(found) = dot(&place, &place.prints(&["--format", "dot"])) else { return };
    assert_eq!(found, (expected(tasks), edges));
}

/// R1.2, R1.3: cycles, parents and dependencies that lead nowhere do not keep the parsers from reading it.
#[test]
fn r1_3_both_read_a_board_with_problems() {
    let place = Place::new();
    made(&place.board, 60, 11);
    place.board.add(&TaskText::new("T-901", "Loop").depends_on("T-902"));
    place.board.add(&TaskText::new("T-902", "Loop").depends_on("T-901").depends_on("T-999"));
    let document: Value =
        serde_json::from_str(&place.prints(&["--format", "json", "--all"])).unwrap();
    let tasks = document["tasks"].as_array().unwrap().len();
    let edges = document["edges"].as_array().unwrap().len();
    let Some((nodes, found)) = mermaid(&place, &place.prints(&["--all"])) else { return };
    let of_tasks = nodes.iter().filter(|(_, label)| label.starts_with("T-")).count();
    assert!(of_tasks >= tasks && found >= edges, "{of_tasks} of {tasks}, {found} of {edges}");
    let Some(found) = dot(&place, &place.prints(&["--format", "dot", "--all"])) else { return };
    assert!(found.0.len() >= tasks && found.1 >= edges, "{} {}", found.0.len(), found.1);
}
