//! Starting the programs of the tool chain, with an error that shows the whole command.

use std::ffi::OsStr;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use camino::{Utf8Path, Utf8PathBuf};

/// How often a download is tried before its error is reported.
const TRIES: u32 = 4;

/// A command on `program`; the only place of this crate that starts one.
pub(crate) fn program(program: impl AsRef<OsStr>) -> Command {
    #[expect(clippy::disallowed_methods, reason = "development tasks start the tool chain")]
    Command::new(program)
}

/// The `cargo` that runs this task.
pub(crate) fn cargo() -> Command {
    program(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Runs `command` with our own output streams and fails unless it ends with 0.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("could not start {command:?}"))?;
    if !status.success() {
        bail!("{command:?} ended with {status}");
    }
    Ok(())
}

/// Runs `command` and returns what it printed; its errors are part of ours.
pub(crate) fn read(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("could not start {command:?}"))?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        bail!("{command:?} ended with {}\n{stdout}{stderr}", output.status);
    }
    Ok(stdout)
}

/// Tries something that needs the network a few times, with a growing pause between.
pub(crate) fn persist<T>(what: &str, mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
    let mut tried = 1;
    loop {
        match attempt() {
            Ok(value) => return Ok(value),
            Err(error) if tried < TRIES => {
                say(&format!("{what}: try {tried} of {TRIES} failed: {error:#}"));
                std::thread::sleep(Duration::from_secs(u64::from(2 * tried * tried)));
                tried += 1;
            }
            Err(error) => return Err(error.context(format!("{what} failed {TRIES} times"))),
        }
    }
}

/// Progress goes to standard error, so that a task's own output stays clean.
#[expect(clippy::print_stderr, reason = "progress of a development task")]
pub(crate) fn say(line: &str) {
    eprintln!("xtask: {line}");
}

/// The root of the workspace.
pub(crate) fn root() -> &'static Utf8Path {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace")
}

/// The build folder, as `cargo` resolves it.
pub(crate) fn target_dir() -> Result<Utf8PathBuf> {
    let metadata = read(
        cargo()
            .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
            .current_dir(root()),
    )?;
    let metadata: serde_json::Value =
        serde_json::from_str(&metadata).context("`cargo metadata` is not JSON")?;
    let dir = metadata["target_directory"].as_str().context("no `target_directory`")?;
    Ok(dir.into())
}
