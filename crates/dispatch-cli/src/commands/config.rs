//! `dispatch config`.

use std::collections::BTreeMap;

use dispatch_core::config;
use dispatch_core::prompt::check_template;
use dispatch_core::triage::Lane;
use dispatch_guards::permission::{Severity, lint_lists};
use serde_json::{Value, json};

use crate::args::{ConfigCommand, GlobalArgs};
use crate::exit::Exit;
use crate::output;
use crate::setup::Setup;
use crate::wire::Ground;

/// Checks or prints the configuration.
pub(super) fn run(command: ConfigCommand, global: &GlobalArgs) -> anyhow::Result<Exit> {
    match command {
        ConfigCommand::Schema => {
            output::json(&config::schema())?;
            Ok(Exit::Done)
        }
        ConfigCommand::Check => check(&Ground::find(global)?),
        ConfigCommand::Show => show(&Ground::find(global)?),
    }
}

fn check(ground: &Ground) -> anyhow::Result<Exit> {
    let setup = ground.setup()?;
    let mut exit = Exit::Done;
    for warning in &setup.loaded.warnings {
        output::line(&format!("warning: {warning}"))?;
    }
    for older in &setup.loaded.older {
        output::line(&format!(
            "note: `{}` is taken from the older location `{}`",
            older.path, older.file
        ))?;
    }
    let findings = [lane_findings(&setup), loaded_findings(&setup), template_findings(&setup)];
    for finding in findings.into_iter().flatten() {
        if finding.severity == Severity::Error {
            exit = Exit::Failed;
        }
        output::line(&finding.text)?;
    }
    for narrowed in &setup.config().paths.narrowed {
        output::line(&format!("note: the built-in path rule `{narrowed}` is taken out"))?;
    }
    let roots = ground.roots(setup.config(), Some(&setup));
    dispatch_engine::setup::Policies::of(setup.config(), &roots)?;
    if exit == Exit::Done {
        output::line(&format!("{} can be used", setup.file))?;
    }
    Ok(exit)
}

/// Something wrong with a file the configuration names.
struct Finding {
    severity: Severity,
    text: String,
}

impl Finding {
    fn new(severity: Severity, about: &str) -> Self {
        let word = match severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        Self { severity, text: format!("{word}: {about}") }
    }
}

/// What is wrong with the lanes' settings, and rules in them that are not what they look like (P4).
fn lane_findings(setup: &Setup) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (lane, settings) in &setup.lanes {
        match settings {
            Err(error) => {
                findings.push(Finding::new(Severity::Error, &format!("lane {lane}: {error}")));
            }
            Ok(settings) => {
                let rules = lint_lists(*lane, &settings.allow, &settings.deny);
                findings.extend(
                    rules
                        .iter()
                        .map(|rule| Finding::new(rule.severity, &format!("lane {lane}: {rule}"))),
                );
            }
        }
    }
    findings
}

/// What is wrong with the settings files of the agent that the lanes load, and what a person should know of them
/// (P5.1, P5.6).
fn loaded_findings(setup: &Setup) -> Vec<Finding> {
    let mut findings = Vec::new();
    for lane in Lane::ALL.iter().copied() {
        let mut found = |severity, about: String| {
            findings.push(Finding::new(severity, &format!("lane {lane}: {about}")));
        };
        match setup.agent_settings.judge(setup.config(), lane) {
            Err(why) => found(Severity::Error, why),
            Ok(files) => {
                for file in &files {
                    for overridden in file.overrides(lane) {
                        found(overridden.severity, overridden.to_string());
                    }
                    // The bare mode of the local lane runs no hooks.
                    let events: Vec<&str> = file.hook_events().collect();
                    if lane == Lane::Frontier && !events.is_empty() {
                        let events = events.join("`, `");
                        found(
                            Severity::Warning,
                            format!(
                                "`{}` has hooks (`{events}`), which run in every worker; what one answers to a tool call is obeyed, also where no rule grants it",
                                file.loaded().file
                            ),
                        );
                    }
                }
            }
        }
    }
    findings
}

/// Unknown placeholders of the templates (D8.3).
fn template_findings(setup: &Setup) -> Vec<Finding> {
    let templates = &setup.config().templates;
    let named = [
        &templates.local_system,
        &templates.frontier_addendum,
        &templates.frontier_entry,
        &templates.close_attempt,
        &templates.contract,
    ];
    let mut findings = Vec::new();
    for path in named.into_iter().flatten() {
        let Some(bytes) = setup.texts.get(path) else {
            findings.push(Finding::new(
                Severity::Error,
                &format!("the template `{path}` cannot be found"),
            ));
            continue;
        };
        let errors = check_template(&String::from_utf8_lossy(bytes));
        findings.extend(
            errors.iter().map(|error| Finding::new(Severity::Error, &format!("`{path}`: {error}"))),
        );
    }
    findings
}

/// Prints every value with its origin: the file, the older location, or the default.
fn show(ground: &Ground) -> anyhow::Result<Exit> {
    let setup = ground.setup()?;
    let mut origins = BTreeMap::new();
    leaves(&serde_json::to_value(setup.config())?, "", &mut origins);
    let values: Vec<Value> = origins
        .into_iter()
        .map(|(path, value)| {
            let given = setup
                .loaded
                .given
                .iter()
                .any(|given| path == *given || path.starts_with(&format!("{given}.")));
            let older = setup.loaded.older.iter().any(|older| path.starts_with(older.path));
            let origin = if given {
                setup.file.as_str()
            } else if older {
                "older location"
            } else {
                "default"
            };
            json!({ "path": path, "value": value, "origin": origin })
        })
        .collect();
    output::json(&values)?;
    Ok(Exit::Done)
}

fn leaves(value: &Value, path: &str, into: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (name, value) in map {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                leaves(value, &path, into);
            }
        }
        Value::Object(_)
        | Value::Array(_)
        | Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_) => {
            into.insert(path.to_owned(), value.clone());
        }
    }
}
