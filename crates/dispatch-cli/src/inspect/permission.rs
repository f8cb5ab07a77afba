//! Decisions of the permission algebra.

use dispatch_core::config::Language;
use dispatch_guards::guards::GuardSnapshot;
use dispatch_guards::permission::recorded::decide_case;
use dispatch_guards::permission::{Rule, lint, relation};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{fields, printed};

/// A line of recorded decisions → `{decision, because}`.
pub(super) fn tool(input: &Value) -> Result<Value, String> {
    printed(&decide_case(input)?)
}

/// `{a, b}` → `{relation}`.
pub(super) fn relate(input: Value) -> Result<Value, String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Input {
        a: String,
        b: String,
    }
    let input: Input = fields(input)?;
    Ok(json!({ "relation": relation(&Rule::parse(&input.a), &Rule::parse(&input.b)) }))
}

/// `{rule}` → `{class, why, instead?}`.
pub(super) fn lint_rule(input: Value) -> Result<Value, String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Input {
        rule: String,
    }
    let input: Input = fields(input)?;
    printed(&lint(&input.rule))
}

/// What `explain --json` prints as `input` → `{verdict, guard, reason, comment}`.
pub(super) fn guards(input: Value) -> Result<Value, String> {
    let snapshot: GuardSnapshot = fields(input)?;
    let evaluation = snapshot.evaluate().map_err(|error| error.to_string())?;
    printed(&evaluation.printed(Language::En))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_spellings_of_one_rule_are_equal() {
        let answer = relate(json!({ "a": "Bash(ls:*)", "b": "Bash(ls:*)" })).unwrap();
        assert_eq!(answer["relation"], "equal");
    }

    #[test]
    fn a_dead_rule_says_why() {
        let answer = lint_rule(json!({ "rule": "Bash(:*)" })).unwrap();
        assert_eq!(answer["class"], "dead");
        assert!(answer["why"].as_str().is_some_and(|why| !why.is_empty()));
    }
}
