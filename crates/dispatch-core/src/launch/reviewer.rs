//! The reviewer's command line and environment (C7.1).

use std::collections::BTreeMap;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::json;

use super::environment::{Environment, Places, base_environment, presets_of};
use super::tools::{FRONTIER_DENIED_TOOLS, PERMISSION_MODE};
use super::worker::Account;
use crate::config::{Config, Credential, usable_model};
use crate::triage::Lane;

/// The most turns of a review: it may open files of the tree, not wander about in it.
pub const REVIEWER_MAX_TURNS: u32 = 40;

/// The schema that a verdict has to satisfy (C7.2); it is validated again when it comes back.
pub const VERDICT_SCHEMA: &str = r#"{"type":"object","properties":{"token":{"type":"string"},"verdict":{"type":"string","enum":["approve","request-changes"]},"findings":{"type":"array","items":{"type":"string"}}},"required":["token","verdict","findings"],"additionalProperties":false}"#;

/// A reviewer's launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewerLaunch {
    /// The arguments after the program's name.
    pub argv: Vec<String>,
    /// The environment.
    pub environment: Environment,
    /// The working directory: the verification tree.
    pub cwd: Utf8PathBuf,
    /// The time limit.
    pub limit: Duration,
    /// How the account's credential gets to it.
    pub account: Account,
}

/// Builds the launch of the reviewer of `lane`; none when the lane has no reviewer.
///
/// It runs on the account's own provider: of the person's `ANTHROPIC_*` variables only the configured credential is
/// handed on, since a stale key outranks a login and the local lane's address would let the worker's model review
/// itself.
pub fn reviewer_launch(
    config: &Config,
    lane: Lane,
    person: &BTreeMap<String, String>,
    places: Places<'_>,
    configuration: &Utf8Path,
    tree: &Utf8Path,
) -> Option<ReviewerLaunch> {
    let (model, limit) = config.reviewer_of(lane)?;
    if !usable_model(model) {
        return None;
    }
    let mut argv: Vec<String> = Vec::new();
    let mut add = |words: &[&str]| argv.extend(words.iter().map(ToString::to_string));
    let helper = match &config.agent.credential {
        Credential::Helper(helper) => helper_json(helper),
        Credential::Env(_) => None,
    };
    add(&["-p", "--strict-mcp-config", "--setting-sources", ""]);
    if let Some(helper) = &helper {
        add(&["--settings", helper]);
    }
    add(&["--disable-slash-commands", "--no-session-persistence"]);
    add(&["--permission-mode", PERMISSION_MODE, "--tools", "Read", "--allowedTools", ""]);
    add(&["--disallowedTools", "Bash", "Edit", "Write", "NotebookEdit", "Agent", "Task"]);
    add(FRONTIER_DENIED_TOOLS);
    add(&["--max-turns", &REVIEWER_MAX_TURNS.to_string(), "--json-schema", VERDICT_SCHEMA]);
    add(&["--output-format", "json", "--model", model]);

    let mut environment = base_environment(person, &[], &presets_of(config), places);
    environment.set("CLAUDE_CONFIG_DIR", configuration.as_str());
    environment.set("CLAUDE_CODE_TMPDIR", places.temporary.as_str());
    environment.set("BACKLOG_DISPATCH_ACTIVE", "1");
    for name in [
        "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        "DISABLE_AUTOUPDATER",
    ] {
        environment.set(name, "1");
    }
    let account = match &config.agent.credential {
        Credential::Helper(_) => Account::Helper,
        Credential::Env(name) => match person.get(name).filter(|value| !value.is_empty()) {
            Some(value) => {
                environment.set(name, value.clone());
                environment.secret.insert(name.clone());
                Account::Variable(name.clone())
            }
            None => Account::MissingVariable(name.clone()),
        },
    };
    Some(ReviewerLaunch { argv, environment, cwd: tree.to_owned(), limit, account })
}

/// The inline settings that name a credential helper. The agent runs it through a shell, so its words are quoted.
pub(super) fn helper_json(argv: &[String]) -> Option<String> {
    let line = shlex::try_join(argv.iter().map(String::as_str)).ok()?;
    Some(json!({ "apiKeyHelper": line }).to_string())
}
