//! `outcome.json` (S5).

use dispatch_close::execute::CloseRun;
use serde_json::{Map, Value, json};

use super::Attempt;
use crate::ports::{AttemptFile, PortError};

/// Writes how the attempt ended: outcome, steps, whether it counts, figures.
pub(crate) fn write_outcome(attempt: &Attempt<'_>, run: &CloseRun) -> Result<(), PortError> {
    let failure = run.failure();
    let mut outcome = match &attempt.state.ended {
        Some(Value::Object(ended)) => ended.clone(),
        _ => Map::new(),
    };
    let close = attempt.state.close.as_ref();
    let rest = json!({
        "taskId": attempt.record.task_id,
        "attempt": attempt.record.attempt,
        "lane": attempt.record.lane,
        "slot": attempt.record.slot,
        "startedAt": attempt.record.started_at,
        "endedAt": crate::texts::moment(attempt.ports.clock.now()),
        "success": failure.is_none(),
        "reason": failure.map_or("success", |failure| failure.disposition.reason()),
        "counted": counted(run),
        "steps": run.done,
        "failure": failure,
        "base": attempt.record.base,
        "start": attempt.record.start,
        "tree": close.and_then(|close| close.tree.clone()),
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

/// Whether the attempt uses up one of the configured number (D4 guard 5).
pub(crate) fn counted(run: &CloseRun) -> bool {
    run.failure().is_none_or(|failure| failure.disposition.counts())
}
