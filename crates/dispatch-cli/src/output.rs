//! Writing results: standard output holds results alone, and a reader that went away is no error.

use std::io::{self, Write};

use anyhow::Context;
use dispatch_engine::ports::PortError;

/// Writes a line of result.
pub fn line(text: &str) -> anyhow::Result<()> {
    raw(format!("{text}\n").as_bytes())
}

/// Writes bytes of result as they are.
pub fn raw(bytes: &[u8]) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.context("could not write to standard output"),
    }
}

/// Writes a JSON document.
pub fn json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    line(&serde_json::to_string_pretty(value).context("could not print the result as JSON")?)
}

/// Writes a line for the person on standard error; when even that fails there is nobody to tell.
pub fn note(text: &str) {
    drop(writeln!(io::stderr(), "{text}"));
}

/// Writes an error with its causes, and what would help on a line of its own.
pub fn error(error: &anyhow::Error) {
    note(&format!("error: {error:#}"));
    if let Some(hint) =
        error.chain().find_map(|cause| cause.downcast_ref::<PortError>()?.hint.as_deref())
    {
        note(&format!("hint: {hint}"));
    }
}
