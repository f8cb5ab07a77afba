//! B3.1: every edit of ours is, byte for byte, the edit of the real board program, or it is refused.

use std::fs;

use camino::Utf8Path;
use dispatch_core::task::Checklist;
use dispatch_core::task_edit::{self, Edit};
use dispatch_core::worker_edit::Section;
use dispatch_testkit::programs::{self, Peer};

use crate::support::{backlog, recorded};

/// An edit both sides can make: the program's arguments, and ours.
struct Operation {
    name: &'static str,
    args: &'static [&'static str],
    edits: fn() -> Vec<Edit>,
}

const TEXT: &str = "First line.\n\n\n```\ncode\n\nmore\n```\n- [ ] looks like an item";

/// Only the newer program keeps runs of blank lines inside code.
const CODE: &str = "Before.\n\n\n```\ncode\n\n\nmore\n```\n\n\nAfter.";

const OPERATIONS: [Operation; 9] = [
    Operation {
        name: "status",
        args: &["--status", "Blocked"],
        edits: || vec![Edit::Status("Blocked".to_owned())],
    },
    Operation {
        name: "comment",
        args: &["--comment", "Hello\n\n- there", "--comment-author", "dispatch"],
        edits: || {
            vec![Edit::Comment {
                author: Some("dispatch".to_owned()),
                body: "Hello\n\n- there".to_owned(),
            }]
        },
    },
    Operation {
        name: "status with comment",
        args: &["--status", "Queued", "--comment", "why", "--comment-author", "dispatch"],
        edits: || {
            vec![
                Edit::Status("Queued".to_owned()),
                Edit::Comment { author: Some("dispatch".to_owned()), body: "why".to_owned() },
            ]
        },
    },
    Operation {
        name: "tick",
        args: &["--check-ac", "1"],
        edits: || vec![Edit::Check { list: Checklist::Acceptance, index: 1, checked: true }],
    },
    Operation {
        name: "untick",
        args: &["--uncheck-dod", "1"],
        edits: || vec![Edit::Check { list: Checklist::DefinitionOfDone, index: 1, checked: false }],
    },
    Operation {
        name: "plan and notes",
        args: &["--plan", TEXT, "--notes=--notes"],
        edits: || {
            vec![
                Edit::Replace { section: Section::Plan, text: TEXT.to_owned() },
                Edit::Replace { section: Section::Notes, text: "--notes".to_owned() },
            ]
        },
    },
    Operation {
        name: "append",
        args: &[
            "--append-notes",
            " more \n",
            "--append-plan",
            TEXT,
            "--append-final-summary",
            "end",
        ],
        edits: || {
            vec![
                Edit::Append { section: Section::Notes, text: " more \n".to_owned() },
                Edit::Append { section: Section::Plan, text: TEXT.to_owned() },
                Edit::Append { section: Section::FinalSummary, text: "end".to_owned() },
            ]
        },
    },
    Operation {
        name: "summary",
        args: &["--final-summary", "Done.\r\n\r\nReally."],
        edits: || {
            vec![Edit::Replace {
                section: Section::FinalSummary,
                text: "Done.\r\n\r\nReally.".to_owned(),
            }]
        },
    },
    Operation {
        name: "code",
        args: &["--notes", CODE],
        edits: || vec![Edit::Replace { section: Section::Notes, text: CODE.to_owned() }],
    },
];

/// What came of the edits of one version.
#[derive(Default)]
struct Tally {
    equal: usize,
    both_refuse: usize,
    ours_refuses: Vec<String>,
    only_ours_writes: Vec<String>,
    line_endings: Vec<String>,
    differ: Vec<String>,
}

/// The minute the program wrote, which ours must write too.
fn minute(text: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with("updated_date:"))?;
    Some(line.split_once(':')?.1.trim().trim_matches('\'').to_owned())
}

/// Whether the minute turned between the two dates the program wrote.
fn minute_turned(original: &[u8], theirs: &str) -> bool {
    let original = String::from_utf8_lossy(original);
    let new = theirs.lines().filter_map(|line| line.strip_prefix("created: "));
    let updated = minute(theirs);
    new.filter(|date| !original.contains(date)).any(|date| Some(date) != updated.as_deref())
}

fn compare(program: &Utf8Path, version: &str, pick: impl Fn(usize, usize) -> bool) -> Tally {
    let mut tally = Tally::default();
    for native in [false, true] {
        let board = recorded(version, native);
        for (at, (name, id, path)) in board.cases.iter().enumerate() {
            let original = fs::read(path).unwrap();
            for (number, operation) in OPERATIONS.iter().enumerate() {
                if !pick(at, number) {
                    continue;
                }
                let label = format!("{version}/{name}: {}", operation.name);
                fs::write(path, &original).unwrap();
                let args: Vec<&str> = ["task", "edit", id]
                    .into_iter()
                    .chain(operation.args.iter().copied())
                    .collect();
                let (mut ok, mut words) = backlog(program, &board.root, &args);
                let mut theirs = fs::read_to_string(path).unwrap();
                if minute_turned(&original, &theirs) {
                    fs::write(path, &original).unwrap();
                    (ok, words) = backlog(program, &board.root, &args);
                    theirs = fs::read_to_string(path).unwrap();
                }
                let now = minute(&theirs).unwrap_or_else(|| "2026-01-01 00:00".to_owned());
                let ours = task_edit::apply(&original, &(operation.edits)(), &now);
                fs::write(path, &original).unwrap();
                match ours {
                    Ok(edited) => {
                        let ours = edited.map_or(original.clone(), |edited| edited.bytes);
                        let ours = String::from_utf8(ours).unwrap();
                        // The older program loses due dates at every edit; ours keeps them.
                        let ours = if version == "1.50.1" { without_due_date(&ours) } else { ours };
                        if !ok {
                            tally.only_ours_writes.push(format!("{label}: {}", words.trim()));
                        } else if ours == theirs {
                            tally.equal += 1;
                        } else if ours.replace("\r\n", "\n") == theirs.replace("\r\n", "\n") {
                            tally.line_endings.push(label);
                        } else {
                            let lines: Vec<String> = similar_lines(&theirs, &ours);
                            tally.differ.push(format!("{label}\n{}", lines.join("\n")));
                        }
                    }
                    Err(_) if !ok => tally.both_refuse += 1,
                    Err(error) => tally.ours_refuses.push(format!("{label}: {error}")),
                }
            }
        }
    }
    tally
}

fn without_due_date(text: &str) -> String {
    text.split_inclusive('\n').filter(|line| !line.starts_with("due_date:")).collect()
}

/// The lines in which two texts differ.
fn similar_lines(theirs: &str, ours: &str) -> Vec<String> {
    let (theirs, ours): (Vec<&str>, Vec<&str>) =
        (theirs.split('\n').collect(), ours.split('\n').collect());
    let first = theirs.iter().zip(&ours).take_while(|(a, b)| a == b).count();
    let show = |name: &str, lines: &[&str]| {
        format!(
            "  {name}, from line {}: {:?}",
            first + 1,
            &lines[first..lines.len().min(first + 6)]
        )
    };
    vec![show("theirs", &theirs), show("ours", &ours)]
}

fn report(version: &str, tally: &Tally) {
    println!(
        "{version}: {} edits equal byte for byte, {} refused by both, {} refused by ours alone, {} made by ours alone, \
         {} equal but for line endings, {} differ",
        tally.equal,
        tally.both_refuse,
        tally.ours_refuses.len(),
        tally.only_ours_writes.len(),
        tally.line_endings.len(),
        tally.differ.len(),
    );
    for line in tally.ours_refuses.iter().chain(&tally.only_ours_writes).chain(&tally.line_endings)
    {
        println!("  {line}");
    }
}

/// All operations on all cases when `DISPATCH_BOARD_FULL` is set; else every case once, with a different operation each.
fn pick(at: usize, number: usize) -> bool {
    std::env::var_os("DISPATCH_BOARD_FULL").is_some() || at % OPERATIONS.len() == number
}

#[test]
fn b3_1_native_edits_equal_those_of_the_pinned_program() {
    let Some(program) = programs::find(Peer::Backlog) else { return };
    let tally = compare(&program, "1.52.0", pick);
    report("1.52.0", &tally);
    assert!(tally.differ.is_empty(), "{}", tally.differ.join("\n\n"));
}

#[test]
fn b3_1_native_edits_equal_those_of_the_oldest_supported_program() {
    let Some(program) = programs::find(Peer::OldBacklog) else { return };
    let tally = compare(&program, "1.50.1", |at, number| {
        OPERATIONS[number].name != "code" && pick(at, number)
    });
    report("1.50.1", &tally);
    assert!(tally.differ.is_empty(), "{}", tally.differ.join("\n\n"));
}
