//! Looking at the board and at the dispatcher's own state.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8PathBuf;
use dispatch_board::read_board;
use dispatch_core::attempt::AttemptNumber;
use dispatch_core::board::Board;
use dispatch_core::id::TaskId;
use dispatch_engine::merges;
use dispatch_engine::ports::{AttemptFile, Store};
use dispatch_engine::status::{self, StatusReport};

use crate::args::GlobalArgs;
use crate::graph;
use crate::wire::{Ground, Role, World};

/// How much of a log is read for its last line, and for showing it.
const LAST_LINE_BYTES: u64 = 4 << 10;
const LOG_BYTES: u64 = 64 << 10;

/// What a look showed.
#[derive(Debug)]
pub(super) struct Looked {
    pub(super) report: StatusReport,
    /// The last line of the log of each running attempt.
    pub(super) activity: BTreeMap<TaskId, String>,
    /// The lines of the log that was asked for.
    pub(super) log: Vec<String>,
}

/// Looks at the state; `open` is the task whose log is shown. The configuration is read anew each time, since it may be
/// repaired while we watch.
pub(super) fn state(global: &GlobalArgs, open: Option<&TaskId>) -> anyhow::Result<Looked> {
    let ground = Ground::find(global)?;
    let world = World::new(&ground, ground.setup()?, Role::Pass)?;
    let report = status::read(&world.ports(), &world.setup)?;
    let mut activity = BTreeMap::new();
    for running in &report.running {
        let lines = end_of_log(&world.store, &running.id, running.attempt, LAST_LINE_BYTES);
        if let Some(line) = lines.into_iter().rev().find(|line| !line.trim().is_empty()) {
            activity.insert(running.id.clone(), line.trim().to_owned());
        }
    }
    let log = match open {
        None => Vec::new(),
        Some(id) => {
            let attempt = world.store.record(id)?.map(|record| record.last_attempt);
            attempt
                .map_or_else(Vec::new, |attempt| end_of_log(&world.store, id, attempt, LOG_BYTES))
        }
    };
    Ok(Looked { report, activity, log })
}

/// The last lines of a readable log; none while there is no log.
fn end_of_log(
    store: &dyn Store,
    id: &TaskId,
    attempt: AttemptNumber,
    most_bytes: u64,
) -> Vec<String> {
    let bytes = store.read_attempt_file_end(id, attempt, AttemptFile::RunLog, most_bytes);
    let bytes = bytes.ok().flatten().unwrap_or_default();
    String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()
}

/// Reads the board as it is now, wherever it lies now.
pub(super) fn board(global: &GlobalArgs) -> anyhow::Result<Board> {
    let ground = Ground::find(global)?;
    Ok(read_board(&ground.board.dir, &ground.board.config))
}

/// The tasks an attempt works on, by their records alone.
pub(super) fn ours(report: Option<&StatusReport>) -> BTreeSet<TaskId> {
    let running = report.map_or(&[][..], |report| &report.running);
    running.iter().map(|running| running.id.clone()).collect()
}

/// Brings the graph's document up to date, and says whether it changed.
pub(super) fn graph(global: &GlobalArgs, path: Option<&Utf8PathBuf>) -> anyhow::Result<bool> {
    let ground = Ground::find(global)?;
    let config = ground.setup().ok().map(|setup| setup.loaded.config);
    graph::refresh(&ground.board, config.as_ref(), path.map(Utf8PathBuf::as_path))
}

/// The tasks whose pull request was merged since the last sweep.
pub(super) fn merged(global: &GlobalArgs) -> anyhow::Result<BTreeSet<TaskId>> {
    let ground = Ground::find(global)?;
    let world = World::new(&ground, ground.setup()?, Role::Pass)?;
    Ok(merges::seen(&world.ports())?)
}
