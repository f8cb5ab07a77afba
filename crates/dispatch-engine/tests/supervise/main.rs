#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
//! The supervisor and the close over a small world in memory.

mod ending;
mod killing;
mod settings;
mod starting;
mod succeeding;
mod world;
