//! `dispatch pause` and `dispatch resume` (D11.4).

use dispatch_core::triage::Lane;
use dispatch_engine::governor;

use crate::args::GlobalArgs;
use crate::exit::Exit;
use crate::output;
use crate::wire::{Ground, Role, World};

/// Pauses a lane, or both, until it is resumed.
pub(super) fn pause(lane: Option<Lane>, reason: &str, global: &GlobalArgs) -> anyhow::Result<Exit> {
    let world = World::by_hand(&Ground::find(global)?, Role::Pass)?;
    for lane in chosen(lane) {
        governor::pause_by_hand(&world.ports(), lane, reason)?;
        output::line(&format!(
            "the {lane} lane is paused; what runs goes on, and `dispatch resume --lane {lane}` ends the pause"
        ))?;
    }
    Ok(Exit::Done)
}

/// Ends the pause of a lane, or of both.
pub(super) fn resume(lane: Option<Lane>, global: &GlobalArgs) -> anyhow::Result<Exit> {
    let world = World::by_hand(&Ground::find(global)?, Role::Pass)?;
    for lane in chosen(lane) {
        output::line(&match governor::resume(&world.ports(), lane)? {
            Some(pause) => format!(
                "the {lane} lane is not paused any more (it was: {}); the next pass uses it",
                pause.cause
            ),
            None => format!("the {lane} lane was not paused"),
        })?;
    }
    Ok(Exit::Done)
}

fn chosen(lane: Option<Lane>) -> Vec<Lane> {
    lane.map_or_else(|| Lane::ALL.to_vec(), |lane| vec![lane])
}
