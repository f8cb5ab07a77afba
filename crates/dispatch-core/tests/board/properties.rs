//! Laws of the board's parsers and of the pure edit, over texts made to mislead.

use camino::Utf8Path;
use dispatch_core::board::{Found, assemble};
use dispatch_core::board_config::{BoardConfig, Priorities};
use dispatch_core::task::{Checklist, Task};
use dispatch_core::task_edit::{self, Edit};
use dispatch_core::worker_edit::Section;
use dispatch_core::{task_file, task_json, task_view};
use proptest::prelude::*;

use crate::any_bytes;

/// Lines that mean something to the board, or nearly.
const LINES: [&str; 40] = [
    "",
    " ",
    "---",
    "--- ",
    "---js",
    "text",
    "- [ ] #1 item",
    "- [x] #2 item",
    "- [X] item",
    "  - [ ] nested",
    "* [ ] star",
    "## Description",
    "## Acceptance Criteria",
    "## Definition of Done",
    "## Implementation Plan",
    "## Implementation Notes",
    "## Comments",
    "## Final Summary",
    "## Notes",
    "### Acceptance Criteria",
    "<!-- AC:BEGIN -->",
    "<!-- AC:END -->",
    "<!-- DOD:BEGIN -->",
    "<!-- DOD:END -->",
    "<!-- COMMENTS:BEGIN -->",
    "<!-- COMMENTS:END -->",
    "<!-- COMMENT:BEGIN -->",
    "<!-- SECTION:PLAN:BEGIN -->",
    "<!-- SECTION:PLAN:END -->",
    "<!-- SECTION:NOTES:BEGIN -->",
    "<!-- SECTION:NOTES:END -->",
    "<!-- SECTION:FINAL_SUMMARY:BEGIN -->",
    "<!-- SECTION:FINAL_SUMMARY:END -->",
    "author: @lead",
    "created: 2026-01-01 00:00",
    "status: Done",
    "```",
    "~~~~",
    "id: T-9\u{2028}<!-- AC:BEGIN -->\r- [x] #1 forged",
    "\u{feff}title: \"x",
];

/// Words of a worker's request, or nearly.
const WORDS: [&str; 14] = [
    "T-1",
    "t-01",
    "T-2",
    "--view",
    "--notes",
    "--notes=x",
    "--plan",
    "-",
    "--check-ac",
    "1",
    "1,2",
    "--check-dod=1",
    "--status=Done",
    "--comment",
];

fn arb_lines(most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(prop_oneof![4 => prop::sample::select(LINES.to_vec()).prop_map(str::to_owned), 1 => ".{0,20}"], 0..most)
        .prop_map(|lines| lines.join("\n"))
}

fn arb_header() -> impl Strategy<Value = String> {
    let keys = prop::sample::select(vec![
        "id: T-1",
        "id: \"T-1\"",
        "title: x",
        "title: 'it''s'",
        "title: >-\n  long\n  text",
        "title: \"\\u263a\\n\"",
        "status: To Do",
        "status: {a: 1}",
        "labels: [a, 'b, c']",
        "labels:\n  - x: y",
        "labels: x",
        "assignee: @me",
        "assignee: [@a, \"b\"]",
        "due_date: 2026-02-30",
        "due_date: 2026-02-28T10:00Z",
        "created_date: 2026-01-01",
        "ordinal: 1e3",
        "ordinal: abc",
        "parent_task_id: 3",
        "dependencies: [T-2, 4, nonsense]",
        "onStatusChange: x",
        "<<: *x",
        "a: &x 1",
        "custom: [1, {b: 2}]",
        "priority: HIGH",
        "---x",
        "# comment",
        "? [onStatusChange]\n: x",
    ]);
    prop::collection::vec(keys, 0..8).prop_map(|keys| keys.join("\n"))
}

fn arb_file() -> impl Strategy<Value = Vec<u8>> {
    let whole = (
        arb_header(),
        arb_lines(24),
        any::<bool>(),
        prop::sample::select(vec!["---", "---\r", "--- js", "\u{feff}---"]),
    )
        .prop_map(|(header, body, crlf, open)| {
            let text = format!("{open}\n{header}\n---\n\n{body}");
            if crlf { text.replace('\n', "\r\n") } else { text }
        });
    prop_oneof![
        6 => whole.prop_map(String::into_bytes),
        2 => arb_lines(12).prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..200),
    ]
}

fn arb_edit() -> impl Strategy<Value = Edit> {
    let section =
        || prop::sample::select(vec![Section::Plan, Section::Notes, Section::FinalSummary]);
    let list = prop::sample::select(vec![Checklist::Acceptance, Checklist::DefinitionOfDone]);
    prop_oneof![
        Just(Edit::Status("Blocked".to_owned())),
        arb_lines(6).prop_map(|body| Edit::Comment {
            author: Some("a".to_owned()),
            body: task_edit::comment_text(&body)
        }),
        (list, 1_u32..4, any::<bool>()).prop_map(|(list, index, checked)| Edit::Check {
            list,
            index,
            checked
        }),
        (section(), arb_lines(6)).prop_map(|(section, text)| Edit::Replace { section, text }),
        (section(), arb_lines(6)).prop_map(|(section, text)| Edit::Append { section, text }),
    ]
}

/// A whole task with this description.
fn with_description(text: &str) -> String {
    format!(
        "---\nid: T-1\ntitle: x\nstatus: Queued\nlabels: [a]\ndependencies: [T-2]\n---\n\n## Description\n\n<!-- SECTION:DESCRIPTION:BEGIN -->\n{text}\n<!-- SECTION:DESCRIPTION:END -->\n\n## Acceptance Criteria\n<!-- AC:BEGIN -->\n- [ ] #1 real\n<!-- AC:END -->\n\n## Implementation Plan\n\n<!-- SECTION:PLAN:BEGIN -->\nplan\n<!-- SECTION:PLAN:END -->\n\n## Comments\n\n<!-- COMMENTS:BEGIN -->\nauthor: @a\n---\nsaid\n---\n<!-- COMMENTS:END -->\n"
    )
}

/// A text as a double-quoted YAML scalar with everything unusual escaped.
fn escaped(text: &str) -> String {
    let escape = |c: char| match c {
        ' ' | '!' | '#'..='[' | ']'..='~' => c.to_string(),
        _ => format!("\\U{:08X}", u32::from(c)),
    };
    format!("\"{}\"", text.chars().map(escape).collect::<String>())
}

/// A text without runs of blank lines, which the board squeezes.
fn squeezed(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    lines.join("\n")
}

/// Everything that prose must not change.
fn facts(task: &Task) -> impl PartialEq + std::fmt::Debug + use<> {
    (
        (
            task.id.clone(),
            task.title.clone(),
            task.status.clone(),
            task.labels.clone(),
            task.dependencies.clone(),
        ),
        (task.acceptance.clone(), task.definition_of_done.clone(), task.comments.clone()),
        (task.plan.clone(), task.notes.clone(), task.final_summary.clone()),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Q1.7: any bytes are read or refused; nothing panics, and what is refused names a cause.
    #[test]
    fn q1_7_parsing_is_total(bytes in arb_file(), edits in prop::collection::vec(arb_edit(), 0..4)) {
        let priorities = Priorities::default();
        if let Err(error) = task_file::parse(&bytes, &priorities) {
            prop_assert!(!error.cause.is_empty());
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        drop(task_json::parse(&text, &priorities));
        drop(task_view::parse(&text, &priorities));
        drop(task_file::hostile_start(&bytes));
        drop(BoardConfig::parse(&text));
        drop(task_edit::apply(&bytes, &edits, "2026-01-01 00:00"));
        let found = Found::Bytes(bytes);
        let config = BoardConfig::parse("task_prefix: T");
        let board = assemble([(Utf8Path::new("tasks/t-1 - x.md"), &found)], &config);
        prop_assert!(board.tasks.len() + board.problems.len() >= 1, "a file is a task or a problem");
    }

    /// Q1.7: what the fuzz targets look for.
    #[test]
    fn q1_7_what_is_fuzzed_holds(bytes in arb_file(), words in prop::collection::vec(prop::sample::select(WORDS.to_vec()), 0..6)) {
        any_bytes::task_file(&bytes);
        any_bytes::task_json(&bytes);
        any_bytes::task_view(&bytes);
        any_bytes::board_config(&bytes);
        any_bytes::stream(&bytes);
        any_bytes::worker_edit(&bytes);
        any_bytes::worker_edit(words.join("\n").as_bytes());
    }

    /// B2.3's counterpart: whatever a description says, short of closing its own section, it changes no other fact.
    #[test]
    fn prose_never_changes_a_fact(text in arb_lines(16)) {
        let plain = task_file::parse(with_description("plain").as_bytes(), &Priorities::default()).unwrap().task;
        let file = task_file::parse(with_description(&text).as_bytes(), &Priorities::default()).unwrap();
        prop_assert_eq!(facts(&file.task), facts(&plain));
    }

    /// An edit changes what it says and nothing else, or it is refused; what it wrote reads back.
    #[test]
    fn an_edit_changes_only_what_it_says(text in arb_lines(10), edit in arb_edit()) {
        let before = with_description(&text);
        let old = task_file::parse(before.as_bytes(), &Priorities::default()).unwrap().task;
        if let Ok(Some(edited)) = task_edit::apply(before.as_bytes(), std::slice::from_ref(&edit), "2026-01-01 00:00") {
            let new = task_file::parse(&edited.bytes, &Priorities::default()).unwrap().task;
            prop_assert_eq!((&new.id, &new.title, &new.labels, &new.dependencies), (&old.id, &old.title, &old.labels, &old.dependencies));
            match &edit {
                Edit::Status(_) => {
                    let expected = Task { status: new.status.clone(), updated: new.updated.clone(), ..old };
                    prop_assert_eq!(new, expected);
                }
                Edit::Check { .. } => prop_assert_eq!((&new.description, &new.plan, &new.comments), (&old.description, &old.plan, &old.comments)),
                Edit::Comment { body, .. } => {
                    prop_assert_eq!(new.comments.len(), old.comments.len() + 1);
                    prop_assert_eq!(squeezed(&new.comments[1].body), squeezed(body));
                    prop_assert_eq!(new.acceptance, old.acceptance);
                }
                Edit::Replace { .. } | Edit::Append { .. } => {}
            }
        }
    }

    /// BR-13: a title of any characters survives an edit of its file, and the edit of the edited file changes nothing.
    #[test]
    fn br_13_any_title_survives_an_edit(title in prop_oneof![".{1,120}", "[ -~\n]{1,200}", "( |#|:|'|\"|-|@|[a-c]|\n){1,30}", "([a-z]{1,12} ){1,30}"]) {
        let quoted = escaped(&title);
        let file = format!("---\nid: T-1\ntitle: {quoted}\nstatus: Queued\nlabels: [{quoted}]\n---\n");
        let old = task_file::parse(file.as_bytes(), &Priorities::default()).unwrap().task;
        prop_assert_eq!(&old.title, &title);
        let status = [Edit::Status("Blocked".to_owned())];
        let edited = task_edit::apply(file.as_bytes(), &status, "2026-01-01 00:00").unwrap().unwrap();
        let new = task_file::parse(&edited.bytes, &Priorities::default()).unwrap().task;
        prop_assert_eq!((&new.title, &new.labels), (&old.title, &old.labels), "{}", String::from_utf8_lossy(&edited.bytes));
        prop_assert_eq!(task_edit::apply(&edited.bytes, &status, "2026-01-02 00:00"), Ok(None));
    }

    /// B3.7: whatever a worker produced, the comment made of it is accepted and stays one comment.
    #[test]
    fn b3_7_a_comment_made_fit_is_accepted(body in prop_oneof![arb_lines(10), ".{0,200}", Just("x".repeat(40_000))]) {
        let body = task_edit::comment_text(&body);
        prop_assert!(body.len() <= 16 << 10);
        prop_assert!(!body.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
        let edit = [Edit::Comment { author: Some("dispatch".to_owned()), body: body.clone() }];
        let edited = task_edit::apply(with_description("x").as_bytes(), &edit, "2026-01-01 00:00").unwrap();
        if let Some(edited) = edited {
            let task = task_file::parse(&edited.bytes, &Priorities::default()).unwrap().task;
            prop_assert_eq!(task.comments.len(), 2);
            prop_assert_eq!(squeezed(&task.comments[1].body), squeezed(&body));
        } else {
            prop_assert!(body.is_empty());
        }
    }
}
