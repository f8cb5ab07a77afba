//! The pure decisions on input of a person's own (K6): one JSON object in, one out, no side effect.

mod board;
mod core;
mod guards;
mod permission;
mod surface;

use std::io::{BufRead, Read};

use anyhow::Context;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::args::{GlobalArgs, InspectArgs, InspectCommand, TaskFormat};
use crate::exit::{Exit, Refused};
use crate::output;
use crate::wire::Ground;

/// A decision over one input. The error is a sentence that says what is unusable about the input.
type Decision<'a> = &'a dyn Fn(Value) -> Result<Value, String>;

/// Prints the decision a person asked for.
pub fn run(args: &InspectArgs, global: &GlobalArgs) -> anyhow::Result<Exit> {
    let decide = |decision: Decision<'_>| answer(decision, args.batch);
    match &args.command {
        InspectCommand::Task { format, id } if args.batch => {
            anyhow::ensure!(
                id.is_none() && *format == TaskFormat::File,
                "in a batch each line names its own format and id"
            );
            decide(&board::task_of_batch)
        }
        InspectCommand::Task { format, id } => {
            let text = std::io::read_to_string(std::io::stdin())
                .context("could not read standard input")?;
            told(board::task(*format, &text, id.as_deref()))
        }
        InspectCommand::Board { reader } => {
            output::json(&board::board(&Ground::find(global)?, *reader)?)?;
            Ok(Exit::Done)
        }
        InspectCommand::Surface { lane, task } => told(surface::surface(global, *lane, task)?),
        InspectCommand::Guards => decide(&permission::guards),
        InspectCommand::Tool => decide(&|input| permission::tool(&input)),
        InspectCommand::Relation => decide(&permission::relate),
        InspectCommand::Lint => decide(&permission::lint_rule),
        InspectCommand::Parents => decide(&board::parents),
        InspectCommand::Stream => decide(&core::stream),
        InspectCommand::WorkerEdit => decide(&core::worker_edit),
        InspectCommand::Scope => decide(&guards::scope),
        InspectCommand::Claims => decide(&guards::claims),
        InspectCommand::TestCommand => {
            let shapes = guards::shapes(global)?;
            decide(&|input| guards::test_command(input, &shapes))
        }
    }
}

/// Answers the input on standard input: one document, or with `batch` a line for each line.
fn answer(decision: Decision<'_>, batch: bool) -> anyhow::Result<Exit> {
    if batch {
        for line in std::io::stdin().lock().lines() {
            let line = line.context("could not read standard input")?;
            let answer =
                parse(&line).and_then(decision).unwrap_or_else(|error| json!({ "error": error }));
            output::line(&answer.to_string())?;
        }
        return Ok(Exit::Done);
    }
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).context("could not read standard input")?;
    told(parse(&text).and_then(decision))
}

/// Prints one answer, or why there is none.
fn told(answer: Result<Value, String>) -> anyhow::Result<Exit> {
    match answer {
        Ok(answer) => {
            output::json(&answer)?;
            Ok(Exit::Done)
        }
        Err(error) => Err(Refused::because(error)),
    }
}

fn parse(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("the input is not JSON: {error}"))
}

/// Reads the fields of one input.
fn fields<T: DeserializeOwned>(input: Value) -> Result<T, String> {
    serde_path_to_error::deserialize(input).map_err(|error| {
        let path = error.path().to_string();
        format!("`{path}`: {}", error.into_inner())
    })
}

/// Prints one answer.
fn printed(answer: &impl Serialize) -> Result<Value, String> {
    serde_json::to_value(answer).map_err(|error| format!("the answer cannot be printed: {error}"))
}
