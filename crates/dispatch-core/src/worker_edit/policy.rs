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
mod tests {
    use proptest::prelude::*;
    use test_case::test_case;

    use super::*;

    fn judge(words: &[&str]) -> Result<Request, Refused> {
        let argv: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        Draft::parse(&argv, Some("T-5.1"), &BTreeSet::from([7]))?.with_stdin("from standard input")
    }

    fn rule_of(words: &[&str]) -> PolicyRule {
        judge(words).unwrap_err().rule
    }

    #[test]
    fn w1_2_every_allowed_edit_is_understood_in_both_forms() {
        let request = judge(&[
            "T-5.1",
            "--plan=--first",
            "--append-plan",
            "-- [x",
            "--notes",
            "- did it",
            "--append-notes=a=b",
            "--final-summary",
            "-",
            "--append-final-summary",
            "more",
            "--comment",
            "one",
            "--comment",
            "two",
            "--check-ac=1",
            "--uncheck-ac",
            "2",
            "--check-dod",
            "3",
            "--uncheck-dod",
            "4",
        ]);
        // A word that begins with two hyphens is no value.
        assert_eq!(request.unwrap_err().rule, PolicyRule::OwnTask);
        let text = |text: &str| text.to_owned();
        assert_eq!(
            judge(&[
                "t-05.1",
                "--plan=--first",
                "--notes",
                "- did it",
                "--append-notes=a=b",
                "--final-summary",
                "-",
                "--comment",
                "one",
                "--comment",
                "two",
                "--check-ac=1",
                "--uncheck-dod",
                "4",
            ]),
            Ok(Request::Edits(vec![
                WorkerEdit::Replace { section: Section::Plan, text: text("--first") },
                WorkerEdit::Replace { section: Section::Notes, text: text("- did it") },
                WorkerEdit::Append { section: Section::Notes, text: text("a=b") },
                WorkerEdit::Replace {
                    section: Section::FinalSummary,
                    text: text("from standard input")
                },
                WorkerEdit::Comment { text: text("one") },
                WorkerEdit::Comment { text: text("two") },
                WorkerEdit::Check { list: Checklist::Acceptance, index: 1, checked: true },
                WorkerEdit::Check { list: Checklist::DefinitionOfDone, index: 4, checked: false },
            ]))
        );
        assert_eq!(judge(&["T-5.1", "--view"]), Ok(Request::View));
    }

    #[test_case(&[]; "no id")]
    #[test_case(&["T-5"]; "another task")]
    #[test_case(&["T-5.1,T-6", "--view"]; "a list of tasks")]
    #[test_case(&["--view", "T-5.1"]; "the id not first")]
    #[test_case(&["T-5.1", "--check-ac", "1", "2"]; "a word without a flag")]
    #[test_case(&["T-5.1", "T-5.1", "--view"]; "a second id")]
    #[test_case(&["T-5.1", "--notes"]; "no value")]
    #[test_case(&["T-5.1", "--notes", "--plan"]; "a flag for a value")]
    #[test_case(&["T-5.1", "--view=yes"]; "a value for a flag without one")]
    fn w1_1_what_is_not_understood_is_refused(words: &[&str]) {
        assert_eq!(rule_of(words), PolicyRule::OwnTask);
    }

    #[test_case(&["T-5.1"]; "nothing to do")]
    #[test_case(&["T-5.1", "--view", "--notes", "x"]; "view and edit")]
    #[test_case(&["T-5.1", "--status", "Done"]; "status")]
    #[test_case(&["T-5.1", "-s", "Done"]; "status, short")]
    #[test_case(&["T-5.1", "--title=x"]; "title")]
    #[test_case(&["T-5.1", "--note", "x"]; "an abbreviation")]
    #[test_case(&["T-5.1", "--NOTES", "x"]; "another letter case")]
    #[test_case(&["T-5.1", "--ac", "x"]; "a criterion")]
    #[test_case(&["T-5.1", "--remove-ac", "1"]; "removing")]
    #[test_case(&["T-5.1", "--comment-author", "dispatch"]; "an author")]
    #[test_case(&["T-5.1", "--", "--view"]; "the end of flags")]
    #[test_case(&["T-5.1", "-"]; "a lone hyphen")]
    #[test_case(&["T-5.1", "--check-dod", "7"]; "an item the dispatcher owns")]
    #[test_case(&["T-5.1", "--uncheck-dod=7"]; "unticking it")]
    #[test_case(&["T-5.1", "--check-ac", "1", "--uncheck-ac", "1"]; "a contradiction")]
    #[test_case(&["T-5.1", "--notes=x", "--notes=y"]; "twice the same section")]
    #[test_case(&["T-5.1", "--notes", "-", "--plan", "-"]; "standard input twice")]
    fn w1_2_everything_else_is_refused(words: &[&str]) {
        assert_eq!(rule_of(words), PolicyRule::AllowedEdits);
    }

    #[test_case("0"; "zero")]
    #[test_case("01"; "a leading zero")]
    #[test_case("1,2"; "a list")]
    #[test_case("1.5"; "a fraction")]
    #[test_case("2abc"; "letters behind")]
    #[test_case("+1"; "a sign")]
    #[test_case("-1"; "negative")]
    #[test_case(" 1"; "a blank")]
    #[test_case(""; "empty")]
    #[test_case("١"; "a digit outside ASCII")]
    #[test_case("99999999999"; "too large")]
    fn w1_3_numbers_are_plain(text: &str) {
        assert_eq!(rule_of(&["T-5.1", "--check-ac", text]), PolicyRule::Texts);
    }

    #[test]
    fn w1_1_without_the_variable_everything_is_refused() {
        for task in [None, Some(""), Some("../x")] {
            let refused =
                Draft::parse(&["T-5".into(), "--view".into()], task, &BTreeSet::new()).unwrap_err();
            assert_eq!(refused.rule, PolicyRule::OwnTask);
        }
    }

    #[test]
    fn w1_4_a_refusal_names_the_rule_and_what_is_allowed() {
        let refused = judge(&["T-5.1", "--status=Done"]).unwrap_err().to_string();
        assert_eq!(
            refused,
            format!(
                "refused by policy (allowed-edits): `--status` is not allowed; allowed are {ALLOWED}"
            )
        );
        assert!(FLAGS.iter().all(|(flag, _)| ALLOWED.contains(flag)));
    }

    #[test]
    fn texts_from_standard_input_are_judged_too() {
        let draft =
            Draft::parse(&["T-5".into(), "--comment=-".into()], Some("T-5"), &BTreeSet::new())
                .unwrap();
        assert!(draft.reads_stdin());
        assert_eq!(draft.with_stdin("a\n---\nb").unwrap_err().rule, PolicyRule::Texts);
    }

    fn arb_word() -> impl Strategy<Value = String> {
        let flags: Vec<String> = FLAGS.iter().map(|(flag, _)| (*flag).to_owned()).collect();
        prop_oneof![
            4 => prop::sample::select(flags.clone()),
            2 => (prop::sample::select(flags), "[ -~]{0,6}").prop_map(|(f, v)| format!("{f}={v}")),
            2 => prop::sample::select(vec!["1", "2", "-", "text", "T-5", "--status", "T-6", "--"])
                .prop_map(str::to_owned),
            1 => "(?s).{0,12}",
        ]
    }

    proptest! {
        /// W1.5, as far as no board is needed: an accepted argument vector holds nothing but the task and the pairs
        /// of flag and value that its request is made of.
        #[test]
        fn w1_5_an_accepted_argv_is_exactly_its_request(words in prop::collection::vec(arb_word(), 0..7)) {
            let mut argv = vec!["T-5".to_owned()];
            argv.extend(words);
            let Ok(draft) = Draft::parse(&argv, Some("T-5"), &BTreeSet::new()) else { return Ok(()) };
            let Ok(request) = draft.with_stdin("<stdin>") else { return Ok(()) };
            let printed: Vec<String> = match &request {
                Request::View => vec!["--view".to_owned()],
                Request::Edits(edits) => edits.iter().map(print).collect(),
            };
            // The same words, every value attached to its flag.
            let mut joined = Vec::new();
            let mut rest = argv[1..].iter();
            while let Some(word) = rest.next() {
                let pair = if word == "--view" { None } else { Some(word.split_once('=')) };
                joined.push(match pair {
                    None => word.clone(),
                    Some(pair) => {
                        let (flag, value) = pair.unwrap_or_else(|| (word, rest.next().unwrap()));
                        format!("{flag}={}", if value == "-" { "<stdin>" } else { value })
                    }
                });
            }
            if request == Request::View {
                joined.dedup();
            }
            prop_assert_eq!(printed, joined);
        }
    }

    fn print(edit: &WorkerEdit) -> String {
        let name = |section: &Section| match section {
            Section::Plan => "plan",
            Section::Notes => "notes",
            Section::FinalSummary => "final-summary",
        };
        match edit {
            WorkerEdit::Replace { section, text } => format!("--{}={text}", name(section)),
            WorkerEdit::Append { section, text } => format!("--append-{}={text}", name(section)),
            WorkerEdit::Comment { text } => format!("--comment={text}"),
            WorkerEdit::Check { list, index, checked } => format!(
                "--{}check-{}={index}",
                if *checked { "" } else { "un" },
                match list {
                    Checklist::Acceptance => "ac",
                    Checklist::DefinitionOfDone => "dod",
                }
            ),
        }
    }
}
