//! What a launch grants and denies, when settings files add rules of their own (P5).

mod command_line;
mod judge;

use serde::{Deserialize, Serialize};

use self::command_line::as_command_line;
use self::judge::{JudgedRule, Judgement};
use super::files::RuleSource;
use super::relation::{PlacedRule, PreparedRule, Relation, relation_placed};
use super::rule::Rule;

/// Most bytes that the two lists may take on a command line together.
pub const MAX_LIST_BYTES: usize = 768 * 1024;
/// Most bytes of one rule: the kernel takes no longer argument.
pub const MAX_RULE_BYTES: usize = 120 * 1024;

/// Where a granted rule comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GrantOrigin {
    /// The lane's settings file.
    Lane,
    /// The board command of this task.
    WorkerEdit,
    /// The test command of this task.
    TestCommand,
    /// Nothing: the agent lets it happen without a rule.
    Free,
}

/// A granted rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Grant {
    /// The rule, as it is given on the command line.
    pub rule: String,
    /// Where it comes from.
    pub origin: GrantOrigin,
}

/// The lane's own lists.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LaneRules {
    /// `permissions.allow` of the lane's settings file.
    pub allow: Vec<String>,
    /// `permissions.deny` of the lane's settings file.
    pub deny: Vec<String>,
    /// The absolute folder that holds the slots, when it is known: reading there is free, and a denial
    /// must not take that away.
    pub slots_root: Option<String>,
    /// The agent's own configuration directory in the launch, absolute: `/x` of the person's file begins
    /// there. None where the launch names no other than the agent's default, `~/.claude`.
    pub agent_home: Option<String>,
    /// What is denied on this lane beyond its own list ([`dispatch_core::launch::FRONTIER_DENIED_TOOLS`]), unless the lane
    /// grants it.
    pub built_in_deny: Vec<String>,
}

/// The rules that one task adds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskRules {
    /// The rule for the task's board command.
    pub worker_edit: Option<String>,
    /// The rule for the task's test command.
    pub test_command: Option<String>,
}

/// The allow rules of one settings file that the agent loads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadedFile {
    /// Which source it is.
    pub source: RuleSource,
    /// Its path, for people.
    pub file: String,
    /// Its `permissions.allow`.
    pub allow: Vec<String>,
}

/// A rule that a settings file adds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Loaded {
    /// The rule with its place.
    #[serde(flatten)]
    pub placed: PlacedRule,
    /// The file that adds it.
    pub file: String,
}

/// Why a rule is denied.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum DenyReason {
    /// The lane denies it.
    Lane,
    /// It is denied on every launch of this lane.
    BuiltIn,
    /// A settings file grants it and nothing of the launch does.
    Loaded {
        /// The file.
        file: String,
    },
}

/// A denied rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Denied {
    /// The rule, as it is given on the command line.
    pub rule: String,
    /// What it is denied for.
    #[serde(flatten)]
    pub reason: DenyReason,
}

/// A loaded rule that can be neither kept nor denied (P5.4).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct RuleConflict {
    /// The loaded rule: keeping it would widen the worker.
    pub loaded: String,
    /// The file that adds it.
    pub file: String,
    /// The granted rule: denying the loaded one would take away part of it.
    pub granted: Grant,
    /// How they lie to each other, the loaded rule first.
    pub relation: Relation,
}

/// Everything a launch grants and denies.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Surface {
    /// What the worker may do.
    pub granted: Vec<Grant>,
    /// What settings files add.
    pub loaded: Vec<Loaded>,
    /// What the launch denies.
    pub denied: Vec<Denied>,
    /// What cannot be decided: such a launch is refused.
    pub conflicts: Vec<RuleConflict>,
}

/// Why a surface may not be launched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SurfaceError {
    /// A loaded rule can be neither kept nor denied.
    #[error("`{}` from {} can be neither kept nor denied beside the granted `{}`: narrow one of them",
        conflict.loaded, conflict.file, conflict.granted.rule)]
    Conflict {
        /// The first conflict.
        conflict: Box<RuleConflict>,
    },
    /// The lists do not fit into the arguments of a program.
    #[error(
        "the permission lists take {bytes} bytes, more than {MAX_LIST_BYTES}: shorten the loaded settings files"
    )]
    TooLong {
        /// Their size.
        bytes: usize,
    },
    /// One rule does not fit into an argument.
    #[error("a permission rule of {bytes} bytes is longer than {MAX_RULE_BYTES}: shorten it")]
    RuleTooLong {
        /// Its size.
        bytes: usize,
    },
}

impl Surface {
    /// The two lists, one rule an argument (P4.4): allow, deny.
    ///
    /// # Errors
    ///
    /// When there is a conflict, or the lists do not fit: nothing may be launched then.
    pub fn lists(&self) -> Result<(Vec<String>, Vec<String>), SurfaceError> {
        if let Some(conflict) = self.conflicts.first() {
            return Err(SurfaceError::Conflict { conflict: Box::new(conflict.clone()) });
        }
        let allow: Vec<String> = self.granted.iter().map(|grant| grant.rule.clone()).collect();
        let deny: Vec<String> = self.denied.iter().map(|denied| denied.rule.clone()).collect();
        let sizes = allow.iter().chain(&deny).map(|rule| rule.len() + 1);
        let (total, longest) =
            sizes.fold((0, 0), |(total, longest), size| (total + size, longest.max(size)));
        if longest > MAX_RULE_BYTES {
            return Err(SurfaceError::RuleTooLong { bytes: longest });
        }
        if total > MAX_LIST_BYTES {
            return Err(SurfaceError::TooLong { bytes: total });
        }
        Ok((allow, deny))
    }
}

/// Puts the surface of a launch together.
///
/// Each loaded rule is kept when something granted covers it, denied when it has nothing in common
/// with what is granted, and a conflict otherwise.
///
/// ```
/// use dispatch_guards::permission::{LaneRules, LoadedFile, RuleSource, TaskRules, compose};
///
/// let lane = LaneRules { allow: vec!["Bash(cargo test:*)".into()], ..LaneRules::default() };
/// let user = LoadedFile {
///     source: RuleSource::User,
///     file: "settings.json".into(),
///     allow: vec!["Bash(cargo test --lib)".into(), "Bash(gh pr view:*)".into(), "Bash(cargo:*)".into()],
/// };
/// let surface = compose(&lane, &TaskRules::default(), &[user]);
/// assert_eq!(surface.denied[0].rule, "Bash(gh pr view:*)");
/// assert_eq!(surface.conflicts[0].loaded, "Bash(cargo:*)");
/// assert!(surface.lists().is_err());
/// ```
pub fn compose(lane: &LaneRules, task: &TaskRules, files: &[LoadedFile]) -> Surface {
    LaneSurface::new(lane, files).compose(task)
}

/// What a lane grants, denies and loads, judged once for all its tasks.
#[derive(Debug, Clone, Default)]
pub struct LaneSurface {
    granted: Vec<Grant>,
    denied: Vec<Denied>,
    loaded: Vec<JudgedRule>,
    agent_home: Option<String>,
}

impl LaneSurface {
    /// Judges the loaded rules against the lane's own grants.
    pub fn new(lane: &LaneRules, files: &[LoadedFile]) -> Self {
        let mut granted: Vec<Grant> = Vec::new();
        for rule in &lane.allow {
            push_grant(&mut granted, rule, GrantOrigin::Lane);
        }
        let mut denied: Vec<Denied> = Vec::new();
        for rule in &lane.deny {
            push_denied(&mut denied, rule, DenyReason::Lane);
        }
        for rule in &lane.built_in_deny {
            let named = |grant: &Grant| Rule::parse(&grant.rule).tool() == Some(rule.as_str());
            if !granted.iter().any(named) {
                push_denied(&mut denied, rule, DenyReason::BuiltIn);
            }
        }
        let prepared: Vec<(Grant, PreparedRule)> = granted
            .iter()
            .map(|grant| (grant.clone(), PreparedRule::granted(&grant.rule)))
            .collect();
        let loaded = collect_loaded(files)
            .into_iter()
            .map(|rule| JudgedRule::new(rule, &prepared, lane.slots_root.as_deref()))
            .collect();
        Self { granted, denied, loaded, agent_home: lane.agent_home.clone() }
    }

    /// The loaded rules that conflict with a launch of this task: with the lane's own grants, then
    /// with the task's.
    pub fn conflicts(&self, task: &TaskRules) -> Vec<RuleConflict> {
        let own = prepare_task(task);
        let judged = self.loaded.iter().filter_map(|rule| match rule.with_task(&own) {
            Judgement::Conflicts(found) => Some(found),
            Judgement::Kept | Judgement::Apart => None,
        });
        judged.flatten().collect()
    }

    /// Puts the surface of a launch of this task together.
    pub fn compose(&self, task: &TaskRules) -> Surface {
        let own = prepare_task(task);
        let mut surface = Surface {
            granted: self.granted.clone(),
            loaded: self.loaded.iter().map(|rule| rule.loaded.clone()).collect(),
            denied: self.denied.clone(),
            conflicts: Vec::new(),
        };
        for (grant, _) in &own {
            push_grant(&mut surface.granted, &grant.rule, grant.origin);
        }
        for rule in &self.loaded {
            match rule.with_task(&own) {
                Judgement::Kept => {}
                Judgement::Conflicts(found) => surface.conflicts.extend(found),
                Judgement::Apart => {
                    for text in as_command_line(&rule.widest.placed, self.agent_home.as_deref()) {
                        let reason = DenyReason::Loaded { file: rule.loaded.file.clone() };
                        push_denied(&mut surface.denied, &text, reason);
                    }
                }
            }
        }
        surface
    }
}

fn prepare_task(task: &TaskRules) -> Vec<(Grant, PreparedRule)> {
    let rules = [
        (task.worker_edit.as_ref(), GrantOrigin::WorkerEdit),
        (task.test_command.as_ref(), GrantOrigin::TestCommand),
    ];
    let given = rules.into_iter().filter_map(|(rule, origin)| Some((rule?, origin)));
    given
        .map(|(rule, origin)| (Grant { rule: rule.clone(), origin }, PreparedRule::granted(rule)))
        .collect()
}

fn push_grant(granted: &mut Vec<Grant>, rule: &str, origin: GrantOrigin) {
    if granted.iter().all(|grant| grant.rule != rule) {
        granted.push(Grant { rule: rule.to_owned(), origin });
    }
}

fn collect_loaded(files: &[LoadedFile]) -> Vec<Loaded> {
    let mut loaded: Vec<Loaded> = Vec::new();
    for file in files {
        for text in &file.allow {
            let placed = PlacedRule { rule: Rule::parse(text), source: file.source };
            // The first source wins; the same text from another source can mean other paths.
            let known = loaded.iter().any(|other| {
                other.placed.rule == placed.rule
                    && relation_placed(&other.placed, &placed) == Relation::Equal
            });
            if !known {
                loaded.push(Loaded { placed, file: file.file.clone() });
            }
        }
    }
    loaded
}

fn push_denied(denied: &mut Vec<Denied>, rule: &str, reason: DenyReason) {
    if denied.iter().all(|other| other.rule != rule) {
        denied.push(Denied { rule: rule.to_owned(), reason });
    }
}

#[cfg(test)]
mod tests;
