//! The parts of a prompt that say what the worker may do and how.

use std::collections::BTreeSet;

use super::fence::{fenced, inline};
use super::worker::PromptInput;
use crate::task::{ChecklistItem, Task};
use crate::triage::ExecutionPath;

/// How the board command is used, with the exact command lines.
pub(super) fn board_usage(input: &PromptInput<'_>) -> String {
    let command = input.board_command;
    let tickable: Vec<String> = input
        .task
        .definition_of_done
        .iter()
        .filter(|item| !input.owned_dod.contains(&item.index))
        .map(|item| item.index.to_string())
        .collect();
    let definition = if tickable.is_empty() {
        String::new()
    } else {
        format!(
            "\n{command} --check-dod N                 # tick item N of the definition of done; yours: {}",
            tickable.join(", ")
        )
    };
    format!(
        "These command lines, and no other form, reach the board. `N` is the number shown before an item.

```text
{command} --view                        # print the task as it is now
{command} --check-ac N                  # tick acceptance criterion N
{command} --uncheck-ac N                # take the tick back{definition}
{command} --append-notes \"text\"         # keep a note for the next attempt and for people
{command} --comment \"text\"              # tell people something
{command} --final-summary \"text\"        # say what was done, at the end
```

Several options may follow each other in one call: `{command} --check-ac 1 --check-ac 2`. A long text goes through standard input, with `-` in its place and the delimiter in quotes:

```text
{command} --final-summary - <<'EOF'
What was done, in a few plain sentences.
EOF
```

A text may not hold a line that is only `---`, a checklist item (`- [ ] …`), a heading named like a section of the task, or an HTML comment. The command answers with exit status 0 when it is done, 2 when it refuses and says why; 1 means that the board is busy: try again after a moment."
    )
}

/// Where the test command runs, as a clause.
pub(super) fn test_place(input: &PromptInput<'_>) -> String {
    match input.test_directory {
        None => "in the working directory".to_owned(),
        Some(folder) => format!(
            "in the folder {}: run `cd` into it as a command of its own first, and `cd {}` afterwards",
            inline(folder),
            input.slot
        ),
    }
}

/// The test command, or that there is none.
pub(super) fn test_command(input: &PromptInput<'_>) -> String {
    input.test_command.unwrap_or("none is declared").to_owned()
}

/// How the work is approached.
pub(super) fn approach(input: &PromptInput<'_>) -> String {
    match input.path {
        ExecutionPath::Direct => {
            "Approach: direct. Understand the code the task is about, then make the change."
                .to_owned()
        }
        ExecutionPath::Sdd => format!(
            "Approach: specification first. Before you change any code, write down what will be built: the behaviour in \
             checkable statements, the cases at its edges, and the design with the files it touches. Put it on the board \
             with `{} --append-plan -`, a quoted heredoc as its text. Then build it step by step, tests with each step, \
             and keep what you wrote true: when the design changes, append the change.",
            input.board_command
        ),
    }
}

/// What every part of the local lane's work is bounded by.
pub(super) fn envelope(input: &PromptInput<'_>) -> String {
    let task = input.task;
    let mut parts = vec![
        format!("## Files you may change\n\n{}", allowed_files(task)),
        format!("## Forbidden files\n\n{}", forbidden(input.forbidden)),
        test_part(input),
        format!("## The board command\n\n{}", board_usage(input)),
        format!("## Acceptance criteria\n\n{}", checklist(&task.acceptance, &BTreeSet::new())),
    ];
    if !task.definition_of_done.is_empty() {
        parts.push(format!(
            "## Definition of done\n\n{}",
            checklist(&task.definition_of_done, input.owned_dod)
        ));
    }
    parts.join("\n\n")
}

fn test_part(input: &PromptInput<'_>) -> String {
    match input.test_command {
        Some(command) => format!(
            "## Test command\n\nRun exactly this, {}:\n\n{}",
            test_place(input),
            fenced(command)
        ),
        None => "## Test command\n\nThe task declares none.".to_owned(),
    }
}

fn allowed_files(task: &Task) -> String {
    if task.declared_files.is_empty() {
        return "The task declares none.".to_owned();
    }
    let files: Vec<&str> = task.declared_files.iter().map(|file| file.text.as_str()).collect();
    format!(
        "Only these: files, folders (ending in `/`) and patterns, relative to the top of the repository. Beside a declared source file `name.ext` its tests in `name.test.ext` and `name.test/` are allowed too.\n\n{}",
        fenced(&files.join("\n"))
    )
}

fn forbidden(globs: &[String]) -> String {
    let listed = if globs.is_empty() {
        String::new()
    } else {
        format!(", and whatever matches one of these:\n\n{}", fenced(&globs.join("\n")))
    };
    format!("Everything that is not listed above{listed}")
}

/// A checklist with numbers; items of the dispatcher are marked.
pub(super) fn checklist(items: &[ChecklistItem], owned: &BTreeSet<u32>) -> String {
    let lines: Vec<String> = items
        .iter()
        .map(|item| {
            let tick = if item.checked { "ticked" } else { "open" };
            let whose = if owned.contains(&item.index) { ", not yours to tick" } else { "" };
            let text = item.text.split_whitespace().collect::<Vec<_>>().join(" ");
            format!("{}. ({tick}{whose}) {text}", item.index)
        })
        .collect();
    if lines.is_empty() { "There are none.".to_owned() } else { fenced(&lines.join("\n")) }
}

/// The task as a person wrote it.
pub(super) fn task_text(task: &Task) -> String {
    let mut parts = vec![format!("Task {}: {}", task.id, inline(&task.title))];
    let sections = [
        ("Description", &task.description),
        ("Implementation plan", &task.plan),
        ("Notes", &task.notes),
    ];
    for (title, text) in sections {
        if !text.trim().is_empty() {
            parts.push(format!("{title}:\n\n{}", fenced(text)));
        }
    }
    parts.join("\n\n")
}
