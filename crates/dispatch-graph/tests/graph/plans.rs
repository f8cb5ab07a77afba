//! Waves (R1.5).

use std::collections::{BTreeMap, BTreeSet};

use dispatch_core::triage::Lane;
use dispatch_graph::{Capacity, plan, waves};
use proptest::prelude::*;

use crate::boards::{all, arb_cards, card, graph, open};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn r1_5_waves_respect_edges_capacity_and_claims(cards in arb_cards(14), local in 1_usize..3, slots in 1_usize..4) {
        let graph = graph(&cards);
        let view = all(&graph);
        let capacity = Capacity { lanes: BTreeMap::from([(Lane::Local, local)]), slots: Some(slots) };
        let found = plan(&view, &capacity);
        let wave_of: BTreeMap<usize, usize> =
            (0..).zip(&found.waves).flat_map(|(number, wave)| wave.iter().map(move |node| (*node, number))).collect();
        let stuck: BTreeSet<usize> = found.stuck.iter().copied().collect();
        let planned: usize = found.waves.iter().map(Vec::len).sum();
        prop_assert_eq!(planned, wave_of.len(), "no task stands in two waves");
        for (position, node) in graph.nodes.iter().enumerate() {
            prop_assert_eq!(wave_of.contains_key(&position) || stuck.contains(&position), !node.finished);
            prop_assert!(!(wave_of.contains_key(&position) && stuck.contains(&position)));
        }
        for edge in &graph.edges {
            if let Some(wave) = wave_of.get(&edge.from) {
                prop_assert!(graph.nodes[edge.to].finished || wave_of.get(&edge.to).is_some_and(|before| before < wave));
            }
        }
        for wave in &found.waves {
            let working: Vec<_> = wave.iter().map(|node| &graph.nodes[*node]).filter(|node| node.own_work).collect();
            prop_assert!(working.len() <= slots);
            prop_assert!(working.iter().filter(|node| node.lane == Some(Lane::Local)).count() <= local);
            for a in &working {
                prop_assert!(working.iter().all(|b| a.overlaps.iter().all(|overlap| overlap.task != b.id)));
            }
        }
    }
}

#[test]
fn r1_5_a_plan_reads_as_waves() {
    let cards = [
        card("1", "Lay the ground", "In Progress", &[]).labels(&["lane:local"]),
        card("2", "Build on it", "Queued", &["1"]).labels(&["lane:local"]),
        card("3", "Build beside it", "To Do", &["1"]).labels(&["lane:local"]),
        card("4", "Paint", "To Do", &["2", "3"]).labels(&["lane:frontier"]),
        card("5", "Never", "To Do", &["9"]),
        card("6", "Behind it", "To Do", &["5"]),
        card("7", "Long ago", "Done", &[]),
    ];
    let graph = graph(&cards);
    let view = open(&graph);
    let capacity = Capacity { lanes: BTreeMap::from([(Lane::Local, 1)]), slots: None };
    insta::assert_snapshot!(waves::render(&view, &plan(&view, &capacity), &capacity), @r##"
    Wave 1 (local 1/1)
      T-1 Lay the ground [In Progress, local, critical]
    Wave 2 (local 1/1)
      T-2 Build on it [Queued, local, critical]
    Wave 3 (local 1/1)
      T-3 Build beside it [To Do, local]
    Wave 4 (frontier 1)
      T-4 Paint [To Do, frontier, critical]
    Can never start as things stand
      T-5 Never [To Do, no lane]
      T-6 Behind it [To Do, no lane]
    "##);
}

/// Tasks whose overlaps are too many to be listed still never share a wave.
#[test]
fn r1_5_a_crowded_path_is_worked_on_by_one_at_a_time() {
    let cards: Vec<_> = (1..=30)
        .map(|number| card(&number.to_string(), "x", "To Do", &[]).claims(&["Cargo.lock"]))
        .collect();
    let graph = graph(&cards);
    assert!(graph.nodes.iter().all(|node| node.overlaps.len() == 10 && node.more_overlaps));
    assert_eq!(plan(&all(&graph), &Capacity::default()).waves.len(), 30);
}
