//! The `dispatch` program.
fn main() {}
