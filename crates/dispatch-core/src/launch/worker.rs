//! The worker's command line and environment.

use std::collections::BTreeMap;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;
use serde_json::{Value, json};
use thiserror::Error;

use super::environment::{
    Environment, Places, SlotPosition, base_environment, presets_of, slot_variables,
};
use super::tools::{PERMISSION_MODE, expected_surface, tool_of};
use crate::config::{Config, Credential, LaneSettings, SettingSource, usable_model};
use crate::id::TaskId;
use crate::names::PauseCause;
use crate::outcome::ExpectedSurface;
use crate::secret::HandedOut;
use crate::triage::Lane;

/// The variables that are ours: no settings file and no passthrough may set them.
const OURS: &[&str] = &[
    "HOME",
    "TMPDIR",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_CODE_TMPDIR",
    "DISPATCH_ATTEMPT",
    "DISPATCH_TASK_ID",
    "DISPATCH_MAILBOX",
    "DISPATCH_SLOT",
    "DISPATCH_SLOT_INDEX",
    "DISPATCH_PORT_BASE",
    "BACKLOG_DISPATCH_ACTIVE",
    "BACKLOG_CWD",
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "DISABLE_AUTOUPDATER",
];

/// Whether the dispatcher sets this variable of a worker itself.
pub fn is_set_by_us(name: &str) -> bool {
    OURS.contains(&name)
}

/// Everything a worker's launch depends on.
#[derive(Debug, Clone, Copy)]
pub struct LaunchRequest<'a> {
    /// The task.
    pub id: &'a TaskId,
    /// The lane.
    pub lane: Lane,
    /// The model: of the task's path on the frontier lane, of the lane's settings on the local one.
    pub model: &'a str,
    /// The configuration.
    pub config: &'a Config,
    /// The lane's settings.
    pub settings: &'a LaneSettings,
    /// The composed lists, and what is wrong with them.
    pub rules: &'a Rules,
    /// Where everything is.
    pub places: WorkerPlaces<'a>,
    /// The slot.
    pub slot: SlotPosition<'a>,
    /// A text that no other attempt on this machine has (`DISPATCH_ATTEMPT`).
    pub marker: &'a str,
    /// The environment of the dispatcher.
    pub person: &'a BTreeMap<String, String>,
}

/// The rules of a launch as the permission algebra composed them (D7.4), and what it found wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// Everything granted, without duplicates.
    pub allow: Vec<String>,
    /// Everything denied, without duplicates.
    pub deny: Vec<String>,
    /// Rules of the lane's own lists that are refused, each with the reason (P4), and conflicts with loaded rules
    /// (P5.4): the lane pauses.
    pub lane_faults: Vec<String>,
    /// The same for the rules of the task's own test command: the task is blocked.
    pub task_faults: Vec<String>,
    /// That the lists do not fit the arguments of a program (P4.4): the lane pauses.
    pub too_long: Option<String>,
}

/// Where everything of an attempt is. Every path is absolute.
#[derive(Debug, Clone, Copy)]
pub struct WorkerPlaces<'a> {
    /// The slot.
    pub slot: &'a Utf8Path,
    /// The board root.
    pub board_root: &'a Utf8Path,
    /// The private home, empty.
    pub home: &'a Utf8Path,
    /// The private temporary folder, its path short.
    pub temporary: &'a Utf8Path,
    /// The private configuration folder of the agent.
    pub configuration: &'a Utf8Path,
    /// Where requests to the board are put.
    pub mailbox: &'a Utf8Path,
    /// Where toolchains keep the slot's caches; none keeps them in the private home.
    pub caches: Option<&'a Utf8Path>,
    /// The prompt.
    pub prompt: &'a Utf8Path,
    /// The system prompt.
    pub system_prompt: &'a Utf8Path,
}

/// A worker's launch, complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The arguments after the program's name.
    pub argv: Vec<String>,
    /// The environment.
    pub environment: Environment,
    /// The working directory.
    pub cwd: Utf8PathBuf,
    /// The file that is opened as standard input.
    pub stdin: Utf8PathBuf,
    /// The limits.
    pub limits: Limits,
    /// What the agent must say it has (D9.11).
    pub expected: ExpectedSurface,
    /// How the account's credential gets to the worker.
    pub account: Account,
}

/// The limits of a worker, in machine-awake time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Of the whole run.
    pub timeout: Duration,
    /// Of time without output.
    pub stall: Option<Duration>,
}

/// How the account's credential gets to the worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind", content = "name")]
pub enum Account {
    /// In this variable.
    Variable(String),
    /// The configured variable is not set or empty: the agent will say that it is not logged in.
    MissingVariable(String),
    /// From a helper program; nothing of it is in the environment.
    Helper,
    /// The lane's settings bring their own address or key; the account's is not handed to them.
    Settings,
}

/// Why a launch may not be made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("cannot launch a worker: {why}")]
pub struct LaunchRefusal {
    /// Whose fault it is.
    pub because_of: RefusedBecauseOf,
    /// What is wrong, and with which value.
    pub why: String,
}

/// Whose fault a refused launch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusedBecauseOf {
    /// The lane's: it pauses with this cause, the task waits.
    Lane(PauseCause),
    /// The task's own rule: it is blocked.
    Task,
}

impl LaunchRefusal {
    fn lane(why: String) -> Self {
        Self { because_of: RefusedBecauseOf::Lane(PauseCause::LaunchRefused), why }
    }
}

impl Launch {
    /// What is kept of the credentials that the worker is given (C3.3).
    pub fn handed_out(&self) -> Vec<HandedOut> {
        let of = |name: &String| {
            let value = self.environment.variables.get(name)?;
            match &self.account {
                Account::Variable(account) if account == name => HandedOut::of_account(name, value),
                Account::Variable(_)
                | Account::MissingVariable(_)
                | Account::Helper
                | Account::Settings => HandedOut::of_variable(name, value),
            }
        };
        self.environment.secret.iter().filter_map(of).collect()
    }

    /// What `launch.json` holds: everything but the values of secrets.
    pub fn record(&self) -> Value {
        let shown = |(name, value): (&String, &String)| {
            let secret = self.environment.secret.contains(name);
            (name.clone(), if secret { Value::Null } else { Value::from(value.as_str()) })
        };
        let env: serde_json::Map<String, Value> =
            self.environment.variables.iter().map(shown).collect();
        json!({
            "argv": self.argv,
            "cwd": self.cwd,
            "stdin": self.stdin,
            "env": env,
            "passedThrough": self.environment.passed,
            "secret": self.environment.secret,
            "account": self.account,
            "limits": {
                "timeoutS": self.limits.timeout.as_secs_f64(),
                "stallS": self.limits.stall.map(|stall| stall.as_secs_f64()),
            },
        })
    }
}

/// Builds the launch of a worker, or says why it may not be made.
pub fn build_launch(request: &LaunchRequest<'_>) -> Result<Launch, LaunchRefusal> {
    refuse_rules(request)?;
    refuse_values(request)?;
    let (environment, account) = environment(request)?;
    let Rules { allow, deny, .. } = request.rules;
    Ok(Launch {
        argv: argv(request),
        environment,
        cwd: request.places.slot.to_owned(),
        stdin: request.places.prompt.to_owned(),
        limits: Limits {
            timeout: request.config.timeout(request.lane),
            stall: request.config.stall_timeout(request.lane),
        },
        expected: expected_surface(request.lane, allow, deny),
        account,
    })
}

fn refuse_rules(request: &LaunchRequest<'_>) -> Result<(), LaunchRefusal> {
    if !request.rules.lane_faults.is_empty() {
        return Err(LaunchRefusal::lane(request.rules.lane_faults.join("; ")));
    }
    if !request.rules.task_faults.is_empty() {
        return Err(LaunchRefusal {
            because_of: RefusedBecauseOf::Task,
            why: request.rules.task_faults.join("; "),
        });
    }
    if let Some(why) = &request.rules.too_long {
        let because_of = RefusedBecauseOf::Lane(PauseCause::DenyListTooLong);
        return Err(LaunchRefusal { because_of, why: why.clone() });
    }
    let lane_allow = &request.settings.allow;
    let settings = request.config.settings_path(request.lane);
    let grants = |tools: &[&str]| lane_allow.iter().any(|rule| tools.contains(&tool_of(rule)));
    let writers: &[&str] = match request.lane {
        // The bare mode has no other tool that writes.
        Lane::Local => &["Edit"],
        Lane::Frontier => &["Edit", "Write"],
    };
    for (tools, what) in [(&["Read"][..], "reads"), (writers, "writes")] {
        if !grants(tools) {
            return Err(LaunchRefusal::lane(format!(
                "`permissions.allow` of {settings} holds no rule that {what} files (`{}`): a worker could do nothing",
                tools.join("` or `")
            )));
        }
    }
    Ok(())
}

fn refuse_values(request: &LaunchRequest<'_>) -> Result<(), LaunchRefusal> {
    let system_prompt = request.places.system_prompt;
    if !system_prompt.is_absolute() {
        return Err(LaunchRefusal::lane(format!(
            "the system prompt `{system_prompt}` is not an absolute path: the agent would look for it in the slot, where a worker writes"
        )));
    }
    if !usable_model(request.model) {
        return Err(LaunchRefusal::lane(format!(
            "the model `{}` is not a name the agent takes (not beginning with `-`, no blanks)",
            request.model.escape_debug()
        )));
    }
    let usable_rule = |rule: &&String| {
        !rule.trim().is_empty() && !rule.starts_with('-') && !rule.chars().any(char::is_control)
    };
    let mut lists = request.rules.allow.iter().chain(&request.rules.deny);
    if let Some(rule) = lists.find(|rule| !usable_rule(rule)) {
        return Err(LaunchRefusal::lane(format!(
            "the permission rule `{}` cannot be passed as an argument",
            rule.escape_debug()
        )));
    }
    if let Some(name) = request.settings.env.keys().find(|name| is_set_by_us(name)) {
        return Err(LaunchRefusal::lane(format!(
            "`env.{name}` of {} is set by the dispatcher: take it out",
            request.config.settings_path(request.lane)
        )));
    }
    Ok(())
}

fn argv(request: &LaunchRequest<'_>) -> Vec<String> {
    let mut argv = Vec::new();
    let mut add = |words: &[&str]| argv.extend(words.iter().map(ToString::to_string));
    let sources = sources(request.config.setting_sources(request.lane));
    let helper = helper_settings(request);
    let settings = helper.iter().flat_map(|json| ["--settings", json.as_str()]);
    let settings: Vec<&str> = settings.collect();
    let system_prompt = request.places.system_prompt.as_str();
    match request.lane {
        Lane::Local => {
            add(&["-p", "--bare", "--strict-mcp-config", "--setting-sources", &sources]);
            add(&settings);
            add(&["--disable-slash-commands", "--no-session-persistence"]);
            add(&["--append-system-prompt-file", system_prompt]);
        }
        Lane::Frontier => {
            add(&["-p", "--setting-sources", &sources]);
            add(&settings);
            add(&["--strict-mcp-config", "--append-system-prompt-file", system_prompt]);
        }
    }
    add(&["--permission-mode", PERMISSION_MODE]);
    for (flag, list) in
        [("--allowedTools", &request.rules.allow), ("--disallowedTools", &request.rules.deny)]
    {
        add(&[flag]);
        // Without a value the flag would take the next flag for one.
        let empty = list.is_empty().then_some("");
        add(&list.iter().map(String::as_str).chain(empty).collect::<Vec<_>>());
    }
    let lanes = &request.config.lanes;
    match request.lane {
        Lane::Local => {
            add(&["--effort", lanes.local.effort.as_str()]);
            add(&["--max-turns", &lanes.local.max_turns.to_string()]);
        }
        Lane::Frontier => {
            add(&["--max-turns", &lanes.frontier.max_turns.to_string()]);
            if let Some(budget) = lanes.frontier.max_budget_usd {
                add(&["--max-budget-usd", &budget.to_string()]);
            }
        }
    }
    add(&["--output-format", "stream-json", "--verbose", "--model", request.model]);
    argv
}

/// The value of `--setting-sources`; leaving the flag out would load everything.
fn sources(sources: &[SettingSource]) -> String {
    sources.iter().map(|source| source.as_str()).collect::<Vec<_>>().join(",")
}

/// The settings that name the credential helper, as the agent takes them.
fn helper_settings(request: &LaunchRequest<'_>) -> Option<String> {
    match &request.config.agent.credential {
        Credential::Helper(argv) if !brings_its_own(request.lane, request.settings) => {
            super::reviewer::helper_json(argv)
        }
        Credential::Helper(_) | Credential::Env(_) => None,
    }
}

/// Whether the lane's settings name another provider or key: the account's credential must not go there.
fn brings_its_own(lane: Lane, settings: &LaneSettings) -> bool {
    const OWN: [&str; 3] = ["ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"];
    lane == Lane::Local && OWN.iter().any(|name| settings.env.contains_key(*name))
}

/// The variable that has to be set where the dispatcher runs, for a worker of a lane to have an account.
pub fn account_variable<'a>(
    config: &'a Config,
    lane: Lane,
    settings: &LaneSettings,
) -> Option<&'a str> {
    match &config.agent.credential {
        Credential::Env(name) if !brings_its_own(lane, settings) => Some(name),
        Credential::Env(_) | Credential::Helper(_) => None,
    }
}

fn environment(request: &LaunchRequest<'_>) -> Result<(Environment, Account), LaunchRefusal> {
    let places = &request.places;
    let base = Places { home: places.home, temporary: places.temporary, caches: places.caches };
    let passthrough = request.config.env_passthrough(request.lane);
    if let Some(name) = passthrough.iter().find(|name| is_set_by_us(name)) {
        return Err(LaunchRefusal::lane(format!(
            "`lanes.{}.envPassthrough` names `{name}`, which the dispatcher sets",
            request.lane
        )));
    }
    let presets = presets_of(request.config);
    let mut environment = base_environment(request.person, passthrough, &presets, base);
    environment.set("CLAUDE_CONFIG_DIR", places.configuration.as_str());
    environment.set("CLAUDE_CODE_TMPDIR", places.temporary.as_str());
    environment.set("DISPATCH_ATTEMPT", request.marker);
    environment.set("DISPATCH_TASK_ID", request.id.as_str());
    environment.set("DISPATCH_MAILBOX", places.mailbox.as_str());
    environment.set("BACKLOG_DISPATCH_ACTIVE", "1");
    environment.set("BACKLOG_CWD", places.board_root.as_str());
    environment.set("CLAUDE_PROJECT_DIR", places.slot.as_str());
    for name in [
        "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        "DISABLE_AUTOUPDATER",
    ] {
        environment.set(name, "1");
    }
    environment.variables.extend(slot_variables(request.slot, request.config.ports.base));
    let account = account(request, &mut environment);
    for (name, value) in &request.settings.env {
        environment.set(name, value.clone());
        if super::is_credential_name(name) && name != "ANTHROPIC_BASE_URL" {
            environment.secret.insert(name.clone());
        }
    }
    Ok((environment, account))
}

fn account(request: &LaunchRequest<'_>, environment: &mut Environment) -> Account {
    if brings_its_own(request.lane, request.settings) {
        return Account::Settings;
    }
    match &request.config.agent.credential {
        Credential::Helper(_) => Account::Helper,
        Credential::Env(name) => match request.person.get(name).filter(|value| !value.is_empty()) {
            Some(value) => {
                environment.set(name, value.clone());
                environment.secret.insert(name.clone());
                Account::Variable(name.clone())
            }
            None => Account::MissingVariable(name.clone()),
        },
    }
}
