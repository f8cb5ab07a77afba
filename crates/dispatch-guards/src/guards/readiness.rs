//! Guard 1: the task is complete and unambiguous.

use dispatch_core::names::{BlockReason, WaitReason};
use dispatch_core::parent::has_own_branch;
use dispatch_core::path::containment_fault;
use dispatch_core::task::{OneLine, Task};
use dispatch_core::triage::{Answer, ExecutionPath, Lane, Tier};

use super::{GuardInput, GuardMessage, Own, Role, list};
use crate::verdict::{Grounds, Verdict};

/// The most that task text, comments and reviews may take.
pub const MAX_PROMPT_BYTES: usize = 400_000;

/// The first reason decides; what else is wrong is told in the same comment.
pub(super) fn evaluate(input: &GuardInput<'_>, own: &Own) -> Verdict {
    let hides = input.board.may_hide_a_subtask();
    if hides && !input.task.children.is_empty() && has_own_branch(input.task) {
        // Whether it is to be closed cannot be told, and with it what it has to declare.
        let tasks = list(&input.task.children);
        let grounds = Grounds::of(GuardMessage::BoardIncomplete, &[("tasks", &tasks)]);
        return Verdict::Wait(WaitReason::BoardIncomplete, grounds);
    }
    let mut found = Vec::new();
    check_size(input, &mut found);
    check_triage(input.task, &mut found);
    let whole = input.role == Role::Close;
    if !(whole && input.task.test_command == OneLine::Missing) {
        check_test_command(input.task, own, &mut found);
    }
    if !(whole && input.task.declared_files.is_empty()) {
        check_files(input, &mut found);
    }
    if input.task.acceptance.is_empty() {
        let grounds = Grounds::of(GuardMessage::MissingAcceptanceCriteria, &[]);
        found.push((BlockReason::MissingAcceptanceCriteria, grounds));
    }
    // Missing answers come before conflicting ones, as the reasons are listed.
    found.sort_by_key(|(reason, _)| rank(*reason));
    let mut found = found.into_iter();
    match found.next() {
        None => Verdict::Launch,
        Some((reason, first)) => {
            Verdict::Block(reason, found.fold(first, |all, (_, more)| all.extended(more)))
        }
    }
}

fn rank(reason: BlockReason) -> usize {
    let order = [
        BlockReason::PromptTooLarge,
        BlockReason::MissingTriage,
        BlockReason::ConflictingTriage,
        BlockReason::MissingTestCommand,
        BlockReason::InvalidTestCommand,
        BlockReason::MissingFiles,
        BlockReason::InvalidFiles,
    ];
    order.iter().position(|known| *known == reason).unwrap_or(order.len())
}

/// Bytes of a task's own text and comments.
pub fn task_bytes(task: &Task) -> usize {
    let items = task.acceptance.iter().chain(&task.definition_of_done).map(|item| item.text.len());
    let comments = task.comments.iter().map(|comment| comment.body.len());
    let texts = [&task.title, &task.description, &task.plan, &task.notes, &task.final_summary];
    texts.iter().map(|text| text.len()).chain(items).chain(comments).sum()
}

fn check_size(input: &GuardInput<'_>, found: &mut Vec<(BlockReason, Grounds)>) {
    let bytes = task_bytes(input.task) + input.review_bytes;
    if bytes > MAX_PROMPT_BYTES {
        let values = [("bytes", bytes.to_string()), ("limit", MAX_PROMPT_BYTES.to_string())];
        let values = [(values[0].0, values[0].1.as_str()), (values[1].0, values[1].1.as_str())];
        found.push((
            BlockReason::PromptTooLarge,
            Grounds::of(GuardMessage::PromptTooLarge, &values),
        ));
    }
}

fn check_triage(task: &Task, found: &mut Vec<(BlockReason, Grounds)>) {
    check_answer("tier", &task.tier, || list(Tier::ALL), found);
    check_answer("lane", &task.lane, || list(Lane::ALL), found);
    check_answer("path", &task.path, || list(ExecutionPath::ALL), found);
}

fn check_answer<T>(
    key: &str,
    answer: &Answer<T>,
    allowed: impl Fn() -> String,
    found: &mut Vec<(BlockReason, Grounds)>,
) {
    match answer {
        Answer::Given(_) => {}
        Answer::Missing => {
            let allowed = allowed();
            let values = [("key", key), ("allowed", allowed.as_str())];
            let grounds = Grounds::of(GuardMessage::MissingTriage, &values);
            found.push((BlockReason::MissingTriage, grounds));
        }
        Answer::Conflicting(labels) => {
            let labels = list(labels);
            let allowed = allowed();
            let values = [("labels", labels.as_str()), ("key", key), ("allowed", allowed.as_str())];
            let grounds = Grounds::of(GuardMessage::ConflictingTriage, &values);
            found.push((BlockReason::ConflictingTriage, grounds));
        }
    }
}

fn check_test_command(task: &Task, own: &Own, found: &mut Vec<(BlockReason, Grounds)>) {
    match &task.test_command {
        OneLine::Missing => found.push((
            BlockReason::MissingTestCommand,
            Grounds::of(GuardMessage::MissingTestCommand, &[]),
        )),
        OneLine::Conflicting(commands) => {
            let commands = list(commands);
            let values = [("commands", commands.as_str())];
            let grounds = Grounds::of(GuardMessage::ConflictingTestCommand, &values);
            found.push((BlockReason::InvalidTestCommand, grounds));
        }
        OneLine::Given(command) => {
            if let Some(Err(refusal)) = &own.test_command {
                let why = refusal.to_string();
                let values =
                    [("command", command.as_str()), ("why", &why), ("word", &refusal.word)];
                let grounds = Grounds::of(GuardMessage::InvalidTestCommand, &values);
                found.push((BlockReason::InvalidTestCommand, grounds));
            }
        }
    }
}

fn check_files(input: &GuardInput<'_>, found: &mut Vec<(BlockReason, Grounds)>) {
    let files = &input.task.declared_files;
    if files.is_empty() && input.task.lane.given() == Some(Lane::Local) {
        found.push((BlockReason::MissingFiles, Grounds::of(GuardMessage::MissingFiles, &[])));
    }
    for file in files {
        let path = file.text.strip_suffix('/').unwrap_or(&file.text);
        if let Some(why) = containment_fault(path) {
            let values = [("file", file.text.as_str()), ("why", why)];
            let grounds = Grounds::of(GuardMessage::InvalidFile, &values);
            found.push((BlockReason::InvalidFiles, grounds));
        }
    }
}
