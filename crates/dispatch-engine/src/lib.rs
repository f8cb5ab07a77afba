//! The order of things: the pass, the sweep, the supervisor and the close, over port traits.
//!
//! The engine talks to the world only through [`ports`]: the adapters implement them, and so does the
//! simulator, which is why no function here may reach around them.
//!
//! Ids such as D6.4 name rules; `docs/rules` in the repository explains them.

mod base_branch;
pub mod board_place;
mod budget;
pub mod by_hand;
mod close;
mod earlier_review;
pub mod explain;
pub mod from_here;
pub mod governor;
pub mod hand_over;
mod judge;
pub mod merges;
mod owed;
pub mod pass;
pub mod ports;
mod settled;
pub mod setup;
pub mod stage;
pub mod standstill;
pub mod status;
pub mod supervise;
mod surface;
pub mod sweep;
pub mod texts;
mod undo;
