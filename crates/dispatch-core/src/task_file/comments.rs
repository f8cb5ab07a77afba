//! The comments section.

use super::section::{Range, section_ranges, within};
use crate::js_text;
use crate::task::Comment;

pub(crate) const HEADER: &str = "## Comments";
pub(crate) const BEGIN: &str = "<!-- COMMENTS:BEGIN -->";
pub(crate) const END: &str = "<!-- COMMENTS:END -->";
const OLD_BEGIN: &str = "<!-- COMMENT:BEGIN -->";
const OLD_END: &str = "<!-- COMMENT:END -->";

/// A comment as the file keeps it: the date is as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) index: u32,
    pub(crate) author: Option<String>,
    pub(crate) created: String,
    pub(crate) body: String,
}

impl Written {
    pub(crate) fn shown(self) -> Comment {
        Comment {
            index: self.index,
            author: self.author,
            created: super::date::shown_date(&self.created),
            body: self.body,
        }
    }
}

/// A marked comments section that begins at or after `from`: its range, with the line feed before it, and its body.
pub(crate) fn block(text: &str, from: usize) -> Option<(Range, Range)> {
    let mut search = from;
    loop {
        let at = js_text::find_ignore_case(text, HEADER, search)?;
        search = at + 1;
        let start = match at {
            0 => 0,
            _ if text.as_bytes()[at - 1] == b'\n' && at > from => at - 1,
            _ => continue,
        };
        let Some(marker) = after_blank_lines(text, at + HEADER.len()) else { continue };
        if !js_text::starts_with_ignore_case(&text[marker..], BEGIN) {
            continue;
        }
        let Some(body) = after_blank_lines(text, marker + BEGIN.len()) else { continue };
        // What has no end here has none further on.
        let end = js_text::find_ignore_case(text, END, body)?;
        return Some((start..end + END.len(), body..end));
    }
}

/// The offset after the last line feed of the white space at `from`.
fn after_blank_lines(text: &str, from: usize) -> Option<usize> {
    let blanks = text.len() - from - js_text::trim_start(&text[from..]).len();
    text[from..from + blanks].rfind('\n').map(|feed| from + feed + 1)
}

/// Every comments section that does not begin inside one of `others`: its range and its body.
///
/// A look-alike inside another section is passed over by its heading alone, so that it cannot swallow what follows it.
pub(crate) fn sections<'a>(
    text: &'a str,
    others: &'a [Range],
) -> impl Iterator<Item = (Range, Range)> + 'a {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let (whole, body) = block(text, from)?;
            if !within(whole.start, others) {
                from = whole.end;
                return Some((whole, body));
            }
            from = whole.start + 1;
        }
    })
}

/// Every comment, numbered by position.
pub(crate) fn all(text: &str) -> Vec<Written> {
    if block(text, 0).is_none() {
        return Vec::new();
    }
    let others: Vec<Range> = section_ranges(text).into_iter().map(|(_, range)| range).collect();
    let first = sections(text, &others).next();
    let Some((_, body)) = first else { return Vec::new() };
    let body = &text[body];
    if body.contains(OLD_BEGIN) { old_form(body) } else { ruled_form(body) }
}

fn ruled_form(body: &str) -> Vec<Written> {
    let lines: Vec<&str> = body.split('\n').collect();
    let is_rule = |line: &&str| js_text::trim(line) == "---";
    let mut found: Vec<Written> = Vec::new();
    let mut at = 0;
    loop {
        while lines.get(at).is_some_and(|line| js_text::trim(line).is_empty()) {
            at += 1;
        }
        let Some(head) = lines.get(at..).and_then(|rest| rest.iter().position(is_rule)) else {
            return found;
        };
        let body_at = at + head + 1;
        let Some(length) = lines.get(body_at..).and_then(|rest| rest.iter().position(is_rule))
        else {
            return found;
        };
        let text = lines[body_at..body_at + length].join("\n");
        let text = js_text::trim(&text);
        if !text.is_empty() {
            let index = u32::try_from(found.len() + 1).unwrap_or(u32::MAX);
            let (_, author, created) = metadata(&lines[at..at + head], index);
            found.push(Written { index, author, created, body: text.to_owned() });
        }
        at = body_at + length + 1;
    }
}

fn old_form(body: &str) -> Vec<Written> {
    let mut found: Vec<Written> = Vec::new();
    let mut from = 0;
    while let Some(at) = js_text::find_ignore_case(body, OLD_BEGIN, from) {
        let Some(start) = after_blank_lines(body, at + OLD_BEGIN.len()) else {
            from = at + 1;
            continue;
        };
        let Some(end) = js_text::find_ignore_case(body, OLD_END, start) else { break };
        let position = u32::try_from(found.len() + 1).unwrap_or(u32::MAX);
        found.extend(old_comment(&body[start..end], position));
        from = end + OLD_END.len();
    }
    found
}

fn old_comment(text: &str, position: u32) -> Option<Written> {
    let text = js_text::trim(text);
    let gap = text.match_indices('\n').map(|(at, _)| at).find(|at| {
        let blanks = text[at + 1..].len() - js_text::trim_start(&text[at + 1..]).len();
        text[at + 1..at + 1 + blanks].contains('\n')
    });
    let (head, body) = gap.map_or(("", text), |at| (&text[..at], js_text::trim(&text[at..])));
    if body.is_empty() {
        return None;
    }
    let head: Vec<&str> = head.split('\n').collect();
    let (index, author, created) = metadata(&head, position);
    Some(Written { index, author, created, body: body.to_owned() })
}

fn metadata(lines: &[&str], position: u32) -> (u32, Option<String>, String) {
    let (mut index, mut author, mut created) = (position, None, String::new());
    for line in lines {
        let Some((key, value)) = line.split_once(':') else { continue };
        if key.is_empty() || !key.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_') {
            continue;
        }
        if value.contains(js_text::ends_line) {
            continue;
        }
        match key.to_ascii_lowercase().as_str() {
            "index" => {
                let value = js_text::trim(value);
                let digits = value.bytes().take_while(u8::is_ascii_digit).count();
                index = value[..digits].parse().ok().filter(|n| *n > 0).unwrap_or(index);
            }
            "author" => author = one_line(value),
            "created" => js_text::trim(value).clone_into(&mut created),
            _ => {}
        }
    }
    (index, author, created)
}

/// A text squeezed to one line, if anything is left.
pub(crate) fn one_line(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split(js_text::is_space).filter(|word| !word.is_empty()).collect();
    (!words.is_empty()).then(|| words.join(" "))
}
