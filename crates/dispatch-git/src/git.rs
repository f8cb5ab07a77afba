//! The one function that builds git command lines (V1).

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_proc::{Call, Ended, Finished, Sink, Stdin};

use crate::GitError;

/// What a call on the local repository may take: writing a large tree on a slow disk.
pub(crate) const LOCAL_LIMIT: Duration = Duration::from_mins(9);
/// How long a lock held by somebody else is waited for (V1.6).
const LOCK_PATIENCE: Duration = Duration::from_secs(10);

/// How `git config` ends when nothing is set under a name.
pub(crate) const UNSET: i32 = 1;
/// How git ends when it cannot do what it was asked for.
pub(crate) const FATAL: i32 = 128;

/// Settings given to every call; each closes a way in which planted configuration runs a program.
const HARDENING: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "log.showSignature=false",
    "diff.external=",
    "submodule.recurse=false",
    "core.alternateRefsCommand=",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.ext.allow=never",
    "safe.bareRepository=explicit",
    "core.quotePath=true",
    "i18n.commitEncoding=UTF-8",
    "i18n.logOutputEncoding=UTF-8",
    "advice.detachedHead=false",
];

/// git, and what every call of it is given.
#[derive(Debug, Clone)]
pub struct Git {
    program: Utf8PathBuf,
    /// The person's environment without what steers git.
    env: BTreeMap<OsString, OsString>,
}

impl Git {
    /// The git of `program`, a path or a name on `PATH`, run with the person's environment `env`.
    pub fn new(
        program: impl Into<Utf8PathBuf>,
        env: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        let env =
            env.into_iter().filter(|(name, _)| !name.as_bytes().starts_with(b"GIT_")).collect();
        Self { program: program.into(), env }
    }

    /// A variable of the person's environment.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.env.get(OsStr::new(name))?.to_str()
    }

    /// A hardened call in `dir` of the repository that `place` names.
    pub(crate) fn call(&self, dir: &Utf8Path, place: &Place<'_>) -> GitCall {
        let mut call = Call::new(&self.program, dir, LOCAL_LIMIT)
            .envs(&self.env)
            .env("LC_ALL", "C")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_ASKPASS", "")
            .env("GIT_PAGER", "cat")
            .env("GIT_EDITOR", ":")
            .env("GIT_SEQUENCE_EDITOR", ":")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_LITERAL_PATHSPECS", "1")
            // Nothing but a call on the remote may fetch, not even lazily.
            .env("GIT_ALLOW_PROTOCOL", "none");
        for setting in HARDENING {
            call = call.arg("-c").arg(setting);
        }
        call = match place {
            Place::Discovered => call,
            Place::Common { git_dir } => call.env("GIT_DIR", git_dir),
            Place::Linked { git_dir, common_dir, work_tree } => call
                .env("GIT_DIR", git_dir)
                .env("GIT_COMMON_DIR", common_dir)
                .env("GIT_WORK_TREE", work_tree),
            Place::Main { git_dir, work_tree } => {
                call.env("GIT_DIR", git_dir).env("GIT_WORK_TREE", work_tree)
            }
            Place::Private { git_dir, objects } => private(call, git_dir, objects),
        };
        GitCall { call, hidden: Vec::new() }
    }
}

/// The environment of a private git directory: no configuration but its own is read.
fn private(call: Call, git_dir: &Utf8Path, objects: &Utf8Path) -> Call {
    call.env("GIT_DIR", git_dir)
        .env("GIT_OBJECT_DIRECTORY", objects)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_ATTR_NOSYSTEM", "1")
        .arg("-c")
        .arg("core.attributesFile=/dev/null")
}

/// Which repository a call is about. Only [`Place::Discovered`] lets git look for one.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place<'a> {
    /// The one the folder belongs to: for the person's own folders, never a slot.
    Discovered,
    /// The common repository, for its refs, worktrees and remote.
    Common { git_dir: &'a Utf8Path },
    /// The main checkout.
    Main { git_dir: &'a Utf8Path, work_tree: &'a Utf8Path },
    /// The administrative folder of a slot.
    Linked { git_dir: &'a Utf8Path, common_dir: &'a Utf8Path, work_tree: &'a Utf8Path },
    /// A git directory of ours over the common object store (V1.3).
    Private { git_dir: &'a Utf8Path, objects: &'a Utf8Path },
}

/// A git command line being built.
#[derive(Debug, Clone)]
pub(crate) struct GitCall {
    call: Call,
    /// Texts, such as credentials in an address, that appear in no message.
    hidden: Vec<String>,
}

impl GitCall {
    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.call = self.call.arg(arg);
        self
    }

    pub(crate) fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.call = self.call.args(args);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.call = self.call.env(name, value);
        self
    }

    /// Lets pathspecs carry magic; the caller writes them.
    pub(crate) fn magic_pathspecs(mut self) -> Self {
        self.call.env.remove(OsStr::new("GIT_LITERAL_PATHSPECS"));
        self
    }

    pub(crate) fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.call.stdin = Stdin::Bytes(bytes.into());
        self
    }

    pub(crate) fn stdout_max_bytes(mut self, max_bytes: usize) -> Self {
        self.call.stdout = Sink::Memory { max_bytes };
        self
    }

    pub(crate) fn stdout_to(mut self, path: &Utf8Path) -> Self {
        self.call.stdout = Sink::File(path.to_owned());
        self
    }

    pub(crate) fn limit(mut self, limit: Duration) -> Self {
        self.call.limit = limit;
        self
    }

    pub(crate) fn hiding(mut self, text: Option<String>) -> Self {
        self.hidden.extend(text.filter(|text| !text.is_empty()));
        self
    }

    /// The subcommand and its arguments as a person would type them, without our settings.
    pub(crate) fn shown(&self) -> String {
        let mut shown = self.call.clone();
        let mut args = shown.args.into_iter();
        let mut kept = Vec::new();
        while let Some(arg) = args.next() {
            if arg == "-c" && kept.is_empty() {
                args.next();
            } else {
                kept.push(arg);
            }
        }
        shown.args = kept;
        shown.program = "git".into();
        self.without_hidden(&shown.shown())
    }

    fn without_hidden(&self, text: &str) -> String {
        self.hidden.iter().fold(text.to_owned(), |text, hidden| text.replace(hidden, ""))
    }

    /// Runs it to its end, whatever that is.
    pub(crate) fn run(&self) -> Result<Finished, GitError> {
        let began = Instant::now();
        let mut pause = Duration::from_millis(50);
        let patience = LOCK_PATIENCE.min(self.call.limit);
        loop {
            let finished = dispatch_proc::run(&self.call)
                .map_err(|source| GitError::Proc { command: self.shown(), source })?;
            if finished.is_success()
                || !meets_a_lock(&finished.stderr)
                || began.elapsed() > patience
            {
                return Ok(finished);
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_secs(1));
        }
    }

    /// The refusal that `finished` is.
    pub(crate) fn refusal(&self, finished: &Finished) -> GitError {
        GitError::Refused {
            command: self.shown(),
            ended: finished.ended,
            stderr: self.without_hidden(&finished.stderr_text()),
        }
    }

    /// Runs it and answers its output, all of it.
    pub(crate) fn output(&self) -> Result<Vec<u8>, GitError> {
        let finished = self.run()?;
        self.output_of(finished)
    }

    /// The same of a question whose answer may be that there is no such thing: git says that by ending with status `none`,
    /// and by no other failure.
    pub(crate) fn optional(&self, none: i32) -> Result<Option<String>, GitError> {
        let finished = self.run()?;
        if finished.ended == Ended::Exit(none) {
            return Ok(None);
        }
        let bytes = self.output_of(finished)?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn output_of(&self, finished: Finished) -> Result<Vec<u8>, GitError> {
        if !finished.is_success() {
            return Err(self.refusal(&finished));
        }
        if finished.stdout_dropped_bytes > 0 {
            let dropped = finished.stdout_dropped_bytes;
            return Err(self.answer(format!("{dropped} bytes too many")));
        }
        Ok(finished.stdout)
    }

    /// Runs it and answers its output as text without the newline at its end.
    pub(crate) fn line(&self) -> Result<String, GitError> {
        let bytes = self.output()?;
        let text = String::from_utf8(bytes).map_err(|_| self.answer("no UTF-8 text"))?;
        Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
    }

    /// Runs it and tells status 0 from status 1.
    pub(crate) fn yes_or_no(&self) -> Result<bool, GitError> {
        let finished = self.run()?;
        match finished.ended {
            Ended::Exit(0) => Ok(true),
            Ended::Exit(1) => Ok(false),
            Ended::Exit(_) | Ended::Signal(_) | Ended::TimedOut | Ended::Stopped => {
                Err(self.refusal(&finished))
            }
        }
    }

    /// An error about an answer that cannot be read.
    pub(crate) fn answer(&self, what: impl Into<String>) -> GitError {
        GitError::Answer { command: self.shown(), what: what.into() }
    }
}

/// Whether git gave up because somebody holds one of its locks; it then did nothing.
fn meets_a_lock(stderr: &[u8]) -> bool {
    let text = String::from_utf8_lossy(stderr);
    text.contains(".lock': File exists")
        || text.contains("could not lock config file") && text.contains("File exists")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call() -> GitCall {
        let env = [("GIT_DIR", "/elsewhere"), ("GIT_INDEX_FILE", "/x"), ("HOME", "/home/p")]
            .map(|(name, value)| (name.into(), value.into()));
        Git::new("git", env).call("/".into(), &Place::Common { git_dir: "/repo/.git".into() })
    }

    #[test]
    fn v1_1_no_inherited_variable_steers_git_and_the_persons_other_ones_stay() {
        let call = call().call;
        let value =
            |name: &str| call.env.get(OsStr::new(name)).map(|value| value.to_str().unwrap());
        assert_eq!(value("GIT_DIR"), Some("/repo/.git"));
        assert_eq!(value("GIT_INDEX_FILE"), None);
        assert_eq!(value("HOME"), Some("/home/p"));
        for (name, expected) in [
            ("LC_ALL", "C"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_PAGER", "cat"),
            ("GIT_EDITOR", ":"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            ("GIT_OPTIONAL_LOCKS", "0"),
        ] {
            assert_eq!(value(name), Some(expected), "{name}");
        }
    }

    #[test]
    fn v1_5_messages_show_the_command_without_our_settings_and_without_credentials() {
        let call =
            call().arg("fetch").arg("https://me:s3cret@host/r").hiding(Some("me:s3cret@".into()));
        assert_eq!(call.shown(), "git fetch https://host/r");
    }

    #[test]
    fn v1_6_only_a_held_lock_is_waited_for() {
        let held = "fatal: Unable to create '/r/.git/index.lock': File exists.\n\nAnother git";
        assert!(meets_a_lock(held.as_bytes()));
        assert!(meets_a_lock(b"error: could not lock config file .git/config: File exists"));
        assert!(!meets_a_lock(b"fatal: '/r/slot' already exists"));
    }
}
