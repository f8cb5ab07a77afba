//! The path policy: which paths nobody, or not the local lane, or not without a person's look, may
//! change (C4).
//!
//! ```
//! use dispatch_core::triage::Lane;
//! use dispatch_guards::claims::Claims;
//! use dispatch_guards::paths::{PathLists, PathPolicy, PolicyPlaces};
//!
//! let policy = PathPolicy::new(&PathLists::default(), &PolicyPlaces::default())?;
//! let none = Claims::default();
//! assert!(policy.forbids("SRC/.git/config", Some(Lane::Frontier), &none).is_some());
//! assert!(policy.forbids("src/main.rs", Some(Lane::Frontier), &none).is_none());
//! # Ok::<(), dispatch_guards::paths::PathPolicyError>(())
//! ```

mod builtin;

use dispatch_core::triage::Lane;
use globset::{Glob, GlobBuilder, GlobMatcher, GlobSet};

use crate::claims::{Claims, is_glob};

/// What the configuration adds to the built-in lists, and what it takes away.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PathLists {
    /// Further hard paths.
    pub hard: Vec<String>,
    /// Further local-forbidden paths.
    pub local_forbidden: Vec<String>,
    /// Further human-review paths.
    pub human_review: Vec<String>,
    /// Paths freed from the built-in lists (`"!"`).
    pub except: Vec<String>,
}

/// The files that bound a worker, repository-relative: hard whatever they are called.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PolicyPlaces {
    /// The board directory, when it lies inside the repository.
    pub board_dir: Option<String>,
    /// Configuration, lane settings, prompt templates, hook programs.
    pub files: Vec<String>,
}

/// Where an entry of the policy comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EntryOrigin {
    /// Built in, and nothing frees it.
    Firm,
    /// Built in.
    BuiltIn,
    /// Built in: a CI definition, which a task on the frontier lane may declare.
    Ci,
    /// From the configuration.
    Configured,
}

/// One of the three lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PathList {
    /// Never touched by any lane.
    Hard,
    /// Never touched by the local lane.
    LocalForbidden,
    /// Allowed, but marks the pull request for a person.
    HumanReview,
}

/// The entry of the policy that a path falls under.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct PathMatch {
    /// The list.
    pub list: PathList,
    /// The glob as written.
    pub glob: String,
    /// Where it comes from.
    pub origin: EntryOrigin,
}

/// A glob of the configuration that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{glob}` in `paths` is not a glob")]
pub struct PathPolicyError {
    /// The glob as written.
    pub glob: String,
    /// What is wrong with it.
    #[source]
    pub source: globset::Error,
}

/// A list of entries, and whether any of them may cover a path, asked at once.
#[derive(Debug, Clone)]
struct Entries {
    all: Vec<Entry>,
    any: GlobSet,
}

impl Entries {
    fn new(all: Vec<Entry>) -> Result<Self, PathPolicyError> {
        let mut any = GlobSet::builder();
        for entry in &all {
            any.add(entry.matcher.glob().clone());
            any.add(entry.below.clone());
            if let Some(folder) = &entry.folder {
                any.add(folder.glob().clone());
            }
        }
        let together = |source| PathPolicyError { glob: "all of them together".to_owned(), source };
        let any = any.build().map_err(together)?;
        Ok(Self { all, any })
    }

    /// The first entry that counts and covers the path.
    fn find(&self, path: &str, counts: impl Fn(&Entry) -> bool) -> Option<&Entry> {
        // Nearly every path falls under nothing.
        if !self.any.is_match(path) {
            return None;
        }
        self.all.iter().find(|entry| counts(entry) && entry.covers(path))
    }
}

#[derive(Debug, Clone)]
struct Entry {
    glob: String,
    origin: EntryOrigin,
    matcher: GlobMatcher,
    /// Whatever lies below what matches.
    below: Glob,
    /// Set when the glob ends in `/**`: the folder itself, which as a file name is as forbidden.
    folder: Option<GlobMatcher>,
}

impl Entry {
    fn new(glob: &str, origin: EntryOrigin, case: Case) -> Result<Self, PathPolicyError> {
        let written = glob;
        let glob = glob.strip_prefix("./").unwrap_or(glob).trim_start_matches('/');
        let glob = glob.strip_suffix('/').unwrap_or(glob);
        let glob = match case {
            Case::Sensitive => glob.to_owned(),
            Case::Folded => glob.to_lowercase(),
        };
        let named = |source| PathPolicyError { glob: written.to_owned(), source };
        let folder = glob.strip_suffix("/**").map(build).transpose().map_err(named)?;
        Ok(Self {
            glob: written.to_owned(),
            origin,
            matcher: build(&glob).map_err(named)?.compile_matcher(),
            below: build(&format!("{glob}/**")).map_err(named)?,
            folder: folder.map(|folder| folder.compile_matcher()),
        })
    }

    /// Whether the path, or a folder it lies in, matches.
    fn covers(&self, path: &str) -> bool {
        let matches = |path: &str| {
            self.matcher.is_match(path) || self.folder.as_ref().is_some_and(|f| f.is_match(path))
        };
        matches(path) || path.match_indices('/').any(|(at, _)| matches(&path[..at]))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    Sensitive,
    Folded,
}

fn build(glob: &str) -> Result<Glob, globset::Error> {
    GlobBuilder::new(glob).literal_separator(true).backslash_escape(true).build()
}

/// The three lists, ready to be asked.
#[derive(Debug, Clone)]
pub struct PathPolicy {
    hard: Entries,
    local: Entries,
    review: Entries,
    except: Vec<Entry>,
    except_folded: Vec<Entry>,
}

impl PathPolicy {
    /// Puts the built-in lists, the places of this repository and the configuration together.
    ///
    /// # Errors
    ///
    /// The first configured glob that cannot be read.
    pub fn new(lists: &PathLists, places: &PolicyPlaces) -> Result<Self, PathPolicyError> {
        let mut hard = Vec::new();
        for glob in builtin::FIRM {
            hard.push(Entry::new(glob, EntryOrigin::Firm, Case::Folded)?);
        }
        for place in places.board_dir.iter().chain(&places.files) {
            let place = globset::escape(place.trim_end_matches('/'));
            hard.push(Entry::new(&place, EntryOrigin::Firm, Case::Folded)?);
        }
        extend(&mut hard, &lists.hard, EntryOrigin::Configured, Case::Folded)?;
        extend(&mut hard, builtin::HARD, EntryOrigin::BuiltIn, Case::Folded)?;
        extend(&mut hard, builtin::CI, EntryOrigin::Ci, Case::Folded)?;

        let mut local = Vec::new();
        extend(&mut local, &lists.local_forbidden, EntryOrigin::Configured, Case::Sensitive)?;
        for list in [builtin::LOCAL_FORBIDDEN, builtin::LOCKFILES, builtin::MANIFESTS] {
            extend(&mut local, list, EntryOrigin::BuiltIn, Case::Sensitive)?;
        }

        let mut review = Vec::new();
        extend(&mut review, &lists.human_review, EntryOrigin::Configured, Case::Sensitive)?;
        for list in [builtin::HUMAN_REVIEW, builtin::LOCKFILES, builtin::MANIFESTS] {
            extend(&mut review, list, EntryOrigin::BuiltIn, Case::Sensitive)?;
        }

        let mut except = Vec::new();
        extend(&mut except, &lists.except, EntryOrigin::Configured, Case::Sensitive)?;
        let mut except_folded = Vec::new();
        extend(&mut except_folded, &lists.except, EntryOrigin::Configured, Case::Folded)?;
        Ok(Self {
            hard: Entries::new(hard)?,
            local: Entries::new(local)?,
            review: Entries::new(review)?,
            except,
            except_folded,
        })
    }

    /// Every entry in force, for `config check`.
    pub fn entries(&self) -> impl Iterator<Item = PathMatch> + '_ {
        [
            (PathList::Hard, &self.hard),
            (PathList::LocalForbidden, &self.local),
            (PathList::HumanReview, &self.review),
        ]
        .into_iter()
        .flat_map(|(list, entries)| entries.all.iter().map(move |entry| found(list, entry)))
    }

    /// The entry that forbids `path` on this lane, if any. A missing lane counts as local.
    ///
    /// A CI definition is free when the task declares that very file and runs on the frontier lane.
    pub fn forbids(&self, path: &str, lane: Option<Lane>, claims: &Claims) -> Option<PathMatch> {
        let declared_ci = lane == Some(Lane::Frontier) && claims.declares_file(path);
        let folded = fold(path);
        let freed = self.except_folded.iter().any(|entry| entry.covers(&folded));
        let hard = self.hard.find(&folded, |entry| match entry.origin {
            EntryOrigin::Firm | EntryOrigin::Configured => true,
            EntryOrigin::BuiltIn => !freed,
            EntryOrigin::Ci => !freed && !declared_ci,
        });
        if let Some(entry) = hard {
            return Some(found(PathList::Hard, entry));
        }
        match lane {
            Some(Lane::Frontier) => None,
            Some(Lane::Local) | None => self.find(PathList::LocalForbidden, &self.local, path),
        }
    }

    /// The entry that asks for a person's look at `path`, if any.
    pub fn asks_review(&self, path: &str) -> Option<PathMatch> {
        self.find(PathList::HumanReview, &self.review, path)
    }

    /// The entry that forbids a declared entry, if any: a file, a directory, or a glob by the
    /// directory it lies in.
    pub fn forbids_claim(
        &self,
        entry: &str,
        lane: Option<Lane>,
        claims: &Claims,
    ) -> Option<PathMatch> {
        let path = entry.strip_suffix('/').unwrap_or(entry);
        if let Some(found) = self.forbids(path, lane, claims) {
            return Some(found);
        }
        if !is_glob(path) {
            return None;
        }
        let plain: Vec<&str> = path.split('/').take_while(|segment| !is_glob(segment)).collect();
        if plain.is_empty() { None } else { self.forbids(&plain.join("/"), lane, claims) }
    }

    fn find(&self, list: PathList, entries: &Entries, path: &str) -> Option<PathMatch> {
        let freed = self.except.iter().any(|entry| entry.covers(path));
        let counts = |entry: &Entry| entry.origin == EntryOrigin::Configured || !freed;
        entries.find(path, counts).map(|entry| found(list, entry))
    }
}

fn found(list: PathList, entry: &Entry) -> PathMatch {
    PathMatch { list, glob: entry.glob.clone(), origin: entry.origin }
}

fn extend<S: AsRef<str>>(
    entries: &mut Vec<Entry>,
    globs: &[S],
    origin: EntryOrigin,
    case: Case,
) -> Result<(), PathPolicyError> {
    for glob in globs {
        entries.push(Entry::new(glob.as_ref(), origin, case)?);
    }
    Ok(())
}

/// The path as a forgiving file system would see it: letter case aside, without the characters some
/// of them ignore, without blanks and dots at the end of a segment.
fn fold(path: &str) -> String {
    let plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"/_-".contains(&byte);
    let dotted = path.contains("./") || path.ends_with('.');
    if !dotted && path.bytes().all(|byte| plain(byte) || byte == b'.') {
        return path.to_owned();
    }
    let segments: Vec<String> = path
        .split('/')
        .map(|segment| {
            let shown: String = segment.chars().filter(|c| !is_ignored(*c)).collect();
            let trimmed = shown.trim_end_matches(['.', ' ']);
            let kept = if trimmed.is_empty() { shown.as_str() } else { trimmed };
            match kept.to_lowercase() {
                short if short == "git~1" => ".git".to_owned(),
                other => other,
            }
        })
        .collect();
    segments.join("/")
}

/// Characters that HFS+ leaves out when it compares names.
fn is_ignored(character: char) -> bool {
    matches!(character, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests;
