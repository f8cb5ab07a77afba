//! One colour for a status in every format.

use dispatch_core::status::Status;

use crate::graph::Node;

/// How a task is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tone {
    ToDo,
    Queued,
    InProgress,
    Blocked,
    Done,
    Other,
}

impl Tone {
    pub(crate) const ALL: [Self; 6] =
        [Self::ToDo, Self::Queued, Self::InProgress, Self::Blocked, Self::Done, Self::Other];

    pub(crate) fn of(node: &Node) -> Self {
        match &node.status {
            _ if node.finished => Self::Done,
            Status::ToDo => Self::ToDo,
            Status::Queued => Self::Queued,
            Status::InProgress => Self::InProgress,
            Status::Blocked => Self::Blocked,
            Status::Done => Self::Done,
            Status::Other(_) => Self::Other,
        }
    }

    /// Its name as a class.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::ToDo => "todo",
            Self::Queued => "queued",
            Self::InProgress => "progress",
            Self::Blocked => "blocked",
            Self::Done => "done",
            Self::Other => "other",
        }
    }

    /// Its name in a legend.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ToDo => "To Do",
            Self::Queued => "Queued",
            Self::InProgress => "In Progress",
            Self::Blocked => "Blocked",
            Self::Done => "Done",
            Self::Other => "another status",
        }
    }

    /// A light fill and a strong line, both legible with dark text beside them.
    pub(crate) fn colors(self) -> (&'static str, &'static str) {
        match self {
            Self::ToDo => ("#eef1f5", "#8492a6"),
            Self::Queued => ("#e3efff", "#2f74d0"),
            Self::InProgress => ("#fff3d6", "#c98a00"),
            Self::Blocked => ("#ffe4e1", "#d1372c"),
            Self::Done => ("#e0f4e6", "#2b9a4b"),
            Self::Other => ("#f1e8fb", "#8a4fc7"),
        }
    }

    /// The fill on a dark page, for light text.
    pub(crate) fn dark_fill(self) -> &'static str {
        match self {
            Self::ToDo => "#232b34",
            Self::Queued => "#17304f",
            Self::InProgress => "#3d3212",
            Self::Blocked => "#431d1a",
            Self::Done => "#173521",
            Self::Other => "#33224a",
        }
    }
}
