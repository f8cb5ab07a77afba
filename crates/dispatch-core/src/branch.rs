//! Branch names, and the branches and refs of a task.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::attempt::AttemptNumber;
use crate::id::TaskId;

/// The short name of a branch that git accepts and that nothing can mistake for an option or a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct BranchName(String);

/// A text that is not a usable branch name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{found}` is not a branch name git accepts")]
pub struct BranchNameError {
    /// The text.
    pub found: String,
}

impl BranchName {
    /// Reads a branch name by the rules of `git check-ref-format --branch`.
    pub fn parse(text: &str) -> Result<Self, BranchNameError> {
        let refused_char =
            |c: char| c.is_control() || matches!(c, ' ' | '~' | '^' | ':' | '?' | '*' | '[' | '\\');
        let bad_part = |part: &str| {
            part.is_empty() || part.starts_with('.') || part.strip_suffix(".lock").is_some()
        };
        let bad = text.is_empty()
            || text.len() > 200
            || text == "@"
            || text == "HEAD"
            || text.starts_with('-')
            || text.ends_with('.')
            || text.starts_with("refs/")
            || text.contains("..")
            || text.contains("@{")
            || text.contains(refused_char)
            || text.split('/').any(bad_part);
        if bad {
            Err(BranchNameError { found: text.chars().take(200).collect() })
        } else {
            Ok(Self(text.to_owned()))
        }
    }

    /// The short name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The full ref on the remote, `refs/heads/<name>`.
    pub fn full_ref(&self) -> String {
        format!("refs/heads/{}", self.0)
    }

    /// Where the view fetched from the remote is kept, `refs/dispatch/remote/<name>`.
    pub fn fetched_ref(&self) -> String {
        format!("refs/dispatch/remote/{}", self.0)
    }
}

impl fmt::Display for BranchName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl<'de> Deserialize<'de> for BranchName {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// The branch of a task: `<prefix><ID>`, with `-r<k>` for the k-th time it is queued again after a merge.
pub fn task_branch(
    prefix: &str,
    id: &TaskId,
    merged_before: u32,
) -> Result<BranchName, BranchNameError> {
    let again = if merged_before == 0 { String::new() } else { format!("-r{merged_before}") };
    BranchName::parse(&format!("{prefix}{}{again}", id.canonical()))
}

/// Where the saved work of an attempt is kept, `refs/dispatch/attempts/<ID>/<N>`.
pub fn attempt_ref(id: &TaskId, attempt: AttemptNumber) -> String {
    format!("refs/dispatch/attempts/{}/{attempt}", id.canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_git_refuses_are_refused() {
        for text in [
            "",
            "-x",
            "a..b",
            "a b",
            "a~",
            "a^",
            "a:b",
            "x.lock",
            "a/.b",
            "a//b",
            "/a",
            "a/",
            "@",
            "a@{b",
            "a\\b",
            "a.",
            "refs/heads/x",
            "a\nb",
        ] {
            assert!(BranchName::parse(text).is_err(), "{text:?}");
        }
        assert!(BranchName::parse("task/T-5.1").is_ok());
    }

    #[test]
    fn branches_and_refs_carry_the_canonical_id() {
        let id = TaskId::parse("t-007.1").unwrap();
        assert_eq!(task_branch("task/", &id, 0).unwrap().as_str(), "task/T-7.1");
        assert_eq!(task_branch("task/", &id, 2).unwrap().as_str(), "task/T-7.1-r2");
        assert_eq!(attempt_ref(&id, AttemptNumber::FIRST.next()), "refs/dispatch/attempts/T-7.1/2");
    }
}
