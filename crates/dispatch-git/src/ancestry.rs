//! What is an ancestor of what, what merges, and whether work is in its base (V3).

use dispatch_core::object::{CommitId, TreeId};
use dispatch_core::path::TreePath;
use dispatch_engine::ports::{Answer, Merge};
use dispatch_proc::Ended;

use crate::{GitError, Repository};
use std::collections::BTreeSet;

/// What is known about a commit and its base, for a remote without pull requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergedFacts {
    /// The commit is an ancestor of the base.
    pub ancestor: Answer,
    /// Merging it into the base changes nothing.
    pub changes_nothing: Answer,
    /// The patch of every commit is in the base.
    pub every_patch: Answer,
    /// The patch of all commits together is in the base.
    pub squashed_patch: Answer,
}

impl MergedFacts {
    /// Any yes is a yes; only four times no is a no.
    pub fn verdict(self) -> Answer {
        let facts = [self.ancestor, self.changes_nothing, self.every_patch, self.squashed_patch];
        if facts.contains(&Answer::Yes) {
            Answer::Yes
        } else if facts.contains(&Answer::Unknown) {
            Answer::Unknown
        } else {
            Answer::No
        }
    }
}

/// What `merge-tree` said.
enum TreeMerge {
    Clean(TreeId),
    Conflict(Vec<TreePath>),
}

fn answer(result: Result<bool, GitError>) -> Answer {
    match result {
        Ok(true) => Answer::Yes,
        Ok(false) => Answer::No,
        Err(error) => {
            tracing::debug!(%error, "a question about history stays open");
            Answer::Unknown
        }
    }
}

impl Repository {
    /// Whether `ancestor` is an ancestor of `descendant`, or the same.
    pub(crate) fn ancestry(&self, ancestor: &CommitId, descendant: &CommitId) -> Answer {
        if self.is_shallow() {
            return Answer::Unknown;
        }
        answer(self.plumbing().and_then(|plumbing| {
            plumbing
                .call(self)
                .args(["merge-base", "--is-ancestor", ancestor.as_str(), descendant.as_str()])
                .yes_or_no()
        }))
    }

    /// The merge base of two commits; none when they share no history.
    pub(crate) fn merge_base_of(
        &self,
        one: &CommitId,
        other: &CommitId,
    ) -> Result<Option<CommitId>, GitError> {
        let call = self.plumbing()?.call(self).args(["merge-base", one.as_str(), other.as_str()]);
        let finished = call.run()?;
        match finished.ended {
            Ended::Exit(1) if self.is_shallow() => {
                Err(call
                    .answer("nothing, and this is a shallow clone: run `git fetch --unshallow`"))
            }
            Ended::Exit(0) => {
                let text = String::from_utf8_lossy(&finished.stdout);
                let first = text.lines().next().unwrap_or_default();
                CommitId::parse(first).map(Some).map_err(|e| call.answer(e.to_string()))
            }
            Ended::Exit(1) => Ok(None),
            Ended::Exit(_) | Ended::Signal(_) | Ended::TimedOut | Ended::Stopped => {
                Err(call.refusal(&finished))
            }
        }
    }

    fn merge_trees(&self, ours: &CommitId, theirs: &CommitId) -> Result<TreeMerge, GitError> {
        // An unknown name gives the status of a conflict, so both are looked at first.
        self.tree_of(ours)?;
        self.tree_of(theirs)?;
        let call = self
            .plumbing()?
            .call(self)
            .args(["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages"])
            .args([ours.as_str(), theirs.as_str()]);
        let finished = call.run()?;
        let clean = match finished.ended {
            Ended::Exit(0) => true,
            Ended::Exit(1) => false,
            Ended::Exit(_) | Ended::Signal(_) | Ended::TimedOut | Ended::Stopped => {
                return Err(call.refusal(&finished));
            }
        };
        let mut fields = finished.stdout.split(|&byte| byte == 0);
        let tree = fields.next().and_then(|tree| str::from_utf8(tree).ok());
        let tree =
            TreeId::parse(tree.unwrap_or_default()).map_err(|e| call.answer(e.to_string()))?;
        if clean {
            return Ok(TreeMerge::Clean(tree));
        }
        let paths: BTreeSet<_> =
            fields.filter(|path| !path.is_empty()).map(TreePath::new).collect();
        Ok(TreeMerge::Conflict(paths.into_iter().collect()))
    }

    /// Merges `base` into `start` when that is clean (D6.6); never a rebase.
    pub(crate) fn merge_base_into(
        &self,
        start: &CommitId,
        base: &CommitId,
        message: &str,
    ) -> Result<Merge, GitError> {
        match self.ancestry(base, start) {
            Answer::Yes => return Ok(Merge::UpToDate),
            Answer::Unknown => {
                let why = "whether the base is in the start cannot be told here (a shallow clone?)";
                return Ok(Merge::Unknown(why.to_owned()));
            }
            Answer::No => {}
        }
        if self.ancestry(start, base) == Answer::Yes {
            // A commit of ours all the same: the start stays the first parent of what follows.
            let tree = self.tree_of(base)?;
            return Ok(Merge::Merged(self.commit_tree(
                &tree,
                &[start.clone(), base.clone()],
                message,
            )?));
        }
        match self.merge_trees(start, base) {
            Ok(TreeMerge::Clean(tree)) => {
                let parents = [start.clone(), base.clone()];
                Ok(Merge::Merged(self.commit_tree(&tree, &parents, message)?))
            }
            Ok(TreeMerge::Conflict(paths)) => Ok(Merge::Conflict(paths)),
            Err(error @ GitError::Refused { .. }) => Ok(Merge::Unknown(error.to_string())),
            Err(error) => Err(error),
        }
    }

    /// The facts of V3 about a commit and a freshly fetched base.
    pub(crate) fn merged_facts(&self, commit: &CommitId, base: &CommitId) -> MergedFacts {
        if self.is_shallow() {
            let unknown = Answer::Unknown;
            return MergedFacts {
                ancestor: unknown,
                changes_nothing: unknown,
                every_patch: unknown,
                squashed_patch: unknown,
            };
        }
        MergedFacts {
            ancestor: self.ancestry(commit, base),
            changes_nothing: answer(self.merge_changes_nothing(commit, base)),
            every_patch: answer(self.patches_are_in(commit, base)),
            squashed_patch: answer(self.squashed_patch_is_in(commit, base)),
        }
    }

    fn merge_changes_nothing(&self, commit: &CommitId, base: &CommitId) -> Result<bool, GitError> {
        let base_tree = self.tree_of(base)?;
        Ok(match self.merge_trees(base, commit)? {
            TreeMerge::Clean(tree) => tree == base_tree,
            TreeMerge::Conflict(_) => false,
        })
    }

    /// Whether `git cherry` finds every commit's patch in the base; no commits at all are no yes here.
    fn patches_are_in(&self, commit: &CommitId, base: &CommitId) -> Result<bool, GitError> {
        let call = self.plumbing()?.call(self).args(["cherry", base.as_str(), commit.as_str()]);
        let text = String::from_utf8_lossy(&call.output()?).into_owned();
        Ok(!text.is_empty() && text.lines().all(|line| line.starts_with("- ")))
    }

    fn squashed_patch_is_in(&self, commit: &CommitId, base: &CommitId) -> Result<bool, GitError> {
        let Some(fork) = self.merge_base_of(base, commit)? else { return Ok(false) };
        let tree = self.tree_of(commit)?;
        if tree == self.tree_of(&fork)? {
            return Ok(false);
        }
        let squashed = self.commit_tree(&tree, &[fork], "all commits as one")?;
        self.patches_are_in(&squashed, base)
    }

    /// Paths whose last change between `base` and `start` is in a commit that is not ours (C3.2).
    ///
    /// Ours are the saved commits of attempts, and merges of the base into them. The first parents are followed:
    /// what came by a merge came with the merge.
    pub(crate) fn changes_of_others(
        &self,
        base: &CommitId,
        start: &CommitId,
    ) -> Result<BTreeSet<TreePath>, GitError> {
        let saved = self.saved_commits()?;
        let call = self.plumbing()?.call(self).args([
            "rev-list",
            "--first-parent",
            "--parents",
            "--end-of-options",
            start.as_str(),
            &format!("^{base}"),
        ]);
        let text = String::from_utf8_lossy(&call.output()?).into_owned();
        let mut seen = BTreeSet::new();
        let mut foreign = BTreeSet::new();
        for line in text.lines() {
            let names: Vec<&str> = line.split(' ').collect();
            let Some((&commit, parents)) = names.split_first() else { continue };
            let Some(&parent) = parents.first() else { continue };
            let merges_base = match parents.get(1).map(|merged| CommitId::parse(merged)) {
                Some(Ok(merged)) => self.ancestry(&merged, base) == Answer::Yes,
                Some(Err(_)) | None => false,
            };
            let ours = merges_base || saved.contains(commit);
            for path in self.changed_paths(parent, commit)? {
                if seen.insert(path.clone()) && !ours {
                    foreign.insert(path);
                }
            }
        }
        Ok(foreign)
    }

    fn saved_commits(&self) -> Result<BTreeSet<String>, GitError> {
        let call = self.common().args([
            "for-each-ref",
            "--format=%(objectname)",
            "refs/dispatch/attempts",
        ]);
        let text = String::from_utf8_lossy(&call.output()?).into_owned();
        Ok(text.lines().map(str::to_owned).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn v3_any_yes_is_merged_all_no_is_not_and_anything_else_is_open() {
        use Answer::{No, Unknown, Yes};
        let facts = |a, b, c, d| MergedFacts {
            ancestor: a,
            changes_nothing: b,
            every_patch: c,
            squashed_patch: d,
        };
        assert_eq!(facts(Unknown, No, No, Yes).verdict(), Yes);
        assert_eq!(facts(No, No, No, No).verdict(), No);
        assert_eq!(facts(No, Unknown, No, No).verdict(), Unknown);
    }
}
