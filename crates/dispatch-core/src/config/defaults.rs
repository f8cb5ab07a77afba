//! Defaults of single keys.

use camino::Utf8PathBuf;

use super::values::{Language, Minutes, Owner, ParentBranch};
use crate::triage::Tier;

pub(super) fn orphan_hours() -> f64 {
    4.0
}

pub(super) fn branch_prefix() -> String {
    "task/".to_owned()
}

pub(super) fn parent_branch() -> ParentBranch {
    ParentBranch::Create
}

pub(super) fn project_root() -> Utf8PathBuf {
    Utf8PathBuf::from(".")
}

pub(super) fn owner() -> Owner {
    Owner::Lease
}

pub(super) fn reset_before_attempt() -> Vec<Utf8PathBuf> {
    vec![Utf8PathBuf::from(".claude/.cache/br-injected.json")]
}

pub(super) fn reviewer_timeout() -> Minutes {
    Minutes::new(15.0)
}

pub(super) fn reviewer_model() -> String {
    "sonnet".to_owned()
}

pub(super) fn local_tiers() -> Vec<Tier> {
    vec![Tier::Minor]
}

pub(super) fn all_tiers() -> Vec<Tier> {
    Tier::ALL.to_vec()
}

pub(super) fn language() -> Language {
    Language::En
}

pub(super) fn yes() -> bool {
    true
}
