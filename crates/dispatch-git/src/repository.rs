//! The repository: where it is, and what its configuration said when we started.

use std::fs::File;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_core::object::{CommitId, TreeId};
use dispatch_proc::{Links, read_regular};

use crate::configured::Configured;
use crate::git::{FATAL, Git, GitCall, Place, UNSET};
use crate::private_dir::PrivateDir;
use crate::remote::Remote;
use crate::{GitError, Identity, VcsSettings};

/// How long the lock around worktrees and ref deletions is waited for.
const REPOSITORY_LOCK_PATIENCE: Duration = Duration::from_mins(2);

/// The largest file of ignore rules that is used.
const EXCLUDES_MAX_BYTES: u64 = 1 << 20;

/// A repository with a main checkout.
#[derive(Debug)]
pub struct Repository {
    pub(crate) git: Git,
    pub(crate) settings: VcsSettings,
    code_root: Utf8PathBuf,
    common_dir: Utf8PathBuf,
    identity: Option<Identity>,
    excludes: Vec<u8>,
    remote: Option<Remote>,
    object_format: String,
}

/// The main checkout of a repository, and the git directory that all its worktrees share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeRoot {
    /// The main checkout.
    pub path: Utf8PathBuf,
    /// The shared git directory.
    pub common_dir: Utf8PathBuf,
    object_format: String,
}

impl CodeRoot {
    /// The code root of `dir`, one of the person's own folders; from a linked worktree the main checkout.
    pub fn find(git: &Git, dir: &Utf8Path) -> Result<Self, GitError> {
        let (common_dir, object_format) = common_dir_of(git, dir)?;
        let listed = list_worktrees(git.call(dir, &Place::Common { git_dir: &common_dir }))?;
        let mut fields = listed.split(|&byte| byte == 0);
        let main = fields.next().and_then(|field| field.strip_prefix(b"worktree "));
        let bare = fields.next() == Some(b"bare");
        match main.and_then(|path| str::from_utf8(path).ok()) {
            Some(path) if !bare => Ok(Self { path: path.into(), common_dir, object_format }),
            _ => {
                let why = "its main repository is bare or its path is not text".to_owned();
                Err(GitError::NoRepository { dir: dir.to_owned(), why })
            }
        }
    }
}

impl Repository {
    /// The repository of `dir`, one of the person's own folders; from a linked worktree its main checkout.
    pub fn discover(git: Git, settings: VcsSettings, dir: &Utf8Path) -> Result<Self, GitError> {
        let root = CodeRoot::find(&git, dir)?;
        Self::at(git, settings, root)
    }

    /// The repository at a code root that was found.
    ///
    /// Its configuration is read now and once: what somebody writes into it later steers nothing.
    pub fn at(git: Git, settings: VcsSettings, root: CodeRoot) -> Result<Self, GitError> {
        let CodeRoot { path: code_root, common_dir, object_format } = root;
        let place = Place::Common { git_dir: &common_dir };
        let call = |args: &[&str]| git.call(&code_root, &place).args(args);
        let identity = if let Some(identity) = &settings.identity {
            Some(identity.clone())
        } else {
            // Without a name git says so, and only a commit needs one.
            let asked = call(&["var", "GIT_AUTHOR_IDENT"]).optional(FATAL)?;
            asked.as_deref().and_then(|text| Identity::of_ident(without_newline(text)))
        };
        let configured = Configured::read(&call(&[]))?;
        let excludes_file = match configured.last("core.excludesfile") {
            // A path is written in ways that git alone reads.
            Some(_) => call(&["config", "--type=path", "core.excludesFile"])
                .optional(UNSET)?
                .map(|text| without_newline(&text).to_owned()),
            None => None,
        };
        let excludes_file = excludes_file.or_else(|| default_excludes_file(&git));
        let mut excludes = Vec::new();
        for file in [excludes_file.map(Utf8PathBuf::from), Some(common_dir.join("info/exclude"))] {
            // A file that is not there ignores nothing.
            let found =
                file.and_then(|file| read_regular(&file, Links::Followed, EXCLUDES_MAX_BYTES).ok());
            excludes.extend(found.unwrap_or_default());
            excludes.push(b'\n');
        }
        let remote = Remote::read(&call(&[]), &code_root, &configured, &settings)?;
        Ok(Self { git, settings, code_root, common_dir, identity, excludes, remote, object_format })
    }

    /// The main checkout.
    pub fn code_root(&self) -> &Utf8Path {
        &self.code_root
    }

    /// The git directory that all worktrees share.
    pub fn common_dir(&self) -> &Utf8Path {
        &self.common_dir
    }

    /// Where the dispatcher keeps its state (S5).
    pub fn state_dir(&self) -> Utf8PathBuf {
        self.common_dir.join("dispatch")
    }

    /// The remote, as the configuration named it at the start.
    pub fn remote(&self) -> Result<&Remote, GitError> {
        self.remote
            .as_ref()
            .ok_or_else(|| GitError::NoRemote { name: self.settings.remote.clone() })
    }

    /// The author and committer of our commits (V1.7).
    pub fn identity(&self) -> Result<&Identity, GitError> {
        self.identity.as_ref().ok_or(GitError::NoIdentity)
    }

    pub(crate) fn objects(&self) -> Utf8PathBuf {
        self.common_dir.join("objects")
    }

    /// Ignore rules of the person, as they were at the start.
    pub(crate) fn excludes(&self) -> &[u8] {
        &self.excludes
    }

    pub(crate) fn object_format(&self) -> &str {
        &self.object_format
    }

    /// A call on the common repository (V1.2).
    pub(crate) fn common(&self) -> GitCall {
        self.git.call(&self.code_root, &Place::Common { git_dir: &self.common_dir })
    }

    /// The private git directory for what needs no files: comparing, merging and making objects.
    pub(crate) fn plumbing(&self) -> Result<PrivateDir, GitError> {
        PrivateDir::open(self, "objects")
    }

    /// Gives a call our identity (V1.7).
    pub(crate) fn identified(&self, call: GitCall) -> Result<GitCall, GitError> {
        let Identity { name, email } = self.identity()?;
        Ok(call
            .env("GIT_AUTHOR_NAME", name)
            .env("GIT_AUTHOR_EMAIL", email)
            .env("GIT_COMMITTER_NAME", name)
            .env("GIT_COMMITTER_EMAIL", email))
    }

    /// Whether parts of the history are missing here, so that ancestry cannot be told (V2.3).
    pub(crate) fn is_shallow(&self) -> bool {
        self.common_dir.join("shallow").exists()
    }

    /// The commit a ref of the common repository points at.
    pub(crate) fn commit_at(&self, name: &str) -> Result<Option<CommitId>, GitError> {
        let call = self
            .common()
            .args(["rev-parse", "--verify", "--quiet", "--end-of-options"])
            .arg(format!("{name}^{{commit}}"));
        let finished = call.run()?;
        match finished.ended {
            dispatch_proc::Ended::Exit(0) => {
                let text = String::from_utf8_lossy(&finished.stdout);
                CommitId::parse(text.trim()).map(Some).map_err(|e| call.answer(e.to_string()))
            }
            dispatch_proc::Ended::Exit(1) => Ok(None),
            _ => Err(call.refusal(&finished)),
        }
    }

    /// The tree of a commit.
    pub(crate) fn tree_of(&self, commit: &CommitId) -> Result<TreeId, GitError> {
        let call = self
            .common()
            .args(["rev-parse", "--verify", "--end-of-options"])
            .arg(format!("{commit}^{{tree}}"));
        TreeId::parse(&call.line()?).map_err(|error| call.answer(error.to_string()))
    }

    /// Takes the lock around worktree changes and ref deletions (V1.6); it ends with what is answered.
    pub(crate) fn lock(&self) -> Result<File, GitError> {
        let dir = self.state_dir().join("git");
        make_private_folder(&self.state_dir())?;
        make_private_folder(&dir)?;
        let path = dir.join("repository.lock");
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(GitError::file("open the lock", &path))?;
        let began = Instant::now();
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(lock),
                Err(std::fs::TryLockError::WouldBlock) => {
                    if began.elapsed() > REPOSITORY_LOCK_PATIENCE {
                        let seconds = REPOSITORY_LOCK_PATIENCE.as_secs();
                        return Err(GitError::Locked { path, seconds });
                    }
                    std::thread::sleep(Duration::from_millis(20));
                }
                Err(std::fs::TryLockError::Error(source)) => {
                    return Err(GitError::File { doing: "take the lock", path, source });
                }
            }
        }
    }
}

/// The common git directory of the repository that holds `dir`, absolute, and the format of its objects.
fn common_dir_of(git: &Git, dir: &Utf8Path) -> Result<(Utf8PathBuf, String), GitError> {
    let call = git.call(dir, &Place::Discovered).args([
        "rev-parse",
        "--path-format=absolute",
        "--git-common-dir",
        "--show-object-format",
    ]);
    match call.line() {
        // The path may be of more than one line.
        Ok(lines) => match lines.rsplit_once('\n') {
            Some((path, format)) => Ok((path.into(), format.to_owned())),
            None => Err(call.answer(format!("`{lines}` alone"))),
        },
        Err(GitError::Refused { stderr, .. }) => {
            let why = stderr.trim().to_owned();
            Err(GitError::NoRepository { dir: dir.to_owned(), why })
        }
        Err(error) => Err(error),
    }
}

fn without_newline(text: &str) -> &str {
    text.strip_suffix('\n').unwrap_or(text)
}

/// git's own list of worktrees. It fails beside another process that is adding one, so it is asked again.
pub(crate) fn list_worktrees(call: GitCall) -> Result<Vec<u8>, GitError> {
    let call = call.args(["worktree", "list", "--porcelain", "-z"]);
    let mut tries = 0;
    loop {
        match call.output() {
            Err(GitError::Refused { stderr, .. })
                if stderr.contains("failed to read") && tries < 40 =>
            {
                tries += 1;
                std::thread::sleep(Duration::from_millis(50));
            }
            result => return result,
        }
    }
}

/// Where git looks for ignore rules when nothing is configured.
fn default_excludes_file(git: &Git) -> Option<String> {
    let value = |name: &str| git.variable(name).filter(|value| !value.is_empty());
    match (value("XDG_CONFIG_HOME"), value("HOME")) {
        (Some(config), _) => Some(format!("{config}/git/ignore")),
        (None, Some(home)) => Some(format!("{home}/.config/git/ignore")),
        (None, None) => None,
    }
}

/// Makes a folder only we can look into.
pub(crate) fn make_private_folder(path: &Utf8Path) -> Result<(), GitError> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(GitError::file("make the folder", path))
}

/// Makes a folder as everybody makes them.
pub(crate) fn make_folder(path: &Utf8Path) -> Result<(), GitError> {
    std::fs::create_dir_all(path).map_err(GitError::file("make the folder", path))
}
