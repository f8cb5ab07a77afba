//! Finds the recorded cases and reads the facts they state.

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_core::task::{ChecklistItem, Comment, Task};
use serde_json::{Value, json};

/// The versions of the board program whose answers were recorded.
pub(crate) const VERSIONS: [&str; 5] = ["1.27.1", "1.39.2", "1.46.0", "1.50.1", "1.52.0"];

/// One recorded case.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) dir: Utf8PathBuf,
    pub(crate) expected: Value,
}

impl Case {
    pub(crate) fn facts(&self) -> &Value {
        &self.expected["facts"]
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        std::fs::read(self.dir.join("task.md")).unwrap()
    }
}

pub(crate) fn root() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/backlog")
}

/// The cases of a folder of fixtures, in order of their names.
pub(crate) fn cases(folder: &str) -> Vec<Case> {
    let mut found: Vec<Case> = root()
        .join(folder)
        .read_dir_utf8()
        .unwrap()
        .map(|entry| entry.unwrap().into_path())
        .filter(|dir| dir.join("expected.json").is_file())
        .map(|dir| Case {
            name: format!("{folder}/{}", dir.file_name().unwrap()),
            expected: serde_json::from_slice(&std::fs::read(dir.join("expected.json")).unwrap())
                .unwrap(),
            dir,
        })
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// The facts of the fixtures that the task model keeps, as the model has them.
pub(crate) fn facts_of(task: &Task) -> Value {
    let items = |items: &[ChecklistItem]| -> Value {
        items
            .iter()
            .map(|item| json!({"index": item.index, "checked": item.checked, "text": item.text}))
            .collect()
    };
    let comment = |comment: &Comment| {
        json!({
            "index": comment.index,
            "author": comment.author,
            "created": comment.created,
            "body": comment.body,
        })
    };
    let text = |text: &str| if text.is_empty() { Value::Null } else { json!(text) };
    let ids: Vec<String> =
        task.dependencies.iter().map(|id| id.to_string().to_uppercase()).collect();
    let priority = ["none", "low", "medium", "high"][task.priority as usize];
    json!({
        "id": task.id.to_string().to_uppercase(),
        "title": task.title,
        "status": task.status.to_string().to_lowercase(),
        "labels": task.labels,
        "parent": task.parent.as_ref().map(|id| id.to_string().to_uppercase()),
        "dependencies": ids,
        "priority": priority,
        "created": task.created,
        "updated": task.updated,
        "ac": items(&task.acceptance),
        "dod": items(&task.definition_of_done),
        "comments": task.comments.iter().map(comment).collect::<Vec<_>>(),
        "description": text(&task.description),
        "plan": text(&task.plan),
        "notes": text(&task.notes),
        "final_summary": text(&task.final_summary),
    })
}

/// The same facts as recorded.
pub(crate) fn recorded(facts: &Value) -> Value {
    let mut kept = facts_of_keys(facts);
    kept["status"] = json!(facts["status"].as_str().unwrap_or_default().to_lowercase());
    let ids = facts["dependencies"].as_array().unwrap().iter();
    kept["dependencies"] = ids.map(|id| json!(id.as_str().unwrap().to_uppercase())).collect();
    kept["priority"] = json!(facts["priority"].as_str().unwrap_or("none"));
    // A date used as a label has no text of its own in the recorded program; the source text is kept here.
    if let Some(labels) = kept["labels"].as_array_mut() {
        for label in labels {
            if *label == json!("Thu Jan 01 2026 00:00:00 GMT+0000 (Coordinated Universal Time)") {
                *label = json!("2026-01-01");
            }
        }
    }
    kept
}

fn facts_of_keys(facts: &Value) -> Value {
    let keys = [
        "id",
        "title",
        "status",
        "labels",
        "parent",
        "dependencies",
        "priority",
        "created",
        "updated",
        "ac",
        "dod",
        "comments",
        "description",
        "plan",
        "notes",
        "final_summary",
    ];
    keys.iter()
        .map(|key| ((*key).to_owned(), facts[*key].clone()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// The names of the facts that differ.
pub(crate) fn differences(found: &Value, recorded: &Value) -> Vec<String> {
    let (found, recorded) = (found.as_object().unwrap(), recorded.as_object().unwrap());
    recorded
        .iter()
        .filter(|(key, value)| found.get(*key) != Some(value))
        .map(|(key, value)| format!("{key}: found {} recorded {value}", found[key]))
        .collect()
}
