//! Development tasks, the same commands a person and continuous integration run.
//!
//! `cargo xtask peers` installs the real programs the tests talk to, `cargo xtask lint`, `deny` and `test` are the
//! three gates. Nothing has to be installed beforehand but the Rust toolchain, `npm`, `pip` and `apt-get`.

mod gates;
mod peers;
mod shell;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Development tasks of the workspace.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Install the pinned real programs the tests run against
    Peers,
    /// Check formatting and lints
    Lint,
}

fn main() -> Result<()> {
    match Args::parse().task {
        Task::Peers => peers::install().map(|_| ()),
        Task::Lint => gates::lint(),
    }
}
