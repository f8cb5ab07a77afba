//! What the reviewing agent wrote about the work that a task's next attempt goes on from (D8.1).

use dispatch_close::text::cut_marked;
use dispatch_core::attempt::AttemptNumber;
use dispatch_core::id::TaskId;
use serde_json::Value;

use crate::ports::{AttemptFile, PortError, Ports};

/// The most bytes of a review that an attempt is told.
const MAX_BYTES: usize = 100_000;

/// The newest review of an attempt before `number`, when no later attempt that counts lies between: one that was only
/// interrupted, say, has not answered it.
pub(crate) fn earlier_review(
    ports: &Ports<'_>,
    id: &TaskId,
    number: AttemptNumber,
) -> Result<Option<String>, PortError> {
    for earlier in (1..number.get()).rev().filter_map(AttemptNumber::new) {
        if let Some(bytes) = ports.store.read_attempt_file(id, earlier, AttemptFile::Review)? {
            let text = String::from_utf8_lossy(&bytes);
            return Ok(Some(cut_marked(&text, MAX_BYTES, str::len)));
        }
        let outcome = ports.store.read_attempt_file(id, earlier, AttemptFile::Outcome)?;
        let outcome: Option<Value> = outcome.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        if outcome.is_some_and(|outcome| outcome["counted"] == true) {
            return Ok(None);
        }
    }
    Ok(None)
}
