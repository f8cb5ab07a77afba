//! From the text of a test command to its words, refusing everything a shell would act on.

use super::{MAX_BYTES, MAX_WORDS, Refusal, RefusalReason};

/// Splits `text` into POSIX words (P6.1).
///
/// Nothing is left for a shell to interpret: what would expand, redirect, chain or match files is
/// refused before the words are made, so that the words and what a shell would run are the same.
pub(super) fn split(text: &str) -> Result<Vec<String>, Refusal> {
    if text.len() > MAX_BYTES {
        return Err(Refusal::new(RefusalReason::TooLong, shorten(text)));
    }
    refuse_shell_syntax(text)?;
    let words = shlex::split(text)
        .ok_or_else(|| Refusal::new(RefusalReason::UnbalancedQuotes, text.trim()))?;
    match words.first() {
        None => return Err(Refusal::new(RefusalReason::Empty, "")),
        Some(first) if first.is_empty() => {
            return Err(Refusal::new(RefusalReason::Empty, first));
        }
        Some(first) if first.starts_with('-') => {
            return Err(Refusal::new(RefusalReason::LeadingDash, first));
        }
        Some(first) if is_assignment(first) => {
            return Err(Refusal::new(RefusalReason::Assignment, first));
        }
        Some(_) => {}
    }
    match words.get(MAX_WORDS) {
        Some(word) => Err(Refusal::new(RefusalReason::TooManyWords, word)),
        None => Ok(words),
    }
}

/// Where the scanner stands in the text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quoting {
    None,
    Single,
    Double,
}

fn refuse_shell_syntax(text: &str) -> Result<(), Refusal> {
    let mut quoting = Quoting::None;
    let mut word_start = 0;
    let mut in_word = false;
    for (at, character) in text.char_indices() {
        if !in_word {
            word_start = at;
        }
        let refuse = |reason| Err(Refusal::new(reason, word_around(text, word_start, at)));
        if character == '\n' && quoting == Quoting::None {
            return refuse(RefusalReason::ShellSyntax { character });
        }
        if is_invisible(character) {
            return refuse(RefusalReason::ControlCharacter);
        }
        if let Some(reason) = find_meaning(quoting, character, in_word) {
            return Err(Refusal::new(reason, word_around(text, word_start, at)));
        }
        quoting = match (quoting, character) {
            (Quoting::Single, '\'') | (Quoting::Double, '"') => Quoting::None,
            (Quoting::None, '\'') => Quoting::Single,
            (Quoting::None, '"') => Quoting::Double,
            (Quoting::None | Quoting::Single | Quoting::Double, _) => quoting,
        };
        in_word = !(quoting == Quoting::None && character == ' ');
    }
    match quoting {
        Quoting::None => Ok(()),
        Quoting::Single | Quoting::Double => {
            Err(Refusal::new(RefusalReason::UnbalancedQuotes, shorten(&text[word_start..])))
        }
    }
}

/// What a shell would make of the character, if anything but itself or a quote.
fn find_meaning(quoting: Quoting, character: char, in_word: bool) -> Option<RefusalReason> {
    match quoting {
        Quoting::Single => None,
        Quoting::Double => match character {
            '$' | '`' => Some(RefusalReason::Expansion { character }),
            // A backslash is read differently by each quoting, and no allowed word needs one.
            '\\' => Some(RefusalReason::ShellSyntax { character }),
            _ => None,
        },
        Quoting::None => match character {
            ';' | '|' | '&' | '<' | '>' | '$' | '`' | '(' | ')' | '{' | '}' | '\\' => {
                Some(RefusalReason::ShellSyntax { character })
            }
            '#' | '~' | '!' if !in_word => Some(RefusalReason::ShellSyntax { character }),
            '*' | '?' | '[' | ']' => Some(RefusalReason::Glob),
            _ => None,
        },
    }
}

/// Whether a person reading the command could not see this character, or would see a plain blank.
fn is_invisible(character: char) -> bool {
    character.is_control()
        || (character.is_whitespace() && character != ' ')
        || matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

fn word_around(text: &str, start: usize, at: usize) -> String {
    let start = start.min(at);
    let end = text[at..].find(char::is_whitespace).map_or(text.len(), |offset| at + offset);
    let end =
        if end == at { at + text[at..].chars().next().map_or(0, char::len_utf8) } else { end };
    shorten(&text[start..end])
}

fn shorten(text: &str) -> String {
    text.chars().take(80).collect()
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let name = name.strip_suffix('+').unwrap_or(name);
        !name.is_empty()
            && !name.starts_with(|first: char| first.is_ascii_digit())
            && name.chars().all(|part| part.is_ascii_alphanumeric() || part == '_')
    })
}
