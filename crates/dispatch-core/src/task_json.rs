//! The board program's JSON view of one task (B2.2): what the files reader is held against.

use serde::Deserialize;
use thiserror::Error;

use crate::board_config::Priorities;
use crate::id::{TaskId, TaskIdError};
use crate::task::{ChecklistItem, Comment, Task};
use crate::task_file::TaskParts;

/// The version of the format that is understood; keys may be added to it.
const SCHEMA_VERSION: u64 = 1;

/// Why a text is no JSON view of a task.
#[derive(Debug, Error)]
pub enum TaskJsonError {
    /// It is not the expected JSON.
    #[error("it is not the JSON view of a task")]
    Json(#[source] serde_path_to_error::Error<serde_json::Error>),
    /// It has another version or kind.
    #[error("it is `{kind}` of schema version {version}; `task-view` of version 1 is understood")]
    Schema {
        /// The version.
        version: u64,
        /// The kind.
        kind: String,
    },
    /// Its id is none.
    #[error("its id cannot be read")]
    Id(#[source] TaskIdError),
    /// Its parent is no task id.
    #[error("{0}")]
    Parent(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct View {
    schema_version: u64,
    kind: String,
    task: Fields,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Fields {
    id: String,
    title: String,
    status: Option<String>,
    priority: Option<String>,
    labels: Vec<String>,
    parent_task_id: Option<String>,
    #[serde(default)]
    modified_files: Vec<String>,
    created_at: Option<String>,
    updated_at: Option<String>,
    description: Option<String>,
    dependencies: Vec<String>,
    acceptance_criteria: Vec<Item>,
    definition_of_done: Vec<Item>,
    implementation_plan: Option<String>,
    implementation_notes: Option<String>,
    comments: Vec<Said>,
    final_summary: Option<String>,
}

#[derive(Deserialize)]
struct Item {
    index: u32,
    text: String,
    checked: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Said {
    index: u32,
    body: String,
    created_at: Option<String>,
    author: Option<String>,
}

/// Reads `task view <id> --json`.
pub fn parse(text: &str, priorities: &Priorities) -> Result<Task, TaskJsonError> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let view: View = serde_path_to_error::deserialize(&mut reader).map_err(TaskJsonError::Json)?;
    if view.schema_version != SCHEMA_VERSION || view.kind != "task-view" {
        return Err(TaskJsonError::Schema { version: view.schema_version, kind: view.kind });
    }
    let task = view.task;
    let items = |items: Vec<Item>| -> Vec<ChecklistItem> {
        let item = |Item { index, text, checked }| ChecklistItem { index, checked, text };
        items.into_iter().map(item).collect()
    };
    let said = |said: Said| Comment {
        index: said.index,
        author: said.author.filter(|author| !author.is_empty()),
        created: said.created_at.filter(|created| !created.is_empty()),
        body: said.body,
    };
    let parts = TaskParts {
        id: TaskId::parse(&task.id).map_err(TaskJsonError::Id)?,
        title: task.title,
        status: task.status.unwrap_or_default(),
        labels: task.labels,
        priority: task.priority,
        created: task.created_at,
        updated: task.updated_at,
        parent: task.parent_task_id,
        dependencies: task.dependencies,
        modified_files: task.modified_files,
        acceptance: items(task.acceptance_criteria),
        definition_of_done: items(task.definition_of_done),
        comments: task.comments.into_iter().map(said).collect(),
        description: task.description.unwrap_or_default(),
        plan: task.implementation_plan.unwrap_or_default(),
        notes: task.implementation_notes.unwrap_or_default(),
        final_summary: task.final_summary.unwrap_or_default(),
        unknown_keys: std::collections::BTreeMap::new(),
    };
    parts.into_task(priorities).map_err(TaskJsonError::Parent)
}
