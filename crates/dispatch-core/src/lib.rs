#![forbid(clippy::disallowed_macros, clippy::disallowed_methods, clippy::disallowed_types)]
//! The words of the domain as types, and the pure decisions about tasks, lanes, launches, prompts and outcomes.
//!
//! Nothing here opens a file, starts a program, reads a clock or the environment: everything arrives as a value.
//!
//! Ids such as D6.4 name rules; `docs/rules` in the repository explains them.

#[macro_use]
mod closed_set;

pub mod attempt;
pub mod board;
pub mod board_config;
pub mod branch;
pub mod config;
pub mod dependencies;
pub mod error_chain;
pub mod hex;
pub mod id;
mod js_text;
pub mod lane;
pub mod launch;
pub mod message;
pub mod names;
pub mod nearest;
pub mod object;
pub mod outcome;
pub mod parent;
pub mod path;
pub mod printable;
pub mod prompt;
pub mod record;
pub mod secret;
pub mod select;
pub mod slot;
pub mod start_commit;
pub mod status;
pub mod stream;
pub mod task;
pub mod task_edit;
pub mod task_file;
pub mod task_json;
pub mod task_report;
pub mod task_text;
pub mod task_view;
pub mod triage;
pub mod trigger;
pub mod watch;
pub mod worker_edit;
mod yaml;

#[cfg(test)]
mod testing;
