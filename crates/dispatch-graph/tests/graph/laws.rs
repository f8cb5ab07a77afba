//! Laws that hold for every board.

use std::collections::BTreeSet;

use dispatch_graph::{EdgeKind, Filter, Finished, Graph, Problem, View};
use proptest::prelude::*;

use crate::boards::{all, arb_acyclic, arb_cards, board_of, every_format, graph, graph_of};

/// Who reaches whom over at least one edge, by the plainest method there is.
fn closure(graph: &Graph) -> Vec<Vec<bool>> {
    let count = graph.nodes.len();
    let mut reach = vec![vec![false; count]; count];
    for edge in &graph.edges {
        reach[edge.from][edge.to] = true;
    }
    for middle in 0..count {
        for from in 0..count {
            for to in 0..count {
                reach[from][to] |= reach[from][middle] && reach[middle][to];
            }
        }
    }
    reach
}

/// The longest chain below a node, by trying every way.
fn longest(graph: &Graph, from: usize, takes_part: &dyn Fn(usize) -> bool) -> usize {
    if !takes_part(from) {
        return 0;
    }
    let below = graph.edges.iter().filter(|edge| edge.from == from);
    1 + below.map(|edge| longest(graph, edge.to, takes_part)).max().unwrap_or(0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// R1.1: without cycles a layer is the longest path from a root.
    #[test]
    fn r1_1_a_layer_is_the_longest_path_from_a_root(cards in arb_acyclic(10)) {
        let graph = graph(&cards);
        for (position, node) in graph.nodes.iter().enumerate() {
            prop_assert_eq!(node.layer + 1, longest(&graph, position, &|_| true), "{}", node.id);
            prop_assert!(!node.on_cycle);
        }
    }

    #[test]
    fn r1_1_layers_respect_every_edge_that_is_on_no_cycle(cards in arb_cards(14)) {
        let graph = graph(&cards);
        let reach = closure(&graph);
        for edge in &graph.edges {
            let (from, to) = (&graph.nodes[edge.from], &graph.nodes[edge.to]);
            if reach[edge.to][edge.from] || edge.to == edge.from {
                prop_assert_eq!(from.layer, to.layer);
            } else {
                prop_assert!(from.layer > to.layer, "{} waits for {}", from.id, to.id);
            }
        }
    }

    #[test]
    fn r1_1_the_critical_path_is_a_longest_chain_of_unfinished_tasks(cards in arb_cards(10)) {
        let graph = graph(&cards);
        let reach = closure(&graph);
        let takes_part = |node: usize| !graph.nodes[node].finished && !reach[node][node];
        let expected = (0..graph.nodes.len()).map(|node| longest(&graph, node, &takes_part)).max().unwrap_or(0);
        let path = &graph.critical_path;
        prop_assert_eq!(path.len(), expected);
        prop_assert!(path.iter().all(|node| takes_part(*node) && graph.nodes[*node].critical));
        for pair in path.windows(2) {
            let waits = graph.edges.iter().any(|edge| edge.from == pair[1] && edge.to == pair[0]);
            prop_assert!(waits);
        }
        prop_assert_eq!(graph.nodes.iter().filter(|node| node.critical).count(), path.len());
    }

    /// R1.2: every printed cycle is one, and every edge that lies on any cycle lies on a printed one.
    #[test]
    fn r1_2_the_printed_cycles_are_real_and_leave_nothing_out(cards in arb_cards(14)) {
        let graph = graph(&cards);
        let reach = closure(&graph);
        let mut printed: BTreeSet<(usize, usize)> = BTreeSet::new();
        for problem in &graph.problems {
            let Problem::Cycle { path } = problem else { continue };
            for (number, step) in path.iter().enumerate() {
                let from = graph.position(&step.task).unwrap();
                let to = graph.position(&path[(number + 1) % path.len()].task).unwrap();
                prop_assert!(graph.edges.iter().any(|edge| edge.from == from && edge.to == to && edge.kind == step.because));
                printed.insert((from, to));
            }
            let tasks: BTreeSet<_> = path.iter().map(|step| step.task.to_string()).collect();
            prop_assert_eq!(tasks.len(), path.len(), "a path passes each task once");
        }
        let on_any: BTreeSet<(usize, usize)> = graph
            .edges
            .iter()
            .filter(|edge| edge.to == edge.from || reach[edge.to][edge.from])
            .map(|edge| (edge.from, edge.to))
            .collect();
        prop_assert_eq!(&printed, &on_any);
        for (position, node) in graph.nodes.iter().enumerate() {
            prop_assert_eq!(node.on_cycle, reach[position][position]);
        }
    }

    /// R1.3: the same board gives the same bytes, in whatever order its files are read.
    #[test]
    fn r1_3_the_order_of_the_files_reaches_no_output(cards in arb_cards(12), by in proptest::collection::vec(any::<u32>(), 12)) {
        let mut files: Vec<_> = cards.iter().map(crate::boards::Card::file).collect();
        let first = every_format(&graph_of(&board_of(&files)));
        let mut keyed: Vec<_> = by.into_iter().zip(files.drain(..)).collect();
        keyed.sort_by_key(|(key, _)| *key);
        let files: Vec<_> = keyed.into_iter().map(|(_, file)| file).collect();
        prop_assert_eq!(first, every_format(&graph_of(&board_of(&files))));
    }

    /// R1.5: a root brings what it waits for and what waits for it, and nothing else.
    #[test]
    fn r1_5_a_root_brings_its_ancestors_and_descendants(cards in arb_cards(12), at in any::<prop::sample::Index>()) {
        let graph = graph(&cards);
        let root = at.index(graph.nodes.len());
        let filter = Filter { roots: vec![graph.nodes[root].id.clone()], ..Filter::default() };
        let view = View::of(&graph, &filter).unwrap();
        let reach = closure(&graph);
        let expected: Vec<usize> = (0..graph.nodes.len())
            .filter(|node| *node == root || reach[root][*node] || reach[*node][root])
            .collect();
        prop_assert_eq!(&view.shown, &expected);
        let all_edges = graph.edges.iter().filter(|edge| expected.contains(&edge.from) && expected.contains(&edge.to));
        prop_assert_eq!(view.edges.len(), all_edges.count());
    }

    #[test]
    fn r1_5_a_filter_takes_no_problem_out_of_any_format(cards in arb_cards(12)) {
        let graph = graph(&cards);
        let filter = Filter { labels: vec!["nobody-has-this".to_owned()], finished: Finished::Hidden, ..Filter::default() };
        let view = View::of(&graph, &filter).unwrap();
        prop_assert!(view.shown.is_empty());
        let json = dispatch_graph::json::render(&view, None);
        let text = dispatch_graph::text::render(&view);
        for problem in &graph.problems {
            prop_assert!(json.contains(problem.kind()));
            let line = problem.to_string();
            prop_assert!(text.contains(&line));
        }
        if !graph.problems.is_empty() {
            for picture in [dispatch_graph::mermaid::render(&view), dispatch_graph::dot::render(&view), dispatch_graph::svg::render(&view)] {
                prop_assert!(picture.contains("problem"));
            }
        }
    }

    /// R1.1: two unfinished tasks overlap when their claims meet and neither waits for the other; it is mutual.
    #[test]
    fn r1_1_overlaps_are_mutual_and_never_between_tasks_that_wait_for_each_other(cards in arb_cards(9)) {
        let graph = graph(&cards);
        let reach = closure(&graph);
        let top = |node: usize| {
            let number: usize = graph.nodes[node].id.canonical()[2..].parse().unwrap();
            cards[number - 1].claims[0].split('/').next().unwrap().to_owned()
        };
        let pairs = (0..graph.nodes.len()).flat_map(|a| (0..graph.nodes.len()).map(move |b| (a, b)));
        for (a, b) in pairs {
            // Of the made claims those under one top folder meet.
            let expected = a != b && top(a) == top(b)
                && !graph.nodes[a].finished && !graph.nodes[b].finished && !reach[a][b] && !reach[b][a];
            let found = graph.nodes[a].overlaps.iter().any(|overlap| overlap.task == graph.nodes[b].id);
            prop_assert_eq!(found, expected, "{} {}", &graph.nodes[a].id, &graph.nodes[b].id);
        }
    }
}

#[test]
fn a_chain_as_long_as_a_board_is_no_trouble() {
    let cards: Vec<_> = (1..=1000)
        .map(|number| {
            let before = (number - 1).to_string();
            let needs: &[&str] = if number == 1 { &[] } else { &[&before] };
            crate::boards::card(&number.to_string(), "x", "To Do", needs)
        })
        .collect();
    let graph = graph(&cards);
    assert_eq!(graph.critical_path.len(), 1000);
    assert_eq!(graph.nodes.last().unwrap().layer, 999);
    let view = all(&graph);
    let text = dispatch_graph::text::render(&view);
    assert_eq!(text.lines().filter(|line| line.contains("[To Do, ready]")).count(), 1);
    assert!(text.len() < 1 << 20);
    assert!(dispatch_graph::svg::render(&view).ends_with("</svg>\n"));
    assert!(graph.edges.iter().all(|edge| edge.kind == EdgeKind::Needs && graph.is_critical(edge)));
}
