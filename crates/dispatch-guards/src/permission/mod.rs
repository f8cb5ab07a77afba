//! Permission rules of the agent: what they say, how they lie to each other, and what a launch may
//! grant.
//!
//! Words in brackets such as `[e_multi-01]` are ids of recorded decisions in `fixtures/oracles/claude-permissions.json`;
//! F1 to F9 sum up what they show.

mod commands;
mod decide;
mod files;
mod lint;
#[cfg(feature = "recorded-decisions")]
pub mod recorded;
mod relation;
mod rule;
mod settings;
mod shell;
mod surface;
pub mod tools;
mod wildcard;
mod wrappers;

pub use decide::{Decision, Mode, Place, Session, ToolCall, ToolSet, decide};
pub use files::{Anchor, FilePattern, RuleSource};
pub use lint::{Finding, Lint, LintClass, Reach, RuleList, Severity, lint, lint_in, lint_lists};
pub use relation::{PlacedRule, Relation, relation, relation_placed};
pub use rule::{Rule, split_list};
pub use settings::{Drift, Overrides, SettingsFault, SettingsFile, SettingsOverride};
pub use shell::{Piece, ShellPattern};
pub use surface::{
    Denied, DenyReason, Grant, GrantOrigin, LaneRules, LaneSurface, Loaded, LoadedFile,
    MAX_LIST_BYTES, MAX_RULE_BYTES, RuleConflict, Surface, SurfaceError, TaskRules, compose,
};
