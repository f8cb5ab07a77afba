//! An edit of a task file, from bytes to bytes, the way the board program would have written it (B3.1).
//!
//! An edit that could not be made faithfully is an error, never an approximation.

mod blank_lines;
mod body;
mod dump;

use thiserror::Error;

use crate::js_text;
use crate::task::{Checklist, ChecklistItem};
use crate::task_file::checklist;
use crate::task_file::comments::Written;
use crate::task_file::section::{self, Section};
use crate::task_file::{self, Header, TaskFileError, comments, header};
use crate::worker_edit;

/// One change of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// The status, in the board's spelling.
    Status(String),
    /// One more comment.
    Comment {
        /// Who says it.
        author: Option<String>,
        /// The text.
        body: String,
    },
    /// A tick set or removed.
    Check {
        /// The checklist.
        list: Checklist,
        /// The item's number.
        index: u32,
        /// Whether it is to be ticked.
        checked: bool,
    },
    /// A section replaced; an empty text removes it.
    Replace {
        /// The section.
        section: worker_edit::Section,
        /// The new text.
        text: String,
    },
    /// A section lengthened.
    Append {
        /// The section.
        section: worker_edit::Section,
        /// What is added after a blank line.
        text: String,
    },
}

/// A file after an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The whole file.
    pub bytes: Vec<u8>,
    /// The status before and after, when it changed; both as written.
    pub status: Option<(String, String)>,
    /// The title, for the board's callback.
    pub title: String,
    /// The id as written, in upper case, as the board's callback gets it.
    pub id: String,
}

/// Why an edit is not made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EditError {
    /// The file cannot be read.
    #[error("the task file cannot be read: {0}")]
    Unreadable(#[source] TaskFileError),
    /// The value of a key would not come back as the board program writes it.
    #[error(
        "`{key}` holds a bare date, which the board program writes in another form; put it in quotes"
    )]
    Inexact {
        /// The key.
        key: &'static str,
    },
    /// The body begins like another front matter, which the board program would swallow.
    #[error(
        "the text after the front matter begins with `---`, which the board program would take for another front matter"
    )]
    SecondHeader,
    /// The markers of a checklist do not balance.
    #[error("the markers of `{title}` do not balance, so its items cannot be changed")]
    Markers {
        /// The checklist's title.
        title: &'static str,
    },
    /// The board program would lose text that stands behind the list.
    #[error(
        "`{title}` stands in two places, and the board program would lose text behind the second one; join them to one list"
    )]
    TextBehindList {
        /// The checklist's title.
        title: &'static str,
    },
    /// Nobody could read the file afterwards.
    #[error("the task file would grow to {bytes} bytes, and one of more than {most} is not read")]
    TooLarge {
        /// Its size after the edit.
        bytes: usize,
        /// The most that is read.
        most: u64,
    },
    /// No item has this number.
    #[error("`{title}` has no item #{index}; it has {count}")]
    NoSuchItem {
        /// The checklist's title.
        title: &'static str,
        /// The number.
        index: u32,
        /// How many items there are.
        count: usize,
    },
    /// The text would end its own section.
    #[error("the text of `{title}` holds the marker `{marker}` on a line of its own")]
    ReservedMarker {
        /// The section's title.
        title: &'static str,
        /// The marker.
        marker: String,
    },
    /// The comment would break the comments section.
    #[error("a comment cannot hold a line of `---` nor a comment marker")]
    ReservedInComment,
}

/// Makes the edits in one go. `None` when they change nothing.
///
/// `now` is the moment as the board writes it, `YYYY-MM-DD HH:MM` in UTC.
pub fn apply(bytes: &[u8], edits: &[Edit], now: &str) -> Result<Option<Edited>, EditError> {
    let unreadable = EditError::Unreadable;
    let text = std::str::from_utf8(bytes).map_err(|_| {
        unreadable(TaskFileError {
            class: task_file::FaultClass::Unreadable,
            line: None,
            cause: "it is not UTF-8".to_owned(),
        })
    })?;
    let parts = header::split(text).map_err(unreadable)?;
    let header = header::parse(&parts.header).map_err(unreadable)?;
    if let Some(key) = header.inexact {
        return Err(EditError::Inexact { key });
    }
    let body = js_text::trim(parts.body);
    if body.starts_with("---") {
        return Err(EditError::SecondHeader);
    }
    let before = header.status.clone();
    let mut draft = Draft::new(header, body);
    for edit in edits {
        draft.edit(edit, now)?;
    }
    if !draft.changed {
        return Ok(None);
    }
    draft.header.updated_date = Some(now.to_owned());
    let crlf = uses_crlf(text);
    let new = draft.header.status.clone();
    let title = draft.header.title.clone();
    let id = draft.header.id.to_uppercase();
    let file = draft.write(crlf)?;
    let file = if crlf { file.replace('\n', "\r\n") } else { file };
    if file.len() as u64 > task_file::MAX_FILE_BYTES {
        return Err(EditError::TooLarge { bytes: file.len(), most: task_file::MAX_FILE_BYTES });
    }
    let status = (before != new).then_some((before, new));
    Ok(Some(Edited { bytes: file.into_bytes(), status, title, id }))
}

/// Whether most lines of a file end in carriage return and line feed.
fn uses_crlf(text: &str) -> bool {
    let pairs = text.matches("\r\n").count();
    pairs * 2 > text.matches('\n').count()
}

/// A task being edited: what the board program holds in memory between reading and writing.
struct Draft<'a> {
    header: Header,
    /// The body as written.
    raw: &'a str,
    /// The body with line feeds only.
    body: String,
    acceptance: Vec<ChecklistItem>,
    definition_of_done: Vec<ChecklistItem>,
    comments: Vec<Written>,
    plan: Option<String>,
    notes: Option<String>,
    summary: Option<String>,
    changed: bool,
}

impl<'a> Draft<'a> {
    fn new(header: Header, raw: &'a str) -> Self {
        let body = js_text::to_lf(raw);
        Self {
            header,
            raw,
            acceptance: body::checklist(&body, Checklist::Acceptance),
            definition_of_done: body::checklist(&body, Checklist::DefinitionOfDone),
            comments: comments::all(&body),
            plan: section::section_text(&body, Section::Plan),
            notes: section::section_text(&body, Section::Notes),
            summary: section::section_text(&body, Section::FinalSummary),
            body,
            changed: false,
        }
    }

    fn edit(&mut self, edit: &Edit, now: &str) -> Result<(), EditError> {
        match edit {
            Edit::Status(status) => {
                self.changed |= self.header.status != *status;
                self.header.status.clone_from(status);
            }
            Edit::Comment { author, body } => self.comment(author.as_deref(), body, now)?,
            Edit::Check { list, index, checked } => self.check(*list, *index, *checked)?,
            Edit::Replace { section, text } => {
                reserved(*section, text)?;
                let place = self.text_of(*section);
                if place.as_deref().unwrap_or_default() != text {
                    *place = Some(text.clone());
                    self.changed = true;
                }
            }
            Edit::Append { section, text } => {
                reserved(*section, text)?;
                let added = js_text::trim(text);
                if !added.is_empty() {
                    let place = self.text_of(*section);
                    let old = js_text::trim(place.as_deref().unwrap_or_default());
                    *place = Some(if old.is_empty() {
                        added.to_owned()
                    } else {
                        format!("{old}\n\n{added}")
                    });
                    self.changed = true;
                }
            }
        }
        Ok(())
    }

    fn comment(&mut self, author: Option<&str>, text: &str, now: &str) -> Result<(), EditError> {
        let text = js_text::to_lf(text);
        let text = js_text::trim(&text);
        let author = author.and_then(comments::one_line);
        if text.is_empty() {
            return Ok(());
        }
        if breaks_comments(text) || author.as_deref().is_some_and(breaks_comments) {
            return Err(EditError::ReservedInComment);
        }
        let index = self.comments.iter().map(|comment| comment.index).max().unwrap_or(0) + 1;
        self.comments.push(Written {
            index,
            author,
            created: now.to_owned(),
            body: text.to_owned(),
        });
        self.changed = true;
        Ok(())
    }

    fn check(&mut self, list: Checklist, index: u32, checked: bool) -> Result<(), EditError> {
        let title = checklist::shape(list).title;
        if checklist::checklist_markers(&self.body, &checklist::shape(list)).fault.is_some() {
            return Err(EditError::Markers { title });
        }
        let items = match list {
            Checklist::Acceptance => &mut self.acceptance,
            Checklist::DefinitionOfDone => &mut self.definition_of_done,
        };
        let count = items.len();
        let item = items
            .iter_mut()
            .find(|item| item.index == index)
            .ok_or(EditError::NoSuchItem { title, index, count })?;
        self.changed |= item.checked != checked;
        item.checked = checked;
        Ok(())
    }

    fn text_of(&mut self, section: worker_edit::Section) -> &mut Option<String> {
        match section {
            worker_edit::Section::Plan => &mut self.plan,
            worker_edit::Section::Notes => &mut self.notes,
            worker_edit::Section::FinalSummary => &mut self.summary,
        }
    }

    /// The whole file, as the board program puts it together; with line feeds only when it is to get other line ends.
    fn write(self, crlf: bool) -> Result<String, EditError> {
        let mut body = self.body.clone();
        for (list, items) in [
            (Checklist::Acceptance, &self.acceptance),
            (Checklist::DefinitionOfDone, &self.definition_of_done),
        ] {
            let unchanged = body::checklist(&self.body, list) == *items;
            let empty = items.is_empty() && body::has_empty_list(&self.body, list);
            if !unchanged || empty {
                body = body::with_checklist(&body, list, items)?;
            }
        }
        for (section, text) in [(Section::Plan, &self.plan), (Section::Notes, &self.notes)] {
            body = self.with_text(body, section, text.as_deref());
        }
        if comments::all(&self.body) != self.comments {
            if self.comments.iter().any(|comment| breaks_comments(&comment.body)) {
                return Err(EditError::ReservedInComment);
            }
            body = body::with_comments(&body, &self.comments);
        }
        body = self.with_text(body, Section::FinalSummary, self.summary.as_deref());
        let header = dump::header(&self.header);
        let untouched = body == self.body && !crlf;
        let body = if untouched { self.raw } else { body.as_str() };
        let end = if body.ends_with('\n') { "" } else { "\n" };
        Ok(format!("---\n{header}\n---\n\n{body}{end}"))
    }

    fn with_text(&self, body: String, section: Section, text: Option<&str>) -> String {
        let given = |text: Option<&str>| {
            Some(js_text::trim(text?).to_owned()).filter(|text| !text.is_empty())
        };
        match text {
            Some(text)
                if given(section::section_text(&self.body, section).as_deref())
                    != given(Some(text)) =>
            {
                body::with_section(&body, section, text)
            }
            _ => body,
        }
    }
}

/// Refuses a text that would end its own section.
fn reserved(section: worker_edit::Section, text: &str) -> Result<(), EditError> {
    let section = marked(section);
    let text = js_text::to_lf(text);
    let found = text
        .split('\n')
        .map(js_text::trim_end)
        .find(|line| [section.begin(), section.end()].contains(line));
    match found {
        None => Ok(()),
        Some(marker) => {
            Err(EditError::ReservedMarker { title: section.title(), marker: marker.to_owned() })
        }
    }
}

const fn marked(section: worker_edit::Section) -> Section {
    match section {
        worker_edit::Section::Plan => Section::Plan,
        worker_edit::Section::Notes => Section::Notes,
        worker_edit::Section::FinalSummary => Section::FinalSummary,
    }
}

/// Whether a text in the comments section would be read as its structure.
fn breaks_comments(text: &str) -> bool {
    let rule = js_text::lines(text).any(|(_, line)| js_text::trim(line) == "---");
    let mut from = 0;
    let mut marker = false;
    while let Some(at) = js_text::find_ignore_case(text, "<!--", from) {
        let rest = js_text::trim_start(&text[at + 4..]);
        marker |= js_text::starts_with_ignore_case(rest, "COMMENT:")
            || js_text::starts_with_ignore_case(rest, "COMMENTS:");
        from = at + 4;
    }
    rule || marker
}

/// A text made fit for a comment (B3.7): no control characters but newline and tab, no structure, at most 16 KiB.
pub fn comment_text(text: &str) -> String {
    const MAX_BYTES: usize = 16 << 10;
    const CUT: &str = "\n[… cut]";
    let clean: String = js_text::to_lf(text)
        .replace(['\r', '\u{2028}', '\u{2029}'], "\n")
        .chars()
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .collect();
    let structure =
        |line: &str| js_text::trim(line) == "---" || !task_file::markers(line).is_empty();
    let lines: Vec<String> = clean
        .split('\n')
        .map(|line| if structure(line) { format!("\\{line}") } else { line.to_owned() })
        .collect();
    let mut text = lines.join("\n");
    for word in ["COMMENTS:", "COMMENT:"] {
        let mut from = 0;
        while let Some(at) = js_text::find_ignore_case(&text, word, from) {
            let before = js_text::trim_end(&text[..at]).len();
            if text[..before].ends_with("<!--") {
                text.replace_range(before - 4..before, "<! --");
            }
            from = at + word.len();
        }
    }
    let text = js_text::trim(&text);
    if text.len() <= MAX_BYTES {
        return text.to_owned();
    }
    let mut end = MAX_BYTES - CUT.len();
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{CUT}", &text[..end])
}
