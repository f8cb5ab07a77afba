//! No text of a task leaves the label it stands in (R1.3).

use dispatch_graph::{dot, json, mermaid, svg, text, waves};
use proptest::prelude::*;

use crate::boards::{Card, all, card, graph};

/// Pieces that mean something to one reader or another.
const PIECES: [&str; 34] = [
    "\"",
    "'",
    "`",
    "```",
    "]",
    "[",
    "{",
    "}",
    "(",
    ")",
    ";",
    "#",
    "%%",
    "%%{init: {}}%%",
    "-->",
    "---",
    "\\",
    "\\\"",
    "\n",
    "\r\n",
    "<script>",
    "</title>",
    "</svg>",
    "<!--",
    "-->",
    "<!-- END backlog-graph -->",
    "&quot;",
    "&#34;",
    "#quot;",
    "]]>",
    "\u{1b}[2J",
    "\u{202e}",
    "end",
    "click n0 call f() style x:",
];

fn arb_title() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(PIECES.to_vec()).prop_map(str::to_owned),
        1 => "\\PC{1,6}",
        1 => "[a-z ]{1,6}",
    ];
    proptest::collection::vec(piece, 1..8).prop_map(|pieces| format!("x{}", pieces.concat()))
}

fn cards(title: &str) -> Vec<Card> {
    let mut second = card("2", title, "To Do", &["1"]);
    second.claims = vec!["src/a.rs".to_owned()];
    vec![card("1", title, "Queued", &[]), second, card("3", "plain", "To Do", &["2", title])]
}

/// What is left of a text when everything inside double quotes is taken out, `escape` taking away the next character.
fn outside_quotes(text: &str, escape: Option<char>) -> String {
    let (mut out, mut inside) = (String::new(), false);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if inside && Some(c) == escape {
            chars.next();
        } else if c == '"' {
            inside = !inside;
            out.push(c);
        } else if !inside {
            out.push(c);
        }
    }
    assert!(!inside, "a quote stays open");
    out
}

/// Reads a document of elements and text, with nothing but the elements and attributes the pictures are made of, and
/// returns the elements in order.
fn elements(document: &str) -> Vec<String> {
    let known = ["svg", "style", "defs", "marker", "path", "rect", "g", "text", "title"];
    let mut open: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    let mut rest = document;
    while let Some(at) = rest.find('<') {
        entities(&rest[..at]);
        let end = at + rest[at..].find('>').expect("a tag ends");
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
            continue;
        }
        let name = tag.split([' ', '/']).next().unwrap();
        assert!(known.contains(&name), "an element `{name}`");
        let attributes = outside_quotes(&tag[name.len()..], None).replace("\"\"", "");
        let named = attributes.trim_end_matches('/').split(' ').filter(|word| !word.is_empty());
        for word in named {
            let word = word.strip_suffix('=').expect("an attribute has a value");
            assert!(
                word.chars().all(|c| c.is_ascii_alphabetic() || c == '-')
                    && !word.starts_with("on")
            );
        }
        found.push(name.to_owned());
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty());
    found
}

fn entities(text: &str) {
    for (at, _) in text.match_indices('&') {
        let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
        assert!(known.iter().any(|entity| text[at..].starts_with(entity)), "{}", &text[at..]);
    }
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "a control character");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn r1_3_mermaid_has_the_same_structure_whatever_a_title_says(title in arb_title()) {
        let (hostile, plain) = (graph(&cards(&title)), graph(&cards("plain")));
        let (hostile, plain) = (mermaid::render(&all(&hostile)), mermaid::render(&all(&plain)));
        prop_assert_eq!(outside_quotes(&hostile, None), outside_quotes(&plain, None));
        let inside = hostile.lines().filter(|line| line.contains("[\""));
        for line in inside {
            let label = line.split('"').nth(1).unwrap().replace("<br>", "");
            let means_something = label.contains(['<', '>', '%', '{', '}', '`', '&', ':', '\\', '\'']);
            prop_assert!(!means_something, "{label}");
        }
        let part = dispatch_graph::section::mermaid_part(&hostile);
        prop_assert_eq!(part.matches("backlog-graph -->").count(), 2);
        prop_assert_eq!(part.matches("```").count(), 2);
    }

    #[test]
    fn r1_3_dot_has_the_same_structure_whatever_a_title_says(title in arb_title()) {
        let (hostile, plain) = (graph(&cards(&title)), graph(&cards("plain")));
        let (hostile, plain) = (dot::render(&all(&hostile)), dot::render(&all(&plain)));
        prop_assert_eq!(outside_quotes(&hostile, Some('\\')), outside_quotes(&plain, Some('\\')));
        let escapes = hostile.contains(['<', '\u{1b}']);
        prop_assert!(!escapes);
    }

    #[test]
    fn r1_3_a_picture_holds_nothing_but_its_own_elements(title in arb_title()) {
        let graph = graph(&cards(&title));
        let found = elements(&svg::render(&all(&graph)));
        prop_assert_eq!(found.iter().filter(|name| *name == "title").count(), 3);
        prop_assert_eq!(found.iter().filter(|name| *name == "style").count(), 1);
    }

    #[test]
    fn r1_3_json_gives_a_title_back_as_it_was(title in arb_title()) {
        let graph = graph(&cards(&title));
        let document: serde_json::Value = serde_json::from_str(&json::render(&all(&graph), None)).unwrap();
        prop_assert_eq!(document["tasks"][0]["title"].as_str().unwrap(), graph.nodes[0].title.as_str());
        prop_assert_eq!(document["tasks"].as_array().unwrap().len(), 3);
    }

    /// R1.3: neither a terminal nor an editor that shows the document obeys what a title says.
    #[test]
    fn r1_3_json_holds_no_character_that_is_not_seen(title in arb_title(), hidden in 0_usize..5) {
        let hidden = ['\u{9b}', '\u{85}', '\u{7f}', '\u{2067}', '\u{e0041}'][hidden];
        let text = json::render(&all(&graph(&cards(&format!("{title}{hidden}x")))), None);
        let seen = text.chars().all(|c| c == '\n' || !dispatch_core::printable::is_hidden(c));
        prop_assert!(seen, "{text}");
    }

    #[test]
    fn r1_3_a_terminal_gets_one_line_a_task_and_no_control_character(title in arb_title()) {
        let (hostile, plain) = (graph(&cards(&title)), graph(&cards("plain")));
        let render = |graph| {
            let view = all(graph);
            let capacity = dispatch_graph::Capacity::default();
            text::render(&view) + &waves::render(&view, &dispatch_graph::plan(&view, &capacity), &capacity)
        };
        let (hostile, plain) = (render(&hostile), render(&plain));
        prop_assert_eq!(hostile.lines().count(), plain.lines().count());
        prop_assert!(hostile.chars().all(|c| c == '\n' || !c.is_control()));
        let reorders = hostile.contains(['\u{202e}', '\u{2066}']);
        prop_assert!(!reorders);
    }
}

/// R1.3: marks that pile up, and titles nobody could read, make no format larger or higher than its lines.
#[test]
fn r1_3_a_title_of_any_length_is_bounded_in_every_format() {
    let marks = "\u{301}".repeat(100_000);
    let long = "word ".repeat(20_000);
    for title in [format!("x{marks}"), marks.clone(), long, "W".repeat(100_000)] {
        let text = crate::boards::every_format(&graph(&cards(&title)));
        assert!(text.len() < 60_000, "{} bytes", text.len());
        // JSON gives the texts as they were.
        let of_json = |line: &str| {
            let line = line.trim_start();
            line.starts_with('"') && !line.starts_with("\"T-")
        };
        for line in text.lines().filter(|line| !of_json(line)) {
            assert!(!line.contains(&"\u{301}".repeat(4)), "{line}");
        }
    }
}
