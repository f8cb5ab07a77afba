//! Where pull requests live.

use std::collections::BTreeMap;
use std::time::Duration;

use dispatch_core::branch::BranchName;
use dispatch_core::object::CommitId;
use dispatch_core::record::RecordedProposal;

use super::PortError;

/// The forge (V4).
pub trait Forge {
    /// Which one it is.
    fn kind(&self) -> ForgeKind;

    /// What keeps work from being proposed where this process runs, for a person: the program is not there, or it is not
    /// logged in. Asks no network.
    fn missing(&self) -> Option<String>;

    /// What became of these pull requests, in one question that has `limit` (V4.1). One that is not in the answer is
    /// unknown.
    fn proposals(
        &self,
        recorded: &[RecordedProposal],
        limit: Duration,
    ) -> Result<BTreeMap<u64, ProposalState>, PortError>;

    /// The open pull request of a branch: the one for `base` if there is one, else another.
    fn find_open(
        &self,
        branch: &BranchName,
        base: &BranchName,
    ) -> Result<Option<PullRequest>, PortError>;

    /// Opens a pull request. An answer that was lost is looked for (V4.3).
    fn create(&self, new: &NewPullRequest) -> Result<PullRequest, PortError>;

    /// Replaces the body of a pull request.
    fn update_body(&self, number: u64, body: &str) -> Result<(), PortError>;

    /// Adds a label.
    fn label(&self, number: u64, label: &str) -> Result<(), PortError>;

    /// Asks a person or a team (`org/slug`) for a review.
    fn request_review(&self, number: u64, reviewer: &str) -> Result<(), PortError>;
}

/// The kind of forge (C9.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForgeKind {
    /// GitHub through `gh`.
    GitHub,
    /// A git remote without pull requests.
    Git,
}

/// A pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest {
    /// Its number.
    pub number: u64,
    /// Its address.
    pub url: String,
    /// The branch it is proposed for.
    pub base: BranchName,
    /// Its body; none when it cannot be read.
    pub body: Option<String>,
}

/// A pull request to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPullRequest {
    /// The branch with the work.
    pub branch: BranchName,
    /// The branch it is proposed for.
    pub base: BranchName,
    /// The title.
    pub title: String,
    /// The body.
    pub body: String,
}

/// What became of a pull request (M1.1, V3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProposalState {
    /// Merged into the base it was proposed for.
    Merged {
        /// The head that was merged.
        head: CommitId,
        /// The commit on the base.
        merge: Option<CommitId>,
    },
    /// Open.
    Open {
        /// Reviews since our last push that ask for changes.
        changes_requested: Vec<ReviewSince>,
    },
    /// Closed without a merge.
    Closed,
    /// Confirmed not to exist.
    Absent,
    /// It could not be found out.
    Unknown(String),
}

/// A review that asks for changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewSince {
    /// The login of who reviewed.
    pub author: String,
    /// What they wrote.
    pub body: String,
    /// When, ISO 8601 UTC.
    pub at: String,
}
