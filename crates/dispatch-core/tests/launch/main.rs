//! Decisions about the agent's recorded streams.
#![expect(clippy::disallowed_methods, reason = "tests read recorded fixtures")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod streams;
