//! Front matter as the board program writes it.

use crate::js_text;
use crate::task_file::Header;
use crate::yaml::{self, Kind};

/// The width after which the program folds a text.
const WIDTH: usize = 80;

/// The front matter without its rules, without a line feed at its end.
pub(super) fn header(header: &Header) -> String {
    let mut out = Dump(String::new());
    out.text("id", &header.id);
    out.text("title", &header.title);
    out.text("status", &header.status);
    out.list("assignee", &header.assignee);
    out.optional("reporter", header.reporter.as_deref());
    out.text("created_date", &header.created_date);
    out.optional("updated_date", header.updated_date.as_deref());
    out.optional("due_date", header.due_date.as_deref());
    out.list("labels", &header.labels);
    out.optional("milestone", header.milestone.as_deref());
    out.list("dependencies", &header.dependencies);
    out.filled_list("references", &header.references);
    out.filled_list("documentation", &header.documentation);
    out.filled_list("modified_files", &header.modified_files);
    out.optional("parent_task_id", header.parent_task_id.as_deref());
    out.filled_list("subtasks", &header.subtasks);
    out.optional("priority", header.priority.as_deref());
    out.optional("type", header.kind.as_deref());
    out.optional("project", header.project.as_deref());
    if let Some(ordinal) = header.ordinal {
        out.entry("ordinal", &number(ordinal));
    }
    out.optional("onStatusChange", header.own_callback.as_deref());
    js_text::trim(&out.0).to_owned()
}

struct Dump(String);

impl Dump {
    fn entry(&mut self, key: &str, value: &str) {
        let space = if value.starts_with('\n') { "" } else { " " };
        self.0.extend([key, ":", space, value, "\n"]);
    }

    fn text(&mut self, key: &str, value: &str) {
        self.entry(key, &scalar(value, 1));
    }

    fn optional(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            self.text(key, value);
        }
    }

    fn list(&mut self, key: &str, items: &[String]) {
        if items.is_empty() {
            self.entry(key, "[]");
        } else {
            self.filled_list(key, items);
        }
    }

    fn filled_list(&mut self, key: &str, items: &[String]) {
        if items.is_empty() {
            return;
        }
        let lines: Vec<String> =
            items.iter().map(|item| format!("\n  - {}", scalar(item, 2))).collect();
        self.entry(key, &lines.concat());
    }
}

fn number(value: f64) -> String {
    if value.is_nan() {
        return ".nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    if value == 0.0 && value.is_sign_negative() {
        return "-0.0".to_owned();
    }
    let text = js_text::number(value);
    let whole = value.fract() == 0.0;
    match text.split_once('e') {
        Some((digits, exponent)) if !whole && !digits.contains('.') => {
            format!("{digits}.e{exponent}")
        }
        _ => text,
    }
}

/// A text as the program writes it at a depth.
fn scalar(text: &str, depth: usize) -> String {
    const QUOTED_WORDS: [&str; 16] = [
        "y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "n", "N", "no", "No", "NO", "off", "Off",
        "OFF",
    ];
    if text.is_empty() {
        return "''".to_owned();
    }
    if QUOTED_WORDS.contains(&text) {
        return format!("'{text}'");
    }
    let indent = 2 * depth;
    let width = (WIDTH - indent).max(WIDTH.min(40));
    match style(text, width) {
        Style::Plain => text.to_owned(),
        Style::Single => format!("'{}'", text.replace('\'', "''")),
        Style::Literal => format!("|{}{}", block_header(text), block(text, indent)),
        Style::Folded => format!(">{}{}", block_header(text), block(&folded(text, width), indent)),
        Style::Double => double(text),
    }
}

enum Style {
    Plain,
    Single,
    Literal,
    Folded,
    Double,
}

fn style(text: &str, width: usize) -> Style {
    let chars: Vec<char> = text.chars().collect();
    let mut plain = may_start_plain(chars[0]) && !matches!(chars[chars.len() - 1], ' ' | '\t');
    let (mut broken, mut long) = (false, false);
    let mut line_start = 0;
    let is_long = |start: usize, end: usize| end - start > width && chars.get(start) != Some(&' ');
    for (at, c) in chars.iter().enumerate() {
        if *c == '\n' {
            broken = true;
            long = long || is_long(line_start, at);
            line_start = at + 1;
        } else if !printable(*c) {
            return Style::Double;
        }
        plain = plain && may_be_plain(*c, at.checked_sub(1).map(|before| chars[before]));
    }
    long = long || is_long(line_start, chars.len());
    if !broken && !long {
        let ambiguous = text == "<<" || yaml::resolve(text) != Kind::Text;
        return if plain && !ambiguous { Style::Plain } else { Style::Single };
    }
    if long { Style::Folded } else { Style::Literal }
}

/// Characters outside the basic plane count as unprintable, since the program looks at halves of them.
fn printable(c: char) -> bool {
    matches!(c, ' '..='~' | '\u{a1}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}')
        && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}')
}

fn may_start_plain(c: char) -> bool {
    printable(c)
        && !matches!(
            c,
            ' ' | '-'
                | '?'
                | ':'
                | ','
                | '['
                | ']'
                | '{'
                | '}'
                | '#'
                | '&'
                | '*'
                | '!'
                | '|'
                | '='
                | '>'
                | '\''
                | '"'
                | '%'
                | '@'
                | '`'
        )
}

fn may_be_plain(c: char, before: Option<char>) -> bool {
    printable(c)
        && !matches!(c, ',' | '[' | ']' | '{' | '}' | ':')
        && (c != '#' || before.is_some_and(|before| printable(before) && before != ' '))
}

fn block_header(text: &str) -> String {
    let indented = text.trim_start_matches('\n').starts_with(' ');
    let chomp = if text == "\n" || text.ends_with("\n\n") {
        "+"
    } else if text.ends_with('\n') {
        ""
    } else {
        "-"
    };
    format!("{}{chomp}\n", if indented { "2" } else { "" })
}

fn block(text: &str, indent: usize) -> String {
    let pad = " ".repeat(indent);
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        if line != "\n" {
            out.push_str(&pad);
        }
        out.push_str(line);
    }
    if out.ends_with('\n') {
        out.pop();
    }
    out
}

fn folded(text: &str, width: usize) -> String {
    let first = text.find('\n').unwrap_or(text.len());
    let mut out = folded_line(&text[..first], width);
    let mut before_indented = text.starts_with(['\n', ' ']);
    let mut rest = &text[first..];
    while !rest.is_empty() {
        let feeds = rest.len() - rest.trim_start_matches('\n').len();
        let line_end = rest[feeds..].find('\n').map_or(rest.len(), |at| feeds + at);
        let line = &rest[feeds..line_end];
        let indented = line.starts_with(' ');
        out.push_str(&rest[..feeds]);
        if !before_indented && !indented && !line.is_empty() {
            out.push('\n');
        }
        out.push_str(&folded_line(line, width));
        before_indented = indented;
        rest = &rest[line_end..];
    }
    out
}

fn folded_line(line: &str, width: usize) -> String {
    if line.is_empty() || line.starts_with(' ') {
        return line.to_owned();
    }
    let chars: Vec<char> = line.chars().collect();
    let text = |from: usize, to: usize| chars[from..to].iter().collect::<String>();
    let (mut start, mut current) = (0, 0);
    let mut out = String::new();
    let mut at = 0;
    while at + 1 < chars.len() {
        if chars[at] == ' ' && chars[at + 1] != ' ' {
            if at - start > width {
                let end = if current > start { current } else { at };
                out.push('\n');
                out.push_str(&text(start, end));
                start = end + 1;
            }
            current = at;
            at += 1;
        }
        at += 1;
    }
    out.push('\n');
    if chars.len() - start > width && current > start {
        out.push_str(&text(start, current));
        out.push('\n');
        out.push_str(&text(current + 1, chars.len()));
    } else {
        out.push_str(&text(start, chars.len()));
    }
    out.remove(0);
    out
}

fn double(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '\0' => out.push_str("\\0"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            '\u{1b}' => out.push_str("\\e"),
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{85}' => out.push_str("\\N"),
            '\u{a0}' => out.push_str("\\_"),
            '\u{2028}' => out.push_str("\\L"),
            '\u{2029}' => out.push_str("\\P"),
            _ if printable(c) => out.push(c),
            _ => {
                let code = u32::from(c);
                let escape = match code {
                    0..=0xff => format!("\\x{code:02X}"),
                    0x100..=0xffff => format!("\\u{code:04X}"),
                    _ => format!("\\U{code:08X}"),
                };
                out.push_str(&escape);
            }
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("plain words", "plain words"; "plain")]
    #[test_case("tier:minor", "'tier:minor'"; "a colon")]
    #[test_case("@worker", "'@worker'"; "an at sign")]
    #[test_case("it's", "it's"; "an apostrophe inside is plain")]
    #[test_case("'it'", "'''it'''"; "an apostrophe first")]
    #[test_case("no", "'no'"; "a word of older YAML")]
    #[test_case("1e3", "'1e3'"; "a number")]
    #[test_case("2026-01-01", "'2026-01-01'"; "a date")]
    #[test_case("ship 🚀", "\"ship \\U0001F680\""; "beyond the basic plane")]
    #[test_case("a\nb", "|-\n  a\n  b"; "two lines")]
    #[test_case("a #b", "'a #b'"; "a comment sign")]
    #[test_case("a#b", "a#b"; "a sharp inside a word")]
    fn a_text_is_written_as_the_program_writes_it(text: &str, expected: &str) {
        assert_eq!(scalar(text, 1), expected);
    }

    #[test]
    fn a_long_text_folds_at_the_last_blank_that_fits() {
        let words = ["word"; 20].join(" ");
        let expected = format!(">-\n  {}\n  {}", ["word"; 15].join(" "), ["word"; 5].join(" "));
        assert_eq!(scalar(&words, 1), expected);
    }
}
