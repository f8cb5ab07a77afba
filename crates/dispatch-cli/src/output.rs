//! Writing results: standard output holds results alone, and a reader that went away is no error.
//!
//! Whatever a person reads goes through here and is harmless on a terminal whoever wrote it; only [`raw`] writes bytes as
//! they are.

use std::io::{self, IsTerminal, Write};

use anyhow::Context;
use dispatch_engine::ports::PortError;
use rustix::fd::AsFd;

use crate::exit::{Exit, Refused};
use crate::render;

/// Whether anybody reads what is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// Somebody may.
    There,
    /// The other end was closed.
    Gone,
}

/// Writes lines of result, broken at blanks where they are longer than the terminal is wide.
pub fn line(text: &str) -> anyhow::Result<()> {
    let text = render::lines(text);
    raw(format!("{}\n", render::wrap(&text, columns())).as_bytes())
}

/// Writes a text of result that is laid out already.
pub fn text(text: &str) -> anyhow::Result<()> {
    raw(render::lines(text).as_bytes())
}

/// Writes bytes of result as they are.
pub fn raw(bytes: &[u8]) -> anyhow::Result<()> {
    to_reader(bytes).map(|_| ())
}

/// Writes bytes of result as they are, for a command that goes on as long as somebody reads.
pub fn to_reader(bytes: &[u8]) -> anyhow::Result<Reader> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(Reader::There),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Reader::Gone),
        Err(error) => Err(error).context("could not write to standard output"),
    }
}

/// Writes a JSON document.
pub fn json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(value).context("could not print the result as JSON")?;
    raw(format!("{}\n", render::json(&text)).as_bytes())
}

/// Writes a line for the person on standard error; when even that fails there is nobody to tell.
pub fn note(text: &str) {
    let text = render::lines(text);
    let width = terminal_width(io::stderr().is_terminal(), io::stderr());
    drop(writeln!(io::stderr(), "{}", render::wrap(&text, width)));
}

/// Writes an error with its causes, and what would help on a line of its own; answers how the command ended.
pub fn error(error: &anyhow::Error) -> Exit {
    let exit = exit_of(error);
    let word = if exit == Exit::Refused { "refused" } else { "error" };
    note(&format!("{word}: {error:#}"));
    if let Some(hint) = hint_of(error) {
        note(&format!("hint: {hint}"));
    }
    exit
}

/// The same, and on standard output as an object.
pub fn error_with_json(reported: &anyhow::Error) -> Exit {
    let (message, status) = (format!("{reported:#}"), exit_of(reported).code());
    let object = serde_json::json!({
        "error": { "message": message, "hint": hint_of(reported), "exitStatus": status }
    });
    // Whoever reads standard error is told in any case.
    drop(json(&object));
    error(reported)
}

fn exit_of(error: &anyhow::Error) -> Exit {
    if error.downcast_ref::<Refused>().is_some() { Exit::Refused } else { Exit::Failed }
}

fn hint_of(error: &anyhow::Error) -> Option<&str> {
    error.chain().find_map(|cause| cause.downcast_ref::<PortError>()?.hint.as_deref())
}

/// How wide standard output is; none where it is no terminal, so that programs read whole lines.
pub fn columns() -> Option<usize> {
    terminal_width(io::stdout().is_terminal(), io::stdout())
}

fn terminal_width(terminal: bool, stream: impl AsFd) -> Option<usize> {
    let size = terminal.then(|| rustix::termios::tcgetwinsize(stream).ok()).flatten()?;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}
