//! Board statuses.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The column a task is in.
///
/// Reading is case-insensitive; a status that is none of ours is carried through as written and never
/// dispatched.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// Not triaged, or taken back by a person.
    ToDo,
    /// Waiting to be dispatched.
    Queued,
    /// An attempt works on it, or its pull request is open.
    InProgress,
    /// A person has to act.
    Blocked,
    /// Finished.
    Done,
    /// A status of the board's own, as written.
    Other(String),
}

impl Status {
    /// The five statuses the dispatcher knows.
    pub const OURS: [Self; 5] =
        [Self::ToDo, Self::Queued, Self::InProgress, Self::Blocked, Self::Done];

    /// Reads a status in any letter case.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        Self::OURS
            .into_iter()
            .find(|status| status.as_str().eq_ignore_ascii_case(text))
            .unwrap_or_else(|| Self::Other(text.to_owned()))
    }

    /// The default spelling; the board's own spelling is looked up where it is written.
    pub fn as_str(&self) -> &str {
        match self {
            Self::ToDo => "To Do",
            Self::Queued => "Queued",
            Self::InProgress => "In Progress",
            Self::Blocked => "Blocked",
            Self::Done => "Done",
            Self::Other(text) => text,
        }
    }

    /// The spelling among `configured` that means this status, if there is one.
    pub fn spelled_in<'a>(&self, configured: &'a [String]) -> Option<&'a str> {
        configured.iter().map(String::as_str).find(|text| text.eq_ignore_ascii_case(self.as_str()))
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for Status {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Status {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::parse(&String::deserialize(deserializer)?))
    }
}
