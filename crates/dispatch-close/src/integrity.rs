//! Whether the task is still the one that was started (B4).

use std::collections::BTreeMap;

use dispatch_core::task::{OneLine, Task};
use serde::{Deserialize, Serialize};

use crate::text::{cut_chars, plain};

/// The protected part of a task, kept when an attempt starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    fields: BTreeMap<String, String>,
    unknown_keys: BTreeMap<String, String>,
}

/// A protected field that reads differently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FieldChange {
    /// The field.
    pub field: String,
    /// As it was, at most 200 characters.
    pub before: String,
    /// As it is, at most 200 characters.
    pub after: String,
}

impl Snapshot {
    /// The protected part of `task`. Ticks, plan, notes, summary, comments and the order of items on the board
    /// may change; what the plan says about claims and test command may not.
    pub fn of(task: &Task) -> Self {
        let lines = |items: &[String]| items.join("\n");
        let texts = |items: &[dispatch_core::task::ChecklistItem]| {
            lines(&items.iter().map(|item| item.text.clone()).collect::<Vec<_>>())
        };
        let mut labels = task.labels.clone();
        labels.sort();
        let mut dependencies: Vec<String> =
            task.dependencies.iter().map(dispatch_core::id::TaskId::canonical).collect();
        dependencies.extend(task.foreign_dependencies.iter().cloned());
        dependencies.sort();
        let files: Vec<String> = task
            .declared_files
            .iter()
            .map(|file| format!("{}{}", file.text, if file.shared { " (shared)" } else { "" }))
            .collect();
        let fields = [
            ("title", task.title.clone()),
            ("acceptance criteria", texts(&task.acceptance)),
            ("definition of done", texts(&task.definition_of_done)),
            ("description", task.description.clone()),
            ("test command", line(&task.test_command)),
            ("declared files", lines(&files)),
            ("branch", line(&task.branch)),
            ("labels", lines(&labels)),
            (
                "parent",
                task.parent.as_ref().map_or(String::new(), dispatch_core::id::TaskId::canonical),
            ),
            ("dependencies", lines(&dependencies)),
        ];
        Self {
            fields: fields.into_iter().map(|(name, text)| (name.to_owned(), text)).collect(),
            unknown_keys: task.unknown_keys.clone(),
        }
    }

    /// Every protected field that reads differently in `task`. A missing unknown key is no sign of anything: the
    /// board program drops them at any edit.
    pub fn changes(&self, task: &Task) -> Vec<FieldChange> {
        let now = Self::of(task);
        let known = now.fields.iter().filter_map(|(field, after)| {
            let before = self.fields.get(field).map_or("", String::as_str);
            (before != after).then(|| FieldChange::new(field, before, after))
        });
        let unknown = now.unknown_keys.iter().filter_map(|(key, after)| {
            let before = self.unknown_keys.get(key).map_or("", String::as_str);
            (before != after)
                .then(|| FieldChange::new(&format!("front matter `{key}`"), before, after))
        });
        known.chain(unknown).collect()
    }
}

impl FieldChange {
    fn new(field: &str, before: &str, after: &str) -> Self {
        let shown = |text: &str| cut_chars(&plain(text), 200);
        Self { field: field.to_owned(), before: shown(before), after: shown(after) }
    }
}

impl std::fmt::Display for FieldChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {:?} became {:?}", self.field, self.before, self.after)
    }
}

fn line(line: &OneLine) -> String {
    match line {
        OneLine::Missing => String::new(),
        OneLine::Given(value) => value.clone(),
        OneLine::Conflicting(values) => format!("conflicting: {}", values.join(" | ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::task;

    fn fields(edit: impl FnOnce(&mut Task)) -> Vec<String> {
        let before = task();
        let mut after = before.clone();
        edit(&mut after);
        let snapshot = Snapshot::of(&before);
        let kept: Snapshot =
            serde_json::from_str(&serde_json::to_string(&snapshot).unwrap()).unwrap();
        kept.changes(&after).into_iter().map(|change| change.field).collect()
    }

    #[test]
    fn b4_what_a_worker_may_write_is_no_difference() {
        let edited = fields(|task| {
            task.plan = "steps".to_owned();
            task.notes = "notes".to_owned();
            task.final_summary = "done".to_owned();
            task.acceptance[0].checked = false;
            task.definition_of_done[2].checked = true;
            task.priority = 0;
        });
        assert_eq!(edited, Vec::<String>::new());
    }

    #[test]
    fn n36_b4_every_protected_field_is_compared() {
        assert_eq!(fields(|task| task.title.push('!')), ["title"]);
        assert_eq!(fields(|task| task.acceptance.swap(0, 1)), ["acceptance criteria"]);
        assert_eq!(fields(|task| drop(task.definition_of_done.pop())), ["definition of done"]);
        assert_eq!(fields(|task| task.description.clear()), ["description"]);
        assert_eq!(
            fields(|task| task.test_command = OneLine::Given("true".into())),
            ["test command"]
        );
        assert_eq!(fields(|task| task.declared_files.clear()), ["declared files"]);
        assert_eq!(fields(|task| task.labels.push("x".into())), ["labels"]);
        assert_eq!(fields(|task| task.branch = OneLine::Given("task/x".into())), ["branch"]);
        let other = || dispatch_core::id::TaskId::parse("T-9").unwrap();
        assert_eq!(fields(|task| task.parent = Some(other())), ["parent"]);
        assert_eq!(fields(|task| task.dependencies.push(other())), ["dependencies"]);
    }

    #[test]
    fn b4_a_planted_key_is_a_difference_and_a_dropped_one_is_not() {
        let planted = fields(|task| {
            task.unknown_keys.insert("onStatusChange".into(), "\"sh evil\"".into());
        });
        assert_eq!(planted, ["front matter `onStatusChange`"]);
        let mut before = task();
        before.unknown_keys.insert("milestone".into(), "1".into());
        assert_eq!(Snapshot::of(&before).changes(&task()), Vec::new());
    }

    #[test]
    fn b4_before_and_after_are_cut_to_200_characters() {
        let mut after = task();
        after.description = "x".repeat(500);
        let changes = Snapshot::of(&task()).changes(&after);
        assert_eq!(changes[0].after.chars().count(), 200);
        insta::assert_snapshot!(FieldChange::new("title", "a", "b\u{7}"), @r#"title: "a" became "b""#);
    }
}
