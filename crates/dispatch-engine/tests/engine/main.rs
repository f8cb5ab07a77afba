//! Whole passes, sweeps and supervisors over simulated ports.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod by_hand;
mod crash_anywhere;
mod network;
mod passes;
mod pull_requests;
mod shown;
mod sim;
mod sweeps;
