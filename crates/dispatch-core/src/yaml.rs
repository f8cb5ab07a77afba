//! Front matter as a tree of values, typed the way the board program types them.
//!
//! The events come from the parser under `serde-saphyr`; the types of plain scalars are those of YAML 1.1 as the
//! program's own library resolves them, so that a title of `007` reads as it does there.

use serde_saphyr::granit_parser::{Event, Parser, ScalarStyle};

use crate::js_text;

/// A value with the line it begins on, from 1.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) line: usize,
    pub(crate) value: Value,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Scalar(Scalar),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

/// A scalar as written and as resolved.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scalar {
    pub(crate) text: String,
    pub(crate) kind: Kind,
}

/// What a scalar is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Text,
    Null,
    Bool(bool),
    Number(f64),
    Date,
}

/// Why front matter cannot be read, with the line in it from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct YamlError {
    pub(crate) line: usize,
    pub(crate) cause: String,
}

impl Scalar {
    /// The text the program makes of it, and whether that text is certainly the program's.
    pub(crate) fn as_text(&self) -> (String, bool) {
        match self.kind {
            Kind::Text => (self.text.clone(), true),
            Kind::Null => ("null".to_owned(), true),
            Kind::Bool(value) => (value.to_string(), true),
            Kind::Number(value) => (js_text::number(value), true),
            Kind::Date => (self.text.clone(), false),
        }
    }

    /// Whether the program takes it for "not given".
    pub(crate) fn is_falsy(&self) -> bool {
        match self.kind {
            Kind::Text => self.text.is_empty(),
            Kind::Null => true,
            Kind::Bool(value) => !value,
            Kind::Number(value) => value == 0.0 || value.is_nan(),
            Kind::Date => false,
        }
    }
}

impl Node {
    /// The value as JSON, for showing and comparing.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match &self.value {
            Value::Scalar(scalar) => match scalar.kind {
                Kind::Null => Json::Null,
                Kind::Bool(value) => Json::Bool(value),
                Kind::Number(_) | Kind::Text | Kind::Date => Json::String(scalar.as_text().0),
            },
            Value::List(items) => Json::Array(items.iter().map(Self::to_json).collect()),
            Value::Map(entries) => entries
                .iter()
                .map(|(key, value)| (key.to_json().to_string(), value.to_json()))
                .collect::<serde_json::Map<_, _>>()
                .into(),
        }
    }
}

/// Reads one document.
pub(crate) fn parse(text: &str) -> Result<Node, YamlError> {
    let mut reader = Reader { parser: Parser::new_from_str(text), lines: text.lines().count() };
    let mut root = None;
    loop {
        let (event, line) = reader.next()?;
        match event {
            Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd => {}
            Event::StreamEnd => break,
            other if root.is_none() => root = Some(reader.node(other, line, 0)?),
            _ => return Err(YamlError { line, cause: "it holds a second document".to_owned() }),
        }
    }
    Ok(root.unwrap_or(Node { line: 1, value: Value::Map(Vec::new()) }))
}

struct Reader<'a> {
    parser: Parser<'a, serde_saphyr::granit_parser::StrInput<'a>>,
    lines: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, usize), YamlError> {
        loop {
            match self.parser.next_event() {
                Some(Ok((Event::Comment(..), _))) => {}
                Some(Ok((event, span))) => return Ok((event, span.start.line())),
                Some(Err(error)) => {
                    return Err(YamlError {
                        line: error.marker().line().max(1),
                        cause: format!("it is not valid YAML: {}", error.info()),
                    });
                }
                None => return Ok((Event::StreamEnd, self.lines)),
            }
        }
    }

    fn node(&mut self, event: Event<'a>, line: usize, depth: usize) -> Result<Node, YamlError> {
        let refuse = |cause: &str| Err(YamlError { line, cause: cause.to_owned() });
        if depth > 32 {
            return refuse("it nests values more than 32 deep");
        }
        let value = match event {
            Event::Scalar(_, _, _, Some(_))
            | Event::SequenceStart(_, _, Some(_))
            | Event::MappingStart(_, _, Some(_)) => return refuse("it uses a YAML tag"),
            Event::Alias(_) => return refuse("it uses a YAML alias"),
            Event::Scalar(text, style, _, None) => {
                let kind = if style == ScalarStyle::Plain { resolve(&text) } else { Kind::Text };
                Value::Scalar(Scalar { text: text.into_owned(), kind })
            }
            Event::SequenceStart(..) => {
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        (Event::SequenceEnd, _) => break Value::List(items),
                        (event, line) => items.push(self.node(event, line, depth + 1)?),
                    }
                }
            }
            Event::MappingStart(..) => {
                let mut entries = Vec::new();
                loop {
                    match self.next()? {
                        (Event::MappingEnd, _) => break Value::Map(entries),
                        (event, line) => {
                            let key = self.node(event, line, depth + 1)?;
                            let (event, line) = self.next()?;
                            entries.push((key, self.node(event, line, depth + 1)?));
                        }
                    }
                }
            }
            _ => return refuse("it is not valid YAML: a value is missing"),
        };
        Ok(Node { line, value })
    }
}

/// The type of a plain scalar.
pub(crate) fn resolve(text: &str) -> Kind {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Kind::Null,
        "true" | "True" | "TRUE" => return Kind::Bool(true),
        "false" | "False" | "FALSE" => return Kind::Bool(false),
        _ => {}
    }
    if let Some(value) = integer(text).or_else(|| float(text)) {
        return Kind::Number(value);
    }
    if is_date(text) { Kind::Date } else { Kind::Text }
}

/// Splits a leading sign off.
fn signed(text: &str) -> (f64, &str) {
    match text.as_bytes().first() {
        Some(b'-') => (-1.0, &text[1..]),
        Some(b'+') => (1.0, &text[1..]),
        _ => (1.0, text),
    }
}

fn integer(text: &str) -> Option<f64> {
    let (sign, digits) = signed(text);
    let in_base = |digits: &str, base: u32| {
        let ok = digits.chars().any(|c| c != '_')
            && !digits.ends_with('_')
            && digits.chars().all(|c| c == '_' || c.is_digit(base));
        ok.then(|| {
            digits
                .chars()
                .filter_map(|c| c.to_digit(base))
                .fold(0.0, |sum, digit| sum * f64::from(base) + f64::from(digit))
        })
    };
    if digits == "0" {
        return Some(0.0);
    }
    if let Some(rest) = digits.strip_prefix('0') {
        let value = match rest.as_bytes().first() {
            Some(b'b') => in_base(&rest[1..], 2),
            Some(b'x') => in_base(&rest[1..], 16),
            _ => in_base(rest, 8),
        };
        return value.map(|value| sign * value);
    }
    if digits.starts_with('_') {
        return None;
    }
    let (head, tail) = digits.split_at(digits.find(':').unwrap_or(digits.len()));
    if !head.bytes().any(|b| b.is_ascii_digit())
        || !head.bytes().all(|b| b.is_ascii_digit() || b == b'_')
        || head.ends_with('_')
    {
        return None;
    }
    let decimal: f64 = head.replace('_', "").parse().ok()?;
    if tail.is_empty() {
        return Some(sign * decimal);
    }
    sexagesimal(decimal, &tail[1..]).map(|value| sign * value)
}

fn sexagesimal(first: f64, rest: &str) -> Option<f64> {
    rest.split(':').try_fold(first, |sum, part| {
        let ok = matches!(part.as_bytes(), [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9']);
        ok.then(|| part.parse::<f64>().ok()).flatten().map(|part| sum * 60.0 + part)
    })
}

fn float(text: &str) -> Option<f64> {
    if text.ends_with('_') {
        return None;
    }
    let (sign, rest) = signed(text);
    match rest {
        ".inf" | ".Inf" | ".INF" => return Some(sign * f64::INFINITY),
        ".nan" | ".NaN" | ".NAN" if rest == text => return Some(f64::NAN),
        _ => {}
    }
    if rest.contains(':') {
        let (whole, part) = rest.split_once('.')?;
        let (first, tail) = whole.split_once(':')?;
        let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b == b'_');
        if !first.starts_with(|c: char| c.is_ascii_digit()) || !digits(first) || !digits(part) {
            return None;
        }
        let (tail, last) = match tail.rsplit_once(':') {
            Some((tail, last)) => (Some(tail), last),
            None => (None, tail),
        };
        let first: f64 = first.replace('_', "").parse().ok()?;
        let first = tail.map_or(Some(first), |tail| sexagesimal(first, tail))?;
        sexagesimal(first, last)?;
        let last: f64 = format!("{last}.{}", part.replace('_', "")).parse().ok()?;
        return Some(sign * (first * 60.0 + last));
    }
    let (mantissa, exponent) = match rest.find(['e', 'E']) {
        Some(at) => (&rest[..at], Some(&rest[at + 1..])),
        None => (rest, None),
    };
    if let Some(exponent) = exponent {
        let (_, digits) = signed(exponent);
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
    }
    let (whole, part) = mantissa.split_once('.').map_or((mantissa, None), |(w, p)| (w, Some(p)));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    let whole_ok = whole == "0"
        || (whole.starts_with(|c: char| matches!(c, '1'..='9')) && digits(whole))
        || (whole.is_empty() && rest == text && part.is_some_and(|part| !part.is_empty()));
    if !whole_ok || !part.is_none_or(digits) {
        return None;
    }
    let plain = rest.replace('_', "");
    let plain = if plain.starts_with('.') { format!("0{plain}") } else { plain };
    plain.parse::<f64>().ok().map(|value| sign * value)
}

/// A date or an instant, as its parts: year, month, day, and seconds of the day in UTC when a time is given.
pub(crate) struct DateParts {
    pub(crate) year: i32,
    pub(crate) month: u32,
    pub(crate) day: u32,
    /// Seconds after midnight UTC of that day; may lie outside the day.
    pub(crate) seconds: i64,
}

fn is_date(text: &str) -> bool {
    date_parts(text).is_some()
}

/// Reads the date forms of YAML 1.1.
pub(crate) fn date_parts(text: &str) -> Option<DateParts> {
    let take = |text: &str, least: usize, most: usize| -> Option<(u32, usize)> {
        let count = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
        (count >= least).then(|| text[..count].parse().ok().map(|value| (value, count))).flatten()
    };
    let (year, at) = take(text, 4, 4)?;
    let rest = text[at..].strip_prefix('-')?;
    let (month, month_len) = take(rest, 1, 2)?;
    let rest = rest[month_len..].strip_prefix('-')?;
    let (day, day_len) = take(rest, 1, 2)?;
    let rest = &rest[day_len..];
    let year = i32::try_from(year).ok()?;
    if rest.is_empty() {
        return (month_len == 2 && day_len == 2).then_some(DateParts {
            year,
            month,
            day,
            seconds: 0,
        });
    }
    let time = match rest.as_bytes()[0] {
        b'T' | b't' => &rest[1..],
        b' ' | b'\t' => rest.trim_start_matches([' ', '\t']),
        _ => return None,
    };
    let (hour, hour_len) = take(time, 1, 2)?;
    let rest = time[hour_len..].strip_prefix(':')?;
    let (minute, _) = take(rest, 2, 2)?;
    let rest = rest[2..].strip_prefix(':')?;
    let (second, _) = take(rest, 2, 2)?;
    let mut rest = &rest[2..];
    if let Some(fraction) = rest.strip_prefix('.') {
        rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    let zone = rest.trim_start_matches([' ', '\t']);
    let offset = if rest.is_empty() || zone == "Z" {
        0
    } else {
        let sign = match zone.as_bytes().first() {
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => return None,
        };
        let (hours, len) = take(&zone[1..], 1, 2)?;
        let rest = &zone[1 + len..];
        let minutes = if rest.is_empty() {
            0
        } else {
            let rest = rest.strip_prefix(':')?;
            if rest.len() != 2 {
                return None;
            }
            take(rest, 2, 2)?.0
        };
        sign * i64::from(hours * 3600 + minutes * 60)
    };
    let seconds = i64::from(hour * 3600 + minute * 60 + second) - offset;
    Some(DateParts { year, month, day, seconds })
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("007", Kind::Number(7.0); "octal")]
    #[test_case("08", Kind::Text; "not octal")]
    #[test_case("0x1F", Kind::Number(31.0); "hexadecimal")]
    #[test_case("1_000", Kind::Number(1000.0); "underscores")]
    #[test_case("1_", Kind::Text; "a trailing underscore")]
    #[test_case("190:20:30", Kind::Number(685_230.0); "base sixty")]
    #[test_case("1e3", Kind::Number(1000.0); "exponent")]
    #[test_case("1.", Kind::Number(1.0); "a dot at the end")]
    #[test_case(".5", Kind::Number(0.5); "a dot at the start")]
    #[test_case("-.5", Kind::Text; "a signed dot is text")]
    #[test_case("no", Kind::Text; "no is text")]
    #[test_case("True", Kind::Bool(true); "true in any of three spellings")]
    #[test_case("~", Kind::Null; "tilde")]
    #[test_case("2024-01-01", Kind::Date; "a date")]
    #[test_case("2024-01-01 10:00", Kind::Text; "a time without seconds is text")]
    #[test_case("2024-1-1T10:00:00Z", Kind::Date; "an instant")]
    fn plain_scalars_have_the_types_of_the_board_program(text: &str, expected: Kind) {
        assert_eq!(resolve(text), expected);
    }

    #[test]
    fn tags_and_aliases_are_refused() {
        assert!(parse("a: !!binary aGk=").is_err());
        assert!(parse("a: &x 1\nb: *x").is_err());
        assert!(parse("a: \"unterminated").is_err());
        assert!(parse("a: 1\n...\nb: 2").is_err());
    }
}
