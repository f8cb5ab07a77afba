//! Text as the board program's runtime sees it: which characters are blank, where lines end, how numbers print.
//!
//! A reader that disagrees with the program here would see markers, items or keys that the program does not see.

/// Whether the runtime counts `c` as white space (`\s`, `trim`).
pub(crate) fn is_space(c: char) -> bool {
    matches!(
        c,
        '\t' | '\n' | '\u{b}' | '\u{c}' | '\r' | ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200a}'
                | '\u{2028}'
                | '\u{2029}'
                | '\u{202f}'
                | '\u{205f}'
                | '\u{3000}'
                | '\u{feff}'
    )
}

/// Whether `c` ends a line for `^`, `$` and `.`.
pub(crate) fn ends_line(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

/// `text` without white space at both ends.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// `text` without white space at its end.
pub(crate) fn trim_end(text: &str) -> &str {
    text.trim_end_matches(is_space)
}

/// `text` without white space at its start.
pub(crate) fn trim_start(text: &str) -> &str {
    text.trim_start_matches(is_space)
}

/// The lines of `text` with the offset of each, ended by any line terminator.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = Some(0);
    std::iter::from_fn(move || {
        let start = rest?;
        let tail = &text[start..];
        if let Some((at, width)) = find_line_end(tail) {
            rest = Some(start + at + width);
            Some((start, &tail[..at]))
        } else {
            rest = None;
            Some((start, tail))
        }
    })
}

/// Where the first line of `text` ends, and how many bytes its terminator has.
fn find_line_end(text: &str) -> Option<(usize, usize)> {
    // The first byte of both Unicode line terminators, and of other characters too.
    const WIDE: u8 = 0xe2;
    memchr::memchr3_iter(b'\n', b'\r', WIDE, text.as_bytes()).find_map(|at| {
        let c = text[at..].chars().next()?;
        ends_line(c).then_some((at, c.len_utf8()))
    })
}

/// `text` with every carriage return before a line feed removed.
pub(crate) fn to_lf(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// Whether `text` begins with `prefix`, ASCII letter case aside.
pub(crate) fn starts_with_ignore_case(text: &str, prefix: &str) -> bool {
    text.len() >= prefix.len()
        && text.as_bytes()[..prefix.len()].eq_ignore_ascii_case(prefix.as_bytes())
}

/// Where `needle` first occurs in `text` at or after `from`, ASCII letter case aside.
pub(crate) fn find_ignore_case(text: &str, needle: &str, from: usize) -> Option<usize> {
    let (hay, needle) = (text.as_bytes(), needle.as_bytes());
    if needle.is_empty() || hay.len() < needle.len() {
        return None;
    }
    let starts = hay.get(from..=hay.len() - needle.len())?;
    let (lower, upper) = (needle[0].to_ascii_lowercase(), needle[0].to_ascii_uppercase());
    memchr::memchr2_iter(lower, upper, starts)
        .map(|at| from + at)
        .find(|at| hay[*at..*at + needle.len()].eq_ignore_ascii_case(needle))
}

/// The text the runtime prints for a number.
pub(crate) fn number(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let shortest = format!("{:e}", value.abs());
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if value < 0.0 { "-" } else { "" };
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let point = exponent + 1;
    let zeros = |n: i32| "0".repeat(usize::try_from(n).unwrap_or(0));
    let text = if count <= point && point <= 21 {
        format!("{digits}{}", zeros(point - count))
    } else if 0 < point && point <= 21 {
        let (whole, part) = digits.split_at(usize::try_from(point).unwrap_or(0));
        format!("{whole}.{part}")
    } else if -6 < point && point <= 0 {
        format!("0.{}{digits}", zeros(-point))
    } else {
        let (lead, rest) = digits.split_at(1);
        let dot = if rest.is_empty() { "" } else { "." };
        let plus = if exponent >= 0 { "+" } else { "" };
        format!("{lead}{dot}{rest}e{plus}{exponent}")
    };
    format!("{sign}{text}")
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case(2026.0, "2026")]
    #[test_case(0.5, "0.5")]
    #[test_case(-1.25, "-1.25")]
    #[test_case(1e21, "1e+21")]
    #[test_case(1e20, "100000000000000000000")]
    #[test_case(1.5e-7, "1.5e-7")]
    #[test_case(0.000_001, "0.000001")]
    fn numbers_print_as_the_runtime_prints_them(value: f64, expected: &str) {
        assert_eq!(number(value), expected);
    }

    #[test]
    fn lines_end_at_every_terminator() {
        let found: Vec<_> = lines("a\nb\rc\u{2028}d\n").collect();
        assert_eq!(found, [(0, "a"), (2, "b"), (4, "c"), (8, "d"), (10, "")]);
    }
}
