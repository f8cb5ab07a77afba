//! One module for each command: it wires, calls the engine and prints.

mod by_hand;
mod config;
mod explain;
mod lanes;
mod logs;
mod pass;
mod status;
mod supervise;
mod trust;
mod wait;

use std::ffi::OsString;

use dispatch_core::names::SelectionOff;

use crate::args::{Cli, Command};
use crate::exit::Exit;

/// Carries out a command line. `off` says why a pass selects nothing, when the environment of the call says so.
pub fn run(cli: Cli, off: Option<SelectionOff>) -> anyhow::Result<Exit> {
    let global = cli.global;
    if let Some(name) = cli.release_slot {
        return by_hand::release_slot(&name, cli.force, &global);
    }
    match cli.command {
        None => pass::run(&cli.pass, &global, off),
        Some(Command::Pass(args)) => pass::run(&args, &global, off),
        Some(Command::Supervise { id, recover }) => supervise::run(&id, recover, &global),
        Some(Command::Status { json, watch }) => status::run(json, watch, &global),
        Some(Command::Explain { id, json }) => explain::run(&id, json, &global),
        Some(Command::Logs { id, attempt, follow, raw }) => {
            logs::run(&id, attempt, follow, raw, &global)
        }
        Some(Command::Config { command }) => config::run(command, &global),
        Some(Command::Trust { show }) => trust::run(show, &global),
        Some(Command::ReleaseSlot { name, force }) => by_hand::release_slot(&name, force, &global),
        Some(Command::Cancel { id, to }) => by_hand::cancel(&id, &to, &global),
        Some(Command::Retry { id, reset_attempts }) => by_hand::retry(&id, reset_attempts, &global),
        Some(Command::Pause { lane, reason }) => lanes::pause(lane, &reason, &global),
        Some(Command::Resume { lane }) => lanes::resume(lane, &global),
        Some(Command::Inspect(args)) => crate::inspect::run(&args, &global),
        Some(Command::Demo { json, keep }) => crate::demo::run(json, keep),
        Some(Command::DemoAgent { argv }) => crate::demo::play(&argv),
        Some(Command::Session { argv }) => {
            let command_line: Vec<OsString> = argv.into_iter().map(OsString::from).collect();
            Err(dispatch_proc::exec_in_own_session(&command_line).into())
        }
    }
}
