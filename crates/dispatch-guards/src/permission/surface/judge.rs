//! What becomes of the rules that settings files add: kept, denied, or a conflict (P5.4).

use super::{Grant, GrantOrigin, Loaded, RuleConflict};
use crate::permission::files::{Anchor, FilePattern, RuleSource};
use crate::permission::lint::{LintClass, lint};
use crate::permission::relation::{PlacedRule, PreparedRule, Relation};
use crate::permission::rule::{Rule, split_list};

/// A loaded rule, judged by what is free and by what the lane grants.
#[derive(Debug, Clone)]
pub(super) struct JudgedRule {
    pub(super) loaded: Loaded,
    /// What it may mean at worst.
    pub(super) widest: PreparedRule,
    by_lane: Judgement,
}

/// What grants say about a loaded rule.
#[derive(Debug, Clone)]
pub(super) enum Judgement {
    /// One of them covers it.
    Kept,
    /// None has anything in common with it.
    Apart,
    /// Some have something in common with it, and none covers it.
    Conflicts(Vec<RuleConflict>),
}

impl JudgedRule {
    pub(super) fn new(
        loaded: Loaded,
        granted: &[(Grant, PreparedRule)],
        slots_root: Option<&str>,
    ) -> Self {
        let widest = PreparedRule::new(widest_reading(&loaded.placed));
        let touched = match judge_by_free_reading(&widest.placed, slots_root) {
            FreeReading::Covers => {
                return Self { loaded, widest, by_lane: Judgement::Kept };
            }
            FreeReading::Apart => Vec::new(),
            FreeReading::Meets => {
                let free = Grant { rule: FREE_READING.to_owned(), origin: GrantOrigin::Free };
                vec![RuleConflict::new(&loaded, &free, Relation::Overlaps)]
            }
        };
        let by_lane = judge(&loaded, &widest, touched, granted);
        Self { loaded, widest, by_lane }
    }

    /// The judgement once a task's own grants are there as well.
    pub(super) fn with_task(&self, own: &[(Grant, PreparedRule)]) -> Judgement {
        let touched = match &self.by_lane {
            Judgement::Kept => return Judgement::Kept,
            Judgement::Apart => Vec::new(),
            Judgement::Conflicts(touched) => touched.clone(),
        };
        judge(&self.loaded, &self.widest, touched, own)
    }
}

fn judge(
    loaded: &Loaded,
    widest: &PreparedRule,
    mut touched: Vec<RuleConflict>,
    granted: &[(Grant, PreparedRule)],
) -> Judgement {
    for (grant, prepared) in granted {
        let relation = widest.relate_denied(prepared);
        if relation.reversed().covers() {
            return Judgement::Kept;
        }
        if relation != Relation::Disjoint {
            touched.push(RuleConflict::new(loaded, grant, relation));
        }
    }
    if touched.is_empty() { Judgement::Apart } else { Judgement::Conflicts(touched) }
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
