//! `dispatch trust`.

use crate::args::GlobalArgs;
use crate::exit::Exit;
use crate::output;
use crate::trust::{self, Approved};
use crate::wire::Ground;

/// Shows what changed since it was approved and, unless only that was asked for, approves it.
pub(super) fn run(show: bool, global: &GlobalArgs) -> anyhow::Result<Exit> {
    let ground = Ground::find(global)?;
    let setup = ground.setup()?;
    match ground.changes(&setup)? {
        None => output::line("the configuration is the approved one")?,
        Some(changes) => output::line(changes.trim_end())?,
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
