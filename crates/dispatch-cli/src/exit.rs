//! Exit statuses, the same for every command.

use std::process::ExitCode;

use thiserror::Error;

/// What the exit statuses mean, for `--help`.
pub const STATUSES: &str = "\
Exit status:
  0    done, also when there was nothing to do
  1    failed: something could not be read, reached or written, or the configuration cannot be used
  2    refused, or not understood: a wrong option, an unknown task, slot, lane or status
  3    incomplete: `backlog-graph` could not read all of the board, with `--strict` or for a `--root` that was not seen
  130  interrupted by Ctrl-C while it waited; what it started goes on";

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done; also "nothing to do" and "another pass is running".
    Done,
    /// Failed.
    Failed,
    /// Refused, or wrong usage.
    Refused,
    /// Part of the input could not be read.
    Incomplete,
}

impl Exit {
    /// All of them.
    #[cfg(test)]
    const ALL: [Self; 4] = [Self::Done, Self::Failed, Self::Refused, Self::Incomplete];

    /// The number.
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Refused => 2,
            Self::Incomplete => 3,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// What a person asked for is not done: why, and what to do instead.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{why}")]
pub struct Refused {
    why: String,
}

impl Refused {
    /// A refusal as the error a command ends with.
    pub fn because(why: impl Into<String>) -> anyhow::Error {
        Self { why: why.into() }.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// K1: the help and the page that people read first say the same.
    #[test]
    fn k1_the_readme_lists_the_exit_statuses_of_the_help() {
        let readme = include_str!("../../../README.md");
        for line in STATUSES.lines().skip(1) {
            assert!(readme.lines().any(|said| said == line.trim()), "`{line}` is not in README.md");
        }
        for exit in Exit::ALL {
            let lead = format!("  {}  ", exit.code());
            assert!(STATUSES.lines().any(|line| line.starts_with(&lead)), "{exit:?}");
        }
    }
}
