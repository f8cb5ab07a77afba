//! Test support: what the end-to-end tests are built from.
//!
//! - [`programs`] finds the real programs (`backlog`, `claude`, `gh`, `git`) and starts them in an environment that
//!   holds nothing of the person who runs the tests;
//! - [`model_server`] is a scripted model on loopback that a real `claude` talks to;
//! - [`forge_server`] is a forge behind a socket file that a real `gh` talks to;
//! - [`repo`] is a repository with a bare remote, [`board`] a board of task files, both in a [`scratch`] folder;
//! - [`scene`] sets all of these up as one world for a test of the whole job;
//! - [`bench`] times two ways to do one thing in one run;
//! - [`processes`] tells what still runs in a scratch folder;
//! - [`wait`] polls for what another process does, with a deadline instead of a sleep.
//!
//! Every helper panics on failure: in a test that is the report. The crate is a development dependency only.
//!
//! Ids such as D6.4 name rules; `docs/rules` in the repository explains them.

#![allow(clippy::unwrap_used, reason = "test support reports a failure by panicking")]

pub mod bench;
pub mod board;
pub mod forge_server;
mod http;
pub mod model_server;
pub mod processes;
pub mod programs;
pub mod repo;
pub mod scene;
pub mod scratch;
pub mod wait;

#[doc(no_inline)]
pub use serde_json::json;
