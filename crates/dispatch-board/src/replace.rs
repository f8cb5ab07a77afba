//! Replacing a task file so that a reader sees the old one or the new one, and no save of somebody else is lost.

use std::fs::{self, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_core::task_file::MAX_FILE_BYTES;
use dispatch_proc::{Links, make_ignored_dir, open_regular, read_regular};
use rustix::fs::{CWD, Gid, Mode, OFlags, RenameFlags, Uid, fchown, renameat_with};
use tempfile::NamedTempFile;
use thiserror::Error;

/// A file as it was read.
pub(crate) struct Original {
    pub(crate) bytes: Vec<u8>,
    device: u64,
    inode: u64,
    mode: u32,
    owner: (u32, u32),
}

/// Why a file is not edited (B3.10): the end of a sentence about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Refusal {
    /// Whoever follows it would edit another file.
    #[error("is a symbolic link")]
    Symlink,
    /// Replacing one name would leave the others behind.
    #[error("has {0} names (hard links)")]
    HardLinks(u64),
    /// A folder, a pipe, a device.
    #[error("is no regular file")]
    NotAFile,
}

/// What replacing did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Replaced {
    Done,
    /// Somebody saved the file meanwhile; their newest save stands.
    ChangedMeanwhile {
        /// Where an older save of theirs is, when the newest one was made over our file and not over that one.
        kept: Option<Utf8PathBuf>,
    },
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
    let file = open_regular(path, Links::Refused, File::options().read(true))?;
    let metadata = file.metadata()?;
    if metadata.nlink() > 1 {
        return Ok(Err(Refusal::HardLinks(metadata.nlink())));
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES).read_to_end(&mut bytes)?;
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
    replace_between(board_dir, path, original, bytes, |_| {})
}

/// The moments at which somebody else may save.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Window {
    /// Our file is written, the original not yet looked at.
    Look,
    /// The original was there a moment ago.
    Exchange,
    /// Ours is in place of a save of theirs, or one save of theirs in place of another.
    Undo,
}

/// [`replace`], with `between` run in every window.
fn replace_between(
    board_dir: &Utf8Path,
    path: &Utf8Path,
    original: &Original,
    bytes: &[u8],
    mut between: impl FnMut(Window),
) -> io::Result<Replaced> {
    let new = written(board_dir, original, bytes)?;
    between(Window::Look);
    match is_original(path, original) {
        Ok(true) => {}
        Ok(false) => return Ok(Replaced::ChangedMeanwhile { kept: None }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Replaced::ChangedMeanwhile { kept: None });
        }
        Err(error) => return Err(error),
    }
    between(Window::Exchange);
    match exchange(new.path(), path) {
        Ok(()) => {}
        Err(rustix::io::Errno::NOENT) => return Ok(Replaced::ChangedMeanwhile { kept: None }),
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
            return without_exchange(new, path, original);
        }
        Err(rustix::io::Errno::XDEV) => {
            return Err(io::Error::new(
                io::ErrorKind::CrossesDevices,
                format!("`tasks` lies on another file system than `{board_dir}`; put both on one"),
            ));
        }
        Err(error) => return Err(error.into()),
    }
    // From here on the file aside may be the only one that holds a save of theirs: it stays unless it is known not to.
    let (ours, aside) = new.keep().map_err(|error| error.error)?;
    let aside = Utf8PathBuf::from_path_buf(aside)
        .map_err(|path| io::Error::other(format!("`{}` is not UTF-8", path.display())))?;
    settle(&aside, path, original, (ours, bytes), || between(Window::Undo)).map_err(|error| {
        let place = format!("what `{path}` held is kept in `{aside}`: {error}");
        io::Error::new(error.kind(), place)
    })
}

/// Sees what the exchange took out of its place, and undoes it when that is not the original.
fn settle(
    aside: &Utf8Path,
    path: &Utf8Path,
    original: &Original,
    (ours, bytes): (File, &[u8]),
    between: impl FnMut(),
) -> io::Result<Replaced> {
    if is_original(aside, original)? {
        fs::remove_file(aside)?;
        sync_folder(path)?;
        return Ok(Replaced::Done);
    }
    if !undo(aside, path, ours, between)? || !holds(aside, bytes)? {
        return Ok(Replaced::ChangedMeanwhile { kept: Some(aside.to_owned()) });
    }
    fs::remove_file(aside)?;
    Ok(Replaced::ChangedMeanwhile { kept: None })
}

/// Writes `bytes` to a file of ours that has the mode and the owner of the original.
fn written(board_dir: &Utf8Path, original: &Original, bytes: &[u8]) -> io::Result<NamedTempFile> {
    let mut new = NamedTempFile::with_prefix_in("edit-", private_folder(board_dir)?)?;
    new.write_all(bytes)?;
    new.as_file().set_permissions(Permissions::from_mode(original.mode))?;
    let (uid, gid) = original.owner;
    if new.as_file().metadata()?.uid() != uid || new.as_file().metadata()?.gid() != gid {
        // Only a privileged process may give a file away; keeping the content matters more.
        fchown(new.as_file(), Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid))).ok();
    }
    new.as_file().sync_all()?;
    Ok(new)
}

fn exchange(aside: &std::path::Path, path: &Utf8Path) -> rustix::io::Result<()> {
    renameat_with(CWD, aside, CWD, path.as_std_path(), RenameFlags::EXCHANGE)
}

/// Puts the save that is aside back in place of `ours`, and says whether ours is what is aside at the end.
///
/// Each exchange shows what stood in place. When that is what we had put there, nobody saved, and the newest save
/// stands. Otherwise it is a save newer than the one just put back, so the two are exchanged again. A file that stands
/// in place is held open meanwhile: its inode number cannot become that of a later save.
fn undo(
    aside: &Utf8Path,
    path: &Utf8Path,
    ours: File,
    mut between: impl FnMut(),
) -> io::Result<bool> {
    let our_identity = identity(&ours.metadata()?);
    let mut in_place = ours;
    loop {
        let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let theirs = File::from(rustix::fs::open(aside.as_std_path(), flags, Mode::empty())?);
        between();
        match exchange(aside.as_std_path(), path) {
            Ok(()) => {}
            // Taking the file away is a decision newer than the save that is aside.
            Err(rustix::io::Errno::NOENT) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        let out = identity(&fs::symlink_metadata(aside)?);
        if out == identity(&in_place.metadata()?) {
            return Ok(out == our_identity);
        }
        in_place = theirs;
    }
}

/// Device and inode.
fn identity(metadata: &fs::Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

fn is_original(path: &Utf8Path, original: &Original) -> io::Result<bool> {
    let metadata = fs::symlink_metadata(path)?;
    Ok(identity(&metadata) == (original.device, original.inode) && holds(path, &original.bytes)?)
}

/// Whether a file holds these bytes and no others. What is no regular file, or is larger, does not.
fn holds(path: &Utf8Path, bytes: &[u8]) -> io::Result<bool> {
    match read_regular(path, Links::Refused, bytes.len() as u64) {
        Ok(found) => Ok(found == bytes),
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(false),
        Err(error) => Err(error),
    }
}

/// Where two files cannot be exchanged in one step, the look at the old one comes before the rename.
fn without_exchange(
    new: NamedTempFile,
    path: &Utf8Path,
    original: &Original,
) -> io::Result<Replaced> {
    if !is_original(path, original)? {
        return Ok(Replaced::ChangedMeanwhile { kept: None });
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
    make_ignored_dir(&folder)?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use tempfile::TempDir;
    use test_case::test_case;

    use super::*;

    /// A board with one task file, and an editor that saves by rename.
    struct Place {
        _guard: TempDir,
        dir: Utf8PathBuf,
        file: Utf8PathBuf,
    }

    impl Place {
        fn new() -> Self {
            let guard = TempDir::new().unwrap();
            let dir = Utf8PathBuf::from_path_buf(guard.path().to_owned()).unwrap();
            let file = dir.join("t-1.md");
            fs::write(&file, "original").unwrap();
            Self { _guard: guard, dir, file }
        }

        fn save(&self, text: &str) {
            let beside = self.dir.join("editor");
            fs::write(&beside, text).unwrap();
            fs::rename(beside, &self.file).unwrap();
        }

        fn text(&self) -> String {
            fs::read_to_string(&self.file).unwrap()
        }

        /// What lies in our folder.
        fn aside(&self) -> BTreeSet<String> {
            let entries = self.dir.join(".dispatch").read_dir_utf8().unwrap();
            let files = entries.map(|entry| entry.unwrap().into_path());
            files
                .filter(|path| path.file_name() != Some(".gitignore"))
                .map(|path| fs::read_to_string(path).unwrap())
                .collect()
        }

        fn replace(&self, mut between: impl FnMut(&Self, Window, usize)) -> io::Result<Replaced> {
            let original = read_original(&self.file)?.unwrap();
            let mut number = 0;
            replace_between(&self.dir, &self.file, &original, b"ours", |window| {
                between(self, window, number);
                number += 1;
            })
        }
    }

    fn kept_text(replaced: &Replaced) -> Option<String> {
        match replaced {
            Replaced::ChangedMeanwhile { kept: Some(path) } => {
                Some(fs::read_to_string(path).unwrap())
            }
            Replaced::ChangedMeanwhile { kept: None } | Replaced::Done => None,
        }
    }

    #[test]
    fn b3_10_a_file_nobody_saves_is_replaced_and_nothing_stays_aside() {
        let place = Place::new();
        assert_eq!(place.replace(|_, _, _| {}).unwrap(), Replaced::Done);
        assert_eq!((place.text(), place.aside()), ("ours".to_owned(), BTreeSet::new()));
    }

    /// BR-11: a save before the exchange, seen by the look before it or by the look after it.
    #[test_case(Window::Look; "before the look")]
    #[test_case(Window::Exchange; "after the look")]
    fn br_11_a_save_before_the_exchange_stands(at: Window) {
        let place = Place::new();
        let replaced = place.replace(|place, window, _| {
            if window == at {
                place.save("theirs");
            }
        });
        assert_eq!(replaced.unwrap(), Replaced::ChangedMeanwhile { kept: None });
        assert_eq!((place.text(), place.aside()), ("theirs".to_owned(), BTreeSet::new()));
    }

    /// BR-11: a save in each of the first windows of an undo: the newest stands, and the one it did not replace is kept.
    #[test_case(1; "while ours is in place")]
    #[test_case(2; "and while the newer of two is aside")]
    #[test_case(3; "and while the newest of three is aside")]
    #[test_case(4; "and once more")]
    fn br_11_the_newest_save_stands_whatever_the_number_of_saves(saves: usize) {
        let place = Place::new();
        let mut newest = 0;
        let replaced = place
            .replace(|place, window, _| {
                let due = match window {
                    Window::Look => false,
                    Window::Exchange => true,
                    Window::Undo => newest <= saves,
                };
                if due {
                    place.save(&format!("theirs {newest}"));
                    newest += 1;
                }
            })
            .unwrap();
        assert_eq!(place.text(), format!("theirs {saves}"));
        // Every other save was made over one before it, which the editor could see.
        let older = format!("theirs {}", saves - 1);
        assert_eq!(kept_text(&replaced), Some(older.clone()));
        assert_eq!(place.aside(), BTreeSet::from([older]));
    }

    /// BR-11: two saves in one window; the second is made over the first, the first over ours.
    #[test]
    fn br_11_two_saves_in_one_window_of_the_undo() {
        let place = Place::new();
        let replaced = place
            .replace(|place, window, number| match window {
                Window::Exchange => place.save("theirs 0"),
                Window::Undo if number == 2 => {
                    place.save("theirs 1");
                    place.save("theirs 2");
                }
                Window::Look | Window::Undo => {}
            })
            .unwrap();
        assert_eq!(place.text(), "theirs 2");
        assert_eq!(kept_text(&replaced), Some("theirs 0".to_owned()));
    }

    #[test]
    fn br_11_what_is_written_into_our_file_while_it_is_visible_is_kept() {
        let place = Place::new();
        let replaced = place
            .replace(|place, window, _| match window {
                Window::Look => {}
                Window::Exchange => place.save("theirs"),
                Window::Undo => fs::write(&place.file, "typed into ours").unwrap(),
            })
            .unwrap();
        assert_eq!(place.text(), "theirs");
        assert_eq!(kept_text(&replaced), Some("typed into ours".to_owned()));
    }

    #[test]
    fn br_11_a_file_taken_away_during_the_undo_stays_away_and_the_save_before_it_is_kept() {
        let place = Place::new();
        let replaced = place
            .replace(|place, window, _| match window {
                Window::Look => {}
                Window::Exchange => place.save("theirs"),
                Window::Undo => fs::remove_file(&place.file).unwrap(),
            })
            .unwrap();
        assert!(!place.file.exists());
        assert_eq!(kept_text(&replaced), Some("theirs".to_owned()));
    }

    proptest! {
        /// BR-11: whatever is saved in whatever windows, the newest save stands, and each save is in place, is kept, or
        /// was itself saved over by a save of theirs.
        #[test]
        fn br_11_no_schedule_of_saves_loses_one(schedule in prop::collection::vec(0_usize..3, 0..12)) {
            let place = Place::new();
            let (mut saves, mut saved_over) = (Vec::new(), BTreeSet::new());
            let replaced = place
                .replace(|place, _, number| {
                    for save in 0..schedule.get(number).copied().unwrap_or(0) {
                        let text = format!("theirs {number}.{save}");
                        saved_over.insert(place.text());
                        place.save(&text);
                        saves.push(text);
                    }
                })
                .unwrap();
            match saves.last() {
                None => prop_assert_eq!(&replaced, &Replaced::Done),
                Some(newest) => prop_assert_eq!(newest, &place.text()),
            }
            let kept = kept_text(&replaced);
            prop_assert_eq!(place.aside(), kept.iter().cloned().collect::<BTreeSet<_>>());
            for text in saves {
                let exists = place.text() == text || kept.as_ref() == Some(&text);
                prop_assert!(exists || saved_over.contains(&text), "`{text}` is lost");
            }
        }
    }
}
