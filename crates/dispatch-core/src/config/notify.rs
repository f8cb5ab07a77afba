//! How a person is notified, as the configuration says it: a word, or the command line of a program.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a person is notified (K4).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Notify {
    /// By the platform's own notifier when there is one.
    #[default]
    Auto,
    /// Not at all.
    Off,
    /// By this program; `{title}` and `{body}` are filled in.
    Command(Vec<String>),
}

impl Serialize for Notify {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::Off => serializer.serialize_str("off"),
            Self::Command(argv) => argv.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Notify {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) if text == "off" => Ok(Self::Off),
            Value::String(_) => Ok(Self::Auto),
            other => {
                serde_json::from_value(other).map(Self::Command).map_err(serde::de::Error::custom)
            }
        }
    }
}
