//! Task ids.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The id of a task, such as `T-5` or `T-5.1` (B1.6).
///
/// Two spellings of one id are equal: letter case and leading zeros do not count. [`fmt::Display`] prints the
/// board's own spelling, [`TaskId::canonical`] the one that names records, directories and branches. Ids are
/// ordered naturally: `T-2` before `T-10`, a task before its subtasks.
#[derive(Debug, Clone)]
pub struct TaskId {
    spelling: String,
    prefix: String,
    numbers: Vec<String>,
}

/// A text that is not a task id.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "`{found}` is not a task id: letters, a hyphen, numbers separated by dots, such as `T-5` or `T-5.1`"
)]
pub struct TaskIdError {
    /// The text.
    pub found: String,
}

impl TaskId {
    /// Reads an id in any spelling.
    pub fn parse(text: &str) -> Result<Self, TaskIdError> {
        let refused = || TaskIdError { found: text.chars().take(100).collect() };
        let (prefix, rest) = text.split_once('-').ok_or_else(refused)?;
        if prefix.is_empty()
            || !prefix.bytes().all(|byte| byte.is_ascii_alphabetic())
            || text.len() > 200
        {
            return Err(refused());
        }
        let numbers = rest
            .split('.')
            .map(|number| {
                let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
                let trimmed = number.trim_start_matches('0');
                digits.then(|| if trimmed.is_empty() { "0" } else { trimmed }.to_owned())
            })
            .collect::<Option<Vec<_>>>()
            .ok_or_else(refused)?;
        Ok(Self { spelling: text.to_owned(), prefix: prefix.to_ascii_uppercase(), numbers })
    }

    /// Reads an id that stands in the file of `near`: a bare number means the same prefix, and keeps its spelling.
    pub fn parse_near(text: &str, near: &Self) -> Result<Self, TaskIdError> {
        let text = text.trim();
        if text.starts_with(|c: char| c.is_ascii_digit()) {
            let full = Self::parse(&format!("{}-{text}", near.prefix))
                .map_err(|_| TaskIdError { found: text.chars().take(100).collect() })?;
            return Ok(Self { spelling: text.to_owned(), ..full });
        }
        Self::parse(text)
    }

    /// Whether both ids have the same prefix.
    pub fn same_prefix(&self, prefix: &str) -> bool {
        self.prefix.eq_ignore_ascii_case(prefix)
    }

    /// The spelling that names records, directories and branches: upper-case prefix, no leading zeros.
    pub fn canonical(&self) -> String {
        format!("{}-{}", self.prefix, self.numbers.join("."))
    }

    /// The board's own spelling.
    pub fn as_str(&self) -> &str {
        &self.spelling
    }

    /// The id this one is a subtask of by its number alone: `T-5` for `T-5.1`.
    pub fn dotted_parent(&self) -> Option<Self> {
        let (_, kept) = self.numbers.split_last()?;
        if kept.is_empty() {
            return None;
        }
        Self::parse(&format!("{}-{}", self.prefix, kept.join("."))).ok()
    }

    fn key(&self) -> (&str, Vec<(usize, &str)>) {
        (&self.prefix, self.numbers.iter().map(|number| (number.len(), number.as_str())).collect())
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.spelling)
    }
}

impl FromStr for TaskId {
    type Err = TaskIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl PartialEq for TaskId {
    fn eq(&self, other: &Self) -> bool {
        self.prefix == other.prefix && self.numbers == other.numbers
    }
}

impl Eq for TaskId {}

impl PartialOrd for TaskId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for TaskId {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl std::hash::Hash for TaskId {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.prefix.hash(state);
        self.numbers.hash(state);
    }
}

impl Serialize for TaskId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.spelling)
    }
}

impl<'de> Deserialize<'de> for TaskId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("T-001", "T-1"; "leading zeros do not count")]
    #[test_case("task-5.01", "TASK-5.1"; "neither does letter case")]
    #[test_case("T-0", "T-0"; "zero stays")]
    fn spellings_of_one_id_are_equal(one: &str, other: &str) {
        let (one, other) = (TaskId::parse(one).unwrap(), TaskId::parse(other).unwrap());
        assert_eq!(one, other);
        assert_eq!(one.canonical(), other.as_str());
    }

    #[test_case(""; "nothing")]
    #[test_case("T-"; "no number")]
    #[test_case("T-1."; "an empty number")]
    #[test_case("T-1/../2"; "a path")]
    #[test_case("-1"; "no prefix")]
    #[test_case("T1-1"; "a digit in the prefix")]
    #[test_case("T-1\n"; "a newline")]
    #[test_case("T-١"; "a digit outside ASCII")]
    fn other_texts_are_refused(text: &str) {
        assert!(TaskId::parse(text).is_err());
    }

    #[test]
    fn order_is_natural() {
        let mut ids: Vec<TaskId> = ["T-10", "T-2.10", "T-2", "T-2.9", "A-99999999999999999999999"]
            .iter()
            .map(|id| TaskId::parse(id).unwrap())
            .collect();
        ids.sort();
        let ids: Vec<String> = ids.iter().map(TaskId::to_string).collect();
        assert_eq!(ids, ["A-99999999999999999999999", "T-2", "T-2.9", "T-2.10", "T-10"]);
    }
}
