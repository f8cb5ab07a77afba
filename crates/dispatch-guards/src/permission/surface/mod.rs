//! What a launch grants and denies, when settings files add rules of their own (P5).

use serde::{Deserialize, Serialize};

use super::files::{Anchor, FilePattern, RuleSource};
use super::lint::{LintClass, lint};
use super::relation::{PlacedRule, PreparedRule, Relation, relation_placed};
use super::rule::{Rule, split_list};

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
    loaded: Vec<(Loaded, LaneJudgement)>,
    agent_home: Option<String>,
}

/// What the lane's own grants say about a loaded rule.
#[derive(Debug, Clone)]
enum LaneJudgement {
    /// One of them covers it.
    Kept,
    /// None has anything in common with it: the widest reading of the rule, to hold against a task's.
    Apart(PreparedRule),
    /// Some have something in common with it, and none covers it.
    Touched(PreparedRule, Vec<RuleConflict>),
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
        let prepared: Vec<(&Grant, PreparedRule)> =
            granted.iter().map(|grant| (grant, PreparedRule::granted(&grant.rule))).collect();
        let loaded = collect_loaded(files)
            .into_iter()
            .map(|rule| {
                let judgement = judge_by_lane(&rule, &prepared, lane.slots_root.as_deref());
                (rule, judgement)
            })
            .collect();
        Self { granted, denied, loaded, agent_home: lane.agent_home.clone() }
    }

    /// The loaded rules that conflict with a launch of this task: with the lane's own grants, then
    /// with the task's.
    pub fn conflicts(&self, task: &TaskRules) -> Vec<RuleConflict> {
        let own = prepare_task(task);
        let judged =
            self.loaded.iter().filter_map(|(rule, judgement)| match judge(rule, judgement, &own) {
                Judged::Conflicts(found) => Some(found),
                Judged::Kept | Judged::Apart(_) => None,
            });
        judged.flatten().collect()
    }

    /// Puts the surface of a launch of this task together.
    pub fn compose(&self, task: &TaskRules) -> Surface {
        let own = prepare_task(task);
        let mut surface = Surface {
            granted: self.granted.clone(),
            loaded: self.loaded.iter().map(|(rule, _)| rule.clone()).collect(),
            denied: self.denied.clone(),
            conflicts: Vec::new(),
        };
        for (grant, _) in &own {
            push_grant(&mut surface.granted, &grant.rule, grant.origin);
        }
        for (rule, judgement) in &self.loaded {
            match judge(rule, judgement, &own) {
                Judged::Kept => {}
                Judged::Conflicts(found) => surface.conflicts.extend(found),
                Judged::Apart(widest) => {
                    for text in as_command_line(&widest.placed, self.agent_home.as_deref()) {
                        let reason = DenyReason::Loaded { file: rule.file.clone() };
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

fn judge_by_lane(
    rule: &Loaded,
    granted: &[(&Grant, PreparedRule)],
    slots_root: Option<&str>,
) -> LaneJudgement {
    let widest = PreparedRule::new(widest_reading(&rule.placed));
    let mut touched = Vec::new();
    match judge_by_free_reading(&widest.placed, slots_root) {
        FreeReading::Covers => return LaneJudgement::Kept,
        FreeReading::Apart => {}
        FreeReading::Meets => {
            let free = Grant { rule: FREE_READING.to_owned(), origin: GrantOrigin::Free };
            touched.push(RuleConflict::new(rule, &free, Relation::Overlaps));
        }
    }
    for (grant, prepared) in granted {
        let relation = widest.relate(prepared);
        if relation.reversed().covers() {
            return LaneJudgement::Kept;
        }
        if relation != Relation::Disjoint {
            touched.push(RuleConflict::new(rule, grant, relation));
        }
    }
    if touched.is_empty() {
        LaneJudgement::Apart(widest)
    } else {
        LaneJudgement::Touched(widest, touched)
    }
}

/// What becomes of a loaded rule.
enum Judged<'a> {
    Kept,
    Apart(&'a PreparedRule),
    Conflicts(Vec<RuleConflict>),
}

fn judge<'a>(
    rule: &Loaded,
    judgement: &'a LaneJudgement,
    own: &[(Grant, PreparedRule)],
) -> Judged<'a> {
    let (widest, touched) = match judgement {
        LaneJudgement::Kept => return Judged::Kept,
        LaneJudgement::Apart(widest) => (widest, &[][..]),
        LaneJudgement::Touched(widest, touched) => (widest, touched.as_slice()),
    };
    let mut conflicts = touched.to_vec();
    for (grant, prepared) in own {
        let relation = widest.relate(prepared);
        if relation.reversed().covers() {
            return Judged::Kept;
        }
        if relation != Relation::Disjoint {
            conflicts.push(RuleConflict::new(rule, grant, relation));
        }
    }
    if conflicts.is_empty() { Judged::Apart(widest) } else { Judged::Conflicts(conflicts) }
}

impl RuleConflict {
    fn new(rule: &Loaded, grant: &Grant, relation: Relation) -> Self {
        Self {
            loaded: rule.placed.rule.to_string(),
            file: rule.file.clone(),
            granted: grant.clone(),
            relation,
        }
    }
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

/// What an odd text may mean at worst: a blank before the parenthesis is the whole tool.
fn widest_reading(placed: &PlacedRule) -> PlacedRule {
    let text = placed.rule.to_string();
    if matches!(placed.rule, Rule::Opaque { .. })
        && lint(&text).class == LintClass::Everything
        && let Some(tool) = split_list(&text).first()
    {
        return PlacedRule { rule: Rule::parse(tool), source: placed.source };
    }
    placed.clone()
}

/// Reading the slot, which needs no rule.
const FREE_READING: &str = "Read(/**)";

/// How a loaded file rule lies to the free reading of the slot.
enum FreeReading {
    /// It adds nothing to it.
    Covers,
    /// It has nothing to do with it.
    Apart,
    /// Denying it would take part of it away.
    Meets,
}

fn judge_by_free_reading(placed: &PlacedRule, slots_root: Option<&str>) -> FreeReading {
    let (Some(tool @ ("Edit" | "Read")), Some(spec)) = (placed.rule.tool(), placed.rule.spec())
    else {
        // Denying `Read` itself takes the whole tool away.
        return if placed.rule.tool() == Some("Read") {
            FreeReading::Meets
        } else {
            FreeReading::Apart
        };
    };
    let pattern = FilePattern::parse(spec, placed.source);
    match pattern.anchor {
        Anchor::Here | Anchor::Start if tool == "Read" => FreeReading::Covers,
        Anchor::Root => {
            let Some(root) = slots_root else { return FreeReading::Apart };
            let slots = FilePattern::parse(&format!("/{root}/**"), RuleSource::CommandLine);
            match pattern.meets(&slots) {
                Some(false) => FreeReading::Apart,
                Some(true) | None => FreeReading::Meets,
            }
        }
        Anchor::Here | Anchor::Start | Anchor::Home | Anchor::AgentHome | Anchor::Nowhere => {
            FreeReading::Apart
        }
    }
}

/// The denials that take a rule of a settings file away, as they have to be given on the command
/// line; none when it grants nothing there and its text would not survive the list.
fn as_command_line(placed: &PlacedRule, agent_home: Option<&str>) -> Vec<String> {
    let text = placed.rule.to_string();
    let survives = split_list(&text).len() == 1 && !text.contains(['\n', '\r', '\0']);
    if !survives {
        return Vec::new();
    }
    let (Some(tool @ ("Edit" | "Read")), Some(spec)) = (placed.rule.tool(), placed.rule.spec())
    else {
        return vec![text];
    };
    let (text, spec) = match FilePattern::parse(spec, placed.source).anchor {
        // `/x` of the person's file begins in the agent's own directory, which has another name here.
        Anchor::AgentHome => {
            let home = agent_home.map_or_else(|| "~/.claude".to_owned(), absolute_pattern);
            let spec = format!("{home}{spec}");
            (format!("{tool}({spec})"), spec)
        }
        Anchor::Nowhere => return Vec::new(),
        Anchor::Here | Anchor::Start => return vec![text],
        Anchor::Home | Anchor::Root => (text, spec.to_owned()),
    };
    // An edit rule lets its paths be read as well [r_editout-03], which its denial leaves.
    match tool {
        "Edit" => vec![text, format!("Read({spec})")],
        _ => vec![text],
    }
}

/// A folder as the beginning of a file pattern. What could mean something else in a rule is matched as
/// any one character.
fn absolute_pattern(folder: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-');
    let path: String = folder.chars().map(|c| if plain(c) { c } else { '?' }).collect();
    format!("/{}", path.trim_end_matches('/'))
}

#[cfg(test)]
mod tests;
