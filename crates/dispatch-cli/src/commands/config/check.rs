//! `dispatch config check`: everything that keeps a pass from working here, all at once and without any network.

use std::collections::BTreeSet;

use dispatch_core::config::Config;
use dispatch_core::triage::Lane;
use dispatch_engine::from_here;
use dispatch_engine::setup::confinement_fault;
use dispatch_engine::standstill::{self, Standstill, StandstillCause};
use dispatch_guards::permission::{Severity, lint_lists};

use crate::exit::Exit;
use crate::output;
use crate::setup::Setup;
use crate::wire::{CONFINED, Ground, Role, World};

/// Checks the configuration, the files it names, the board, the remote and what workers need of this environment.
pub(super) fn run(ground: &Ground) -> anyhow::Result<Exit> {
    let statuses = ground.missing_statuses().map(|text| Finding::new(Severity::Error, &text));
    let setup = match ground.configuration() {
        Ok(setup) => setup,
        Err(error) => {
            if let Some(finding) = &statuses {
                output::line(&finding.text)?;
            }
            return Err(error);
        }
    };
    for warning in &setup.loaded.warnings {
        output::line(&format!("warning: {warning}"))?;
    }
    for older in &setup.loaded.older {
        output::line(&format!(
            "note: `{}` is taken from the older location `{}`",
            older.path, older.file
        ))?;
    }
    let mut findings = lane_findings(&setup);
    findings.extend(loaded_findings(&setup));
    findings.extend(template_findings(&setup));
    findings.extend(statuses);
    findings.extend(confinement_findings(setup.config()));
    for narrowed in &setup.config().paths.narrowed {
        output::line(&format!("note: the built-in path rule `{narrowed}` is taken out"))?;
    }
    let (file, approved) = (setup.file.clone(), ground.changes(&setup)?.is_none());
    let mut held = false;
    match World::new(ground, setup, Role::Pass) {
        Ok(world) => {
            let here: Vec<Finding> =
                environment_findings(&world).into_iter().chain(place_finding(&world)?).collect();
            held = !here.is_empty();
            findings.extend(here);
        }
        Err(error) => findings.push(Finding::new(Severity::Error, &format!("{error:#}"))),
    }
    for finding in &findings {
        output::line(&finding.text)?;
    }
    if findings.iter().any(|finding| finding.severity == Severity::Error) {
        return Ok(Exit::Failed);
    }
    output::line(&match (approved, held) {
        (true, false) => format!("{file} can be used, and is the approved one"),
        (true, true) => format!(
            "{file} is the approved one, but as things are no worker is started from here: see the warnings"
        ),
        (false, _) => format!(
            "{file} can be used once it is approved: look at `dispatch trust --show`, then run `dispatch trust`"
        ),
    })?;
    Ok(Exit::Done)
}

/// Lanes whose workers cannot be confined as the configuration demands (W3.3).
fn confinement_findings(config: &Config) -> Vec<Finding> {
    let lanes = Lane::ALL.iter().copied().filter(|lane| config.max_parallel(*lane) > 0);
    lanes
        .filter_map(|lane| confinement_fault(config, lane, CONFINED))
        .map(|text| Finding::new(Severity::Error, &text))
        .collect()
}

/// What a worker needs of the environment that a pass runs in: this one may be another than the passes have.
fn environment_findings(world: &World) -> Vec<Finding> {
    let missing = from_here::missing(&world.ports(), &world.setup);
    let each: BTreeSet<&String> = missing.values().flatten().collect();
    each.into_iter().map(|text| Finding::new(Severity::Warning, text)).collect()
}

/// What else keeps passes from taking tasks here: a missing remote for good, a board that is elsewhere for as long as
/// another branch is checked out.
fn place_finding(world: &World) -> anyhow::Result<Option<Finding>> {
    let Some(Standstill { cause, text }) = standstill::look_at(&world.ports(), &world.setup)?
    else {
        return Ok(None);
    };
    let warning = || Finding::new(Severity::Warning, &format!("no pass takes a task here: {text}"));
    Ok(match cause {
        // An approval that is missing is told at the end.
        StandstillCause::ConfigChanged => None,
        StandstillCause::NoRemote => Some(Finding::new(Severity::Error, &text)),
        StandstillCause::ConfigUnusable
        | StandstillCause::StatusMissing
        | StandstillCause::BaseUnknown
        | StandstillCause::BoardElsewhere => Some(warning()),
    })
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

/// What is wrong with the templates (D8.3).
fn template_findings(setup: &Setup) -> Vec<Finding> {
    let errors = setup.missing_templates().into_iter().chain(setup.template_errors());
    errors.map(|error| Finding::new(Severity::Error, &error)).collect()
}
