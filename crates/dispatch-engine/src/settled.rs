//! What the sweep already did about a recorded pull request, so that a thing is done and said once.

use std::fmt;

use dispatch_core::record::{Record, RecordedProposal};

/// What was done about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Settled {
    /// Nothing yet: it counts as open.
    Open,
    /// Reviews up to this moment were answered.
    Reviewed(String),
    /// Closed without a merge, and the task was blocked.
    Closed,
    /// Merged without commits of ours, and the task was blocked.
    MergedWithout,
    /// Merged, and the task is done; its branch is still to be removed.
    Merged,
    /// Merged, and nothing is left to do.
    Finished,
}

impl Settled {
    pub(crate) fn of(proposal: &RecordedProposal) -> Self {
        match proposal.settled.as_deref() {
            Some("closed") => Self::Closed,
            Some("merged-with-later-commits") => Self::MergedWithout,
            Some("merged") => Self::Merged,
            Some("finished") => Self::Finished,
            Some(text) => match text.strip_prefix("reviewed ") {
                Some(at) => Self::Reviewed(at.to_owned()),
                // A newer version's word: asking the forge again is the harmless direction.
                None => Self::Open,
            },
            None => Self::Open,
        }
    }

    /// Whether the forge has to be asked what became of it.
    pub(crate) const fn is_open(&self) -> bool {
        match self {
            Self::Open | Self::Reviewed(_) => true,
            Self::Closed | Self::MergedWithout | Self::Merged | Self::Finished => false,
        }
    }

    /// Whether the work is in the base.
    pub(crate) const fn is_merged(&self) -> bool {
        match self {
            Self::Merged | Self::Finished => true,
            Self::Open | Self::Reviewed(_) | Self::Closed | Self::MergedWithout => false,
        }
    }
}

impl fmt::Display for Settled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open => f.write_str("open"),
            Self::Reviewed(at) => write!(f, "reviewed {at}"),
            Self::Closed => f.write_str("closed"),
            Self::MergedWithout => f.write_str("merged-with-later-commits"),
            Self::Merged => f.write_str("merged"),
            Self::Finished => f.write_str("finished"),
        }
    }
}

/// Whether the task's last proposal is merged: what follows starts on a branch of its own (S5).
pub(crate) fn is_merged(record: &Record) -> bool {
    record.pr.as_ref().is_some_and(|pr| Settled::of(pr).is_merged())
}
