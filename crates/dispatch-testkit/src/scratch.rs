//! A folder that is there for one test.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use tempfile::TempDir;

/// A new folder without symbolic links in its path, holding an empty `home`; removed when dropped.
#[derive(Debug)]
pub struct Scratch {
    _dir: TempDir,
    root: Utf8PathBuf,
}

impl Scratch {
    /// Makes the folder.
    pub fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("dispatch-").tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap().canonicalize_utf8().unwrap();
        fs::create_dir(root.join("home")).unwrap();
        Self { _dir: dir, root }
    }

    /// The folder.
    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// A home without any settings.
    pub fn home(&self) -> Utf8PathBuf {
        self.root.join("home")
    }

    /// Makes the folder `name` below the root, if it is not there.
    pub fn dir(&self, name: &str) -> Utf8PathBuf {
        let dir = self.root.join(name);
        fs::create_dir_all(&dir).unwrap_or_else(|error| panic!("could not make `{dir}`: {error}"));
        dir
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}
