//! Title and body of a pull request (C9.2, C9.3).

use std::fmt::Write as _;

use dispatch_core::attempt::AttemptNumber;
use dispatch_core::id::TaskId;
use dispatch_core::task::{ChecklistItem, Task};

use crate::text::{code, cut_chars, cut_marked, first_entries, inert, one_line, plain};

/// The longest title we give, in characters (C9.2).
pub const TITLE_LIMIT: usize = 200;

/// The longest body a forge takes is 65,536 characters; ours stays below.
pub const BODY_LIMIT: usize = 65_535;

/// Most files that are listed before the rest is counted.
const MAX_FILES: usize = 300;

/// What one part of a section may take, in characters: no text of a worker pushes out the parts that follow it.
const PART_LIMIT: usize = 10_000;

/// What one list of files may take of a body, in bytes.
const LIST_LIMIT: usize = 6_000;

/// What a body is made of, read freshly.
#[derive(Debug, Clone, Copy)]
pub struct BodyFacts<'a> {
    /// The task.
    pub task: &'a Task,
    /// The attempt.
    pub attempt: AttemptNumber,
    /// How many attempts the task has.
    pub of: u32,
    /// The changed files, shown.
    pub files: &'a [String],
    /// The test command that ran, and what came of it; none when no test ran.
    pub test: Option<(&'a str, &'a str)>,
    /// What the reviewer said; none when none was asked.
    pub review: Option<&'a str>,
    /// Files in which the base and this work conflict.
    pub conflicts: &'a [String],
    /// What weakens the proof and must be said: checks run in the slot, no confinement, uncovered files.
    pub remarks: &'a [Remark],
    /// Files a person should look at, each with its class.
    pub human_review: &'a [String],
    /// The attempt's directory, relative to the board root.
    pub log: &'a str,
}

/// Something that a person who looks at the proof must know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// Our own words.
    pub text: String,
    /// The files it is about.
    pub files: Vec<String>,
}

impl Remark {
    /// A remark about no file in particular.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), files: Vec::new() }
    }

    fn render(&self) -> String {
        let text = unmarked(&one_line(&self.text));
        if self.files.is_empty() { text } else { format!("{text}\n\n{}", file_list(&self.files)) }
    }
}

/// The parts of a body that are ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    main: String,
    human_review: Option<String>,
}

/// One of our sections, between two comment markers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Main,
    HumanReview,
}

impl Section {
    const fn markers(self) -> (&'static str, &'static str) {
        match self {
            Self::Main => ("<!-- dispatch:begin -->", "<!-- dispatch:end -->"),
            Self::HumanReview => {
                ("<!-- dispatch:human-review:begin -->", "<!-- dispatch:human-review:end -->")
            }
        }
    }

    fn wrap(self, text: &str) -> String {
        let (begin, end) = self.markers();
        format!("{begin}\n{text}\n{end}")
    }

    /// The byte range of this section in `body`, markers included.
    fn find(self, body: &str) -> Option<std::ops::Range<usize>> {
        let (begin, end) = self.markers();
        let from = body.find(begin)?;
        let length = body[from..].find(end)?;
        Some(from..from + length + end.len())
    }
}

/// The title: `[<ID>] <title>`, one line.
pub fn title(id: &TaskId, title: &str) -> String {
    cut_chars(&format!("[{id}] {}", one_line(title)), TITLE_LIMIT)
}

impl Body {
    /// Puts the sections together.
    pub fn new(facts: &BodyFacts<'_>) -> Self {
        let human_review = (!facts.human_review.is_empty()).then(|| {
            format!(
                "### For a person to look at\n\nThese files are allowed, but a person should look at them:\n\n{}",
                file_list(facts.human_review)
            )
        });
        Self { main: main_section(facts), human_review }
    }

    /// The body of a new pull request.
    pub fn render(&self) -> String {
        merge_body("", self)
    }
}

/// Our sections put into a body that a person may have changed: what stands between our markers is replaced, a
/// section that is not there is added, one that no longer applies is taken out, and nothing else is touched.
pub fn merge_body(current: &str, ours: &Body) -> String {
    let mut current = current.replace("\r\n", "\n");
    if Section::Main.find(&current).is_none() {
        current = replace(&current, Section::Main, Some(""));
    }
    let review = ours.human_review.as_ref().map(|text| cut(text, BODY_LIMIT / 4));
    let with_review = replace(&current, Section::HumanReview, review.as_deref());
    let without_main = replace(&with_review, Section::Main, None);
    let (begin, end) = Section::Main.markers();
    let taken = chars(&without_main) + chars(begin) + chars(end) + 6;
    let main = cut(&ours.main, BODY_LIMIT.saturating_sub(taken));
    replace(&with_review, Section::Main, Some(&main))
}

fn replace(body: &str, section: Section, text: Option<&str>) -> String {
    let wrapped = text.map(|text| section.wrap(text));
    match (section.find(body), wrapped) {
        (Some(range), Some(wrapped)) => {
            format!("{}{wrapped}{}", &body[..range.start], &body[range.end..])
        }
        (Some(range), None) => {
            format!("{}{}", &body[..range.start], body[range.end..].trim_start_matches('\n'))
        }
        (None, Some(wrapped)) if body.trim().is_empty() => wrapped,
        (None, Some(wrapped)) => format!("{}\n\n{wrapped}", body.trim_end_matches('\n')),
        (None, None) => body.to_owned(),
    }
}

fn main_section(facts: &BodyFacts<'_>) -> String {
    let task = facts.task;
    let mut parts = vec!["## Summary".to_owned(), summary(task)];
    parts.push("## Acceptance criteria".to_owned());
    parts.push(cut(&criteria(&task.acceptance), PART_LIMIT));
    parts.push(format!("## Files changed ({})", facts.files.len()));
    parts.push(file_list(facts.files));
    parts.push("## Checks".to_owned());
    parts.push(match facts.test {
        Some((command, result)) => format!("{} — {}", code(command), one_line(result)),
        None => "No test command ran.".to_owned(),
    });
    if let Some(review) = facts.review {
        parts.extend(["## Reviewer".to_owned(), cut(&inert(review), PART_LIMIT)]);
    }
    if !facts.conflicts.is_empty() {
        parts.push("## Conflicts with the base".to_owned());
        parts.push("The base could not be merged cleanly; these files conflict:".to_owned());
        parts.push(file_list(facts.conflicts));
    }
    if !facts.remarks.is_empty() {
        parts.push("## Remarks".to_owned());
        parts.extend(facts.remarks.iter().map(Remark::render));
    }
    parts.push(format!(
        "Task {}, attempt {} of {}, made by dispatch. Logs: {}",
        task.id,
        facts.attempt,
        facts.of,
        code(facts.log)
    ));
    parts.join("\n\n")
}

/// The worker's summary, inert; without one the description, which only a person can have written (B4).
fn summary(task: &Task) -> String {
    let text = if task.final_summary.trim().is_empty() {
        unmarked(&plain(task.description.trim()))
    } else {
        inert(task.final_summary.trim())
    };
    cut(&text, PART_LIMIT)
}

fn criteria(items: &[ChecklistItem]) -> String {
    let mut text = String::new();
    for item in items {
        let mark = if item.checked { 'x' } else { ' ' };
        // Writing into a String cannot fail.
        let _ = writeln!(text, "- [{mark}] {}", unmarked(&one_line(&item.text)));
    }
    text.trim_end().to_owned()
}

/// File names are a worker's text, inert like any other.
fn file_list(files: &[String]) -> String {
    let (mut lines, left_out) = first_entries(files, MAX_FILES, LIST_LIMIT);
    if left_out > 0 {
        lines.push(format!("… and {left_out} more"));
    }
    inert(&lines.join("\n"))
}

/// Text that cannot end or begin one of our sections.
fn unmarked(text: &str) -> String {
    text.replace("<!--", "<!\u{2060}--")
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

fn cut(text: &str, limit: usize) -> String {
    cut_marked(text, limit, chars)
}

#[cfg(test)]
mod tests;
