#![forbid(clippy::disallowed_macros, clippy::disallowed_methods, clippy::disallowed_types)]
//! Placeholder.
