//! The board's texts, held against every recorded answer of the real board program.
#![expect(clippy::disallowed_methods, reason = "tests read recorded fixtures")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_macros,
    reason = "a test fails by panicking and says its counts"
)]

#[path = "../../../../fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "the fuzz targets are a crate of their own")]
mod any_bytes;
mod files;
mod fixtures;
mod odd_files;
mod properties;
mod views;
