//! The sections of a task's body, found by the board's own markers.
//!
//! All texts here have line feeds only. The rules are the board program's, measured on its recorded answers: a marker
//! inside another section does not count, a description that closes its own marker does open the way for sections
//! behind it, and sections without markers are read when no marked one exists.

use std::collections::BTreeMap;

use crate::js_text;

/// A text section of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Section {
    Description,
    Plan,
    Notes,
    FinalSummary,
}

impl Section {
    pub(crate) const ALL: [Self; 4] =
        [Self::Description, Self::Plan, Self::Notes, Self::FinalSummary];

    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Description => "Description",
            Self::Plan => "Implementation Plan",
            Self::Notes => "Implementation Notes",
            Self::FinalSummary => "Final Summary",
        }
    }

    pub(crate) const fn begin(self) -> &'static str {
        match self {
            Self::Description => "<!-- SECTION:DESCRIPTION:BEGIN -->",
            Self::Plan => "<!-- SECTION:PLAN:BEGIN -->",
            Self::Notes => "<!-- SECTION:NOTES:BEGIN -->",
            Self::FinalSummary => "<!-- SECTION:FINAL_SUMMARY:BEGIN -->",
        }
    }

    pub(crate) const fn end(self) -> &'static str {
        match self {
            Self::Description => "<!-- SECTION:DESCRIPTION:END -->",
            Self::Plan => "<!-- SECTION:PLAN:END -->",
            Self::Notes => "<!-- SECTION:NOTES:END -->",
            Self::FinalSummary => "<!-- SECTION:FINAL_SUMMARY:END -->",
        }
    }
}

/// The titles that end a section without markers.
const TITLES: [&str; 12] = [
    "Description",
    "Acceptance Criteria",
    "Acceptance Criteria (Optional)",
    "Definition of Done",
    "Implementation Plan",
    "Implementation Plan (Optional)",
    "Implementation Notes",
    "Implementation Notes (Optional)",
    "Notes",
    "Notes & Comments (Optional)",
    "Comments",
    "Final Summary",
];

/// A range of bytes.
pub(crate) type Range = std::ops::Range<usize>;

pub(crate) fn within(at: usize, ranges: &[Range]) -> bool {
    ranges.iter().any(|range| range.contains(&at))
}

/// A marker on a line of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Marker<'a> {
    pub(crate) family: &'a str,
    pub(crate) begins: bool,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Every marker of `text`, in order.
pub(crate) fn markers(text: &str) -> Vec<Marker<'_>> {
    js_text::lines(text)
        .filter_map(|(start, line)| {
            let inner =
                line.strip_prefix("<!-- ")?.trim_end_matches(['\t', ' ']).strip_suffix(" -->")?;
            let (family, side) = inner.rsplit_once(':')?;
            let begins = match side {
                "BEGIN" => true,
                "END" => false,
                _ => return None,
            };
            let section = family.strip_prefix("SECTION:").is_some_and(|name| {
                name.starts_with(|c: char| c.is_ascii_uppercase())
                    && name
                        .bytes()
                        .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
            });
            (section || matches!(family, "COMMENTS" | "COMMENT" | "AC" | "DOD")).then_some(Marker {
                family,
                begins,
                start,
                end: start + line.len(),
            })
        })
        .collect()
}

/// The ranges between balanced markers, family by family, joined where they meet.
pub(crate) fn paired<'a>(markers: impl Iterator<Item = &'a Marker<'a>>) -> Vec<Range> {
    let mut open: Vec<&Marker<'_>> = Vec::new();
    let mut ranges: Vec<Range> = Vec::new();
    for marker in markers {
        if marker.begins {
            open.push(marker);
        } else if let Some(at) = open.iter().rposition(|begin| begin.family == marker.family) {
            ranges.push(open.remove(at).start..marker.end);
        }
    }
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut joined: Vec<Range> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

/// A marked text section: where it is, and where its text is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) whole: Range,
    pub(crate) body: Range,
}

/// Every marked block of one text section.
pub(crate) fn blocks(text: &str, section: Section) -> Vec<Block> {
    if !text.contains(section.begin()) {
        return Vec::new();
    }
    let heading = format!("## {}", section.title());
    let mut lines: Vec<(usize, &str)> = Vec::new();
    let mut offset = 0;
    for line in text.split('\n') {
        lines.push((offset, line));
        offset += line.len() + 1;
    }
    let ends = ends_of(&lines, section);
    let mut found = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let next = block_at(text, &lines, &ends, at, &heading);
        if let Some((block, last)) = next {
            found.push(block);
            at = last;
        }
        at += 1;
    }
    found
}

/// The line of the end marker that belongs to each begin marker, by the line of that.
fn ends_of(lines: &[(usize, &str)], section: Section) -> BTreeMap<usize, usize> {
    let mut ends = BTreeMap::new();
    let mut open = Vec::new();
    for (at, (_, line)) in lines.iter().enumerate() {
        let line = js_text::trim_end(line);
        if line == section.begin() {
            open.push(at);
        } else if line == section.end()
            && let Some(begin) = open.pop()
        {
            ends.insert(begin, at);
        }
    }
    ends
}

fn block_at(
    text: &str,
    lines: &[(usize, &str)],
    ends: &BTreeMap<usize, usize>,
    at: usize,
    heading: &str,
) -> Option<(Block, usize)> {
    if !js_text::trim_end(lines[at].1).eq_ignore_ascii_case(heading) {
        return None;
    }
    let begin = (at + 1..lines.len()).find(|line| !js_text::trim(lines[*line].1).is_empty())?;
    let last = *ends.get(&begin)?;
    let (start, line) = lines[last];
    let body = (lines[begin].0 + lines[begin].1.len() + 1).min(text.len());
    let block = Block { whole: lines[at].0..start + line.len(), body: body..start };
    Some((block, last))
}

/// A section without markers that begins at or after `from`: its range and its body.
///
/// `anchored` wants the heading at the start of a line; the line feed before it is then part of the range.
pub(crate) fn legacy(text: &str, title: &str, anchored: bool, from: usize) -> Option<Block> {
    let heading = format!("## {title}");
    let mut search = from;
    loop {
        let at = js_text::find_ignore_case(text, &heading, search)?;
        search = at + 1;
        let start = match (anchored, at) {
            (false, _) | (true, 0) => at,
            (true, _) if text.as_bytes()[at - 1] == b'\n' && at > from => at - 1,
            (true, _) => continue,
        };
        let after = at + heading.len();
        let blanks = text.len() - after - js_text::trim_start(&text[after..]).len();
        let Some(feed) = text[after..after + blanks].rfind('\n') else { continue };
        let body = after + feed + 1;
        let end = legacy_end(text, body, title);
        return Some(Block { whole: start..end, body: body..end });
    }
}

/// Where an unmarked section ends: before the next known heading, or before the line feeds at the end of the text.
fn legacy_end(text: &str, body: usize, title: &str) -> usize {
    let at_end = body + text[body..].trim_end_matches('\n').len();
    let mut from = body;
    while let Some(found) = text[from..].find("\n## ") {
        let feed = from + found;
        let rest = &text[feed + 4..];
        let known = TITLES.iter().any(|other| {
            !other.eq_ignore_ascii_case(title)
                && js_text::starts_with_ignore_case(rest, other)
                && rest[other.len()..].chars().next().is_none_or(js_text::is_space)
        });
        if known {
            let start = body + text[body..=feed].trim_end_matches('\n').len();
            return start.min(at_end);
        }
        from = feed + 1;
    }
    at_end
}

/// All unmarked sections of a title, in order, whatever else they overlap.
pub(crate) fn all_legacy(text: &str, title: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(block) = legacy(text, title, true, from) {
        from = if block.whole.is_empty() { block.whole.end + 1 } else { block.whole.end };
        found.push(block);
        if from > text.len() {
            break;
        }
    }
    found
}

/// Every text section with the range it covers, marked ones first.
pub(crate) fn section_ranges(text: &str) -> Vec<(Section, Range)> {
    let mut ranges: Vec<(Section, Range)> = Vec::new();
    for section in Section::ALL {
        ranges.extend(blocks(text, section).into_iter().map(|block| (section, block.whole)));
        for block in all_legacy(text, section.title()) {
            let range = block.whole;
            let overlaps = |other: &Range| other.start < range.end && range.start < other.end;
            if !ranges.iter().any(|(_, other)| overlaps(other)) {
                ranges.push((section, range));
            }
        }
    }
    ranges
}

/// The text of a section, if it has any.
pub(crate) fn section_text(text: &str, section: Section) -> Option<String> {
    section_text_among(text, section, &section_ranges(text))
}

/// As [`section_text`], with the ranges of all sections at hand.
pub(crate) fn section_text_among(
    text: &str,
    section: Section,
    ranges: &[(Section, Range)],
) -> Option<String> {
    let others: Vec<Range> = ranges
        .iter()
        .filter(|(other, _)| *other != section)
        .map(|(_, range)| range.clone())
        .collect();
    let given = |text: &str| Some(js_text::trim(text).to_owned()).filter(|text| !text.is_empty());
    if let Some(block) =
        blocks(text, section).into_iter().find(|block| !within(block.whole.start, &others))
    {
        return given(&text[block.body]);
    }
    let mut from = 0;
    while let Some(block) = legacy(text, section.title(), false, from) {
        if !within(block.whole.start, &others) {
            return given(&text[block.body]);
        }
        from = block.whole.end.max(block.whole.start + 1);
    }
    None
}
