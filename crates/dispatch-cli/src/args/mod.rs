//! The command line.

mod inspect;
mod task;

use camino::Utf8PathBuf;
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use dispatch_core::attempt::AttemptNumber;
use dispatch_core::id::TaskId;
use dispatch_core::slot::SlotName;
use dispatch_core::triage::Lane;

pub use self::inspect::{InspectArgs, InspectCommand, ReaderKind, TaskFormat};
pub use self::task::TaskArg;

use crate::exit::STATUSES;

/// Unattended dispatcher for AI coding agents over Backlog.md boards.
///
/// Without a command it runs one pass: maintenance, then dispatching.
#[derive(Debug, Parser)]
#[command(
    name = "dispatch",
    version,
    after_help = format!("Example:\n  dispatch --wait        run a pass and stay until the work it started has ended\n  dispatch status        what is running, waiting and held\n\n{STATUSES}\n\nWith --json an error is an object on standard output too, {{\"error\": {{\"message\", \"hint\", \"exitStatus\"}}}};\na command line that is not understood is told on standard error alone.")
)]
pub struct Cli {
    /// What to do; a pass when nothing is named.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The flags of a pass.
    #[command(flatten)]
    pub pass: PassArgs,
    /// Free a slot: the older spelling of `dispatch release-slot <NAME>`.
    #[arg(long, value_name = "NAME", hide = true, value_parser = SlotName::parse)]
    pub release_slot: Option<SlotName>,
    /// With `--release-slot`: also when an attempt is alive in it.
    #[arg(long, hide = true, requires = "release_slot")]
    pub force: bool,
    /// What applies to every command.
    #[command(flatten)]
    pub global: GlobalArgs,
}

impl Cli {
    /// Whether the result is asked for as JSON.
    pub fn as_json(&self) -> bool {
        match &self.command {
            None => self.pass.json,
            Some(Command::Pass(args)) => args.json,
            Some(
                Command::Status { json, .. }
                | Command::Explain { json, .. }
                | Command::Demo { json, .. },
            ) => *json,
            Some(Command::Inspect(_)) => true,
            Some(
                Command::Supervise { .. }
                | Command::Logs { .. }
                | Command::Config { .. }
                | Command::Trust { .. }
                | Command::ReleaseSlot { .. }
                | Command::Cancel { .. }
                | Command::Retry { .. }
                | Command::Pause { .. }
                | Command::Resume { .. }
                | Command::DemoAgent { .. }
                | Command::Session { .. },
            ) => false,
        }
    }

    /// Refuses the flags of a pass before another command; what applies to every command may stand there.
    pub fn checked(self) -> Result<Self, clap::Error> {
        let of_a_pass = self.pass != PassArgs::default() || self.release_slot.is_some();
        if self.command.is_some() && of_a_pass {
            let text = "the flags of a pass (--wait, --detach, --max-dispatch, --no-select, --dry-run, --json) belong after `dispatch` alone or `dispatch pass`; a flag of another command belongs after its name, as in `dispatch status --json`";
            return Err(Self::command().error(ErrorKind::ArgumentConflict, text));
        }
        Ok(self)
    }
}

/// What applies to every command.
#[derive(Debug, Clone, Args)]
pub struct GlobalArgs {
    /// The configuration file; otherwise `<board directory>/dispatch/lanes.json`.
    #[arg(long, global = true, value_name = "FILE", env = "DISPATCH_CONFIG")]
    pub config: Option<Utf8PathBuf>,
    /// Say more on standard error; twice for every program that is run.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// The form of the log on standard error.
    #[arg(long, global = true, value_name = "FORM", default_value = "text")]
    pub log_format: LogFormat,
    /// When to use colour.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorWhen,
}

/// The form of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// A line for people.
    Text,
    /// A JSON object a line.
    Json,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorWhen {
    /// On terminals, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The flags of a pass.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct PassArgs {
    /// Stay until the work this pass started has ended, and say how.
    ///
    /// While another pass is at work, it is waited for first, and then every attempt that runs. It is not waited until
    /// the queue is empty: what ends frees its slot, and the pass that follows may start the next task. Ctrl-C ends the
    /// waiting, not the work (exit status 130).
    #[arg(long, conflicts_with = "detach")]
    pub wait: bool,
    /// Return at once and run the pass in the background: for the board's callback.
    #[arg(long, conflicts_with_all = ["dry_run", "json"])]
    pub detach: bool,
    /// Dispatch at most this many tasks.
    #[arg(long, value_name = "N")]
    pub max_dispatch: Option<u32>,
    /// Maintenance only: select no task.
    #[arg(long)]
    pub no_select: bool,
    /// Say what would become of each queued task and do nothing; maintenance, such as looking for merges, is left out.
    #[arg(long)]
    pub dry_run: bool,
    /// Print the report as JSON.
    #[arg(long)]
    pub json: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run one pass: maintenance, then dispatching.
    #[command(after_help = "Example:\n  dispatch pass --dry-run --json")]
    Pass(PassArgs),
    /// Own one attempt from slot to close; started by a pass with the task's lock as standard input.
    #[command(hide = true, after_help = "Example:\n  dispatch supervise T-5")]
    Supervise {
        /// The task.
        #[arg(value_parser = TaskId::parse)]
        id: TaskId,
        /// Resume an attempt whose supervisor is gone.
        #[arg(long)]
        recover: bool,
    },
    /// Show slots, running attempts and the queue.
    #[command(after_help = "Example:\n  dispatch status --watch")]
    Status {
        /// Print JSON.
        #[arg(long)]
        json: bool,
        /// Show it again every two seconds until interrupted.
        #[arg(long, conflicts_with = "json")]
        watch: bool,
    },
    /// Show every guard's verdict for one task, and the command line that would be launched.
    #[command(after_help = "Example:\n  dispatch explain T-5 --json")]
    Explain {
        /// The task.
        #[arg(value_parser = TaskArg::parse)]
        id: TaskArg,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show the readable log of an attempt.
    #[command(after_help = "Example:\n  dispatch logs T-5 --follow")]
    Logs {
        /// The task.
        #[arg(value_parser = TaskArg::parse)]
        id: TaskArg,
        /// The attempt; the last one when it is left out.
        #[arg(long, value_name = "N", value_parser = attempt_number)]
        attempt: Option<AttemptNumber>,
        /// Go on as it grows, until the attempt has ended.
        #[arg(long)]
        follow: bool,
        /// The agent's own stream instead.
        #[arg(long)]
        raw: bool,
    },
    /// Check or show the configuration.
    #[command(after_help = "Example:\n  dispatch config check")]
    Config {
        /// What to do.
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Approve the present configuration, lane settings, templates and hooks, after showing what changed and what it lets run.
    #[command(after_help = "Example:\n  dispatch trust --show")]
    Trust {
        /// Only show what changed since it was approved, which programs it lets run, and what workers may do.
        #[arg(long)]
        show: bool,
    },
    /// Save what is in a slot and free it.
    #[command(after_help = "Example:\n  dispatch release-slot dispatch-1")]
    ReleaseSlot {
        /// The slot.
        #[arg(value_parser = SlotName::parse)]
        name: SlotName,
        /// Also when an attempt is alive in it: its supervisor is asked to end, and given 30 seconds. Its task is then
        /// Queued again and may be started at once; `dispatch cancel` frees a slot and takes the task from the queue.
        #[arg(long)]
        force: bool,
    },
    /// Stop the attempt of a task, save its work, free its slot and set the task's status.
    #[command(after_help = "Example:\n  dispatch cancel T-5 --to \"To Do\"")]
    Cancel {
        /// The task.
        #[arg(value_parser = TaskArg::parse)]
        id: TaskArg,
        /// The status it gets.
        #[arg(long, value_name = "STATUS", default_value = "To Do")]
        to: String,
    },
    /// Show why a task is blocked and queue it again.
    #[command(
        after_help = "Example:\n  dispatch retry T-5\n  dispatch retry T-5 --reset-attempts   count its attempts from none again"
    )]
    Retry {
        /// The task.
        #[arg(value_parser = TaskArg::parse)]
        id: TaskArg,
        /// Set the earlier attempts aside, so that they no longer count; their folders are renamed, never deleted.
        #[arg(long)]
        reset_attempts: bool,
    },
    /// Pause a lane, or both, until it is resumed; what runs goes on.
    #[command(
        after_help = "Example:\n  dispatch pause --lane local --reason \"the model is being replaced\""
    )]
    Pause {
        /// The lane; both when it is left out.
        #[arg(long, value_parser = lane)]
        lane: Option<Lane>,
        /// Why, for whoever reads the status.
        #[arg(long, value_name = "TEXT", default_value = "")]
        reason: String,
    },
    /// End the pause of a lane, or of both, whatever its cause.
    #[command(after_help = "Example:\n  dispatch resume --lane frontier")]
    Resume {
        /// The lane; both when it is left out.
        #[arg(long, value_parser = lane)]
        lane: Option<Lane>,
    },
    /// Print a pure decision about input of your own, as JSON.
    #[command(
        after_help = "Example:\n  echo '{\"text\":\"cargo test\"}' | dispatch inspect test-command"
    )]
    Inspect(InspectArgs),
    /// Show the whole job on a throw-away repository.
    #[command(after_help = "Example:\n  dispatch demo --keep")]
    Demo {
        /// Print the result as JSON.
        #[arg(long)]
        json: bool,
        /// Keep the folder.
        #[arg(long)]
        keep: bool,
    },
    /// The scripted agent of the demo, speaking the agent's stream format.
    #[command(hide = true, disable_help_flag = true)]
    DemoAgent {
        /// What the agent is called with.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        argv: Vec<String>,
    },
    /// Make a session of its own and put a program in its place.
    #[command(hide = true, disable_help_flag = true)]
    Session {
        /// The program and its arguments.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        argv: Vec<String>,
    },
}

/// What to do with the configuration.
#[derive(Debug, Clone, Copy, Subcommand)]
pub enum ConfigCommand {
    /// Report everything that is wrong with the configuration and with what a pass needs here; asks no network.
    Check,
    /// Print the JSON Schema of the configuration.
    Schema,
    /// Print the configuration in effect.
    Show,
}

fn lane(text: &str) -> Result<Lane, String> {
    text.parse().map_err(|_| format!("`{text}` is not a lane (local, frontier)"))
}

fn attempt_number(text: &str) -> Result<AttemptNumber, String> {
    text.parse()
        .ok()
        .and_then(AttemptNumber::new)
        .ok_or_else(|| format!("`{text}` is not an attempt number (1, 2, …)"))
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// D11.4: both lanes unless one is named.
    #[test]
    fn d11_4_a_lane_is_paused_and_resumed_by_its_name() {
        let parse = |words: &[&str]| Cli::try_parse_from(words).map(|cli| cli.command);
        let named = parse(&["dispatch", "resume", "--lane", "frontier"]).unwrap();
        assert!(matches!(named, Some(Command::Resume { lane: Some(Lane::Frontier) })));
        let both = parse(&["dispatch", "pause", "--reason", "repairs"]).unwrap();
        assert!(matches!(both, Some(Command::Pause { lane: None, reason }) if reason == "repairs"));
        assert!(parse(&["dispatch", "resume", "--lane", "fast"]).is_err());
    }

    #[test]
    fn every_command_has_an_example_in_its_help() {
        for command in Cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("Example:"), "{}", command.get_name());
        }
    }

    #[test]
    fn a_flag_shaped_slot_name_is_refused() {
        assert!(Cli::try_parse_from(["dispatch", "--release-slot", "--force"]).is_err());
        assert!(Cli::try_parse_from(["dispatch", "release-slot", "--force"]).is_err());
        let cli =
            Cli::try_parse_from(["dispatch", "--release-slot", "dispatch-1", "--force"]).unwrap();
        assert_eq!(cli.release_slot.map(|name| name.to_string()).as_deref(), Some("dispatch-1"));
    }

    #[test]
    fn what_applies_to_every_command_may_stand_before_it_and_the_flags_of_a_pass_may_not() {
        let parse = |words: &[&str]| Cli::try_parse_from(words).and_then(Cli::checked);
        assert!(parse(&["dispatch", "--color", "always", "status"]).is_ok());
        assert!(parse(&["dispatch", "status", "--color", "always"]).is_ok());
        assert!(parse(&["dispatch", "--wait", "status"]).is_err());
        assert!(parse(&["dispatch", "--release-slot", "dispatch-1", "status"]).is_err());
    }

    /// K1: a rehearsal does nothing, so it cannot be sent to the background, where nobody reads what it says.
    #[test_case("--dry-run")]
    #[test_case("--json")]
    fn k1_a_pass_in_the_background_says_nothing(flag: &str) {
        assert!(Cli::try_parse_from(["dispatch", "--detach", flag]).is_err());
        assert!(Cli::try_parse_from(["dispatch", "pass", flag, "--detach"]).is_err());
    }

    #[test]
    fn a_pass_is_what_happens_without_a_command() {
        let cli = Cli::try_parse_from(["dispatch", "--wait", "--max-dispatch", "2"]).unwrap();
        assert!(cli.command.is_none() && cli.pass.wait);
        assert_eq!(cli.pass.max_dispatch, Some(2));
    }
}
