//! The agent and the programs around it.
//!
//! [`ClaudeAgent`] is the engine's `Agent` port: it starts a worker whose output goes to files, follows that
//! output, ends the worker with everything it left behind, asks whether a local model is loaded, and has a diff
//! reviewed. [`FolderMailbox`] is the worker's way to the board. [`SystemCommands`], [`SystemClock`] and
//! [`SystemNotifier`] are the ports for every other program, for time, and for telling a person.
//!
//! Ids such as D6.4 name rules; `docs/rules` in the repository explains them.

mod claude;
mod clock;
mod commands;
#[cfg(target_os = "linux")]
mod confine;
mod leftovers;
mod mailbox;
mod notifier;
mod place;
mod process;
mod readiness;
mod reviewer;
mod stream;
mod supervisor;
mod verdict;
mod worker;

pub use self::claude::{ClaudeAgent, ClaudeSettings};
pub use self::clock::SystemClock;
pub use self::commands::{Reach, SystemCommands};
#[cfg(target_os = "linux")]
pub use self::confine::{
    ConfineError, Confinement, Support, UnixSockets, confine_and_exec, support,
};
pub use self::mailbox::FolderMailbox;
pub use self::notifier::{SystemNotifier, notifier_argv};
pub use self::supervisor::SupervisorProgram;
pub use self::verdict::judge_answer;
