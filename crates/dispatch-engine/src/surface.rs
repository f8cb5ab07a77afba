//! What a launch grants and denies, composed once for the guards and for the launch (P5, D7.4).

use camino::Utf8Path;
use dispatch_core::config::{Config, LaneSettings, SettingSource};
use dispatch_core::id::TaskId;
use dispatch_core::launch::{Rules, built_in_deny};
use dispatch_core::path::RepoPath;
use dispatch_core::triage::Lane;
use dispatch_guards::permission::{
    LaneRules, LoadedFile, RuleSource, SettingsFile, Severity, Surface, SurfaceError, TaskRules,
    compose, lint_lists,
};

use crate::ports::PortError;
use crate::setup::PersonSettings;

/// The project's settings file, as the agent names it.
pub const PROJECT_SETTINGS: &str = ".claude/settings.json";

/// The overlay of clicked approvals, which no worker may load (P5.1).
pub(crate) const LOCAL_SETTINGS: &str = ".claude/settings.local.json";

/// What one task adds to a lane's rules.
#[derive(Debug, Clone)]
pub(crate) struct TaskGrants<'a> {
    /// The task.
    pub(crate) id: &'a TaskId,
    /// The `worker-edit` program, absolute.
    pub(crate) worker_edit: &'a Utf8Path,
    /// The rule of the test command.
    pub(crate) test_rule: Option<String>,
    /// The folder of the slots, absolute.
    pub(crate) slots_root: &'a Utf8Path,
    /// The agent's own configuration directory, absolute.
    pub(crate) agent_home: &'a Utf8Path,
}

/// The rules of a lane, as the permission algebra takes them.
pub(crate) fn lane_rules(
    lane: Lane,
    settings: &LaneSettings,
    slots_root: &Utf8Path,
    agent_home: Option<&Utf8Path>,
) -> LaneRules {
    LaneRules {
        allow: settings.allow.clone(),
        deny: settings.deny.clone(),
        built_in_deny: built_in_deny(lane, &settings.allow),
        slots_root: Some(slots_root.to_string()),
        agent_home: agent_home.map(Utf8Path::to_string),
    }
}

/// Composes the surface of a launch.
pub(crate) fn surface_of(
    lane: Lane,
    settings: &LaneSettings,
    task: &TaskGrants<'_>,
    loaded: &[LoadedFile],
) -> Surface {
    let lane_rules = lane_rules(lane, settings, task.slots_root, Some(task.agent_home));
    let task_rules = TaskRules {
        worker_edit: Some(worker_edit_rule(task.worker_edit, task.id)),
        test_command: task.test_rule.clone(),
    };
    compose(&lane_rules, &task_rules, loaded)
}

/// The rule for the task's board command, and nothing else of the board (W1).
pub(crate) fn worker_edit_rule(worker_edit: &Utf8Path, id: &TaskId) -> String {
    format!("Bash({worker_edit} {id}:*)")
}

/// The lists of a launch, with everything that refuses it (D7.5).
pub(crate) fn rules_of(lane: Lane, settings: &LaneSettings, surface: &Surface) -> Rules {
    let mut rules = Rules::default();
    for finding in lint_lists(lane, &settings.allow, &settings.deny) {
        if finding.severity == Severity::Error {
            rules.lane_faults.push(finding.to_string());
        }
    }
    for conflict in &surface.conflicts {
        let text = format!(
            "`{}` of {} lies across the granted `{}`",
            conflict.loaded, conflict.file, conflict.granted.rule
        );
        match conflict.granted.origin {
            dispatch_guards::permission::GrantOrigin::TestCommand => rules.task_faults.push(text),
            dispatch_guards::permission::GrantOrigin::Lane
            | dispatch_guards::permission::GrantOrigin::WorkerEdit
            | dispatch_guards::permission::GrantOrigin::Free => rules.lane_faults.push(text),
        }
    }
    match surface.lists() {
        Ok((allow, deny)) => {
            rules.allow = allow;
            rules.deny = deny;
        }
        // Each is told of above, by whose fault it is.
        Err(SurfaceError::Conflict { .. }) => {}
        Err(error @ (SurfaceError::TooLong { .. } | SurfaceError::RuleTooLong { .. })) => {
            rules.too_long = Some(error.to_string());
        }
    }
    rules
}

/// Whether a lane loads the project's settings file.
pub(crate) fn loads_project(sources: &[SettingSource]) -> bool {
    sources.contains(&SettingSource::Project)
}

/// Whether a lane loads the person's settings file.
pub(crate) fn loads_user(sources: &[SettingSource]) -> bool {
    sources.contains(&SettingSource::User)
}

/// A settings file as a path of the tree.
pub(crate) fn tree_path(path: &str) -> Result<RepoPath, PortError> {
    RepoPath::parse(path).map_err(|source| PortError::new(format!("look for `{path}`"), source))
}

/// The settings files that a worker of `lane` loads, in the order of its sources (P5.1, P5.2): the person's as it was
/// read with the configuration, the project's as it lies at a base commit. The error says what refuses them.
pub(crate) fn settings_files(
    config: &Config,
    lane: Lane,
    person: &PersonSettings,
    at_base: impl Fn() -> Result<Option<Vec<u8>>, String>,
) -> Result<Vec<SettingsFile>, String> {
    let mut files = Vec::new();
    for source in config.setting_sources(lane) {
        let (source, name, text) = match source {
            SettingSource::User => {
                let text = person.text.as_ref().map_err(String::clone)?;
                let bytes = text.as_ref().map(|text| text.clone().into_bytes());
                (RuleSource::User, person.file.as_str(), bytes)
            }
            SettingSource::Project => (RuleSource::Project, PROJECT_SETTINGS, at_base()?),
        };
        let Some(text) = text else { continue };
        let file = SettingsFile::parse(source, name, &text).map_err(|fault| fault.to_string())?;
        let refused: Vec<String> = file
            .overrides(lane)
            .iter()
            .filter(|found| found.severity == Severity::Error)
            .map(ToString::to_string)
            .collect();
        if !refused.is_empty() {
            return Err(refused.join("\n"));
        }
        files.push(file);
    }
    Ok(files)
}

/// The allow rules of settings files.
pub(crate) fn loaded(files: &[SettingsFile]) -> Vec<LoadedFile> {
    files.iter().map(SettingsFile::loaded).collect()
}
