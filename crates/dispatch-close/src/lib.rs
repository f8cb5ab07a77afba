#![forbid(clippy::disallowed_macros, clippy::disallowed_methods, clippy::disallowed_types)]
//! What happens when a worker ends, as values: the plan and its executor, the gates, the texts.
//!
//! Nothing here opens a file, starts a program or reads a clock. The executor in [`execute`] knows the world
//! only as a [`execute::CloseSteps`]; everything else is a function from values to values.
//!
//! Ids such as D6.4 name rules; `docs/rules` in the repository explains them.

pub mod acceptance;
pub mod checks;
pub mod comment;
pub mod commit;
pub mod execute;
pub mod integrity;
pub mod listed;
pub mod phrase;
pub mod plan;
pub mod pull_request;
#[cfg(test)]
mod testing;
pub mod text;
