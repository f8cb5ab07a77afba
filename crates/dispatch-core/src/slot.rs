//! Slots.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The name of a slot: letters, digits, `.`, `_`, `-`, beginning with a letter or digit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct SlotName(String);

/// A text that is not a slot name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "`{found}` is not a slot name: letters, digits, `.`, `_` and `-`, beginning with a letter or a digit, at most 100"
)]
pub struct SlotNameError {
    /// The text.
    pub found: String,
}

impl SlotName {
    /// Reads a slot name.
    pub fn parse(text: &str) -> Result<Self, SlotNameError> {
        let first = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        let rest = text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
        // `<slot>.verify` beside a slot is its verification tree, and `.lock` ends a git lock file.
        let reserved =
            [".verify", ".lock"].iter().any(|suffix| text.ends_with(suffix)) || text.contains("..");
        if first && rest && !reserved && text.len() <= 100 {
            Ok(Self(text.to_owned()))
        } else {
            Err(SlotNameError { found: text.chars().take(100).collect() })
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SlotName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl<'de> Deserialize<'de> for SlotName {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_are_slots() {
        assert!(SlotName::parse("dispatch-1").is_ok());
        for text in ["", ".x", "a/b", "..", "a..b", "x.verify", "-a", "a b", "a\n"] {
            assert!(SlotName::parse(text).is_err(), "{text:?}");
        }
    }
}
