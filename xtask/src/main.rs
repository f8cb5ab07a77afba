//! Development tasks, the same commands a person and continuous integration run.
//!
//! `cargo xtask peers` installs the real programs the tests talk to; `cargo xtask lint`, `deny` and `test` are the
//! three gates; `bench` measures and `demo` shows. Nothing has to be installed beforehand but the Rust toolchain, `npm`, `pip` and `apt-get`.

mod bench;
mod demo;
mod gates;
mod peers;
mod shell;
mod tools;

use std::process::ExitCode;

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
    /// Check licences, sources, and who depends on whom
    Deny,
    /// Run every test, the programs they talk to installed first
    Test,
    /// Measure against the programs people use instead, as ratios in one run
    Bench {
        /// Only the benchmarks whose name contains this
        filter: Option<String>,
    },
    /// Play the whole job on a throw-away repository
    Demo {
        /// With the real board program, agent and forge client, against scripted servers
        #[arg(long)]
        real: bool,
    },
}

fn main() -> ExitCode {
    match run(&Args::parse().task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            shell::say(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(task: &Task) -> Result<()> {
    match task {
        Task::Peers => peers::install().map(drop),
        Task::Lint => gates::lint(),
        Task::Deny => gates::deny(),
        Task::Test => gates::test(),
        Task::Bench { filter } => bench::run_all(filter.as_deref()),
        Task::Demo { real } => demo::play(*real),
    }
}
