//! The engine's port to git.

use std::collections::BTreeSet;
use std::time::Duration;

use camino::Utf8PathBuf;
use dispatch_core::branch::BranchName;
use dispatch_core::object::{CommitId, TreeId};
use dispatch_core::path::{RepoPath, TreePath};
use dispatch_core::secret::Secret;
use dispatch_engine::ports::{
    Answer, BoardCommit, BoardPlace, Change, Deletion, Diff, Frozen, Lease, Lying, Merge,
    PortError, Prepared, Push, RemoteView, SlotPlace, Vcs,
};
use time::OffsetDateTime;

use crate::deadline::Deadline;
use crate::freeze::Files;
use crate::objects::of_ours;
use crate::slot::{linked_outside, lying_at};
use crate::worktree::Standing;
use crate::{GitError, Repository, kept};

impl Repository {
    fn slot_files<'a>(&'a self, slot: &'a SlotPlace) -> Result<Files<'a>, GitError> {
        match self.standing(&slot.path)? {
            Standing::Ours { .. } => Files::new(self, slot.name.as_str(), &slot.path),
            Standing::Missing => Err(GitError::NotASlot {
                path: slot.path.clone(),
                why: "it is not there".to_owned(),
            }),
        }
    }

    fn merged_into(&self, commit: &CommitId, base: &BranchName) -> Answer {
        match self.commit_at(&base.fetched_ref()) {
            Ok(Some(base)) => self.merged_facts(commit, &base).verdict(),
            Ok(None) | Err(_) => Answer::Unknown,
        }
    }
}

impl Vcs for Repository {
    fn board_place(&self) -> Result<BoardPlace, PortError> {
        self.place_of_board()
            .map_err(|error| error.port("find out where the board's checkout stands"))
    }

    fn missing_remote(&self) -> Option<String> {
        self.remote().err().map(|error| error.to_string())
    }

    fn commit_board(&self, message: &str) -> Result<BoardCommit, PortError> {
        self.commit_of_board(message).map_err(|error| error.port("commit the board"))
    }

    fn default_branch(&self, limit: Duration) -> Result<BranchName, PortError> {
        self.remote_default_branch(limit)
            .map_err(|error| error.remote_port("ask the remote for its default branch"))
    }

    fn fetch(&self, branches: &BTreeSet<BranchName>, limit: Duration) -> RemoteView {
        self.fetch_branches(branches, Deadline::within(limit))
    }

    fn lease(&self, limit: Duration) -> Lease {
        self.take_lease(OffsetDateTime::now_utc(), Deadline::within(limit))
    }

    fn is_ancestor(&self, ancestor: &CommitId, descendant: &CommitId) -> Answer {
        self.ancestry(ancestor, descendant)
    }

    fn fetch_pull_request_head(&self, number: u64, limit: Duration) -> Result<(), PortError> {
        self.fetch_object(&format!("refs/pull/{number}/head"), limit)
            .map_err(|error| error.remote_port(format!("fetch the head of pull request {number}")))
    }

    fn merge_base(&self, one: &CommitId, other: &CommitId) -> Result<Option<CommitId>, PortError> {
        self.merge_base_of(one, other)
            .map_err(|error| error.port(format!("find the merge base of {one} and {other}")))
    }

    fn merge(&self, start: &CommitId, base: &CommitId, message: &str) -> Result<Merge, PortError> {
        self.merge_base_into(start, base, message)
            .map_err(|error| error.port(format!("merge the base {base} into {start}")))
    }

    fn prepare_slot(
        &self,
        slot: &SlotPlace,
        start: &CommitId,
        keep: &[RepoPath],
    ) -> Result<Prepared, PortError> {
        self.prepare(slot, start, keep)
            .map_err(|error| error.port(format!("prepare slot {} at {start}", slot.name)))
    }

    fn rescue(&self, slot: &SlotPlace) -> Result<Option<(String, CommitId)>, PortError> {
        self.rescue_slot(slot)
            .map_err(|error| error.port(format!("keep what lies in slot {}", slot.name)))
    }

    fn remember_kept(&self, slot: &SlotPlace, keep: &[RepoPath]) -> Result<(), PortError> {
        self.slot_files(slot)
            .and_then(|files| kept::remember(&files.private, &slot.path, keep))
            .map_err(|error| error.port(format!("remember the kept folders of slot {}", slot.name)))
    }

    fn hard_link_outside(&self, slot: &SlotPlace) -> Result<Option<TreePath>, PortError> {
        linked_outside(&slot.path)
            .map_err(|error| error.port(format!("look for hard links in slot {}", slot.name)))
    }

    fn lying(&self, slot: &SlotPlace, path: &RepoPath) -> Result<Lying, PortError> {
        lying_at(&slot.path, path)
            .map_err(|error| error.port(format!("read `{path}` of slot {}", slot.name)))
    }

    fn freeze(&self, slot: &SlotPlace, start: &CommitId) -> Result<Frozen, PortError> {
        self.slot_files(slot).and_then(|files| files.freeze(start)).map_err(|error| {
            error.port(format!("write the files of slot {} into a tree", slot.name))
        })
    }

    fn changes(&self, from: &CommitId, tree: &TreeId) -> Result<Vec<Change>, PortError> {
        self.changes_between(from.as_str(), tree.as_str())
            .map_err(|error| error.port(format!("compare {from} with tree {tree}")))
    }

    fn tree_of(&self, commit: &CommitId) -> Result<TreeId, PortError> {
        Self::tree_of(self, commit)
            .map_err(|error| error.port(format!("find the tree of {commit}")))
    }

    fn foreign_changes(
        &self,
        base: &CommitId,
        start: &CommitId,
    ) -> Result<BTreeSet<TreePath>, PortError> {
        self.changes_of_others(base, start)
            .map_err(|error| error.port(format!("find who changed what from {base} to {start}")))
    }

    fn holding(
        &self,
        tree: &TreeId,
        paths: &[TreePath],
        secrets: &[Secret],
    ) -> Result<BTreeSet<TreePath>, PortError> {
        self.paths_holding(tree, paths, secrets)
            .map_err(|error| error.port(format!("look for credentials in tree {tree}")))
    }

    fn file_at(&self, tree: &TreeId, path: &RepoPath) -> Result<Option<Vec<u8>>, PortError> {
        self.content_at(tree, path)
            .map_err(|error| error.port(format!("read `{path}` of tree {tree}")))
    }

    fn diff(&self, from: &CommitId, tree: &TreeId, limit_bytes: u64) -> Result<Diff, PortError> {
        self.diff_between(from, tree, limit_bytes)
            .map_err(|error| error.port(format!("make the diff from {from} to tree {tree}")))
    }

    fn commit(
        &self,
        tree: &TreeId,
        parents: &[CommitId],
        message: &str,
    ) -> Result<CommitId, PortError> {
        self.commit_tree(tree, parents, message)
            .map_err(|error| error.port(format!("make a commit of tree {tree}")))
    }

    fn keep(&self, name: &str, commit: &CommitId) -> Result<(), PortError> {
        self.point(name, commit).map_err(|error| error.port(format!("keep {commit} as `{name}`")))
    }

    fn kept(&self, name: &str) -> Result<Option<CommitId>, PortError> {
        of_ours(name)
            .and_then(|name| self.commit_at(name))
            .map_err(|error| error.port(format!("look up `{name}`")))
    }

    fn push(
        &self,
        branch: &BranchName,
        commit: &CommitId,
        expected: Option<&CommitId>,
    ) -> Result<Push, PortError> {
        self.push_branch(branch, commit, expected)
            .map_err(|error| error.remote_port(format!("push {commit} to branch {branch}")))
    }

    fn push_backup(&self, name: &str, limit: Duration) -> Result<(), PortError> {
        self.back_up(name, Deadline::within(limit))
            .map_err(|error| error.remote_port(format!("back up `{name}` to the remote")))
    }

    fn delete_remote_branch(
        &self,
        branch: &BranchName,
        expected: &CommitId,
        limit: Duration,
    ) -> Result<Deletion, PortError> {
        self.delete_branch(branch, expected, Deadline::within(limit))
            .map_err(|error| error.remote_port(format!("delete branch {branch} on the remote")))
    }

    fn verification_tree(
        &self,
        slot: &SlotPlace,
        tree: &TreeId,
        start: &CommitId,
    ) -> Result<Utf8PathBuf, PortError> {
        self.prepare_verification(slot, tree, start).map(|()| slot.verification()).map_err(
            |error| error.port(format!("prepare the verification tree of slot {}", slot.name)),
        )
    }

    fn changed_in_verification(
        &self,
        slot: &SlotPlace,
        tree: &TreeId,
    ) -> Result<Vec<TreePath>, PortError> {
        self.changed_since_verification(slot, tree).map_err(|error| {
            error.port(format!("look what changed in the verification tree of slot {}", slot.name))
        })
    }

    fn merged(&self, commit: &CommitId, base: &BranchName) -> Answer {
        self.merged_into(commit, base)
    }

    fn free_mib(&self) -> Result<u64, PortError> {
        let root = &self.settings.slots_root;
        let there = root.ancestors().find(|path| path.exists()).unwrap_or(self.code_root());
        let figures = rustix::fs::statvfs(there.as_std_path()).map_err(|error| {
            let doing = format!("find out how much space is left at `{there}`");
            PortError::new(doing, std::io::Error::from(error))
        })?;
        Ok(figures.f_bavail.saturating_mul(figures.f_frsize) >> 20)
    }
}
