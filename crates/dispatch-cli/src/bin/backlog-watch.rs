//! The `backlog-watch` program.

use std::process::ExitCode;

use clap::Parser;
use dispatch_cli::output;
use dispatch_cli::watch::{self, WatchArgs};

fn main() -> ExitCode {
    match watch::run(&WatchArgs::parse()) {
        Ok(exit) => exit.into(),
        Err(error) => output::error(&error).into(),
    }
}
