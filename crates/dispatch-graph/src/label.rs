//! Text of a task as a label of a bounded width, whatever a person or a worker wrote.

use dispatch_core::printable::one_line;
use unicode_width::UnicodeWidthChar;

/// A title, status or name as a label of at most so many columns.
pub(crate) fn label(text: &str, columns: usize) -> String {
    shorten(&one_line(text), columns)
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
