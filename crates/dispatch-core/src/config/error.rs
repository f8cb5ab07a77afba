//! What can be wrong with a configuration file.

use std::fmt;

use camino::Utf8PathBuf;
use thiserror::Error;

/// One thing that is wrong with a configuration or settings file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct ConfigError {
    /// The file.
    pub file: Utf8PathBuf,
    /// The path to the value, such as `lanes.frontier.maxBudgetUsd`; empty for the whole file.
    pub path: String,
    /// What is wrong there.
    pub fault: Fault,
}

/// Something about a configuration file that a person should know and that keeps nothing from running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigWarning {
    /// The file.
    pub file: Utf8PathBuf,
    /// The path to the value; empty for the whole file.
    pub path: String,
    /// What was noticed there.
    pub fault: Fault,
}

/// A fault at a path, before the file is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) path: String,
    pub(super) fault: Fault,
}

/// What is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The file is not JSON.
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What the parser says.
        cause: String,
    },
    /// A required value is not there.
    Missing {
        /// What it should be.
        expected: String,
    },
    /// A value is not what it should be.
    Wrong {
        /// The value as found.
        found: String,
        /// What it should be.
        expected: String,
    },
    /// No such name is known.
    Unknown {
        /// The known name that is nearest to it.
        nearest: Option<String>,
    },
    /// A name is given twice; a reader would silently take the last one.
    Twice,
    /// The values are allowed and probably not meant (warnings only).
    Unlikely {
        /// The reason, in words.
        because: String,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // The place stands before the message, after the file.
            Self::Syntax { cause, .. } => write!(f, "not valid JSON: {cause}"),
            Self::Missing { expected } => write!(f, "missing; expected {expected}"),
            Self::Wrong { found, expected } => write!(f, "found `{found}`; expected {expected}"),
            Self::Unknown { nearest: Some(nearest) } => {
                write!(f, "unknown name; did you mean `{nearest}`?")
            }
            Self::Unknown { nearest: None } => write!(
                f,
                "unknown name; `dispatch config schema` lists the known ones, and names beginning `_` or `//` are free for notes"
            ),
            Self::Twice => write!(f, "given twice; keep one of them"),
            Self::Unlikely { because } => f.write_str(because),
        }
    }
}

fn at(f: &mut fmt::Formatter<'_>, file: &Utf8PathBuf, path: &str, fault: &Fault) -> fmt::Result {
    match fault {
        Fault::Syntax { line, column, .. } => write!(f, "{file}:{line}:{column}: {fault}"),
        _ if path.is_empty() => write!(f, "{file}: {fault}"),
        _ => write!(f, "{file}: {path}: {fault}"),
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        at(f, &self.file, &self.path, &self.fault)
    }
}

impl fmt::Display for ConfigWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        at(f, &self.file, &self.path, &self.fault)
    }
}
