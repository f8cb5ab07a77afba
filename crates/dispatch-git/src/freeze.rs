//! Freezing the files of a slot into a tree (C3.1).

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

use camino::Utf8Path;
use dispatch_core::object::{CommitId, TreeId};
use dispatch_core::path::TreePath;
use dispatch_engine::ports::{Frozen, Nested};
use dispatch_proc::{Links, read_regular};

use crate::git::GitCall;
use crate::private_dir::PrivateDir;
use crate::walk::{Kind, Step, absolute, make_readable, shown, walk};
use crate::{GitError, Repository};

/// Files of repositories inside a slot that are saved, at most.
const MAX_NESTED_FILES: usize = 50_000;
/// The most bytes of a file that holds the id of a commit.
const COMMIT_MAX_BYTES: u64 = 200;
/// Files named to one git process, which has room for about this many long names.
const FILES_A_CALL: usize = 200;

/// What the walk found that `git add` must not see.
#[derive(Debug, Default)]
struct Finds {
    /// Folders that are repositories of their own.
    nested: BTreeSet<TreePath>,
    left_out: Vec<(TreePath, String)>,
}

/// The files of one working tree, looked at from a private git directory.
#[derive(Debug)]
pub(crate) struct Files<'a> {
    pub(crate) repository: &'a Repository,
    pub(crate) private: PrivateDir,
    pub(crate) root: &'a Utf8Path,
}

impl<'a> Files<'a> {
    pub(crate) fn new(
        repository: &'a Repository,
        name: &str,
        root: &'a Utf8Path,
    ) -> Result<Self, GitError> {
        Ok(Self { repository, private: PrivateDir::open(repository, name)?, root })
    }

    fn call(&self, index: &Utf8Path) -> GitCall {
        self.private.call_on(self.repository, self.root, index)
    }

    /// Writes the files into a tree: what `start` tracks, and what is not ignored.
    ///
    /// The index is ours: it knows the files as we checked them out, and no flag in the slot's own hides one.
    pub(crate) fn freeze(&self, start: &CommitId) -> Result<Frozen, GitError> {
        make_readable(self.root)?;
        let index = self.private.path().join("freeze.index");
        if !self.seeded_at(start) || fs::copy(self.private.index(), &index).is_err() {
            remove_if_there(&index)?;
            self.call(&index).args(["read-tree", start.as_str()]).output()?;
        }
        let finds = self.look(&index)?;
        self.add(&index, &finds)?;
        let mut left_out = finds.left_out;
        for nested in &finds.nested {
            self.add_nested(&index, nested, &mut left_out)?;
        }
        let call = self.call(&index).arg("write-tree");
        let tree = TreeId::parse(&call.line()?).map_err(|error| call.answer(error.to_string()))?;
        let nested = finds.nested.into_iter().map(|path| Nested { path }).collect();
        Ok(Frozen { tree, nested, left_out })
    }

    /// Whether our index is that of a check-out of `start`.
    fn seeded_at(&self, start: &CommitId) -> bool {
        self.checked_out().as_ref() == Some(start)
    }

    /// The commit last checked out here, whole.
    pub(crate) fn checked_out(&self) -> Option<CommitId> {
        let file = self.private.path().join("checked-out");
        let text = read_regular(&file, Links::Refused, COMMIT_MAX_BYTES).ok()?;
        CommitId::parse(std::str::from_utf8(&text).ok()?.trim()).ok()
    }

    fn look(&self, index: &Utf8Path) -> Result<Finds, GitError> {
        let mut finds = Finds::default();
        let too_deep = walk(self.root, |met| {
            let parent = met.path.len().saturating_sub(met.name.len() + 1);
            if met.name == ".git" {
                if parent > 0 {
                    finds.nested.insert(TreePath::new(&met.path[..parent]));
                }
                return Ok(Step::Past);
            }
            if met.kind == Kind::Special {
                let why = "it is a pipe, a socket or a device".to_owned();
                finds.left_out.push((TreePath::new(met.path), why));
            }
            Ok(Step::Into)
        })?;
        let why = "its folders go too deep to be saved";
        finds.left_out.extend(too_deep.into_iter().map(|path| (path, why.to_owned())));
        let asked = finds.nested.iter().chain(finds.left_out.iter().map(|(path, _)| path));
        let ignored = self.ignored(index, asked)?;
        finds.nested.retain(|path| !ignored.contains(path));
        finds.left_out.retain(|(path, _)| !ignored.contains(path));
        Ok(finds)
    }

    /// Those of `paths` that git ignores.
    fn ignored<'p>(
        &self,
        index: &Utf8Path,
        paths: impl Iterator<Item = &'p TreePath>,
    ) -> Result<BTreeSet<TreePath>, GitError> {
        let mut asked = Vec::new();
        for path in paths {
            // Neither magic nor literal: what this command takes is a path when it begins like one.
            asked.extend_from_slice(b"./");
            asked.extend_from_slice(path.as_bytes());
            asked.push(0);
        }
        if asked.is_empty() {
            return Ok(BTreeSet::new());
        }
        let gitlinks = self.gitlinks(index)?;
        let call = self
            .call(index)
            .magic_pathspecs()
            .args(["check-ignore", "-z", "--stdin", "--no-index"])
            .stdin(asked);
        let finished = call.run()?;
        match finished.ended {
            dispatch_proc::Ended::Exit(0 | 1) => {}
            _ => return Err(call.refusal(&finished)),
        }
        let listed =
            finished.stdout.split(|&byte| byte == 0).filter_map(|path| path.strip_prefix(b"./"));
        Ok(listed.map(TreePath::new).filter(|path| !gitlinks.contains(path)).collect())
    }

    /// The repositories that the index records as such.
    pub(crate) fn gitlinks(&self, index: &Utf8Path) -> Result<BTreeSet<TreePath>, GitError> {
        let bytes = self.call(index).args(["ls-files", "--stage", "-z"]).output()?;
        let links = bytes.split(|&byte| byte == 0).filter(|entry| entry.starts_with(b"160000 "));
        let path = |entry: &[u8]| {
            let tab = entry.iter().position(|&byte| byte == b'\t')?;
            Some(TreePath::new(&entry[tab + 1..]))
        };
        Ok(links.filter_map(path).collect())
    }

    fn add(&self, index: &Utf8Path, finds: &Finds) -> Result<(), GitError> {
        let too_deep = finds.left_out.iter().map(|(path, _)| path);
        let mut pathspecs = Vec::new();
        for path in finds.nested.iter().chain(too_deep) {
            pathspecs.extend_from_slice(b":(top,exclude,literal)");
            pathspecs.extend_from_slice(path.as_bytes());
            pathspecs.push(0);
        }
        let call = self.call(index).args(["add", "--all"]);
        if pathspecs.is_empty() {
            call.output()?;
        } else {
            call.magic_pathspecs()
                .args(["--pathspec-from-file=-", "--pathspec-file-nul"])
                .stdin(pathspecs)
                .output()?;
        }
        Ok(())
    }

    /// Puts the files of a repository inside the slot into the tree, as the plain files they are: staged as a
    /// repository, its content would silently be dropped.
    fn add_nested(
        &self,
        index: &Utf8Path,
        nested: &TreePath,
        left_out: &mut Vec<(TreePath, String)>,
    ) -> Result<(), GitError> {
        let mut files = Vec::new();
        let root = shown(&absolute(self.root, nested.as_bytes()));
        let mut dropped = 0;
        walk(&root, |met| {
            if met.name == ".git" {
                return Ok(Step::Past);
            }
            if matches!(met.kind, Kind::File | Kind::Link) {
                if files.len() < MAX_NESTED_FILES {
                    let path = [nested.as_bytes(), b"/", met.path].concat();
                    let executable = met.metadata.permissions().mode() & 0o100 != 0;
                    files.push((path, met.kind, executable));
                } else {
                    dropped += 1;
                }
            }
            Ok(Step::Into)
        })?;
        if dropped > 0 {
            let why = format!("{dropped} more files of this repository inside the slot");
            left_out.push((nested.clone(), why));
        }
        let mut entries = format!("0 {}\t", "0".repeat(40)).into_bytes();
        entries.extend_from_slice(nested.as_bytes());
        entries.push(0);
        let (plain, links): (Vec<_>, Vec<_>) =
            files.into_iter().partition(|(_, kind, _)| *kind == Kind::File);
        for chunk in plain.chunks(FILES_A_CALL) {
            let paths = chunk.iter().map(|(path, ..)| std::ffi::OsStr::from_bytes(path));
            let call =
                self.call(index).args(["hash-object", "-w", "--no-filters", "--"]).args(paths);
            let text = call.line()?;
            for ((path, _, executable), object) in chunk.iter().zip(text.lines()) {
                push_entry(
                    &mut entries,
                    if *executable { "100755" } else { "100644" },
                    object,
                    path,
                );
            }
        }
        for (path, ..) in links {
            let at = absolute(self.root, &path);
            let target = fs::read_link(&at).map_err(GitError::file("read the link", shown(&at)))?;
            let call = self
                .call(index)
                .args(["hash-object", "-w", "--stdin"])
                .stdin(target.as_os_str().as_bytes());
            push_entry(&mut entries, "120000", &call.line()?, &path);
        }
        self.call(index)
            .args(["update-index", "-z", "--index-info"])
            .stdin(entries)
            .output()
            .map(drop)
    }
}

fn push_entry(entries: &mut Vec<u8>, mode: &str, object: &str, path: &[u8]) {
    entries.extend_from_slice(format!("{mode} {object}\t").as_bytes());
    entries.extend_from_slice(path);
    entries.push(0);
}

pub(crate) fn remove_if_there(path: &Utf8Path) -> Result<(), GitError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(GitError::File { doing: "remove", path: path.to_owned(), source: error })
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
