//! Attempt numbers.

use std::fmt;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

/// The number of a dispatch of a task, from 1; a number is never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AttemptNumber(NonZeroU32);

impl AttemptNumber {
    /// The first attempt.
    pub const FIRST: Self = Self(NonZeroU32::MIN);

    /// The number `number`, unless it is zero.
    pub const fn new(number: u32) -> Option<Self> {
        match NonZeroU32::new(number) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }

    /// The following number.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The number.
    pub const fn get(self) -> u32 {
        self.0.get()
    }
}

impl fmt::Display for AttemptNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How many attempts of a task ended, by whether they count (B1.5, D4 guard 5).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AttemptCounts {
    /// Attempts that used up one of the configured number.
    pub counted: u32,
    /// Attempts that a fault of the machine or an account ended.
    pub uncounted: u32,
}
