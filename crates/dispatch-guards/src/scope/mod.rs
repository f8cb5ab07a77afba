//! What each changed file is to a task, and whether the whole may go on (C3.3, C3.4).

mod secret;

use std::borrow::Cow;

use dispatch_core::path::TreePath;
use dispatch_core::triage::Lane;
use serde::Serialize;

use crate::claims::Claims;
use crate::paths::{PathMatch, PathPolicy};

/// How a file changed between the merge base and the frozen tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeStatus {
    /// It is new; also the new name of a renamed file.
    Added,
    /// Its content or mode changed.
    Modified,
    /// It is gone; also the old name of a renamed file.
    Deleted,
    /// It became another kind of thing.
    TypeChanged,
}

/// What a path is in the frozen tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Nothing: the path is gone.
    Gone,
    /// A file.
    File {
        /// Its size.
        bytes: u64,
        /// Whether it holds the literal value of a credential that was handed out.
        holds_credential: bool,
    },
    /// A symbolic link and its target; `None` when the target is not known.
    Link {
        /// The bytes of the target.
        target: Option<Vec<u8>>,
    },
    /// A commit of another repository.
    Submodule,
    /// A folder with a repository of its own, which a commit would carry as a bare pointer.
    NestedRepository,
}

/// Whose change it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeOrigin {
    /// This attempt's, or an earlier one of ours.
    Ours,
    /// Last changed on the branch by a commit that is not ours, and left alone since (C3.2).
    Inherited,
}

/// One changed file. A rename is two: the old name gone, the new name added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path.
    pub path: TreePath,
    /// How it changed.
    pub status: ChangeStatus,
    /// What it is now.
    pub content: Content,
    /// Whose change it is.
    pub origin: ChangeOrigin,
}

/// Why a file is dangerous whatever the task declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Danger {
    /// A symbolic link with an absolute target.
    AbsoluteLink,
    /// A symbolic link that leads out of the repository.
    LinkOutside,
    /// A symbolic link whose target is not known.
    UnreadableLink,
    /// A submodule change.
    Submodule,
    /// A repository inside the repository.
    NestedRepository,
    /// Over `paths.maxFileBytes`.
    TooLarge,
    /// Its name is that of a secret.
    SecretName,
    /// It holds a credential that was handed out.
    HoldsCredential,
}

impl Danger {
    /// The cause in words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AbsoluteLink => "a symbolic link with an absolute target",
            Self::LinkOutside => "a symbolic link that leaves the repository",
            Self::UnreadableLink => "a symbolic link whose target is unknown",
            Self::Submodule => "a submodule change",
            Self::NestedRepository => "a repository inside the repository",
            Self::TooLarge => "over the size limit",
            Self::SecretName => "a name that secrets have",
            Self::HoldsCredential => "the value of a credential",
        }
    }
}

/// What a changed file is to the task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScopeClass {
    /// Not judged: it came with the branch.
    Inherited,
    /// A path of the policy that this lane may not touch.
    Forbidden(PathMatch),
    /// Dangerous whatever the task declares.
    Dangerous(Danger),
    /// Within the task's claims.
    Declared,
    /// Allowed, but a person should look at it.
    HumanReview(PathMatch),
    /// Not declared, on a lane that needs it to be.
    OutOfScope,
    /// Not declared, on a lane that does not need it to be.
    InScope,
}

impl ScopeClass {
    /// The name used in text and JSON.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Inherited => "inherited",
            Self::Forbidden(_) => "forbidden",
            Self::Dangerous(_) => "dangerous",
            Self::Declared => "declared",
            Self::HumanReview(_) => "human-review",
            Self::OutOfScope => "out-of-scope",
            Self::InScope => "in-scope",
        }
    }

    /// Whether the class fails the scope check.
    pub const fn fails(&self) -> bool {
        match self {
            Self::Forbidden(_) | Self::Dangerous(_) | Self::OutOfScope => true,
            Self::Inherited | Self::Declared | Self::HumanReview(_) | Self::InScope => false,
        }
    }
}

/// Whether an attempt may end without any change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmptyChange {
    /// An ordinary attempt must change something.
    Fails,
    /// A close attempt may find everything in place.
    Allowed,
}

/// What the scope check looks at besides the changes.
#[derive(Debug, Clone, Copy)]
pub struct ScopeRules<'a> {
    /// The lane; a missing one counts as local.
    pub lane: Option<Lane>,
    /// What the task declares.
    pub claims: &'a Claims,
    /// The path policy.
    pub policy: &'a PathPolicy,
    /// `paths.maxFileBytes`.
    pub max_file_bytes: u64,
    /// Whether nothing may have changed.
    pub empty: EmptyChange,
}

/// One changed file and its class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classified {
    /// The path.
    pub path: TreePath,
    /// Its class.
    pub class: ScopeClass,
}

/// What follows from the classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScopeVerdict {
    /// The close goes on.
    Pass,
    /// Some file fails.
    ScopeCheckFailed,
    /// Nothing changed.
    NoChanges,
}

/// Every changed file with its class, and what follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeReport {
    /// The files, by path.
    pub files: Vec<Classified>,
    /// What follows.
    pub verdict: ScopeVerdict,
    /// Whether a file is dangerous, whatever class it has: a forbidden one can hold a credential too (C10.1).
    pub holds_danger: bool,
}

impl ScopeReport {
    /// The files that fail the check.
    pub fn failing(&self) -> impl Iterator<Item = &Classified> {
        self.files.iter().filter(|file| file.class.fails())
    }

    /// The files that a person should look at: human-review and inherited ones.
    pub fn for_review(&self) -> impl Iterator<Item = &Classified> {
        self.files.iter().filter(|file| match file.class {
            ScopeClass::HumanReview(_) | ScopeClass::Inherited => true,
            ScopeClass::Forbidden(_)
            | ScopeClass::Dangerous(_)
            | ScopeClass::Declared
            | ScopeClass::OutOfScope
            | ScopeClass::InScope => false,
        })
    }
}

impl std::fmt::Display for Classified {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.class.name(), self.path)?;
        match &self.class {
            ScopeClass::Forbidden(entry) | ScopeClass::HumanReview(entry) => {
                write!(f, " (`{}`)", entry.glob)
            }
            ScopeClass::Dangerous(danger) => write!(f, " ({})", danger.as_str()),
            ScopeClass::Inherited
            | ScopeClass::Declared
            | ScopeClass::OutOfScope
            | ScopeClass::InScope => Ok(()),
        }
    }
}

/// Gives each changed file its class and decides whether the close may go on.
pub fn classify_scope(changes: &[Change], rules: &ScopeRules<'_>) -> ScopeReport {
    let mut files: Vec<Classified> = changes
        .iter()
        .map(|change| Classified { path: change.path.clone(), class: classify(change, rules) })
        .collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let verdict = if changes.is_empty() && rules.empty == EmptyChange::Fails {
        ScopeVerdict::NoChanges
    } else if files.iter().any(|file| file.class.fails()) {
        ScopeVerdict::ScopeCheckFailed
    } else {
        ScopeVerdict::Pass
    };
    let holds_danger = changes.iter().any(|change| danger(change, rules.max_file_bytes).is_some());
    ScopeReport { files, verdict, holds_danger }
}

/// The class of one change: the first that fits.
pub fn classify(change: &Change, rules: &ScopeRules<'_>) -> ScopeClass {
    if change.origin == ChangeOrigin::Inherited {
        return ScopeClass::Inherited;
    }
    let text = shown(&change.path);
    if let Some(entry) = rules.policy.forbids(&text, rules.lane, rules.claims) {
        return ScopeClass::Forbidden(entry);
    }
    if let Some(danger) = danger(change, rules.max_file_bytes) {
        return ScopeClass::Dangerous(danger);
    }
    if change.path.as_utf8().is_some_and(|path| rules.claims.declares(path)) {
        return ScopeClass::Declared;
    }
    if let Some(entry) = rules.policy.asks_review(&text) {
        return ScopeClass::HumanReview(entry);
    }
    match rules.lane {
        Some(Lane::Frontier) => ScopeClass::InScope,
        Some(Lane::Local) | None => ScopeClass::OutOfScope,
    }
}

/// A path that is not text is matched by what can be read of it; it cannot be declared.
fn shown(path: &TreePath) -> Cow<'_, str> {
    String::from_utf8_lossy(path.as_bytes())
}

/// Why a change is dangerous, whatever the task declares; what came with the branch is nobody's to judge.
pub fn danger(change: &Change, max_file_bytes: u64) -> Option<Danger> {
    if change.origin == ChangeOrigin::Inherited {
        return None;
    }
    let path = &shown(&change.path);
    let by_content = match &change.content {
        Content::Gone => return None,
        Content::Submodule => Some(Danger::Submodule),
        Content::NestedRepository => Some(Danger::NestedRepository),
        Content::Link { target: None } => Some(Danger::UnreadableLink),
        Content::Link { target: Some(target) } => find_link_danger(path, target),
        Content::File { holds_credential: true, .. } => Some(Danger::HoldsCredential),
        Content::File { bytes, .. } if *bytes > max_file_bytes => Some(Danger::TooLarge),
        Content::File { .. } => None,
    };
    by_content.or_else(|| secret::is_secret_name(path).then_some(Danger::SecretName))
}

/// Follows the target segment by segment from the folder the link lies in.
fn find_link_danger(path: &str, target: &[u8]) -> Option<Danger> {
    if target.is_empty() {
        return Some(Danger::UnreadableLink);
    }
    let drive = target.len() > 1 && target[0].is_ascii_alphabetic() && target[1] == b':';
    if target[0] == b'/' || target[0] == b'\\' || drive {
        return Some(Danger::AbsoluteLink);
    }
    let mut depth = path.matches('/').count();
    for segment in target.split(|byte| matches!(byte, b'/' | b'\\')) {
        match segment {
            b"" | b"." => {}
            b".." if depth == 0 => return Some(Danger::LinkOutside),
            b".." => depth -= 1,
            // Into the repository's own folder is out of the work tree.
            name if name.eq_ignore_ascii_case(b".git") => return Some(Danger::LinkOutside),
            _ => depth += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests;
