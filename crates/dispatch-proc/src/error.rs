//! Why a program could not be run.

use camino::Utf8PathBuf;
use thiserror::Error;

/// A program could not be run, or not be ended; a program that ran and failed is a [`Finished`](crate::Finished).
#[derive(Debug, Error)]
pub enum ProcError {
    /// The program is not there.
    #[error("program `{program}` is not on PATH `{}`", beginning_of(path))]
    NotFound {
        /// The name asked for.
        program: String,
        /// The `PATH` searched.
        path: String,
    },
    /// The program could not be started.
    #[error("could not start `{program}` in `{dir}`")]
    Start {
        /// The program.
        program: Utf8PathBuf,
        /// The working directory.
        dir: Utf8PathBuf,
        /// The error it failed with.
        #[source]
        source: std::io::Error,
    },
    /// A file that was to be its input or output could not be opened.
    #[error("could not open `{path}` for `{program}`")]
    Open {
        /// The program.
        program: Utf8PathBuf,
        /// The file.
        path: Utf8PathBuf,
        /// The error it failed with.
        #[source]
        source: std::io::Error,
    },
    /// A started program could not be waited for.
    #[error("could not wait for `{program}`, process {pid}")]
    Wait {
        /// The program.
        program: Utf8PathBuf,
        /// Its number.
        pid: i32,
        /// The error it failed with.
        #[source]
        source: std::io::Error,
    },
    /// An attribute of this process could not be changed.
    #[error("could not {what}")]
    Attribute {
        /// What was tried.
        what: &'static str,
        /// The error it failed with.
        #[source]
        source: std::io::Error,
    },
    /// Processes that could not be ended.
    #[error("processes {pids:?} do not end, not even killed")]
    StraysLeft {
        /// Their numbers.
        pids: Vec<i32>,
    },
}

/// Enough of a `PATH` to tell which one it was.
fn beginning_of(path: &str) -> String {
    const MOST_CHARS: usize = 60;
    match path.char_indices().nth(MOST_CHARS) {
        Some((end, _)) => format!("{}…", &path[..end]),
        None => path.to_owned(),
    }
}
