//! All of git's configuration, asked at once.

use crate::GitError;
use crate::git::GitCall;

/// What the configuration says, in git's order: of several values under one name the last one holds.
#[derive(Debug, Default)]
pub(crate) struct Configured {
    entries: Vec<(String, String)>,
}

impl Configured {
    /// What the repository that `call` is about is configured to.
    pub(crate) fn read(call: &GitCall) -> Result<Self, GitError> {
        let bytes = call.clone().args(["config", "--list", "-z"]).output()?;
        Ok(Self::of(&String::from_utf8_lossy(&bytes)))
    }

    fn of(list: &str) -> Self {
        let entries = list
            .split('\0')
            .filter(|entry| !entry.is_empty())
            // A name without a value stands for `true`, which is the value of nothing that is asked here.
            .map(|entry| entry.split_once('\n').unwrap_or((entry, "")))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        Self { entries }
    }

    /// The value that holds under a name, written as git lists it: its first and last parts in small letters.
    pub(crate) fn last(&self, name: &str) -> Option<&str> {
        self.entries.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Everything configured under names that `wanted` picks.
    pub(crate) fn all(&self, wanted: impl Fn(&str) -> bool) -> Vec<(String, String)> {
        self.entries.iter().filter(|(key, _)| wanted(key)).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_holds_and_every_value_keeps_its_lines() {
        let list = "core.sshcommand\nssh -1\0core.bare\0core.sshcommand\nssh\n-2\0credential.https://h.helper\n\0";
        let configured = Configured::of(list);
        assert_eq!(configured.last("core.sshcommand"), Some("ssh\n-2"));
        assert_eq!(configured.last("core.bare"), Some(""));
        assert_eq!(configured.last("core.excludesfile"), None);
        let helpers = configured.all(|name| name.starts_with("credential."));
        assert_eq!(helpers, [("credential.https://h.helper".to_owned(), String::new())]);
    }
}
