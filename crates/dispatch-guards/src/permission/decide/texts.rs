//! The texts of a simple command that a rule is held against, once variables and wrappers are looked
//! through (F1, F7).

use super::syntax::{Part, Word, is_assignment};
use crate::permission::rule::collapse;
use crate::permission::shell::ShellPattern;
use crate::permission::wrappers::{ALLOW_VARIABLES, DENY_WRAPPERS};

/// One text a rule is held against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    /// As typed.
    typed: String,
    /// With blanks collapsed.
    normal: String,
    /// Whether only prefixes and globs see it: what `xargs` runs [envexact-04].
    patterns_only: bool,
}

impl Candidate {
    pub(super) fn new(typed: &str) -> Self {
        let normal = collapse(typed.trim());
        Self { typed: typed.trim_matches([' ', '\t']).to_owned(), normal, patterns_only: false }
    }

    /// Whether a pattern admits the text.
    pub(super) fn fits(&self, pattern: &ShellPattern) -> bool {
        let exact = matches!(pattern, ShellPattern::Text(_));
        !(exact && self.patterns_only) && pattern.admits(&self.typed, &self.normal)
    }
}

/// Whether a looked-through wrapper could not be followed to the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Followed {
    Whole,
    Unsure,
}

/// Joins words as they were typed; the command's name without its quotes [prefix-16].
fn join(words: &[Word]) -> String {
    let mut text = String::new();
    let mut named = false;
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            text.push_str(if word.gap.is_empty() { " " } else { &word.gap });
        }
        let name = !named && !is_assignment(&word.text);
        named |= name;
        let unquoted = word.text.contains(['"', '\'', '\\']) && !word.glob;
        match &word.value {
            Some(value)
                if name && unquoted && !value.is_empty() && !value.contains([' ', '\t', '\n']) =>
            {
                text.push_str(value);
            }
            Some(_) | None => text.push_str(&word.text),
        }
    }
    text
}

fn candidate(words: &[Word], patterns_only: bool) -> Candidate {
    Candidate { patterns_only, ..Candidate::new(&join(words)) }
}

/// What an allow rule is held against.
pub(super) fn allow_candidates(part: &Part) -> Vec<Candidate> {
    let mut rest = part.words.as_slice();
    let mut found = vec![candidate(rest, false)];
    while let Some(word) = rest.first()
        && is_assignment(&word.text)
    {
        if !is_plain_listed(word) {
            return found;
        }
        rest = &rest[1..];
        found.push(candidate(rest, false));
    }
    let mut patterns_only = false;
    while let Some((inner, xargs)) = unwrap_for_allow(rest) {
        patterns_only |= xargs;
        found.push(candidate(inner, patterns_only));
        rest = inner;
    }
    found
}

/// A variable the agent looks through, with a value it reads as plain [envv-01].
pub(super) fn is_plain_listed(word: &Word) -> bool {
    word.text.split_once('=').is_some_and(|(name, value)| {
        ALLOW_VARIABLES.contains(&name)
            && !value.is_empty()
            && value.chars().all(|c| c.is_ascii_alphanumeric() || "_./:-".contains(c))
    })
}

/// The command behind a wrapper that an allow looks through; whether it was `xargs`.
pub(super) fn unwrap_for_allow(words: &[Word]) -> Option<(&[Word], bool)> {
    let name = words.first()?.value.as_deref()?;
    let rest = &words[1..];
    let skipped = match name {
        "timeout" => skip_timeout(rest)?,
        "nice" => skip_nice(rest)?,
        "stdbuf" => {
            let glued = |w: &&Word| {
                w.text.len() > 2 && ["-i", "-o", "-e"].iter().any(|flag| w.text.starts_with(flag))
            };
            let count = rest.iter().take_while(glued).count();
            if count == 0 {
                return None;
            }
            count
        }
        "command" => usize::from(rest.first().is_some_and(|word| word.text == "-p")),
        "nohup" | "time" | "builtin" | "noglob" | "xargs" => 0,
        _ => return None,
    };
    let inner = rest.get(skipped..)?;
    let first = inner.first()?;
    // An option of the wrapper that is not understood, or a variable, ends the look.
    if first.text.starts_with('-') || is_assignment(&first.text) {
        return None;
    }
    Some((inner, name == "xargs"))
}

fn is_duration(text: &str) -> bool {
    let digits = text.trim_end_matches(['s', 'm', 'h', 'd']);
    !digits.is_empty()
        && text.len() - digits.len() <= 1
        && digits.chars().all(|c| c.is_ascii_digit() || c == '.')
        && digits.starts_with(|c: char| c.is_ascii_digit())
}

fn skip_timeout(words: &[Word]) -> Option<usize> {
    let mut at = 0;
    loop {
        let word = words.get(at)?.text.as_str();
        at += match word {
            "--foreground" | "--preserve-status" | "-v" | "--verbose" => 1,
            "-k" | "-s" | "--kill-after" | "--signal" => 2,
            _ if word.starts_with("--kill-after=") || word.starts_with("--signal=") => 1,
            _ if word.len() > 2 && (word.starts_with("-k") || word.starts_with("-s")) => 1,
            _ if is_duration(word) => return Some(at + 1),
            _ => return None,
        };
    }
}

fn skip_nice(words: &[Word]) -> Option<usize> {
    let first = words.first()?.text.as_str();
    let number = |text: &str| {
        let digits = text.strip_prefix('-').unwrap_or(text);
        !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit())
    };
    if first == "-n" {
        return number(&words.get(1)?.text).then_some(2);
    }
    if first.starts_with('-') {
        return number(first).then_some(1);
    }
    Some(0)
}

/// What a deny rule is held against: every variable and more wrappers are looked through.
pub(super) fn deny_candidates(part: &Part) -> (Vec<Candidate>, Followed) {
    if part.hidden {
        return (Vec::new(), Followed::Whole);
    }
    let mut found = vec![candidate(&part.words, false)];
    let mut followed = Followed::Whole;
    let mut rest = part.words.as_slice();
    let mut patterns_only = false;
    loop {
        while rest.first().is_some_and(|word| is_assignment(&word.text)) {
            rest = &rest[1..];
            found.push(candidate(rest, patterns_only));
        }
        match unwrap_for_deny(rest) {
            Unwrapped::Nothing => return (found, followed),
            Unwrapped::Unsure => {
                followed = Followed::Unsure;
                return (found, followed);
            }
            Unwrapped::Words(inner, xargs) => {
                patterns_only |= xargs;
                found.push(candidate(inner, patterns_only));
                rest = inner;
            }
            Unwrapped::Text(text) => {
                found.push(Candidate::new(&text));
                return (found, followed);
            }
        }
    }
}

enum Unwrapped<'a> {
    Nothing,
    Unsure,
    Words(&'a [Word], bool),
    /// A command given as one text, as to `watch "a b"`.
    Text(String),
}

fn unwrap_for_deny(words: &[Word]) -> Unwrapped<'_> {
    let Some(name) = words.first().and_then(|word| word.value.as_deref()) else {
        return Unwrapped::Nothing;
    };
    let rest = &words[1..];
    if name == "time" || name == "xargs" || name == "timeout" || name == "stdbuf" {
        return match unwrap_for_allow(words) {
            Some((inner, xargs)) => Unwrapped::Words(inner, xargs),
            None => Unwrapped::Nothing,
        };
    }
    if matches!(name, "nice" | "nohup" | "command" | "builtin" | "noglob") {
        if let Some((inner, _)) = unwrap_for_allow(words) {
            return Unwrapped::Words(inner, false);
        }
        return skip_options(rest, &[], 0);
    }
    if !DENY_WRAPPERS.contains(&name) {
        return Unwrapped::Nothing;
    }
    match name {
        "env" => skip_env(rest),
        "sudo" | "doas" => skip_options(
            rest,
            &["-u", "-g", "-h", "-p", "-C", "-T", "-r", "-t", "-U", "-D", "-a"],
            0,
        ),
        "exec" => skip_options(rest, &["-a"], 0),
        "flock" => match text_option(rest) {
            Some(text) => Unwrapped::Text(text),
            None => skip_options(rest, &["-w", "-E"], 1),
        },
        "script" => text_option(rest).map_or(Unwrapped::Nothing, Unwrapped::Text),
        "watch" => match skip_options(rest, &["-n", "-q"], 0) {
            Unwrapped::Words([only], _) => {
                Unwrapped::Text(only.value.clone().unwrap_or_else(|| only.text.clone()))
            }
            other => other,
        },
        "chrt" | "taskset" => skip_options(rest, &["-p"], 1),
        "ionice" => skip_options(rest, &["-c", "-n"], 0),
        "strace" | "ltrace" => skip_options(rest, &["-e", "-o", "-p", "-s", "-u"], 0),
        "nsenter" => skip_options(rest, &["-t", "-S", "-G"], 0),
        _ => skip_options(rest, &[], 0),
    }
}

/// `-c TEXT` among the words.
fn text_option(words: &[Word]) -> Option<String> {
    let at = words.iter().position(|word| word.text == "-c")?;
    words.get(at + 1).and_then(|word| word.value.clone())
}

fn skip_options<'a>(words: &'a [Word], with_value: &[&str], positions: usize) -> Unwrapped<'a> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if word.text == "--" {
            at += 1;
            break;
        }
        if !word.text.starts_with('-') {
            break;
        }
        at += if with_value.contains(&word.text.as_str()) { 2 } else { 1 };
    }
    match words.get(at + positions..) {
        Some(inner) if !inner.is_empty() => Unwrapped::Words(inner, false),
        Some(_) | None => Unwrapped::Nothing,
    }
}

fn skip_env(words: &[Word]) -> Unwrapped<'_> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        match word.text.as_str() {
            "-S" | "--split-string" => {
                return match words.get(at + 1).and_then(|word| word.value.clone()) {
                    Some(text) => Unwrapped::Text(text),
                    None => Unwrapped::Unsure,
                };
            }
            "-u" | "--unset" | "-C" | "--chdir" => at += 2,
            "--" => {
                at += 1;
                break;
            }
            text if text.starts_with('-') || is_assignment(text) => at += 1,
            _ => break,
        }
    }
    match words.get(at..) {
        Some(inner) if !inner.is_empty() => Unwrapped::Words(inner, false),
        Some(_) | None => Unwrapped::Nothing,
    }
}
