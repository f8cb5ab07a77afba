//! Text of people, workers and other programs, made harmless for whoever reads it.

use std::borrow::Cow;
use std::fmt::Write;

use unicode_width::UnicodeWidthChar;

/// Whether a character is not seen itself but moves the cursor, reorders the line or hides what stands beside it, or is
/// no character of XML.
///
/// ```
/// use dispatch_core::printable::is_hidden;
///
/// assert!(is_hidden('\u{1b}') && is_hidden('\u{9b}') && is_hidden('\u{202e}'));
/// assert!(!is_hidden(' ') && !is_hidden('é') && !is_hidden('日'));
/// ```
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}')
        || matches!(c, '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The most marks that one character carries: as many as any script stacks. More would climb out of the line.
const MARKS: usize = 3;

/// Counts the marks on a character.
struct Marks(usize);

impl Marks {
    /// Nothing that carries marks yet: one here would sit on what stands before the text.
    const ON_NOTHING: Self = Self(MARKS);

    /// Whether a character may stand where it does.
    fn admit(&mut self, c: char) -> bool {
        *self = match c.width() {
            _ if c.is_whitespace() => Self::ON_NOTHING,
            Some(0) => Self(self.0.saturating_add(1)),
            Some(_) | None => Self(0),
        };
        self.0 <= MARKS || c.is_whitespace()
    }
}

/// The text on one line, as a title or a label: runs of white space become a space; hidden characters and marks that
/// pile up are left out.
pub fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut marks = Marks::ON_NOTHING;
    for c in text.chars() {
        if c.is_whitespace() {
            marks = Marks::ON_NOTHING;
            if !out.is_empty() && !out.ends_with(' ') {
                out.push(' ');
            }
        } else if !is_hidden(c) && marks.admit(c) {
            out.push(c);
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// The text with every hidden character and every mark that piles up written out, line ends too.
pub fn shown(text: &str) -> Cow<'_, str> {
    shown_but(text, &[])
}

/// The same for a text of several lines, whose line ends and tabs stay.
pub fn shown_lines(text: &str) -> Cow<'_, str> {
    shown_but(text, &['\n', '\t'])
}

fn shown_but<'a>(text: &'a str, kept: &[char]) -> Cow<'a, str> {
    let mut marks = Marks::ON_NOTHING;
    let mut stays = |c: char| kept.contains(&c) || !is_hidden(c) && marks.admit(c);
    let Some(first) = text.char_indices().find(|(_, c)| !stays(*c)).map(|(at, _)| at) else {
        return Cow::Borrowed(text);
    };
    let (plain, rest) = text.split_at(first);
    let mut out = plain.to_owned();
    for (at, c) in rest.char_indices() {
        match c {
            c if at > 0 && stays(c) => out.push(c),
            '\n' | '\r' | '\t' | '\0' => out.extend(c.escape_debug()),
            c => out.extend(c.escape_unicode()),
        }
    }
    Cow::Owned(out)
}

/// A JSON document with every hidden character of its strings escaped. Nothing outside a string is one but the blanks
/// of ASCII, and those inside are escaped already.
pub fn json(document: &str) -> Cow<'_, str> {
    let escaped = |c: char| !c.is_ascii() && is_hidden(c) || c == '\u{7f}';
    if !document.chars().any(escaped) {
        return Cow::Borrowed(document);
    }
    let mut out = String::with_capacity(document.len());
    for c in document.chars() {
        if escaped(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let written = write!(out, "\\u{unit:04x}");
                debug_assert!(written.is_ok(), "a String takes every write");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use test_case::test_case;

    use super::*;

    #[test_case("a\r\n\tb  c", "a b c"; "white space")]
    #[test_case("  a ", "a"; "ends")]
    #[test_case("a\u{1b}[31mb\u{0}", "a[31mb"; "control characters")]
    #[test_case("a\u{202e}b\u{200b}c\u{2066}d", "abcd"; "characters that reorder or hide")]
    #[test_case("é 日本 🎉", "é 日本 🎉"; "everything else stays")]
    #[test_case("e\u{301}\u{323}\u{300} x", "e\u{301}\u{323}\u{300} x"; "as many marks as a script stacks")]
    #[test_case("a\u{301}\u{301}\u{301}\u{301}\u{301}b", "a\u{301}\u{301}\u{301}b"; "marks that pile up")]
    #[test_case("\u{301}a \u{301}b", "a b"; "marks on nothing")]
    fn a_label_is_one_harmless_line(text: &str, expected: &str) {
        assert_eq!(one_line(text), expected);
    }

    #[test]
    fn hidden_characters_are_written_out() {
        assert_eq!(shown("a\u{1b}[2Jb\n\u{9b}c\u{202e}d"), "a\\u{1b}[2Jb\\n\\u{9b}c\\u{202e}d");
        assert_eq!(shown("a\r\nb\t\u{61c}"), "a\\r\\nb\\t\\u{61c}");
        assert_eq!(shown_lines("a\n\tb\u{2066}"), "a\n\tb\\u{2066}");
        assert_eq!(shown("a\u{301}\u{301}\u{301}\u{301}"), "a\u{301}\u{301}\u{301}\\u{301}");
        assert!(matches!(shown("ä b 日本 🎉 e\u{301}"), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn a_document_means_the_same_and_holds_no_hidden_character(
            pieces in proptest::collection::vec(any::<char>(), 0..20),
            at in 0_usize..6,
        ) {
            let hidden = ['\u{7f}', '\u{85}', '\u{9b}', '\u{202e}', '\u{feff}', '\u{e0041}'];
            let text: String = pieces.into_iter().chain([hidden[at]]).collect();
            let document = serde_json::to_string_pretty(&[&text]).unwrap();
            let document = json(&document);
            prop_assert!(document.chars().all(|c| c == '\n' || !is_hidden(c)), "{document:?}");
            prop_assert_eq!(serde_json::from_str::<Vec<String>>(&document).unwrap(), [text]);
        }
    }
}
