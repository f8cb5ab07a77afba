//! Statuses that could not be written while a task's file was dangerous (B2.7), written once a person has cleaned it.

use dispatch_core::record::{Phase, Record};

use super::{Locked, Sweep};
use crate::owed;
use crate::ports::{PortError, StatusWrite};

pub(super) fn run(sweep: &mut Sweep<'_>) -> Result<(), PortError> {
    sweep.each_record(|record| record.phase == Phase::Ended && record.owed.is_some(), give)
}

fn give(sweep: &mut Sweep<'_>, record: &Record) -> Result<(), PortError> {
    let id = record.task_id.clone();
    if sweep.board.hostile_file_of(&id).is_some() && !sweep.board.hostile_tasks.contains_key(&id) {
        return Ok(());
    }
    let Some(Locked { lock, mut record }) = sweep.lock_ended(&id)? else { return Ok(()) };
    let Some(change) = owed::take(&mut record) else { return Ok(()) };
    let text = match sweep.ports.board.set_status(&id, &change)? {
        StatusWrite::Written => {
            format!("its file can be written again: it is {} now", change.to)
        }
        StatusWrite::Mismatch { found } => {
            format!("its file can be written again: it stays {found}")
        }
        StatusWrite::Gone => "its file is gone".to_owned(),
    };
    sweep.ports.store.write_record(&record)?;
    sweep.did(&id, text);
    drop(lock);
    Ok(())
}
