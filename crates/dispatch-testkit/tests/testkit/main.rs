//! The test support, held against the real programs.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod board;
mod forge_server;
mod model_server;
mod repo;
mod scene;
