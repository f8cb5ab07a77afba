//! Attempt numbers.

use std::fmt;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::config::Language;

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

/// An attempt as people are told of it: always by its own number, which names its folder and refs, with how many attempts
/// were counted where that is another number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ordinal {
    /// The attempt.
    pub number: AttemptNumber,
    /// How many attempts count, this one included if it does.
    pub counted: u32,
    /// Whether this one does.
    pub counts: bool,
    /// How many may.
    pub of: u32,
}

impl Ordinal {
    /// Whether it was the last one that the task has.
    pub const fn is_last(&self) -> bool {
        self.counts && self.counted >= self.of
    }

    /// Such as `attempt 2 of 3`, or `attempt 3 (2 of 3 counted)`.
    pub fn text(&self, language: Language) -> String {
        let Self { number, counted, of, .. } = self;
        let alike = number.get() == counted.saturating_add(u32::from(!self.counts));
        match (language, alike) {
            (Language::En, true) => format!("attempt {number} of {of}"),
            (Language::En, false) => format!("attempt {number} ({counted} of {of} counted)"),
            (Language::Es, true) => format!("intento {number} de {of}"),
            (Language::Es, false) => format!("intento {number} (cuentan {counted} de {of})"),
        }
    }
}

/// What an attempt that ended is held against (D4 guard 5, D11.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tally {
    /// The configured number of attempts: the task is the cause.
    Counted,
    /// The faults after which the task waits for a person: nobody answers for what ended it.
    Fault,
    /// Nothing: a person ended it, or a fault that pauses the whole lane did.
    Excused,
}

/// How many attempts of a task ended, by whether they count (B1.5, D4 guard 5).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AttemptCounts {
    /// Attempts that used up one of the configured number.
    pub counted: u32,
    /// Attempts that used up none of it.
    pub uncounted: u32,
    /// Those of the uncounted ones that are no sign of anything wrong with running this task.
    pub excused: u32,
}

impl AttemptCounts {
    /// The counts after one more attempt.
    #[must_use]
    pub const fn and(mut self, tally: Tally) -> Self {
        match tally {
            Tally::Counted => self.counted = self.counted.saturating_add(1),
            Tally::Fault => self.uncounted = self.uncounted.saturating_add(1),
            Tally::Excused => {
                self.uncounted = self.uncounted.saturating_add(1);
                self.excused = self.excused.saturating_add(1);
            }
        }
        self
    }

    /// How many attempts were lost to faults that nobody answered for since.
    pub const fn faults(self) -> u32 {
        self.uncounted.saturating_sub(self.excused)
    }

    /// The counts once a person looked at what was lost and wants the task tried again.
    #[must_use]
    pub const fn forgiven(mut self) -> Self {
        self.excused = self.uncounted;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_is_named_by_its_own_number_and_by_what_was_counted_where_that_differs() {
        let at = |number, counted, counts| Ordinal {
            number: AttemptNumber::new(number).unwrap(),
            counted,
            counts,
            of: 3,
        };
        let shown = |ordinal: Ordinal| ordinal.text(Language::En);
        assert_eq!(shown(at(2, 2, true)), "attempt 2 of 3");
        assert_eq!(shown(at(3, 2, true)), "attempt 3 (2 of 3 counted)");
        assert_eq!(shown(at(1, 0, false)), "attempt 1 of 3");
        assert_eq!(shown(at(5, 2, false)), "attempt 5 (2 of 3 counted)");
        assert_eq!(at(5, 2, false).text(Language::Es), "intento 5 (cuentan 2 de 3)");
        assert!(
            at(5, 3, true).is_last() && !at(5, 3, false).is_last() && !at(3, 2, true).is_last()
        );
    }

    #[test]
    fn d11_1_what_a_person_or_the_lane_answers_for_is_no_fault_of_the_task() {
        let tallies = [Tally::Counted, Tally::Excused, Tally::Fault, Tally::Excused, Tally::Fault];
        let counts = tallies.into_iter().fold(AttemptCounts::default(), AttemptCounts::and);
        assert_eq!(counts, AttemptCounts { counted: 1, uncounted: 4, excused: 2 });
        assert_eq!(counts.faults(), 2);
        assert_eq!(counts.forgiven().faults(), 0);
        assert_eq!(counts.forgiven().and(Tally::Fault).faults(), 1);
    }
}
