//! Wiring: the adapters behind the engine's ports, made from what the command line, the environment and the
//! configuration say.

mod ground;
mod programs;
mod world;

use anyhow::bail;
use dispatch_core::config::{Config, ForgeKind, Owner};
use dispatch_engine::ports::Forge;
use dispatch_engine::setup::Roots;
use dispatch_git::{
    GhForge, GhSettings, Git, GitForge, GitHubRepository, Identity, Ownership, Repository,
    VcsSettings, Who,
};
use dispatch_store::{DiskStore, OlderDispatcher, Places as StorePlaces};

pub use self::ground::Ground;
pub use self::programs::{context, own_program};
pub use self::world::{Role, World};

/// Whether workers are confined by the kernel. They are not, so a configuration has to say `off` (W3.3).
pub const CONFINED: bool = false;

/// Our own files; refused while an older dispatcher is at work on them.
pub fn store(ground: &Ground, roots: &Roots, config: &Config) -> anyhow::Result<DiskStore> {
    let slots = config.slots.iter().map(|name| roots.slot(name)).collect();
    let store = DiskStore::open(StorePlaces {
        state_dir: ground.state_dir(),
        board_dir: ground.board.dir.clone(),
        board_root: ground.board.root.clone(),
        slots_root: roots.slots_root.clone(),
        slots,
    })?;
    match store
        .older_dispatcher(&|pid| dispatch_proc::ProcessIdentity::of(pid.cast_signed()).is_some())?
    {
        OlderDispatcher::Nothing | OlderDispatcher::Imported { .. } => Ok(store),
        OlderDispatcher::Running { pid, file } => {
            bail!(
                "an older dispatcher is at work here (process {pid}, named in `{file}`); wait until it has ended"
            )
        }
    }
}

/// The forge the configuration names, or the one that the remote's address and an installed `gh` say (C9.5).
fn forge(repository: &Repository, config: &Config) -> anyhow::Result<Box<dyn Forge>> {
    let url = repository.remote().ok().map(|remote| remote.fetch_url.clone());
    let named = url.as_deref().and_then(GitHubRepository::of_url);
    let on_github = match (config.forge.kind, named) {
        (Some(ForgeKind::Git), _) | (None, None) => None,
        (Some(ForgeKind::Github), Some(named)) => Some(named),
        (None, Some(named)) => {
            Some(named).filter(|named| named.is_on_github() && which::which("gh").is_ok())
        }
        (Some(ForgeKind::Github), None) => {
            bail!(
                "`forge.kind` is \"github\", but the remote `origin` does not name a repository on a GitHub host"
            )
        }
    };
    Ok(match on_github {
        None => Box::new(GitForge),
        Some(named) => {
            let mut settings = GhSettings::new("gh", std::env::vars_os());
            settings.token_from_env = config.forge.token_from_env;
            Box::new(GhForge::new(named, settings))
        }
    })
}

fn vcs_settings(config: &Config, roots: &Roots) -> VcsSettings {
    VcsSettings {
        remote: "origin".to_owned(),
        identity: config.commit.identity.as_ref().map(|identity| Identity {
            name: identity.name.clone(),
            email: identity.email.clone(),
        }),
        ssh_command: config.vcs.ssh_command.clone(),
        filters: config.vcs.filters.clone(),
        slots_root: roots.slots_root.clone(),
        board_dir: roots.board_dir.clone(),
        ownership: match config.owner {
            Owner::Lease => Ownership::Lease,
            Owner::Off => Ownership::Off,
        },
        who: who(),
    }
}

fn who() -> Who {
    let user = ["USER", "LOGNAME"]
        .iter()
        .find_map(|name| std::env::var(name).ok())
        .unwrap_or_else(|| "unknown".to_owned());
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    Who { host, user }
}

fn git() -> Git {
    Git::new("git", std::env::vars_os())
}
