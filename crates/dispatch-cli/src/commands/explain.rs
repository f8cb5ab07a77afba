//! `dispatch explain`.

use dispatch_engine::explain::{ExplainError, explain};

use crate::args::{GlobalArgs, TaskArg};
use crate::exit::{Exit, Refused};
use crate::wire::{Ground, Role, World, context};
use crate::{output, render};

/// Shows how far one task has come, every guard's verdict on it, and the launch.
pub(super) fn run(task: &TaskArg, json: bool, global: &GlobalArgs) -> anyhow::Result<Exit> {
    let ground = Ground::find(global)?;
    let id = ground.task_id(task)?;
    let world = World::new(&ground, ground.setup()?, Role::Pass)?;
    let explanation = match explain(&world.ports(), &world.setup, &context(&ground)?, &id) {
        Ok(explanation) => explanation,
        Err(error @ ExplainError::NoSuchTask { .. }) => {
            return Err(Refused::because(error.to_string()));
        }
        Err(error @ ExplainError::Port { .. }) => return Err(error.into()),
    };
    if json {
        output::json(&explanation)?;
    } else {
        output::text(&render::explanation(&explanation, output::columns()))?;
    }
    Ok(Exit::Done)
}
