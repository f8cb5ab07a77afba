//! `dispatch status`.

use std::io::IsTerminal;
use std::time::Duration;

use dispatch_engine::standstill::{Standstill, StandstillCause};
use dispatch_engine::status::{self, StatusReport};

use crate::args::GlobalArgs;
use crate::exit::Exit;
use crate::output::Reader;
use crate::wire::{Ground, Role, World};
use crate::{output, render};

/// How often a watched status is shown again.
const AGAIN: Duration = Duration::from_secs(2);
/// Puts the cursor at the top and clears what is below it.
const HOME: &str = "\x1b[H\x1b[J";

/// Shows slots, running attempts and the queue.
pub(super) fn run(json: bool, watch: bool, global: &GlobalArgs) -> anyhow::Result<Exit> {
    let ground = Ground::find(global)?;
    loop {
        let (report, exit) = look(&ground)?;
        if json {
            output::json(&report)?;
            return Ok(exit);
        }
        let text = render::status(&report, output::columns());
        if !watch {
            output::text(&text)?;
            return Ok(exit);
        }
        let lead = if std::io::stdout().is_terminal() { HOME } else { "" };
        if output::to_reader(format!("{lead}{}", render::lines(&text)).as_bytes())? == Reader::Gone
        {
            return Ok(Exit::Done);
        }
        std::thread::sleep(AGAIN);
    }
}

fn look(ground: &Ground) -> anyhow::Result<(StatusReport, Exit)> {
    let setup = match ground.setup() {
        Ok(setup) => setup,
        Err(error) => {
            let report = without_configuration(ground, &error)?;
            return Ok((report, output::error(&error)));
        }
    };
    let world = World::new(ground, setup, Role::Pass)?;
    Ok((status::read(&world.ports(), &world.setup)?, Exit::Done))
}

/// What can be told without a configuration: everything but what it says of slots, lanes and the queue.
fn without_configuration(ground: &Ground, error: &anyhow::Error) -> anyhow::Result<StatusReport> {
    let world = World::without_configuration(ground, error, Role::Pass)?;
    let mut report = status::read(&world.ports(), &world.setup)?;
    let (cause, text) = match ground.missing_statuses() {
        Some(missing) => (StandstillCause::StatusMissing, missing),
        None => (StandstillCause::ConfigUnusable, format!("{error:#}")),
    };
    report.standstill = Some(Standstill::new(cause, text));
    report.slots.retain(|slot| slot.task.is_some() || slot.held.is_some());
    report.lanes.clear();
    report.queue.clear();
    Ok(report)
}
