//! The worker's only board channel.
fn main() {}
