//! The arguments of `dispatch inspect`.

use clap::{Args, Subcommand, ValueEnum};
use dispatch_core::triage::Lane;

use super::TaskArg;

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
    /// Read a task from its file, its JSON view or its plain view on standard input; `{format, id?, text}` in a batch.
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
    /// Print what a worker on a task would be granted and denied, and what it has for free.
    Surface {
        /// The lane, as if the task's labels gave it; its own when it is left out.
        #[arg(long)]
        lane: Option<Lane>,
        /// The task.
        #[arg(long, value_parser = TaskArg::parse)]
        task: TaskArg,
    },
    /// Evaluate the guards on what `explain --json` prints as `input`.
    Guards,
    /// Judge a tool call on a surface of permission rules, as the agent would.
    Tool,
    /// Relate two permission rules: `{a, b}`.
    Relation,
    /// Look for what a permission rule hides: `{rule}`.
    Lint,
    /// Derive the statuses of parents: `{id, status, ownBranch?, merged?, closeAttemptSinceLastChild?, children?}`.
    Parents,
    /// Classify the stream of a worker: `{stream, stderr?, exit?, signal?, stopped?}`.
    Stream,
    /// Judge a test command by the built-in shapes and the `testCommands` of the configuration found here: `{text}`.
    TestCommand,
    /// Classify changed files: `{lane, claims, changes: [{path, status, mode?, oldPath?}]}`.
    Scope,
    /// Judge a `worker-edit` command line: `{task, ownedDod?, argv}`.
    WorkerEdit,
    /// Compare the claims of two tasks: `{a, b, edges}`; of many: `{tasks: [{id, claims, parent?, epic?}], edges?, strict?}`.
    Claims,
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
