//! `dispatch` and `dispatch pass`.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::time::Duration;

use anyhow::Context;
use dispatch_core::id::TaskId;
use dispatch_core::names::SelectionOff;
use dispatch_engine::pass::{self, Options};
use dispatch_engine::ports::{Ports, TryLock};
use dispatch_proc::{Call, Detached};

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
        wait(&ports, report.dispatched().cloned().collect(), !args.json)?;
    }
    Ok(if report.failed() { Exit::Failed } else { Exit::Done })
}

/// Waits until nobody holds the lock of any of these tasks.
fn wait(ports: &Ports<'_>, started: BTreeSet<TaskId>, talk: bool) -> anyhow::Result<()> {
    let talk = talk && std::io::stderr().is_terminal();
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
            if talk {
                output::note(&format!("{id} ended"));
            }
        }
        if !running.is_empty() {
            ports.clock.sleep(LOOK);
        }
    }
    Ok(())
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
