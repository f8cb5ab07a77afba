//! What is wrong with a board is always said (R1.2).

use camino::Utf8PathBuf;
use dispatch_core::board::Found;

use crate::boards::{Card, board, board_of, card, every_format, graph, graph_of};

fn told(cards: &[Card]) -> Vec<String> {
    graph(cards).problems.iter().map(ToString::to_string).collect()
}

#[test]
fn r1_2_a_cycle_is_printed_as_a_path() {
    let cards = [
        card("1", "a", "To Do", &["3"]),
        card("2", "b", "To Do", &["1"]),
        card("3", "c", "To Do", &["2"]),
        card("4", "d", "To Do", &["4"]),
    ];
    assert_eq!(told(&cards), ["cycle: T-1 → T-3 → T-2 → T-1", "cycle: T-4 → T-4"]);
}

#[test]
fn r1_2_a_subtask_that_needs_its_own_parent_closes_a_cycle() {
    let cards = [card("5", "a", "To Do", &[]), card("5.1", "b", "To Do", &["5"]).part_of("5")];
    assert_eq!(told(&cards), ["cycle: T-5 (its subtask) → T-5.1 → T-5"]);
}

#[test]
fn r1_2_a_parent_that_needs_its_own_descendant() {
    let cards = [
        card("5", "a", "To Do", &["5.1.1"]),
        card("5.1", "b", "To Do", &[]).part_of("5"),
        card("5.1.1", "c", "To Do", &[]).part_of("5.1"),
    ];
    assert_eq!(told(&cards), ["T-5 depends on T-5.1.1, its own subtask"]);
}

#[test]
fn r1_2_dependencies_that_lead_nowhere() {
    let cards = [
        card("1", "a", "To Do", &["9", "not an id"]),
        card("2", "b", "To Do", &[]).part_of("8"),
        card("3", "c", "To Do", &["4"]),
        card("4", "d", "Done", &[]).completed(),
    ];
    assert_eq!(
        told(&cards),
        [
            "T-1 depends on `T-9`, which is not on the board",
            "T-1 depends on `not an id`, which is no task id",
            "T-2 is a subtask of T-8, which is not on the board",
        ]
    );
    let graph = graph(&cards);
    let ready: Vec<bool> = graph.nodes.iter().map(|node| node.ready).collect();
    assert_eq!(ready, [false, true, true, false]);
    assert_eq!(graph.nodes[0].blocked_by, ["T-9", "not an id"]);
}

#[test]
fn r1_2_an_archived_dependency_is_named_as_such() {
    let mut files: Vec<_> = [card("1", "a", "To Do", &["2"])].iter().map(Card::file).collect();
    let (_, found) = card("2", "b", "Done", &[]).file();
    files.push((Utf8PathBuf::from("archive/tasks/t-2 - x.md"), found));
    let graph = graph_of(&board_of(&files));
    let told: Vec<String> = graph.problems.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["T-1 depends on `T-2`, which is archived"]);
}

/// B2.5, R1.6: of a board that was not read completely nothing is concluded, and every format says so.
#[test]
fn r1_6_an_incomplete_board_is_drawn_and_says_so() {
    let mut files: Vec<_> = [card("1", "a", "To Do", &["2"]), card("3", "b", "To Do", &[])]
        .iter()
        .map(Card::file)
        .collect();
    files.push((
        Utf8PathBuf::from("tasks/t-2 - x.md"),
        Found::Unreadable("permission denied".to_owned()),
    ));
    let (_, found) = card("3", "b", "To Do", &[]).file();
    files.push((Utf8PathBuf::from("tasks/t-03 - y.md"), found));
    let graph = graph_of(&board_of(&files));
    assert!(!graph.complete);
    let told: Vec<String> = graph.problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "tasks/t-2 - x.md: permission denied",
            "tasks/t-03 - y.md: it claims the id T-3 as `tasks/t-3 - x.md` does too; give one of them another id",
            "tasks/t-3 - x.md: it claims the id T-3 as `tasks/t-03 - y.md` does too; give one of them another id",
            "T-1 depends on T-2, which was not seen: the board is incomplete",
        ]
    );
    let text = every_format(&graph);
    assert!(text.matches("could not be read completely").count() >= 4, "{text}");
    assert!(text.contains("\"complete\": false"));
}

#[test]
fn a_board_without_tasks_is_drawn_too() {
    let graph = graph_of(&board(&[]));
    assert!(every_format(&graph).contains("No tasks to show"));
}
