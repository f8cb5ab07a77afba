//! Real processes, and the real agent against a scripted model.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod claude;
mod commands;
mod confine;
mod desk;
mod mailbox;
mod notifier;
mod readiness;
mod reviewer;
mod workers;
