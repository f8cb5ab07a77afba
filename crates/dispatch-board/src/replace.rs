//! Replacing a task file so that a reader sees the old one or the new one, and no save of somebody else is lost.

use std::fs::{self, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};

use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::{CWD, Gid, Mode, OFlags, RenameFlags, Uid, fchown, renameat_with};
use tempfile::NamedTempFile;

/// A file as it was read.
pub(crate) struct Original {
    pub(crate) bytes: Vec<u8>,
    device: u64,
    inode: u64,
    mode: u32,
    owner: (u32, u32),
}

/// Why a file is not edited (B3.10).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    Symlink,
    HardLinks(u64),
    NotAFile,
}

/// What replacing did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Replaced {
    Done,
    /// Somebody saved the file meanwhile; theirs stands.
    ChangedMeanwhile,
}

/// Reads a task file that may be edited.
pub(crate) fn read_original(path: &Utf8Path) -> io::Result<Result<Original, Refusal>> {
    let metadata = fs::symlink_metadata(path)?;
    if metadata.is_symlink() {
        return Ok(Err(Refusal::Symlink));
    }
    if !metadata.is_file() {
        return Ok(Err(Refusal::NotAFile));
    }
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut file = File::from(rustix::fs::open(path.as_std_path(), flags, Mode::empty())?);
    let metadata = file.metadata()?;
    if metadata.nlink() > 1 {
        return Ok(Err(Refusal::HardLinks(metadata.nlink())));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Ok(Original {
        bytes,
        device: metadata.dev(),
        inode: metadata.ino(),
        mode: metadata.mode() & 0o7777,
        owner: (metadata.uid(), metadata.gid()),
    }))
}

/// Replaces `path`, which held `original`, by `bytes`.
///
/// New and old file are exchanged, and the old one is looked at afterwards: when it is not what was read, somebody
/// saved in between, and the exchange is undone.
pub(crate) fn replace(
    board_dir: &Utf8Path,
    path: &Utf8Path,
    original: &Original,
    bytes: &[u8],
) -> io::Result<Replaced> {
    let mut new = NamedTempFile::with_prefix_in("edit-", private_folder(board_dir)?)?;
    new.write_all(bytes)?;
    new.as_file().set_permissions(Permissions::from_mode(original.mode))?;
    let (uid, gid) = original.owner;
    if new.as_file().metadata()?.uid() != uid || new.as_file().metadata()?.gid() != gid {
        // Only a privileged process may give a file away; keeping the content matters more.
        fchown(new.as_file(), Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid))).ok();
    }
    new.as_file().sync_all()?;
    let ours = new.as_file().metadata()?.ino();
    let aside = new.path().to_owned();
    match renameat_with(CWD, &aside, CWD, path.as_std_path(), RenameFlags::EXCHANGE) {
        Ok(()) => {}
        Err(rustix::io::Errno::NOENT) => return Ok(Replaced::ChangedMeanwhile),
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
            return without_exchange(new, path, original);
        }
        Err(error) => return Err(error.into()),
    }
    if is_original(&aside, original)? {
        sync_folder(path)?;
        return Ok(Replaced::Done);
    }
    // Their file is aside and ours in place: change back, until nothing of theirs is left aside.
    for _ in 0..100 {
        renameat_with(CWD, &aside, CWD, path.as_std_path(), RenameFlags::EXCHANGE)?;
        if fs::symlink_metadata(&aside)?.ino() == ours {
            return Ok(Replaced::ChangedMeanwhile);
        }
    }
    let kept = new.into_temp_path().keep().map_err(|error| error.error)?;
    Err(io::Error::other(format!(
        "somebody saves this file over and over; a version of theirs is kept in `{}`",
        kept.display()
    )))
}

fn is_original(path: &std::path::Path, original: &Original) -> io::Result<bool> {
    let metadata = fs::symlink_metadata(path)?;
    Ok(metadata.dev() == original.device
        && metadata.ino() == original.inode
        && fs::read(path)? == original.bytes)
}

/// Where two files cannot be exchanged in one step, the look at the old one comes before the rename.
fn without_exchange(
    new: NamedTempFile,
    path: &Utf8Path,
    original: &Original,
) -> io::Result<Replaced> {
    if !is_original(path.as_std_path(), original)? {
        return Ok(Replaced::ChangedMeanwhile);
    }
    new.persist(path).map_err(|error| error.error)?;
    sync_folder(path)?;
    Ok(Replaced::Done)
}

fn sync_folder(path: &Utf8Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

/// Our folder in the board directory, made when it is not there, with everything in it ignored by git.
fn private_folder(board_dir: &Utf8Path) -> io::Result<Utf8PathBuf> {
    let folder = board_dir.join(".dispatch");
    match fs::DirBuilder::new().mode(0o700).create(&folder) {
        Ok(()) => fs::write(folder.join(".gitignore"), "*\n")?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    Ok(folder)
}
