//! Credentials that were handed out, and how their values are found again in files (C3.3).

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::hex::hex;
use crate::launch::is_credential_name;

/// A shorter value would match by chance.
const SHORTEST_BYTES: usize = 8;

/// A credential to look for in files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Secret {
    /// Its value is known.
    Value(String),
    /// Only what was kept of it.
    Kept(HandedOut),
}

/// What is kept of a credential that a worker was given: enough to find its value in a file, and not the value.
///
/// A supervisor that goes on with the attempt of a dead one may have an environment without the value, or with a newer
/// one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HandedOut {
    /// The variable it was given in.
    pub name: String,
    bytes: usize,
    /// Whether it consists of visible ASCII characters alone, as nearly every credential does.
    visible: bool,
    sha256: String,
}

impl HandedOut {
    /// What is kept of the account's own credential.
    pub fn of_account(name: &str, value: &str) -> Option<Self> {
        let value = value.trim();
        (value.len() >= SHORTEST_BYTES).then(|| Self::new(name, value))
    }

    /// What is kept of another variable; none when it is not one that holds a credential.
    ///
    /// Servers that ask for no key are given a word in its place: such a word is no credential, and a file may hold it.
    pub fn of_variable(name: &str, value: &str) -> Option<Self> {
        let word = |c: char| c.is_ascii_alphabetic() || matches!(c, '-' | '_' | '.');
        let value = value.trim();
        if !holds_credential(name) || value.chars().all(word) {
            return None;
        }
        Self::of_account(name, value)
    }

    fn new(name: &str, value: &str) -> Self {
        Self {
            name: name.to_owned(),
            bytes: value.len(),
            visible: value.bytes().all(|byte| byte.is_ascii_graphic()),
            sha256: sha256(value.as_bytes()),
        }
    }

    /// The credential to look for: by its value where one of `values` is it.
    pub fn found_among<'v>(&self, values: impl IntoIterator<Item = &'v String>) -> Secret {
        let mut values = values.into_iter().map(|value| value.trim());
        match values.find(|value| self.is(value.as_bytes())) {
            Some(value) => Secret::Value(value.to_owned()),
            None => Secret::Kept(self.clone()),
        }
    }

    fn is(&self, value: &[u8]) -> bool {
        value.len() == self.bytes && sha256(value) == self.sha256
    }

    fn occurs_in(&self, content: &[u8]) -> bool {
        let visible = |byte: &u8| !self.visible || byte.is_ascii_graphic();
        content
            .split(|byte| !visible(byte))
            .filter(|run| run.len() >= self.bytes)
            .any(|run| run.windows(self.bytes.max(1)).any(|window| self.is(window)))
    }
}

impl Secret {
    /// How long it is, in bytes.
    pub const fn len(&self) -> usize {
        match self {
            Self::Value(value) => value.len(),
            Self::Kept(kept) => kept.bytes,
        }
    }

    /// Whether there is nothing to look for.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether `content` holds its value.
    pub fn occurs_in(&self, content: &[u8]) -> bool {
        match self {
            Self::Value(value) => memchr::memmem::find(content, value.as_bytes()).is_some(),
            Self::Kept(kept) => kept.occurs_in(content),
        }
    }
}

/// Whether a variable that looks like a credential (D7.7) can hold one: `GH_HOST` and `AWS_REGION` do not.
fn holds_credential(name: &str) -> bool {
    const PARTS: [&str; 6] = ["TOKEN", "SECRET", "PASSWORD", "KEY", "AUTH", "HEADERS"];
    let upper = name.to_ascii_uppercase();
    is_credential_name(name)
        && (PARTS.iter().any(|part| upper.contains(part))
            || name == "DATABASE_URL"
            || name.starts_with("GIT_CONFIG"))
}

fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use test_case::test_case;

    use super::*;

    fn kept(value: &str) -> Secret {
        Secret::Kept(HandedOut::of_account("CLAUDE_CODE_OAUTH_TOKEN", value).unwrap())
    }

    #[test]
    fn c3_3_a_value_is_found_wherever_it_stands() {
        for secret in [Secret::Value("sssecret-1".to_owned()), kept("sssecret-1")] {
            assert!(secret.occurs_in(b"ssssecret-1"), "{secret:?}");
            assert!(secret.occurs_in(b"key = \"sssecret-1\"\n"), "{secret:?}");
            assert!(secret.occurs_in(b"\0\xffsssecret-1"), "{secret:?}");
            assert!(!secret.occurs_in(b"sssecret-"), "{secret:?}");
            assert!(!secret.occurs_in(b""), "{secret:?}");
        }
        assert!(kept("two words\nand a line").occurs_in(b"'two words\nand a line'"));
    }

    #[test]
    fn c3_3_nothing_of_the_value_is_kept() {
        let kept = HandedOut::of_account("K", "  s3cret-value\n").unwrap();
        let text = serde_json::to_string(&kept).unwrap();
        assert!(!text.contains("s3cret"), "{text}");
        assert_eq!(serde_json::from_str::<HandedOut>(&text).unwrap(), kept);
        let values = ["another".to_owned(), "s3cret-value".to_owned()];
        assert_eq!(kept.found_among(&values), Secret::Value("s3cret-value".to_owned()));
        assert_eq!(kept.found_among(&values[..1]), Secret::Kept(kept.clone()));
    }

    #[test_case("NPM_TOKEN", "npm_a1b2c3d4", true)]
    #[test_case("ANTHROPIC_AUTH_TOKEN", "sk-a1b2c3d4", true)]
    #[test_case("ANTHROPIC_AUTH_TOKEN", "lmstudio", false; "a word where no key is asked for")]
    #[test_case("ANTHROPIC_API_KEY", "sk-no-key-required", false; "words where no key is asked for")]
    #[test_case("AWS_SECRET_ACCESS_KEY", "abcDEF/123", true)]
    #[test_case("DATABASE_URL", "postgres://me:pw@db/1", true)]
    #[test_case("AWS_REGION", "eu-west-1", false)]
    #[test_case("GH_HOST", "ghe1.example.org", false)]
    #[test_case("PATH", "/usr/local/bin:/bin", false)]
    #[test_case("NPM_TOKEN", "a1b2", false; "too short")]
    fn c3_3_what_counts_as_a_credential(name: &str, value: &str, expected: bool) {
        assert_eq!(HandedOut::of_variable(name, value).is_some(), expected);
    }

    proptest! {
        #[test]
        fn both_ways_of_looking_agree(content in "[ab1 ]{0,60}", value in "[ab1 ]{8,9}") {
            let value = value.trim();
            prop_assume!(value.len() >= SHORTEST_BYTES);
            let known = Secret::Value(value.to_owned()).occurs_in(content.as_bytes());
            prop_assert_eq!(kept(value).occurs_in(content.as_bytes()), known);
            prop_assert_eq!(known, content.contains(value));
        }
    }
}
