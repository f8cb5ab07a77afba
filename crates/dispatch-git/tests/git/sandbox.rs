//! A remote, a person's clone of it, and a repository opened on that.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_core::branch::BranchName;
use dispatch_core::object::{CommitId, TreeId};
use dispatch_core::slot::SlotName;
use dispatch_engine::ports::SlotPlace;
use dispatch_git::{Git, Identity, Ownership, Repository, VcsSettings, Who};
use dispatch_proc::{Call, Finished, run};

pub(crate) struct Sandbox {
    pub(crate) git: Utf8PathBuf,
    _keep: tempfile::TempDir,
    pub(crate) root: Utf8PathBuf,
    pub(crate) code_root: Utf8PathBuf,
    pub(crate) remote: Utf8PathBuf,
    pub(crate) env: Vec<(OsString, OsString)>,
}

/// The gits to test with: that on the path, and the system's when it is another.
pub(crate) fn gits() -> Vec<Utf8PathBuf> {
    let path = std::env::var_os("PATH").unwrap();
    let first = dispatch_proc::find_program("git", Some(&path), "/".into()).unwrap();
    let system = Utf8PathBuf::from("/usr/bin/git");
    let second = (system != first && system.exists()).then_some(system);
    std::iter::once(first).chain(second).collect()
}

/// Runs a test with each git.
pub(crate) fn with_each_git(test: impl Fn(&Sandbox)) {
    for git in gits() {
        test(&Sandbox::new(git));
    }
}

impl Sandbox {
    pub(crate) fn new(git: Utf8PathBuf) -> Self {
        Self::below(git, "plain")
    }

    /// The same below a folder of another name.
    pub(crate) fn below(git: Utf8PathBuf, name: &str) -> Self {
        let keep = tempfile::tempdir().unwrap();
        let root =
            Utf8PathBuf::from_path_buf(keep.path().canonicalize().unwrap()).unwrap().join(name);
        fs::create_dir_all(root.join("home")).unwrap();
        let env = vec![
            ("PATH".into(), std::env::var_os("PATH").unwrap()),
            ("HOME".into(), root.join("home").into_string().into()),
        ];
        let sandbox = Self {
            git,
            _keep: keep,
            code_root: root.join("code"),
            remote: root.join("remote.git"),
            root,
            env,
        };
        sandbox.git(&sandbox.root, &["config", "--global", "user.name", "A Person"]);
        sandbox.git(&sandbox.root, &["config", "--global", "user.email", "person@example.org"]);
        sandbox.git(&sandbox.root, &["config", "--global", "protocol.file.allow", "always"]);
        sandbox.git(&sandbox.root, &["init", "-q", "--bare", "-b", "main", "remote.git"]);
        sandbox.git(&sandbox.root, &["init", "-q", "-b", "main", "code"]);
        let remote = sandbox.remote.clone();
        sandbox.at(&["remote", "add", "origin", remote.as_str()]);
        sandbox.write("README.md", "read me\n");
        sandbox.write("src/lib.rs", "one\ntwo\nthree\n");
        sandbox.write(".gitignore", "*.log\n/target/\n/node_modules/\n/.claude/\n");
        sandbox.write("backlog/tasks/t-1.md", "task one\n");
        sandbox.at(&["add", "-A"]);
        sandbox.at(&["commit", "-q", "-m", "first"]);
        sandbox.at(&["push", "-q", "-u", "origin", "main"]);
        sandbox
    }

    pub(crate) fn try_git(&self, dir: impl AsRef<Utf8Path>, args: &[&str]) -> Finished {
        let call = Call::new(&self.git, dir.as_ref(), Duration::from_mins(2))
            .args(args)
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .env("LC_ALL", "C");
        run(&call).unwrap()
    }

    /// Plain git, as a person runs it.
    pub(crate) fn git(&self, dir: impl AsRef<Utf8Path>, args: &[&str]) -> String {
        let finished = self.try_git(dir, args);
        assert!(finished.is_success(), "{}", finished.failure(&args.join(" ")));
        String::from_utf8_lossy(&finished.stdout).trim_end().to_owned()
    }

    /// Plain git in the code root.
    pub(crate) fn at(&self, args: &[&str]) -> String {
        self.git(&self.code_root, args)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        write(&self.code_root.join(path), text);
    }

    pub(crate) fn commit_file(&self, path: &str, text: &str, message: &str) -> CommitId {
        self.write(path, text);
        self.at(&["add", "-f", path]);
        self.at(&["commit", "-q", "-m", message]);
        self.commit("HEAD")
    }

    pub(crate) fn commit(&self, name: &str) -> CommitId {
        CommitId::parse(&self.at(&["rev-parse", &format!("{name}^{{commit}}")])).unwrap()
    }

    pub(crate) fn tree(&self, name: &str) -> TreeId {
        TreeId::parse(&self.at(&["rev-parse", &format!("{name}^{{tree}}")])).unwrap()
    }

    pub(crate) fn settings(&self) -> VcsSettings {
        VcsSettings {
            remote: "origin".into(),
            identity: Some(Identity {
                name: "dispatch".into(),
                email: "dispatch@example.org".into(),
            }),
            ssh_command: None,
            filters: Vec::new(),
            slots_root: self.code_root.join(".claude/worktrees"),
            board_dir: self.code_root.join("backlog"),
            ownership: Ownership::Lease,
            who: Who { host: "here".into(), user: "me".into() },
        }
    }

    pub(crate) fn program(&self) -> Git {
        Git::new(&self.git, self.env.clone())
    }

    pub(crate) fn repository(&self) -> Repository {
        self.repository_with(self.settings())
    }

    pub(crate) fn repository_with(&self, settings: VcsSettings) -> Repository {
        Repository::discover(self.program(), settings, &self.code_root).unwrap()
    }

    pub(crate) fn slot(&self, name: &str) -> SlotPlace {
        SlotPlace {
            name: SlotName::parse(name).unwrap(),
            path: self.code_root.join(".claude/worktrees").join(name),
        }
    }

    /// Every path in a tree, escaped.
    pub(crate) fn listed(&self, tree: &TreeId) -> Vec<String> {
        let finished =
            self.try_git(&self.code_root, &["ls-tree", "-r", "-z", "--name-only", tree.as_str()]);
        let paths = finished.stdout.split(|&byte| byte == 0).filter(|path| !path.is_empty());
        paths.map(|path| path.escape_ascii().to_string()).collect()
    }

    pub(crate) fn show(&self, tree: &TreeId, path: &str) -> String {
        self.at(&["cat-file", "blob", &format!("{tree}:{path}")])
    }
}

pub(crate) fn write(path: &Utf8Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

pub(crate) fn bytes_path(root: &Utf8Path, name: &[u8]) -> PathBuf {
    root.as_std_path().join(OsStr::from_bytes(name))
}

pub(crate) fn branch(name: &str) -> BranchName {
    BranchName::parse(name).unwrap()
}

pub(crate) fn executable(path: &Utf8Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    write(path, text);
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
