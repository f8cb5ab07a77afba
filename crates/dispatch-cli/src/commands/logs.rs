//! `dispatch logs`.

use std::fs::File;
use std::io::{IsTerminal, Read, Seek, SeekFrom};
use std::time::Duration;

use anyhow::Context;
use camino::Utf8Path;
use dispatch_core::attempt::AttemptNumber;
use dispatch_core::id::TaskId;
use dispatch_core::record::Phase;
use dispatch_engine::ports::{AttemptFile, Store};
use dispatch_proc::{Links, open_regular};
use dispatch_store::DiskStore;

use crate::args::{GlobalArgs, TaskArg};
use crate::exit::{Exit, Refused};
use crate::output;
use crate::wire::{Ground, Role, World};

/// How often a growing log is looked at.
const LOOK: Duration = Duration::from_millis(300);

/// Prints the log of an attempt.
pub(super) fn run(
    task: &TaskArg,
    attempt: Option<AttemptNumber>,
    follow: bool,
    raw: bool,
    global: &GlobalArgs,
) -> anyhow::Result<Exit> {
    let ground = Ground::find(global)?;
    let id = &ground.task_id(task)?;
    let world = World::by_hand(&ground, Role::Pass)?;
    let store = &world.store;
    let record = store.record(id)?;
    let Some(attempt) = attempt.or_else(|| record.as_ref().map(|record| record.last_attempt))
    else {
        return Err(Refused::because(match world.ports().board.task(id)? {
            Some(_) => format!("{id} was never dispatched here, so there is no log"),
            None => format!("there is no task {id} on the board"),
        }));
    };
    let (file, form) = match (raw, std::io::stdout().is_terminal()) {
        (true, false) => (AttemptFile::Stream, Form::Bytes),
        (true, true) => (AttemptFile::Stream, Form::Text),
        (false, _) => (AttemptFile::RunLog, Form::Text),
    };
    let path = store.kept_attempt_dir(id, attempt).join(file.file_name());
    let mut printed = print(&path, 0, form)?;
    if printed.is_none() && !follow {
        let text = format!("attempt {attempt} of {id} has no log: there is no file `{path}`");
        return Err(Refused::because(text));
    }
    while follow && !ended(store, id, attempt)? {
        std::thread::sleep(LOOK);
        printed = print(&path, printed.unwrap_or(0), form)?;
    }
    let at = print(&path, printed.unwrap_or(0), form)?;
    if form == Form::Text {
        rest(&path, at.unwrap_or(0))?;
    }
    Ok(Exit::Done)
}

/// How a log is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Harmless on a terminal, a whole line at a time.
    Text,
    /// As it is.
    Bytes,
}

fn ended(store: &DiskStore, id: &TaskId, attempt: AttemptNumber) -> anyhow::Result<bool> {
    Ok(store
        .record(id)?
        .is_none_or(|record| record.attempt != attempt || record.phase == Phase::Ended))
}

/// Prints what the file holds from byte `from`, as text its whole lines alone, and gives the byte to go on from; nothing
/// when there is no file yet.
fn print(path: &Utf8Path, from: u64, form: Form) -> anyhow::Result<Option<u64>> {
    let doing = || format!("could not read `{path}`");
    let mut file = match open_regular(path, Links::Refused, File::options().read(true)) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(doing),
    };
    file.seek(SeekFrom::Start(from)).with_context(doing)?;
    let mut at = from;
    let mut held = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        let count = file.read(&mut buffer).with_context(doing)?;
        if count == 0 {
            return Ok(Some(at));
        }
        held.extend_from_slice(buffer.get(..count).unwrap_or_default());
        let whole = match form {
            Form::Bytes => held.len(),
            Form::Text => held.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1),
        };
        let ready: Vec<u8> = held.drain(..whole).collect();
        match form {
            Form::Bytes => output::raw(&ready)?,
            Form::Text => output::text(&String::from_utf8_lossy(&ready))?,
        }
        at += ready.len() as u64;
    }
}

/// Prints the last line of a log where it has no end: its writer was killed.
fn rest(path: &Utf8Path, from: u64) -> anyhow::Result<()> {
    let Ok(mut file) = open_regular(path, Links::Refused, File::options().read(true)) else {
        return Ok(());
    };
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(from))
        .and_then(|_| file.read_to_end(&mut bytes))
        .with_context(|| format!("could not read `{path}`"))?;
    if bytes.is_empty() { Ok(()) } else { output::line(&String::from_utf8_lossy(&bytes)) }
}
