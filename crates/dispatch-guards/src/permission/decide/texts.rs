//! The texts of a simple command that a rule is held against, once variables and wrappers are looked
//! through (F1, F7).

use super::syntax::{Part, Word};
use crate::permission::rule::collapse;
use crate::permission::shell::ShellPattern;
use crate::permission::wrappers::{
    AllowSkips, DenySkips, ENVIRONMENT_VALUES, LOCK_VALUES, TIMEOUT_VALUES, WATCH_VALUES,
    is_assignment, is_plain_listed, wrapper,
};

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
    for word in words {
        text.push_str(if word.gap.is_empty() { " " } else { &word.gap });
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
        if !is_plain_listed(&word.text) {
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

/// The command behind a wrapper that an allow looks through; whether it was `xargs`.
pub(super) fn unwrap_for_allow(words: &[Word]) -> Option<(&[Word], bool)> {
    let name = words.first()?.value.as_deref()?;
    let rest = &words[1..];
    let skips = wrapper(name)?.allow?;
    let skipped = match skips {
        AllowSkips::TimeoutOptions => skip_timeout(rest)?,
        AllowSkips::Priority => skip_nice(rest)?,
        AllowSkips::GluedOptions => {
            let glued = |w: &&Word| {
                w.text.len() > 2 && ["-i", "-o", "-e"].iter().any(|flag| w.text.starts_with(flag))
            };
            let count = rest.iter().take_while(glued).count();
            if count == 0 {
                return None;
            }
            count
        }
        AllowSkips::PathOption => usize::from(rest.first().is_some_and(|word| word.text == "-p")),
        AllowSkips::Nothing | AllowSkips::NothingForPatterns => 0,
    };
    let inner = rest.get(skipped..)?;
    let first = inner.first()?;
    // An option of the wrapper that is not understood, or a variable, ends the look.
    if first.text.starts_with('-') || is_assignment(&first.text) {
        return None;
    }
    Some((inner, skips == AllowSkips::NothingForPatterns))
}

fn is_duration(text: &str) -> bool {
    let digits = text.trim_end_matches(['s', 'm', 'h', 'd']);
    text.len() - digits.len() <= 1
        && digits.chars().all(|c| c.is_ascii_digit() || c == '.')
        && digits.starts_with(|c: char| c.is_ascii_digit())
}

fn skip_timeout(words: &[Word]) -> Option<usize> {
    let mut at = 0;
    loop {
        let word = words.get(at)?.text.as_str();
        at += match word {
            "--foreground" | "--preserve-status" | "-v" | "--verbose" => 1,
            _ if TIMEOUT_VALUES.contains(&word) => 2,
            _ if word.starts_with("--kill-after=") || word.starts_with("--signal=") => 1,
            _ if word.starts_with("-k") || word.starts_with("-s") => 1,
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
    let Some(wrapper) = wrapper(name) else { return Unwrapped::Nothing };
    if let Some((inner, for_patterns)) = unwrap_for_allow(words) {
        return Unwrapped::Words(inner, for_patterns);
    }
    match wrapper.deny {
        DenySkips::AsAllow => Unwrapped::Nothing,
        DenySkips::Options { with_value, words } => skip_options(rest, with_value, words),
        DenySkips::Environment => skip_env(rest),
        DenySkips::LockedCommand => match text_option(rest) {
            Some(text) => Unwrapped::Text(text),
            None => skip_options(rest, LOCK_VALUES, 1),
        },
        DenySkips::CommandOption => text_option(rest).map_or(Unwrapped::Nothing, Unwrapped::Text),
        DenySkips::Watched => match skip_options(rest, WATCH_VALUES, 0) {
            Unwrapped::Words([only], _) => {
                Unwrapped::Text(only.value.clone().unwrap_or_else(|| only.text.clone()))
            }
            other => other,
        },
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
            option if ENVIRONMENT_VALUES.contains(&option) => at += 2,
            text if text.starts_with('-') || is_assignment(text) => at += 1,
            _ => break,
        }
    }
    match words.get(at..) {
        Some(inner) if !inner.is_empty() => Unwrapped::Words(inner, false),
        Some(_) | None => Unwrapped::Nothing,
    }
}
