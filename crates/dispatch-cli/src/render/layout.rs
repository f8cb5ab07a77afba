//! Laying text out in the width of a terminal; without a width nothing is wrapped, so that programs read whole lines.

use unicode_width::UnicodeWidthChar;

/// How far the continuation of a line is indented beyond its beginning.
const CONTINUED: usize = 4;

/// How many columns a text takes.
pub(crate) fn width_of(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// Breaks each line of a text at blanks so that it fits, with the rest indented. A word that is longer than the line
/// stays whole, so that it can be copied.
pub(crate) fn wrap(text: &str, columns: Option<usize>) -> String {
    let lines: Vec<String> = text
        .split('\n')
        .flat_map(|line| match columns {
            Some(columns) if width_of(line) > columns => {
                let indent = line.len() - line.trim_start_matches(' ').len();
                wrapped(line, columns, indent, indent + CONTINUED)
            }
            Some(_) | None => vec![line.to_owned()],
        })
        .collect();
    lines.join("\n")
}

/// The words of a text in lines that fit; the first is indented by `first`, the others by `rest`.
fn wrapped(text: &str, columns: usize, first: usize, rest: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = " ".repeat(first);
    let mut used = first;
    let mut empty = true;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let width = width_of(word);
        if !empty && used + 1 + width > columns {
            lines.push(std::mem::replace(&mut line, " ".repeat(rest)));
            (used, empty) = (rest, true);
        }
        if !empty {
            line.push(' ');
            used += 1;
        }
        line.push_str(word);
        used += width;
        empty = false;
    }
    if !empty {
        lines.push(line);
    }
    lines
}

/// Rows of cells as lines, indented by two: in columns where that fits, otherwise each row as text, cells after the
/// first on lines of their own where they need to. A column without any text takes no room.
pub(crate) fn table(rows: &[Vec<String>], columns: Option<usize>) -> Vec<String> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count)
        .map(|at| rows.iter().filter_map(|row| row.get(at)).map(|cell| width_of(cell)).max())
        .map(Option::unwrap_or_default)
        .collect();
    let aligned: Vec<String> = rows.iter().map(|row| in_columns(row, &widths)).collect();
    let fits = |columns| aligned.iter().all(|line| width_of(line) <= columns);
    match columns {
        Some(columns) if !fits(columns) => {
            rows.iter().flat_map(|row| stacked(row, columns)).collect()
        }
        Some(_) | None => aligned,
    }
}

fn in_columns(row: &[String], widths: &[usize]) -> String {
    let mut line = String::new();
    for (cell, width) in row.iter().zip(widths).filter(|(_, width)| **width > 0) {
        line.push_str("  ");
        line.push_str(cell);
        line.push_str(&" ".repeat(width - width_of(cell)));
    }
    line.trim_end().to_owned()
}

fn stacked(row: &[String], columns: usize) -> Vec<String> {
    let indent = 2 + CONTINUED;
    let mut lines = Vec::new();
    let mut line = String::new();
    for cell in row.iter().filter(|cell| !cell.is_empty()) {
        let gap = if line.is_empty() { 0 } else { width_of(&line) };
        if gap > 0 && gap + 2 + width_of(cell) > columns {
            lines.push(std::mem::take(&mut line));
        }
        if line.is_empty() {
            let first = if lines.is_empty() { 2 } else { indent };
            let mut more = wrapped(cell, columns, first, indent);
            line = more.pop().unwrap_or_default();
            lines.extend(more);
        } else {
            line.push_str("  ");
            line.push_str(cell);
        }
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    const LINE: &str = "T-1: waiting, lane-paused: The frontier lane is paused until somebody looks at /a/path/that/is/longer/than/a/line/of/the/terminal";

    #[test]
    fn a_line_is_broken_at_blanks_and_a_long_word_stays_whole() {
        assert_snapshot!(wrap(LINE, Some(40)), @r"
        T-1: waiting, lane-paused: The frontier
            lane is paused until somebody looks
            at
            /a/path/that/is/longer/than/a/line/of/the/terminal
        ");
        assert_eq!(wrap(LINE, None), LINE);
        assert_eq!(wrap("short\n  lines", Some(40)), "short\n  lines");
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(wrap("ご注文は ご注文は", Some(12)), "ご注文は\n    ご注文は");
    }

    #[test]
    fn a_table_has_columns_where_they_fit_and_no_gap_for_an_empty_one() {
        let row = |cells: [&str; 4]| cells.map(str::to_owned).to_vec();
        let rows = [
            row(["T-1", "", "frontier", "last sign of life 3 s ago"]),
            row(["T-10", "", "local", "no supervisor: the next pass recovers it"]),
        ];
        assert_snapshot!(table(&rows, None).join("\n"), @r"
          T-1   frontier  last sign of life 3 s ago
          T-10  local     no supervisor: the next pass recovers it
        ");
        assert_snapshot!(table(&rows, Some(30)).join("\n"), @r"
          T-1  frontier
              last sign of life 3 s
              ago
          T-10  local
              no supervisor: the next
              pass recovers it
        ");
    }
}
