//! Claims of tasks that could get in each other's way, before any of them runs (L8.7).

use std::collections::BTreeMap;

use super::{ClaimField, Claims, Overlap, TaskGraph};

/// A task that is not landed, as the lint looks at it.
#[derive(Debug, Clone)]
pub struct OpenTask<T> {
    /// What it claims.
    pub claims: Claims,
    /// What it is part of, itself where it is part of nothing: on a board, the topmost parent.
    pub group: T,
}

/// How strictly claims are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimCheck {
    /// Every overlap of two tasks that are not ordered: a dependency or a split is advised.
    Advice,
    /// What two tasks own may not overlap, ordered or not; what one of them shares is judged only inside
    /// one group, and only where the two are not ordered.
    Strict,
}

/// Which rule two claims break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub enum ClaimRule {
    /// Both own it.
    #[serde(rename = "claim-owns")]
    Owns,
    /// One of them at least shares it.
    #[serde(rename = "claim-shared")]
    Shared,
}

impl ClaimRule {
    /// Every rule.
    pub const ALL: [Self; 2] = [Self::Owns, Self::Shared];

    /// The name used in text and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Owns => "claim-owns",
            Self::Shared => "claim-shared",
        }
    }

    const fn of(one: ClaimField, other: ClaimField) -> Self {
        match (one, other) {
            (ClaimField::Owns, ClaimField::Owns) => Self::Owns,
            (ClaimField::Shared, ClaimField::Owns | ClaimField::Shared)
            | (ClaimField::Owns, ClaimField::Shared) => Self::Shared,
        }
    }
}

/// Two tasks whose claims overlap.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct ClaimFinding<T> {
    /// The rule.
    pub rule: ClaimRule,
    /// The task with the smaller id.
    pub task: T,
    /// The other one.
    pub other: T,
    /// The smallest pair of claims that overlap, those of `task` first.
    pub claims: (super::Claim, super::Claim),
}

/// Looks for claims that overlap among tasks that are not landed: for each two tasks and each rule the
/// smallest overlap, by task, other task and rule. A parent and its own subtask do not conflict.
///
/// The graph has to be whole: where an edge is missing, two tasks look as if they were not ordered.
///
/// ```
/// use dispatch_guards::claims::{
///     Claim, ClaimCheck, ClaimRule, Claims, OpenTask, TaskGraph, TestSiblings, lint_claims,
/// };
///
/// let task = |path: &str, group| OpenTask {
///     claims: Claims::new([Claim::parse(path)], &TestSiblings::default()),
///     group,
/// };
/// let tasks = [(1, task("src/", 1)), (2, task("src/a.rs", 2))].into();
/// let mut graph = TaskGraph::default();
/// let found = lint_claims(&tasks, &graph, ClaimCheck::Advice);
/// assert_eq!((found[0].rule, found[0].task, found[0].other), (ClaimRule::Owns, 1, 2));
///
/// // A dependency orders the two.
/// graph.depends_on.insert(2, [1].into());
/// assert!(lint_claims(&tasks, &graph, ClaimCheck::Advice).is_empty());
/// assert_eq!(lint_claims(&tasks, &graph, ClaimCheck::Strict).len(), 1);
/// ```
pub fn lint_claims<T: Ord + Clone>(
    open: &BTreeMap<T, OpenTask<T>>,
    graph: &TaskGraph<T>,
    check: ClaimCheck,
) -> Vec<ClaimFinding<T>> {
    let mut found = Vec::new();
    for (at, (id, task)) in open.iter().enumerate() {
        for (other_id, other) in open.iter().skip(at + 1) {
            let overlaps = ClaimRule::ALL.into_iter().filter_map(|rule| {
                let of_rule = |one: &super::Claim, two: &super::Claim| {
                    ClaimRule::of(one.field, two.field) == rule
                };
                Some((rule, task.claims.overlap_where(&other.claims, of_rule)?))
            });
            let overlaps: Vec<(ClaimRule, Overlap)> = overlaps.collect();
            if overlaps.is_empty() || graph.nested(id, other_id) {
                continue;
            }
            let ordered = graph.ordered(id, other_id);
            let together = task.group == other.group;
            let broken = overlaps.into_iter().filter(|(rule, _)| match (check, rule) {
                (ClaimCheck::Advice, ClaimRule::Owns | ClaimRule::Shared) => !ordered,
                (ClaimCheck::Strict, ClaimRule::Owns) => true,
                (ClaimCheck::Strict, ClaimRule::Shared) => together && !ordered,
            });
            found.extend(broken.map(|(rule, overlap)| ClaimFinding {
                rule,
                task: id.clone(),
                other: other_id.clone(),
                claims: (overlap.candidate, overlap.busy),
            }));
        }
    }
    found
}
