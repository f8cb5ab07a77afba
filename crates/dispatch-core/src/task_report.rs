//! A task as `inspect` prints it, whichever format it was read from (K6).

use serde_json::{Value, json};

use crate::task::{ChecklistItem, OneLine, Task};
use crate::triage::Answer;

/// The fields of a task, with the problems of the text it was read from.
///
/// Texts that are not there are `null`, and so is an answer that is missing or conflicting; a conflict is among the
/// problems.
pub fn report(task: &Task, problems: &[String]) -> Value {
    let items = |items: &[ChecklistItem]| -> Vec<Value> {
        let item = |item: &ChecklistItem| json!({"index": item.index, "checked": item.checked, "text": item.text});
        items.iter().map(item).collect()
    };
    let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let mut problems = problems.to_vec();
    problems.extend(conflict("tier", &task.tier));
    problems.extend(conflict("lane", &task.lane));
    problems.extend(conflict("path", &task.path));
    problems.extend(lines_conflict("Test command:", &task.test_command));
    problems.extend(lines_conflict("Branch:", &task.branch));
    let dependencies: Vec<String> = task
        .dependencies
        .iter()
        .map(ToString::to_string)
        .chain(task.foreign_dependencies.iter().cloned())
        .collect();
    let files = task.declared_files.iter().map(|file| {
        if file.shared { format!("{} (shared)", file.text) } else { file.text.clone() }
    });
    let comments: Vec<Value> = task
        .comments
        .iter()
        .map(|said| json!({"index": said.index, "author": said.author, "created": said.created, "body": said.body}))
        .collect();
    json!({
        "id": task.id,
        "title": task.title,
        "status": task.status,
        "labels": task.labels,
        "tier": task.tier.given(),
        "lane": task.lane.given(),
        "path": task.path.given(),
        "priority": task.priority,
        "parent": task.parent,
        "dependencies": dependencies,
        "declaredFiles": files.collect::<Vec<_>>(),
        "testCommand": task.test_command.given(),
        "branch": task.branch.given(),
        "created": task.created,
        "acceptance": items(&task.acceptance),
        "definitionOfDone": items(&task.definition_of_done),
        "comments": comments,
        "description": text(&task.description),
        "plan": text(&task.plan),
        "notes": text(&task.notes),
        "finalSummary": text(&task.final_summary),
        "problems": problems,
    })
}

fn conflict<T>(key: &str, answer: &Answer<T>) -> Option<String> {
    match answer {
        Answer::Missing | Answer::Given(_) => None,
        Answer::Conflicting(labels) => {
            Some(format!("conflicting labels for `{key}`: {}", labels.join(", ")))
        }
    }
}

fn lines_conflict(key: &str, line: &OneLine) -> Option<String> {
    match line {
        OneLine::Missing | OneLine::Given(_) => None,
        OneLine::Conflicting(values) => {
            Some(format!("conflicting lines `{key}`: {}", values.join(" | ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board_config::Priorities;
    use crate::task_file;

    #[test]
    fn k6_a_report_has_every_field_and_names_conflicts() {
        let text = "---\nid: T-5.1\ntitle: x\nstatus: queued\nlabels: ['lane:local', 'lane:cloud', 'tier:minor']\npriority: high\nparent_task_id: t-5\ndependencies: [t-1, '2', nonsense]\n---\n\n## Description\n\n<!-- SECTION:DESCRIPTION:BEGIN -->\nFiles:\n- a.rs\n- b.rs (shared)\nTest command: `a`\nTest command: b\n<!-- SECTION:DESCRIPTION:END -->\n\n## Acceptance Criteria\n<!-- AC:BEGIN -->\n- [x] #1 one\n<!-- AC:END -->\n";
        let file = task_file::parse(text.as_bytes(), &Priorities::default()).unwrap();
        let report = report(&file.task, &["a remark".to_owned()]);
        assert_eq!(report["status"], "Queued");
        assert_eq!(report["dependencies"], json!(["t-1", "2", "nonsense"]));
        assert_eq!(report["declaredFiles"], json!(["a.rs", "b.rs (shared)"]));
        assert_eq!((&report["lane"], &report["tier"]), (&Value::Null, &json!("minor")));
        assert_eq!(report["acceptance"], json!([{"index": 1, "checked": true, "text": "one"}]));
        assert_eq!(
            report["problems"],
            json!([
                "a remark",
                "conflicting labels for `lane`: lane:local, lane:cloud",
                "conflicting lines `Test command:`: a | b"
            ])
        );
    }
}
