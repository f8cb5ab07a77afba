//! Slots as worktrees of this repository (V2).

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_core::object::CommitId;
use dispatch_proc::{Links, read_regular};

use crate::git::{GitCall, Place};
use crate::walk::remove_all;
use crate::{GitError, Repository};

/// What is at the place of a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Nothing, or an empty folder.
    Missing,
    /// A worktree of ours, with its administrative folder.
    Ours { admin: Utf8PathBuf },
}

/// The most a pointer file of git's can hold: one path.
const POINTER_MAX_BYTES: u64 = 8 << 10;

/// Left over by operations a worker cannot finish, and what would steer git in the slot.
const STALE_STATE: &[&str] = &[
    "MERGE_HEAD",
    "MERGE_MSG",
    "MERGE_MODE",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "BISECT_LOG",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
    "config.worktree",
    "index.lock",
    "HEAD.lock",
    "info",
    "modules",
];

impl Repository {
    /// What is at `path`, by git's own list and by inode (V2.1); anything that is not a slot of ours refuses.
    pub(crate) fn standing(&self, path: &Utf8Path) -> Result<Standing, GitError> {
        let refuse = |why: &str| GitError::NotASlot { path: path.to_owned(), why: why.to_owned() };
        self.inside_slots_root(path)?;
        let metadata = match fs::symlink_metadata(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Standing::Missing);
            }
            Err(source) => {
                return Err(GitError::File { doing: "look at", path: path.to_owned(), source });
            }
            Ok(metadata) => metadata,
        };
        if metadata.is_symlink() {
            return Err(refuse("it is a symbolic link"));
        }
        if !metadata.is_dir() {
            return Err(refuse("it is not a folder"));
        }
        let inode = (metadata.dev(), metadata.ino());
        let mut main = true;
        for listed in self.listed_worktrees()? {
            let same = fs::metadata(&listed).is_ok_and(|m| (m.dev(), m.ino()) == inode);
            match (same, main) {
                (true, true) => return Err(refuse("it is the main checkout")),
                (true, false) => {
                    return match self.admin_of(inode)? {
                        Some(admin) => Ok(Standing::Ours { admin }),
                        None => Err(refuse("git's record of it cannot be found")),
                    };
                }
                (false, _) => main = false,
            }
        }
        let empty = fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
        if empty {
            Ok(Standing::Missing)
        } else {
            Err(refuse("it holds files, and git does not list it as a worktree: move it away"))
        }
    }

    /// Refuses a path that is not directly in the slots root, or a slots root that is itself in a worktree of
    /// ours other than the main one.
    fn inside_slots_root(&self, path: &Utf8Path) -> Result<(), GitError> {
        let refuse = |why: String| GitError::NotASlot { path: path.to_owned(), why };
        let root = &self.settings.slots_root;
        crate::repository::make_folder(root)?;
        let root = root.canonicalize_utf8().map_err(GitError::file("find", root))?;
        let parent = path.parent().and_then(|parent| parent.canonicalize_utf8().ok());
        if parent.as_ref() != Some(&root) || path.file_name().is_none() {
            return Err(refuse(format!("it is not directly in the slots root `{root}`")));
        }
        for listed in self.listed_worktrees()?.into_iter().skip(1) {
            let listed = fs::canonicalize(&listed).unwrap_or(listed);
            if root.as_std_path().starts_with(&listed) {
                return Err(refuse(format!(
                    "the slots root `{root}` is inside the worktree `{}`",
                    listed.display()
                )));
            }
        }
        Ok(())
    }

    /// The worktrees git knows, the main one first.
    fn listed_worktrees(&self) -> Result<Vec<std::path::PathBuf>, GitError> {
        let bytes = crate::repository::list_worktrees(self.common())?;
        let path = |line: &[u8]| {
            line.strip_prefix(b"worktree ").map(std::ffi::OsStr::from_bytes).map(Into::into)
        };
        Ok(bytes.split(|&byte| byte == 0).filter_map(path).collect())
    }

    /// The administrative folder of the worktree with this inode; its name cannot be guessed.
    fn admin_of(&self, inode: (u64, u64)) -> Result<Option<Utf8PathBuf>, GitError> {
        let parent = self.common_dir().join("worktrees");
        let entries = parent.read_dir_utf8().map_err(GitError::file("read the folder", &parent))?;
        for entry in entries.filter_map(Result::ok) {
            let admin = entry.path();
            let pointer = admin.join("gitdir");
            let Ok(pointer) = read_regular(&pointer, Links::Refused, POINTER_MAX_BYTES) else {
                continue;
            };
            let pointer = pointer.strip_suffix(b"\n").unwrap_or(&pointer);
            let git_file = admin.as_std_path().join(std::ffi::OsStr::from_bytes(pointer));
            let tree = git_file.parent().and_then(|tree| fs::metadata(tree).ok());
            if tree.is_some_and(|tree| (tree.dev(), tree.ino()) == inode) {
                return Ok(Some(admin.to_owned()));
            }
        }
        Ok(None)
    }

    /// A call about the administrative folder of a slot, for its HEAD only.
    fn linked(&self, admin: &Utf8Path, path: &Utf8Path) -> GitCall {
        let place =
            Place::Linked { git_dir: admin, common_dir: self.common_dir(), work_tree: path };
        self.git.call(self.code_root(), &place)
    }

    /// Makes a worktree without files at `path`.
    pub(crate) fn add_worktree(
        &self,
        path: &Utf8Path,
        start: &CommitId,
    ) -> Result<Utf8PathBuf, GitError> {
        {
            let _lock = self.lock()?;
            self.common()
                // A slot that vanished from the disk is still on git's list.
                .args(["worktree", "add", "--force", "--no-checkout", "--detach", "--quiet", "--"])
                .arg(path)
                .arg(start.as_str())
                .output()?;
        }
        match self.standing(path)? {
            Standing::Ours { admin } => Ok(admin),
            Standing::Missing => {
                let why = "git made it, and it is not there".to_owned();
                Err(GitError::NotASlot { path: path.to_owned(), why })
            }
        }
    }

    /// Puts git's own records of a slot in order: its pointers, its HEAD at `start`, and the index of a clean
    /// check-out, so that a worker's `git status` tells the truth.
    pub(crate) fn mend_records(
        &self,
        admin: &Utf8Path,
        path: &Utf8Path,
        start: &CommitId,
        index: &Utf8Path,
    ) -> Result<(), GitError> {
        for stale in STALE_STATE {
            remove_all(admin.join(stale).as_std_path())?;
        }
        write_whole(&admin.join("commondir"), b"../..\n")?;
        let pointer = path.join(".git");
        let content = format!("gitdir: {admin}\n");
        let right = fs::symlink_metadata(&pointer).is_ok_and(|m| m.is_file())
            && read_regular(&pointer, Links::Refused, POINTER_MAX_BYTES)
                .is_ok_and(|found| found == content.as_bytes());
        if !right {
            remove_all(pointer.as_std_path())?;
            write_whole(&pointer, content.as_bytes())?;
        }
        if fs::symlink_metadata(admin.join("HEAD")).is_ok_and(|m| !m.is_file()) {
            remove_all(admin.join("HEAD").as_std_path())?;
            write_whole(&admin.join("HEAD"), format!("{start}\n").as_bytes())?;
        }
        self.linked(admin, path)
            .args(["update-ref", "--no-deref", "--end-of-options", "HEAD", start.as_str()])
            .output()?;
        let fresh = admin.join("index.dispatch");
        fs::copy(index, &fresh).map_err(GitError::file("copy the index to", &fresh))?;
        let target = admin.join("index");
        fs::rename(&fresh, &target).map_err(GitError::file("replace", &target))
    }
}

/// Replaces a small file of git's.
fn write_whole(path: &Utf8Path, content: &[u8]) -> Result<(), GitError> {
    if fs::symlink_metadata(path).is_ok_and(|m| m.is_file())
        && read_regular(path, Links::Refused, content.len() as u64)
            .is_ok_and(|found| found == content)
    {
        return Ok(());
    }
    remove_all(path.as_std_path())?;
    fs::write(path, content).map_err(GitError::file("write", path))
}
