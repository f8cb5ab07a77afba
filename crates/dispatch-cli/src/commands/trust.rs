//! `dispatch trust`.

use dispatch_core::triage::Lane;
use dispatch_engine::governor;

use crate::args::GlobalArgs;
use crate::exit::Exit;
use crate::trust::{self, Approved};
use crate::wire::{Ground, Role, World};
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
    // Nothing is paused where no pass ever ran, and approving makes no state.
    if !ground.state_dir().exists() {
        return Ok(Exit::Done);
    }
    // One that cannot be used ends no pause; the next command says what is wrong with it.
    let Ok(world) = World::by_hand(&ground, Role::Pass) else { return Ok(Exit::Done) };
    for lane in Lane::ALL {
        if let Some(cause) = governor::configuration_approved(&world.ports(), *lane)? {
            output::line(&format!(
                "the {lane} lane is paused (`{cause}`); the next pass finds out whether that is over"
            ))?;
        }
    }
    Ok(Exit::Done)
}
