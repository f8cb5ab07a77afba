//! Small texts of the engine.

use dispatch_core::config::Language;
use dispatch_core::id::TaskId;
use dispatch_core::message::Message;
use dispatch_core::names::BlockReason;
use time::macros::format_description;
use time::{OffsetDateTime, UtcOffset};

use crate::ports::Ports;

/// A moment as records have it: ISO 8601 UTC with milliseconds.
pub fn moment(moment: OffsetDateTime) -> String {
    let format =
        format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");
    // Every moment has these parts; the fallback only keeps this total.
    moment.to_offset(UtcOffset::UTC).format(&format).unwrap_or_default()
}

/// A moment in a sentence.
pub fn moment_for_people(moment: OffsetDateTime) -> String {
    let format = format_description!("[year]-[month]-[day] [hour]:[minute]:[second] UTC");
    // Every moment has these parts; the fallback only keeps this total.
    moment.to_offset(UtcOffset::UTC).format(&format).unwrap_or_default()
}

/// A number of files in words.
pub fn count_of_files(count: usize) -> String {
    if count == 1 { "1 file".to_owned() } else { format!("{count} files") }
}

/// Tells a person that a task is blocked (K4).
pub fn notify_blocked(
    ports: &Ports<'_>,
    language: Language,
    id: &TaskId,
    reason: BlockReason,
    body: &str,
) {
    let title = Message::NotifyBlockedTitle.render(language, &[("id", id), ("reason", &reason)]);
    ports.notifier.notify(&title, body);
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn moments_are_utc_with_milliseconds() {
        assert_eq!(
            moment(datetime!(2026-01-02 03:04:05.678901 +02:00)),
            "2026-01-02T01:04:05.678Z"
        );
    }
}
