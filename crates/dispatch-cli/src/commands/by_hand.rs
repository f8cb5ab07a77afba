//! `dispatch release-slot`, `dispatch cancel` and `dispatch retry`.

use dispatch_close::text::plain;
use dispatch_core::id::TaskId;
use dispatch_core::slot::SlotName;
use dispatch_core::status::Status;
use dispatch_engine::by_hand::{self, ByHandError, Cancelled, Released};

use crate::args::{GlobalArgs, TaskArg};
use crate::exit::{Exit, Refused};
use crate::output;
use crate::wire::{Ground, Role, World};

/// Saves what is in a slot and frees it.
pub(super) fn release_slot(
    name: &SlotName,
    force: bool,
    global: &GlobalArgs,
) -> anyhow::Result<Exit> {
    let ground = Ground::find(global)?;
    let world = World::by_hand(&ground, Role::Pass)?;
    told(by_hand::release_slot(&world.ports(), name, force).map(|released| match released {
        Released::WasFree => format!("slot {name} is free already"),
        Released::Unheld { cause } => format!(
            "slot {name} was held for no task ({cause}); it is free now, and what lies in it is saved before its next use"
        ),
        Released::Freed { task, kept, queued } => {
            let kept = kept.map_or_else(
                || format!("of {task} nothing was left in it to keep"),
                |kept| format!("the work on {task}, if there was any, is kept at {kept}"),
            );
            let free = format!("slot {name} is free; {kept}");
            if queued { format!("{free}\n{}", starts_again(&task)) } else { free }
        }
        Released::Recovering { task, kept } => format!(
            "the work on {task}, if any, is being saved to {kept}; then slot {name} is free (`dispatch status` shows it)\n{}",
            starts_again(&task)
        ),
    }))
}

/// A freed slot is used again by whoever is queued, the very task it was freed from too.
fn starts_again(task: &TaskId) -> String {
    format!(
        "{task} is Queued again, and the next pass may start it at once; `dispatch cancel {task}` takes it from the queue, `dispatch pause` lets nothing start"
    )
}

/// Stops the attempt of a task.
pub(super) fn cancel(task: &TaskArg, to: &str, global: &GlobalArgs) -> anyhow::Result<Exit> {
    let ground = Ground::find(global)?;
    let id = &ground.task_id(task)?;
    let statuses = &ground.board.config.statuses;
    let to = Status::parse(to);
    if to.spelled_in(statuses).is_none() {
        let known = statuses.join(", ");
        return Err(Refused::because(format!(
            "the board has no status `{to}`; its statuses are {known} (--to names one)"
        )));
    }
    let world = World::by_hand(&ground, Role::Pass)?;
    told(by_hand::cancel(&world.ports(), id, &to).map(|cancelled| match cancelled {
        Cancelled::Asked { kept } => format!("the worker on {id} is asked to stop; what it did, if anything, is kept at {kept}, then {id} becomes {to}"),
        Cancelled::Finishing { kept } => format!("the worker on {id} has ended and its work, if any, is being judged (kept at {kept}); unless that ends in a pull request, {id} becomes {to}"),
        Cancelled::Recovering { kept } => format!("nobody supervised {id}; what is there, if anything, is being saved to {kept}, then {id} becomes {to}"),
        Cancelled::StatusSet { proposed: None } => format!("nothing ran for {id}; it is {to} now"),
        Cancelled::StatusSet { proposed: Some(proposed) } => format!(
            "nothing ran for {id}; it is {to} now. Its work stays proposed as {proposed}: close or delete that if it is not wanted"
        ),
    }))
}

/// Queues a blocked task again.
pub(super) fn retry(task: &TaskArg, reset: bool, global: &GlobalArgs) -> anyhow::Result<Exit> {
    let ground = Ground::find(global)?;
    let id = &ground.task_id(task)?;
    let world = World::by_hand(&ground, Role::Pass)?;
    let attempts = world.setup.config.attempts;
    told(by_hand::retry(&world.ports(), id, attempts, reset).map(|retried| {
        let mut lines = Vec::new();
        if let Some(reason) = retried.reason {
            lines.push(format!("what was said about {id} last:\n\n{}\n", plain(&reason)));
        }
        if retried.archived > 0 {
            lines.push(format!(
                "{} earlier attempts are set aside and no longer count",
                retried.archived
            ));
        }
        lines.push(format!("{id} is Queued; the next pass looks at it"));
        lines.join("\n")
    }))
}

fn told(done: Result<String, ByHandError>) -> anyhow::Result<Exit> {
    match done {
        Ok(line) => {
            output::line(&line)?;
            Ok(Exit::Done)
        }
        Err(ByHandError::Refused(why)) => Err(Refused::because(why)),
        Err(error @ ByHandError::Failed { .. }) => Err(error.into()),
    }
}
