//! What a worker may do to its own task on the board (W1): a pure policy over an argument vector.
//!
//! The client and the broker apply the same policy: [`Draft::parse`] judges the argument vector, and
//! [`Draft::with_stdin`] the texts, once standard input is known. What only the board can tell, such as whether a
//! plan that is replaced carries claims, is the broker's to refuse.

mod mail;
mod policy;
mod text;

use serde::Serialize;

use crate::task::Checklist;

pub use self::mail::{
    MAIL_MAX_BYTES, MailAnswer, MailRequest, REQUEST_PREFIX, RESPONSE_PREFIX, is_mail_key,
};
pub use self::policy::{Draft, PolicyRule, Refused, Request};
pub use self::text::TEXT_MAX_BYTES;

/// One edit a worker may make.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum WorkerEdit {
    /// Replaces the text of a section.
    Replace {
        /// The section.
        section: Section,
        /// The new text.
        text: String,
    },
    /// Adds to the text of a section.
    Append {
        /// The section.
        section: Section,
        /// What is added.
        text: String,
    },
    /// Adds a comment.
    Comment {
        /// Its text.
        text: String,
    },
    /// Ticks or unticks an item by its number.
    Check {
        /// The checklist.
        list: Checklist,
        /// The item's number.
        index: u32,
        /// Whether it is to be ticked.
        checked: bool,
    },
}

/// A section a worker may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Section {
    /// The implementation plan.
    Plan,
    /// The implementation notes.
    Notes,
    /// The final summary.
    FinalSummary,
}
