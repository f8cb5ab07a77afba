//! How wide text is, on the safe side for the common sans-serif fonts.

use unicode_width::UnicodeWidthChar;

/// The width of a text in pixels.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(em).sum::<f64>() * size
}

fn em(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | 'I' | '\'' | '.' | ',' | ':' | ';' | '|' | '!' | ' ' => 0.36,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '-' | '/' | '\\' | '"' | '`' => 0.46,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' | '→' => 1.02,
        '+' | '=' | '<' | '>' | '~' | '^' | '#' | 'Q' | 'O' | 'G' | 'D' | 'N' | 'H' | 'U' | '&' => {
            0.86
        }
        'A'..='Z' => 0.76,
        c if c.is_ascii() => 0.65,
        // Words and rules that are one character.
        '\u{fdfd}' => 12.0,
        '\u{fdf0}'..='\u{fdfc}' | '\u{2e3a}' | '\u{2e3b}' | '\u{12000}'..='\u{1254f}' => 4.0,
        c => match c.width() {
            Some(0) | None => 0.0,
            Some(1) if c < '\u{250}' => 0.8,
            Some(_) => 1.1,
        },
    }
}

/// The text in at most `lines` lines of a width, broken between words where that is possible; what does not fit is cut
/// and marked.
pub(crate) fn wrap(text: &str, size: f64, most: f64, lines: usize) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() && out.len() < lines {
        let fits = fitting(rest, size, most);
        if fits == rest.len() {
            out.push(rest.to_owned());
            return out;
        }
        if out.len() + 1 == lines {
            let fits = fitting(rest, size, most - em('…') * size);
            out.push(format!("{}…", rest[..fits].trim_end()));
            return out;
        }
        let at = rest[..fits].rfind(' ').filter(|at| *at * 3 > fits).unwrap_or(fits);
        out.push(rest[..at].trim_end().to_owned());
        rest = rest[at..].trim_start();
    }
    out
}

/// How many bytes of a text fit.
fn fitting(text: &str, size: f64, most: f64) -> usize {
    let mut used = 0.0;
    for (at, c) in text.char_indices() {
        used += em(c) * size;
        if used > most {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_line_is_wider_than_its_room(text in "\\PC{0,80}", most in 60.0..300.0) {
            for line in wrap(&text, 12.0, most, 2) {
                prop_assert!(width(&line, 12.0) <= most + 0.001, "{line}");
            }
        }

        #[test]
        fn what_fits_is_whole_and_what_does_not_is_marked(text in "[a-zA-Z ]{0,60}") {
            let lines = wrap(&text, 12.0, 200.0, 2);
            let words = |text: &str| text.split_whitespace().collect::<String>();
            let joined = words(&lines.concat());
            prop_assert!(joined == words(&text) || joined.ends_with('…'));
        }
    }

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrap("one two three", 10.0, 50.0, 3), ["one two", "three"]);
        assert_eq!(wrap("Donaudampfschifffahrt", 10.0, 50.0, 2), ["Donauda", "mpfsc…"]);
    }
}
