//! A walk over the files of a slot, which git is not asked for: what a worker left may not let git look.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_core::path::TreePath;

use crate::GitError;

/// No project has folders this deep; a chain of them may be endless.
const MAX_DEPTH: usize = 128;

/// What a folder holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Link,
    Folder,
    /// A pipe, a socket or a device.
    Special,
}

/// One thing met on a walk.
#[derive(Debug)]
pub(crate) struct Met<'a> {
    /// Relative to the walk's root.
    pub(crate) path: &'a [u8],
    pub(crate) name: &'a OsStr,
    pub(crate) kind: Kind,
    pub(crate) metadata: &'a Metadata,
}

/// Whether to go into a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Into,
    Past,
}

/// Walks everything below `root` in a fixed order, links never followed; answers the folders that were too deep.
pub(crate) fn walk(
    root: &Utf8Path,
    mut meet: impl FnMut(&Met<'_>) -> Result<Step, GitError>,
) -> Result<Vec<TreePath>, GitError> {
    let mut too_deep = Vec::new();
    let mut open: Vec<(Vec<u8>, usize)> = vec![(Vec::new(), 0)];
    while let Some((folder, depth)) = open.pop() {
        for (path, name, metadata) in listed(root, &folder)? {
            let kind = kind_of(&metadata);
            let step = meet(&Met { path: &path, name: &name, kind, metadata: &metadata })?;
            if kind != Kind::Folder || step == Step::Past {
                continue;
            }
            if depth + 1 >= MAX_DEPTH {
                too_deep.push(TreePath::new(path));
            } else {
                open.push((path, depth + 1));
            }
        }
    }
    Ok(too_deep)
}

type Listed = (Vec<u8>, std::ffi::OsString, Metadata);

fn listed(root: &Utf8Path, folder: &[u8]) -> Result<Vec<Listed>, GitError> {
    let at = absolute(root, folder);
    let failed = || GitError::file("read the folder", shown(&at));
    let mut entries = Vec::new();
    for entry in fs::read_dir(&at).map_err(failed())? {
        let entry = entry.map_err(failed())?;
        let name = entry.file_name();
        let mut path = folder.to_vec();
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend_from_slice(name.as_bytes());
        // Something that vanished meanwhile is not there.
        if let Ok(metadata) = fs::symlink_metadata(entry.path()) {
            entries.push((path, name, metadata));
        }
    }
    entries.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(entries)
}

fn kind_of(metadata: &Metadata) -> Kind {
    let kind = metadata.file_type();
    if kind.is_dir() {
        Kind::Folder
    } else if kind.is_symlink() {
        Kind::Link
    } else if kind.is_fifo() || kind.is_socket() || kind.is_block_device() || kind.is_char_device()
    {
        Kind::Special
    } else {
        Kind::File
    }
}

/// The path of something met, whatever bytes it has.
pub(crate) fn absolute(root: &Utf8Path, path: &[u8]) -> PathBuf {
    if path.is_empty() {
        root.as_std_path().to_owned()
    } else {
        root.as_std_path().join(OsStr::from_bytes(path))
    }
}

/// A path for messages.
pub(crate) fn shown(path: &Path) -> Utf8PathBuf {
    Utf8PathBuf::from(path.to_string_lossy().into_owned())
}

/// Gives us back what the worker took away: a folder or file its owner cannot read cannot be saved or cleared.
pub(crate) fn make_readable(root: &Utf8Path) -> Result<(), GitError> {
    repair(root.as_std_path(), 0o700);
    walk(root, |met| {
        match met.kind {
            Kind::Folder => repair_met(root, met, 0o700),
            Kind::File => repair_met(root, met, 0o400),
            Kind::Link | Kind::Special => {}
        }
        Ok(Step::Into)
    })
    .map(drop)
}

fn repair_met(root: &Utf8Path, met: &Met<'_>, needed: u32) {
    if met.metadata.permissions().mode() & needed != needed {
        repair(&absolute(root, met.path), needed);
    }
}

fn repair(path: &Path, needed: u32) {
    if let Ok(metadata) = fs::symlink_metadata(path) {
        let mode = metadata.permissions().mode();
        if mode & needed != needed {
            // Whoever needs the file next says so, with its name, if this did not help.
            let _changed = fs::set_permissions(path, fs::Permissions::from_mode(mode | needed));
        }
    }
}

/// Removes whatever is at `path`, links not followed; nothing there is fine.
pub(crate) fn remove_all(path: &Path) -> Result<(), GitError> {
    let failed = || GitError::file("remove", shown(path));
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path).map_err(failed()),
        Ok(_) => fs::remove_file(path).map_err(failed()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(failed()(error)),
    }
}

/// Whether every part of the way from `root` to `path`, itself included, is a folder and no link.
pub(crate) fn reached_without_links(root: &Utf8Path, path: &[u8]) -> bool {
    let mut at = root.as_std_path().to_owned();
    path.split(|&byte| byte == b'/').all(|part| {
        at.push(OsStr::from_bytes(part));
        fs::symlink_metadata(&at).is_ok_and(|metadata| metadata.is_dir())
    })
}
