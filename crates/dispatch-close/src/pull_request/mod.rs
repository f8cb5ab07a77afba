//! Title and body of a pull request (C9.2, C9.3).

use std::fmt::Write as _;

use dispatch_core::attempt::Ordinal;
use dispatch_core::config::Language;
use dispatch_core::id::TaskId;
use dispatch_core::task::{ChecklistItem, Task};

use crate::listed::Listed;
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
    pub attempt: Ordinal,
    /// The language of our own words.
    pub language: Language,
    /// The changed files, shown.
    pub files: &'a Listed,
    /// The test command that passed; none when no test ran.
    pub test: Option<&'a str>,
    /// What the reviewer said; none when none was asked.
    pub review: Option<&'a str>,
    /// Files in which the base and this work conflict.
    pub conflicts: &'a Listed,
    /// What weakens the proof and must be said.
    pub remarks: &'a [Remark],
    /// Files a person should look at, each with its class.
    pub human_review: &'a Listed,
    /// The attempt's directory, relative to the board root.
    pub log: &'a str,
}

dispatch_core::catalogue! {
    /// Something that a person who looks at the proof must know.
    pub enum RemarkKind {
        /// `checks.tree: "slot"` (C5.2).
        CheckedInSlot {
            en: "The checks ran in the worker's own slot (`checks.tree` is `slot`).",
            es: "Las comprobaciones se ejecutaron en el propio puesto del agente (`checks.tree` es `slot`).",
        },
        /// W3.3.
        Unconfined {
            en: "The worker ran without kernel confinement.",
            es: "El agente se ejecutó sin confinamiento del núcleo.",
        },
        /// D6.6: with what git said.
        BaseLeftOut {
            en: "The base is not merged into this work, since git could not tell whether it fits:",
            es: "La base no se fusionó en este trabajo, pues git no pudo saber si encaja:",
        },
        /// C5.1.
        NotFormatted { en: "No formatter covers:", es: "Ningún formateador cubre:" },
        /// C6.
        Generated { en: "Generated:", es: "Generados:" },
        /// Allowed on a lane that does not need files to be declared (C3.4).
        Undeclared {
            en: "Changed although the task does not declare them:",
            es: "Cambiados aunque la tarea no los declara:",
        },
        /// C9.3.
        ForReview {
            en: "Allowed, but a person should look at them:",
            es: "Permitidos, pero una persona debería mirarlos:",
        },
    }
}

dispatch_core::catalogue! {
    /// The fixed words of a body.
    enum BodyWord {
        Summary { en: "Summary", es: "Resumen" },
        Criteria { en: "Acceptance criteria", es: "Criterios de aceptación" },
        FilesChanged { en: "Files changed ({count})", es: "Ficheros cambiados ({count})" },
        Checks { en: "Checks", es: "Comprobaciones" },
        Passed { en: "passed", es: "superada" },
        NoTest { en: "No test command ran.", es: "No se ejecutó ninguna orden de prueba." },
        Reviewer { en: "Reviewer", es: "Revisor" },
        Conflicts { en: "Conflicts with the base", es: "Conflictos con la base" },
        ConflictsSaid {
            en: "The base could not be merged cleanly; these files conflict:",
            es: "La base no se pudo fusionar limpiamente; estos ficheros entran en conflicto:",
        },
        Remarks { en: "Remarks", es: "Observaciones" },
        MadeBy {
            en: "Task {id}, {attempt}, made by dispatch. Logs: {log}",
            es: "Tarea {id}, {attempt}, hecho por dispatch. Registros: {log}",
        },
        ForReview { en: "For a person to look at", es: "Para que lo mire una persona" },
        ForReviewSaid {
            en: "These files are allowed, but a person should look at them:",
            es: "Estos ficheros están permitidos, pero una persona debería mirarlos:",
        },
        AndMore { en: "… and {count} more", es: "… y {count} más" },
    }
}

/// What is remarked, with the files it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// What.
    pub kind: RemarkKind,
    /// The files it is about.
    pub files: Listed,
}

impl Remark {
    /// A remark about no file in particular.
    pub fn new(kind: RemarkKind) -> Self {
        Self { kind, files: Listed::default() }
    }

    fn render(&self, language: Language) -> String {
        let text = self.kind.text(language).to_owned();
        if self.files.is_empty() {
            text
        } else {
            format!("{text}\n\n{}", file_list(language, &self.files))
        }
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
        let language = facts.language;
        let human_review = (!facts.human_review.is_empty()).then(|| {
            format!(
                "### {}\n\n{}\n\n{}",
                BodyWord::ForReview.text(language),
                BodyWord::ForReviewSaid.text(language),
                file_list(language, facts.human_review)
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
    let (task, language) = (facts.task, facts.language);
    let word = |word: BodyWord| word.text(language);
    let title = |of: BodyWord| format!("## {}", word(of));
    let mut parts = vec![title(BodyWord::Summary), summary(task)];
    parts.push(title(BodyWord::Criteria));
    parts.push(cut(&criteria(&task.acceptance), PART_LIMIT));
    let count = facts.files.len();
    parts.push(format!("## {}", BodyWord::FilesChanged.render(language, &[("count", &count)])));
    parts.push(file_list(language, facts.files));
    parts.push(title(BodyWord::Checks));
    parts.push(match facts.test {
        Some(command) => format!("{} — {}", code(command), word(BodyWord::Passed)),
        None => word(BodyWord::NoTest).to_owned(),
    });
    if let Some(review) = facts.review {
        parts.extend([title(BodyWord::Reviewer), cut(&inert(review), PART_LIMIT)]);
    }
    if !facts.conflicts.is_empty() {
        parts.push(title(BodyWord::Conflicts));
        parts.push(word(BodyWord::ConflictsSaid).to_owned());
        parts.push(file_list(language, facts.conflicts));
    }
    if !facts.remarks.is_empty() {
        parts.push(title(BodyWord::Remarks));
        parts.extend(facts.remarks.iter().map(|remark| remark.render(language)));
    }
    parts.push(BodyWord::MadeBy.render(
        language,
        &[("id", &task.id), ("attempt", &facts.attempt.text(language)), ("log", &code(facts.log))],
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
fn file_list(language: Language, files: &Listed) -> String {
    let (mut lines, left_out) = first_entries(files, MAX_FILES, LIST_LIMIT);
    if left_out > 0 {
        lines.push(BodyWord::AndMore.render(language, &[("count", &left_out)]));
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
