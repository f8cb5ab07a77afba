//! `outcome.json` (S5).

use dispatch_close::execute::CloseRun;
use dispatch_core::attempt::Tally;
use dispatch_core::record::Request;
use serde_json::{Map, Value, json};

use super::Attempt;
use crate::ports::{AttemptFile, PortError};

/// Writes how the attempt ended: outcome, steps, whether it counts, figures.
pub(crate) fn write_outcome(attempt: &mut Attempt<'_>, run: &CloseRun) -> Result<(), PortError> {
    let failure = run.failure();
    let tally = tally(attempt, run);
    let mut outcome = match &attempt.state.ended {
        Some(Value::Object(ended)) => ended.clone(),
        _ => Map::new(),
    };
    let rest = json!({
        "taskId": attempt.record.task_id,
        "attempt": attempt.record.attempt,
        "lane": attempt.record.lane,
        "slot": attempt.record.slot,
        "startedAt": attempt.record.started_at,
        "endedAt": crate::texts::moment(attempt.ports.clock.now()),
        "success": failure.is_none(),
        "reason": failure.map_or("success", |failure| failure.disposition.reason()),
        "counted": tally == Tally::Counted,
        "excused": tally == Tally::Excused,
        "steps": run.done,
        "failure": failure,
        "base": attempt.record.base,
        "start": attempt.record.start,
        "tree": attempt.state.found.tree,
        "saved": attempt.saved(),
        "pr": if failure.is_none() { json!(attempt.record.pr) } else { Value::Null },
    });
    if let Value::Object(rest) = rest {
        outcome.extend(rest);
    }
    let text = serde_json::to_vec_pretty(&outcome)
        .map_err(|source| PortError::new("write the outcome", source))?;
    attempt.write(AttemptFile::Outcome, &text)
}

/// What the attempt is held against (D4 guard 5), decided once. A supervisor that was stopped since it showed no sign of
/// life was not stopped by a person.
pub(crate) fn tally(attempt: &mut Attempt<'_>, run: &CloseRun) -> Tally {
    if let Some(decided) = attempt.found().tally {
        return decided;
    }
    let tally = run.failure().map_or(Tally::Counted, |failure| failure.disposition.tally());
    let asked = attempt.ports.store.request(attempt.id());
    let tally = match (tally, asked) {
        (Tally::Excused, Ok(Some(Request::Stop))) => Tally::Fault,
        (tally, _) => tally,
    };
    attempt.found().tally = Some(tally);
    tally
}
