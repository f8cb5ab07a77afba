//! `dispatch trust`.

use crate::args::GlobalArgs;
use crate::exit::Exit;
use crate::trust::{self, Approved};
use crate::wire::Ground;
use crate::{approval, output};

/// Shows what changed since it was approved, with what it lets run, and, unless only that was asked for, approves it.
pub(super) fn run(show: bool, global: &GlobalArgs) -> anyhow::Result<Exit> {
    let ground = Ground::find(global)?;
    let setup = ground.setup()?;
    let changes = ground.changes(&setup)?;
    match &changes {
        None => output::line("the configuration is the approved one")?,
        // A difference is shown as it is, whatever the width.
        Some(changes) => output::text(changes)?,
    }
    if show || changes.is_some() {
        for line in approval::summary(&setup, ground.board.config.on_status_change.as_deref()) {
            output::line(&line)?;
        }
    }
    if show {
        return Ok(Exit::Done);
    }
    trust::write(&ground.trust_file()?, &Approved::of(&ground.root.path, &setup.subject))?;
    for name in setup.subject.keys() {
        output::line(&format!("approved: {name}"))?;
    }
    Ok(Exit::Done)
}
