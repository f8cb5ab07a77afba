//! One line of the stream as JSON.

use serde_json::Value;

/// What a line turned out to be.
#[derive(Debug, PartialEq)]
pub(super) enum Line {
    /// Nothing but blanks.
    Blank,
    /// JSON; `repaired` when bytes that are not text had to be replaced first.
    Json { value: Value, repaired: bool },
    /// Not JSON, whatever is done about it.
    Bad,
}

/// Reads a line.
///
/// The agent cuts texts at a byte count and so writes half of a surrogate pair, which is no JSON text; the half becomes
/// U+FFFD, since the verdict of a whole run may stand in the same line.
pub(super) fn read(line: &[u8]) -> Line {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Line::Blank;
    }
    if let Ok(value) = serde_json::from_slice(line) {
        return Line::Json { value, repaired: false };
    }
    let text = String::from_utf8_lossy(line);
    let repaired = text.as_bytes() != line;
    match serde_json::from_str(&without_lone_surrogates(&text)) {
        Ok(value) => Line::Json { value, repaired },
        Err(_) => Line::Bad,
    }
}

/// `text` with every `\uD8xx` escape that lacks its other half replaced by `\uFFFD`.
fn without_lone_surrogates(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let length = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xD800..0xDC00), Some(0xDC00..0xE000)) => 12,
            (Some(0xD800..0xE000), _) => {
                out.push_str("\\uFFFD");
                rest = escape.get(6..).unwrap_or_default();
                continue;
            }
            (Some(_), _) => 6,
            // A backslash and the character it escapes.
            (None, _) => 1 + escape.chars().nth(1).map_or(0, char::len_utf8),
        };
        let (kept, after) = escape.split_at(length);
        out.push_str(kept);
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The code unit of a `\uXXXX` at the beginning of `text`.
fn unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(())?;
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;
    use test_case::test_case;

    use super::*;

    #[test_case(br#"{"a":"x\ud83d"}"#, "x\u{fffd}"; "the first half at the end")]
    #[test_case(br#"{"a":"\ude00y"}"#, "\u{fffd}y"; "the second half alone")]
    #[test_case(br#"{"a":"\ud83d\ud83d\ude00"}"#, "\u{fffd}😀"; "a half before a whole pair")]
    #[test_case(br#"{"a":"\\ud83d \ud83d"}"#, "\\ud83d \u{fffd}"; "an escaped backslash is no escape")]
    fn lone_surrogates_do_not_lose_the_line(line: &[u8], expected: &str) {
        assert_eq!(read(line), Line::Json { value: json!({ "a": expected }), repaired: false });
    }

    #[test]
    fn bytes_that_are_no_text_are_repaired_and_said() {
        let read = read(b"{\"a\":\"x\xffy\"}");
        assert_eq!(read, Line::Json { value: json!({ "a": "x\u{fffd}y" }), repaired: true });
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_counted(line in proptest::collection::vec(any::<u8>(), 0..60)) {
            read(&line);
        }

        #[test]
        fn text_without_lone_surrogates_stays(text in "[a\\\\u0-9d\"😀]{0,30}") {
            let line = json!(text).to_string();
            prop_assert_eq!(without_lone_surrogates(&line), line);
        }
    }
}
