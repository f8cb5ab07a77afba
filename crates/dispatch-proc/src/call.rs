//! One program run, described.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use crate::{OutputLog, ProcError, StrayMark};

/// What a program finds on its standard input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing: it is `/dev/null`.
    #[default]
    Null,
    /// These bytes, then its end.
    Bytes(Vec<u8>),
    /// This file itself, opened for reading.
    File(Utf8PathBuf),
}

/// Where a program's output goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sink {
    /// Into memory, no more than this many bytes; the rest is read, counted and dropped.
    Memory {
        /// The most bytes kept.
        max_bytes: usize,
    },
    /// Into memory as above, and all of it into a log that both streams can share.
    Log {
        /// The log.
        log: OutputLog,
        /// The most bytes kept.
        max_bytes: usize,
    },
    /// Appended to this file, which the program gets as its own descriptor: nothing is lost when we die.
    File(Utf8PathBuf),
    /// Where standard output goes, through the same pipe, so that both stay in the order they were written. For standard
    /// error only; standard output must not be a file then.
    WithStdout,
    /// Nowhere.
    Null,
}

/// One program to run, complete: nothing is inherited but what is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// A path, or a name looked up on the `PATH` of `env`.
    pub program: Utf8PathBuf,
    /// The arguments, never read by a shell.
    pub args: Vec<OsString>,
    /// The working directory.
    pub dir: Utf8PathBuf,
    /// The whole environment.
    pub env: BTreeMap<OsString, OsString>,
    /// The standard input.
    pub stdin: Stdin,
    /// The standard output.
    pub stdout: Sink,
    /// The standard error.
    pub stderr: Sink,
    /// How long it may take, in time the machine is awake; then its process group is killed, with its strays.
    pub limit: Duration,
    /// Ends what the program left behind also after an ordinary end; without it only the group goes at the limit.
    pub strays: Option<StrayMark>,
    /// A program put in front, such as the one that makes a session of its own: its path and its arguments.
    pub launcher: Vec<OsString>,
}

impl Call {
    /// The most of a standard output kept in memory unless a call says otherwise: 64 MiB.
    pub const STDOUT_MAX_BYTES: usize = 64 << 20;
    /// The most of a standard error kept in memory: 64 KiB, from its beginning and its end.
    pub const STDERR_MAX_BYTES: usize = 64 << 10;

    /// A call of `program` in `dir` with no arguments, an empty environment and output kept in memory.
    pub fn new(
        program: impl Into<Utf8PathBuf>,
        dir: impl Into<Utf8PathBuf>,
        limit: Duration,
    ) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            dir: dir.into(),
            env: BTreeMap::new(),
            stdin: Stdin::Null,
            stdout: Sink::Memory { max_bytes: Self::STDOUT_MAX_BYTES },
            stderr: Sink::Memory { max_bytes: Self::STDERR_MAX_BYTES },
            limit,
            strays: None,
            launcher: Vec::new(),
        }
    }

    /// Adds one argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets one variable of the environment.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env.insert(name.as_ref().to_owned(), value.as_ref().to_owned());
        self
    }

    /// Sets variables of the environment.
    #[must_use]
    pub fn envs(
        mut self,
        variables: impl IntoIterator<Item = (impl AsRef<OsStr>, impl AsRef<OsStr>)>,
    ) -> Self {
        for (name, value) in variables {
            self.env.insert(name.as_ref().to_owned(), value.as_ref().to_owned());
        }
        self
    }

    /// Gives the standard input.
    #[must_use]
    pub fn stdin(mut self, stdin: Stdin) -> Self {
        self.stdin = stdin;
        self
    }

    /// The command line as a person would type it; the environment is not shown, since it may hold secrets.
    pub fn shown(&self) -> String {
        std::iter::once(self.program.as_str().into())
            .chain(self.args.iter().map(|arg| arg.to_string_lossy()))
            .map(|word| quoted(&word))
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// Quotes a word for display when a shell would need it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=@%+,^~".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Finds `program` on `path`, a value of `PATH`; a name with a slash is taken relative to `dir`.
pub fn find_program(
    program: &str,
    path: Option<&OsStr>,
    dir: &Utf8Path,
) -> Result<Utf8PathBuf, ProcError> {
    let missing = || ProcError::NotFound {
        program: program.to_owned(),
        path: path.map(|p| p.to_string_lossy().into_owned()).unwrap_or_default(),
    };
    let found = which::which_in(program, path, dir).map_err(|_| missing())?;
    Utf8PathBuf::from_path_buf(found).map_err(|_| missing())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_the_command_line_as_a_person_would_type_it() {
        let call = Call::new("git", "/", Duration::ZERO)
            .args(["log", "-n1", "it's a name", "", "a\nb"])
            .env("TOKEN", "secret");
        assert_eq!(call.shown(), "git log -n1 'it'\\''s a name' '' 'a\nb'");
    }

    #[test]
    fn a_program_that_is_nowhere_is_named_with_the_path_searched() {
        let error =
            find_program("no-such-program", Some("/nowhere".as_ref()), "/".into()).unwrap_err();
        assert_eq!(error.to_string(), "program `no-such-program` is not on PATH `/nowhere`");
    }
}
