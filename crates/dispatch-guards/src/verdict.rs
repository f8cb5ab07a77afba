//! What a guard says about a task, and on which facts it rests.

use std::collections::BTreeMap;
use std::fmt;

use dispatch_core::config::Language;
use dispatch_core::names::{BlockReason, WaitReason};
use serde::Serialize;

use crate::guards::GuardMessage;

/// What a guard says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing stands against it.
    Launch,
    /// Not now; the task stays `Queued`.
    Wait(WaitReason, Grounds),
    /// A person has to change the task.
    Block(BlockReason, Grounds),
}

impl Verdict {
    /// Whether nothing stands against it.
    pub const fn launches(&self) -> bool {
        matches!(self, Self::Launch)
    }

    /// The reason in its one text.
    pub const fn reason(&self) -> Option<&'static str> {
        match self {
            Self::Launch => None,
            Self::Wait(reason, _) => Some(reason.as_str()),
            Self::Block(reason, _) => Some(reason.as_str()),
        }
    }

    /// What it rests on.
    pub const fn grounds(&self) -> Option<&Grounds> {
        match self {
            Self::Launch => None,
            Self::Wait(_, grounds) | Self::Block(_, grounds) => Some(grounds),
        }
    }

    /// What it comes to.
    pub const fn kind(&self) -> VerdictKind {
        match self {
            Self::Launch => VerdictKind::Launch,
            Self::Wait(..) => VerdictKind::Wait,
            Self::Block(..) => VerdictKind::Block,
        }
    }
}

/// What a verdict comes to, without its reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum VerdictKind {
    /// Nothing stands against it.
    Launch,
    /// Not now.
    Wait,
    /// A person has to change the task.
    Block,
}

impl VerdictKind {
    /// Its one text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Launch => "launch",
            Self::Wait => "wait",
            Self::Block => "block",
        }
    }
}

impl fmt::Display for VerdictKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The facts a verdict rests on: for each, a sentence and its values.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grounds {
    facts: Vec<(GuardMessage, Vec<(&'static str, String)>)>,
}

impl Grounds {
    /// One fact.
    pub(crate) fn of(message: GuardMessage, values: &[(&'static str, &str)]) -> Self {
        Self::default().and(message, values)
    }

    /// One fact more.
    pub(crate) fn and(mut self, message: GuardMessage, values: &[(&'static str, &str)]) -> Self {
        let values = values.iter().map(|(name, value)| (*name, shown(value))).collect();
        self.facts.push((message, values));
        self
    }

    /// The facts of both, these first.
    pub(crate) fn extended(mut self, more: Self) -> Self {
        self.facts.extend(more.facts);
        self
    }

    /// The sentences for a person: cause, offending value, next step.
    pub fn comment(&self, language: Language) -> String {
        let sentences: Vec<String> = self
            .facts
            .iter()
            .map(|(message, values)| {
                let values: Vec<(&str, &dyn std::fmt::Display)> =
                    values.iter().map(|(name, value)| (*name, value as _)).collect();
                message.render(language, &values)
            })
            .collect();
        sentences.join("\n")
    }

    /// The values by name; of several facts with one name, the first.
    pub fn values(&self) -> BTreeMap<&'static str, &str> {
        let mut values = BTreeMap::new();
        for (name, value) in self.facts.iter().flat_map(|(_, values)| values) {
            values.entry(*name).or_insert(value.as_str());
        }
        values
    }
}

impl Serialize for Grounds {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.values().serialize(serializer)
    }
}

/// A value as it may stand in a comment: text of a task cannot end the code span it is put in, hold
/// control characters, or be longer than a line or two.
fn shown(value: &str) -> String {
    const LONGEST: usize = 300;
    let mut shown: String = value
        .chars()
        .take(LONGEST)
        .map(|c| match c {
            '`' => '\'',
            _ if c.is_control() => ' ',
            _ => c,
        })
        .collect();
    if value.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    shown
}
