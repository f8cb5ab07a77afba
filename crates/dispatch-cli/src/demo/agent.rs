//! The scripted agent: a stand-in for the real one that speaks the same stream format.
//!
//! It reads its task from the environment as a worker does, changes files in its working directory, ticks its
//! criterion through `worker-edit`, and ends with a `result` event.

use std::io::{Read, Write};
use std::time::Duration;

use anyhow::{Context, bail};
use camino::{Utf8Path, Utf8PathBuf};
use dispatch_proc::Call;
use serde_json::{Value, json};

use super::script::{Act, TASKS};
use crate::exit::Exit;

/// Plays the agent on the task that `DISPATCH_TASK_ID` names.
pub fn play(argv: &[String]) -> anyhow::Result<Exit> {
    let id = std::env::var("DISPATCH_TASK_ID").context(
        "`DISPATCH_TASK_ID` is not set: the scripted agent is started by the demo alone",
    )?;
    let task = TASKS
        .iter()
        .find(|task| task.id == id)
        .with_context(|| format!("the demo has no task `{id}`"))?;
    let mut prompt = String::new();
    std::io::stdin().read_to_string(&mut prompt).context("could not read the prompt")?;
    if prompt.is_empty() {
        bail!("the prompt is empty");
    }
    emit(&json!({
        "type": "system", "subtype": "init", "cwd": ".", "session_id": "demo", "tools": ["Bash", "Edit", "Read", "Write"],
        "mcp_servers": [], "model": after(argv, "--model").unwrap_or("scripted"), "permissionMode": "dontAsk", "apiKeySource": "none",
    }))?;
    let answer = match task.act {
        Act::Write { path, content } => {
            say(&format!("I write {path}."))?;
            let file = Utf8Path::new(path);
            if let Some(folder) = file.parent() {
                std::fs::create_dir_all(folder)
                    .with_context(|| format!("could not make the folder of `{path}`"))?;
            }
            std::fs::write(file, content).with_context(|| format!("could not write `{path}`"))?;
            worker_edit(
                argv,
                &id,
                &["--check-ac", "1", "--final-summary", &format!("Wrote {path}.")],
            )?;
            format!("Wrote {path}.")
        }
        Act::Ask(question) => format!("NEEDS-GUIDANCE {question}"),
    };
    emit(&json!({
        "type": "result", "subtype": "success", "is_error": false, "duration_ms": 10, "duration_api_ms": 0, "num_turns": 2,
        "result": answer, "stop_reason": "end_turn", "session_id": "demo", "total_cost_usd": 0.0, "permission_denials": [],
    }))?;
    Ok(Exit::Done)
}

fn say(text: &str) -> anyhow::Result<()> {
    emit(&json!({
        "type": "assistant", "session_id": "demo", "parent_tool_use_id": null,
        "message": {"id": "demo", "type": "message", "role": "assistant", "content": [{"type": "text", "text": text}]},
    }))
}

fn emit(event: &Value) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{event}").and_then(|()| stdout.flush()).context("could not write the stream")
}

/// Runs the board command that the launch granted, found in the granted rules as a real agent finds it.
fn worker_edit(argv: &[String], id: &str, edits: &[&str]) -> anyhow::Result<()> {
    let program =
        granted_program(argv, id).context("no board command is granted to this worker")?;
    let call = Call::new(program.clone(), ".", Duration::from_mins(1))
        .arg(id)
        .args(edits)
        .envs(std::env::vars_os());
    let finished = dispatch_proc::run(&call)?;
    if !finished.is_success() {
        bail!("{}", finished.failure(&call.shown()));
    }
    Ok(())
}

fn granted_program(argv: &[String], id: &str) -> Option<Utf8PathBuf> {
    let suffix = format!(" {id}:*)");
    argv.iter()
        .find_map(|rule| rule.strip_prefix("Bash(")?.strip_suffix(&suffix))
        .map(Utf8PathBuf::from)
}

fn after<'a>(argv: &'a [String], flag: &str) -> Option<&'a str> {
    let at = argv.iter().position(|word| word == flag)?;
    argv.get(at + 1).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_board_command_is_found_in_the_granted_rules() {
        let argv: Vec<String> = ["--allowedTools", "Edit(./**)", "Bash(/opt/worker-edit T-1:*)"]
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            granted_program(&argv, "T-1").as_deref(),
            Some(Utf8Path::new("/opt/worker-edit"))
        );
        assert_eq!(granted_program(&argv, "T-2"), None);
    }
}
