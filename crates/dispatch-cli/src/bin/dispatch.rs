//! The `dispatch` program.

use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use dispatch_cli::args::Cli;
use dispatch_cli::exit::Exit;
use dispatch_cli::{callback, commands, log, output};

fn main() -> ExitCode {
    // One file is enough to install: under this name it is the worker's board command.
    if std::env::args_os()
        .next()
        .is_some_and(|name| Path::new(&name).file_name().is_some_and(|name| name == "worker-edit"))
    {
        return worker_edit::main();
    }
    // On every edit of the board: nothing may be touched before this (D1.3).
    let called = callback::read();
    if let Some(line) = called.own_write() {
        // A caller that does not listen is no failure: the edit of the board was made.
        drop(output::line(&line));
        return Exit::Done.into();
    }
    let cli = Cli::parse().checked().unwrap_or_else(|error| error.exit());
    if let Err(error) = log::start(&cli.global) {
        output::note(&format!("error: {error:#}"));
        return Exit::Refused.into();
    }
    let as_json = cli.as_json();
    match commands::run(cli, called.selection_off()) {
        Ok(exit) => exit.into(),
        Err(error) if as_json => output::error_with_json(&error).into(),
        Err(error) => output::error(&error).into(),
    }
}
