//! The folders an attempt has for itself (D7.6).

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_core::hex::hex;
use dispatch_engine::ports::PrivatePlace;
use sha2::{Digest, Sha256};

/// The longest path of a folder under which sockets still have room for a name: their limit is 107 bytes.
const BASE_MAX_BYTES: usize = 40;

/// Where private folders are made: short, so that sockets fit below it.
pub(crate) fn base(temporary: Option<&str>) -> Utf8PathBuf {
    let usable = temporary.filter(|path| path.starts_with('/') && path.len() <= BASE_MAX_BYTES);
    let user = rustix::process::getuid().as_raw();
    Utf8Path::new(usable.unwrap_or("/tmp")).join(format!("dispatch-{user}"))
}

/// A short name that differs for everything that differs in one of the parts.
pub(crate) fn short_name(parts: &[&str]) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(part.len().to_le_bytes());
        digest.update(part);
    }
    hex(&digest.finalize()[..6])
}

/// Makes the folders of `name` below `base`, empty, for us alone.
pub(crate) fn make(base: &Utf8Path, name: &str) -> io::Result<PrivatePlace> {
    own_folder(base)?;
    let root = base.join(name);
    remove(&root)?;
    create(&root)?;
    let temporary = root.join("t");
    let place = PrivatePlace {
        home: root.join("h"),
        configuration: root.join("c"),
        mailbox: temporary.join("mail"),
        temporary,
        root,
    };
    for folder in [&place.home, &place.configuration, &place.temporary, &place.mailbox] {
        create(folder)?;
    }
    Ok(place)
}

/// The settings file as the agent looks for it in its configuration folder.
const SETTINGS: &str = "settings.json";

/// Puts a settings file into the configuration folder, not to be written to.
pub(crate) fn give_settings(place: &PrivatePlace, text: &str) -> io::Result<()> {
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o400)
        .open(place.configuration.join(SETTINGS))?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Removes a folder with everything in it; one that is not there is removed.
pub(crate) fn remove(root: &Utf8Path) -> io::Result<()> {
    match fs::remove_dir_all(root) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        // Tools leave folders that even their owner may not write to.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            open_up(root)?;
            fs::remove_dir_all(root)
        }
        Err(error) => Err(error),
    }
}

fn create(folder: &Utf8Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(folder)
}

/// Makes sure that the folder exists and is ours alone: others can make folders beside it.
fn own_folder(folder: &Utf8Path) -> io::Result<()> {
    match create(folder) {
        Ok(()) => return Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    let found = fs::symlink_metadata(folder)?;
    let ours = found.is_dir() && found.uid() == rustix::process::getuid().as_raw();
    if !ours {
        let what = format!("`{folder}` is not a folder of this user: remove it, or set `TMPDIR`");
        return Err(io::Error::new(ErrorKind::PermissionDenied, what));
    }
    if found.mode() & 0o077 != 0 {
        fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Gives the owner every right on the folders below, following no links.
fn open_up(folder: &Utf8Path) -> io::Result<()> {
    fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    for entry in folder.read_dir_utf8()? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            open_up(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn scratch() -> (tempfile::TempDir, Utf8PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(dir.path().to_owned()).unwrap();
        (dir, path)
    }

    #[test]
    fn d7_6_the_folders_are_empty_and_for_us_alone() {
        let (_keep, dir) = scratch();
        let first = make(&dir.join("base"), "a").unwrap();
        fs::write(first.home.join("left"), "x").unwrap();
        fs::create_dir(first.temporary.join("read-only")).unwrap();
        fs::write(first.temporary.join("read-only/file"), "x").unwrap();
        fs::set_permissions(first.temporary.join("read-only"), Permissions::from_mode(0o500))
            .unwrap();
        let place = make(&dir.join("base"), "a").unwrap();
        assert_eq!(first, place);
        for folder in
            [&dir.join("base"), &place.root, &place.home, &place.configuration, &place.mailbox]
        {
            assert_eq!(fs::metadata(folder).unwrap().mode() & 0o777, 0o700, "{folder}");
        }
        assert_eq!(fs::read_dir(&place.home).unwrap().count(), 0);
        assert_eq!(fs::read_dir(&place.temporary).unwrap().count(), 1, "the mailbox alone");
        remove(&place.root).unwrap();
        remove(&place.root).unwrap();
        assert!(!place.root.exists());
    }

    /// D7.6: what was judged is what the agent finds, and nothing else is put there meanwhile.
    #[test]
    fn d7_6_the_settings_lie_where_the_agent_looks_and_are_given_once() {
        let (_keep, dir) = scratch();
        let place = make(&dir.join("base"), "a").unwrap();
        give_settings(&place, "{}\n").unwrap();
        let file = place.configuration.join("settings.json");
        assert_eq!(fs::read_to_string(&file).unwrap(), "{}\n");
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o400);
        let again = give_settings(&place, "{}").unwrap_err();
        assert_eq!(again.kind(), ErrorKind::AlreadyExists);
    }

    #[test]
    fn a_base_that_is_a_link_is_refused() {
        let (_keep, dir) = scratch();
        fs::create_dir(dir.join("elsewhere")).unwrap();
        symlink(dir.join("elsewhere"), dir.join("base")).unwrap();
        let error = make(&dir.join("base"), "a").unwrap_err();
        assert!(error.to_string().contains("not a folder of this user"), "{error}");
        assert_eq!(fs::read_dir(dir.join("elsewhere")).unwrap().count(), 0);
    }

    #[test]
    fn a_base_that_others_can_read_is_closed() {
        let (_keep, dir) = scratch();
        fs::create_dir(dir.join("base")).unwrap();
        fs::set_permissions(dir.join("base"), Permissions::from_mode(0o777)).unwrap();
        make(&dir.join("base"), "a").unwrap();
        assert_eq!(fs::metadata(dir.join("base")).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn removing_follows_no_links() {
        let (_keep, dir) = scratch();
        fs::write(dir.join("precious"), "x").unwrap();
        let place = make(&dir.join("base"), "a").unwrap();
        symlink(&dir, place.home.join("out")).unwrap();
        remove(&place.root).unwrap();
        assert!(dir.join("precious").exists());
    }

    #[test]
    fn sockets_fit_below_it() {
        let long = format!("/{}", "x".repeat(80));
        for temporary in [None, Some("/tmp"), Some("relative"), Some(long.as_str())] {
            let folder = base(temporary).join(short_name(&["/state", "T-5.1", "3"])).join("t");
            assert!(folder.as_str().len() <= 60, "{folder}");
            assert!(folder.is_absolute());
        }
    }

    #[test]
    fn names_differ_when_a_part_differs() {
        assert_ne!(short_name(&["/a", "T-1", "11"]), short_name(&["/a", "T-11", "1"]));
        assert_eq!(short_name(&["/a"]), short_name(&["/a"]));
    }
}
