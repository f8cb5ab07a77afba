//! How much of a prompt a task takes (guard 1).

use dispatch_core::task::{ChecklistItem, Comment};

use super::*;

/// D4: the task's text and its comments count in bytes, each once.
#[test]
fn d4_a_task_takes_the_bytes_of_its_texts_and_comments() {
    let text = |bytes: usize| "é".repeat(bytes / 2);
    let item = |bytes| ChecklistItem { index: 1, checked: false, text: text(bytes) };
    let comment = Comment { index: 1, author: None, created: None, body: text(80_000) };
    let mut task = snapshot().task;
    task.title = text(2);
    task.description = text(10);
    task.plan = text(20);
    task.notes = text(40);
    task.final_summary = text(100);
    task.acceptance = vec![item(200), item(400)];
    task.definition_of_done = vec![item(1000)];
    task.comments = vec![comment.clone(), comment];
    assert_eq!(task_bytes(&task), 161_772);
}
