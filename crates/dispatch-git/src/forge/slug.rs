//! Which repository on GitHub an address means.

/// A repository on GitHub or a GitHub Enterprise host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitHubRepository {
    /// The host.
    pub host: String,
    /// The account.
    pub owner: String,
    /// The name.
    pub name: String,
}

impl GitHubRepository {
    /// Reads the address of a remote, if it has the form of one on a forge: `https://host/owner/name`,
    /// `ssh://git@host/owner/name`, `git@host:owner/name`, each with or without `.git`.
    pub fn of_url(url: &str) -> Option<Self> {
        let (host, path) = match url.split_once("://") {
            Some(("https" | "http" | "ssh" | "git" | "git+ssh", rest)) => rest.split_once('/')?,
            Some(_) => return None,
            None => url.split_once(':').filter(|(host, _)| !host.contains('/'))?,
        };
        let host = host.rsplit('@').next()?.split(':').next()?.to_ascii_lowercase();
        // GitHub's own other name for ssh through the port of https.
        let host = if host == "ssh.github.com" { "github.com".to_owned() } else { host };
        let path = path.trim_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path);
        let (owner, name) = path.split_once('/')?;
        let plain = |part: &str| {
            !part.is_empty()
                && part
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
                && !part.starts_with('.')
        };
        (plain(&host) && plain(owner) && plain(name)).then(|| Self {
            host,
            owner: owner.to_owned(),
            name: name.to_owned(),
        })
    }

    /// Whether the host is GitHub's by its name; an Enterprise host may have any.
    pub fn is_on_github(&self) -> bool {
        self.host == "github.com"
            || self.host == "github.localhost"
            || self.host.ends_with(".ghe.com")
            || self.host.starts_with("github.")
    }

    /// `owner/name`.
    pub fn slug(&self) -> String {
        format!("{}/{}", self.owner, self.name)
    }

    /// Whether `url` is the address of this repository's pull request `number`.
    pub(super) fn is_address_of(&self, url: &str, number: u64) -> bool {
        let scheme = if self.host == "github.localhost" { "http" } else { "https" };
        let expected = format!("{scheme}://{}/{}/pull/{number}", self.host, self.slug());
        number > 0 && url.eq_ignore_ascii_case(&expected)
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("https://github.com/acme/widgets.git", Some("github.com acme/widgets"); "https")]
    #[test_case("https://me:token@github.com/acme/widgets", Some("github.com acme/widgets"); "credentials")]
    #[test_case("git@github.com:acme/widgets.git", Some("github.com acme/widgets"); "short ssh")]
    #[test_case("ssh://git@ssh.github.com:443/acme/widgets.git", Some("github.com acme/widgets"); "ssh on the https port")]
    #[test_case("https://GitHub.example.org/acme/widgets/", Some("github.example.org acme/widgets"); "enterprise")]
    #[test_case("/srv/git/widgets.git", None; "a path")]
    #[test_case("file:///srv/git/widgets.git", None; "a file address")]
    #[test_case("https://github.com/acme", None; "no name")]
    #[test_case("https://github.com/acme/wid/gets", None; "too deep")]
    #[test_case("git@github.com:acme/wid?gets", None; "odd characters")]
    fn c9_5_a_remote_address_names_a_repository(url: &str, expected: Option<&str>) {
        let found = GitHubRepository::of_url(url);
        assert_eq!(found.map(|r| format!("{} {}", r.host, r.slug())).as_deref(), expected);
    }

    #[test]
    fn a_pull_request_address_has_the_right_form_or_is_none() {
        let repository = GitHubRepository::of_url("git@github.com:acme/widgets").unwrap();
        assert!(repository.is_address_of("https://github.com/Acme/widgets/pull/7", 7));
        for url in
            ["", "https://github.com/acme/widgets/pull/8", "https://evil/acme/widgets/pull/7"]
        {
            assert!(!repository.is_address_of(url, 7), "{url}");
        }
    }
}
