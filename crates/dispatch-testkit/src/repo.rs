//! A repository to dispatch in, and the bare one it pushes to.
//!
//! ```no_run
//! use dispatch_testkit::{programs, repo::Repo};
//!
//! for git in programs::gits() {
//!     let repo = Repo::new(&git);
//!     repo.write("src/lib.rs", "//! Nothing.\n");
//!     repo.commit("feat: begin");
//!     repo.push();
//!     assert_eq!(repo.remote_branches().keys().collect::<Vec<_>>(), ["main"]);
//! }
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};

use crate::programs;
use crate::scratch::Scratch;

/// A scratch folder with a checkout in `code`, its bare remote in `remote.git` and an empty `home`.
///
/// The branch is `main`, its first commit holds a README, and it is pushed. The committer's identity is in the
/// repository's own configuration; neither the machine's nor the person's git settings are read.
#[derive(Debug)]
pub struct Repo {
    scratch: Scratch,
    code: Utf8PathBuf,
    git: Utf8PathBuf,
}

impl Repo {
    /// Makes both repositories with the given `git`.
    pub fn new(git: &Utf8Path) -> Self {
        Self::named(git, "code")
    }

    /// As [`new`](Self::new), with the checkout in a folder of this name.
    pub fn named(git: &Utf8Path, name: &str) -> Self {
        let scratch = Scratch::new();
        let code = scratch.root().join(name);
        let repo = Self { scratch, code, git: git.to_owned() };
        let (code, remote) = (repo.code(), repo.remote());
        repo.git_in(
            repo.root(),
            &["init", "--quiet", "--bare", "--initial-branch=main", remote.as_str()],
        );
        repo.git_in(repo.root(), &["init", "--quiet", "--initial-branch=main", code.as_str()]);
        repo.git(&["config", "user.name", "Test Person"]);
        repo.git(&["config", "user.email", "person@example.org"]);
        repo.git(&["remote", "add", "origin", remote.as_str()]);
        repo.write("README.md", "# Widgets\n");
        repo.commit("docs: begin");
        repo.push();
        repo
    }

    /// The scratch folder.
    pub fn root(&self) -> &Utf8Path {
        self.scratch.root()
    }

    /// The empty home.
    pub fn home(&self) -> Utf8PathBuf {
        self.scratch.home()
    }

    /// The checkout.
    pub fn code(&self) -> Utf8PathBuf {
        self.code.clone()
    }

    /// The bare repository.
    pub fn remote(&self) -> Utf8PathBuf {
        self.root().join("remote.git")
    }

    /// The `git` program in use.
    pub fn git_program(&self) -> &Utf8Path {
        &self.git
    }

    /// A git command in `dir`, hermetic, not yet run.
    pub fn git_command(&self, dir: &Utf8Path, args: &[&str]) -> Command {
        let mut command = programs::command(&self.git, &self.home());
        command.args(args).current_dir(dir);
        command
    }

    /// Runs git in `dir` and returns its output without the last newline.
    ///
    /// # Panics
    ///
    /// When git refuses.
    #[track_caller]
    pub fn git_in(&self, dir: &Utf8Path, args: &[&str]) -> String {
        programs::read(&mut self.git_command(dir, args)).trim_end_matches('\n').to_owned()
    }

    /// Runs git in the checkout.
    #[track_caller]
    pub fn git(&self, args: &[&str]) -> String {
        self.git_in(&self.code(), args)
    }

    /// Writes a file of the checkout, with its folders.
    pub fn write(&self, path: &str, content: &str) {
        write(&self.code().join(path), content);
    }

    /// Writes an executable file of the checkout.
    pub fn write_program(&self, path: &str, content: &str) {
        let path = self.code().join(path);
        write(&path, content);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Commits everything in the checkout and returns the commit.
    #[track_caller]
    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Pushes the current branch to the bare repository, whatever `origin` says.
    #[track_caller]
    pub fn push(&self) {
        let remote = self.remote();
        self.git(&["push", "--quiet", remote.as_str(), "HEAD"]);
    }

    /// The branches of the bare repository and their commits.
    pub fn remote_branches(&self) -> BTreeMap<String, String> {
        let format = "--format=%(refname:strip=2) %(objectname)";
        let listed = self.git_in(&self.remote(), &["for-each-ref", format, "refs/heads"]);
        let pairs = listed.lines().filter_map(|line| line.split_once(' '));
        pairs.map(|(name, commit)| (name.to_owned(), commit.to_owned())).collect()
    }

    /// The text of a file at a branch of the bare repository, if both exist.
    pub fn remote_file(&self, branch: &str, path: &str) -> Option<String> {
        let object = format!("refs/heads/{branch}:{path}");
        let remote = self.remote();
        let output =
            programs::output(&mut self.git_command(&remote, &["cat-file", "blob", &object]));
        output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
    }

    /// The paths that `branch` of the bare repository changes against `base`.
    #[track_caller]
    pub fn remote_changes(&self, base: &str, branch: &str) -> Vec<String> {
        let range = format!("refs/heads/{base}...refs/heads/{branch}");
        let listed = self.git_in(&self.remote(), &["diff", "--name-only", "--no-renames", &range]);
        listed.lines().map(str::to_owned).collect()
    }

    /// Somebody else commits a file on `branch` of the bare repository and pushes; returns the commit. A missing
    /// branch is made from `main`.
    #[track_caller]
    pub fn someone_pushes(&self, branch: &str, path: &str, content: &str) -> String {
        let dir = tempfile::tempdir_in(self.root()).unwrap();
        let clone = Utf8Path::from_path(dir.path()).unwrap().join("clone");
        let remote = self.remote();
        self.git_in(self.root(), &["clone", "--quiet", remote.as_str(), clone.as_str()]);
        let start = if self.remote_branches().contains_key(branch) { branch } else { "main" };
        self.git_in(&clone, &["checkout", "--quiet", "-B", branch, &format!("origin/{start}")]);
        write(&clone.join(path), content);
        self.git_in(&clone, &["add", "--all"]);
        let identity = ["-c", "user.name=Someone Else", "-c", "user.email=else@example.org"];
        let commit = ["commit", "--quiet", "-m", "feat: somebody else's work"];
        self.git_in(&clone, &[identity.as_slice(), commit.as_slice()].concat());
        self.git_in(&clone, &["push", "--quiet", "origin", &format!("HEAD:refs/heads/{branch}")]);
        self.git_in(&clone, &["rev-parse", "HEAD"])
    }

    /// Makes `origin` look like `slug` (`owner/name`) on GitHub while git still reaches the bare repository: the URL is
    /// an ssh one, and the program that stands in for ssh runs git's own servers here. Returns that program, for a
    /// configuration that names one; the checkout's `core.sshCommand` is set to it.
    pub fn pose_as_github(&self, slug: &str) -> Utf8PathBuf {
        let program = self.root().join("ssh-stand-in");
        let remote = self.remote();
        // The last argument is git's: `git-upload-pack '<path>'` or `git-receive-pack '<path>'`.
        let script = format!(
            "#!/bin/sh\nfor last; do :; done\ncase \"$last\" in\n\
             git-upload-pack*) exec '{git}' upload-pack '{remote}' ;;\n\
             git-receive-pack*) exec '{git}' receive-pack '{remote}' ;;\n\
             esac\necho \"refused: $last\" >&2\nexit 1\n",
            git = self.git
        );
        write(&program, &script);
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        self.git(&["remote", "set-url", "origin", &format!("git@github.com:{slug}.git")]);
        self.git(&["config", "core.sshCommand", program.as_str()]);
        program
    }
}

fn write(path: &Utf8Path, content: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap_or_else(|error| panic!("could not write `{path}`: {error}"));
}
