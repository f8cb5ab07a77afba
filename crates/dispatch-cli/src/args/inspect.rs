//! The arguments of `dispatch inspect`.

use clap::{Args, Subcommand};

/// Print a pure decision about input of your own.
#[derive(Debug, Args)]
pub struct InspectArgs {
    /// Which decision.
    #[command(subcommand)]
    pub command: InspectCommand,
    /// One JSON input a line on standard input, one JSON answer a line.
    #[arg(long, global = true)]
    pub batch: bool,
}

/// Which decision to print. Each takes its input as JSON on standard input where nothing else is said.
#[derive(Debug, Clone, Copy, Subcommand)]
pub enum InspectCommand {
    /// Classify the stream of a worker: `{stream, stderr?, exit?, signal?, stopped?}`.
    Stream,
    /// Judge a test command: `{text}`.
    TestCommand,
    /// Classify changed files: `{lane, claims, changes: [{path, status, mode?, oldPath?}]}`.
    Scope,
    /// Judge a `worker-edit` command line: `{task, ownedDod?, argv}`.
    WorkerEdit,
    /// Compare the claims of two tasks: `{a, b, edges}`.
    Claims,
}
