//! The checklists of a task's body: their markers, their sections, their items.

use super::section::{Range, markers, paired, within};
use crate::js_text;
use crate::task::{Checklist, ChecklistItem};

/// How the board writes a checklist.
pub(crate) struct ChecklistShape {
    pub(crate) title: &'static str,
    pub(crate) header: &'static str,
    pub(crate) family: &'static str,
    pub(crate) begin: &'static str,
    pub(crate) end: &'static str,
}

pub(crate) const fn shape(list: Checklist) -> ChecklistShape {
    match list {
        Checklist::Acceptance => ChecklistShape {
            title: "Acceptance Criteria",
            header: "## Acceptance Criteria",
            family: "AC",
            begin: "<!-- AC:BEGIN -->",
            end: "<!-- AC:END -->",
        },
        Checklist::DefinitionOfDone => ChecklistShape {
            title: "Definition of Done",
            header: "## Definition of Done",
            family: "DOD",
            begin: "<!-- DOD:BEGIN -->",
            end: "<!-- DOD:END -->",
        },
    }
}

/// Why the markers of a checklist cannot be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MarkerFault {
    RepeatedBegin,
    UnexpectedEnd,
    UnclosedBegin,
}

impl MarkerFault {
    pub(crate) const fn describe(self) -> &'static str {
        match self {
            Self::RepeatedBegin => "begin twice without an end between",
            Self::UnexpectedEnd => "end without having begun",
            Self::UnclosedBegin => "begin and never end",
        }
    }
}

/// The markers of a checklist, and what lies in other sections.
pub(crate) struct ChecklistMarkers {
    pub(crate) foreign: Vec<Range>,
    /// Begin marker and end marker of each pair.
    pub(crate) pairs: Vec<(Range, Range)>,
    pub(crate) fault: Option<(MarkerFault, usize)>,
}

pub(crate) fn checklist_markers(text: &str, shape: &ChecklistShape) -> ChecklistMarkers {
    let all = markers(text);
    let foreign = paired(all.iter().filter(|marker| marker.family != shape.family));
    let mut pairs = Vec::new();
    let mut open: Option<Range> = None;
    let mut fault = None;
    for marker in
        all.iter().filter(|marker| marker.family == shape.family && !within(marker.start, &foreign))
    {
        let range = marker.start..marker.end;
        match (marker.begins, open.take()) {
            (true, None) => open = Some(range),
            (true, Some(_)) => fault = Some((MarkerFault::RepeatedBegin, marker.start)),
            (false, None) => fault = Some((MarkerFault::UnexpectedEnd, marker.start)),
            (false, Some(begin)) => pairs.push((begin, range)),
        }
        if fault.is_some() {
            break;
        }
    }
    if let Some(begin) = open {
        fault = fault.or(Some((MarkerFault::UnclosedBegin, begin.start)));
    }
    ChecklistMarkers { foreign, pairs, fault }
}

/// A place where checklist items stand.
pub(crate) struct ListSection {
    pub(crate) whole: Range,
    pub(crate) body: Range,
    /// Parts of the body that belong to other sections, relative to the body.
    pub(crate) hidden: Vec<Range>,
    pub(crate) marked: bool,
    pub(crate) has_items: bool,
}

/// The sections of a checklist; unmarked ones only when there is no marked one, or when `all` is set.
pub(crate) fn list_sections(
    text: &str,
    shape: &ChecklistShape,
    found: &ChecklistMarkers,
    all: bool,
) -> Vec<ListSection> {
    if found.fault.is_some() {
        return Vec::new();
    }
    let mut sections: Vec<ListSection> = Vec::new();
    for (begin, end) in &found.pairs {
        let Some(start) = heading_before(text, begin.start, shape) else { continue };
        if within(start, &found.foreign) {
            continue;
        }
        let between = &text[begin.end..end.start];
        let skipped = between.trim_start_matches(['\t', ' ']);
        let skipped = if skipped.starts_with('\n') { between.len() - skipped.len() + 1 } else { 0 };
        let body = begin.end + skipped..end.start;
        sections.push(list_section(text, start..end.end, body, &found.foreign, true));
    }
    if sections.is_empty() || all {
        let headings = headings(text, &found.foreign);
        for (at, (start, body, title)) in headings.iter().enumerate() {
            if !title.eq_ignore_ascii_case(shape.title) {
                continue;
            }
            let end = headings.get(at + 1).map_or(text.len(), |next| next.0);
            if sections.iter().any(|other| other.whole.start < end && *start < other.whole.end) {
                continue;
            }
            sections.push(list_section(text, *start..end, *body..end, &found.foreign, false));
        }
    }
    sections.sort_by_key(|section| section.whole.start);
    sections
}

fn list_section(
    text: &str,
    whole: Range,
    body: Range,
    foreign: &[Range],
    marked: bool,
) -> ListSection {
    let hidden: Vec<Range> = foreign
        .iter()
        .filter(|range| range.start < body.end && body.start < range.end)
        .map(|range| range.start.max(body.start) - body.start..range.end.min(body.end) - body.start)
        .collect();
    let has_items = !items(&text[body.clone()], marked, &hidden).is_empty();
    ListSection { whole, body, hidden, marked, has_items }
}

/// The heading of a checklist when nothing but blank lines stands between it and its marker.
fn heading_before(text: &str, marker: usize, shape: &ChecklistShape) -> Option<usize> {
    let blank = |c: char| matches!(c, '\t' | ' ' | '\n');
    let head = text[..marker].trim_end_matches(blank);
    if !text[head.len()..marker].contains('\n') {
        return None;
    }
    let start = head.len().checked_sub(shape.header.len())?;
    let line_start = start == 0 || text.as_bytes()[start - 1] == b'\n';
    (line_start && head.is_char_boundary(start) && head[start..].eq_ignore_ascii_case(shape.header))
        .then_some(start)
}

/// Second-level headings outside `foreign`: where each starts, where its text starts, and its title.
fn headings<'a>(text: &'a str, foreign: &[Range]) -> Vec<(usize, usize, &'a str)> {
    js_text::lines(text)
        .filter(|(start, _)| !within(*start, foreign))
        .filter_map(|(start, line)| {
            let rest = line.strip_prefix("##")?;
            rest.starts_with(['\t', ' ']).then_some(())?;
            let title = js_text::trim(rest);
            (!rest.trim_matches(['\t', ' ']).is_empty()).then_some(())?;
            let end = start + line.len();
            let body = if text[end..].starts_with('\n') { end + 1 } else { end };
            Some((start, body, title))
        })
        .collect()
}

/// The checklist items of a body, numbered by position.
pub(crate) fn items(body: &str, marked: bool, hidden: &[Range]) -> Vec<ChecklistItem> {
    let mut found: Vec<ChecklistItem> = Vec::new();
    for (start, line) in js_text::lines(body) {
        if within(start, hidden) {
            continue;
        }
        let Some((checked, text)) = item(line) else { continue };
        let text = if marked { without_number(text) } else { text };
        if text.is_empty() {
            continue;
        }
        let index = u32::try_from(found.len() + 1).unwrap_or(u32::MAX);
        found.push(ChecklistItem { index, checked, text: text.to_owned() });
    }
    found
}

/// A line `- [ ] …` or `- [x] …`.
pub(crate) fn item(line: &str) -> Option<(bool, &str)> {
    let rest = line.strip_prefix("- [")?;
    let checked = match rest.as_bytes().first() {
        Some(b'x') => true,
        Some(b' ') => false,
        _ => return None,
    };
    Some((checked, rest[1..].strip_prefix("] ")?))
}

/// The text behind `#<n> `, unless nothing would be left.
fn without_number(text: &str) -> &str {
    let Some(rest) = text.strip_prefix('#') else { return text };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    match rest[digits..].strip_prefix(' ') {
        Some(rest) if digits > 0 && !rest.is_empty() => rest,
        _ => text,
    }
}

/// The items of a checklist: the marked ones, else the unmarked ones.
pub(crate) fn checklist(text: &str, list: Checklist) -> Vec<ChecklistItem> {
    let shape = shape(list);
    let found = checklist_markers(text, &shape);
    let sections = list_sections(text, &shape, &found, false);
    let of = |wanted: bool| {
        let mut all: Vec<ChecklistItem> = Vec::new();
        for section in sections.iter().filter(|section| section.marked == wanted) {
            all.extend(items(&text[section.body.clone()], section.marked, &section.hidden));
        }
        for (at, item) in all.iter_mut().enumerate() {
            item.index = u32::try_from(at + 1).unwrap_or(u32::MAX);
        }
        all
    };
    let marked = of(true);
    if marked.is_empty() { of(false) } else { marked }
}
