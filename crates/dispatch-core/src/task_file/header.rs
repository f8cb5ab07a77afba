//! The front matter of a task file.

use std::collections::BTreeMap;

use super::command::{self, OWN_CALLBACK};
use super::date::{instant, is_time_of_day, written_date};
use super::{FaultClass, TaskFileError};
use crate::board_config::normal_name;
use crate::js_text;
use crate::yaml::{self, Kind, Node, Value};

/// The front matter with every key the board program knows, as the program reads it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Header {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) status: String,
    pub(crate) assignee: Vec<String>,
    pub(crate) reporter: Option<String>,
    pub(crate) created_date: String,
    pub(crate) updated_date: Option<String>,
    pub(crate) due_date: Option<String>,
    pub(crate) labels: Vec<String>,
    pub(crate) milestone: Option<String>,
    pub(crate) dependencies: Vec<String>,
    pub(crate) references: Vec<String>,
    pub(crate) documentation: Vec<String>,
    pub(crate) modified_files: Vec<String>,
    pub(crate) parent_task_id: Option<String>,
    pub(crate) subtasks: Vec<String>,
    pub(crate) priority: Option<String>,
    pub(crate) kind: Option<String>,
    pub(crate) project: Option<String>,
    pub(crate) ordinal: Option<f64>,
    /// The command that the program would run at a status change of this task.
    pub(crate) own_callback: Option<String>,
    /// Why the board program must not be started while this file is there (B2.7).
    pub(crate) hostile: Option<TaskFileError>,
    /// Keys the program does not know or that nothing here uses, with their values as JSON text.
    pub(crate) unknown: BTreeMap<String, String>,
    /// The first value whose text in the program is not certain, such as a bare date used as a label.
    pub(crate) inexact: Option<&'static str>,
}

/// The parts of a task file.
pub(crate) struct Split<'a> {
    /// The front matter, quoted where the board program quotes it, with line feeds only.
    pub(crate) header: String,
    /// What follows, as written.
    pub(crate) body: &'a str,
    /// The line the body begins on.
    pub(crate) body_line: usize,
}

const KNOWN: [&str; 20] = [
    "id",
    "title",
    "status",
    "assignee",
    "reporter",
    "created_date",
    "updated_date",
    "due_date",
    "labels",
    "milestone",
    "dependencies",
    "references",
    "documentation",
    "modified_files",
    "parent_task_id",
    "subtasks",
    "priority",
    "type",
    "project",
    "ordinal",
];

fn error(class: FaultClass, line: usize, cause: impl Into<String>) -> TaskFileError {
    TaskFileError { class, line: Some(line), cause: cause.into() }
}

/// Separates front matter and body, and refuses what the board program would run or read otherwise than YAML.
pub(crate) fn split(text: &str) -> Result<Split<'_>, TaskFileError> {
    let text = text.trim_start_matches('\u{feff}');
    let Some(rest) = text.strip_prefix("---") else {
        return Err(error(
            FaultClass::Unreadable,
            1,
            "it has no front matter: the first line is not `---`",
        ));
    };
    let (first, after) = rest.split_once('\n').unwrap_or((rest, ""));
    if first.starts_with('-') {
        return Err(error(
            FaultClass::Unreadable,
            1,
            "it has no front matter: the first line has more than three dashes",
        ));
    }
    let language = js_text::trim(first);
    if !language.is_empty() {
        let shown: String = language.chars().take(40).flat_map(char::escape_debug).collect();
        return Err(error(
            FaultClass::Hostile,
            1,
            format!(
                "its front matter names the language `{shown}`: the board program would run it as a \
                 program, so nothing here starts that program; make the first line exactly `---`"
            ),
        ));
    }
    let close =
        if after.starts_with("---") { Some(0) } else { after.find("\n---").map(|at| at + 1) };
    let (header, closing, body) = match close {
        None => (after, None, ""),
        Some(at) => {
            let tail = &after[at..];
            let (line, body) = tail.split_once('\n').unwrap_or((tail, ""));
            (&after[..at], Some(line), body)
        }
    };
    let header_lines = header.matches('\n').count();
    if let Some(line) = closing
        && js_text::trim_end(line) != "---"
    {
        return Err(error(
            FaultClass::Unreadable,
            header_lines + 2,
            "a line that begins with `---` but holds more ends the front matter here; the rest of it is lost",
        ));
    }
    Ok(Split { header: quoted(header), body, body_line: header_lines + 3 })
}

/// Quotes the values the board program quotes before it reads YAML, so that `assignee: @x` can be read.
fn quoted(header: &str) -> String {
    let lines: Vec<String> = header
        .split('\n')
        .map(|line| line.strip_suffix('\r').unwrap_or(line))
        .map(|line| {
            quoted_due_date(line).or_else(|| quoted_people(line)).unwrap_or_else(|| line.to_owned())
        })
        .collect();
    lines.join("\n")
}

fn double_quoted(value: &str) -> String {
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The text after `key` and white space and a colon and white space, with the text before it.
fn value_of<'a>(
    line: &'a str,
    keys: &[&str],
    blank_before_colon: bool,
) -> Option<(&'a str, &'a str)> {
    let rest = js_text::trim_start(line);
    let rest = keys.iter().find_map(|key| rest.strip_prefix(key))?;
    let rest = if blank_before_colon { js_text::trim_start(rest) } else { rest };
    let value = js_text::trim_start(rest.strip_prefix(':')?);
    Some((&line[..line.len() - value.len()], value))
}

fn quoted_due_date(line: &str) -> Option<String> {
    let (prefix, value) = value_of(line, &["due_date", "\"due_date\"", "'due_date'"], true)?;
    let comment = value
        .char_indices()
        .find(|(at, c)| *c == '#' && value[..*at].ends_with(js_text::is_space))
        .map_or(value.len(), |(at, _)| js_text::trim_end(&value[..at]).len());
    let (value, comment) = value.split_at(comment);
    let value = js_text::trim(value);
    let null = value.eq_ignore_ascii_case("null") || value == "~";
    (!value.is_empty() && !null && !value.starts_with(['\'', '"']))
        .then(|| format!("{prefix}{}{comment}", double_quoted(value)))
}

fn quoted_people(line: &str) -> Option<String> {
    let (prefix, value) = value_of(line, &["assignee", "reporter"], false)?;
    let value = js_text::trim(value);
    if let Some(list) = quoted_list(prefix, value) {
        return Some(list);
    }
    (!value.is_empty() && !value.starts_with(['[', '\'', '"', '-']))
        .then(|| format!("{prefix}{}", double_quoted(value)))
}

fn quoted_list(prefix: &str, value: &str) -> Option<String> {
    let inner = value.strip_prefix('[')?;
    let (items, comment) =
        inner.char_indices().rev().filter(|(_, c)| *c == ']').find_map(|(at, _)| {
            let tail = js_text::trim_start(&inner[at + 1..]);
            (tail.is_empty() || tail.starts_with('#')).then(|| (&inner[..at], tail))
        })?;
    let items: Vec<String> = items
        .split(',')
        .map(js_text::trim)
        .filter(|item| !item.is_empty())
        .map(|item| if item.starts_with('@') { double_quoted(item) } else { item.to_owned() })
        .collect();
    let comment = if comment.is_empty() { String::new() } else { format!(" {comment}") };
    Some(format!("{prefix}[{}]{comment}", items.join(", ")))
}

/// Reads the front matter.
///
/// What is refused here may be read by the board program all the same, and then a command in it is run.
pub(crate) fn parse(header: &str) -> Result<Header, TaskFileError> {
    read(header).map_err(|fault| {
        if fault.class == FaultClass::Unreadable && command::may_be_in(header) {
            let cause = format!(
                "{}; and it may carry its own `onStatusChange`, a shell command the board program would run",
                fault.cause
            );
            return TaskFileError { class: FaultClass::Hostile, cause, ..fault };
        }
        fault
    })
}

fn read(header: &str) -> Result<Header, TaskFileError> {
    let root = yaml::parse(header)
        .map_err(|fault| error(FaultClass::Unreadable, fault.line + 1, fault.cause))?;
    let entries = match root.value {
        Value::Map(entries) => entries,
        Value::Scalar(scalar) if scalar.kind == Kind::Null => Vec::new(),
        Value::Scalar(_) | Value::List(_) => {
            return Err(error(FaultClass::Unreadable, 2, "its front matter is not a list of keys"));
        }
    };
    let keys = by_name(entries)?;
    let hostile = keys.get(OWN_CALLBACK).map(|node| {
        error(
            FaultClass::Hostile,
            node.line + 1,
            "it carries its own `onStatusChange`, a shell command the board program would run at the next status \
             change; remove that key in a text editor",
        )
    });
    let mut reader = KeyReader { keys, inexact: None };
    let header = Header {
        id: reader.text("id")?.unwrap_or_default(),
        title: reader.text("title")?.unwrap_or_default(),
        status: reader.text("status")?.unwrap_or_default(),
        assignee: reader.people()?,
        reporter: reader.text("reporter")?,
        created_date: reader.date("created_date")?.unwrap_or_default(),
        updated_date: reader.date("updated_date")?,
        due_date: reader.due_date()?,
        labels: reader.list("labels")?,
        milestone: reader.text("milestone")?,
        dependencies: reader.list("dependencies")?,
        references: reader.list("references")?,
        documentation: reader.list("documentation")?,
        modified_files: reader.list("modified_files")?,
        parent_task_id: reader.text("parent_task_id")?,
        subtasks: reader.list("subtasks")?,
        priority: reader.text("priority")?.and_then(|text| normal_name(&text)),
        kind: reader.text("type")?,
        project: reader.text("project")?,
        ordinal: reader.ordinal()?,
        own_callback: reader.text(OWN_CALLBACK)?,
        hostile,
        unknown: reader
            .keys
            .iter()
            .filter(|(key, _)| !KNOWN.contains(&key.as_str()))
            .map(|(key, node)| (key.clone(), node.to_json().to_string()))
            .collect(),
        inexact: reader.inexact,
    };
    Ok(header)
}

fn by_name(entries: Vec<(Node, Node)>) -> Result<BTreeMap<String, Node>, TaskFileError> {
    let mut keys = BTreeMap::new();
    for (key, value) in entries {
        let line = key.line + 1;
        let hostile = |cause: String| Err(error(FaultClass::Hostile, line, cause));
        let Value::Scalar(key) = key.value else {
            return hostile(
                "a key of its front matter is itself a list or a mapping, which can hide a command"
                    .to_owned(),
            );
        };
        let (name, _) = key.as_text();
        match name.as_str() {
            // What is no command by itself can still become one, and could not be written back as it is.
            OWN_CALLBACK if !matches!(value.value, Value::Scalar(_)) => {
                return hostile(
                    "its own `onStatusChange` is a list or a mapping; remove that key in a text editor"
                        .to_owned(),
                );
            }
            "<<" | "__proto__" => {
                return hostile(format!(
                    "its front matter has the key `{name}`, through which it can carry a hidden `onStatusChange`; \
                     remove that key"
                ));
            }
            _ => {}
        }
        if keys.insert(name.clone(), value).is_some() {
            let name: String = name.chars().take(60).collect();
            return Err(error(
                FaultClass::Unreadable,
                line,
                format!("its front matter has the key `{name}` twice"),
            ));
        }
    }
    Ok(keys)
}

struct KeyReader {
    keys: BTreeMap<String, Node>,
    inexact: Option<&'static str>,
}

impl KeyReader {
    fn wrong(key: &str, node: &Node, wanted: &str) -> TaskFileError {
        let found = match node.value {
            Value::Scalar(_) => "a single value",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        };
        error(FaultClass::Unreadable, node.line + 1, format!("`{key}` is {found}, not {wanted}"))
    }

    /// A single value; empty values count as not given.
    fn text(&mut self, key: &'static str) -> Result<Option<String>, TaskFileError> {
        let Some(node) = self.keys.get(key) else { return Ok(None) };
        let Value::Scalar(scalar) = &node.value else {
            return Err(Self::wrong(key, node, "a single value"));
        };
        if scalar.is_falsy() {
            return Ok(None);
        }
        let (text, exact) = scalar.as_text();
        if !exact {
            self.inexact.get_or_insert(key);
        }
        Ok(Some(text))
    }

    fn list(&mut self, key: &'static str) -> Result<Vec<String>, TaskFileError> {
        let Some(node) = self.keys.get(key) else { return Ok(Vec::new()) };
        let items = match &node.value {
            Value::List(items) => items,
            // The board program drops a single value where it wants a list.
            Value::Scalar(_) => return Ok(Vec::new()),
            Value::Map(_) => return Err(Self::wrong(key, node, "a list")),
        };
        let mut texts = Vec::new();
        for item in items {
            let Value::Scalar(scalar) = &item.value else {
                return Err(Self::wrong(
                    &format!("{key}[{}]", texts.len()),
                    item,
                    "a single value; put it in quotes when it holds a colon",
                ));
            };
            let (text, exact) = scalar.as_text();
            if !exact {
                self.inexact.get_or_insert(key);
            }
            texts.push(text);
        }
        Ok(texts)
    }

    fn people(&mut self) -> Result<Vec<String>, TaskFileError> {
        if let Some(Node { value: Value::List(_), .. }) = self.keys.get("assignee") {
            return self.list("assignee");
        }
        Ok(self.text("assignee")?.into_iter().collect())
    }

    fn date(&mut self, key: &'static str) -> Result<Option<String>, TaskFileError> {
        let Some(node) = self.keys.get(key) else { return Ok(None) };
        let Value::Scalar(scalar) = &node.value else {
            return Err(Self::wrong(key, node, "a date"));
        };
        if scalar.is_falsy() {
            return Ok(None);
        }
        if scalar.kind == Kind::Date {
            return Ok(Some(instant(&scalar.text).unwrap_or_else(|| scalar.text.clone())));
        }
        Ok(Some(written_date(&scalar.as_text().0)))
    }

    fn due_date(&mut self) -> Result<Option<String>, TaskFileError> {
        let line = self.keys.get("due_date").map_or(1, |node| node.line + 1);
        let Some(text) = self.text("due_date")? else { return Ok(None) };
        let text = js_text::trim(&text);
        if text.is_empty() {
            return Ok(None);
        }
        let bad =
            || error(FaultClass::Unreadable, line, "`due_date` is not a date such as `2026-08-10`");
        let day = text.get(..10).ok_or_else(bad)?;
        let parts = yaml::date_parts(day).ok_or_else(bad)?;
        let month =
            u8::try_from(parts.month).ok().and_then(|month| time::Month::try_from(month).ok());
        let real = month.is_some_and(|month| {
            u8::try_from(parts.day)
                .is_ok_and(|day| time::Date::from_calendar_date(parts.year, month, day).is_ok())
        });
        if real && (text.len() == 10 || is_time_of_day(&text[10..])) {
            Ok(Some(day.to_owned()))
        } else {
            Err(bad())
        }
    }

    fn ordinal(&mut self) -> Result<Option<f64>, TaskFileError> {
        let Some(node) = self.keys.get("ordinal") else { return Ok(None) };
        let Value::Scalar(scalar) = &node.value else {
            return Err(Self::wrong("ordinal", node, "a number"));
        };
        Ok(Some(match scalar.kind {
            Kind::Number(value) => value,
            Kind::Null => 0.0,
            Kind::Bool(value) => f64::from(u8::from(value)),
            Kind::Text | Kind::Date => {
                self.inexact.get_or_insert("ordinal");
                scalar.text.trim().parse().unwrap_or(f64::NAN)
            }
        }))
    }
}
