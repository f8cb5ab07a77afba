//! Decisions of the core crate.

use std::collections::BTreeSet;

use camino::Utf8PathBuf;
use dispatch_core::outcome::{Ending, Stopped, StreamSummary, classify};
use dispatch_core::worker_edit::Draft;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{fields, printed};

/// `{stream: FILE, stderr?: FILE, exit?, signal?, stopped?}` → `{outcome, text, turns, costUsd, durationMs, denials, …}`.
pub(super) fn stream(input: Value) -> Result<Value, String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Input {
        stream: Utf8PathBuf,
        stderr: Option<Utf8PathBuf>,
        exit: Option<i32>,
        signal: Option<i32>,
        stopped: Option<String>,
    }
    let input: Input = fields(input)?;
    let mut summary = StreamSummary::default();
    summary.push(&read(&input.stream)?);
    summary.end();
    let stderr_tail = match &input.stderr {
        Some(file) => String::from_utf8_lossy(&read(file)?).into_owned(),
        None => String::new(),
    };
    let stopped = input.stopped.as_deref().map(stopped).transpose()?;
    printed(&classify(
        &summary,
        &Ending { stopped, exit: input.exit, signal: input.signal, stderr_tail },
    ))
}

fn read(file: &Utf8PathBuf) -> Result<Vec<u8>, String> {
    std::fs::read(file).map_err(|error| format!("`{file}` cannot be read: {error}"))
}

fn stopped(text: &str) -> Result<Stopped, String> {
    let all = [
        Stopped::Timeout,
        Stopped::Stalled,
        Stopped::Cancelled,
        Stopped::Interrupted,
        Stopped::SurfaceMismatch,
    ];
    all.into_iter().find(|stopped| stopped.outcome().as_str() == text).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|stopped| stopped.outcome().as_str()).collect();
        format!("`stopped`: `{text}` is none of {}", names.join(", "))
    })
}

/// `{task, ownedDod?, argv}` → `{allowed}` or `{refused, rule}`.
pub(super) fn worker_edit(input: Value) -> Result<Value, String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Input {
        task: Option<String>,
        #[serde(default)]
        owned_dod: BTreeSet<u32>,
        argv: Vec<String>,
        #[serde(default)]
        stdin: String,
    }
    let input: Input = fields(input)?;
    let judged = Draft::parse(&input.argv, input.task.as_deref(), &input.owned_dod)
        .and_then(|draft| draft.with_stdin(&input.stdin));
    Ok(match judged {
        Ok(request) => json!({ "allowed": printed(&request)? }),
        Err(refused) => json!({ "refused": refused.message, "rule": refused.rule.as_str() }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_foreign_task_is_refused_with_the_rule() {
        let answer = worker_edit(json!({ "task": "T-1", "argv": ["T-2", "--view"] })).unwrap();
        assert_eq!(answer["rule"], "own-task");
    }

    #[test]
    fn a_recorded_stream_is_classified_from_its_file() {
        let file =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/claude/success-edits.jsonl");
        let answer = stream(json!({ "stream": file, "exit": 0 })).unwrap();
        assert_eq!((&answer["outcome"], &answer["turns"]), (&json!("success"), &json!(4)));
    }
}
