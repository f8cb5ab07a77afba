//! Boards from a few words a task.

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_core::board::{Board, Found, assemble};
use dispatch_core::board_config::BoardConfig;
use dispatch_core::id::TaskId;
use dispatch_graph::{ClaimBasis, Filter, Finished, Graph, View};
use dispatch_guards::claims::TestSiblings;
use proptest::prelude::*;

/// A file of a board.
pub(crate) type File = (Utf8PathBuf, Found);

/// What a task of a made board says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Card {
    pub number: String,
    pub title: String,
    pub status: &'static str,
    pub needs: Vec<String>,
    pub parent: Option<String>,
    pub labels: Vec<&'static str>,
    pub claims: Vec<String>,
    pub completed: bool,
}

pub(crate) fn card(number: &str, title: &str, status: &'static str, needs: &[&str]) -> Card {
    Card {
        number: number.to_owned(),
        title: title.to_owned(),
        status,
        needs: needs.iter().map(ToString::to_string).collect(),
        ..Card::default()
    }
}

impl Card {
    pub(crate) fn part_of(mut self, parent: &str) -> Self {
        self.parent = Some(parent.to_owned());
        self
    }

    pub(crate) fn labels(mut self, labels: &[&'static str]) -> Self {
        self.labels = labels.to_vec();
        self
    }

    pub(crate) fn claims(mut self, claims: &[&str]) -> Self {
        self.claims = claims.iter().map(ToString::to_string).collect();
        self
    }

    pub(crate) fn completed(mut self) -> Self {
        self.completed = true;
        self
    }

    pub(crate) fn file(&self) -> File {
        use std::fmt::Write;
        let list = |texts: Vec<String>| serde_json::to_string(&texts).unwrap();
        let title = serde_json::to_string(&self.title).unwrap();
        let needs = list(self.needs.iter().map(|number| id_text(number)).collect());
        let labels = list(self.labels.iter().map(ToString::to_string).collect());
        let mut text = format!(
            "---\nid: T-{}\ntitle: {title}\nstatus: {}\nlabels: {labels}\ndependencies: {needs}\n",
            self.number, self.status
        );
        if let Some(parent) = &self.parent {
            writeln!(text, "parent_task_id: T-{parent}").unwrap();
        }
        text.push_str("---\n\n## Description\n\n<!-- SECTION:DESCRIPTION:BEGIN -->\nText.\n");
        if !self.claims.is_empty() {
            text.push_str("\nFiles to touch:\n\n");
            for claim in &self.claims {
                writeln!(text, "- {claim}").unwrap();
            }
        }
        text.push_str("<!-- SECTION:DESCRIPTION:END -->\n");
        let folder = if self.completed { "completed" } else { "tasks" };
        let path = Utf8PathBuf::from(format!("{folder}/t-{} - x.md", self.number));
        (path, Found::Bytes(text.into_bytes()))
    }
}

/// A number as an id; anything else as it is.
fn id_text(number: &str) -> String {
    let is_number = number.starts_with(|c: char| c.is_ascii_digit());
    if is_number { format!("T-{number}") } else { number.to_owned() }
}

pub(crate) fn board_of(files: &[File]) -> Board {
    let config = BoardConfig::parse("task_prefix: T");
    assemble(files.iter().map(|(path, found)| (Utf8Path::new(path), found)), &config)
}

pub(crate) fn board(cards: &[Card]) -> Board {
    board_of(&cards.iter().map(Card::file).collect::<Vec<_>>())
}

pub(crate) fn graph_of(board: &Board) -> Graph {
    Graph::of(board, &ClaimBasis { project_root: ".", siblings: &TestSiblings::default() })
}

pub(crate) fn graph(cards: &[Card]) -> Graph {
    graph_of(&board(cards))
}

pub(crate) fn all(graph: &Graph) -> View<'_> {
    View::of(graph, &Filter::default()).unwrap()
}

pub(crate) fn open(graph: &Graph) -> View<'_> {
    View::of(graph, &Filter { finished: Finished::Hidden, ..Filter::default() }).unwrap()
}

pub(crate) fn id(number: &str) -> TaskId {
    TaskId::parse(&format!("T-{number}")).unwrap()
}

pub(crate) fn ids(graph: &Graph, positions: &[usize]) -> Vec<String> {
    positions.iter().map(|position| graph.nodes[*position].id.to_string()).collect()
}

/// Every format of a graph, one after the other.
pub(crate) fn every_format(graph: &Graph) -> String {
    let view = all(graph);
    let capacity = dispatch_graph::Capacity::default();
    let plan = dispatch_graph::plan(&view, &capacity);
    [
        dispatch_graph::mermaid::render(&view),
        dispatch_graph::dot::render(&view),
        dispatch_graph::json::render(&view, Some(&plan)),
        dispatch_graph::svg::render(&view),
        dispatch_graph::text::render(&view),
        dispatch_graph::waves::render(&view, &plan, &capacity),
    ]
    .join("\n")
}

/// A board like one a small team has after a while, the same at every call.
pub(crate) fn made(count: usize) -> Vec<Card> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut dice = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % u64::try_from(below).unwrap()).unwrap()
    };
    let verbs = ["Add", "Fix", "Remove", "Rename", "Split", "Measure", "Document", "Speed up"];
    let nouns = [
        "the parser",
        "the ledger of attempts",
        "a queue",
        "the lock file and its staleness check",
        "the board view",
        "error messages for people who configure the dispatcher for the first time",
    ];
    let statuses = ["To Do", "To Do", "To Do", "Queued", "In Progress", "Blocked", "Done"];
    let lanes = ["lane:local", "lane:frontier"];
    let mut cards: Vec<Card> = Vec::new();
    for number in 1..=count {
        let title = format!("{} {}", verbs[dice(verbs.len())], nouns[dice(nouns.len())]);
        let mut made = card(&number.to_string(), &title, statuses[dice(statuses.len())], &[]);
        made.labels = vec![lanes[dice(2)]];
        if number > 1 && dice(5) > 1 {
            for _ in 0..=dice(2) {
                let back = 1 + dice((number - 1).min(70));
                made.needs.push((number - back).to_string());
            }
            made.needs.sort();
            made.needs.dedup();
        }
        if number > 3 && dice(6) == 0 {
            made.parent = Some((number - 1 - dice(3)).to_string());
            made.needs.retain(|other| Some(other) != made.parent.as_ref());
        }
        cards.push(made);
    }
    cards
}

/// Tasks that need and contain each other in any way, cycles too.
pub(crate) fn arb_cards(most: usize) -> impl Strategy<Value = Vec<Card>> {
    let one = (
        proptest::collection::vec(1..=most, 0..4),
        proptest::option::weighted(0.25, 1..=most),
        0_usize..5,
        0_usize..4,
    );
    proptest::collection::vec(one, 1..=most).prop_map(|rows| {
        let statuses = ["To Do", "Queued", "In Progress", "Blocked", "Done"];
        let claims = ["src/a.rs", "src/", "docs/x.md", "lib/*.rs"];
        let card = |(number, (needs, parent, status, claim)): (
            usize,
            (Vec<usize>, Option<usize>, usize, usize),
        )| {
            let mut card =
                card(&number.to_string(), &format!("Task {number}"), statuses[status], &[]);
            card.needs = needs.iter().map(ToString::to_string).collect();
            card.parent =
                parent.filter(|parent| *parent != number).map(|parent| parent.to_string());
            card.claims = vec![claims[claim].to_owned()];
            card.labels = if claim % 2 == 0 { vec!["lane:local"] } else { vec!["lane:frontier"] };
            card
        };
        (1..).zip(rows).map(card).collect()
    })
}

/// The same without cycles: a task needs and is part of tasks with a smaller number and a greater one.
pub(crate) fn arb_acyclic(most: usize) -> impl Strategy<Value = Vec<Card>> {
    arb_cards(most).prop_map(|mut cards| {
        for (number, card) in (1_usize..).zip(&mut cards) {
            card.needs.retain(|other| other.parse::<usize>().unwrap() < number);
            card.parent =
                card.parent.take().filter(|other| other.parse::<usize>().unwrap() > number);
        }
        cards
    })
}
