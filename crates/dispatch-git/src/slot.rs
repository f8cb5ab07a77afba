//! Preparing a slot, and the verification tree beside it (D6.5, C5.2).

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;

use camino::Utf8Path;
use dispatch_core::object::{CommitId, TreeId};
use dispatch_core::path::{RepoPath, TreePath};
use dispatch_engine::ports::{ChangeStatus, EntryKind, Lying, Prepared, SlotPlace};
use dispatch_proc::{Links, read_regular};
use time::OffsetDateTime;
use time::macros::format_description;

use crate::freeze::Files;
use crate::git::UNSET;
use crate::walk::{Kind, Step, absolute, make_readable, reached_without_links, remove_all, walk};
use crate::worktree::Standing;
use crate::{GitError, Repository, kept};

/// The largest file in a slot whose content is asked for; a larger one is another thing than any we would write.
const LYING_MAX_BYTES: u64 = 16 << 20;

/// Where a commit was saved.
type Rescued = (String, CommitId);

impl Repository {
    /// Makes the slot a worktree at `start`, with what no record explained saved first and nothing left but the
    /// kept folders as we provisioned them.
    pub(crate) fn prepare(
        &self,
        slot: &SlotPlace,
        start: &CommitId,
        keep: &[RepoPath],
    ) -> Result<Prepared, GitError> {
        let name = slot.name.as_str();
        let (admin, fresh, rescued) = match self.standing(&slot.path)? {
            Standing::Missing => (self.add_worktree(&slot.path, start)?, true, None),
            Standing::Ours { admin } => {
                let files = Files::new(self, name, &slot.path)?;
                let rescued = self.rescue(&files, name)?;
                (admin, false, rescued)
            }
        };
        let files = Files::new(self, name, &slot.path)?;
        let dropped = self.check_out(&files, start, keep)?;
        self.mend_records(&admin, &slot.path, start, &files.private.index())?;
        Ok(Prepared { fresh, rescued, dropped })
    }

    /// Saves what no record explains of a slot that is a worktree of ours.
    pub(crate) fn rescue_slot(&self, slot: &SlotPlace) -> Result<Option<Rescued>, GitError> {
        match self.standing(&slot.path)? {
            Standing::Missing => Ok(None),
            Standing::Ours { .. } => {
                let name = slot.name.as_str();
                self.rescue(&Files::new(self, name, &slot.path)?, name)
            }
        }
    }

    /// Saves what is in the slot unless it is what we checked out or what an attempt saved.
    fn rescue(&self, files: &Files<'_>, name: &str) -> Result<Option<Rescued>, GitError> {
        let base = match files.checked_out() {
            Some(commit) if self.tree_of(&commit).is_ok() => commit,
            _ => match self.commit_at("HEAD")? {
                Some(commit) => commit,
                None => return Ok(None),
            },
        };
        let frozen = files.freeze(&base)?;
        let known =
            frozen.tree == self.tree_of(&base)? || self.saved_trees()?.contains(&frozen.tree);
        // A worktree that was never checked out, or whose check-out was cut short, misses files and has none of its own.
        let nothing_new = || {
            let paths = self.changes_between(base.as_str(), frozen.tree.as_str())?;
            let deleted = ChangeStatus::Deleted;
            Ok::<_, GitError>(paths.iter().all(|change| change.status == deleted))
        };
        if known || (files.checked_out().is_none() && nothing_new()?) {
            return Ok(None);
        }
        let format =
            format_description!("[year][month][day]T[hour][minute][second][subsecond digits:3]Z");
        let now =
            OffsetDateTime::now_utc().format(&format).unwrap_or_else(|_| "unknown-time".into());
        let message =
            format!("Save what was found in slot {name}\n\nNo record of an attempt explains it.\n");
        let commit = self.commit_tree(&frozen.tree, &[base], &message)?;
        let name = format!("refs/dispatch/rescue/{name}/{now}");
        self.point(&name, &commit)?;
        Ok(Some((name, commit)))
    }

    /// The trees of everything saved.
    fn saved_trees(&self) -> Result<BTreeSet<TreeId>, GitError> {
        let call = self.common().args([
            "for-each-ref",
            "--format=%(tree)",
            "refs/dispatch/attempts",
            "refs/dispatch/rescue",
        ]);
        let text = String::from_utf8_lossy(&call.output()?).into_owned();
        Ok(text.lines().filter_map(|line| TreeId::parse(line).ok()).collect())
    }

    /// Makes the files those of `start`, and clears everything else but the kept folders; answers the kept
    /// folders that had changed and went too.
    fn check_out(
        &self,
        files: &Files<'_>,
        start: &CommitId,
        keep: &[RepoPath],
    ) -> Result<Vec<RepoPath>, GitError> {
        make_readable(files.root)?;
        let (unchanged, dropped) = kept::split(&files.private, files.root, keep)?;
        for folder in &dropped {
            if reached_without_links(files.root, folder.as_str().as_bytes()) {
                remove_all(files.root.join(folder.as_path()).as_std_path())?;
            }
        }
        let index = files.private.index();
        let mark = files.private.path().join("checked-out");
        // While the files are being changed they are nobody's check-out.
        remove_all(mark.as_std_path())?;
        remove_all(index.with_extension("lock").as_std_path())?;
        self.refuse_missing_filter(files, start)?;
        let call = |args: &[&str]| files.private.call_on(self, files.root, &index).args(args);
        if call(&["ls-files", "-z"]).stdout_max_bytes(1).run().is_ok_and(|f| !f.is_success()) {
            remove_all(index.as_std_path())?;
        }
        for link in files.gitlinks(&index)? {
            clear_folder(files.root, &link)?;
        }
        call(&["read-tree", "--reset", "-u", start.as_str()]).output()?;
        for link in files.gitlinks(&index)? {
            clear_folder(files.root, &link)?;
        }
        let mut clean = call(&["clean", "-ffdxq"]);
        for folder in &unchanged {
            clean = clean.arg("-e").arg(format!("/{}/", escaped(folder.as_str())));
        }
        clean.output()?;
        files.private.write("checked-out", format!("{start}\n").as_bytes())?;
        Ok(dropped)
    }

    /// Refuses to check out files that a filter which may not run belongs to: they would be pointers to contents
    /// for the worker, and contents instead of pointers in its commit (V2.2).
    fn refuse_missing_filter(&self, files: &Files<'_>, start: &CommitId) -> Result<(), GitError> {
        let tree = self.tree_of(start)?;
        let entries = self.entries(&tree)?;
        for (path, entry) in &entries {
            let name = path.as_bytes().rsplit(|&byte| byte == b'/').next().unwrap_or_default();
            if name != b".gitattributes" || entry.kind != Some(EntryKind::File) {
                continue;
            }
            let call = files.private.call(self).args(["cat-file", "blob", &entry.object]);
            let text = String::from_utf8_lossy(&call.output()?).into_owned();
            for filter in filters_named(&text) {
                if !self.settings.filters.iter().any(|allowed| allowed == filter)
                    && self.is_required(filter)?
                {
                    return Err(GitError::MissingFilter { name: filter.to_owned() });
                }
            }
        }
        Ok(())
    }

    /// Whether the person's configuration says that files are damaged without this filter.
    fn is_required(&self, filter: &str) -> Result<bool, GitError> {
        let call = self
            .common()
            .args(["config", "--type=bool", "--get"])
            .arg(format!("filter.{filter}.required"));
        Ok(filter == "lfs" || call.optional(UNSET)?.is_some_and(|value| value == "true\n"))
    }

    /// Makes the verification tree hold exactly `tree`.
    pub(crate) fn prepare_verification(
        &self,
        slot: &SlotPlace,
        tree: &TreeId,
        start: &CommitId,
    ) -> Result<(), GitError> {
        let path = slot.verification();
        let message = format!("Files of slot {} under verification\n", slot.name);
        let commit = self.commit_tree(tree, std::slice::from_ref(start), &message)?;
        let admin = match self.standing(&path)? {
            Standing::Missing => self.add_worktree(&path, &commit)?,
            Standing::Ours { admin } => admin,
        };
        let files = Files::new(self, &verification_name(slot), &path)?;
        self.check_out(&files, &commit, &[])?;
        self.mend_records(&admin, &path, &commit, &files.private.index())
    }

    /// Tracked or unignored files of the verification tree that differ from `tree`.
    pub(crate) fn changed_since_verification(
        &self,
        slot: &SlotPlace,
        tree: &TreeId,
    ) -> Result<Vec<TreePath>, GitError> {
        let path = slot.verification();
        let files = Files::new(self, &verification_name(slot), &path)?;
        let Some(commit) = files.checked_out() else {
            let why = "nothing was checked out in it".to_owned();
            return Err(GitError::NotASlot { path, why });
        };
        let frozen = files.freeze(&commit)?;
        let mut changed = self.changed_paths(tree.as_str(), frozen.tree.as_str())?;
        changed.extend(frozen.nested.into_iter().map(|nested| nested.path));
        changed.sort();
        changed.dedup();
        Ok(changed)
    }
}

/// A regular file in the slot with a link outside it (W3.4).
pub(crate) fn linked_outside(path: &Utf8Path) -> Result<Option<TreePath>, GitError> {
    let mut links: std::collections::BTreeMap<(u64, u64), (u64, u64, Vec<u8>)> =
        std::collections::BTreeMap::new();
    walk(path, |met| {
        if met.kind == Kind::File && met.metadata.nlink() > 1 {
            let inode = (met.metadata.dev(), met.metadata.ino());
            let entry =
                links.entry(inode).or_insert_with(|| (0, met.metadata.nlink(), met.path.to_vec()));
            entry.0 += 1;
        }
        Ok(Step::Into)
    })?;
    let outside = links.into_values().filter(|(found, all, _)| found < all);
    Ok(outside.map(|(_, _, path)| TreePath::new(path)).min())
}

/// What lies at a path below a folder, no link followed.
pub(crate) fn lying_at(root: &Utf8Path, path: &RepoPath) -> Result<Lying, GitError> {
    let absent = |error: &std::io::Error| {
        matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
    };
    let at = root.join(path.as_str());
    let folders = path.as_str().match_indices('/').map(|(end, _)| root.join(&path.as_str()[..end]));
    for part in folders.chain([at.clone()]) {
        match fs::symlink_metadata(&part) {
            Ok(found) if part == at && found.is_file() => {}
            Ok(found) if part != at && found.is_dir() => {}
            Ok(_) => return Ok(Lying::Other),
            Err(error) if absent(&error) => return Ok(Lying::Nothing),
            Err(error) => return Err(GitError::file("look at", part)(error)),
        }
    }
    match read_regular(&at, Links::Refused, LYING_MAX_BYTES) {
        Ok(bytes) => Ok(Lying::File(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::InvalidInput => Ok(Lying::Other),
        Err(error) => Err(GitError::file("read", at)(error)),
    }
}

/// The private git directory's name for a slot's verification tree.
fn verification_name(slot: &SlotPlace) -> String {
    format!("{}.verify", slot.name)
}

/// Empties the folder of a recorded repository, which git clears for nobody.
fn clear_folder(root: &Utf8Path, folder: &TreePath) -> Result<(), GitError> {
    let at = absolute(root, folder.as_bytes());
    // A link on the way leads to somebody else's files; git replaces the link itself.
    if !reached_without_links(root, folder.as_bytes()) {
        return Ok(());
    }
    remove_all(&at)?;
    fs::create_dir_all(&at).map_err(GitError::file("make the folder", crate::walk::shown(&at)))
}

/// The filters an attributes file names.
fn filters_named(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter(|line| !line.trim_start().starts_with('#'))
        .flat_map(|line| line.split_ascii_whitespace().skip(1))
        .filter_map(|attribute| attribute.strip_prefix("filter="))
}

/// A path as a pattern that matches only itself.
fn escaped(path: &str) -> String {
    let mut pattern = String::new();
    for c in path.chars() {
        if "\\*?[]!# ".contains(c) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn v2_2_filters_are_read_from_attributes() {
        let text = "*.bin filter=lfs diff=lfs merge=lfs -text\n# *.x filter=no\n*.y -filter\n*.z text filter=own\n";
        assert_eq!(filters_named(text).collect::<Vec<_>>(), ["lfs", "own"]);
    }

    #[test]
    fn a_kept_folder_is_a_pattern_of_itself_only() {
        assert_eq!(escaped("a*b/[c] d"), "a\\*b/\\[c\\]\\ d");
    }
}
