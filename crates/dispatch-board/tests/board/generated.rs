//! B3.1, BR-13: the edits of ours and of the real program on boards that no one recorded.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_core::board_config::Priorities;
use dispatch_core::task_edit::{self, Edit};
use dispatch_core::task_file;
use dispatch_core::worker_edit::Section;
use dispatch_testkit::programs::{self, Peer};

use crate::support::backlog;
use crate::writes::place;

/// Titles that broke one tool or another.
const TITLES: [&str; 60] = [
    "$15,000 budget",
    "$1 $& $` $' $$",
    "it's",
    "say \"hi\"",
    "key: value",
    "a # b",
    "#hash first",
    "- dash",
    "@at",
    "*star*",
    "---",
    "--- x",
    "yes",
    "no",
    "on",
    "~",
    "null",
    "true",
    "1e3",
    "007",
    "0x1F",
    "2024-01-01",
    "2024-01-01 10:00:00",
    "1:20:30",
    ".5",
    ".inf",
    "<<",
    "=",
    "[list]",
    "{map}",
    "a, b",
    "a]b",
    "!tag",
    "&anchor",
    "%dir",
    "`code`",
    "|",
    ">",
    "? q",
    "trailing ",
    " leading",
    "tab\there",
    "two\nlines",
    "three\n\nlines\n",
    "\nfirst blank",
    "long word after word and so on until the line is far wider than eighty columns are",
    "longwordlongwordlongwordlongwordlongwordlongwordlongwordlongwordlongwordlongwordlongword",
    "emoji 🚀",
    "ünï ö",
    "مرحبا",
    "a\u{a0}b",
    "zero\u{200b}width",
    "line\u{2028}sep",
    "nel\u{85}x",
    "bell\u{7}",
    "back\\slash",
    "a  b",
    "end:",
    ":start",
    "x\r\ny",
];

/// A text as a double-quoted YAML scalar with everything unusual escaped.
fn escaped(text: &str) -> String {
    let escape = |c: char| match c {
        ' ' | '!' | '#'..='[' | ']'..='~' => c.to_string(),
        _ => format!("\\U{:08X}", u32::from(c)),
    };
    format!("\"{}\"", text.chars().map(escape).collect::<String>())
}

fn minute(text: &str) -> String {
    let line = text
        .lines()
        .find(|line| line.starts_with("updated_date:"))
        .expect("the program wrote a date");
    line.split_once(':').unwrap().1.trim().trim_matches('\'').to_owned()
}

fn write_tasks(dir: &Utf8Path, texts: &[String]) -> Vec<(String, Utf8PathBuf, String)> {
    texts
        .iter()
        .zip(1..)
        .map(|(text, number)| {
            let path = dir.join(format!("tasks/t-{number} - x.md"));
            let text = text.replace("id: T-0", &format!("id: T-{number}"));
            fs::write(&path, &text).unwrap();
            (format!("T-{number}"), path, text)
        })
        .collect()
}

/// BR-13: sixty awkward titles and labels, edited by one call of the real program and by ours.
#[test]
fn br_13_awkward_titles_are_written_as_the_program_writes_them() {
    let Some(program) = programs::find(Peer::Backlog) else { return };
    let place = place("");
    let texts: Vec<String> = TITLES
        .iter()
        .map(|title| {
            let quoted = escaped(title);
            format!("---\nid: T-0\ntitle: {quoted}\nstatus: To Do\nassignee: []\ncreated_date: '2026-03-01 09:15'\nlabels:\n  - {quoted}\nmilestone: {quoted}\ndependencies: []\n---\n")
        })
        .collect();
    fs::remove_file(&place.file).unwrap();
    let tasks = write_tasks(&place.root.join("backlog"), &texts);
    let ids: Vec<&str> = tasks.iter().map(|(id, _, _)| id.as_str()).collect();
    let args: Vec<&str> =
        ["task", "edit"].into_iter().chain(ids).chain(["--status", "Blocked"]).collect();
    let (ok, words) = backlog(&program, &place.root, &args);
    assert!(ok, "{words}");
    for (title, (id, path, text)) in TITLES.iter().zip(&tasks) {
        let theirs = fs::read_to_string(path).unwrap();
        let read = task_file::parse(theirs.as_bytes(), &Priorities::default()).unwrap().task;
        assert_eq!((read.title.as_str(), read.labels[0].as_str()), (*title, *title), "{id}");
        let edit = [Edit::Status("Blocked".to_owned())];
        let ours = task_edit::apply(text.as_bytes(), &edit, &minute(&theirs)).unwrap().unwrap();
        assert_eq!(String::from_utf8(ours.bytes).unwrap(), theirs, "{id} {title:?}");
    }
    println!("{} awkward titles: ours equal the program's, byte for byte", TITLES.len());
}

/// Lines a body is made of.
const LINES: [&str; 24] = [
    "",
    "",
    "text",
    "more text",
    "- [ ] #1 item",
    "- [x] #2 item",
    "- plain",
    "## Description",
    "## Acceptance Criteria",
    "## Implementation Notes",
    "## Other",
    "### Deep",
    "<!-- AC:BEGIN -->",
    "<!-- AC:END -->",
    "<!-- DOD:BEGIN -->",
    "<!-- SECTION:NOTES:BEGIN -->",
    "<!-- SECTION:NOTES:END -->",
    "<!-- SECTION:DESCRIPTION:BEGIN -->",
    "<!-- SECTION:DESCRIPTION:END -->",
    "```",
    "    code",
    "<div>",
    "1. one",
    "  two",
];

/// A body of lines picked by a small generator of its own, so that a seed is all a failure needs.
fn body(seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % 1_000).unwrap()
    };
    let mut lines: Vec<&str> = Vec::new();
    if next() % 2 == 0 {
        lines.extend([
            "## Description",
            "",
            "<!-- SECTION:DESCRIPTION:BEGIN -->",
            "real",
            "<!-- SECTION:DESCRIPTION:END -->",
            "",
        ]);
    }
    if next() % 2 == 0 {
        lines.extend([
            "## Acceptance Criteria",
            "<!-- AC:BEGIN -->",
            "- [ ] #1 real",
            "<!-- AC:END -->",
            "",
        ]);
    }
    for _ in 0..next() % 14 {
        lines.push(LINES[next() % LINES.len()]);
    }
    lines.join("\n")
}

/// Generated bodies, rewritten by the real program and by ours: equal, or refused.
#[test]
fn b3_1_generated_bodies_are_rewritten_as_the_program_rewrites_them() {
    let Some(program) = programs::find(Peer::Backlog) else { return };
    let count = std::env::var("DISPATCH_GENERATED")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(18_u64);
    let place = place("");
    let (mut equal, mut refused, mut alone, mut differ) = (0, 0, 0, Vec::new());
    for seed in 1..=count {
        let text = format!(
            "---\nid: T-1\ntitle: x\nstatus: To Do\nassignee: []\ncreated_date: '2026-03-01 09:15'\nlabels: []\ndependencies: []\n---\n\n{}\n",
            body(seed)
        );
        let (args, edits): (&[&str], Vec<Edit>) = match seed % 3 {
            0 => (
                &["--comment", "said"],
                vec![Edit::Comment { author: None, body: "said".to_owned() }],
            ),
            1 => (
                &["--notes", "noted"],
                vec![Edit::Replace { section: Section::Notes, text: "noted".to_owned() }],
            ),
            _ => (
                &["--append-plan", "planned"],
                vec![Edit::Append { section: Section::Plan, text: "planned".to_owned() }],
            ),
        };
        fs::write(&place.file, &text).unwrap();
        let args: Vec<&str> =
            ["task", "edit", "T-1"].into_iter().chain(args.iter().copied()).collect();
        let (ok, _) = backlog(&program, &place.root, &args);
        let theirs = fs::read_to_string(&place.file).unwrap();
        let now = if ok { minute(&theirs) } else { "2026-01-01 00:00".to_owned() };
        match task_edit::apply(text.as_bytes(), &edits, &now) {
            Ok(Some(ours)) if ok => {
                let ours = String::from_utf8(ours.bytes).unwrap();
                if ours == theirs {
                    equal += 1;
                } else {
                    differ.push(format!(
                        "seed {seed}\n--- before\n{text}\n--- theirs\n{theirs}\n--- ours\n{ours}"
                    ));
                }
            }
            Ok(_) => alone += 1,
            Err(_) => refused += 1,
        }
    }
    println!(
        "{count} generated bodies: {equal} equal, {refused} refused by ours, {alone} made by ours alone, {} differ",
        differ.len()
    );
    assert!(differ.is_empty(), "{}", differ.join("\n\n"));
}
