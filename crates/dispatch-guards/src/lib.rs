#![forbid(clippy::disallowed_macros, clippy::disallowed_methods, clippy::disallowed_types)]
//! What an unattended agent may do, and whether a task may be given to one: pure decisions, meant to
//! be embedded.
//!
//! Everything arrives as a value; nothing here opens a file, starts a program, or reads a clock.

pub mod claims;
pub mod guards;
pub mod paths;
pub mod permission;
pub mod scope;
pub mod test_command;
pub mod verdict;
