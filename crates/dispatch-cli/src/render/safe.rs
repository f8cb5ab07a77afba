//! Text that others wrote, harmless on a terminal: the one place that makes it so.

use std::borrow::Cow;

use dispatch_close::text::is_direction_mark;

/// Whether a character could move the cursor, colour what follows, or make it read in another order.
fn is_unsafe(c: char) -> bool {
    c.is_control() || is_direction_mark(c) || matches!(c, '\u{2028}' | '\u{2029}')
}

fn escaped(text: &str, kept: fn(char) -> bool) -> Cow<'_, str> {
    let shown = |c: char| !is_unsafe(c) || kept(c);
    if text.chars().all(shown) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            _ if shown(c) => safe.push(c),
            '\n' | '\r' | '\t' => safe.extend(c.escape_debug()),
            _ => safe.extend(c.escape_unicode()),
        }
    }
    Cow::Owned(safe)
}

/// One line of text: line breaks are shown escaped too.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// Text of many lines.
pub(crate) fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| matches!(c, '\n' | '\t'))
}

/// A JSON document with the same value: such characters stand in its strings alone, where they can be escaped.
pub(crate) fn json(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unsafe(c) && c != '\n' {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                safe.extend(["\\u", &format!("{unit:04x}")]);
            }
        } else {
            safe.push(c);
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("a\u{1b}[2Jb", "a\\u{1b}[2Jb"; "an escape")]
    #[test_case("a\u{9b}2Jb", "a\\u{9b}2Jb"; "the same in one character")]
    #[test_case("a\u{202e}b\u{2066}c\u{61c}", "a\\u{202e}b\\u{2066}c\\u{61c}"; "other directions")]
    #[test_case("a\r\nb\t", "a\\r\\nb\\t"; "line ends")]
    #[test_case("ä ご b", "ä ご b"; "letters")]
    fn what_moves_a_cursor_or_turns_text_around_is_shown_and_not_obeyed(text: &str, shown: &str) {
        assert_eq!(plain(text), shown);
    }

    #[test]
    fn many_lines_stay_many_lines() {
        assert_eq!(lines("a\n\tb\r\n\u{1b}c"), "a\n\tb\\r\n\\u{1b}c");
    }

    #[test]
    fn a_json_document_keeps_its_value() {
        let value = serde_json::json!({ "title": "a\u{1b}\u{9b}\u{202e}\u{7f}ä" });
        let text = json(&serde_json::to_string_pretty(&value).unwrap());
        assert!(text.chars().all(|c| !is_unsafe(c) || c == '\n'), "{text:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
