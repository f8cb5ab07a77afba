//! The real programs the tests talk to.
//!
//! `cargo xtask peers` installs them and `cargo xtask test` says where through `DISPATCH_PEERS`; without that variable
//! the folder `peers` of the build folder is looked at. A missing program fails the test when `CI` is set. Elsewhere
//! the test says which one it misses and ends.
//!
//! ```no_run
//! use dispatch_testkit::programs::{self, Peer};
//!
//! let Some(backlog) = programs::find(Peer::Backlog) else { return };
//! # drop(backlog);
//! ```

use std::env;
use std::ffi::OsStr;
use std::process::{Command, Output};

use camino::{Utf8Path, Utf8PathBuf};

/// A program pinned by `cargo xtask peers`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Peer {
    /// Backlog.md 1.52.0, the version the dispatcher is measured against.
    Backlog,
    /// Backlog.md 1.50.1, the oldest supported version.
    OldBacklog,
    /// Claude Code 2.1.197.
    Claude,
    /// GitHub's client, 2.103.3.
    Gh,
    /// GitHub's client as Debian 12 ships it, 2.23.0.
    OldGh,
    /// Mermaid 11.17.2, a library for `node`.
    Mermaid,
}

impl Peer {
    fn path(self) -> &'static str {
        match self {
            Self::Backlog => "backlog-1.52.0/backlog",
            Self::OldBacklog => "backlog-1.50.1/backlog",
            Self::Claude => "claude-2.1.197/claude",
            Self::Gh => "gh-2.103.3/gh",
            Self::OldGh => "gh-2.23.0/gh",
            Self::Mermaid => "mermaid-11.17.2/mermaid.min.js",
        }
    }
}

/// Finds the program of `peer`.
///
/// # Panics
///
/// When it is not installed and `CI` is set.
#[must_use = "without the program the test ends"]
pub fn find(peer: Peer) -> Option<Utf8PathBuf> {
    let found = folders().into_iter().map(|dir| dir.join(peer.path())).find(|path| path.is_file());
    if found.is_none() {
        missing(&format!("`{}`: run `cargo xtask peers`", peer.path()));
    }
    found
}

/// Every `git` of this machine that is a program of its own: Debian's and one installed beside it.
///
/// # Panics
///
/// When there is none and `CI` is set.
pub fn gits() -> Vec<Utf8PathBuf> {
    let mut found: Vec<Utf8PathBuf> = Vec::new();
    for path in ["/usr/bin/git", "/usr/local/bin/git"].map(Utf8PathBuf::from) {
        let known = |other: &Utf8PathBuf| other.canonicalize().ok() == path.canonicalize().ok();
        if path.is_file() && !found.iter().any(known) {
            found.push(path);
        }
    }
    if found.is_empty() {
        missing("`git`");
    }
    found
}

/// A program of this machine that is on the `PATH`, such as `dot` or `node`.
///
/// # Panics
///
/// When it is not there and `CI` is set.
#[must_use = "without the program the test ends"]
pub fn on_path(name: &str) -> Option<Utf8PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut places = env::split_paths(&path).map(|dir| dir.join(name));
    let found = places.find(|file| file.is_file());
    let found = found.and_then(|file| Utf8PathBuf::from_path_buf(file).ok());
    if found.is_none() {
        missing(&format!("`{name}` on the PATH"));
    }
    found
}

/// A binary of this workspace that `cargo` does not hand to the test by itself, such as `worker-edit` for a test of
/// another crate.
///
/// # Panics
///
/// When it was not built.
pub fn built(name: &str) -> Utf8PathBuf {
    let test = current_exe();
    let found =
        test.ancestors().skip(1).take(3).map(|dir| dir.join(name)).find(|path| path.is_file());
    found.unwrap_or_else(|| {
        panic!("`{name}` is not built: run `cargo build --workspace --bins`, or `cargo xtask test`")
    })
}

/// A command on `program` whose environment is empty but for `PATH`, a plain locale and `home`.
pub fn command(program: impl AsRef<OsStr>, home: &Utf8Path) -> Command {
    #[expect(clippy::disallowed_methods, reason = "tests start the programs they talk to")]
    let mut command = Command::new(program);
    command.env_clear();
    command.envs(environment(home));
    command
}

/// The environment [`command`] gives: the whole of it.
pub fn environment(home: &Utf8Path) -> Vec<(String, String)> {
    let path = env::var("PATH").expect("the tests are run with a PATH");
    vec![
        ("PATH".to_owned(), path),
        ("HOME".to_owned(), home.to_string()),
        ("LANG".to_owned(), "C.UTF-8".to_owned()),
        ("LC_ALL".to_owned(), "C.UTF-8".to_owned()),
        ("TZ".to_owned(), "UTC".to_owned()),
        ("GIT_CONFIG_NOSYSTEM".to_owned(), "1".to_owned()),
        ("GIT_CONFIG_GLOBAL".to_owned(), "/dev/null".to_owned()),
        ("GIT_TERMINAL_PROMPT".to_owned(), "0".to_owned()),
    ]
}

/// What a headless `claude` needs beside [`environment`]: folders of its own below `home`, a made-up key, and
/// `base_url` as the only place it talks to.
pub fn claude_environment(home: &Utf8Path, base_url: &str) -> Vec<(String, String)> {
    let mut environment = environment(home);
    let own = [
        ("ANTHROPIC_BASE_URL", base_url),
        ("ANTHROPIC_API_KEY", "sk-test-made-up"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1"),
        ("CLAUDE_CODE_MAX_RETRIES", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("DISABLE_ERROR_REPORTING", "1"),
        ("DISABLE_TELEMETRY", "1"),
    ];
    environment.extend(own.map(|(name, value)| (name.to_owned(), value.to_owned())));
    for (name, folder) in
        [("CLAUDE_CONFIG_DIR", "config"), ("CLAUDE_CODE_TMPDIR", "tmp"), ("TMPDIR", "tmp")]
    {
        let folder = home.join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        environment.push((name.to_owned(), folder.to_string()));
    }
    environment
}

/// Runs `command` to its end and returns what it printed.
///
/// # Panics
///
/// When it cannot be started or does not end with 0; the message holds all it printed.
#[track_caller]
pub fn read(command: &mut Command) -> String {
    let output = output(command);
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} ended with {}\n{stdout}{stderr}", output.status);
    stdout
}

/// Runs `command` to its end, whatever that is.
///
/// # Panics
///
/// When it cannot be started.
#[track_caller]
pub fn output(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("could not start {command:?}: {error}"))
}

fn folders() -> Vec<Utf8PathBuf> {
    match env::var("DISPATCH_PEERS") {
        Ok(dir) if !dir.is_empty() => vec![dir.into()],
        _ => current_exe().ancestors().skip(1).map(|dir| dir.join("peers")).collect(),
    }
}

fn current_exe() -> Utf8PathBuf {
    Utf8PathBuf::from_path_buf(env::current_exe().unwrap()).unwrap()
}

/// Says that a test cannot run, because `what` is missing.
///
/// # Panics
///
/// When `CI` is set: there nothing may be missing.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
pub fn missing(what: &str) {
    let in_ci = env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false");
    assert!(!in_ci, "missing {what}");
    eprintln!("skipped: missing {what}");
}
