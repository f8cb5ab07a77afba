//! The body of a task file after an edit. All texts have line feeds only.

use super::EditError;
use super::blank_lines::squeeze;
use crate::js_text;
use crate::task::{Checklist, ChecklistItem};
use crate::task_file::checklist::{
    self, ListSection, checklist_markers, items, list_sections, shape,
};
use crate::task_file::comments::{self, Written};
use crate::task_file::section::{
    Range, Section, all_legacy, blocks, markers, paired, section_ranges, section_text, within,
};

/// A section by which the place of another is found.
#[derive(Debug, Clone, Copy)]
enum Place {
    Text(Section),
    List(Checklist),
    Comments,
}

const ACCEPTANCE: Place = Place::List(Checklist::Acceptance);
const DEFINITION: Place = Place::List(Checklist::DefinitionOfDone);

impl Place {
    /// Where the section stands, if there is one.
    fn find(self, text: &str) -> Option<Range> {
        if let Self::List(list) = self {
            let shape = shape(list);
            let found = checklist_markers(text, &shape);
            return list_sections(text, &shape, &found, false)
                .into_iter()
                .next()
                .map(|section| section.whole);
        }
        let all = markers(text);
        let inside = paired(all.iter());
        match self {
            Self::List(_) => None,
            Self::Text(section) => blocks(text, section)
                .into_iter()
                .map(|block| block.whole)
                .find(|range| !within(range.start, &inside))
                .or_else(|| {
                    all_legacy(text, section.title())
                        .into_iter()
                        .map(|block| block.whole)
                        .find(|range| !within(range.start, &inside))
                }),
            Self::Comments => {
                if let Some((whole, _)) = comments::sections(text, &inside).next() {
                    return Some(whole);
                }
                unmarked_comments(text, &inside)
            }
        }
    }
}

/// A comments section without markers outside `inside`.
fn unmarked_comments(text: &str, inside: &[Range]) -> Option<Range> {
    let mut search = 0;
    let mut from = 0;
    loop {
        let at = js_text::find_ignore_case(text, comments::HEADER, search)?;
        search = at + 1;
        let start = match at {
            0 => 0,
            _ if text.as_bytes()[at - 1] == b'\n' && at > from => at - 1,
            _ => continue,
        };
        let after = at + comments::HEADER.len();
        let blanks = text.len() - after - js_text::trim_start(&text[after..]).len();
        let marked = |body: usize| js_text::starts_with_ignore_case(&text[body..], comments::BEGIN);
        let body = text[after..after + blanks]
            .rmatch_indices('\n')
            .map(|(feed, _)| after + feed + 1)
            .find(|body| !marked(*body));
        let Some(body) = body else { continue };
        let end = unmarked_end(text, body);
        if !within(start, inside) {
            return Some(start..end);
        }
        from = end;
        search = search.max(end);
    }
}

/// Where unmarked comments end: before the next second-level heading, or before the line feeds at the end.
fn unmarked_end(text: &str, body: usize) -> usize {
    let at_end = body + text[body..].trim_end_matches('\n').len();
    let mut from = body;
    while let Some(found) = text[from..].find("\n##") {
        let feed = from + found;
        if text[feed + 3..].starts_with(js_text::is_space) {
            return (body + text[body..=feed].trim_end_matches('\n').len()).min(at_end);
        }
        from = feed + 1;
    }
    at_end
}

fn insert_at(text: &str, at: usize, block: &str) -> String {
    let before = js_text::trim_end(&text[..at]);
    let after = js_text::trim_start(&text[at..]);
    let gap = if before.is_empty() { "" } else { "\n\n" };
    let tail = if after.is_empty() { String::new() } else { format!("\n\n{after}") };
    format!("{before}{gap}{block}{tail}")
}

/// Puts `block` behind the first of `after` that exists, else before the first of `before` that does.
fn insert(text: &str, block: &str, after: &[Place], before: &[Place]) -> Option<String> {
    after
        .iter()
        .find_map(|place| place.find(text))
        .map(|range| insert_at(text, range.end, block))
        .or_else(|| {
            before
                .iter()
                .find_map(|place| place.find(text))
                .map(|range| insert_at(text, range.start, block))
        })
}

fn at_start(text: &str, block: &str) -> String {
    let text = js_text::trim(text);
    if text.is_empty() { block.to_owned() } else { format!("{block}\n\n{text}") }
}

fn at_end(text: &str, block: &str) -> String {
    let text = js_text::trim(text);
    if text.is_empty() { block.to_owned() } else { format!("{text}\n\n{block}") }
}

/// The body with one text section replaced; an empty text removes it.
pub(super) fn with_section(text: &str, changed: Section, value: &str) -> String {
    let of = |section: Section| {
        let text = if section == changed {
            value.to_owned()
        } else {
            section_text(text, section).unwrap_or_default()
        };
        let text = squeeze(js_text::trim_end(&js_text::to_lf(js_text::trim(&text))));
        (!text.is_empty()).then(|| {
            format!("## {}\n\n{}\n{text}\n{}", section.title(), section.begin(), section.end())
        })
    };
    let [description, plan, notes, summary] = Section::ALL.map(of);
    let mut rest = text.to_owned();
    for section in Section::ALL {
        rest = without_section(&rest, section);
    }
    let mut rest = js_text::trim(&rest).to_owned();
    let plan_place = Place::Text(Section::Plan);
    let notes_place = Place::Text(Section::Notes);
    if let Some(block) = plan {
        let after = [DEFINITION, ACCEPTANCE, Place::Text(Section::Description)];
        rest = insert(&rest, &block, &after, &[]).unwrap_or_else(|| at_start(&rest, &block));
    }
    if let Some(block) = notes {
        let after = [plan_place, DEFINITION, ACCEPTANCE];
        let before = [Place::Comments, Place::Text(Section::FinalSummary)];
        rest = insert(&rest, &block, &after, &before).unwrap_or_else(|| at_end(&rest, &block));
    }
    if let Some(block) = summary {
        let after = [Place::Comments, notes_place, plan_place, DEFINITION, ACCEPTANCE];
        rest = insert(&rest, &block, &after, &[]).unwrap_or_else(|| at_end(&rest, &block));
    }
    if let Some(block) = description {
        rest = at_start(&rest, &block);
    }
    js_text::trim(&squeeze(&rest)).to_owned()
}

/// The body without any instance of a text section.
fn without_section(text: &str, section: Section) -> String {
    let mut rest = text.to_owned();
    for block in blocks(text, section).into_iter().rev() {
        rest.replace_range(block.whole, "");
    }
    let mut kept = String::new();
    let mut from = 0;
    for block in all_legacy(&rest, section.title()) {
        kept.push_str(&rest[from..block.whole.start]);
        kept.push('\n');
        from = block.whole.end;
    }
    kept.push_str(&rest[from..]);
    js_text::trim_end(&squeeze(&kept)).to_owned()
}

/// The body with a checklist replaced by these items.
pub(super) fn with_checklist(
    text: &str,
    list: Checklist,
    new: &[ChecklistItem],
) -> Result<String, EditError> {
    let shape = shape(list);
    let title = shape.title;
    let found = checklist_markers(text, &shape);
    if found.fault.is_some() {
        return Err(EditError::Markers { title });
    }
    let sections: Vec<ListSection> = list_sections(text, &shape, &found, true)
        .into_iter()
        .filter(|section| section.marked || section.has_items)
        .collect();
    if new.is_empty() && sections.is_empty() {
        return Ok(text.to_owned());
    }
    let first = sections.first();
    let (old_body, hidden) =
        first.map_or(("", &[][..]), |section| (&text[section.body.clone()], &section.hidden[..]));
    let lines = list_lines(new, old_body, hidden);
    let rest = without_lists(text, &sections).ok_or(EditError::TextBehindList { title })?;
    if js_text::trim(&lines).is_empty() {
        return Ok(rest);
    }
    let block = format!("{}\n{}\n{lines}\n{}", shape.header, shape.begin, shape.end);
    let description = Place::Text(Section::Description);
    let tail = [
        Place::Text(Section::Plan),
        Place::Text(Section::Notes),
        Place::Comments,
        Place::Text(Section::FinalSummary),
    ];
    let placed = match list {
        Checklist::Acceptance => {
            let before = [DEFINITION, tail[0], tail[1], tail[2], tail[3]];
            insert(&rest, &block, &[description], &before)
        }
        Checklist::DefinitionOfDone => insert(&rest, &block, &[ACCEPTANCE, description], &tail),
    };
    Ok(js_text::trim(&placed.unwrap_or_else(|| at_end(&rest, &block))).to_owned())
}

/// The body without these sections of a checklist; `None` when the board program would lose text with them.
///
/// The program takes out the last section first, and with it the blank lines before it. An earlier section that ended
/// within those lines ends, to the program, as many characters into what follows.
fn without_lists(text: &str, sections: &[ListSection]) -> Option<String> {
    const GAP: &str = "\n\n";
    let join = |head: &str, tail: &str| {
        let gap = if head.is_empty() || tail.is_empty() { "" } else { GAP };
        format!("{head}{gap}{tail}")
    };
    let (mut head, mut tail) = (text, String::new());
    for section in sections.iter().rev() {
        if let Some(between) = head.get(section.whole.end..) {
            let joined = join(between, &tail);
            js_text::trim_start(&joined).clone_into(&mut tail);
        } else {
            let beyond = text[head.len()..section.whole.end].chars().count();
            if beyond > GAP.len() && !tail.is_empty() {
                return None;
            }
        }
        head = js_text::trim_end(&head[..section.whole.start]);
    }
    Some(js_text::trim(&join(head, &tail)).to_owned())
}

/// The lines of a checklist: its old lines with the items replaced in order, then the items that are left.
fn list_lines(new: &[ChecklistItem], old_body: &str, hidden: &[Range]) -> String {
    let mut new: Vec<&ChecklistItem> = new.iter().collect();
    new.sort_by_key(|item| item.index);
    let mut new = new.into_iter();
    let mut number = 0_u32;
    let mut write = |item: &ChecklistItem| {
        number += 1;
        format!("- [{}] #{number} {}", if item.checked { 'x' } else { ' ' }, item.text)
    };
    let mut lines: Vec<String> = Vec::new();
    if !old_body.is_empty() {
        let mut offset = 0;
        for line in old_body.split('\n') {
            let at = offset;
            offset += line.len() + 1;
            let trimmed = js_text::trim(line);
            let is_item = !within(at, hidden)
                && checklist::item(trimmed)
                    .is_some_and(|(_, text)| !text.contains(js_text::ends_line));
            if !is_item {
                lines.push(line.to_owned());
            } else if let Some(item) = new.next() {
                lines.push(write(item));
            }
        }
    }
    let blank = |line: &String| js_text::trim(line).is_empty();
    let start = lines.iter().position(|line| !blank(line)).unwrap_or(lines.len());
    let end = lines.iter().rposition(|line| !blank(line)).map_or(start, |at| at + 1);
    let mut lines: Vec<String> = lines.drain(start..end).collect();
    for item in new {
        if lines.last().is_some_and(|last| !blank(last) && !js_text::trim(last).starts_with("- ["))
        {
            lines.push(String::new());
        }
        lines.push(write(item));
    }
    lines.join("\n")
}

/// The items of a checklist as the program keeps them.
pub(super) fn checklist(text: &str, list: Checklist) -> Vec<ChecklistItem> {
    checklist::checklist(text, list)
}

/// Whether a rewrite of a checklist that holds no item would still change the body.
pub(super) fn has_empty_list(text: &str, list: Checklist) -> bool {
    let shape = shape(list);
    let found = checklist_markers(text, &shape);
    found.fault.is_none()
        && list_sections(text, &shape, &found, true).iter().any(|section| {
            section.marked && items(&text[section.body.clone()], true, &section.hidden).is_empty()
        })
}

/// The body with these comments instead of its own.
pub(super) fn with_comments(text: &str, all: &[Written]) -> String {
    let others: Vec<Range> = section_ranges(text).into_iter().map(|(_, range)| range).collect();
    let old: Vec<Range> = comments::sections(text, &others).map(|(whole, _)| whole).collect();
    let mut rest = text.to_owned();
    for range in old.into_iter().rev() {
        rest = format!("{}\n{}", &rest[..range.start], &rest[range.end..]);
    }
    let rest = js_text::trim(&squeeze(&rest)).to_owned();
    let block = comments_block(all);
    if block.is_empty() {
        return rest;
    }
    let (plan, notes) = (Place::Text(Section::Plan), Place::Text(Section::Notes));
    let placed = insert(&rest, &block, &[notes, plan], &[Place::Text(Section::FinalSummary)])
        .or_else(|| {
            insert(&rest, &block, &[DEFINITION, ACCEPTANCE, Place::Text(Section::Description)], &[])
        })
        .unwrap_or_else(|| at_end(&rest, &block));
    js_text::trim(&squeeze(&placed)).to_owned()
}

fn comments_block(all: &[Written]) -> String {
    let written: Vec<String> = all
        .iter()
        .filter(|comment| !js_text::trim(&comment.body).is_empty())
        .map(|comment| {
            let mut lines = Vec::new();
            lines.extend(
                comment
                    .author
                    .as_deref()
                    .and_then(comments::one_line)
                    .map(|name| format!("author: {name}")),
            );
            let created = js_text::trim(&comment.created);
            if !created.is_empty() {
                lines.push(format!("created: {created}"));
            }
            lines.extend([
                "---".to_owned(),
                js_text::trim(&comment.body).to_owned(),
                "---".to_owned(),
            ]);
            lines.join("\n")
        })
        .collect();
    if written.is_empty() {
        return String::new();
    }
    format!(
        "{}\n\n{}\n{}\n{}",
        comments::HEADER,
        comments::BEGIN,
        written.join("\n\n"),
        comments::END
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unmarked_comments_section_is_found_where_it_stands() {
        let text = "x\n\n## Comments\n\nhello\n\n## Other\n";
        assert_eq!(unmarked_comments(text, &[]), Some(2..21));
    }
}
