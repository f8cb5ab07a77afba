//! The live view as lines: a pure function of what is known and of the size of the terminal.

use std::collections::{BTreeMap, VecDeque};

use dispatch_core::id::TaskId;
use dispatch_engine::status::{LaneStatus, QueuedStatus, RunningStatus, SlotStatus, StatusReport};
use dispatch_guards::verdict::VerdictKind;
use unicode_width::UnicodeWidthChar;

use super::events::Event;
use crate::render::{duration, plain, waits, width_of};

#[cfg(test)]
mod tests;

/// How many problems are shown, and how many lines of each.
const PROBLEMS: usize = 3;
const TOLD_LINES: usize = 4;

/// How far the second line of a text begins from the left, at most.
const MOST_INDENT: usize = 6;

/// The size of what is drawn on, in characters; without rows everything is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) columns: usize,
    pub(super) rows: Option<usize>,
}

/// Whether colours are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paint {
    Colours,
    Plain,
}

/// What a person may have asked the view to show instead of the events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mode {
    /// The overview.
    Overview,
    /// The log of a task.
    Log(TaskId),
    /// The question whether to cancel a task.
    ConfirmCancel(TaskId),
}

/// Everything that is shown.
#[derive(Debug)]
pub(super) struct View<'a> {
    /// The board's name, and how it is watched.
    pub(super) about: String,
    /// The time of day.
    pub(super) clock: String,
    /// What the passes are doing.
    pub(super) pass: String,
    /// What keeps the status from being known.
    pub(super) trouble: Option<&'a str>,
    /// The status.
    pub(super) report: Option<&'a StatusReport>,
    /// Titles of tasks.
    pub(super) titles: &'a BTreeMap<TaskId, String>,
    /// The last line of the log of each running attempt.
    pub(super) activity: &'a BTreeMap<TaskId, String>,
    /// What happened, the oldest first.
    pub(super) events: &'a VecDeque<(String, Event)>,
    /// The lines of the log that is open.
    pub(super) log: &'a [String],
    /// The chosen slot.
    pub(super) chosen: Option<usize>,
    /// What a person asked for.
    pub(super) mode: &'a Mode,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tone {
    Plain,
    Heading,
    Faint,
    Good,
    Wait,
    Bad,
}

impl Tone {
    const fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Heading => "\x1b[1m",
            Self::Faint => "\x1b[2m",
            Self::Good => "\x1b[32m",
            Self::Wait => "\x1b[33m",
            Self::Bad => "\x1b[31m",
        }
    }
}

struct Sheet {
    columns: usize,
    paint: Paint,
    lines: Vec<String>,
}

impl Sheet {
    fn new(size: Size, paint: Paint) -> Self {
        Self { columns: size.columns, paint, lines: Vec::new() }
    }

    /// Adds a line of parts, cut to the width.
    fn add(&mut self, parts: &[(Tone, &str)]) {
        let mut left = self.columns;
        let mut line = String::new();
        for (number, (tone, text)) in parts.iter().enumerate() {
            let last = number + 1 == parts.len();
            let (text, width) = cut(&plain(text), left, last || width_of(text) > left);
            left -= width;
            if self.paint == Paint::Plain || *tone == Tone::Plain {
                line.push_str(&text);
            } else {
                line.extend([tone.code(), text.as_str(), "\x1b[0m"]);
            }
            if left == 0 {
                break;
            }
        }
        self.lines.push(if self.paint == Paint::Plain { line.trim_end().to_owned() } else { line });
    }

    /// Adds a text a person has to read to its end, on as many lines as it needs, up to a few.
    fn tell(&mut self, lead: (Tone, &str), text: &str) {
        let (tone, lead) = lead;
        let indent = width_of(lead).min(MOST_INDENT);
        let text = plain(text);
        // The first line has the lead in front of it, the others begin below the text.
        let first_room = self.columns.saturating_sub(width_of(lead));
        let room = self.columns.saturating_sub(indent);
        if width_of(&text) <= first_room {
            return self.add(&[(tone, lead), (Tone::Plain, &text)]);
        }
        let begins_beside = first_room >= self.columns / 2;
        let room = if begins_beside { first_room.min(room) } else { room };
        let lines = wrapped(&text, room.max(1), TOLD_LINES);
        let below = " ".repeat(indent);
        if !begins_beside {
            self.add(&[(tone, lead)]);
        }
        for (number, line) in lines.iter().enumerate() {
            if number == 0 && begins_beside {
                self.add(&[(tone, lead), (Tone::Plain, line)]);
            } else {
                self.add(&[(Tone::Plain, &below), (Tone::Plain, line)]);
            }
        }
    }

    /// Adds as many of the last entries as have room, each a lead and a text on as many lines as it needs, up to a few.
    fn newest<'t>(
        &mut self,
        entries: impl DoubleEndedIterator<Item = (String, Tone, &'t str)>,
        room: usize,
    ) {
        let mut newest = Vec::new();
        let mut left = room;
        for (lead, tone, text) in entries.rev() {
            if left == 0 {
                break;
            }
            let beside = self.columns.saturating_sub(width_of(&lead)).max(1);
            let text = plain(text);
            let lines = if width_of(&text) <= beside {
                vec![text.into_owned()]
            } else {
                wrapped(&text, beside, TOLD_LINES.min(left))
            };
            left -= lines.len().min(left);
            newest.push((lead, tone, lines));
        }
        for (mut lead, tone, lines) in newest.into_iter().rev() {
            for line in lines {
                self.add(&[(Tone::Faint, &lead), (tone, &line)]);
                lead = " ".repeat(width_of(&lead));
            }
        }
    }

    /// Adds parts with ` · ` between them, on as many lines as they need.
    fn flow(&mut self, indent: &str, tone: Tone, parts: &[String]) {
        let mut line = indent.to_owned();
        for part in parts.iter().filter(|part| !part.is_empty()) {
            let begun = line.len() > indent.len();
            if begun && width_of(&line) + 3 + width_of(part) > self.columns {
                self.add(&[(tone, &line)]);
                line = format!("{indent}{part}");
            } else {
                line.push_str(if begun { " · " } else { "" });
                line.push_str(part);
            }
        }
        if line.len() > indent.len() {
            self.add(&[(tone, &line)]);
        }
    }
}

/// The text in lines of a width, broken between words where that is possible; what does not fit is cut and marked.
fn wrapped(text: &str, columns: usize, most_lines: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    let mut words = text.split(' ').filter(|word| !word.is_empty());
    while let Some(word) = words.next() {
        let width = width_of(&line) + usize::from(!line.is_empty()) + width_of(word);
        if width > columns && !line.is_empty() {
            if lines.len() + 1 == most_lines {
                let rest: Vec<&str> = std::iter::once(word).chain(words).collect();
                line = format!("{line} {}", rest.join(" "));
                break;
            }
            lines.push(std::mem::take(&mut line));
        }
        line.push_str(if line.is_empty() { "" } else { " " });
        line.push_str(word);
    }
    lines.push(line);
    lines.into_iter().map(|line| cut(&line, columns, true).0).collect()
}

/// The text in at most so many columns, the cut marked, and its width.
fn cut(text: &str, columns: usize, mark: bool) -> (String, usize) {
    let whole = width_of(text);
    if whole <= columns {
        return (text.to_owned(), whole);
    }
    let room = if mark { columns.saturating_sub(1) } else { columns };
    let (mut kept, mut used) = (String::new(), 0);
    for c in text.chars() {
        let width = c.width().unwrap_or(0);
        if used + width > room {
            break;
        }
        used += width;
        kept.push(c);
    }
    if mark && columns > 0 {
        kept.push('…');
        used += 1;
    }
    (kept, used)
}

/// The lines of the view, no more and no wider than the terminal.
pub(super) fn frame(view: &View<'_>, size: Size, paint: Paint) -> Vec<String> {
    let mut top = Sheet::new(size, paint);
    header(&mut top, view);
    if let Some(trouble) = view.trouble {
        top.tell((Tone::Bad, "! "), trouble);
    }
    if let Some(report) = view.report {
        if let Some(standstill) = &report.standstill {
            top.tell((Tone::Bad, "! No pass takes a task here: "), &standstill.text);
        }
        for text in report.held_back() {
            top.tell((Tone::Bad, "! "), text);
        }
        problems(&mut top, &report.problems);
        slots(&mut top, view, report);
        lanes(&mut top, &report.lanes);
    }
    let mut bottom = Sheet::new(size, paint);
    footer(&mut bottom, view, size.rows.is_some());
    let mut lines = top.lines;
    let Some(rows) = size.rows else {
        let mut rest = Sheet::new(size, paint);
        queue(&mut rest, view.report, usize::MAX);
        lines.extend(rest.lines);
        lines.extend(bottom.lines);
        return lines;
    };
    bottom.lines.truncate((rows / 4).max(1));
    lines.truncate(rows.saturating_sub(bottom.lines.len()));
    let room = rows.saturating_sub(lines.len() + bottom.lines.len());
    let mut rest = Sheet::new(size, paint);
    if let Mode::Log(id) = view.mode {
        log(&mut rest, id, view.log, room);
    } else {
        // The events have half of what is left, and what the queue does not need.
        queue(&mut rest, view.report, room - room / 2);
        let left = room.saturating_sub(rest.lines.len());
        events(&mut rest, view.events, left);
    }
    rest.lines.truncate(room);
    lines.extend(rest.lines);
    while lines.len() + bottom.lines.len() < rows {
        lines.push(String::new());
    }
    lines.extend(bottom.lines);
    lines
}

fn header(sheet: &mut Sheet, view: &View<'_>) {
    let about = plain(&view.about);
    let gap = sheet.columns.saturating_sub(width_of(&about) + width_of(&view.clock));
    if gap > 0 {
        let about = format!("{about}{}", " ".repeat(gap));
        sheet.add(&[(Tone::Heading, &about), (Tone::Faint, &view.clock)]);
    } else {
        sheet.add(&[(Tone::Heading, &about)]);
    }
    if !view.pass.is_empty() {
        sheet.add(&[(Tone::Faint, &view.pass)]);
    }
}

/// The first of the problems, with what helps against each.
fn problems(sheet: &mut Sheet, problems: &[String]) {
    for problem in problems.iter().take(PROBLEMS) {
        sheet.tell((Tone::Bad, "! "), problem);
    }
    if problems.len() > PROBLEMS {
        let text = format!("  and {} more: `dispatch status`", problems.len() - PROBLEMS);
        sheet.add(&[(Tone::Faint, &text)]);
    }
}

fn slots(sheet: &mut Sheet, view: &View<'_>, report: &StatusReport) {
    sheet.add(&[(Tone::Heading, "Slots")]);
    for (number, slot) in report.slots.iter().enumerate() {
        let mark = if view.chosen == Some(number) { "▸" } else { " " };
        let lead = format!("{mark}{} {}  ", number + 1, slot.name);
        let running = report.running.iter().find(|running| running.slot == slot.name);
        match (running, &slot.held) {
            (_, Some(cause)) => {
                sheet.tell((Tone::Bad, &format!("{lead}HELD: ")), cause);
            }
            (Some(running), None) => attempt(sheet, view, &lead, running),
            (None, None) => sheet.add(&[(Tone::Plain, &lead), (Tone::Faint, &idle(slot))]),
        }
    }
}

fn idle(slot: &SlotStatus) -> String {
    match (&slot.task, slot.configured) {
        (Some(task), _) => format!("bound to {task}"),
        (None, true) => "free".to_owned(),
        (None, false) => "free, no longer configured".to_owned(),
    }
}

fn attempt(sheet: &mut Sheet, view: &View<'_>, lead: &str, running: &RunningStatus) {
    let title = view.titles.get(&running.id).map_or("", String::as_str);
    let id = running.id.to_string();
    sheet.add(&[(Tone::Plain, lead), (Tone::Good, &id), (Tone::Plain, "  "), (Tone::Plain, title)]);
    let elapsed = running.elapsed_s.and_then(|seconds| u64::try_from(seconds).ok());
    let mut facts = vec![
        running.lane.to_string(),
        format!("attempt {}", running.attempt),
        running.phase.to_string(),
        elapsed.map(duration).unwrap_or_default(),
        format!("{} turn{}", running.turns, if running.turns == 1 { "" } else { "s" }),
        running.cost_usd.map(|cost| format!("{cost:.2} USD")).unwrap_or_default(),
    ];
    if !running.supervised {
        facts.push("no supervisor: the next pass recovers it".to_owned());
    }
    sheet.flow("     ", Tone::Plain, &facts);
    if let Some(waiting) = &running.waiting {
        sheet.tell((Tone::Wait, "     it "), &waits(waiting));
    }
    let age = running.beat_age_s.map(|age| format!("{} ago: ", duration(age)));
    let last = view.activity.get(&running.id).map_or("", String::as_str);
    if !last.is_empty() {
        let text = format!("     {}{last}", age.unwrap_or_default());
        sheet.add(&[(Tone::Faint, &text)]);
    }
}

fn lanes(sheet: &mut Sheet, lanes: &[LaneStatus]) {
    let numbers: Vec<String> = lanes
        .iter()
        .map(|lane| format!("{} {} of {}", lane.lane, lane.running, lane.max_parallel))
        .collect();
    let text = numbers.join(" · ");
    sheet.add(&[(Tone::Heading, "Lanes  "), (Tone::Plain, &text)]);
    for lane in lanes {
        if let Some(pause) = &lane.pause {
            let lead = format!("  {} paused ({}): ", lane.lane, pause.cause);
            sheet.tell((Tone::Wait, &lead), &pause.detail);
        }
    }
}

fn queue(sheet: &mut Sheet, report: Option<&StatusReport>, most: usize) {
    if most == 0 {
        return;
    }
    let Some(report) = report else {
        return sheet.add(&[(Tone::Heading, "Queue  "), (Tone::Wait, "unknown")]);
    };
    let queue = &report.queue;
    if queue.is_empty() {
        return sheet.add(&[(Tone::Heading, "Queue  "), (Tone::Faint, "empty")]);
    }
    sheet.add(&[(Tone::Heading, "Queue")]);
    let room = most.saturating_sub(1);
    let shown = if queue.len() > room { room.saturating_sub(1) } else { queue.len() };
    let id_width = queue.iter().take(shown).map(|task| task.id.to_string().len()).max();
    for task in queue.iter().take(shown) {
        queued(sheet, task, id_width.unwrap_or(0));
    }
    if shown < queue.len() && room > 0 {
        let text = format!("  and {} more", queue.len() - shown);
        sheet.add(&[(Tone::Faint, &text)]);
    }
}

fn queued(sheet: &mut Sheet, task: &QueuedStatus, id_width: usize) {
    let (kind, verdict) = task.outlook();
    let tone = match kind {
        VerdictKind::Launch => Tone::Good,
        VerdictKind::Block => Tone::Bad,
        VerdictKind::Wait => Tone::Wait,
    };
    let id = format!("  {:<id_width$}  ", task.id.to_string());
    // The verdict is what a person looks for, so the title is what gives way.
    let room = sheet.columns.saturating_sub(width_of(&id) + width_of(&verdict) + 2);
    let (title, used) = cut(&plain(&task.title), room, true);
    let gap = " ".repeat(room.saturating_sub(used) + 2);
    if room >= 8 {
        sheet.add(&[
            (Tone::Plain, &id),
            (Tone::Plain, &title),
            (Tone::Plain, &gap),
            (tone, &verdict),
        ]);
    } else {
        sheet.add(&[(Tone::Plain, &id), (tone, &verdict)]);
    }
}

fn events(sheet: &mut Sheet, events: &VecDeque<(String, Event)>, room: usize) {
    if room < 2 {
        return;
    }
    sheet.add(&[(Tone::Heading, "Events")]);
    let entries = events.iter().map(|(time, event)| {
        let tone = if event.is_fault { Tone::Bad } else { Tone::Plain };
        (format!("  {time}  "), tone, event.text.as_str())
    });
    sheet.newest(entries, room - 1);
}

fn log(sheet: &mut Sheet, id: &TaskId, log: &[String], room: usize) {
    let heading = format!("Log of {id}");
    sheet.add(&[(Tone::Heading, &heading)]);
    if log.is_empty() {
        sheet.add(&[(Tone::Faint, "  nothing yet")]);
    }
    let entries = log.iter().map(|line| (String::new(), Tone::Plain, line.as_str()));
    sheet.newest(entries, room.saturating_sub(1));
}

fn footer(sheet: &mut Sheet, view: &View<'_>, live: bool) {
    if !live {
        return;
    }
    match view.mode {
        Mode::Overview => {
            let keys = ["q quit", "1-9 choose", "l log", "c cancel", "d dispatch"];
            sheet.flow("", Tone::Faint, &keys.map(str::to_owned));
        }
        Mode::Log(_) => {
            let keys = ["esc back", "q quit", "1-9 another"];
            sheet.flow("", Tone::Faint, &keys.map(str::to_owned));
        }
        Mode::ConfirmCancel(id) => {
            let text = format!("Cancel {id} and keep its work? y / n");
            sheet.add(&[(Tone::Wait, &text)]);
        }
    }
}
