//! The cargo tools the gates need: the machine's own when it is there, else installed once into the build folder.

use anyhow::{Context, Result};
use camino::Utf8PathBuf;

use crate::shell;

/// A cargo tool at the version the gates were written for.
pub(crate) struct Tool {
    krate: &'static str,
    version: &'static str,
    /// Whether another version found on the machine will do.
    any_version: bool,
}

/// Checks licences, sources, and who depends on whom.
pub(crate) const DENY: Tool = Tool { krate: "cargo-deny", version: "0.20.2", any_version: false };
/// Runs the tests, each in a process of its own.
pub(crate) const NEXTEST: Tool =
    Tool { krate: "cargo-nextest", version: "0.9.143", any_version: true };

impl Tool {
    /// The program, installed if need be.
    pub(crate) fn program(&self) -> Result<Utf8PathBuf> {
        let root = shell::target_dir()?.join("tools");
        let installed = root.join("bin").join(self.krate);
        for candidate in [Utf8PathBuf::from(self.krate), installed.clone()] {
            if self.is_at(&candidate) {
                return Ok(candidate);
            }
        }
        shell::say(&format!(
            "installing {} {}: this takes minutes, once",
            self.krate, self.version
        ));
        // A quick build of a tool that runs for seconds; its own build folder makes a second try go on, not begin.
        shell::persist(&format!("installing {}", self.krate), || {
            shell::run(
                shell::cargo()
                    .args(["install", self.krate, "--version", self.version, "--locked", "--quiet"])
                    .args(["--profile", "dev", "--root", root.as_str()])
                    .env("CARGO_TARGET_DIR", root.join("build"))
                    .env("CARGO_PROFILE_DEV_DEBUG", "0")
                    .env("CARGO_INCREMENTAL", "0")
                    .current_dir(shell::root()),
            )
        })?;
        std::fs::remove_dir_all(root.join("build"))
            .context("could not remove the tool's build folder")?;
        Ok(installed)
    }

    fn is_at(&self, program: &Utf8PathBuf) -> bool {
        let subcommand = self.krate.trim_start_matches("cargo-");
        let printed = shell::read(shell::program(program).args([subcommand, "--version"]));
        printed.is_ok_and(|printed| {
            self.any_version || printed.split_whitespace().any(|word| word == self.version)
        })
    }
}
