//! The acceptance gate, and the definition-of-done items that the dispatcher owns (C5.5, C8).

use dispatch_core::config::OwnedDod;
use dispatch_core::task::{ChecklistItem, Task};
use regex_automata::meta::Regex;
use regex_automata::util::syntax;
use thiserror::Error;

/// A definition-of-done item that the dispatcher proves and ticks itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OwnedItem {
    /// The scoped tests pass.
    Tests,
    /// Formatting and linting.
    Lint,
    /// Every acceptance criterion is checked.
    Acceptance,
    /// A pull request is open.
    PullRequest,
}

impl OwnedItem {
    /// All of them, in the order they are proved.
    pub const ALL: [Self; 4] = [Self::Tests, Self::Lint, Self::Acceptance, Self::PullRequest];

    const fn default_pattern(self) -> &'static str {
        match self {
            Self::Tests => "scoped tests",
            Self::Lint => "formatt?(ed|ing)|lint|prettier and barrels lint",
            Self::Acceptance => "every acceptance criterion is checked",
            Self::PullRequest => r"pr opened( to \w+)?|pull request opened",
        }
    }

    const fn key(self) -> &'static str {
        match self {
            Self::Tests => "tests",
            Self::Lint => "lint",
            Self::Acceptance => "acceptance",
            Self::PullRequest => "pullRequest",
        }
    }
}

/// A configured pattern that is no regular expression.
#[derive(Debug, Error)]
#[error("`checks.ownedDod.{key}` is not a regular expression: `{pattern}`")]
pub struct PatternError {
    /// The key below `checks.ownedDod`.
    pub key: &'static str,
    /// The pattern.
    pub pattern: String,
    /// What is wrong with it.
    #[source]
    pub source: Box<regex_automata::meta::BuildError>,
}

/// The patterns that tell which items are owned, matched anywhere in an item's text, letter case aside.
#[derive(Debug, Clone)]
pub struct OwnedPatterns {
    patterns: [(OwnedItem, Regex); 4],
}

impl OwnedPatterns {
    /// The configured patterns, the defaults for those that are not.
    pub fn new(configured: &OwnedDod) -> Result<Self, PatternError> {
        let own = |item| match item {
            OwnedItem::Tests => &configured.tests,
            OwnedItem::Lint => &configured.lint,
            OwnedItem::Acceptance => &configured.acceptance,
            OwnedItem::PullRequest => &configured.pull_request,
        };
        let compile = |item: OwnedItem| {
            let pattern = own(item).as_deref().unwrap_or_else(|| item.default_pattern());
            let syntax = syntax::Config::new().case_insensitive(true).unicode(false).utf8(false);
            Regex::builder().syntax(syntax).build(pattern).map(|regex| (item, regex)).map_err(
                |source| PatternError {
                    key: item.key(),
                    pattern: pattern.to_owned(),
                    source: Box::new(source),
                },
            )
        };
        let [tests, lint, acceptance, pull_request] = OwnedItem::ALL;
        Ok(Self {
            patterns: [
                compile(tests)?,
                compile(lint)?,
                compile(acceptance)?,
                compile(pull_request)?,
            ],
        })
    }

    /// The owned item that this text is, if it is one.
    pub fn owner_of(&self, text: &str) -> Option<OwnedItem> {
        self.patterns.iter().find(|(_, regex)| regex.is_match(text)).map(|(item, _)| *item)
    }

    /// The open items of a task that are `owned`, by their texts.
    pub fn open_items<'a>(&self, task: &'a Task, owned: OwnedItem) -> Vec<&'a str> {
        let open = task.definition_of_done.iter().filter(|item| !item.checked);
        open.map(|item| item.text.as_str())
            .filter(|text| self.owner_of(text) == Some(owned))
            .collect()
    }
}

/// What the acceptance gate says (C8).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Acceptance {
    /// Everything that must be ticked is.
    Met,
    /// These items are open; empty texts never occur.
    Unmet(Vec<String>),
}

/// Decides whether a freshly read task is done: at least one criterion and all ticked, and every
/// definition-of-done item ticked except the owned ones still to come.
pub fn judge_acceptance(task: &Task, owned: &OwnedPatterns) -> Acceptance {
    let open = |item: &&ChecklistItem| !item.checked;
    let mut unmet: Vec<String> = task
        .acceptance
        .iter()
        .filter(open)
        .map(|item| format!("acceptance criterion #{}: {}", item.index, item.text))
        .collect();
    if task.acceptance.is_empty() {
        unmet.push("the task has no acceptance criterion".to_owned());
    }
    let still_to_come = |text: &str| match owned.owner_of(text) {
        Some(OwnedItem::Acceptance | OwnedItem::PullRequest) => true,
        Some(OwnedItem::Tests | OwnedItem::Lint) | None => false,
    };
    unmet.extend(
        task.definition_of_done
            .iter()
            .filter(open)
            .filter(|item| !still_to_come(&item.text))
            .map(|item| format!("definition of done #{}: {}", item.index, item.text)),
    );
    if unmet.is_empty() { Acceptance::Met } else { Acceptance::Unmet(unmet) }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;
    use crate::testing::task;

    fn owned() -> OwnedPatterns {
        OwnedPatterns::new(&OwnedDod::default()).unwrap()
    }

    #[test_case("Scoped tests pass", Some(OwnedItem::Tests))]
    #[test_case("Formatted", Some(OwnedItem::Lint))]
    #[test_case("Prettier and barrels lint", Some(OwnedItem::Lint))]
    #[test_case("EVERY acceptance criterion is checked", Some(OwnedItem::Acceptance))]
    #[test_case("PR opened to develop", Some(OwnedItem::PullRequest))]
    #[test_case("Docs are updated", None)]
    fn c5_5_items_are_owned_by_pattern(text: &str, owner: Option<OwnedItem>) {
        assert_eq!(owned().owner_of(text), owner);
    }

    #[test]
    fn c5_5_patterns_are_configurable_and_a_bad_one_is_named() {
        let configured = OwnedDod { tests: Some("pruebas".to_owned()), ..OwnedDod::default() };
        let patterns = OwnedPatterns::new(&configured).unwrap();
        assert_eq!(patterns.owner_of("Las PRUEBAS pasan"), Some(OwnedItem::Tests));
        assert_eq!(patterns.owner_of("scoped tests pass"), None);
        let bad = OwnedDod { lint: Some("(".to_owned()), ..OwnedDod::default() };
        let error = OwnedPatterns::new(&bad).unwrap_err();
        assert_eq!(error.to_string(), "`checks.ownedDod.lint` is not a regular expression: `(`");
    }

    #[test]
    fn c8_only_the_items_still_to_come_may_be_open() {
        assert_eq!(judge_acceptance(&task(), &owned()), Acceptance::Met);
        for open in [0, 1] {
            let mut task = task();
            task.definition_of_done[open].checked = false;
            assert!(matches!(judge_acceptance(&task, &owned()), Acceptance::Unmet(_)), "{open}");
        }
    }

    #[test]
    fn c8_every_criterion_must_be_ticked_and_there_must_be_one() {
        let mut open = task();
        open.acceptance[1].checked = false;
        let expected = vec!["acceptance criterion #2: blanks become hyphens".to_owned()];
        assert_eq!(judge_acceptance(&open, &owned()), Acceptance::Unmet(expected));
        open.acceptance.clear();
        let expected = vec!["the task has no acceptance criterion".to_owned()];
        assert_eq!(judge_acceptance(&open, &owned()), Acceptance::Unmet(expected));
    }
}
