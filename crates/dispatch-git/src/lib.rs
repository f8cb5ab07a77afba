//! git, always hardened, and the forge through `gh`.
//!
//! [`Git`] is the one place that builds git command lines. A [`Repository`] is found from one of the person's own
//! folders and implements the engine's port to git; what a worker may have touched is looked at only through git
//! directories of ours, so that nothing planted in a slot runs as the dispatcher.
//!
//! Ids such as D6.4 name rules; `docs/rules` in the repository explains them.

mod ancestry;
mod board;
mod configured;
mod deadline;
mod error;
mod forge;
mod freeze;
mod git;
mod kept;
mod lease;
mod objects;
mod private_dir;
mod remote;
mod repository;
mod settings;
mod slot;
mod vcs;
mod walk;
mod worktree;

pub use ancestry::MergedFacts;
pub use error::GitError;
pub use forge::{ForgeError, ForgeFault, GhForge, GhSettings, GitForge, GitHubRepository};
pub use git::Git;
pub use remote::Remote;
pub use repository::{CodeRoot, Repository};
pub use settings::{Identity, Ownership, VcsSettings, Who};
