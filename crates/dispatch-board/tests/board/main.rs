//! The board adapter on real files and beside the real board program.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test fails by panicking and says its counts"
)]

mod differential;
mod generated;
mod places;
mod program;
mod reads;
mod stress;
mod support;
mod writes;
