//! The policy over the argument vector (W1.1, W1.2, W1.4).

use std::collections::BTreeSet;

use serde::Serialize;
use thiserror::Error;

use super::text::{Purpose, fault};
use super::{Section, WorkerEdit};
use crate::id::TaskId;
use crate::task::Checklist;

/// What is allowed, for the refusals.
const ALLOWED: &str = "--view, --plan, --append-plan, --notes, --append-notes, --final-summary, \
     --append-final-summary, --comment, --check-ac N, --uncheck-ac N, --check-dod N, --uncheck-dod N";

/// What a worker asks of the board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Request {
    /// To see its task.
    View,
    /// To edit it, all or nothing, in this order.
    Edits(Vec<WorkerEdit>),
}

closed_set! {
    /// The rule that refuses a request.
    PolicyRule, "rule of the worker's edits" {
        /// The own task only, one of it, and nothing that is not understood (W1.1).
        OwnTask = "own-task",
        /// The closed list of edits (W1.2).
        AllowedEdits = "allowed-edits",
        /// What texts and numbers may be (W1.3).
        Texts = "texts",
        /// Where requests are put, and what they may look like there (W2).
        Mailbox = "mailbox",
        /// An edit may not make a field read differently that is not the worker's (W2).
        ProtectedFields = "protected-fields",
    }
}

/// A request that the policy refuses; nothing was written.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("refused by policy ({rule}): {message}")]
pub struct Refused {
    /// The rule.
    pub rule: PolicyRule,
    /// What was asked, and what is allowed.
    pub message: String,
}

impl Refused {
    /// A refusal by a rule.
    pub fn new(rule: PolicyRule, message: impl Into<String>) -> Self {
        Self { rule, message: message.into() }
    }
}

/// A request whose argument vector is accepted; its texts are judged once standard input is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    view: bool,
    edits: Vec<Planned>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Planned {
    Write { flag: &'static str, kind: Write, text: Text },
    Check { list: Checklist, index: u32, checked: bool },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Write {
    Replace(Section),
    Append(Section),
    Comment,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Text {
    Given(String),
    Stdin,
}

/// What a flag asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flag {
    View,
    Write(Write),
    Check(Checklist, bool),
}

const FLAGS: [(&str, Flag); 12] = [
    ("--view", Flag::View),
    ("--plan", Flag::Write(Write::Replace(Section::Plan))),
    ("--append-plan", Flag::Write(Write::Append(Section::Plan))),
    ("--notes", Flag::Write(Write::Replace(Section::Notes))),
    ("--append-notes", Flag::Write(Write::Append(Section::Notes))),
    ("--final-summary", Flag::Write(Write::Replace(Section::FinalSummary))),
    ("--append-final-summary", Flag::Write(Write::Append(Section::FinalSummary))),
    ("--comment", Flag::Write(Write::Comment)),
    ("--check-ac", Flag::Check(Checklist::Acceptance, true)),
    ("--uncheck-ac", Flag::Check(Checklist::Acceptance, false)),
    ("--check-dod", Flag::Check(Checklist::DefinitionOfDone, true)),
    ("--uncheck-dod", Flag::Check(Checklist::DefinitionOfDone, false)),
];

impl Draft {
    /// Judges an argument vector, the program's name left out.
    ///
    /// `task` is the task the worker was started for, `DISPATCH_TASK_ID`; `owned_dod` the numbers of the definition
    /// of done that are the dispatcher's to tick, as far as they are known (the client knows none).
    pub fn parse(
        argv: &[String],
        task: Option<&str>,
        owned_dod: &BTreeSet<u32>,
    ) -> Result<Self, Refused> {
        let mut words = argv.iter();
        own_task(words.next().map(String::as_str), task)?;
        let mut draft = Self { view: false, edits: Vec::new() };
        while let Some(word) = words.next() {
            let (name, flag, attached) = read_flag(word)?;
            match flag {
                Flag::View if attached.is_some() => {
                    return Err(Refused::new(PolicyRule::OwnTask, "`--view` takes no value"));
                }
                Flag::View => draft.view = true,
                Flag::Write(kind) => {
                    let text = match value(name, attached, words.next_if_needed(attached))? {
                        "-" => Text::Stdin,
                        text => Text::Given(text.to_owned()),
                    };
                    draft.edits.push(Planned::Write { flag: name, kind, text });
                }
                Flag::Check(list, checked) => {
                    let index =
                        number(name, value(name, attached, words.next_if_needed(attached))?)?;
                    draft.edits.push(Planned::Check { list, index, checked });
                }
            }
        }
        draft.consistent(owned_dod)?;
        Ok(draft)
    }

    /// Whether a text is to be read from standard input.
    pub fn reads_stdin(&self) -> bool {
        self.edits.iter().any(|edit| matches!(edit, Planned::Write { text: Text::Stdin, .. }))
    }

    /// Judges the texts and gives the request.
    pub fn with_stdin(self, stdin: &str) -> Result<Request, Refused> {
        if self.view {
            return Ok(Request::View);
        }
        let edits = self.edits.into_iter().map(|edit| edit.with_stdin(stdin));
        edits.collect::<Result<_, _>>().map(Request::Edits)
    }

    fn consistent(&self, owned_dod: &BTreeSet<u32>) -> Result<(), Refused> {
        let refuse = |message: String| Err(Refused::new(PolicyRule::AllowedEdits, message));
        match (self.view, self.edits.is_empty()) {
            (true, false) => return refuse("`--view` goes with nothing else".to_owned()),
            (false, true) => return refuse(format!("nothing to do; allowed are {ALLOWED}")),
            (true, true) | (false, false) => {}
        }
        let mut replaced = Vec::new();
        let mut ticks = Vec::new();
        let mut from_stdin = 0;
        for edit in &self.edits {
            match edit {
                Planned::Write { flag, kind, text } => {
                    from_stdin += usize::from(*text == Text::Stdin);
                    if let Write::Replace(section) = kind {
                        if replaced.contains(section) {
                            return refuse(format!("`{flag}` is given twice"));
                        }
                        replaced.push(*section);
                    }
                }
                Planned::Check { list, index, checked } => {
                    if *list == Checklist::DefinitionOfDone && owned_dod.contains(index) {
                        return refuse(format!(
                            "item {index} of the definition of done is ticked by the dispatcher, which proves it"
                        ));
                    }
                    if ticks.contains(&(*list, *index, !*checked)) {
                        return refuse(format!("item {index} is both to be checked and unchecked"));
                    }
                    ticks.push((*list, *index, *checked));
                }
            }
        }
        if from_stdin > 1 {
            return refuse("`-` (standard input) can be the text of one flag only".to_owned());
        }
        Ok(())
    }
}

impl Planned {
    fn with_stdin(self, stdin: &str) -> Result<WorkerEdit, Refused> {
        let (flag, kind, text) = match self {
            Self::Check { list, index, checked } => {
                return Ok(WorkerEdit::Check { list, index, checked });
            }
            Self::Write { flag, kind, text } => (flag, kind, text),
        };
        let text = match text {
            Text::Given(text) => text,
            Text::Stdin => stdin.to_owned(),
        };
        let purpose = match kind {
            Write::Replace(section) | Write::Append(section) => Purpose::Section(section),
            Write::Comment => Purpose::Comment,
        };
        if let Some(fault) = fault(&text, purpose) {
            let message = format!("the text of `{flag}` may not be written: {fault}");
            return Err(Refused::new(PolicyRule::Texts, message));
        }
        Ok(match kind {
            Write::Replace(section) => WorkerEdit::Replace { section, text },
            Write::Append(section) => WorkerEdit::Append { section, text },
            Write::Comment => WorkerEdit::Comment { text },
        })
    }
}

/// Takes the next word only when the flag has no value attached.
trait NextIfNeeded<'a> {
    fn next_if_needed(&mut self, attached: Option<&str>) -> Option<&'a str>;
}

impl<'a> NextIfNeeded<'a> for std::slice::Iter<'a, String> {
    fn next_if_needed(&mut self, attached: Option<&str>) -> Option<&'a str> {
        if attached.is_some() { None } else { self.next().map(String::as_str) }
    }
}

fn own_task(asked: Option<&str>, task: Option<&str>) -> Result<(), Refused> {
    let refuse = |message: String| Err(Refused::new(PolicyRule::OwnTask, message));
    let Some(task) = task.filter(|task| !task.is_empty()) else {
        return refuse(
            "`DISPATCH_TASK_ID` is not set; this works only inside a dispatched attempt".into(),
        );
    };
    let Ok(own) = TaskId::parse(task) else {
        return refuse(format!("`DISPATCH_TASK_ID` is `{}`, which is no task id", brief(task)));
    };
    match asked {
        None => refuse(format!("the first argument must be the task's id, `{own}`")),
        Some(asked) if TaskId::parse(asked).is_ok_and(|asked| asked == own) => Ok(()),
        Some(asked) => refuse(format!(
            "`{}` is not your task; the first argument must be `{own}`",
            brief(asked)
        )),
    }
}

fn read_flag(word: &str) -> Result<(&'static str, Flag, Option<&str>), Refused> {
    let (name, attached) = match word.split_once('=') {
        Some((name, value)) if name.starts_with("--") => (name, Some(value)),
        Some(_) | None => (word, None),
    };
    if let Some((name, flag)) = FLAGS.iter().find(|(known, _)| *known == name) {
        return Ok((name, *flag, attached));
    }
    Err(if name.starts_with('-') {
        let message = format!("`{}` is not allowed; allowed are {ALLOWED}", brief(name));
        Refused::new(PolicyRule::AllowedEdits, message)
    } else {
        let message = format!(
            "`{}` belongs to no flag: quote a text as one argument, or give `-` and write it to standard input",
            brief(name)
        );
        Refused::new(PolicyRule::OwnTask, message)
    })
}

fn value<'a>(
    name: &str,
    attached: Option<&'a str>,
    next: Option<&'a str>,
) -> Result<&'a str, Refused> {
    if let Some(attached) = attached {
        return Ok(attached);
    }
    match next {
        Some(next) if !next.starts_with("--") => Ok(next),
        Some(next) => Err(Refused::new(
            PolicyRule::OwnTask,
            format!(
                "`{name}` has no value; a text that begins like `{}` is given as `{name}=…`",
                brief(next)
            ),
        )),
        None => Err(Refused::new(PolicyRule::OwnTask, format!("`{name}` has no value"))),
    }
}

fn number(name: &str, text: &str) -> Result<u32, Refused> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    match text.parse() {
        Ok(number) if digits => Ok(number),
        Ok(_) | Err(_) => Err(Refused::new(
            PolicyRule::Texts,
            format!(
                "`{}` is no number for `{name}`: one number from 1, as shown by `--view`",
                brief(text)
            ),
        )),
    }
}

/// The beginning of a word, for a message of one short line.
fn brief(word: &str) -> String {
    word.chars().take(60).map(|c| if c.is_control() { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests;
