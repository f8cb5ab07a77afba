//! Commits, trees and what differs between them; object level, from a private git directory.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use dispatch_core::object::{CommitId, TreeId};
use dispatch_core::path::{RepoPath, TreePath};
use dispatch_core::secret::Secret;
use dispatch_engine::ports::{Change, ChangeStatus, Diff, EntryKind};

use crate::{GitError, Repository};

/// Contents up to this many bytes together are read at once.
const BATCH_BYTES: u64 = 16 << 20;

/// An entry of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TreeEntry {
    /// None for a folder.
    pub(crate) kind: Option<EntryKind>,
    pub(crate) object: String,
}

/// One record of `diff-tree --raw -z`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RawChange {
    /// None when deleted.
    kind: Option<EntryKind>,
    object: String,
    status: ChangeStatus,
    path: TreePath,
}

impl RawChange {
    /// Reads `:oldmode newmode oldobject newobject status NUL path NUL`, repeated.
    fn read_all(bytes: &[u8]) -> Option<Vec<Self>> {
        let mut fields = bytes.split(|&byte| byte == 0);
        let mut changes = Vec::new();
        while let Some(head) = fields.next().filter(|head| !head.is_empty()) {
            let head: Vec<&str> = str::from_utf8(head).ok()?.split(' ').collect();
            let [_, mode, _, object, status] = head[..] else { return None };
            let status = match status {
                "A" => ChangeStatus::Added,
                "M" => ChangeStatus::Modified,
                "D" => ChangeStatus::Deleted,
                "T" => ChangeStatus::TypeChanged,
                _ => return None,
            };
            let kind = match status {
                ChangeStatus::Deleted => None,
                ChangeStatus::Added | ChangeStatus::Modified | ChangeStatus::TypeChanged => {
                    Some(entry_kind(mode)?)
                }
            };
            let path = TreePath::new(fields.next()?);
            changes.push(Self { kind, object: object.to_owned(), status, path });
        }
        Some(changes)
    }
}

impl Repository {
    fn raw_changes(&self, from: &str, to: &str) -> Result<Vec<RawChange>, GitError> {
        let call = self
            .plumbing()?
            .call(self)
            .args(["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames"])
            .args(["--no-ext-diff", "--no-textconv", "--end-of-options", from, to]);
        RawChange::read_all(&call.output()?)
            .ok_or_else(|| call.answer("records it does not document"))
    }

    /// The paths that differ between two trees or commits.
    pub(crate) fn changed_paths(&self, from: &str, to: &str) -> Result<Vec<TreePath>, GitError> {
        Ok(self.raw_changes(from, to)?.into_iter().map(|change| change.path).collect())
    }

    /// What differs between two trees or commits; a rename is a deletion and an addition (C3.2).
    pub(crate) fn changes_between(&self, from: &str, to: &str) -> Result<Vec<Change>, GitError> {
        let raw = self.raw_changes(from, to)?;
        let has_content =
            |change: &&RawChange| matches!(change.kind, Some(EntryKind::File | EntryKind::Link));
        let objects: BTreeSet<&str> =
            raw.iter().filter(has_content).map(|change| change.object.as_str()).collect();
        let sizes = self.blob_sizes(&objects)?;
        let links: BTreeSet<&str> = raw
            .iter()
            .filter(|change| change.kind == Some(EntryKind::Link))
            .map(|change| change.object.as_str())
            .collect();
        let mut targets = BTreeMap::new();
        self.read_blobs(&sizes, &links, |object, content| {
            targets.insert(object.to_owned(), content.to_vec());
        })?;
        Ok(raw
            .into_iter()
            .map(|change| {
                let deleted = change.kind.is_none();
                Change {
                    size_bytes: sizes.get(change.object.as_str()).copied().filter(|_| !deleted),
                    link_target: targets.get(&change.object).cloned().filter(|_| !deleted),
                    kind: change.kind,
                    status: change.status,
                    path: change.path,
                }
            })
            .collect())
    }

    /// The sizes of contents.
    fn blob_sizes(&self, objects: &BTreeSet<&str>) -> Result<BTreeMap<String, u64>, GitError> {
        if objects.is_empty() {
            return Ok(BTreeMap::new());
        }
        let asked = objects.iter().map(|object| format!("{object}\n")).collect::<Vec<_>>().concat();
        let call = self
            .plumbing()?
            .call(self)
            .args(["cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)"])
            .stdin(asked);
        let text = String::from_utf8_lossy(&call.output()?).into_owned();
        let mut sizes = BTreeMap::new();
        for line in text.lines() {
            let [object, "blob", size] = line.split(' ').collect::<Vec<_>>()[..] else {
                return Err(call.answer(format!("the line `{line}`")));
            };
            let size = size.parse().map_err(|_| call.answer(format!("the line `{line}`")))?;
            sizes.insert(object.to_owned(), size);
        }
        Ok(sizes)
    }

    /// Reads contents of known sizes, a bounded part of them at a time.
    fn read_blobs(
        &self,
        sizes: &BTreeMap<String, u64>,
        objects: &BTreeSet<&str>,
        mut take: impl FnMut(&str, &[u8]),
    ) -> Result<(), GitError> {
        let mut batch = Vec::new();
        let mut batch_bytes = 0;
        for object in objects {
            let size = sizes.get(*object).copied().unwrap_or_default();
            if batch_bytes + size > BATCH_BYTES && !batch.is_empty() {
                self.read_batch(&std::mem::take(&mut batch), &mut take)?;
                batch_bytes = 0;
            }
            batch.push(*object);
            batch_bytes += size;
        }
        if batch.is_empty() { Ok(()) } else { self.read_batch(&batch, &mut take) }
    }

    fn read_batch(
        &self,
        objects: &[&str],
        take: &mut impl FnMut(&str, &[u8]),
    ) -> Result<(), GitError> {
        let asked = objects.iter().map(|object| format!("{object}\n")).collect::<Vec<_>>().concat();
        let call = self
            .plumbing()?
            .call(self)
            .args(["cat-file", "--batch"])
            .stdin(asked)
            .stdout_max_bytes(usize::MAX);
        let bytes = call.output()?;
        let mut rest = bytes.as_slice();
        for object in objects {
            let read = rest.iter().position(|&byte| byte == b'\n').and_then(|end| {
                let head = str::from_utf8(&rest[..end]).ok()?;
                let size: usize = head.rsplit(' ').next()?.parse().ok()?;
                let content = rest.get(end + 1..end + 1 + size)?;
                Some((content, rest.get(end + 2 + size..)?))
            });
            let Some((content, after)) = read else {
                return Err(call.answer(format!("no whole content of `{object}`")));
            };
            take(object, content);
            rest = after;
        }
        Ok(())
    }

    /// The entries of a tree, with those of its folders.
    pub(crate) fn entries(&self, tree: &TreeId) -> Result<BTreeMap<TreePath, TreeEntry>, GitError> {
        let call = self
            .plumbing()?
            .call(self)
            .args(["ls-tree", "-r", "-z", "--full-tree"])
            .arg(tree.as_str());
        read_entries(&call.output()?).ok_or_else(|| call.answer("entries it does not document"))
    }

    /// Those of `paths` whose content holds one of `secrets` (C3.3).
    pub(crate) fn paths_holding(
        &self,
        tree: &TreeId,
        paths: &[TreePath],
        secrets: &[Secret],
    ) -> Result<BTreeSet<TreePath>, GitError> {
        let secrets: Vec<&Secret> = secrets.iter().filter(|secret| !secret.is_empty()).collect();
        if secrets.is_empty() || paths.is_empty() {
            return Ok(BTreeSet::new());
        }
        let entries = self.entries(tree)?;
        let mut of_object: BTreeMap<&str, Vec<&TreePath>> = BTreeMap::new();
        for path in paths {
            if let Some(entry) =
                entries.get(path).filter(|entry| entry.kind != Some(EntryKind::Repository))
            {
                of_object.entry(&entry.object).or_default().push(path);
            }
        }
        let objects: BTreeSet<&str> = of_object.keys().copied().collect();
        let sizes = self.blob_sizes(&objects)?;
        let (small, large): (BTreeSet<&str>, BTreeSet<&str>) = objects
            .into_iter()
            .partition(|object| sizes.get(*object).is_none_or(|&size| size <= BATCH_BYTES));
        let mut found = BTreeSet::new();
        let mut note = |object: &str| {
            let paths = of_object.get(object).into_iter().flatten();
            found.extend(paths.map(|path| (*path).clone()));
        };
        self.read_blobs(&sizes, &small, |object, content| {
            if secrets.iter().any(|secret| secret.occurs_in(content)) {
                note(object);
            }
        })?;
        for object in large {
            if self.large_blob_holds(object, &secrets)? {
                note(object);
            }
        }
        Ok(found)
    }

    /// Looks through a content that is too large for memory, by way of a file.
    fn large_blob_holds(&self, object: &str, secrets: &[&Secret]) -> Result<bool, GitError> {
        let plumbing = self.plumbing()?;
        let failed = || GitError::file("write a large content below", plumbing.path());
        let file = tempfile::NamedTempFile::new_in(plumbing.path()).map_err(failed())?;
        let path = camino::Utf8Path::from_path(file.path()).unwrap_or(plumbing.path());
        plumbing.call(self).args(["cat-file", "blob", object]).stdout_to(path).output()?;
        let longest = secrets.iter().map(|secret| secret.len()).max().unwrap_or(1);
        let mut reader = std::fs::File::open(path).map_err(failed())?;
        let mut window = Vec::new();
        let mut chunk = vec![0; 4 << 20];
        loop {
            let count = reader.read(&mut chunk).map_err(failed())?;
            if count == 0 {
                return Ok(false);
            }
            window.extend_from_slice(&chunk[..count]);
            if secrets.iter().any(|secret| secret.occurs_in(&window)) {
                return Ok(true);
            }
            window.drain(..window.len().saturating_sub(longest - 1));
        }
    }

    /// The content of a file in a tree.
    pub(crate) fn content_at(
        &self,
        tree: &TreeId,
        path: &RepoPath,
    ) -> Result<Option<Vec<u8>>, GitError> {
        let plumbing = self.plumbing()?;
        let call = plumbing.call(self).args([
            "ls-tree",
            "-z",
            "--full-tree",
            tree.as_str(),
            "--",
            path.as_str(),
        ]);
        let entries = read_entries(&call.output()?)
            .ok_or_else(|| call.answer("entries it does not document"))?;
        match entries.get(&TreePath::from(path)) {
            Some(entry) if entry.kind == Some(EntryKind::File) => {
                let call = plumbing.call(self).args(["cat-file", "blob", &entry.object]);
                Ok(Some(call.stdout_max_bytes(usize::MAX).output()?))
            }
            _ => Ok(None),
        }
    }

    /// The diff for the reviewer. It is made without attributes, which could hide text, without renames, and with the
    /// text of what git takes for binary: one NUL byte in a comment is enough for that.
    pub(crate) fn diff_between(
        &self,
        from: &CommitId,
        tree: &TreeId,
        limit_bytes: u64,
    ) -> Result<Diff, GitError> {
        let call = self
            .plumbing()?
            .call(self)
            .args(["diff-tree", "-r", "-p", "--text", "--full-index", "--no-renames", "--no-color"])
            .args(["--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/"])
            .args(["--submodule=short", "--end-of-options", from.as_str(), tree.as_str()])
            .stdout_max_bytes(usize::try_from(limit_bytes).unwrap_or(usize::MAX));
        let finished = call.run()?;
        if !finished.is_success() {
            return Err(call.refusal(&finished));
        }
        Ok(match finished.stdout_dropped_bytes {
            0 => Diff::Text(String::from_utf8_lossy(&finished.stdout).into_owned()),
            dropped => Diff::TooLarge { bytes: finished.stdout.len() as u64 + dropped },
        })
    }

    /// Makes a commit: object level, no hooks, no signing, no working directory (C9.1).
    pub(crate) fn commit_tree(
        &self,
        tree: &TreeId,
        parents: &[CommitId],
        message: &str,
    ) -> Result<CommitId, GitError> {
        let mut call = self.plumbing()?.call(self).args(["commit-tree", tree.as_str()]);
        for parent in parents {
            call = call.args(["-p", parent.as_str()]);
        }
        let call = self.identified(call.args(["-F", "-"]).stdin(message))?;
        CommitId::parse(&call.line()?).map_err(|error| call.answer(error.to_string()))
    }

    /// Points a ref of ours at a commit.
    pub(crate) fn point(&self, name: &str, commit: &CommitId) -> Result<(), GitError> {
        let name = of_ours(name)?;
        self.common()
            .args(["update-ref", "--end-of-options", name, commit.as_str()])
            .output()
            .map(drop)
    }
}

/// Refuses a ref that is not under `refs/dispatch/`.
pub(crate) fn of_ours(name: &str) -> Result<&str, GitError> {
    if name.starts_with("refs/dispatch/") && !name.contains("..") {
        Ok(name)
    } else {
        Err(GitError::ForeignRef { name: name.to_owned() })
    }
}

/// What git's mode says of an entry; none for a folder.
fn entry_kind(mode: &str) -> Option<EntryKind> {
    match mode {
        "120000" => Some(EntryKind::Link),
        "160000" => Some(EntryKind::Repository),
        _ => mode.starts_with("100").then_some(EntryKind::File),
    }
}

/// Reads `mode SP type SP object TAB path NUL`, repeated.
fn read_entries(bytes: &[u8]) -> Option<BTreeMap<TreePath, TreeEntry>> {
    let mut entries = BTreeMap::new();
    for record in bytes.split(|&byte| byte == 0).filter(|record| !record.is_empty()) {
        let tab = record.iter().position(|&byte| byte == b'\t')?;
        let mut head = str::from_utf8(&record[..tab]).ok()?.split(' ');
        let (mode, _type, object) = (head.next()?, head.next()?, head.next()?);
        let entry = TreeEntry { kind: entry_kind(mode), object: object.to_owned() };
        entries.insert(TreePath::new(&record[tab + 1..]), entry);
    }
    Some(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c3_2_raw_records_carry_paths_of_any_bytes() {
        let zero = "0".repeat(40);
        let one = "1".repeat(40);
        let bytes = [
            format!(":000000 100755 {zero} {one} A\0").as_bytes(),
            b"a\n\"\xff b\0",
            format!(":100644 000000 {one} {zero} D\0gone\0").as_bytes(),
            format!(":100644 120000 {one} {one} T\0link\0").as_bytes(),
        ]
        .concat();
        let changes = RawChange::read_all(&bytes).unwrap();
        let seen: Vec<_> = changes.iter().map(|c| (c.path.as_bytes(), c.status, c.kind)).collect();
        assert_eq!(
            seen,
            [
                (&b"a\n\"\xff b"[..], ChangeStatus::Added, Some(EntryKind::File)),
                (b"gone", ChangeStatus::Deleted, None),
                (b"link", ChangeStatus::TypeChanged, Some(EntryKind::Link)),
            ]
        );
        assert_eq!(RawChange::read_all(b":1 2 3\0x\0"), None);
    }

    #[test]
    fn only_refs_of_ours_are_written() {
        assert!(of_ours("refs/dispatch/attempts/T-1/1").is_ok());
        for name in ["refs/heads/main", "HEAD", "refs/dispatch/../heads/main", "refs/dispatchx/a"] {
            assert!(of_ours(name).is_err(), "{name}");
        }
    }
}
