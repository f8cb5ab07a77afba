//! Git directories of ours over the common object store (V1.3).
//!
//! What a worker planted in a slot, in its git directory or in the common configuration is not read here: this
//! directory has its own configuration, index and ignore rules, and no hooks, drivers or remotes. Objects are
//! written into the common store, so that refs and pushes find them.

use std::io::Write as _;

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_proc::{Links, read_regular};

use crate::git::{GitCall, Place};
use crate::repository::make_private_folder;
use crate::{GitError, Repository};

/// A private git directory.
#[derive(Debug, Clone)]
pub(crate) struct PrivateDir {
    git_dir: Utf8PathBuf,
}

impl PrivateDir {
    /// Opens the one called `name`, making it when there is none.
    pub(crate) fn open(repository: &Repository, name: &str) -> Result<Self, GitError> {
        let parent = repository.state_dir().join("git");
        make_private_folder(&repository.state_dir())?;
        make_private_folder(&parent)?;
        let git_dir = parent.join(format!("{name}.git"));
        for folder in ["", "objects", "refs", "info"] {
            make_private_folder(&git_dir.join(folder))?;
        }
        let dir = Self { git_dir };
        dir.write("config", configuration(repository.object_format()).as_bytes())?;
        dir.write("HEAD", b"ref: refs/heads/none\n")?;
        dir.write("info/exclude", repository.excludes())?;
        Ok(dir)
    }

    /// Writes a file of it whole, unless it is as it should be already.
    pub(crate) fn write(&self, name: &str, content: &[u8]) -> Result<(), GitError> {
        let path = self.git_dir.join(name);
        let found = read_regular(&path, Links::Refused, content.len() as u64);
        if found.is_ok_and(|found| found == content) {
            return Ok(());
        }
        // Several supervisors use the same directory at once: each writes a file of its own name.
        let folder = path.parent().unwrap_or(&self.git_dir);
        let mut fresh = tempfile::NamedTempFile::new_in(folder)
            .map_err(GitError::file("write below", folder))?;
        fresh.write_all(content).map_err(GitError::file("write", &path))?;
        fresh.persist(&path).map_err(|error| GitError::file("write", &path)(error.error))?;
        Ok(())
    }

    pub(crate) fn path(&self) -> &Utf8Path {
        &self.git_dir
    }

    /// The index of the files last checked out from here.
    pub(crate) fn index(&self) -> Utf8PathBuf {
        self.git_dir.join("index")
    }

    /// A call that needs no files.
    pub(crate) fn call(&self, repository: &Repository) -> GitCall {
        let objects = repository.objects();
        let place = Place::Private { git_dir: &self.git_dir, objects: &objects };
        repository.git.call(&self.git_dir, &place)
    }

    /// A call on the files of `work_tree`, with the index `index`.
    pub(crate) fn call_on(
        &self,
        repository: &Repository,
        work_tree: &Utf8Path,
        index: &Utf8Path,
    ) -> GitCall {
        let objects = repository.objects();
        let place = Place::Private { git_dir: &self.git_dir, objects: &objects };
        let mut call = repository
            .git
            .call(work_tree, &place)
            .env("GIT_WORK_TREE", work_tree)
            .env("GIT_INDEX_FILE", index)
            .args(["-c", "core.bare=false"]);
        for (name, value) in filter_settings(repository) {
            call = call.arg("-c").arg(format!("{name}={value}"));
        }
        call
    }
}

/// Git's own names must be storable, or one file called `git~1` would keep a whole tree from being saved;
/// nothing here is ever checked out on another system.
fn configuration(object_format: &str) -> String {
    let (version, extensions) = match object_format {
        "sha1" => (0, String::new()),
        other => (1, format!("[extensions]\n\tobjectFormat = {other}\n")),
    };
    format!(
        "[core]\n\trepositoryFormatVersion = {version}\n\tbare = true\n\tfileMode = true\n\tsymlinks = true\n\t\
         ignoreCase = false\n\ttrustCtime = true\n\tcheckStat = default\n\tautocrlf = false\n\tsafecrlf = false\n\t\
         protectNTFS = false\n\tprotectHFS = false\n\tprecomposeUnicode = false\n\tuntrackedCache = false\n\t\
         logAllRefUpdates = false\n\texcludesFile = /dev/null\n\tattributesFile = /dev/null\n\tlooseCompression = 1\n{extensions}"
    )
}

/// The command lines of the filters that may run.
fn filter_settings(repository: &Repository) -> Vec<(String, String)> {
    let mut settings = Vec::new();
    for filter in &repository.settings.filters {
        if filter == "lfs" {
            let storage = repository.common_dir().join("lfs");
            settings.extend([
                ("filter.lfs.clean".to_owned(), "git-lfs clean -- %f".to_owned()),
                ("filter.lfs.smudge".to_owned(), "git-lfs smudge -- %f".to_owned()),
                ("filter.lfs.process".to_owned(), "git-lfs filter-process".to_owned()),
                ("filter.lfs.required".to_owned(), "true".to_owned()),
                ("lfs.storage".to_owned(), storage.into_string()),
            ]);
        }
    }
    settings
}
