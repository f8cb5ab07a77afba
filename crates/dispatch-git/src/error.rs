//! What can go wrong with git.

use camino::Utf8PathBuf;
use dispatch_core::names::PauseCause;
use dispatch_engine::ports::PortError;
use dispatch_proc::{Ended, ProcError, failure_text};
use thiserror::Error;

/// git could not do what it was asked.
#[derive(Debug, Error)]
pub enum GitError {
    /// git could not be run.
    #[error("could not run `{command}`")]
    Proc {
        /// The command line, without credentials.
        command: String,
        /// The error it failed with.
        #[source]
        source: ProcError,
    },
    /// git ran and refused.
    #[error("{}", failure_text(command, *ended, stderr.as_bytes()))]
    Refused {
        /// The command line, without credentials.
        command: String,
        /// How it ended.
        ended: Ended,
        /// What it said, without credentials.
        stderr: String,
    },
    /// git's answer was not what its documentation says.
    #[error("`{command}` answered {what}")]
    Answer {
        /// The command line, without credentials.
        command: String,
        /// What was wrong with the answer.
        what: String,
    },
    /// A file or folder could not be read or written.
    #[error("could not {doing} `{path}`")]
    File {
        /// What was tried.
        doing: &'static str,
        /// On what.
        path: Utf8PathBuf,
        /// The error it failed with.
        #[source]
        source: std::io::Error,
    },
    /// The current folder belongs to no repository with a working tree.
    #[error("`{dir}` is in no git repository with a checkout: {why}")]
    NoRepository {
        /// The folder.
        dir: Utf8PathBuf,
        /// git's words.
        why: String,
    },
    /// Nobody is named as the author of our commits.
    #[error(
        "no name and address for commits: set `commit.identity`, or git's `user.name` and `user.email`"
    )]
    NoIdentity,
    /// A path that is to be changed is not a slot of this repository.
    #[error("`{path}` is not a slot of this repository, and nothing in it is touched: {why}")]
    NotASlot {
        /// The path.
        path: Utf8PathBuf,
        /// What it is instead.
        why: String,
    },
    /// A remote was needed and there is none.
    #[error("the repository has no remote `{name}`")]
    NoRemote {
        /// The name looked for.
        name: String,
    },
    /// The configuration redirects the remote since we read it.
    #[error("git's configuration (`{key}`) now redirects `{url}`: nothing is sent or fetched")]
    Redirected {
        /// The address, without credentials.
        url: String,
        /// The setting.
        key: String,
    },
    /// The repository needs a filter that is not allowed to run.
    #[error(
        "files of this repository need the filter `{name}`: name it in `vcs.filters`, or its files would be damaged"
    )]
    MissingFilter {
        /// The filter.
        name: String,
    },
    /// A ref that is none of ours.
    #[error("`{name}` is not a ref under `refs/dispatch/`")]
    ForeignRef {
        /// The ref.
        name: String,
    },
    /// The repository's lock is held too long by another of our processes.
    #[error("another process holds `{path}` for more than {seconds} s")]
    Locked {
        /// The lock file.
        path: Utf8PathBuf,
        /// How long we waited.
        seconds: u64,
    },
    /// A push that would take commits off a branch.
    #[error(
        "branch {branch} stands at {expected}, which {commit} does not hold: pushing it would drop work"
    )]
    WouldDropWork {
        /// The branch.
        branch: dispatch_core::branch::BranchName,
        /// What was to be pushed.
        commit: dispatch_core::object::CommitId,
        /// Where the branch stands.
        expected: dispatch_core::object::CommitId,
    },
    /// The remote refused.
    #[error("`{url}` refused `{name}`: {why}")]
    RemoteRefused {
        /// The address, without credentials.
        url: String,
        /// The branch or ref.
        name: String,
        /// The remote's words.
        why: String,
    },
}

impl GitError {
    /// What git said, if it ran.
    pub fn stderr(&self) -> &str {
        match self {
            Self::Refused { stderr, .. } => stderr,
            _ => "",
        }
    }

    /// The machine's or account's fault this is, when it can be told.
    fn pause(&self, network: bool) -> Option<PauseCause> {
        let disk_full = |text: &str| {
            ["No space left on device", "Disk quota exceeded"]
                .iter()
                .any(|sign| text.contains(sign))
        };
        match self {
            Self::Refused { stderr, .. } if disk_full(stderr) => Some(PauseCause::DiskFull),
            Self::File { source, .. } if disk_full(&source.to_string()) => {
                Some(PauseCause::DiskFull)
            }
            // A remote's own rule may end as well as a fault of it: a freeze, a lock, a hook that needs another service.
            Self::Refused { .. }
            | Self::RemoteRefused { .. }
            | Self::Proc { .. }
            | Self::Redirected { .. }
                if network =>
            {
                Some(PauseCause::RemoteUnreachable)
            }
            _ => None,
        }
    }

    /// This error at the port, while `doing` something in the local repository.
    pub(crate) fn port(self, doing: impl Into<String>) -> PortError {
        self.at_port(doing, false)
    }

    /// This error at the port, while `doing` something with the remote.
    pub(crate) fn remote_port(self, doing: impl Into<String>) -> PortError {
        self.at_port(doing, true)
    }

    fn at_port(self, doing: impl Into<String>, network: bool) -> PortError {
        let pause = self.pause(network);
        let error = PortError::new(doing, self);
        match pause {
            Some(cause) => error.pausing(cause),
            None => error,
        }
    }

    pub(crate) fn file(
        doing: &'static str,
        path: impl Into<Utf8PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { doing, path, source }
    }
}
