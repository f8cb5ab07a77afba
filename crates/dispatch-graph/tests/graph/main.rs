//! Graphs of boards, held against independent oracles.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod boards;
mod formats;
mod hostile;
mod laws;
mod plans;
mod problems;
