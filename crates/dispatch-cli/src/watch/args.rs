//! The command line of `backlog-watch`.

use std::time::Duration;

use camino::Utf8PathBuf;
use clap::Parser;

use crate::args::GlobalArgs;

/// Watch a Backlog.md board and run `dispatch` whenever there is something to do.
///
/// A pass runs at the start, when a task becomes `Queued`, when a pull request is merged, and every `--interval`. On a
/// terminal a live view shows slots, queue and events; elsewhere one line an event is printed. Ctrl-C ends the watching
/// alone: what runs goes on. Exit codes: 0 ended by a person or a signal; 1 failed; 2 refused or wrong usage.
#[derive(Debug, Parser)]
#[command(
    name = "backlog-watch",
    version,
    after_help = "Keys: 1-9, arrows  choose a slot    l  its log    c  cancel its task (asks)    d  dispatch now    q  quit\n\nExamples:\n  backlog-watch                         the live view\n  backlog-watch --plain > watch.log     a line an event\n  backlog-watch --once                  one look\n  backlog-watch --graph --interval 15m  keep the board's graph document up to date, too"
)]
pub struct WatchArgs {
    /// How often a pass runs without an occasion: such as `90s`, `5m`, `1h`.
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = time)]
    pub interval: Duration,
    /// How often it is asked whether a pull request was merged, or `off`.
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = Every::parse)]
    pub poll_prs: Every,
    /// Keep the graph in a document of the board up to date; without PATH the one `backlog-graph --write` writes.
    #[arg(long, value_name = "PATH", num_args = 0..=1)]
    pub graph: Option<Option<Utf8PathBuf>>,
    /// Print one line an event, also on a terminal.
    #[arg(long)]
    pub plain: bool,
    /// Show one frame and end; no pass is run.
    #[arg(long, conflicts_with_all = ["plain", "graph", "interval", "poll_prs", "poll"])]
    pub once: bool,
    /// Look at the board every second instead of waiting for the system's notifications.
    #[arg(long)]
    pub poll: bool,
    /// What applies to every command.
    #[command(flatten)]
    pub global: GlobalArgs,
}

/// How often, or never.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Every(pub Option<Duration>);

impl Every {
    fn parse(text: &str) -> Result<Self, String> {
        if text == "off" { Ok(Self(None)) } else { time(text).map(|time| Self(Some(time))) }
    }
}

/// The shortest time between two passes or two questions.
const LEAST: Duration = Duration::from_secs(1);

/// Reads a time such as `90s`, `5m` or `1h`.
fn time(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no time: a whole number with `s`, `m` or `h` is expected");
    let unit = text.chars().last().ok_or_else(wrong)?;
    let number: u32 = text.strip_suffix(unit).unwrap_or_default().parse().map_err(|_| wrong())?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        _ => return Err(wrong()),
    };
    let time = Duration::from_secs(u64::from(number) * seconds);
    if time < LEAST { Err(format!("`{text}` is too short: at least 1s")) } else { Ok(time) }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use test_case::test_case;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        WatchArgs::command().debug_assert();
    }

    #[test]
    fn r2_1_the_defaults_are_five_minutes_and_two() {
        let args = WatchArgs::try_parse_from(["backlog-watch"]).unwrap();
        assert_eq!(args.interval, Duration::from_mins(5));
        assert_eq!(args.poll_prs, Every(Some(Duration::from_mins(2))));
        assert!(args.graph.is_none());
    }

    #[test_case("90s", Some(90))]
    #[test_case("5m", Some(300))]
    #[test_case("1h", Some(3600))]
    #[test_case("0s", None)]
    #[test_case("5", None)]
    #[test_case("m", None)]
    #[test_case("", None)]
    #[test_case("5mm", None)]
    #[test_case("-5m", None)]
    #[test_case("5é", None)]
    fn times_are_read_with_their_unit(text: &str, seconds: Option<u64>) {
        assert_eq!(time(text).ok(), seconds.map(Duration::from_secs));
    }

    /// One look writes and runs nothing, so what says how to go on watching is refused with it.
    #[test_case(&["--interval", "5m"])]
    #[test_case(&["--poll-prs", "off"])]
    #[test_case(&["--graph"])]
    #[test_case(&["--plain"])]
    #[test_case(&["--poll"])]
    fn one_look_takes_nothing_about_watching(more: &[&str]) {
        let parse = |args: &[&str]| {
            WatchArgs::try_parse_from([&["backlog-watch", "--once"], args].concat())
        };
        assert!(parse(&[]).is_ok() && parse(more).is_err());
    }

    #[test]
    fn the_poll_can_be_turned_off() {
        let args = WatchArgs::try_parse_from(["backlog-watch", "--poll-prs", "off"]).unwrap();
        assert_eq!(args.poll_prs, Every(None));
    }
}
