//! What the configuration says about git.

use camino::Utf8PathBuf;

/// The author and committer of our commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The name.
    pub name: String,
    /// The address.
    pub email: String,
}

impl Identity {
    /// Reads `Name <address>`, with or without a time behind it, as git and the configuration write it.
    pub fn of_ident(text: &str) -> Option<Self> {
        let (name, rest) = text.split_once('<')?;
        let (email, _) = rest.split_once('>')?;
        let (name, email) = (name.trim(), email.trim());
        (!name.is_empty()).then(|| Self { name: name.to_owned(), email: email.to_owned() })
    }
}

/// Whether the remote has one owner at a time (D2.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ownership {
    /// By a lease on the remote.
    Lease,
    /// Not looked after: the person is sure.
    Off,
}

/// The configuration of git.
#[derive(Debug, Clone)]
pub struct VcsSettings {
    /// The remote's name; its address is read once.
    pub remote: String,
    /// The configured identity of commits.
    pub identity: Option<Identity>,
    /// The command that reaches the remote with a deploy key.
    pub ssh_command: Option<String>,
    /// Filters that may run on files.
    pub filters: Vec<String>,
    /// The folder all slots are in.
    pub slots_root: Utf8PathBuf,
    /// The board's directory.
    pub board_dir: Utf8PathBuf,
    /// Whether the remote has one owner at a time.
    pub ownership: Ownership,
    /// This machine and user, for the lease.
    pub who: Who,
}

/// Who a dispatcher is, for others to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Who {
    /// The machine.
    pub host: String,
    /// The user.
    pub user: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_read_as_git_writes_it() {
        let identity = Identity::of_ident("Ada L. <ada@example.org> 1700000000 +0000").unwrap();
        assert_eq!(
            (identity.name.as_str(), identity.email.as_str()),
            ("Ada L.", "ada@example.org")
        );
        assert_eq!(Identity::of_ident(" <ada@example.org>"), None);
        assert_eq!(Identity::of_ident("Ada"), None);
    }
}
