//! `dispatch` and `dispatch pass`.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::Context;
use dispatch_core::id::TaskId;
use dispatch_core::names::SelectionOff;
use dispatch_core::record::Phase;
use dispatch_engine::pass::{self, Options};
use dispatch_engine::ports::{AttemptFile, Ports, TryLock};
use dispatch_proc::{Call, Detached};
use serde_json::Value;

use crate::args::{GlobalArgs, PassArgs};
use crate::exit::Exit;
use crate::output;
use crate::wire::{Ground, Role, World, own_program};

/// How often the end of a supervisor is looked for.
const LOOK: Duration = Duration::from_millis(200);

/// Runs one pass.
pub(super) fn run(
    args: &PassArgs,
    global: &GlobalArgs,
    off: Option<SelectionOff>,
) -> anyhow::Result<Exit> {
    let ground = Ground::find(global)?;
    if args.detach {
        return detach(&ground, args, global);
    }
    let world = World::new(&ground, ground.setup()?, Role::Pass)?;
    let ports = world.ports();
    let options = Options {
        selection_off: off.or(args.no_select.then_some(SelectionOff::Flag)),
        max_dispatch: args.max_dispatch,
        dry_run: args.dry_run,
    };
    let report = pass::run(&ports, &world.setup, &options)?;
    if args.json {
        output::json(&report)?;
    } else {
        for line in report.lines() {
            output::line(&line)?;
        }
    }
    if args.wait {
        wait(&ports, report.dispatched().cloned().collect(), args.json)?;
    }
    Ok(if report.failed() { Exit::Failed } else { Exit::Done })
}

/// Waits until nobody holds the lock of any of these tasks, and says how each ended.
fn wait(ports: &Ports<'_>, started: BTreeSet<TaskId>, json: bool) -> anyhow::Result<()> {
    let mut running = started;
    while !running.is_empty() {
        let mut ended = Vec::new();
        for id in &running {
            if matches!(ports.store.try_task_lock(id)?, TryLock::Taken(_)) {
                ended.push(id.clone());
            }
        }
        for id in ended {
            running.remove(&id);
            let line = how_it_ended(ports, &id)?;
            if json {
                output::note(&line);
            } else {
                output::line(&line)?;
            }
        }
        if !running.is_empty() {
            ports.clock.sleep(LOOK);
        }
    }
    Ok(())
}

/// How the last attempt of a task ended, and what the task is now.
fn how_it_ended(ports: &Ports<'_>, id: &TaskId) -> anyhow::Result<String> {
    let Some(record) = ports.store.record(id)? else {
        return Ok(format!("{id}: nothing is recorded of it any more"));
    };
    let attempt = record.attempt;
    let now = match ports.board.task(id)? {
        Some(task) => format!("the task is {}", task.status),
        None => "the board does not hold the task any more".to_owned(),
    };
    if record.phase != Phase::Ended {
        return Ok(format!(
            "{id}: attempt {attempt} is left in phase {}, the next pass goes on with it; {now}",
            record.phase
        ));
    }
    let outcome = ports.store.read_attempt_file(id, attempt, AttemptFile::Outcome)?;
    let outcome: Value =
        outcome.map(|bytes| serde_json::from_slice(&bytes)).transpose()?.unwrap_or_default();
    Ok(if outcome["success"] == true {
        let link = record.pr.map_or_else(
            || "nothing to propose".to_owned(),
            |proposal| {
                format!(
                    "proposed as {}",
                    proposal.url.unwrap_or_else(|| proposal.branch.to_string())
                )
            },
        );
        format!("{id}: attempt {attempt} ended, {link}; {now}")
    } else {
        let reason = outcome["reason"].as_str().unwrap_or("no outcome was written");
        format!("{id}: attempt {attempt} ended, {reason}; {now} (`dispatch logs {id}` shows why)")
    })
}

/// Starts the same pass in a session of its own and returns at once: the board's program waits for its callback.
fn detach(ground: &Ground, args: &PassArgs, global: &GlobalArgs) -> anyhow::Result<Exit> {
    let program = own_program()?;
    let state_dir = ground.state_dir();
    std::fs::create_dir_all(&state_dir).with_context(|| format!("could not make `{state_dir}`"))?;
    let here = std::env::current_dir().context("could not find the current directory")?;
    let mut call = Call::new(program.clone(), here.to_string_lossy().into_owned(), Duration::MAX)
        .arg("pass")
        .envs(std::env::vars_os());
    if let Some(file) = &global.config {
        call = call.args(["--config", file.as_str()]);
    }
    if let Some(most) = args.max_dispatch {
        call = call.args(["--max-dispatch", &most.to_string()]);
    }
    if args.no_select {
        call = call.arg("--no-select");
    }
    call.launcher = vec![program.as_os_str().to_owned(), "session".into()];
    dispatch_proc::spawn_detached(Detached { call, stdin: None, log: state_dir.join("pass.log") })?;
    Ok(Exit::Done)
}
