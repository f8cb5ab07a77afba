//! The main job on the real programs: a real board, real git remotes, the real agent against a scripted model, the real
//! `gh` against a forge on loopback. Only what the model says and what people do is made up.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod agent_ends;
mod board;
mod checks;
mod demo;
mod frontier;
mod guidance;
mod local;
mod parents;
mod places;
mod proposals;
mod provisioning;
mod queue;
mod review;
mod scope;
mod session;
mod settings;
mod trust;
mod watch;
mod world;
