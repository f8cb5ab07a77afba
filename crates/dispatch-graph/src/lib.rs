#![forbid(clippy::disallowed_macros, clippy::disallowed_methods, clippy::disallowed_types)]
//! What depends on what on a board, and how to draw it.
//!
//! [`Graph::of`] takes a board and finds the facts of every task and every [`Problem`]; [`View`] chooses what is shown;
//! [`mermaid`], [`dot`], [`json`], [`svg`] and [`text`] turn a view into text, [`section`] puts the text into a document.
//! The same board gives the same bytes, in whatever order its files were read, and no text of a task can leave the
//! label it stands in.
//!
//! Finding the board, the document and a place to write is not here: everything arrives as a value.
//!
//! Ids such as D6.4 name rules; `docs/rules` in the repository explains them.

mod cycles;
pub mod dot;
mod graph;
pub mod json;
mod label;
mod layers;
pub mod mermaid;
mod overlap;
mod problem;
pub mod section;
pub mod svg;
pub mod text;
mod tone;
mod view;
pub mod waves;

pub use graph::{ClaimBasis, Edge, EdgeKind, Graph, Node};
pub use overlap::Overlap;
pub use problem::{Problem, Step};
pub use view::{Filter, Finished, NoSuchTask, Scope, Unknown, View};
pub use waves::{Capacity, Waves, plan};
