//! git: trees are maps of files, commits have parents, a push moves a name.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use camino::Utf8PathBuf;
use dispatch_core::branch::BranchName;
use dispatch_core::names::PauseCause;
use dispatch_core::object::{CommitId, TreeId};
use dispatch_core::path::{RepoPath, TreePath};
use dispatch_core::secret::Secret;
use dispatch_engine::ports::{
    Answer, BoardCommit, BoardPlace, Change, ChangeStatus, Deletion, Diff, EntryKind, Frozen,
    Lease, Lying, Merge, PortError, Prepared, ProposalState, Push, RemoteBranch, RemoteView,
    SlotPlace, Vcs,
};

use super::World;

pub(crate) type Files = BTreeMap<String, String>;

/// Objects and names.
#[derive(Debug, Default)]
pub(crate) struct Repository {
    pub(crate) trees: Vec<Files>,
    pub(crate) commits: Vec<(usize, Vec<CommitId>, String)>,
    pub(crate) refs: BTreeMap<String, CommitId>,
    pub(crate) remote: BTreeMap<BranchName, CommitId>,
    pub(crate) remote_refs: BTreeMap<String, CommitId>,
}

fn number(text: &str) -> usize {
    usize::from_str_radix(&text[1..], 16).unwrap()
}

impl Repository {
    pub(crate) fn first_commit(&mut self, files: &[(&str, &str)]) -> CommitId {
        let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
        let tree = self.tree(files.iter().map(owned).collect());
        self.commit(&tree, &[], "first")
    }

    pub(crate) fn tree(&mut self, files: Files) -> TreeId {
        let at = self.trees.iter().position(|tree| *tree == files).unwrap_or_else(|| {
            self.trees.push(files);
            self.trees.len() - 1
        });
        TreeId::parse(&format!("a{at:039x}")).unwrap()
    }

    pub(crate) fn commit(
        &mut self,
        tree: &TreeId,
        parents: &[CommitId],
        message: &str,
    ) -> CommitId {
        self.commits.push((number(tree.as_str()), parents.to_vec(), message.to_owned()));
        CommitId::parse(&format!("c{:039x}", self.commits.len() - 1)).unwrap()
    }

    pub(crate) fn files(&self, commit: &CommitId) -> &Files {
        &self.trees[self.commits[number(commit.as_str())].0]
    }

    pub(crate) fn is_ancestor(&self, ancestor: &CommitId, of: &CommitId) -> bool {
        ancestor == of
            || self.commits[number(of.as_str())]
                .1
                .iter()
                .any(|parent| self.is_ancestor(ancestor, parent))
    }
}

fn broken(doing: &str) -> PortError {
    PortError::new(doing, "the disk is broken")
}

impl Vcs for World {
    fn board_place(&self) -> Result<BoardPlace, PortError> {
        Ok(self.call().place.clone())
    }

    fn missing_remote(&self) -> Option<String> {
        None
    }

    fn commit_board(&self, message: &str) -> Result<BoardCommit, PortError> {
        let mut state = self.try_effect()?;
        let Some(head) = state.place.head.clone().filter(|_| state.board_dirty) else {
            return Ok(BoardCommit::Nothing);
        };
        let files = state.repository.files(&head).clone();
        let tree = state.repository.tree(files);
        let commit = state.repository.commit(&tree, &[head], message);
        state.place.head = Some(commit.clone());
        state.board_dirty = false;
        Ok(BoardCommit::Committed(commit))
    }

    fn default_branch(&self, limit: Duration) -> Result<BranchName, PortError> {
        let answers = self.network("default branch", limit);
        let state = self.call();
        if answers && state.remote_answers {
            return Ok(state.default_branch.clone());
        }
        Err(PortError::new("ask the remote for its default branch", "no answer"))
    }

    fn fetch(&self, branches: &BTreeSet<BranchName>, limit: Duration) -> RemoteView {
        let answers = self.network("fetch", limit);
        let mut state = self.effect();
        state.fetched.push(branches.clone());
        if std::mem::take(&mut state.reboots_in_fetch) {
            "another boot".clone_into(&mut state.boot);
        }
        if state.wishes_to_come > 0 {
            state.wishes_to_come -= 1;
            state.wishes += 1;
        }
        for task in std::mem::take(&mut state.queued_meanwhile) {
            state.tasks.insert(task.id.clone(), task);
            state.wishes += 1;
        }
        if !answers || !state.remote_answers {
            let problem = Some("the remote did not answer".to_owned());
            return RemoteView { branches: BTreeMap::new(), problem };
        }
        let mut view = RemoteView::default();
        for branch in branches {
            let seen = match state.repository.remote.get(branch).cloned() {
                Some(commit) => {
                    state.repository.refs.insert(branch.fetched_ref(), commit.clone());
                    RemoteBranch::At(commit)
                }
                None => RemoteBranch::Absent,
            };
            view.branches.insert(branch.clone(), seen);
        }
        view
    }

    fn lease(&self, limit: Duration) -> Lease {
        let answers = self.network("lease", limit);
        let lease = self.effect().lease.clone();
        if answers { lease } else { Lease::Unreachable("no answer".to_owned()) }
    }

    fn is_ancestor(&self, ancestor: &CommitId, descendant: &CommitId) -> Answer {
        if self.call().not_here.contains(descendant) {
            Answer::Unknown
        } else if self.call().repository.is_ancestor(ancestor, descendant) {
            Answer::Yes
        } else {
            Answer::No
        }
    }

    fn fetch_pull_request_head(&self, number: u64, limit: Duration) -> Result<(), PortError> {
        if !self.network("head", limit) {
            return Err(PortError::new("fetch the head of a pull request", "no answer"));
        }
        let mut state = self.call();
        if let Some(ProposalState::Merged { head, .. }) = state.proposals.get(&number).cloned() {
            state.not_here.remove(&head);
        }
        Ok(())
    }

    fn merge_base(&self, one: &CommitId, other: &CommitId) -> Result<Option<CommitId>, PortError> {
        let state = self.call();
        let repository = &state.repository;
        Ok(if repository.is_ancestor(one, other) { Some(one.clone()) } else { Some(other.clone()) })
    }

    fn merge(&self, start: &CommitId, base: &CommitId, message: &str) -> Result<Merge, PortError> {
        let mut state = self.try_effect()?;
        if state.repository.is_ancestor(base, start) {
            return Ok(Merge::UpToDate);
        }
        let mut files = state.repository.files(base).clone();
        files.extend(state.repository.files(start).clone());
        let tree = state.repository.tree(files);
        let merged = state.repository.commit(&tree, &[start.clone(), base.clone()], message);
        Ok(Merge::Merged(merged))
    }

    fn prepare_slot(
        &self,
        slot: &SlotPlace,
        start: &CommitId,
        _keep: &[RepoPath],
    ) -> Result<Prepared, PortError> {
        let mut state = self.try_effect()?;
        let files = state.repository.files(start).clone();
        state.slots.insert(slot.name.clone(), files);
        Ok(Prepared::default())
    }

    fn rescue(&self, slot: &SlotPlace) -> Result<Option<(String, CommitId)>, PortError> {
        let mut state = self.try_effect()?;
        let Some(files) = state.slots.get(&slot.name).cloned() else { return Ok(None) };
        let tree = state.repository.tree(files);
        let known = number(tree.as_str());
        if state.repository.commits.iter().any(|(tree, ..)| *tree == known) {
            return Ok(None);
        }
        let commit = state.repository.commit(&tree, &[], "found in a slot");
        let name = format!("refs/dispatch/rescue/{}/now", slot.name);
        state.repository.refs.insert(name.clone(), commit.clone());
        Ok(Some((name, commit)))
    }

    fn remember_kept(&self, _slot: &SlotPlace, _keep: &[RepoPath]) -> Result<(), PortError> {
        self.call();
        Ok(())
    }

    fn hard_link_outside(&self, _slot: &SlotPlace) -> Result<Option<TreePath>, PortError> {
        self.call();
        Ok(None)
    }

    fn lying(&self, slot: &SlotPlace, path: &RepoPath) -> Result<Lying, PortError> {
        let state = self.call();
        let found = state.slots.get(&slot.name).and_then(|files| files.get(path.as_str()));
        Ok(found.map_or(Lying::Nothing, |text| Lying::File(text.as_bytes().to_vec())))
    }

    fn freeze(&self, slot: &SlotPlace, _start: &CommitId) -> Result<Frozen, PortError> {
        let mut state = self.call();
        if state.failing.contains(&"freeze") {
            return Err(broken("write the slot into a tree"));
        }
        let files = state.slots.get(&slot.name).cloned().unwrap_or_default();
        let tree = state.repository.tree(files);
        Ok(Frozen { tree, nested: Vec::new(), left_out: Vec::new() })
    }

    fn changes(&self, from: &CommitId, tree: &TreeId) -> Result<Vec<Change>, PortError> {
        let state = self.call();
        let before = state.repository.files(from);
        let after = &state.repository.trees[number(tree.as_str())];
        let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        let differs = paths.into_iter().filter(|path| before.get(*path) != after.get(*path));
        Ok(differs
            .map(|path| {
                let text = after.get(path);
                let status = match (before.get(path), text) {
                    (None, _) => ChangeStatus::Added,
                    (_, None) => ChangeStatus::Deleted,
                    (Some(_), Some(_)) => ChangeStatus::Modified,
                };
                Change {
                    path: TreePath::new(path.as_bytes()),
                    status,
                    kind: text.map(|_| EntryKind::File),
                    size_bytes: text.map(|text| text.len() as u64),
                    link_target: None,
                }
            })
            .collect())
    }

    fn tree_of(&self, commit: &CommitId) -> Result<TreeId, PortError> {
        let mut state = self.call();
        let files = state.repository.files(commit).clone();
        Ok(state.repository.tree(files))
    }

    fn foreign_changes(
        &self,
        _base: &CommitId,
        _start: &CommitId,
    ) -> Result<BTreeSet<TreePath>, PortError> {
        self.call();
        Ok(BTreeSet::new())
    }

    fn holding(
        &self,
        tree: &TreeId,
        paths: &[TreePath],
        secrets: &[Secret],
    ) -> Result<BTreeSet<TreePath>, PortError> {
        let state = self.call();
        let files = &state.repository.trees[number(tree.as_str())];
        let holds = |path: &&TreePath| {
            let text = path.as_utf8().and_then(|path| files.get(path));
            text.is_some_and(|text| secrets.iter().any(|secret| secret.occurs_in(text.as_bytes())))
        };
        Ok(paths.iter().filter(holds).cloned().collect())
    }

    fn file_at(&self, tree: &TreeId, path: &RepoPath) -> Result<Option<Vec<u8>>, PortError> {
        let state = self.call();
        let file = state.repository.trees[number(tree.as_str())].get(path.as_str());
        Ok(file.map(|text| text.clone().into_bytes()))
    }

    fn diff(&self, _from: &CommitId, tree: &TreeId, limit_bytes: u64) -> Result<Diff, PortError> {
        let state = self.call();
        let text = format!("{:?}", state.repository.trees[number(tree.as_str())]);
        let bytes = text.len() as u64;
        Ok(if bytes > limit_bytes { Diff::TooLarge { bytes } } else { Diff::Text(text) })
    }

    fn commit(
        &self,
        tree: &TreeId,
        parents: &[CommitId],
        message: &str,
    ) -> Result<CommitId, PortError> {
        Ok(self.call().repository.commit(tree, parents, message))
    }

    fn keep(&self, name: &str, commit: &CommitId) -> Result<(), PortError> {
        self.try_effect()?.repository.refs.insert(name.to_owned(), commit.clone());
        Ok(())
    }

    fn kept(&self, name: &str) -> Result<Option<CommitId>, PortError> {
        Ok(self.call().repository.refs.get(name).cloned())
    }

    fn push(
        &self,
        branch: &BranchName,
        commit: &CommitId,
        expected: Option<&CommitId>,
    ) -> Result<Push, PortError> {
        let mut state = self.try_effect()?;
        if state.repository.remote.get(branch) != expected {
            return Ok(Push::Moved);
        }
        state.repository.remote.insert(branch.clone(), commit.clone());
        Ok(Push::Pushed)
    }

    fn push_backup(&self, name: &str, limit: Duration) -> Result<(), PortError> {
        let answers = self.network("backup", limit);
        let mut state = self.try_effect()?;
        if !answers || state.push_fails {
            return Err(broken("push").pausing(PauseCause::RemoteUnreachable));
        }
        let commit = state.repository.refs[name].clone();
        state.repository.remote_refs.insert(name.to_owned(), commit);
        Ok(())
    }

    fn delete_remote_branch(
        &self,
        branch: &BranchName,
        expected: &CommitId,
        limit: Duration,
    ) -> Result<Deletion, PortError> {
        if !self.network("deletion", limit) {
            return Err(broken("delete a branch"));
        }
        let mut state = self.try_effect()?;
        match state.repository.remote.get(branch) {
            None => Ok(Deletion::Gone),
            Some(found) if found != expected => Ok(Deletion::Moved),
            Some(_) => {
                state.repository.remote.remove(branch);
                state.deleted.push(branch.clone());
                Ok(Deletion::Deleted)
            }
        }
    }

    fn verification_tree(
        &self,
        slot: &SlotPlace,
        tree: &TreeId,
        _start: &CommitId,
    ) -> Result<Utf8PathBuf, PortError> {
        let mut state = self.try_effect()?;
        let files = state.repository.trees[number(tree.as_str())].clone();
        state.verification.insert(slot.name.clone(), files);
        Ok(slot.verification())
    }

    fn changed_in_verification(
        &self,
        _slot: &SlotPlace,
        _tree: &TreeId,
    ) -> Result<Vec<TreePath>, PortError> {
        self.call();
        Ok(Vec::new())
    }

    fn merged(&self, _commit: &CommitId, _base: &BranchName) -> Answer {
        self.call().merged
    }

    fn free_mib(&self) -> Result<u64, PortError> {
        Ok(self.call().free_mib)
    }
}
