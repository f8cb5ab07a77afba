//! `dispatch logs`.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::time::Duration;

use anyhow::{Context, bail};
use camino::Utf8Path;
use dispatch_core::attempt::AttemptNumber;
use dispatch_core::id::TaskId;
use dispatch_core::record::Phase;
use dispatch_engine::ports::{AttemptFile, Store};
use dispatch_proc::{Links, open_regular};

use crate::args::GlobalArgs;
use crate::exit::Exit;
use crate::output;
use crate::wire::{Ground, Role, World};

/// How often a growing log is looked at.
const LOOK: Duration = Duration::from_millis(300);

/// Prints the log of an attempt.
pub(super) fn run(
    id: &TaskId,
    attempt: Option<AttemptNumber>,
    follow: bool,
    raw: bool,
    global: &GlobalArgs,
) -> anyhow::Result<Exit> {
    let ground = Ground::find(global)?;
    let world = World::by_hand(&ground, Role::Pass)?;
    let store = &world.store;
    let record = store.record(id)?;
    let Some(attempt) = attempt.or_else(|| record.as_ref().map(|record| record.last_attempt))
    else {
        bail!("{id} was never dispatched here, so there is no log");
    };
    let file = if raw { AttemptFile::Stream } else { AttemptFile::RunLog };
    let path = store.attempt_dir(id, attempt).join(file.file_name());
    let mut printed = print(&path, 0)?;
    if printed.is_none() && !follow {
        bail!("attempt {attempt} of {id} has no log: there is no file `{path}`");
    }
    while follow && !ended(store, id, attempt)? {
        std::thread::sleep(LOOK);
        printed = print(&path, printed.unwrap_or(0))?;
    }
    print(&path, printed.unwrap_or(0))?;
    Ok(Exit::Done)
}

fn ended(store: &dyn Store, id: &TaskId, attempt: AttemptNumber) -> anyhow::Result<bool> {
    Ok(store
        .record(id)?
        .is_none_or(|record| record.attempt != attempt || record.phase == Phase::Ended))
}

/// Prints what the file holds from byte `from`, and gives the byte to go on from; nothing when there is no file yet.
fn print(path: &Utf8Path, from: u64) -> anyhow::Result<Option<u64>> {
    let doing = || format!("could not read `{path}`");
    let mut file = match open_regular(path, Links::Refused, File::options().read(true)) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(doing),
    };
    file.seek(SeekFrom::Start(from)).with_context(doing)?;
    let mut at = from;
    let mut buffer = vec![0; 64 << 10];
    loop {
        let count = file.read(&mut buffer).with_context(doing)?;
        if count == 0 {
            return Ok(Some(at));
        }
        output::raw(buffer.get(..count).unwrap_or_default())?;
        at += count as u64;
    }
}
