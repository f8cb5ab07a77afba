//! The shell text of a tool call, read as the agent reads it: into simple commands where it can, with a
//! mark where it gives up.
//!
//! This is no shell. It finds the simple commands a rule is held against, the redirections and
//! variables the agent follows, and the shapes at which the agent stops looking (F2).

mod model;
mod redirect;
mod word;

use std::collections::BTreeMap;

use crate::permission::wrappers::is_assignment;

pub(super) use self::model::{Group, Part, Redirect, Script, Word};

/// Reads a command text.
pub(super) fn read(text: &str, home: &str) -> Script {
    let mut reader = Reader {
        text: text.chars().collect(),
        at: 0,
        home,
        variables: BTreeMap::new(),
        script: Script::default(),
        heredocs: Vec::new(),
    };
    reader.read_list();
    reader.script
}

struct Reader<'a> {
    text: Vec<char>,
    at: usize,
    home: &'a str,
    /// Variables assigned before: their fixed text, or none.
    variables: BTreeMap<String, Option<String>>,
    script: Script,
    /// Delimiters of here-documents whose text begins at the next line.
    heredocs: Vec<String>,
}

/// A word under construction.
#[derive(Default)]
struct Draft {
    text: String,
    value: Option<String>,
    glob: bool,
    substituted: Vec<String>,
}

impl Draft {
    fn new() -> Self {
        Self { value: Some(String::new()), ..Self::default() }
    }

    fn push(&mut self, written: &str, value: &str) {
        self.text.push_str(written);
        if let Some(known) = &mut self.value {
            known.push_str(value);
        }
    }

    fn push_unknown(&mut self, written: &str) {
        self.text.push_str(written);
        self.value = None;
    }
}

impl Reader<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.text.get(self.at + ahead).copied()
    }

    fn slice(&self, from: usize) -> String {
        self.text[from..self.at.min(self.text.len())].iter().collect()
    }

    fn give_up(&mut self, why: &'static str) {
        self.script.complex.get_or_insert(why);
    }

    /// Reads commands until the text ends.
    fn read_list(&mut self) {
        while self.peek(0).is_some() {
            self.read_command();
            match self.peek(0) {
                Some('&') if self.peek(1) == Some('&') => self.at += 2,
                Some('&') => {
                    self.give_up("a command in the background");
                    self.at += 1;
                }
                Some('|') => self.at += if matches!(self.peek(1), Some('|' | '&')) { 2 } else { 1 },
                Some(';') => self.at += 1,
                Some('\n') => {
                    self.at += 1;
                    self.skip_heredocs();
                }
                Some(')') => {
                    self.give_up("a parenthesis that closes nothing");
                    self.at += 1;
                }
                Some(_) | None => {}
            }
        }
    }

    fn skip_heredocs(&mut self) {
        for delimiter in std::mem::take(&mut self.heredocs) {
            while self.peek(0).is_some() {
                let start = self.at;
                while self.peek(0).is_some_and(|c| c != '\n') {
                    self.at += 1;
                }
                let line = self.slice(start);
                self.at += 1;
                if line.trim_start_matches('\t') == delimiter {
                    break;
                }
            }
        }
        self.at = self.at.min(self.text.len());
    }

    /// Skips blanks and joined lines; what was skipped.
    fn skip_blanks(&mut self) -> String {
        let mut skipped = String::new();
        loop {
            match self.peek(0) {
                Some(blank @ (' ' | '\t')) => {
                    skipped.push(blank);
                    self.at += 1;
                }
                Some('\\') if self.peek(1) == Some('\n') => self.at += 2,
                Some(other) if other.is_whitespace() && other != '\n' => {
                    self.give_up("a blank outside ASCII");
                    self.at += 1;
                }
                Some(_) | None => return skipped,
            }
        }
    }

    /// Reads one simple command, stepping over the words of `if`, `while`, `until` and `for`.
    fn read_command(&mut self) {
        let mut part = Part::default();
        loop {
            let gap = self.skip_blanks();
            match self.peek(0) {
                None | Some('\n' | ';' | '|' | ')') => break,
                Some('&') if self.peek(1) != Some('>') => break,
                Some('#') => self.skip_comment(),
                Some('(') => self.read_parenthesis(&part),
                Some('<' | '>' | '&') => self.read_redirect(&mut part),
                Some(digit) if digit.is_ascii_digit() && self.is_descriptor() => {
                    self.read_redirect(&mut part);
                }
                Some(_) => {
                    if part.words.is_empty() && part.redirects.is_empty() && self.read_keyword() {
                        continue;
                    }
                    self.read_argument(&mut part, gap);
                }
            }
        }
        self.finish(part);
    }

    fn skip_comment(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    fn is_descriptor(&self) -> bool {
        let digits = self.text[self.at..].iter().take_while(|c| c.is_ascii_digit()).count();
        matches!(self.peek(digits), Some('<' | '>'))
    }

    /// The plain word at this place, if the next thing is one.
    fn plain_word(&self) -> String {
        self.text[self.at..]
            .iter()
            .take_while(|c| {
                c.is_ascii_alphanumeric() || matches!(c, '_' | '[' | '{' | '}' | '!' | ']')
            })
            .collect()
    }

    fn ends_word(&self, length: usize) -> bool {
        self.peek(length).is_none_or(|c| c.is_whitespace() || ";|&<>()".contains(c))
    }

    /// Steps over a keyword; false when the next word is an ordinary one.
    fn read_keyword(&mut self) -> bool {
        let word = self.plain_word();
        if !self.ends_word(word.len()) {
            return false;
        }
        match word.as_str() {
            "if" | "then" | "elif" | "else" | "fi" | "while" | "until" | "do" | "done" | "!" => {
                self.at += word.len();
                true
            }
            "for" | "select" => {
                self.at += word.len();
                self.read_for();
                true
            }
            "[[" => {
                self.read_test();
                true
            }
            "{" => {
                self.read_group('{', '}', false);
                true
            }
            "case" => {
                self.give_up("a `case`");
                let start = self.at;
                let rest = &self.text[start..];
                let closing = rest.windows(4).position(|four| four == ['e', 's', 'a', 'c']);
                self.at = closing.map_or(self.text.len(), |before| start + before + 4);
                let text = self.slice(start);
                self.script.groups.push(Group { text, function: false });
                true
            }
            "function" => {
                self.give_up("a function");
                let start = self.at;
                self.read_group('{', '}', true);
                let text = self.slice(start);
                self.script.groups.push(Group { text, function: true });
                true
            }
            "coproc" => {
                self.give_up("a coprocess");
                let start = self.at;
                while self.peek(0).is_some_and(|c| !";\n".contains(c)) {
                    self.at += 1;
                }
                let text = self.slice(start);
                self.script.groups.push(Group { text, function: false });
                true
            }
            _ => false,
        }
    }

    /// `for NAME in words`: the variable is not fixed; commands in the words count.
    fn read_for(&mut self) {
        let mut part = Part::default();
        loop {
            let gap = self.skip_blanks();
            match self.peek(0) {
                None | Some('\n' | ';' | '|' | ')') => break,
                Some('(' | '<' | '>' | '&') => {
                    self.give_up("a `for` of another form");
                    self.at += 1;
                }
                Some(_) => self.read_argument(&mut part, gap),
            }
        }
        if let Some(name) = part.words.first() {
            self.variables.insert(name.text.clone(), None);
        }
        for inner in std::mem::take(&mut part.substituted) {
            self.read_substituted(&inner);
        }
    }

    /// `[[ … ]]`: free, unless something in it is not fixed.
    fn read_test(&mut self) {
        let mut part = Part::default();
        let mut closed = false;
        while !closed {
            let gap = self.skip_blanks();
            match self.peek(0) {
                Some('\n' | ';' | '|' | '&' | '<' | '>' | '(' | ')') => self.at += 1,
                Some(_) => {
                    self.read_argument(&mut part, gap);
                    closed = part.words.last().is_some_and(|word| word.text == "]]");
                }
                None => break,
            }
        }
    }

    fn read_parenthesis(&mut self, part: &Part) {
        if part.words.is_empty() {
            self.read_group('(', ')', false);
        } else if self.peek(1) == Some(')') && part.words.len() == 1 {
            self.give_up("a function");
            let start = self.at;
            self.read_group('{', '}', true);
            let name = &part.words[0].text;
            let text = format!("{name}{}", self.slice(start));
            self.script.groups.push(Group { text, function: true });
        } else {
            self.read_group('(', ')', false);
        }
    }

    /// Skips a group with everything in it.
    fn read_group(&mut self, open: char, close: char, function: bool) {
        self.give_up(if function { "a function" } else { "a group" });
        let start = self.at;
        let end = self.matching(self.at, open, close);
        self.at = end;
        if !function {
            let text = self.slice(start);
            self.script.groups.push(Group { text, function });
        }
    }

    /// The place after the bracket that closes the one at `from`.
    fn matching(&self, from: usize, open: char, close: char) -> usize {
        let mut depth = 0_usize;
        let mut quote = None;
        let mut at = from;
        while let Some(character) = self.text.get(at) {
            match (quote, *character) {
                (None | Some('"'), '\\') => at += 1,
                (None, c @ ('\'' | '"')) => quote = Some(c),
                (Some(opened), c) if opened == c => quote = None,
                (None, c) if c == open => depth += 1,
                (None, c) if c == close => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return at + 1;
                    }
                }
                (None | Some(_), _) => {}
            }
            at += 1;
        }
        self.text.len()
    }

    fn read_argument(&mut self, part: &mut Part, gap: String) {
        let draft = self.read_word();
        let first = part.words.len() == part.assignments;
        if first && self.peek(0) == Some('(') && is_assignment(&draft.text) {
            self.give_up("an array");
            self.at = self.matching(self.at, '(', ')');
        }
        let assigns = first && is_assignment(&draft.text);
        let declares = part.words.first().is_some_and(|word| {
            matches!(word.text.as_str(), "export" | "declare" | "readonly" | "local" | "typeset")
        }) && is_assignment(&draft.text);
        let in_for = part.words.len() > 1 && part.words[1].text == "in";
        let counted = assigns || declares || in_for;
        if !draft.substituted.is_empty() {
            if !assigns {
                self.give_up("a command substitution");
            }
            if counted {
                part.substituted.extend(draft.substituted);
            }
        }
        if assigns {
            part.assignments += 1;
        }
        part.words.push(Word { text: draft.text, value: draft.value, glob: draft.glob, gap });
    }

    fn finish(&mut self, mut part: Part) {
        if part.words.is_empty() && part.redirects.is_empty() {
            return;
        }
        let only_assigns = part.words.len() == part.assignments;
        let substituted = std::mem::take(&mut part.substituted);
        if only_assigns {
            for word in &part.words {
                self.assign(word);
            }
        } else if part.assignments > 0 && !substituted.is_empty() {
            // `X=$(a) b`: neither is looked at.
            self.give_up("a command substitution before a command");
            part.hidden = true;
            self.script.parts.push(part);
            return;
        }
        for inner in &substituted {
            self.read_substituted(inner);
        }
        if !(only_assigns && part.redirects.is_empty() && !substituted.is_empty()) {
            self.script.parts.push(part);
        }
    }

    fn assign(&mut self, word: &Word) {
        let Some((name, _)) = word.text.split_once('=') else { return };
        if name.contains('[') {
            self.give_up("an element of an array");
        }
        if UNSAFE_VARIABLES.contains(&name) {
            self.give_up("a variable that changes how commands run");
        }
        let append = name.ends_with('+');
        let name = name.trim_end_matches('+').to_owned();
        let value = word
            .value
            .as_deref()
            .and_then(|value| value.split_once('='))
            .map(|(_, v)| v.to_owned());
        let value = if append || word.glob { None } else { value };
        self.variables.insert(name, value);
    }

    fn read_substituted(&mut self, inner: &str) {
        let script = read(inner, self.home);
        if let Some(why) = script.complex {
            self.give_up(why);
        }
        self.script.parts.extend(script.parts);
        self.script.groups.extend(script.groups);
    }
}

/// Variables whose assignment makes the agent give up [as1-28].
const UNSAFE_VARIABLES: &[&str] =
    &["PATH", "IFS", "ENV", "BASH_ENV", "LD_PRELOAD", "LD_LIBRARY_PATH", "SHELLOPTS", "PS4"];
