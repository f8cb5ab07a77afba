//! git.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_core::branch::BranchName;
use dispatch_core::object::{CommitId, TreeId};
use dispatch_core::path::{RepoPath, TreePath};
use dispatch_core::secret::Secret;
use dispatch_core::slot::SlotName;
use serde::{Deserialize, Serialize};

use super::{ChangeStatus, PortError};

/// The repository, its worktrees and its remote. Every call is hardened (V1).
pub trait Vcs {
    /// Where the board's checkout stands.
    fn board_place(&self) -> Result<BoardPlace, PortError>;

    /// Why nothing can be fetched or pushed at all, for a person: there is no remote. Asks no network.
    fn missing_remote(&self) -> Option<String>;

    /// Commits changes under the board directory (B6).
    fn commit_board(&self, message: &str) -> Result<BoardCommit, PortError>;

    /// The default branch of the remote, asked of it within `limit` (V2.4).
    fn default_branch(&self, limit: Duration) -> Result<BranchName, PortError>;

    /// Fetches exactly these branches within `limit` (D3.5).
    fn fetch(&self, branches: &BTreeSet<BranchName>, limit: Duration) -> RemoteView;

    /// Takes or renews the ownership of the remote within `limit` (D2.4).
    fn lease(&self, limit: Duration) -> Lease;

    /// Whether `ancestor` is an ancestor of `descendant`, or the same.
    fn is_ancestor(&self, ancestor: &CommitId, descendant: &CommitId) -> Answer;

    /// Brings the head of a pull request here within `limit`, so that its history can be asked about.
    fn fetch_pull_request_head(&self, number: u64, limit: Duration) -> Result<(), PortError>;

    /// The merge base of two commits.
    fn merge_base(&self, one: &CommitId, other: &CommitId) -> Result<Option<CommitId>, PortError>;

    /// Merges `base` into `start` if that is clean, as a commit of ours that no branch points at (D6.6).
    fn merge(&self, start: &CommitId, base: &CommitId, message: &str) -> Result<Merge, PortError>;

    /// Makes the slot a worktree at `start` with nothing left of earlier work but the kept folders (D6.5).
    fn prepare_slot(
        &self,
        slot: &SlotPlace,
        start: &CommitId,
        keep: &[RepoPath],
    ) -> Result<Prepared, PortError>;

    /// Keeps what lies in a slot unless it is what was checked out there or what was saved already (D6.5); answers the
    /// ref and commit that hold it.
    fn rescue(&self, slot: &SlotPlace) -> Result<Option<(String, CommitId)>, PortError>;

    /// Remembers the kept folders as we provisioned them (D6.5), after provisioning.
    fn remember_kept(&self, slot: &SlotPlace, keep: &[RepoPath]) -> Result<(), PortError>;

    /// A regular file in the slot with links outside it, if there is one (W3.4).
    fn hard_link_outside(&self, slot: &SlotPlace) -> Result<Option<TreePath>, PortError>;

    /// What lies at a path of the slot itself; no link is followed (P5.7).
    fn lying(&self, slot: &SlotPlace, path: &RepoPath) -> Result<Lying, PortError>;

    /// Writes the slot's tracked changes and unignored files into a tree (C3.1).
    fn freeze(&self, slot: &SlotPlace, start: &CommitId) -> Result<Frozen, PortError>;

    /// What differs between a commit and a tree (C3.2).
    fn changes(&self, from: &CommitId, tree: &TreeId) -> Result<Vec<Change>, PortError>;

    /// The tree of a commit.
    fn tree_of(&self, commit: &CommitId) -> Result<TreeId, PortError>;

    /// Paths changed between `base` and `start` by commits that are none of ours (C3.2, `inherited`).
    fn foreign_changes(
        &self,
        base: &CommitId,
        start: &CommitId,
    ) -> Result<BTreeSet<TreePath>, PortError>;

    /// Those of `paths` whose content in `tree` holds one of these credentials (C3.3).
    fn holding(
        &self,
        tree: &TreeId,
        paths: &[TreePath],
        secrets: &[Secret],
    ) -> Result<BTreeSet<TreePath>, PortError>;

    /// The content of a file in a tree; `None` when there is no such file.
    fn file_at(&self, tree: &TreeId, path: &RepoPath) -> Result<Option<Vec<u8>>, PortError>;

    /// The diff from a commit to a tree, unless it is larger than `limit_bytes`.
    fn diff(&self, from: &CommitId, tree: &TreeId, limit_bytes: u64) -> Result<Diff, PortError>;

    /// Makes a commit of a tree: object level, no hooks, no signing (C9.1).
    fn commit(
        &self,
        tree: &TreeId,
        parents: &[CommitId],
        message: &str,
    ) -> Result<CommitId, PortError>;

    /// Points a ref under `refs/dispatch/` at a commit.
    fn keep(&self, name: &str, commit: &CommitId) -> Result<(), PortError>;

    /// The commit a ref under `refs/dispatch/` points at.
    fn kept(&self, name: &str) -> Result<Option<CommitId>, PortError>;

    /// Pushes a commit to a branch that is known to stand at `expected` (C9.1); never forced.
    fn push(
        &self,
        branch: &BranchName,
        commit: &CommitId,
        expected: Option<&CommitId>,
    ) -> Result<Push, PortError>;

    /// Pushes a kept ref to the same name on the remote within `limit` (C10.1).
    fn push_backup(&self, name: &str, limit: Duration) -> Result<(), PortError>;

    /// Deletes a remote branch if it stands at `expected`, within `limit` (M3).
    fn delete_remote_branch(
        &self,
        branch: &BranchName,
        expected: &CommitId,
        limit: Duration,
    ) -> Result<Deletion, PortError>;

    /// Makes the slot's verification tree hold exactly `tree` (C5.2), and says where it is.
    fn verification_tree(
        &self,
        slot: &SlotPlace,
        tree: &TreeId,
        start: &CommitId,
    ) -> Result<Utf8PathBuf, PortError>;

    /// Tracked or unignored files of the verification tree that differ from `tree` (C5.2).
    fn changed_in_verification(
        &self,
        slot: &SlotPlace,
        tree: &TreeId,
    ) -> Result<Vec<TreePath>, PortError>;

    /// Whether the commit's work is in the base, for a remote without pull requests (V3).
    fn merged(&self, commit: &CommitId, base: &BranchName) -> Answer;

    /// Free space on the file system of the slots, in MiB.
    fn free_mib(&self) -> Result<u64, PortError>;
}

/// An answer that may not be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Yes.
    Yes,
    /// A confirmed no.
    No,
    /// It could not be found out; never to be taken for a no.
    Unknown,
}

/// Where the board's checkout stands (S3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoardPlace {
    /// The branch it is on; none when HEAD is detached or the board is in no repository.
    pub branch: Option<BranchName>,
    /// Its commit; none before the first one, or when the board is in no repository.
    pub head: Option<CommitId>,
    /// Whether the board is in a repository at all.
    pub repository: bool,
}

/// What committing the board did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BoardCommit {
    /// Changes were committed.
    Committed(CommitId),
    /// Nothing to commit.
    Nothing,
    /// Not this time: why.
    Skipped(String),
}

/// A branch in the remote view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind", content = "commit")]
pub enum RemoteBranch {
    /// It stands at this commit.
    At(CommitId),
    /// Its absence is confirmed.
    Absent,
    /// The remote did not answer.
    Unknown,
}

/// What the remote said about the branches it was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemoteView {
    /// The answer per branch; a branch that is not in it is unknown.
    pub branches: BTreeMap<BranchName, RemoteBranch>,
    /// What went wrong, for the report.
    pub problem: Option<String>,
}

impl RemoteView {
    /// The answer about one branch.
    pub fn get(&self, branch: &BranchName) -> RemoteBranch {
        self.branches.get(branch).cloned().unwrap_or(RemoteBranch::Unknown)
    }
}

/// Who owns the remote (D2.4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lease {
    /// We do.
    Ours,
    /// Another machine does.
    Other {
        /// Its host and user.
        who: String,
        /// Until when, ISO 8601 UTC.
        until: String,
    },
    /// The remote did not answer, and our own lease has run out or never was.
    Unreachable(String),
}

/// The place of a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotPlace {
    /// Its name.
    pub name: SlotName,
    /// Its worktree.
    pub path: Utf8PathBuf,
}

impl SlotPlace {
    /// The verification tree beside it (C5.2).
    pub fn verification(&self) -> Utf8PathBuf {
        let parent = self.path.parent().unwrap_or(Utf8Path::new(""));
        parent.join(format!("{}.verify", self.name))
    }
}

/// What merging the base into the start gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merge {
    /// The start holds the base already.
    UpToDate,
    /// A clean merge, as this commit.
    Merged(CommitId),
    /// These files conflict; nothing was made.
    Conflict(Vec<TreePath>),
    /// It could not be found out (a shallow clone).
    Unknown(String),
}

/// What lies at a path of a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lying {
    /// Nothing.
    Nothing,
    /// A file with this content.
    File(Vec<u8>),
    /// A link, a folder or something else, or a link on the way to it.
    Other,
}

/// A slot made ready.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prepared {
    /// Whether the worktree was made anew.
    pub fresh: bool,
    /// Content that no record explained, and where it was saved: ref and commit.
    pub rescued: Option<(String, CommitId)>,
    /// Kept folders that were thrown away because they had changed.
    pub dropped: Vec<RepoPath>,
}

/// The frozen tree of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frozen {
    /// The tree.
    pub tree: TreeId,
    /// Repositories inside the slot, which a tree cannot hold (V1.4).
    pub nested: Vec<Nested>,
    /// Paths that could not be put into the tree (sockets, unreadable or endless folders, …), with why.
    pub left_out: Vec<(TreePath, String)>,
}

/// A repository inside a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nested {
    /// Its path.
    pub path: TreePath,
}

/// A changed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Its path; a rename is a deletion and an addition.
    pub path: TreePath,
    /// What happened to it.
    pub status: ChangeStatus,
    /// What it is now; none when deleted.
    pub kind: Option<EntryKind>,
    /// Its size in bytes; none when deleted or a repository.
    pub size_bytes: Option<u64>,
    /// The target of a symbolic link.
    pub link_target: Option<Vec<u8>>,
}

/// What an entry of a tree is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A file.
    File,
    /// A symbolic link.
    Link,
    /// The commit of another repository.
    Repository,
}

/// A diff for the reviewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Diff {
    /// The whole diff, as bytes made text.
    Text(String),
    /// It has more bytes than asked for.
    TooLarge {
        /// How many.
        bytes: u64,
    },
}

/// What a push did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Push {
    /// The branch stands at our commit.
    Pushed,
    /// The branch had moved; nothing was overwritten.
    Moved,
}

/// What deleting a remote branch did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deletion {
    /// It is deleted.
    Deleted,
    /// It was gone already.
    Gone,
    /// It stands at another commit and was left alone.
    Moved,
}
