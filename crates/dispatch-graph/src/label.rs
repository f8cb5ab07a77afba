//! Text of a task as one line of a label, whatever a person or a worker wrote.

use unicode_width::UnicodeWidthChar;

/// The text on one line: runs of white space become a space, and what would move the cursor, reorder the line or be
/// no character of XML is left out.
pub(crate) fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_whitespace() {
            if !out.is_empty() && !out.ends_with(' ') {
                out.push(' ');
            }
        } else if !is_hidden(c) {
            out.push(c);
        }
    }
    out.truncate(out.trim_end().len());
    out
}

fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e007f}')
}

/// The text cut to a number of columns, with the cut marked.
pub(crate) fn shorten(text: &str, columns: usize) -> String {
    let width = |c: char| c.width().unwrap_or(0);
    if text.chars().map(width).sum::<usize>() <= columns {
        return text.to_owned();
    }
    let mut used = 0;
    let kept: String = text
        .chars()
        .take_while(|c| {
            used += width(*c);
            used < columns
        })
        .collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("a\r\n\tb  c", "a b c"; "white space")]
    #[test_case("  a ", "a"; "ends")]
    #[test_case("a\u{1b}[31mb\u{0}", "a[31mb"; "control characters")]
    #[test_case("a\u{202e}b\u{200b}c\u{2066}d", "abcd"; "characters that reorder or hide")]
    #[test_case("é 日本 🎉", "é 日本 🎉"; "everything else stays")]
    fn a_label_is_one_harmless_line(text: &str, expected: &str) {
        assert_eq!(one_line(text), expected);
    }

    #[test_case("short", 5, "short")]
    #[test_case("longer", 5, "long…")]
    #[test_case("日本語", 5, "日本…")]
    #[test_case("a b c d", 4, "a b…")]
    fn a_long_label_is_cut_between_characters_and_says_so(
        text: &str,
        columns: usize,
        expected: &str,
    ) {
        assert_eq!(shorten(text, columns), expected);
    }
}
