//! Decisions about tasks and boards.

use std::collections::BTreeMap;

use dispatch_board::{DiskBoard, read_board};
use dispatch_core::board_config::Priorities;
use dispatch_core::error_chain::chain;
use dispatch_core::id::TaskId;
use dispatch_core::parent::{Merged, Node, ParentFacts, effective_status};
use dispatch_core::status::Status;
use dispatch_core::task::Task;
use dispatch_core::{task_file, task_json, task_view};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{fields, printed};
use crate::args::{ReaderKind, TaskFormat};
use crate::wire::Ground;

/// The text of a task in one of three forms → its fields, and what is odd about it.
pub(super) fn task(format: TaskFormat, text: &str, id: Option<&str>) -> Result<Value, String> {
    let priorities = Priorities::default();
    let (task, problems) = match format {
        TaskFormat::File => {
            let file = task_file::parse(text.as_bytes(), &priorities).map_err(|error| {
                let line = error.line.map(|line| format!("line {line}: ")).unwrap_or_default();
                format!("{line}{error}")
            })?;
            let remarks = file
                .remarks
                .iter()
                .map(|remark| format!("line {}: {}", remark.line, remark.cause))
                .collect();
            (file.task, remarks)
        }
        TaskFormat::Json => {
            (task_json::parse(text, &priorities).map_err(|error| chain(&error))?, Vec::new())
        }
        TaskFormat::Plain => {
            let view = task_view::parse(text, &priorities).map_err(|error| chain(&error))?;
            (view.task, view.ambiguities)
        }
    };
    if let Some(expected) = id {
        let expected = TaskId::parse(expected).map_err(|error| error.to_string())?;
        if expected != task.id {
            return Err(format!("the text is of task {}, not of {expected}", task.id));
        }
    }
    shown(&task, problems)
}

/// A line of a batch: `{format, id?, text}`.
pub(super) fn task_of_batch(input: Value) -> Result<Value, String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Input {
        format: String,
        id: Option<String>,
        text: String,
    }
    let input: Input = fields(input)?;
    let format = match input.format.as_str() {
        "file" => TaskFormat::File,
        "plain" => TaskFormat::Plain,
        "json" => TaskFormat::Json,
        other => return Err(format!("`format`: `{other}` is none of file, plain, json")),
    };
    task(format, &input.text, input.id.as_deref())
}

/// The task in the form of K6: answers that were not given are null, conflicting ones are the labels in question.
fn shown(task: &Task, problems: Vec<String>) -> Result<Value, String> {
    let mut value = printed(task)?;
    let Value::Object(map) = &mut value else {
        return Err("a task is printed as an object".to_owned());
    };
    for key in ["tier", "lane", "path", "testCommand", "branch"] {
        let plain =
            map.get(key).and_then(|answer| answer.get("value")).cloned().unwrap_or(Value::Null);
        map.insert(key.to_owned(), plain);
    }
    let files = task.declared_files.iter().map(|file| Value::from(file.text.clone())).collect();
    map.insert("declaredFiles".to_owned(), Value::Array(files));
    map.insert("problems".to_owned(), problems.into());
    Ok(value)
}

/// Every task of the current board in that form, with `complete` and `problems`.
pub(super) fn board(ground: &Ground, reader: ReaderKind) -> anyhow::Result<Value> {
    let read = read_board(&ground.board.dir, &ground.board.config);
    let mut problems: Vec<String> = read.problems.iter().map(ToString::to_string).collect();
    let mut complete = read.complete;
    let mut tasks = Vec::new();
    let program = match reader {
        ReaderKind::Files => None,
        ReaderKind::Plain | ReaderKind::Json => {
            let writer = dispatch_core::config::BoardWriter::default();
            Some(
                DiskBoard::new(ground.board.clone(), writer, std::env::vars_os().collect())
                    .program()?,
            )
        }
    };
    for (id, of_file) in &read.tasks {
        let answer = match (&program, reader) {
            (Some(program), ReaderKind::Json) => program
                .command(&["task", "view", id.as_str(), "--json"])
                .map_err(|error| chain(&error))
                .and_then(|text| task(TaskFormat::Json, &text, Some(id.as_str()))),
            (Some(program), ReaderKind::Plain | ReaderKind::Files) => program
                .view(id)
                .map_err(|error| chain(&error))
                .and_then(|text| task(TaskFormat::Plain, &text, Some(id.as_str()))),
            (None, _) => shown(of_file, Vec::new()),
        };
        match answer {
            Ok(answer) => tasks.push(answer),
            Err(error) => {
                complete = false;
                problems.push(format!("{id}: {error}"));
            }
        }
    }
    Ok(json!({ "tasks": tasks, "complete": complete, "problems": problems }))
}

/// A tree of tasks with the facts of the records → the effective status of every node.
pub(super) fn parents(input: Value) -> Result<Value, String> {
    let tree: Tree = fields(input)?;
    let mut statuses = BTreeMap::new();
    tree.node(&mut statuses)?;
    Ok(Value::Object(statuses.into_iter().collect::<Map<_, _>>()))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Tree {
    id: String,
    status: String,
    #[serde(default)]
    own_branch: bool,
    #[serde(default)]
    merged: Option<String>,
    #[serde(default)]
    close_attempt_since_last_child: bool,
    #[serde(default)]
    children: Vec<Tree>,
}

impl Tree {
    fn node(&self, statuses: &mut BTreeMap<String, Value>) -> Result<Node, String> {
        let merged = match self.merged.as_deref() {
            Some("yes") => Merged::Yes,
            Some("no") => Merged::No,
            Some("unknown") | None => Merged::Unknown,
            Some(other) => return Err(format!("`merged`: `{other}` is none of yes, no, unknown")),
        };
        let children = self
            .children
            .iter()
            .map(|child| child.node(statuses))
            .collect::<Result<Vec<_>, _>>()?;
        let node = Node {
            literal: Status::parse(&self.status),
            own_branch: self.own_branch,
            facts: ParentFacts {
                merged,
                close_attempt_covers_children: self.close_attempt_since_last_child,
            },
            children,
        };
        statuses.insert(self.id.clone(), Value::from(effective_status(&node).as_str()));
        Ok(node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_of_done_children_without_a_branch_is_done() {
        let answer = parents(json!({ "id": "T-1", "status": "To Do", "children": [
            { "id": "T-1.1", "status": "Done" }, { "id": "T-1.2", "status": "Done" } ] }))
        .unwrap();
        assert_eq!(answer["T-1"], "Done");
    }

    #[test]
    fn a_recorded_task_file_is_printed_in_the_form_of_k6() {
        let text = include_str!("../../../../fixtures/backlog/1.52.0/native-full/task.md");
        let answer = task(TaskFormat::File, text, Some("T-2")).unwrap();
        assert_eq!(
            (&answer["tier"], &answer["lane"], &answer["path"]),
            (&json!("minor"), &json!("local"), &Value::Null)
        );
        assert_eq!(
            answer["acceptance"][1],
            json!({ "index": 2, "checked": true, "text": "#3 hash first" })
        );
    }

    #[test]
    fn another_task_than_the_one_asked_for_is_refused() {
        let text = include_str!("../../../../fixtures/backlog/1.52.0/native-full/task.md");
        assert!(task(TaskFormat::File, text, Some("T-9")).unwrap_err().contains("T-9"));
    }
}
