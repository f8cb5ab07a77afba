//! git, as far as a supervisor asks: trees are maps of files, commits have parents, a push moves a name.

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
    Lease, Lying, Merge, PortError, Prepared, Push, RemoteBranch, RemoteView, SlotPlace, Vcs,
};

use super::{DiffOf, World};

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

    pub(crate) fn message(&self, commit: &CommitId) -> &str {
        &self.commits[number(commit.as_str())].2
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
        let state = self.call();
        Ok(BoardPlace { branch: Some(state.board_branch.clone()), head: None, repository: true })
    }

    fn missing_remote(&self) -> Option<String> {
        unimplemented!("a pass asks that")
    }

    fn commit_board(&self, _message: &str) -> Result<BoardCommit, PortError> {
        unimplemented!("a supervisor commits no board")
    }

    fn default_branch(&self, _limit: Duration) -> Result<BranchName, PortError> {
        unimplemented!("a supervisor is told its base")
    }

    fn fetch(&self, branches: &BTreeSet<BranchName>, _limit: Duration) -> RemoteView {
        let state = self.call();
        let seen = |branch: &BranchName| match state.repository.remote.get(branch) {
            Some(commit) => RemoteBranch::At(commit.clone()),
            None => RemoteBranch::Absent,
        };
        let branches = branches.iter().map(|branch| (branch.clone(), seen(branch))).collect();
        RemoteView { branches, problem: None }
    }

    fn lease(&self, _limit: Duration) -> Lease {
        unimplemented!("a supervisor takes no lease")
    }

    fn is_ancestor(&self, ancestor: &CommitId, descendant: &CommitId) -> Answer {
        if self.call().repository.is_ancestor(ancestor, descendant) {
            Answer::Yes
        } else {
            Answer::No
        }
    }

    fn fetch_pull_request_head(&self, _number: u64, _limit: Duration) -> Result<(), PortError> {
        unimplemented!("a supervisor does not ask what was merged")
    }

    fn merge_base(&self, one: &CommitId, other: &CommitId) -> Result<Option<CommitId>, PortError> {
        let state = self.call();
        let repository = &state.repository;
        Ok(if repository.is_ancestor(one, other) { Some(one.clone()) } else { Some(other.clone()) })
    }

    fn merge(&self, start: &CommitId, base: &CommitId, message: &str) -> Result<Merge, PortError> {
        let mut state = self.effect();
        if state.merge_unknown {
            return Ok(Merge::Unknown("this is a shallow clone".to_owned()));
        }
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
        _slot: &SlotPlace,
        start: &CommitId,
        _keep: &[RepoPath],
    ) -> Result<Prepared, PortError> {
        let mut state = self.effect();
        state.slot = state.repository.files(start).clone();
        Ok(Prepared::default())
    }

    fn rescue(&self, _slot: &SlotPlace) -> Result<Option<(String, CommitId)>, PortError> {
        Err(PortError::new("keep what lies in a slot", "a supervisor never asks for it"))
    }

    fn remember_kept(&self, _slot: &SlotPlace, _keep: &[RepoPath]) -> Result<(), PortError> {
        self.call();
        Ok(())
    }

    fn hard_link_outside(&self, _slot: &SlotPlace) -> Result<Option<TreePath>, PortError> {
        Ok(self.call().hard_link.then(|| TreePath::new("node_modules/a.js")))
    }

    fn lying(&self, _slot: &SlotPlace, path: &RepoPath) -> Result<Lying, PortError> {
        let found = self.call().slot.get(path.as_str()).cloned();
        Ok(found.map_or(Lying::Nothing, |text| Lying::File(text.into_bytes())))
    }

    fn freeze(&self, _slot: &SlotPlace, _start: &CommitId) -> Result<Frozen, PortError> {
        let mut state = self.call();
        if state.freeze_broken {
            return Err(broken("write the slot into a tree"));
        }
        let files = state.slot.clone();
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
        let text = match state.diff {
            DiffOf::Tree => format!("{:?}", state.repository.trees[number(tree.as_str())]),
            DiffOf::Nothing => String::new(),
            DiffOf::Failing => return Err(PortError::new("read the diff", "git was ended")),
        };
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
        let mut state = self.effect();
        if state.keep_broken {
            return Err(broken("write a ref"));
        }
        state.repository.refs.insert(name.to_owned(), commit.clone());
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
        let mut state = self.effect();
        if state.push_moves {
            let tree = state.repository.tree(Files::from([("other.rs".to_owned(), String::new())]));
            let other = state.repository.commit(&tree, &[], "somebody else's");
            state.repository.remote.insert(branch.clone(), other);
        }
        if state.repository.remote.get(branch) != expected {
            return Ok(Push::Moved);
        }
        state.repository.remote.insert(branch.clone(), commit.clone());
        state.log.push(format!("push {branch}"));
        Ok(Push::Pushed)
    }

    fn push_backup(&self, name: &str, _limit: Duration) -> Result<(), PortError> {
        let mut state = self.effect();
        state.at("backup");
        if state.backup_broken {
            return Err(broken("push").pausing(PauseCause::RemoteUnreachable));
        }
        let commit = state.repository.refs[name].clone();
        state.repository.remote_refs.insert(name.to_owned(), commit);
        Ok(())
    }

    fn delete_remote_branch(
        &self,
        _branch: &BranchName,
        _expected: &CommitId,
        _limit: Duration,
    ) -> Result<Deletion, PortError> {
        unimplemented!("a supervisor deletes no branch")
    }

    fn verification_tree(
        &self,
        slot: &SlotPlace,
        tree: &TreeId,
        _start: &CommitId,
    ) -> Result<Utf8PathBuf, PortError> {
        let mut state = self.effect();
        state.verification = state.repository.trees[number(tree.as_str())].clone();
        Ok(slot.verification())
    }

    fn changed_in_verification(
        &self,
        _slot: &SlotPlace,
        tree: &TreeId,
    ) -> Result<Vec<TreePath>, PortError> {
        let state = self.call();
        let files = &state.repository.trees[number(tree.as_str())];
        let changed =
            state.verification.iter().filter(|(path, text)| files.get(*path) != Some(text));
        Ok(changed.map(|(path, _)| TreePath::new(path.as_bytes())).collect())
    }

    fn merged(&self, _commit: &CommitId, _base: &BranchName) -> Answer {
        unimplemented!("a supervisor does not ask what was merged")
    }

    fn free_mib(&self) -> Result<u64, PortError> {
        Ok(self.call().free_mib)
    }
}
