//! Forges: GitHub through `gh`, and a git remote without pull requests (V4).

mod answer;
mod error;
mod gh;
mod git_only;
mod slug;

pub use error::{ForgeError, ForgeFault};
pub use gh::{GhForge, GhSettings};
pub use git_only::GitForge;
pub use slug::GitHubRepository;
