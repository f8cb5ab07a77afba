//! `dispatch supervise`: one attempt, from slot to close, then a pass in this process's place (D9.8).

use std::time::Duration;

use dispatch_agent::SystemClock;
use dispatch_core::id::TaskId;
use dispatch_core::trigger;
use dispatch_engine::supervise::{Drain, End, Mode, supervise};
use dispatch_proc::Call;

use crate::args::GlobalArgs;
use crate::exit::Exit;
use crate::output;
use crate::wire::{Ground, World, context, own_program};

/// A supervisor that waits for something long shows that it lives at least this often (D9.4).
const BEAT_EVERY: Duration = Duration::from_secs(20);

/// What a callback says about itself; a pass in our place is none.
const CALLBACK: [&str; 5] =
    [trigger::SENTINEL, "TASK_ID", "TASK_TITLE", "OLD_STATUS", "NEW_STATUS"];

/// Owns the attempt whose lock is our standard input.
pub(super) fn run(id: &TaskId, recover: bool, global: &GlobalArgs) -> anyhow::Result<Exit> {
    let ground = Ground::find(global)?;
    let world = World::for_attempt(&ground, id)?;
    world.watch_signals()?;
    let lock = world.store.adopt_lock_from_stdin(id)?;
    let lock = world.store.beating(lock, SystemClock::new(), BEAT_EVERY)?;
    let context = context(&ground)?;
    let mode = if recover { Mode::Recover } else { Mode::Begin };
    match supervise(world.ports(), &context, id, lock, mode) {
        End::Ended { reason, drain: follows } => {
            tracing::info!(task = %id, reason, "the attempt has ended");
            match follows {
                Drain::Pass => drain(&ground, global),
                Drain::Nothing => Ok(Exit::Done),
            }
        }
        End::Left { why } => {
            output::note(&format!("error: the attempt of {id} is left in the middle: {why}"));
            Ok(Exit::Failed)
        }
        End::NotOurs => Ok(Exit::Done),
    }
}

/// Puts a pass in this process's place.
fn drain(ground: &Ground, global: &GlobalArgs) -> anyhow::Result<Exit> {
    dispatch_proc::unset_child_subreaper()?;
    let mut call = Call::new(own_program()?, ground.root.path.clone(), Duration::MAX).arg("pass");
    if let Some(file) = &global.config {
        call = call.args(["--config", file.as_str()]);
    }
    let kept = std::env::vars_os().filter(|(name, _)| !CALLBACK.iter().any(|own| name == own));
    Err(dispatch_proc::exec_in_place(&call.envs(kept.chain(ground.board_variable()))).into())
}
