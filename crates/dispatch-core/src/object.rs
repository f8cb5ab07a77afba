//! Names of git objects.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A text that is not the full name of a git object.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{found}` is not the full name of a git object (40 or 64 lower-case hexadecimal digits)")]
pub struct ObjectNameError {
    /// The text.
    pub found: String,
}

macro_rules! object_name {
    ($(#[$outer:meta])* $name:ident) => {
        $(#[$outer])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Reads a full name.
            pub fn parse(text: &str) -> Result<Self, ObjectNameError> {
                let hexadecimal = text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
                if hexadecimal && matches!(text.len(), 40 | 64) {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(ObjectNameError { found: text.chars().take(100).collect() })
                }
            }

            /// The full name.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The first ten digits, for people.
            pub fn short(&self) -> &str {
                self.0.get(..10).unwrap_or(&self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl std::str::FromStr for $name {
            type Err = ObjectNameError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::parse(text)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
            }
        }
    };
}

object_name! {
    /// The name of a commit.
    CommitId
}

object_name! {
    /// The name of a tree.
    TreeId
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_full_names_are_taken() {
        assert!(CommitId::parse(&"a".repeat(40)).is_ok());
        assert!(CommitId::parse(&"0".repeat(64)).is_ok());
        for text in ["", "abc", "HEAD", &"A".repeat(40), &"g".repeat(40), "--help"] {
            assert!(CommitId::parse(text).is_err(), "{text}");
        }
    }
}
