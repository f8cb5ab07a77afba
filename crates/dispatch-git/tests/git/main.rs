//! Against the real git, both versions that are measured when both are installed.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod board;
mod forge;
mod history;
mod objects;
mod planted;

mod remote;
mod sandbox;
mod slots;
