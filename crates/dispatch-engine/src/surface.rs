//! What a launch grants and denies, composed once for the guards and for the launch (P5, D7.4).

use camino::Utf8Path;
use dispatch_core::config::{LaneSettings, SettingSource};
use dispatch_core::id::TaskId;
use dispatch_core::launch::{Rules, built_in_deny};
use dispatch_core::path::RepoPath;
use dispatch_core::triage::Lane;
use dispatch_guards::permission::{
    LaneRules, LoadedFile, RuleSource, Severity, Surface, TaskRules, compose, lint_lists,
};
use serde_json::Value;

/// The project's settings file, as the agent names it.
pub(crate) const PROJECT_SETTINGS: &str = ".claude/settings.json";

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
}

/// Composes the surface of a launch.
pub(crate) fn surface_of(
    lane: Lane,
    settings: &LaneSettings,
    task: &TaskGrants<'_>,
    loaded: &[LoadedFile],
) -> Surface {
    let lane_rules = LaneRules {
        allow: settings.allow.clone(),
        deny: settings.deny.clone(),
        built_in_deny: built_in_deny(lane, &settings.allow),
        slots_root: Some(task.slots_root.to_string()),
    };
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
        Err(error) => rules.lane_faults.push(error.to_string()),
    }
    rules
}

/// Whether a lane loads the project's settings file.
pub(crate) fn loads_project(sources: &[SettingSource]) -> bool {
    sources.contains(&SettingSource::Project)
}

/// The allow rules of the project's settings file (P5.2); an error names what is wrong with it.
pub(crate) fn project_file(text: &[u8]) -> Result<LoadedFile, String> {
    let wrong = |why: &str| format!("`{PROJECT_SETTINGS}` {why}");
    let value: Value =
        serde_json::from_slice(text).map_err(|error| wrong(&format!("cannot be read: {error}")))?;
    let allow = match value.get("permissions").and_then(|permissions| permissions.get("allow")) {
        None => Vec::new(),
        Some(Value::Array(rules)) => rules
            .iter()
            .map(|rule| rule.as_str().map(str::to_owned))
            .collect::<Option<_>>()
            .ok_or_else(|| wrong("has a `permissions.allow` that is not a list of texts"))?,
        Some(_) => return Err(wrong("has a `permissions.allow` that is not a list of texts")),
    };
    Ok(LoadedFile { source: RuleSource::Project, file: PROJECT_SETTINGS.to_owned(), allow })
}

/// The project's settings file as a path of the tree.
pub(crate) fn project_settings_path() -> Option<RepoPath> {
    RepoPath::parse(PROJECT_SETTINGS).ok()
}
