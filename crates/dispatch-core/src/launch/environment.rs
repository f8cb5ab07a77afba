//! The environment of everything that runs in a slot: an allow-list, never what is left of a person's (D7.6, D7.7).

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8Path;

use super::presets::{Preset, preset_variables};
use crate::config::{Config, Credential};
use crate::slot::SlotName;
use crate::triage::Lane;

/// The variables of a person that are always handed on.
const ALLOWED: &[&str] = &[
    "PATH",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "CARGO_HTTP_CAINFO",
];

/// Ports of each slot.
const PORTS_PER_SLOT: u32 = 20;

/// Where a process has its private folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Places<'a> {
    /// Its `HOME`, empty at the start.
    pub home: &'a Utf8Path,
    /// Its `TMPDIR`.
    pub temporary: &'a Utf8Path,
    /// Where toolchains keep their caches; none keeps them below the home.
    pub caches: Option<&'a Utf8Path>,
}

/// Which slot a process runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotPosition<'a> {
    /// Its name.
    pub name: &'a SlotName,
    /// Its place in the configured list, from 0.
    pub index: usize,
}

/// An environment, with what may be said about it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// The variables.
    pub variables: BTreeMap<String, String>,
    /// The names that `envPassthrough` handed on.
    pub passed: BTreeSet<String>,
    /// The names whose values are never shown or written down.
    pub secret: BTreeSet<String>,
}

impl Environment {
    pub(super) fn set(&mut self, name: &str, value: impl Into<String>) {
        self.variables.insert(name.to_owned(), value.into());
    }

    /// The variables as a list, in the order of their names.
    pub fn list(&self) -> Vec<(String, String)> {
        self.variables.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

/// Whether a variable of this name looks like a credential, or moves git to another repository (D7.7).
pub fn is_credential_name(name: &str) -> bool {
    const BEGINNINGS: [&str; 11] = [
        "ANTHROPIC_",
        "CLAUDE_CODE_",
        "GH_",
        "GITHUB_",
        "NPM_",
        "NODE_AUTH_",
        "SOPS_",
        "AWS_",
        "AZURE_",
        "GOOGLE_",
        "OPENAI_",
    ];
    const ENDINGS: [&str; 5] = ["TOKEN", "SECRET", "PASSWORD", "API_KEY", "PRIVATE_KEY"];
    const NAMES: [&str; 7] = [
        "SSH_AUTH_SOCK",
        "GIT_ASKPASS",
        "SSH_ASKPASS",
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "DATABASE_URL",
    ];
    let upper = name.to_ascii_uppercase();
    BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || ENDINGS.iter().any(|ending| upper.ends_with(ending))
        || NAMES.contains(&name)
        || name.starts_with("GIT_CONFIG")
}

/// The variables by which processes of different slots keep out of each other's way (D12).
pub fn slot_variables(slot: SlotPosition<'_>, ports_base: u16) -> Vec<(String, String)> {
    let index = u32::try_from(slot.index).unwrap_or(u32::MAX);
    let port = u32::from(ports_base).saturating_add(index.saturating_mul(PORTS_PER_SLOT));
    vec![
        ("DISPATCH_SLOT".to_owned(), slot.name.to_string()),
        ("DISPATCH_SLOT_INDEX".to_owned(), slot.index.to_string()),
        ("DISPATCH_PORT_BASE".to_owned(), port.to_string()),
    ]
}

/// What is handed on of a person's environment, with the private folders and the toolchains.
pub fn base_environment(
    person: &BTreeMap<String, String>,
    passthrough: &[String],
    presets: &[Preset],
    places: Places<'_>,
) -> Environment {
    let mut environment = Environment::default();
    for (name, value) in person {
        let allowed = ALLOWED.contains(&name.as_str()) || name.starts_with("LC_");
        let passed = passes(name, passthrough);
        if !allowed && !passed {
            continue;
        }
        environment.set(name, value.clone());
        if passed && !allowed {
            environment.passed.insert(name.clone());
        }
        if is_credential_name(name) {
            environment.secret.insert(name.clone());
        }
    }
    let own_caches = places.home.join(".cache");
    let caches = places.caches.unwrap_or(&own_caches);
    environment.variables.extend(preset_variables(presets, person, caches));
    environment.set("HOME", places.home.as_str());
    environment.set("TMPDIR", places.temporary.as_str());
    environment
}

/// The environment of provisioning, hooks, formatters, generators, linters and tests: the worker's kind, without the
/// account's credential (C5.3).
pub fn command_environment(
    person: &BTreeMap<String, String>,
    config: &Config,
    lane: Lane,
    places: Places<'_>,
    slot: SlotPosition<'_>,
) -> Environment {
    let passthrough = config.env_passthrough(lane);
    let presets = presets_of(config);
    let mut environment = base_environment(person, passthrough, &presets, places);
    let of_the_account: Vec<String> = environment
        .secret
        .iter()
        .filter(|name| pays_for_the_agent(name, config))
        .cloned()
        .collect();
    for name in of_the_account {
        environment.variables.remove(&name);
        environment.passed.remove(&name);
        environment.secret.remove(&name);
    }
    environment.variables.extend(slot_variables(slot, config.ports.base));
    environment.set("BACKLOG_DISPATCH_ACTIVE", "1");
    // Package managers that link from a shared store would put hard links into the slot (D6.7).
    environment.set("npm_config_package_import_method", "copy");
    environment.set("UV_LINK_MODE", "copy");
    environment
}

/// Whether a variable holds the account the agent runs on: the configured one, or any that the agent itself reads.
fn pays_for_the_agent(name: &str, config: &Config) -> bool {
    let configured = match &config.agent.credential {
        Credential::Env(variable) => name == variable,
        Credential::Helper(_) => false,
    };
    configured || name.starts_with("ANTHROPIC_") || name.starts_with("CLAUDE_CODE_")
}

/// The configured presets; the configuration admits no other names.
pub(super) fn presets_of(config: &Config) -> Vec<Preset> {
    config.confinement.presets.iter().filter_map(|name| name.parse().ok()).collect()
}

/// Whether the list hands on `name`: a credential-looking one only by its full name.
fn passes(name: &str, passthrough: &[String]) -> bool {
    passthrough.iter().any(|entry| match entry.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning) && !is_credential_name(name),
        None => entry == name,
    })
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("ANTHROPIC_BASE_URL", true)]
    #[test_case("CLAUDE_CODE_OAUTH_TOKEN", true)]
    #[test_case("GH_HOST", true)]
    #[test_case("NPM_TOKEN", true)]
    #[test_case("npm_config_cache", false)]
    #[test_case("My_Token", true)]
    #[test_case("DB_PASSWORD", true)]
    #[test_case("STRIPE_API_KEY", true)]
    #[test_case("deploy_private_key", true)]
    #[test_case("TOKEN_BUDGET", false)]
    #[test_case("SSH_AUTH_SOCK", true)]
    #[test_case("GIT_CONFIG_COUNT", true)]
    #[test_case("GIT_DIR", true)]
    #[test_case("GIT_AUTHOR_NAME", false)]
    #[test_case("DATABASE_URL", true)]
    #[test_case("PATH", false)]
    fn n69_d7_7_credential_looking_names(name: &str, expected: bool) {
        assert_eq!(is_credential_name(name), expected);
    }

    #[test]
    fn d12_slots_have_blocks_of_ports() {
        let name = SlotName::parse("dispatch-3").unwrap();
        let variables = slot_variables(SlotPosition { name: &name, index: 2 }, 42000);
        let expected = [
            ("DISPATCH_SLOT", "dispatch-3"),
            ("DISPATCH_SLOT_INDEX", "2"),
            ("DISPATCH_PORT_BASE", "42040"),
        ];
        assert_eq!(variables, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn d7_6_only_the_allow_list_and_what_is_named_passes() {
        let person: BTreeMap<String, String> = [
            ("PATH", "/bin"),
            ("LC_ALL", "C"),
            ("HOME", "/home/me"),
            ("EDITOR", "vi"),
            ("APP_MODE", "test"),
            ("APP_TOKEN", "s3cret"),
            ("NPM_TOKEN", "s3cret"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
        let places = Places { home: "/p/h".into(), temporary: "/p/t".into(), caches: None };
        let passthrough = ["APP_*".to_owned(), "NPM_TOKEN".to_owned()];
        let environment = base_environment(&person, &passthrough, &[Preset::Rust], places);
        let names: Vec<&str> = environment.variables.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            [
                "APP_MODE",
                "CARGO_HOME",
                "HOME",
                "LC_ALL",
                "NPM_TOKEN",
                "PATH",
                "RUSTUP_HOME",
                "TMPDIR"
            ]
        );
        assert_eq!(environment.variables["HOME"], "/p/h");
        assert_eq!(environment.variables["RUSTUP_HOME"], "/home/me/.rustup");
        assert_eq!(environment.variables["CARGO_HOME"], "/p/h/.cache/cargo");
        assert_eq!(environment.secret.iter().collect::<Vec<_>>(), ["NPM_TOKEN"]);
    }
}
