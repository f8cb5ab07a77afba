//! M1 step 2: attempts whose supervisor is gone, or stands still.

use std::time::Duration;

use dispatch_core::record::{Phase, Record, Request};

use super::{Locked, Sweep};
use crate::budget::awake_between;
use crate::ports::{PortError, Recorded, SlotChange, StatusWrite, TryLock};
use crate::undo::{Blame, take_back};

/// How old a beat may be, in machine-awake time (D9.4).
const TIME_TO_LIVE: Duration = Duration::from_mins(10);
/// How far two readings of a standing beat have to be apart (D9.4).
const BETWEEN_READINGS: Duration = Duration::from_mins(1);

pub(super) fn run(sweep: &mut Sweep<'_>) -> Result<(), PortError> {
    sweep.each_record(|record| record.phase != Phase::Ended, look_at)?;
    free_forgotten_slots(sweep)
}

fn look_at(sweep: &mut Sweep<'_>, record: &Record) -> Result<(), PortError> {
    let id = &record.task_id;
    match sweep.ports.store.try_task_lock(id)? {
        TryLock::Busy(_) => look_at_beat(sweep, record),
        TryLock::Taken(lock) => match sweep.ports.store.record(id)? {
            Some(record) if record.phase != Phase::Ended => recover(sweep, Locked { lock, record }),
            Some(_) | None => Ok(()),
        },
    }
}

fn recover(sweep: &mut Sweep<'_>, Locked { lock, record }: Locked) -> Result<(), PortError> {
    let id = record.task_id.clone();
    if record.phase == Phase::Claimed {
        if !sweep.place.is_here() {
            // Going back to `Queued` writes the board.
            return Ok(());
        }
        // What prepared the slot may have left a process in it.
        sweep.ports.agent.end_leftovers(None, &record.token)?;
        let text = match take_back(sweep.ports, lock, record, Blame::Fault)? {
            StatusWrite::Written => "its claim was cut off: it is queued again".to_owned(),
            StatusWrite::Mismatch { found } => format!("its claim was cut off: it stays {found}"),
            StatusWrite::Gone => {
                "its claim was cut off, and the board no longer holds it".to_owned()
            }
        };
        sweep.did(&id, text);
        return Ok(());
    }
    let phase = record.phase;
    sweep.ports.commands.start_supervisor(&id, lock, true)?;
    sweep.did(&id, format!("its supervisor was gone in phase {phase}: a new one recovers it"));
    Ok(())
}

/// A supervisor that holds its lock but shows no sign of life is asked to stop, then stopped (D9.4).
fn look_at_beat(sweep: &mut Sweep<'_>, record: &Record) -> Result<(), PortError> {
    let Some(seen) = &record.beat else { return Ok(()) };
    let now = sweep.ports.clock.beat();
    let stale = awake_between(seen, &now).is_none_or(|age| age > TIME_TO_LIVE);
    if !stale {
        return Ok(());
    }
    let id = &record.task_id;
    let stands_still = match sweep.ports.store.observed(id)? {
        Some((before, at)) if before == *seen => match awake_between(&at, &now) {
            Some(apart) if apart >= BETWEEN_READINGS => true,
            Some(_) => return Ok(()),
            None => false,
        },
        Some(_) | None => false,
    };
    sweep.ports.store.write_observed(id, seen, &now)?;
    if !stands_still {
        return Ok(());
    }
    let Some(supervisor) = &record.supervisor else { return Ok(()) };
    // Whatever it was asked for, it did not answer.
    if sweep.ports.store.request(id)?.is_some() {
        sweep.ports.commands.kill(supervisor)?;
        let text =
            format!("its supervisor, process {}, did not answer and was ended", supervisor.pid);
        sweep.did(id, text);
    } else {
        sweep.ports.store.write_request(id, &Request::Stop)?;
        sweep.did(id, "its supervisor shows no sign of life and was asked to stop");
    }
    Ok(())
}

/// Frees slots bound to a task that nothing runs for (I5). What lies in them is saved before their next use.
fn free_forgotten_slots(sweep: &mut Sweep<'_>) -> Result<(), PortError> {
    if sweep
        .ports
        .store
        .records()?
        .iter()
        .any(|recorded| matches!(recorded, Recorded::Unreadable { .. }))
    {
        // Which slots are in use is not known.
        return Ok(());
    }
    for entry in sweep.ports.store.registry()?.slots {
        let Some(task) = entry.task_id.filter(|_| entry.held.is_none()) else { continue };
        let TryLock::Taken(lock) = sweep.ports.store.try_task_lock(&task)? else { continue };
        let record = sweep.ports.store.record(&task)?;
        let in_use =
            record.is_some_and(|record| record.phase != Phase::Ended && record.slot == entry.name);
        if !in_use {
            sweep.ports.store.change_slot(&entry.name, &SlotChange::Free { task: task.clone() })?;
            sweep.did(&task, format!("freed slot {}, which nothing uses", entry.name));
        }
        drop(lock);
    }
    Ok(())
}
