//! `dispatch status`.

use std::io::IsTerminal;
use std::time::Duration;

use dispatch_engine::status;

use crate::args::GlobalArgs;
use crate::exit::Exit;
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
        let world = World::new(&ground, ground.setup()?, Role::Pass)?;
        let report = status::read(&world.ports(), &world.setup)?;
        if json {
            output::json(&report)?;
            return Ok(Exit::Done);
        }
        let text = render::status(&report);
        if !watch {
            output::raw(text.as_bytes())?;
            return Ok(Exit::Done);
        }
        let lead = if std::io::stdout().is_terminal() { HOME } else { "" };
        output::raw(format!("{lead}{text}").as_bytes())?;
        std::thread::sleep(AGAIN);
    }
}
