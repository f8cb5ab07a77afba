//! What became of a program run.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Ended {
    /// By itself, with this status.
    Exit(i32),
    /// By this signal.
    Signal(i32),
    /// By us, at its limit.
    TimedOut,
    /// It was ended because whoever waited for it wanted no more of it.
    Stopped,
}

impl Ended {
    /// Whether it ended by itself with status 0.
    pub fn is_success(self) -> bool {
        self == Self::Exit(0)
    }
}

impl From<ExitStatus> for Ended {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Exit(code),
            (None, Some(signal)) => Self::Signal(signal),
            (None, None) => Self::Exit(-1),
        }
    }
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exit(code) => write!(f, "ended with exit status {code}"),
            Self::Signal(signal) => write!(f, "was ended by signal {signal}"),
            Self::Stopped => f.write_str("was ended before its time"),
            Self::TimedOut => write!(f, "did not end within its time limit and was killed"),
        }
    }
}

/// A program run that came to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// How it ended.
    pub ended: Ended,
    /// What it wrote, when kept in memory.
    pub stdout: Vec<u8>,
    /// Bytes of standard output beyond the bound, which were dropped.
    pub stdout_dropped_bytes: u64,
    /// What it complained, when kept in memory; the middle is left out beyond the bound.
    pub stderr: Vec<u8>,
    /// How long it took, in time the machine was awake.
    pub elapsed: Duration,
}

impl Finished {
    /// Whether it ended by itself with status 0.
    pub fn is_success(&self) -> bool {
        self.ended.is_success()
    }

    /// The standard error as text.
    pub fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// The failure message of B3.4 for the command shown as `command`.
    pub fn failure(&self, command: &str) -> String {
        failure_text(command, self.ended, &self.stderr)
    }
}

/// The failure message every program's failure is told with (B3.4): the command, how it ended, and up to 500
/// characters of trimmed standard error.
pub fn failure_text(command: &str, ended: Ended, stderr: &[u8]) -> String {
    let complaint = brief(&String::from_utf8_lossy(stderr), 500);
    if complaint.is_empty() {
        format!("`{command}` {ended} and said nothing")
    } else {
        format!("`{command}` {ended}: {complaint}")
    }
}

/// At most `max` characters of trimmed `text`: its beginning and its end when it is longer, since programs put
/// the cause in either place.
pub fn brief(text: &str, max: usize) -> String {
    const GAP: &str = " … ";
    let text = text.trim();
    let count = text.chars().count();
    if count <= max {
        return text.to_owned();
    }
    let room = max.saturating_sub(GAP.chars().count());
    let (head, tail) = (room / 2, room - room / 2);
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(count - tail).collect();
    format!("{start}{GAP}{end}")
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case(Ended::Exit(3), b"  no such task\n", "`backlog task view` ended with exit status 3: no such task"; "exit")]
    #[test_case(Ended::Signal(9), b"", "`backlog task view` was ended by signal 9 and said nothing"; "signal, silent")]
    #[test_case(Ended::TimedOut, b"x", "`backlog task view` did not end within its time limit and was killed: x"; "limit")]
    fn b3_4_a_failure_names_command_status_and_complaint(
        ended: Ended,
        stderr: &[u8],
        expected: &str,
    ) {
        assert_eq!(failure_text("backlog task view", ended, stderr), expected);
    }

    #[test]
    fn b3_4_a_long_complaint_keeps_its_beginning_and_its_end_within_500_characters() {
        let long = format!("first é cause{}last words", "é".repeat(2000));
        let text = brief(&long, 500);
        assert_eq!(text.chars().count(), 500);
        assert!(text.starts_with("first é cause"));
        assert!(text.ends_with("last words"));
    }
}
