//! Preparing the dependencies of a slot or a verification tree (D6.7, C5.2).

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_core::object::TreeId;

use super::{Asked, Attempt, Ran, command_environment};
use crate::ports::{AttemptFile, CommandEnd, CommandPlace, CommandSpec, PortError, SlotChange};

/// How long one provisioning command may take.
const LIMIT: Duration = Duration::from_mins(30);

/// Lockfiles that are looked for when none is configured, in this order.
const LOCKFILES: [&str; 12] = [
    "pnpm-lock.yaml",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "bun.lock",
    "bun.lockb",
    "Cargo.lock",
    "uv.lock",
    "poetry.lock",
    "Pipfile.lock",
    "go.sum",
    "Gemfile.lock",
];

/// Files that say what an installation runs, besides the lockfiles.
const MANIFESTS: [&str; 14] = [
    "package.json",
    "pnpm-workspace.yaml",
    ".npmrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    "bunfig.toml",
    "Cargo.toml",
    "build.rs",
    "pyproject.toml",
    "setup.py",
    "uv.toml",
    "Pipfile",
    "go.mod",
    "Gemfile",
];

/// What is remembered of an installation that no lockfile describes.
const NO_LOCKFILE: &str = "none";

/// What is provisioned.
pub(crate) enum Where {
    /// The slot the worker will be in.
    Slot {
        /// Its worktree.
        dir: Utf8PathBuf,
        /// Whether it was made anew.
        fresh: bool,
        /// The lockfile's hash at its last installation; none when nothing is known to be installed.
        installed: Option<String>,
    },
    /// A verification tree, always.
    Verification {
        /// Its folder.
        dir: Utf8PathBuf,
        /// What it holds.
        tree: TreeId,
    },
}

/// How provisioning ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ProvisionEnd {
    /// Nothing had to be done.
    NotDue,
    /// It worked.
    Done {
        /// What to remember as installed: the lockfile's hash, or that there is none. None when what was installed is
        /// the task's own.
        lockfile_hash: Option<String>,
    },
    /// The branch changes what an installation runs, and no script-less form is configured: these files.
    NeedsAPerson(Vec<String>),
    /// A command failed: which and how.
    Failed(String),
    /// We were asked to stop meanwhile.
    Asked(Asked),
}

/// Provisions where it is due. The branch's own lockfile and manifests are only ever used without their scripts.
pub(crate) fn provision(
    attempt: &mut Attempt<'_>,
    target: &Where,
) -> Result<ProvisionEnd, PortError> {
    let config = attempt.hand.config.provision.clone();
    if config.link.is_empty() && config.install.is_empty() && config.install_locked.is_empty() {
        return Ok(ProvisionEnd::NotDue);
    }
    let changed = changed_manifests(attempt, target)?;
    let hash = lockfile_hash(attempt);
    let (dir, place, due) = match target {
        Where::Slot { dir, fresh, installed } => {
            let known = installed.is_some() && (hash.is_none() || hash == *installed);
            (dir, CommandPlace::Slot, *fresh || !known || !changed.is_empty())
        }
        Where::Verification { dir, .. } => (dir, CommandPlace::Verification, true),
    };
    if !due {
        return Ok(ProvisionEnd::NotDue);
    }
    let install = if changed.is_empty() { &config.install } else { &config.install_locked };
    if !changed.is_empty() && !config.install.is_empty() && install.is_empty() {
        return Ok(ProvisionEnd::NeedsAPerson(changed));
    }
    if place == CommandPlace::Slot {
        // From here on until it succeeded nothing is known to be installed.
        let nothing = SlotChange::Installed { lockfile_hash: None };
        attempt.ports.store.change_slot(&attempt.record.slot, &nothing)?;
    }
    for argv in [&config.link, install].into_iter().filter(|argv| !argv.is_empty()) {
        if let Some(end) = run(attempt, argv, dir, place)? {
            return Ok(end);
        }
    }
    let installed = hash.unwrap_or_else(|| NO_LOCKFILE.to_owned());
    Ok(ProvisionEnd::Done { lockfile_hash: changed.is_empty().then_some(installed) })
}

/// Runs one command; what ends the provisioning, if anything does.
fn run(
    attempt: &mut Attempt<'_>,
    argv: &[String],
    dir: &Utf8Path,
    place: CommandPlace,
) -> Result<Option<ProvisionEnd>, PortError> {
    let ports = attempt.ports;
    let log = ports.store.attempt_dir(attempt.id(), attempt.number());
    let spec = CommandSpec {
        argv: from_code_root(argv, &attempt.hand.roots.code_root),
        dir: dir.to_owned(),
        env: command_environment(attempt),
        stdin: Vec::new(),
        limit: LIMIT,
        log: Some(log.join(AttemptFile::PrepareLog.file_name())),
        place,
        marker: attempt.record.token.clone(),
    };
    let shown = argv.join(" ");
    let why = match attempt.run(&spec)? {
        Ran::Asked(asked) => return Ok(Some(ProvisionEnd::Asked(asked))),
        Ran::Ended(end) if end.succeeded() => return Ok(None),
        Ran::Ended(CommandEnd::Ended { exit, output, .. }) => {
            let tail = dispatch_close::text::tail(&output, 10, 2000);
            format!("`{shown}` {exit}:\n{tail}")
        }
        Ran::Ended(CommandEnd::TimedOut { .. }) => {
            format!("`{shown}` did not end within {} minutes", LIMIT.as_secs() / 60)
        }
        Ran::Ended(CommandEnd::Stopped) => format!("`{shown}` was ended before its time"),
        Ran::Ended(CommandEnd::NotStarted(why)) => format!("`{shown}` could not be started: {why}"),
    };
    Ok(Some(ProvisionEnd::Failed(why)))
}

/// A program given by a relative path is the code root's, never a file a worker can write.
pub(crate) fn from_code_root(argv: &[String], code_root: &Utf8Path) -> Vec<String> {
    let mut argv = argv.to_vec();
    if let Some(program) = argv.first_mut()
        && program.contains('/')
        && !program.starts_with('/')
    {
        *program = code_root.join(program.as_str()).into_string();
    }
    argv
}

/// The SHA-256 of the code root's lockfile; none when there is none or it cannot be read, which is said.
fn lockfile_hash(attempt: &Attempt<'_>) -> Option<String> {
    let root = &attempt.hand.roots.code_root;
    let configured = attempt.hand.config.provision.lockfile.as_ref().map(|path| path.as_str());
    let candidates: Vec<&str> = configured.map_or_else(|| LOCKFILES.to_vec(), |path| vec![path]);
    for candidate in candidates {
        match attempt.ports.commands.file_digest(&root.join(candidate)) {
            Ok(Some(digest)) => return Some(digest),
            Ok(None) => {}
            Err(error) => {
                attempt.note(&format!("the lockfile check is left out: {}", error.chain()));
                return None;
            }
        }
    }
    None
}

/// Lockfiles and manifests that the target has otherwise than the base: the slot holds the start commit, the verification
/// tree what the worker made of it.
fn changed_manifests(attempt: &Attempt<'_>, target: &Where) -> Result<Vec<String>, PortError> {
    let (base, start) = attempt.base_and_start()?;
    let vcs = attempt.ports.vcs;
    let tree = match target {
        Where::Slot { .. } if base == start => return Ok(Vec::new()),
        Where::Slot { .. } => vcs.tree_of(&start)?,
        Where::Verification { tree, .. } => tree.clone(),
    };
    let changes = vcs.changes(&base, &tree)?;
    let configured = attempt.hand.config.provision.lockfile.as_ref();
    let decides = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        LOCKFILES.contains(&name)
            || MANIFESTS.contains(&name)
            || configured.is_some_and(|lockfile| lockfile.as_str() == path)
    };
    Ok(changes
        .iter()
        .filter(|change| change.path.as_utf8().is_none_or(decides))
        .map(|change| change.path.to_string())
        .collect())
}
