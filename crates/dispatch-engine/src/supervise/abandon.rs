//! An attempt whose hand-over cannot be used any more: nothing is known of its configuration, so nothing is judged or
//! saved; the slot is held and a person is told (I3, I4).

use dispatch_close::comment::{EndComment, Saved, end_comment};
use dispatch_close::listed::Listed;
use dispatch_close::plan::{Detail, Disposition};
use dispatch_core::attempt::{Ordinal, Tally};
use dispatch_core::config::Language;
use dispatch_core::id::TaskId;
use dispatch_core::names::BlockReason;
use dispatch_core::record::Phase;
use dispatch_core::status::Status;

use super::{Drain, End};
use crate::ports::{PortError, Ports, SlotChange, StatusChange};
use crate::texts::notify_blocked;

/// Ends the process tree, holds the slot, blocks the task and ends the record, in this order.
pub(super) fn abandon(ports: &Ports<'_>, id: &TaskId, why: &PortError) -> End {
    match try_abandon(ports, id, &why.chain()) {
        Ok(Some(reason)) => End::Ended { reason: reason.as_str().to_owned(), drain: Drain::Pass },
        Ok(None) => End::Left { why: why.chain() },
        Err(error) => End::Left { why: format!("{}; {}", why.chain(), error.chain()) },
    }
}

fn try_abandon(
    ports: &Ports<'_>,
    id: &TaskId,
    why: &str,
) -> Result<Option<BlockReason>, PortError> {
    let Some(mut record) = ports.store.record(id)? else { return Ok(None) };
    if record.phase == Phase::Ended {
        // It was given up before; the held slot waits for a person.
        return Ok(None);
    }
    ports.agent.end_leftovers(record.worker.as_ref(), &record.token)?;
    let change = SlotChange::Hold { task: id.clone(), cause: why.to_owned() };
    let held = ports.store.change_slot(&record.slot, &change)?;
    let reason = BlockReason::WorkHeld;
    let comment = end_comment(
        Language::En,
        &EndComment {
            task: id,
            disposition: &Disposition::Block(reason),
            detail: &Detail::Error(why.to_owned()),
            // Of how many is not known any more.
            attempt: Ordinal {
                number: record.attempt,
                counted: record.attempt.get(),
                counts: false,
                of: record.attempt.get(),
            },
            saved: Saved::Held { path: held.path.as_str() },
            files: &Listed::default(),
            left_out: &Listed::default(),
            denials: &Listed::default(),
            log: &ports.store.attempt_dir_shown(id, record.attempt),
        },
    );
    let change = StatusChange {
        expected: vec![Status::InProgress],
        to: Status::Blocked,
        comment: Some(comment.clone()),
    };
    ports.board.set_status(id, &change)?;
    notify_blocked(ports, Language::En, id, reason, &comment);
    record.counts = record.counts.and(Tally::Fault);
    record.phase = Phase::Ended;
    record.worker = None;
    ports.store.write_record(&record)?;
    Ok(Some(reason))
}
