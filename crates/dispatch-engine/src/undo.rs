//! Taking back a claim of which nothing but the claim happened (D6.4, M1 step 2).

use dispatch_core::attempt::Tally;
use dispatch_core::record::{Phase, Record};
use dispatch_core::status::Status;

use crate::ports::{PortError, Ports, SlotChange, StatusChange, StatusWrite, TaskLock};

/// Whether taking back a claim is held against the task as a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blame {
    /// Nothing was started.
    Nothing,
    /// Somebody died preparing it: five of these make the task wait for a person (D11.1).
    Fault,
}

/// Takes a claim back in the reverse order of making it, then lets go of the lock. The task is `Queued` again unless
/// a person decided otherwise.
pub(crate) fn take_back(
    ports: &Ports<'_>,
    lock: Box<dyn TaskLock>,
    record: Record,
    blame: Blame,
) -> Result<StatusWrite, PortError> {
    let change =
        StatusChange { expected: vec![Status::InProgress], to: Status::Queued, comment: None };
    take_back_to(ports, lock, record, &change, blame)
}

/// The same with another change of the status.
pub(crate) fn take_back_to(
    ports: &Ports<'_>,
    lock: Box<dyn TaskLock>,
    mut record: Record,
    change: &StatusChange,
    blame: Blame,
) -> Result<StatusWrite, PortError> {
    let written = ports.board.set_status(&record.task_id, change)?;
    ports.store.change_slot(&record.slot, &SlotChange::Free { task: record.task_id.clone() })?;
    record.phase = Phase::Ended;
    if blame == Blame::Fault {
        record.counts = record.counts.and(Tally::Fault);
    }
    ports.store.write_record(&record)?;
    drop(lock);
    Ok(written)
}
