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

/// R1.2: what is told grows with the board, not with the number of ways round in it.
#[test]
fn r1_2_tasks_that_all_wait_for_each_other_are_told_in_bounded_space() {
    let told_of = |count: usize| {
        let ids: Vec<String> = (1..=count).map(|number| number.to_string()).collect();
        let cards: Vec<Card> = ids
            .iter()
            .map(|id| {
                let needs: Vec<&str> =
                    ids.iter().map(String::as_str).filter(|other| other != id).collect();
                card(id, "x", "To Do", &needs)
            })
            .collect();
        told(&cards)
    };
    let told = told_of(60);
    assert_eq!(told.len(), 101, "a hundred cycles, and how much is left");
    assert_eq!(told[0], "cycle: T-1 → T-2 → T-1");
    let left = 60 * 59 - 2 * 100;
    assert_eq!(
        told[100],
        format!(
            "{left} more waits lie on further cycles; break those that are told first, then look again"
        )
    );
}

/// A long way round is told with its beginning and its end.
#[test]
fn r1_2_a_long_cycle_is_one_sentence() {
    let cards: Vec<Card> = (1..=500)
        .map(|number| {
            let next = (number % 500 + 1).to_string();
            card(&number.to_string(), "x", "To Do", &[&next])
        })
        .collect();
    let told = told(&cards);
    assert_eq!(told.len(), 1);
    assert!(told[0].ends_with("T-40 → (460 more) → T-1"), "{}", told[0]);
}

/// D4, B5.1: what the dispatcher would not start is not called ready.
#[test]
fn r1_1_ready_is_what_could_be_started() {
    let cards = [
        card("1", "a", "To Do", &[]),
        card("2", "b", "Queued", &[]),
        card("3", "c", "Blocked", &[]),
        card("4", "d", "In Progress", &[]),
        card("5", "e", "To Do", &[]),
        card("5.1", "f", "To Do", &[]).part_of("5"),
        card("6", "g", "Queued", &[]).labels(&["tier:complex"]),
        card("6.1", "h", "Done", &[]).part_of("6"),
        card("7", "i", "Queued", &[]),
        card("7.1", "j", "Done", &[]).part_of("7"),
        card("8", "k", "To Do", &["3"]),
    ];
    let graph = graph(&cards);
    let ready = graph.nodes.iter().filter(|node| node.ready).map(|node| node.id.to_string());
    // T-6 has a branch of its own to finish, T-7 follows its subtasks.
    assert_eq!(ready.collect::<Vec<_>>(), ["T-1", "T-2", "T-5.1", "T-6"]);
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
