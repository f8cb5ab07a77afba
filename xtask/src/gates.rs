//! The gates a change passes.

use std::env;

use anyhow::Result;

use crate::peers;
use crate::shell::{cargo, program, root, run};
use crate::tools;

/// What proptest draws its inputs from. By hand every run tries new ones; a gate tells about the change alone.
const PROPERTY_SEED: &str = "PROPTEST_RNG_SEED";

/// Formatting, then every lint as an error.
pub(crate) fn lint() -> Result<()> {
    run(cargo().args(["fmt", "--all", "--check"]).current_dir(root()))?;
    run(cargo()
        .args(["clippy", "--workspace", "--all-targets", "--locked", "--keep-going"])
        .args(["--", "-D", "warnings"])
        .current_dir(root()))
}

/// Who depends on whom, licences and sources. Advisories need a database that is not a package: `cargo deny check
/// advisories` is for a person.
pub(crate) fn deny() -> Result<()> {
    let deny = tools::DENY.program()?;
    run(program(deny)
        .args(["--workspace", "--locked", "check", "bans", "licenses", "sources"])
        .current_dir(root()))
}

/// Installs the programs the tests talk to, then runs the documentation's examples and every test.
pub(crate) fn test() -> Result<()> {
    let peers = peers::install()?;
    let nextest = tools::NEXTEST.program()?;
    // Some tests start the binaries of other crates.
    run(cargo().args(["build", "--workspace", "--bins", "--locked"]).current_dir(root()))?;
    run(cargo()
        .args(["test", "--workspace", "--doc", "--locked", "--quiet"])
        .env("DISPATCH_PEERS", &peers)
        .current_dir(root()))?;
    // Last, so that its summary is the last thing printed.
    let in_ci = env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false");
    let profile = if in_ci { "ci" } else { "default" };
    let mut tests = program(nextest);
    tests
        .args(["nextest", "run", "--workspace", "--locked", "--profile", profile])
        .env("DISPATCH_PEERS", &peers)
        .current_dir(root());
    if in_ci && env::var_os(PROPERTY_SEED).is_none() {
        tests.env(PROPERTY_SEED, "1");
    }
    run(&mut tests)
}
