//! The whole surface of a worker: granted, loaded, free, denied, conflicts.

use dispatch_core::launch::expected_surface;
use dispatch_core::triage::Lane;
use dispatch_engine::explain::explain_on;
use dispatch_guards::guards::SurfaceSnapshot;
use dispatch_guards::permission::{Surface, TaskRules, compose};
use dispatch_guards::test_command::{TestShapes, resolve_test_command};
use serde_json::Value;

use super::printed;
use crate::args::{GlobalArgs, TaskArg};
use crate::wire::{Ground, Role, World, context};

/// What a worker on this task would be granted and denied, and what it has for free.
pub(super) fn surface(
    global: &GlobalArgs,
    lane: Option<Lane>,
    task: &TaskArg,
) -> anyhow::Result<Result<Value, String>> {
    let ground = Ground::find(global)?;
    let id = &ground.task_id(task)?;
    let world = World::new(&ground, ground.setup()?, Role::Pass)?;
    let explanation = explain_on(&world.ports(), &world.setup, &context(&ground)?, id, lane)?;
    let task = &explanation.input.task;
    let Some(lane) = task.lane.given() else {
        return Ok(Err(format!("{id} names no lane; give one with `--lane`")));
    };
    let SurfaceSnapshot { rules, loaded, unreadable, worker_edit } = &explanation.input.surface;
    if let Some(why) = unreadable {
        return Ok(Err(why.clone()));
    }
    let shapes = TestShapes::with(&world.setup.config.test_commands)?;
    let test = task.test_command.given().and_then(|text| resolve_test_command(text, &shapes).ok());
    let task_rules =
        TaskRules { worker_edit: worker_edit.clone(), test_command: test.map(|test| test.rule()) };
    let surface = compose(rules, &task_rules, loaded);
    Ok(whole(lane, &surface))
}

/// A surface with conflicts is printed like any other: they are what somebody looks for.
fn whole(lane: Lane, surface: &Surface) -> Result<Value, String> {
    let deny: Vec<String> = surface.denied.iter().map(|denied| denied.rule.clone()).collect();
    let mut value = printed(surface)?;
    let free: Vec<String> = expected_surface(lane, &[], &deny).tools.into_iter().collect();
    if let Value::Object(map) = &mut value {
        map.insert("free".to_owned(), free.into());
    }
    Ok(value)
}
