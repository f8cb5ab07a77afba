//! Folders that are ours alone.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};

use camino::Utf8Path;

use crate::regular::{Links, open_regular, read_regular};

const MODE: u32 = 0o700;
/// What keeps everything in a folder out of git.
const IGNORE: &[u8] = b"*\n";

/// Makes a folder that only its owner may enter, with its missing parents.
///
/// # Errors
///
/// As making one fails; a link in its place is refused, since it would let whoever planted it choose where our records
/// and logs go.
pub fn make_private_dir(dir: &Utf8Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(MODE).create(dir)?;
    let found = fs::symlink_metadata(dir)?;
    if !found.is_dir() {
        let why = "it is not a directory of its own";
        return Err(io::Error::new(ErrorKind::NotADirectory, why));
    }
    if found.permissions().mode() & 0o777 != MODE {
        fs::set_permissions(dir, Permissions::from_mode(MODE))?;
    }
    Ok(())
}

/// Makes a private folder of which no commit ever takes anything along.
///
/// # Errors
///
/// As [`make_private_dir`] fails, and when the file that keeps git out cannot be read or written.
pub fn make_ignored_dir(dir: &Utf8Path) -> io::Result<()> {
    make_private_dir(dir)?;
    let ignore = dir.join(".gitignore");
    match read_regular(&ignore, Links::Refused, IGNORE.len() as u64) {
        Ok(found) if found == IGNORE => return Ok(()),
        Ok(_) => {}
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidInput) => {}
        Err(error) => return Err(error),
    }
    let mut how = OpenOptions::new();
    open_regular(&ignore, Links::Refused, how.write(true).create(true).truncate(true))?
        .write_all(IGNORE)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use camino::Utf8PathBuf;
    use tempfile::TempDir;

    use super::*;

    fn place() -> (TempDir, Utf8PathBuf) {
        let guard = TempDir::new().unwrap();
        let root = Utf8PathBuf::from_path_buf(guard.path().to_owned()).unwrap();
        (guard, root)
    }

    #[test]
    fn an_ignored_folder_is_private_and_what_git_must_not_see_is_repaired() {
        let (_guard, root) = place();
        let dir = root.join("a/b");
        make_ignored_dir(&dir).unwrap();
        fs::set_permissions(&dir, Permissions::from_mode(0o755)).unwrap();
        fs::write(dir.join(".gitignore"), "nothing of all this").unwrap();
        make_ignored_dir(&dir).unwrap();
        assert_eq!(fs::metadata(&dir).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(fs::read(dir.join(".gitignore")).unwrap(), IGNORE);
    }

    #[test]
    fn a_link_in_the_place_of_the_folder_or_of_its_ignore_file_is_refused() {
        let (_guard, root) = place();
        let (elsewhere, link) = (root.join("elsewhere"), root.join("link"));
        fs::create_dir(&elsewhere).unwrap();
        symlink(&elsewhere, &link).unwrap();
        assert!(make_ignored_dir(&link).is_err());
        let (dir, precious) = (root.join("dir"), root.join("precious"));
        fs::create_dir(&dir).unwrap();
        fs::write(&precious, "mine").unwrap();
        symlink(&precious, dir.join(".gitignore")).unwrap();
        assert!(make_ignored_dir(&dir).is_err());
        assert_eq!(fs::read_to_string(&precious).unwrap(), "mine");
    }
}
