//! The arguments of `dispatch inspect`.

use clap::{Args, Subcommand, ValueEnum};

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
#[derive(Debug, Clone, Subcommand)]
pub enum InspectCommand {
    /// Read a task from its file, its JSON view or its plain view on standard input.
    Task {
        /// The form of the input.
        #[arg(long, value_enum, default_value = "file")]
        format: TaskFormat,
        /// The id it is expected to have.
        #[arg(long)]
        id: Option<String>,
    },
    /// Read the current board.
    Board {
        /// The reader to use.
        #[arg(long, value_enum, default_value = "files")]
        reader: ReaderKind,
    },
    /// Classify the stream of a worker: `{stream, stderr?, exit?, signal?, stopped?}`.
    Stream,
    /// Judge a test command: `{text}`.
    TestCommand,
    /// Classify changed files: `{lane, claims, changes: [{path, status, mode?, oldPath?}]}`.
    Scope,
    /// Evaluate the guards on the input that `explain --json` prints.
    Guards,
    /// Judge a `worker-edit` command line: `{task, ownedDod?, argv}`.
    WorkerEdit,
    /// Judge a tool call on a surface of permission rules.
    Tool,
    /// Relate two permission rules: `{a, b}`.
    Relation,
    /// Look for what a permission rule hides: `{rule}`.
    Lint,
    /// Compare the claims of two tasks: `{a, b, edges}`.
    Claims,
    /// Derive the statuses of parents: a board's tree with facts.
    Parents,
}

/// The form a task is given in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TaskFormat {
    /// The task's Markdown file.
    File,
    /// `backlog task view --plain`.
    Plain,
    /// `backlog task view --json`.
    Json,
}

/// How a board is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReaderKind {
    /// From the task files.
    Files,
    /// By the board program's plain views.
    Plain,
    /// By the board program's JSON views.
    Json,
}
