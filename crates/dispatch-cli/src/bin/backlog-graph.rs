//! The `backlog-graph` program.

use std::process::ExitCode;

use clap::Parser;
use dispatch_cli::graph::{self, GraphArgs};
use dispatch_cli::output;

fn main() -> ExitCode {
    match graph::run(&GraphArgs::parse()) {
        Ok(exit) => exit.into(),
        Err(error) => output::error(&error).into(),
    }
}
