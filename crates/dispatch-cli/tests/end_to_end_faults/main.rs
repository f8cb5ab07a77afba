//! What goes wrong, on the real programs: a real board, real git remotes, the real agent against a scripted model and
//! the real forge client against a scripted forge. Processes are really killed, files really planted; only what the
//! model says and what the forge answers is made up.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod by_hand;
mod halt;
mod hostile_slots;
mod hostile_tasks;
mod kills;
mod lost;
mod remote;
mod shown;
mod state;
mod stopped;
mod triggers;
mod waiting;
mod world;
