//! B2.1: the files reader over every recorded task file and every hazard.

use camino::Utf8Path;
use dispatch_core::board::{Found, ProblemClass, assemble};
use dispatch_core::board_config::{BoardConfig, Priorities};
use dispatch_core::task_file;

use crate::fixtures::{VERSIONS, cases, differences, facts_of, recorded};

/// B1, B2.1: the whole task model, field by field.
#[test]
fn b2_1_every_recorded_file_gives_the_recorded_facts() {
    let (mut agree, mut wrong) = (0, Vec::new());
    for case in VERSIONS.iter().flat_map(|version| cases(version)) {
        match task_file::parse(&case.bytes(), &Priorities::default()) {
            Ok(file) => {
                let found = differences(&facts_of(&file.task), &recorded(case.facts()));
                if found.is_empty() {
                    agree += 1;
                } else {
                    wrong.push(format!("{}: {}", case.name, found.join("; ")));
                }
            }
            Err(error) => wrong.push(format!("{}: {error}", case.name)),
        }
    }
    println!("recorded task files: {agree} agree, {} do not", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(agree, 310);
}

/// Every hazard ends as its recording asks: refused, read, or read again; its neighbour is always read.
#[test]
fn b2_hazards_end_in_named_problems_and_never_hide_a_neighbour() {
    let config = BoardConfig::parse("task_prefix: \"T\"");
    let neighbour =
        Found::Bytes(b"---\nid: T-1\ntitle: A good neighbour\nstatus: To Do\n---\n".to_vec());
    let (mut right, mut wrong) = (0, Vec::new());
    for case in cases("_hazards") {
        let bytes = case.bytes();
        let torn = task_file::parse(&bytes, &config.priorities).is_ok_and(|file| file.looks_torn());
        let found = Found::Bytes(bytes);
        let board = assemble(
            [
                (Utf8Path::new("tasks/t-1 - neighbour.md"), &neighbour),
                (Utf8Path::new("tasks/t-7 - hazard.md"), &found),
            ],
            &config,
        );
        let neighbour_read = board.tasks.keys().any(|id| id.as_str() == "T-1");
        let hazard_read = board.tasks.keys().any(|id| id.as_str() == "T-7");
        let named = board.problems.iter().any(|problem| {
            problem.file.as_ref().is_some_and(|file| file.as_str().contains("hazard"))
                && problem.line.is_some()
                && problem.class != ProblemClass::Note
        });
        let as_asked = match case.expected["reader_must"].as_str().unwrap() {
            "refuse" => !hazard_read && named,
            "read" => hazard_read && board.problems.is_empty(),
            "retry" => hazard_read && torn && !board.problems.is_empty(),
            other => panic!("unknown wish {other}"),
        };
        if neighbour_read && as_asked {
            right += 1;
        } else {
            wrong.push(format!("{}: {:?}", case.name, board.problems));
        }
    }
    println!("hazards: {right} end as recorded, {} do not", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(right, 17);
}
