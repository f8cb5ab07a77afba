//! `dispatch explain`.

use dispatch_core::id::TaskId;
use dispatch_engine::explain::{ExplainError, explain};

use crate::args::GlobalArgs;
use crate::exit::Exit;
use crate::wire::{Ground, Role, World, context};
use crate::{output, render};

/// Shows every guard's verdict for one task, and the launch.
pub(super) fn run(id: &TaskId, json: bool, global: &GlobalArgs) -> anyhow::Result<Exit> {
    let ground = Ground::find(global)?;
    let world = World::new(&ground, ground.setup()?, Role::Pass)?;
    match explain(&world.ports(), &world.setup, &context(&ground)?, id) {
        Ok(explanation) if json => output::json(&explanation)?,
        Ok(explanation) => output::raw(render::explanation(&explanation).as_bytes())?,
        Err(error @ ExplainError::NoSuchTask { .. }) => {
            output::note(&format!("error: {error}"));
            return Ok(Exit::Refused);
        }
        Err(error @ ExplainError::Port { .. }) => return Err(error.into()),
    }
    Ok(Exit::Done)
}
