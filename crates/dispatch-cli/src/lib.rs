//! The `dispatch` program: arguments, wiring and presentation.
//!
//! An `if` about the domain belongs to a pure crate; what is here parses, wires adapters to the engine's ports and
//! prints.
//!
//! Ids such as D6.4 name rules; `docs/rules` in the repository explains them.

pub mod approval;
pub mod args;
pub mod callback;
pub mod commands;
pub mod demo;
pub mod exit;
pub mod graph;
pub mod inspect;
pub mod log;
pub mod output;
pub mod render;
pub mod setup;
pub mod trust;
pub mod watch;
pub mod wire;
