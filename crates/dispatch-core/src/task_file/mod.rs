//! One task file of the board, from bytes to a [`Task`] (B2.1).
//!
//! The file is read the way the board program reads it, and refused where the program would run it, lose part of it or
//! guess. What can be read but is not as it should be comes back as [`Remark`]s beside the task.

pub(crate) mod checklist;
mod command;
pub(crate) mod comments;
pub(crate) mod date;
pub(crate) mod header;
pub(crate) mod section;

use std::collections::BTreeMap;

use thiserror::Error;

pub use crate::board_config::Priorities;
use crate::id::TaskId;
use crate::js_text;
use crate::status::Status;
use crate::task::{Checklist, ChecklistItem, Comment, DeclaredFile, Task};
use crate::task_text;
use crate::triage::read_answer;
pub(crate) use header::Header;
use section::Section;
pub(crate) use section::markers;

/// The largest task file that is read, in bytes, and so the largest that is written.
pub const MAX_FILE_BYTES: u64 = 16 << 20;

/// The most headings and section markers a task may have. What they open and close is found by comparing them with each
/// other, so the time that takes grows with the square of their number.
const MAX_MARKS: usize = 2_000;

/// Why a file is no task.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{cause}")]
pub struct TaskFileError {
    /// How bad it is.
    pub class: FaultClass,
    /// The line, from 1.
    pub line: Option<usize>,
    /// What is wrong, as a sentence for a person.
    pub cause: String,
}

/// How bad the fault of a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultClass {
    /// It cannot be read.
    Unreadable,
    /// The board program would run something it holds (B2.7).
    Hostile,
}

/// A task file that could be read.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskFile {
    /// The task.
    pub task: Task,
    /// What a person should look at.
    pub remarks: Vec<Remark>,
    /// What the board program would run of it at a status change (B2.7).
    pub hostile: Option<TaskFileError>,
}

/// Something about a readable file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// Whether a write under way looks like this (B2.9); such a file is read again.
    pub torn: bool,
    /// The line, from 1.
    pub line: usize,
    /// What is odd, as a sentence for a person.
    pub cause: String,
}

impl TaskFile {
    /// Whether the file looks as if it was read while it was being written.
    pub fn looks_torn(&self) -> bool {
        self.remarks.iter().any(|remark| remark.torn)
    }
}

/// Whether the board program would run a file that begins with these bytes (B2.7); `None` when it would not.
///
/// This looks at every Markdown file of the board, task or not.
pub fn hostile_start(bytes: &[u8]) -> Option<TaskFileError> {
    let text = String::from_utf8_lossy(bytes);
    match header::split(&text) {
        Err(error) if error.class == FaultClass::Hostile => Some(error),
        _ => None,
    }
}

/// Reads a task file; one that carries a command of its own is refused.
pub fn parse(bytes: &[u8], priorities: &Priorities) -> Result<TaskFile, TaskFileError> {
    let mut file = parse_though_hostile(bytes, priorities)?;
    match file.hostile.take() {
        Some(hostile) => Err(hostile),
        None => Ok(file),
    }
}

/// Reads a task file also when it carries a command of its own, for those who only read and write it: nothing here runs
/// anything. What would be run as soon as the file is read by others is refused all the same.
pub fn parse_though_hostile(
    bytes: &[u8],
    priorities: &Priorities,
) -> Result<TaskFile, TaskFileError> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            if let Some(hostile) = hostile_start(bytes) {
                return Err(hostile);
            }
            let line = bytes[..error.valid_up_to()].split(|byte| *byte == b'\n').count();
            return Err(unreadable_at(line, "it is not UTF-8"));
        }
    };
    if text.trim().is_empty() {
        return Err(unreadable("it is empty"));
    }
    let parts = header::split(text)?;
    let mut header = header::parse(&parts.header)?;
    let hostile = header.hostile.take();
    // A file that is no task to us may still be one to the board program.
    let refused = |fault| hostile.clone().unwrap_or(fault);
    let id = own_id(&header).map_err(refused)?;
    let body = Body::of(&parts);
    body.check_marks().map_err(refused)?;
    let sections = body.sections();
    let task = task(id, header, priorities, &body, sections).map_err(refused)?;
    Ok(TaskFile { remarks: body.remarks(&task), task, hostile })
}

/// A fault of the file as a whole, or of a value whose line is not kept: it is told at the first line.
fn unreadable(cause: impl Into<String>) -> TaskFileError {
    unreadable_at(1, cause)
}

fn unreadable_at(line: usize, cause: impl Into<String>) -> TaskFileError {
    TaskFileError { class: FaultClass::Unreadable, line: Some(line), cause: cause.into() }
}

fn own_id(header: &header::Header) -> Result<TaskId, TaskFileError> {
    if header.id.trim().is_empty() {
        return Err(unreadable("its front matter has no `id`"));
    }
    TaskId::parse(header.id.trim()).map_err(|error| unreadable(error.to_string()))
}

/// The body of a file with line feeds only and no white space around it.
struct Body {
    text: String,
    line: usize,
    /// Where its line feeds are.
    feeds: Vec<usize>,
}

/// The four texts of a task.
struct Sections {
    description: String,
    plan: String,
    notes: String,
    final_summary: String,
}

impl Body {
    fn of(parts: &header::Split<'_>) -> Self {
        let blanks = parts.body.len() - js_text::trim_start(parts.body).len();
        let line = parts.body_line + parts.body[..blanks].matches('\n').count();
        let text = js_text::to_lf(js_text::trim(parts.body));
        let feeds = memchr::memchr_iter(b'\n', text.as_bytes()).collect();
        Self { text, line, feeds }
    }

    fn check_marks(&self) -> Result<(), TaskFileError> {
        let headings = js_text::lines(&self.text).filter(|(_, line)| line.starts_with("## "));
        let marks = section::markers(&self.text).len() + headings.count();
        if marks <= MAX_MARKS {
            return Ok(());
        }
        let cause = format!(
            "it has {marks} headings and section markers, and one with more than {MAX_MARKS} is not read"
        );
        Err(unreadable_at(self.line, cause))
    }

    fn sections(&self) -> Sections {
        let ranges = section::section_ranges(&self.text);
        let text =
            |section| section::section_text_among(&self.text, section, &ranges).unwrap_or_default();
        Sections {
            description: text(Section::Description),
            plan: text(Section::Plan),
            notes: text(Section::Notes),
            final_summary: text(Section::FinalSummary),
        }
    }

    fn line_of(&self, at: usize) -> usize {
        self.line + self.feeds.partition_point(|feed| *feed < at)
    }

    fn remarks(&self, task: &Task) -> Vec<Remark> {
        let mut remarks = self.marker_remarks();
        for (list, items) in [
            (Checklist::Acceptance, &task.acceptance),
            (Checklist::DefinitionOfDone, &task.definition_of_done),
        ] {
            let shape = checklist::shape(list);
            let found = checklist::checklist_markers(&self.text, &shape);
            if let Some((fault, at)) = found.fault {
                remarks.push(Remark {
                    torn: true,
                    line: self.line_of(at),
                    cause: format!(
                        "the markers of `{}` {}: none of its items counts",
                        shape.title,
                        fault.describe()
                    ),
                });
            }
            remarks.extend(self.lookalikes(&shape, &found, items.is_empty()));
        }
        remarks.sort_by(|a, b| (a.line, &a.cause).cmp(&(b.line, &b.cause)));
        remarks.dedup();
        remarks
    }

    fn marker_remarks(&self) -> Vec<Remark> {
        let markers = section::markers(&self.text);
        let mut remarks = Vec::new();
        let mut open: Vec<&section::Marker<'_>> = Vec::new();
        for marker in &markers {
            let partner = open.iter().rposition(|begin| begin.family == marker.family);
            match (marker.begins, partner) {
                (true, _) => open.push(marker),
                (false, Some(at)) => {
                    open.remove(at);
                }
                (false, None) => {
                    remarks.push(self.unbalanced(marker, "ends a section that has not begun"));
                }
            }
        }
        remarks.extend(
            open.into_iter()
                .map(|marker| self.unbalanced(marker, "begins a section that does not end")),
        );
        if let Some(last) = markers.last() {
            let tail = &self.text[last.end..];
            let blanks = tail.len() - js_text::trim_start(tail).len();
            if blanks < tail.len() && !last.begins {
                remarks.push(Remark {
                    torn: true,
                    line: self.line_of(last.end + blanks),
                    cause: "there is text after the last section".to_owned(),
                });
            }
        }
        remarks
    }

    fn unbalanced(&self, marker: &section::Marker<'_>, what: &str) -> Remark {
        Remark {
            torn: true,
            line: self.line_of(marker.start),
            cause: format!("the marker `{}` {what}", &self.text[marker.start..marker.end]),
        }
    }

    /// Lines that look like checklist items to a person and are none to the board.
    fn lookalikes(
        &self,
        shape: &checklist::ChecklistShape,
        found: &checklist::ChecklistMarkers,
        empty: bool,
    ) -> Vec<Remark> {
        let mut remarks = Vec::new();
        for list in checklist::list_sections(&self.text, shape, found, false) {
            if list.marked && !list.has_items && empty {
                remarks.push(Remark {
                    torn: false,
                    line: self.line_of(list.whole.start),
                    cause: format!("`{}` has markers but no item", shape.title),
                });
            }
            let start = list.body.start;
            for (at, line) in js_text::lines(&self.text[list.body.clone()]) {
                let bare = line.trim_start();
                let looks = ["- [", "* [", "+ ["].iter().any(|mark| bare.starts_with(mark))
                    && bare.as_bytes().get(4) == Some(&b']')
                    && matches!(bare.as_bytes()[3], b' ' | b'x' | b'X');
                if looks && checklist::item(line).is_none() && !section::within(at, &list.hidden) {
                    remarks.push(Remark {
                        torn: false,
                        line: self.line_of(start + at),
                        cause: format!(
                            "this line looks like an item of `{}` but the board does not count it",
                            shape.title
                        ),
                    });
                }
            }
        }
        remarks
    }
}

fn task(
    id: TaskId,
    header: header::Header,
    priorities: &Priorities,
    body: &Body,
    sections: Sections,
) -> Result<Task, TaskFileError> {
    let parts = TaskParts {
        id,
        title: header.title,
        status: header.status,
        labels: header.labels,
        priority: header.priority,
        created: date::shown_date(&header.created_date),
        updated: header.updated_date.as_deref().and_then(date::shown_date),
        parent: header.parent_task_id,
        dependencies: header.dependencies,
        modified_files: header.modified_files,
        acceptance: checklist::checklist(&body.text, Checklist::Acceptance),
        definition_of_done: checklist::checklist(&body.text, Checklist::DefinitionOfDone),
        comments: comments::all(&body.text).into_iter().map(comments::Written::shown).collect(),
        description: sections.description,
        plan: sections.plan,
        notes: sections.notes,
        final_summary: sections.final_summary,
        unknown_keys: header.unknown,
    };
    parts.into_task(priorities).map_err(unreadable)
}

/// What each of the board's formats says about a task, before it becomes one.
#[derive(Debug)]
pub(crate) struct TaskParts {
    pub(crate) id: TaskId,
    pub(crate) title: String,
    pub(crate) status: String,
    pub(crate) labels: Vec<String>,
    pub(crate) priority: Option<String>,
    pub(crate) created: Option<String>,
    pub(crate) updated: Option<String>,
    pub(crate) parent: Option<String>,
    pub(crate) dependencies: Vec<String>,
    pub(crate) modified_files: Vec<String>,
    pub(crate) acceptance: Vec<ChecklistItem>,
    pub(crate) definition_of_done: Vec<ChecklistItem>,
    pub(crate) comments: Vec<Comment>,
    pub(crate) description: String,
    pub(crate) plan: String,
    pub(crate) notes: String,
    pub(crate) final_summary: String,
    pub(crate) unknown_keys: BTreeMap<String, String>,
}

impl TaskParts {
    /// The task; the cause when its parent is no task id.
    pub(crate) fn into_task(self, priorities: &Priorities) -> Result<Task, String> {
        let near = |text: &str| TaskId::parse_near(text, &self.id);
        let parent = self
            .parent
            .as_deref()
            .map(|text| near(text).map_err(|error| format!("`parent_task_id`: {error}")))
            .transpose()?;
        let (mut dependencies, mut foreign_dependencies) = (Vec::new(), Vec::new());
        for text in self.dependencies {
            match near(&text) {
                Ok(id) => dependencies.push(id),
                Err(_) => foreign_dependencies.push(text),
            }
        }
        let prose = [self.description.as_str(), self.plan.as_str()];
        let mut declared_files = task_text::declared_files(&prose);
        for text in self.modified_files {
            if !declared_files.iter().any(|known| known.text == text) {
                declared_files.push(DeclaredFile { text, shared: false });
            }
        }
        Ok(Task {
            title: self.title,
            status: Status::parse(&self.status),
            tier: read_answer(&self.labels, "tier"),
            lane: read_answer(&self.labels, "lane"),
            path: read_answer(&self.labels, "path"),
            labels: self.labels,
            priority: self.priority.as_deref().map_or(0, |text| priorities.rank(text)),
            created: self.created,
            updated: self.updated,
            parent,
            children: Vec::new(),
            dependencies,
            foreign_dependencies,
            declared_files,
            test_command: task_text::one_line(&prose, "Test command:"),
            branch: task_text::one_line(&prose, "Branch:"),
            acceptance: self.acceptance,
            definition_of_done: self.definition_of_done,
            comments: self.comments,
            description: self.description,
            plan: self.plan,
            notes: self.notes,
            final_summary: self.final_summary,
            unknown_keys: self.unknown_keys,
            id: self.id,
        })
    }
}
