//! Exit codes, the same for every command.

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done; also "nothing to do" and "another pass is running".
    Done,
    /// Failed.
    Failed,
    /// Refused, or wrong usage.
    Refused,
    /// An unanswered wait, or incomplete input.
    Unanswered,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Done => Self::SUCCESS,
            Exit::Failed => Self::from(1),
            Exit::Refused => Self::from(2),
            Exit::Unanswered => Self::from(3),
        }
    }
}
