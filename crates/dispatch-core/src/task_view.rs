//! The board program's plain view of one task (B2.3), for tools that have nothing better.
//!
//! **A plain view can be forged by the text of the task**: titles and labels may hold line feeds, and every text is
//! printed as it is, so that a description can print whole sections. Nothing in the product decides by a plain view.
//! What is read from one comes with the reasons for which it may be wrong; an empty list of reasons is no proof.

use std::collections::BTreeMap;

use thiserror::Error;

use crate::board_config::Priorities;
use crate::id::{TaskId, TaskIdError};
use crate::task::{ChecklistItem, Comment, Task};
use crate::task_file::date::shown_date;
use crate::task_file::{TaskParts, markers};

/// A task as a plain view shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskView {
    /// The task.
    pub task: Task,
    /// Why parts of it may be wrong.
    pub ambiguities: Vec<String>,
}

/// Why a text is no plain view.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TaskViewError {
    /// There is no line `Task <id> - <title>` above a rule.
    #[error("it has no line `Task <id> - <title>` above a rule of `=`")]
    NoTitle,
    /// The id is none.
    #[error("its id cannot be read")]
    Id(#[source] TaskIdError),
}

const RULE: &str = "--------------------------------------------------";
const TITLE_RULE: &str = "==================================================";

/// The lines of the header in the order in which they are printed.
const KEYS: [&str; 17] = [
    "Status",
    "Priority",
    "Type",
    "Project",
    "Ordinal",
    "Assignee",
    "Reporter",
    "Created",
    "Updated",
    "Due",
    "Labels",
    "Milestone",
    "Parent",
    "Dependencies",
    "References",
    "Documentation",
    "Modified files",
];

/// The sections in the order in which they are printed.
const SECTIONS: [&str; 8] = [
    "Dependency Graph",
    "Description",
    "Acceptance Criteria",
    "Definition of Done",
    "Implementation Plan",
    "Implementation Notes",
    "Comments",
    "Final Summary",
];

/// Reads `task view <id> --plain`.
pub fn parse(text: &str, priorities: &Priorities) -> Result<TaskView, TaskViewError> {
    let lines: Vec<&str> = text.lines().collect();
    let mut view = Reader { lines: &lines, at: 0, doubts: Vec::new() };
    let (id, title) = view.title()?;
    let header = view.header(&id);
    let sections = view.sections();
    let get = |name: &str| sections.get(name).map(|lines| prose(lines)).unwrap_or_default();
    let (notes_modified, plan, notes) =
        view.modified_files(get("Implementation Plan"), get("Implementation Notes"));
    let graph = sections.get("Dependency Graph").map(|lines| direct_dependencies(lines));
    let comments = sections.get("Comments").map(|lines| comments(lines)).unwrap_or_default();
    let items = |name: &str| sections.get(name).map(|lines| items(lines)).unwrap_or_default();
    let description = Some(get("Description")).filter(|text| text != "No description provided");
    let listed = |key: &str| header.get(key).map(|value| split_list(value)).unwrap_or_default();
    let date =
        |key: &str| header.get(key).and_then(|value| shown_date(value.trim_end_matches(" (UTC)")));
    let parts = TaskParts {
        title,
        status: header.get("Status").map(|value| without_icon(value)).unwrap_or_default(),
        labels: listed("Labels"),
        priority: header.get("Priority").cloned(),
        created: date("Created"),
        updated: date("Updated"),
        parent: header
            .get("Parent")
            .and_then(|value| value.split(" - ").next())
            .filter(|text| TaskId::parse(text).is_ok())
            .map(str::to_owned),
        dependencies: graph.unwrap_or_else(|| listed("Dependencies")),
        modified_files: header
            .get("Modified files")
            .map_or(notes_modified, |value| split_list(value)),
        acceptance: items("Acceptance Criteria"),
        definition_of_done: items("Definition of Done"),
        comments,
        description: description.unwrap_or_default(),
        plan,
        notes,
        final_summary: get("Final Summary"),
        unknown_keys: BTreeMap::new(),
        id,
    };
    view.doubt_texts(
        &parts,
        &sections,
        header.get("Created").is_some_and(|value| value.ends_with(" (UTC)")),
    );
    let mut ambiguities = view.doubts;
    ambiguities.sort();
    ambiguities.dedup();
    let task = parts.into_task(priorities).map_err(|_| TaskViewError::NoTitle)?;
    Ok(TaskView { task, ambiguities })
}

struct Reader<'a> {
    lines: &'a [&'a str],
    at: usize,
    doubts: Vec<String>,
}

type Sections<'a> = BTreeMap<&'static str, Vec<&'a str>>;

impl<'a> Reader<'a> {
    fn doubt(&mut self, why: impl Into<String>) {
        self.doubts.push(why.into());
    }

    fn title(&mut self) -> Result<(TaskId, String), TaskViewError> {
        let rule =
            self.lines.iter().position(|line| *line == TITLE_RULE).ok_or(TaskViewError::NoTitle)?;
        let first = self.lines[..rule]
            .iter()
            .position(|line| line.starts_with("Task "))
            .ok_or(TaskViewError::NoTitle)?;
        let (id, title) =
            self.lines[first]["Task ".len()..].split_once(" - ").ok_or(TaskViewError::NoTitle)?;
        let mut title = title.to_owned();
        if rule > first + 1 {
            self.doubt("the title holds line feeds, which can imitate the lines below it");
            title = std::iter::once(title.as_str())
                .chain(self.lines[first + 1..rule].iter().copied())
                .collect::<Vec<_>>()
                .join("\n");
        }
        self.at = rule + 1;
        Ok((TaskId::parse(id).map_err(TaskViewError::Id)?, title))
    }

    fn header(&mut self, id: &TaskId) -> BTreeMap<&'static str, String> {
        let mut found: BTreeMap<&'static str, String> = BTreeMap::new();
        let mut last = 0;
        while self.lines.get(self.at).is_some_and(|line| line.is_empty()) {
            self.at += 1;
        }
        while let Some(line) = self.lines.get(self.at).filter(|line| !line.is_empty()) {
            if self.section_here().is_some() {
                break;
            }
            self.at += 1;
            let known = KEYS.iter().position(|key| {
                line.strip_prefix(key).is_some_and(|rest| rest == ":" || rest.starts_with(": "))
            });
            match known {
                Some(place) if place + 1 > last => {
                    last = place + 1;
                    let value = line[KEYS[place].len() + 1..].strip_prefix(' ').unwrap_or_default();
                    found.insert(KEYS[place], value.to_owned());
                }
                Some(_) => self.doubt("a line of the header stands twice or out of order"),
                None if line.starts_with("Subtasks (") || line.starts_with("- ") => {}
                None => self.doubt("the header holds a line that no field prints"),
            }
        }
        if let Some(parent) = found.get("Parent") {
            let ids = parent.split_once(" - ").map(|(parent, _)| TaskId::parse(parent));
            let expected = id.dotted_parent();
            if !matches!((ids, expected), (Some(Ok(parent)), Some(expected)) if parent == expected)
            {
                self.doubt("the parent is not the one the id names");
            }
        }
        let labels = found.get("Labels").map(|value| split_list(value)).unwrap_or_default();
        if labels.len() > 1 && labels.iter().any(|label| !label.contains(':')) {
            self.doubt("labels are joined by commas, which a label can hold itself");
        }
        found
    }

    /// The section whose title and rule stand here.
    fn section_here(&self) -> Option<&'static str> {
        let title = self.lines.get(self.at)?.strip_suffix(':')?;
        let rule = self.lines.get(self.at + 1)?;
        SECTIONS.iter().copied().find(|name| *name == title && *rule == RULE)
    }

    fn sections(&mut self) -> Sections<'a> {
        let mut found: Sections<'a> = BTreeMap::new();
        let mut current: Option<&'static str> = None;
        let mut last = 0;
        while self.at < self.lines.len() {
            let Some(name) = self.section_here() else {
                if let Some(current) = current {
                    found.entry(current).or_default().push(self.lines[self.at]);
                }
                self.at += 1;
                continue;
            };
            let place = SECTIONS.iter().position(|section| *section == name).unwrap_or(0) + 1;
            if place <= last {
                self.doubt("a section stands twice or out of order");
            }
            last = last.max(place);
            // Of a section that stands twice the last one is kept: what comes later was printed by the program.
            found.insert(name, Vec::new());
            current = Some(name);
            self.at += 2;
        }
        found
    }

    /// The newest version prints the modified files below the last text section.
    fn modified_files(&mut self, plan: String, notes: String) -> (Vec<String>, String, String) {
        let cut = |text: &str| {
            let (before, last) = text.rsplit_once("\n\n").unwrap_or(("", text));
            let files = last.strip_prefix("Modified files: ")?;
            (!files.contains('\n')).then(|| (split_list(files), before.trim_end().to_owned()))
        };
        if let Some((files, notes)) = cut(&notes) {
            self.doubt("a line of modified files below the notes may be part of the notes");
            return (files, plan, notes);
        }
        if let Some((files, plan)) = cut(&plan).filter(|_| notes.is_empty()) {
            self.doubt("a line of modified files below the plan may be part of the plan");
            return (files, plan, notes);
        }
        (Vec::new(), plan, notes)
    }

    fn doubt_texts(&mut self, parts: &TaskParts, sections: &Sections<'_>, newer: bool) {
        let free = ["Implementation Plan", "Implementation Notes", "Comments", "Final Summary"];
        if free.iter().filter(|name| sections.contains_key(*name)).count() > 1 {
            self.doubt("a text can imitate the sections that follow it");
        }
        if parts.comments.len() > 1 {
            self.doubt("a comment can imitate the comments that follow it");
        }
        if !newer && !parts.acceptance.is_empty() {
            self.doubt("versions before 1.50 count criteria outside their own section");
        }
        let texts = [&parts.description, &parts.plan, &parts.notes, &parts.final_summary];
        if texts.iter().any(|text| !markers(text).is_empty()) {
            self.doubt("a text holds the board's own markers");
        }
    }
}

fn prose(lines: &[&str]) -> String {
    lines.join("\n").trim().to_owned()
}

fn split_list(value: &str) -> Vec<String> {
    value.split(", ").filter(|item| !item.is_empty()).map(str::to_owned).collect()
}

/// A status without the icon in front of it.
fn without_icon(value: &str) -> String {
    match value.split_once(' ') {
        Some((icon, rest)) if icon.chars().count() == 1 && !icon.is_ascii() => rest.to_owned(),
        _ => value.to_owned(),
    }
}

fn items(lines: &[&str]) -> Vec<ChecklistItem> {
    lines
        .iter()
        .filter_map(|line| {
            let rest = line.strip_prefix("- [")?;
            let checked = match rest.as_bytes().first()? {
                b'x' => true,
                b' ' => false,
                _ => return None,
            };
            let (index, text) = rest[1..].strip_prefix("] #")?.split_once(' ')?;
            Some(ChecklistItem { index: index.parse().ok()?, checked, text: text.to_owned() })
        })
        .collect()
}

/// The rows of the graph that start in the first column, between `Depends on` and `Dependents`.
fn direct_dependencies(lines: &[&str]) -> Vec<String> {
    lines
        .iter()
        .skip_while(|line| !line.starts_with("Depends on ("))
        .skip(1)
        .take_while(|line| !line.starts_with("Dependents (") && !line.is_empty())
        .filter_map(|line| line.strip_prefix("├─ ").or_else(|| line.strip_prefix("└─ ")))
        .map(|row| row.split(" - ").next().unwrap_or(row).to_owned())
        .collect()
}

fn comments(lines: &[&str]) -> Vec<Comment> {
    let mut found: Vec<Comment> = Vec::new();
    let mut body: Vec<&str> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let separated = at == 0 || lines[at - 1].is_empty();
        match comment_header(line).filter(|_| separated) {
            Some(header) => {
                finish(&mut found, &mut body);
                found.push(header);
            }
            None => body.push(line),
        }
    }
    finish(&mut found, &mut body);
    found
}

fn finish(found: &mut [Comment], body: &mut Vec<&str>) {
    if let Some(comment) = found.last_mut() {
        comment.body = prose(body);
    }
    body.clear();
}

/// `#<n> - <author> - <date>`, of which author and date may be missing.
fn comment_header(line: &str) -> Option<Comment> {
    let mut parts = line.strip_prefix('#')?.split(" - ");
    let index = parts.next()?.parse().ok()?;
    let mut rest: Vec<&str> = parts.collect();
    let is_date =
        |text: &&str| text.as_bytes().first().is_some_and(u8::is_ascii_digit) && text.contains('-');
    let created =
        rest.last().filter(|text| is_date(text)).map(|text| text.trim_end_matches(" (UTC)"));
    let created = created.and_then(shown_date);
    if created.is_some() {
        rest.pop();
    }
    let author = Some(rest.join(" - ")).filter(|author| !author.is_empty());
    Some(Comment { index, author, created, body: String::new() })
}
