//! What holds of the repository itself: the fence around the pure crates (each barrier is shown a violation and must
//! refuse it), and the rules that comments and tests cite.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod barriers;
mod rooms;
mod rules;

use std::fs;
use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};

/// The crates that only decide.
const PURE: [&str; 4] = ["dispatch-core", "dispatch-guards", "dispatch-close", "dispatch-graph"];

fn root() -> &'static Utf8Path {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn read(path: &Utf8Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("could not read `{path}`: {error}"))
}

/// A program of the tool chain, with the environment of the person who runs the tests.
fn tool(program: &str) -> Command {
    #[expect(clippy::disallowed_methods, reason = "the barriers are programs of the tool chain")]
    Command::new(program)
}

/// The build folder.
fn target() -> Utf8PathBuf {
    let exe = Utf8PathBuf::from_path_buf(std::env::current_exe().unwrap()).unwrap();
    exe.ancestors().nth(3).unwrap().to_owned()
}
