//! `dispatch` and `dispatch pass`.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context, bail};
use dispatch_core::id::TaskId;
use dispatch_core::names::SelectionOff;
use dispatch_engine::pass::{self, Options};
use dispatch_proc::{Call, Detached};

use super::wait::{self, Interrupt};
use crate::args::{GlobalArgs, PassArgs};
use crate::exit::Exit;
use crate::output;
use crate::wire::{Ground, Role, World, own_program};

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
    let mut world = adapters(&ground)?;
    let options = Options {
        selection_off: off.or(args.no_select.then_some(SelectionOff::Flag)),
        max_dispatch: args.max_dispatch,
        dry_run: args.dry_run,
    };
    let mut report = pass::run(&world.ports(), &world.setup, &options)?;
    let mut met_another = false;
    while args.wait
        && let Some(holder) = report.another.take()
    {
        if !met_another {
            output::note(&format!(
                "another pass is running ({holder}): waiting for it, and then for every attempt that runs"
            ));
        }
        met_another = true;
        wait::for_pass(&world.ports(), &holder, &Interrupt::listen()?)?;
        // Meanwhile the configuration may have become another one.
        world = adapters(&ground)?;
        report = pass::run(&world.ports(), &world.setup, &options)?;
    }
    if args.json {
        output::json(&report)?;
    } else {
        for line in report.lines() {
            output::line(&line)?;
        }
    }
    if args.wait {
        let mut started: BTreeSet<TaskId> = report.dispatched().cloned().collect();
        if met_another {
            started.extend(wait::running(&world.ports())?);
        }
        wait::for_attempts(&world.ports(), started, args.json, &Interrupt::listen()?)?;
    }
    Ok(if report.failed() { Exit::Failed } else { Exit::Done })
}

/// The adapters for a configuration that an attempt can use: what is wrong with a template is told before a task is taken
/// (D8.3).
fn adapters(ground: &Ground) -> anyhow::Result<World> {
    let setup = ground.setup()?;
    let errors = setup.template_errors();
    if !errors.is_empty() {
        bail!("the configuration cannot be used:\n  {}", errors.join("\n  "));
    }
    World::new(ground, setup, Role::Pass)
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
