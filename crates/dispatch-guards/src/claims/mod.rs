//! The claim relation: which paths a task says it will write, and when two tasks may not run at once
//! (L8).

mod lint;

use std::collections::{BTreeMap, BTreeSet};

use dispatch_core::path::containment_fault;
use dispatch_core::task::Task;
use globset::{GlobBuilder, GlobMatcher};

pub use lint::{ClaimCheck, ClaimFinding, ClaimRule, OpenTask, lint_claims};

/// Which of the two kinds of claim an entry makes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimField {
    /// The task writes it alone.
    Owns,
    /// Marked ` (shared)`: others write it too.
    Shared,
}

impl ClaimField {
    /// The name used in text and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Owns => "owns",
            Self::Shared => "shared",
        }
    }
}

/// One declared entry, with the mark already set aside.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct Claim {
    /// The entry as declared: a file, a directory (trailing `/`) or a glob.
    pub path: String,
    /// Owned or shared.
    pub field: ClaimField,
}

impl Claim {
    /// A claim of the task alone.
    pub fn owns(path: impl Into<String>) -> Self {
        Self { path: path.into(), field: ClaimField::Owns }
    }

    /// A claim that others may make too.
    pub fn shared(path: impl Into<String>) -> Self {
        Self { path: path.into(), field: ClaimField::Shared }
    }

    /// Reads a declared entry, setting a trailing ` (shared)` aside.
    pub fn parse(entry: &str) -> Self {
        match entry.trim_end().strip_suffix("(shared)") {
            Some(path) if path.ends_with(char::is_whitespace) => Self::shared(path.trim_end()),
            _ => Self::owns(entry),
        }
    }

    /// Whether the entry names a path inside the repository (L8.1 and B1.3).
    pub fn is_admitted(&self) -> bool {
        is_admitted(&self.path)
    }
}

fn is_admitted(entry: &str) -> bool {
    is_contained(entry.strip_suffix('/').unwrap_or(entry))
}

/// Whether a path, without the trailing slash of a directory, stays inside the repository (L8.1, B1.3).
pub fn is_contained(path: &str) -> bool {
    containment_fault(path).is_none()
}

/// Where a source file's tests lie besides `<stem>.test<ext>` and `<stem>.test/`.
///
/// Patterns such as `tests/{stem}{ext}`; `{dir}`, `{stem}` and `{ext}` are the parts of the
/// declared path. None by default (L8.2).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TestSiblings {
    patterns: Vec<String>,
}

impl TestSiblings {
    /// Further patterns, as configured in `paths.testSiblings`.
    pub fn new(patterns: impl IntoIterator<Item = String>) -> Self {
        Self { patterns: patterns.into_iter().collect() }
    }

    fn expand(&self, path: &str) -> Vec<String> {
        if self.patterns.is_empty() {
            return Vec::new();
        }
        let Some((stem_path, extension)) = split_extension(path) else { return Vec::new() };
        let (directory, stem) = match stem_path.rsplit_once('/') {
            Some((directory, stem)) => (format!("{directory}/"), stem),
            None => (String::new(), stem_path),
        };
        let folder = directory.strip_suffix('/').unwrap_or("");
        self.patterns
            .iter()
            .map(|pattern| {
                let filled = pattern
                    .replace("{dir}", folder)
                    .replace("{stem}", stem)
                    .replace("{ext}", extension);
                if pattern.contains("{dir}") { filled } else { format!("{directory}{filled}") }
            })
            .map(|sibling| sibling.trim_start_matches('/').to_owned())
            .filter(|sibling| is_admitted(sibling))
            .collect()
    }
}

/// Splits `dir/stem.ext` as L8.2 does: neither the stem nor the extension is empty, and the path is
/// not itself a test.
fn split_extension(path: &str) -> Option<(&str, &str)> {
    let name_start = path.rfind('/').map_or(0, |slash| slash + 1);
    let name = &path[name_start..];
    let dot = name.rfind('.')?;
    if dot == 0 || dot + 1 == name.len() || name.contains(".test.") {
        return None;
    }
    Some((&path[..name_start + dot], &path[name_start + dot..]))
}

/// The paths that a declared path stands for: itself and its test siblings (L8.2).
pub fn expand_claim(path: &str, siblings: &TestSiblings) -> Vec<String> {
    let mut footprint = vec![path.to_owned()];
    if let Some((stem, extension)) = split_extension(path) {
        footprint.push(format!("{stem}.test{extension}"));
        footprint.push(format!("{stem}.test/"));
        footprint.extend(siblings.expand(path));
    }
    footprint
}

/// Whether two paths are the same or one lies under the other (L8.3).
pub fn has_path_overlap(a: &str, b: &str) -> bool {
    let a = a.strip_suffix('/').unwrap_or(a).as_bytes();
    let b = b.strip_suffix('/').unwrap_or(b).as_bytes();
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    // The cheap question first: most pairs of paths part here.
    long.get(short.len()).is_none_or(|next| *next == b'/') && long.starts_with(short)
}

/// Whether `path` lies under the directory `directory`.
pub(crate) fn lies_under(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

/// Whether an entry has a glob character.
pub fn is_glob(path: &str) -> bool {
    path.contains(['*', '?', '[', '{'])
}

/// What a claim covers for the guard.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Footprint {
    /// The whole repository: a glob with no leading plain segment.
    Repository,
    /// This path and everything under it.
    At(String),
}

impl Footprint {
    /// Whether the two cover a common path.
    pub fn overlaps(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Repository, _) | (_, Self::Repository) => true,
            (Self::At(a), Self::At(b)) => has_path_overlap(a, b),
        }
    }
}

/// The footprints of one declared path; a glob widens to the directory before its first glob character.
pub fn footprints(path: &str, siblings: &TestSiblings) -> Vec<Footprint> {
    if !is_glob(path) {
        return expand_claim(path, siblings).into_iter().map(Footprint::At).collect();
    }
    let plain: Vec<&str> = path.split('/').take_while(|segment| !is_glob(segment)).collect();
    match plain.as_slice() {
        [] => vec![Footprint::Repository],
        _ => vec![Footprint::At(format!("{}/", plain.join("/")))],
    }
}

/// What a task claims, ready to be held against changed files.
#[derive(Debug, Clone, Default)]
pub struct Claims {
    entries: Vec<Claim>,
    footprints: Vec<(usize, Footprint)>,
    globs: Vec<GlobMatcher>,
}

impl Claims {
    /// Takes the entries of a task. Those that name no path inside the repository take no part in the
    /// relation: guard 1 blocks such a task.
    pub fn new(entries: impl IntoIterator<Item = Claim>, siblings: &TestSiblings) -> Self {
        let mut claims = Self::default();
        for claim in entries.into_iter().filter(Claim::is_admitted) {
            let index = claims.entries.len();
            claims.footprints.extend(
                footprints(&claim.path, siblings).into_iter().map(|footprint| (index, footprint)),
            );
            if is_glob(&claim.path) {
                claims.globs.extend(literal_glob(&claim.path));
            }
            claims.entries.push(claim);
        }
        claims
    }

    /// The claims of a task. Its entries are relative to the project root, a folder of the repository
    /// or its top (B1.3).
    pub fn of_task(task: &Task, project_root: &str, siblings: &TestSiblings) -> Self {
        let root = project_root.trim_start_matches("./").trim_matches('/');
        let below = |entry: &str| match root {
            "" | "." => entry.to_owned(),
            _ => format!("{root}/{entry}"),
        };
        let entries = task.declared_files.iter().filter(|file| is_admitted(&file.text));
        let claims = entries.map(|file| {
            let field = if file.shared { ClaimField::Shared } else { ClaimField::Owns };
            Claim { path: below(&file.text), field }
        });
        Self::new(claims, siblings)
    }

    /// The admitted entries, in order.
    pub fn entries(&self) -> &[Claim] {
        &self.entries
    }

    /// Whether nothing is claimed.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether a changed file is declared (L8.6): it equals a footprint, lies under one, or a glob entry
    /// matches it. Being above a claim does not count, nor does the directory a glob widens to.
    pub fn declares(&self, changed: &str) -> bool {
        self.footprints.iter().any(|(entry, footprint)| match footprint {
            Footprint::At(path) if !is_glob(&self.entries[*entry].path) => {
                let path = path.strip_suffix('/').unwrap_or(path);
                changed == path || lies_under(changed, path)
            }
            Footprint::At(_) | Footprint::Repository => false,
        }) || self.globs.iter().any(|glob| glob.is_match(changed))
    }

    /// Whether this very file, and not a directory or glob around it, is declared.
    pub fn declares_file(&self, path: &str) -> bool {
        self.entries.iter().any(|claim| claim.path == path)
    }

    /// The first overlap with other claims, smallest by candidate path, then busy path.
    pub fn overlap(&self, busy: &Self) -> Option<Overlap> {
        self.overlap_where(busy, |_, _| true)
    }

    /// The first overlap among the claims that are looked at.
    fn overlap_where(
        &self,
        busy: &Self,
        looked_at: impl Fn(&Claim, &Claim) -> bool,
    ) -> Option<Overlap> {
        let overlapping = self.footprints.iter().flat_map(|(own, footprint)| {
            let others = busy.footprints.iter().filter(|(_, other)| footprint.overlaps(other));
            others.map(|(other, _)| (&self.entries[*own], &busy.entries[*other]))
        });
        let (candidate, busy) = overlapping.filter(|(own, other)| looked_at(own, other)).min()?;
        Some(Overlap { candidate: candidate.clone(), busy: busy.clone() })
    }
}

fn literal_glob(path: &str) -> Option<GlobMatcher> {
    GlobBuilder::new(path).literal_separator(true).build().ok().map(|glob| glob.compile_matcher())
}

/// Two claims that cover a common path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Overlap {
    /// The claim of the task that would start.
    pub candidate: Claim,
    /// The claim of the task that is busy.
    pub busy: Claim,
}

/// The start ids and everything reachable from them (L8.4). Unknown ids are members without
/// successors; cycles end.
pub fn find_reachable<T: Ord + Clone>(
    graph: &BTreeMap<T, BTreeSet<T>>,
    start: impl IntoIterator<Item = T>,
) -> BTreeSet<T> {
    let mut reached = BTreeSet::new();
    let mut waiting: Vec<T> = start.into_iter().collect();
    while let Some(id) = waiting.pop() {
        if reached.insert(id.clone()) {
            waiting.extend(graph.get(&id).into_iter().flatten().cloned());
        }
    }
    reached
}

/// Who depends on whom, and who is part of whom.
#[derive(Debug, Clone)]
pub struct TaskGraph<T> {
    /// The dependencies of each task, completed and archived ones included.
    pub depends_on: BTreeMap<T, BTreeSet<T>>,
    /// The parent of each subtask.
    pub parent: BTreeMap<T, T>,
}

impl<T> Default for TaskGraph<T> {
    fn default() -> Self {
        Self { depends_on: BTreeMap::new(), parent: BTreeMap::new() }
    }
}

impl<T: Ord + Clone> TaskGraph<T> {
    /// Whether one of the two depends, transitively, on the other.
    pub fn ordered(&self, a: &T, b: &T) -> bool {
        find_reachable(&self.depends_on, [a.clone()]).contains(b)
            || find_reachable(&self.depends_on, [b.clone()]).contains(a)
    }

    /// Whether one of the two is part of the other: a subtask, at any depth.
    pub fn nested(&self, a: &T, b: &T) -> bool {
        self.is_above(a, b) || self.is_above(b, a)
    }

    fn is_above(&self, ancestor: &T, task: &T) -> bool {
        let mut seen = BTreeSet::new();
        let mut at = self.parent.get(task);
        while let Some(parent) = at {
            if parent == ancestor {
                return true;
            }
            if !seen.insert(parent) {
                return false;
            }
            at = self.parent.get(parent);
        }
        false
    }
}

/// A busy task whose claims overlap the candidate's, with neither depending on the other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Conflict<T> {
    /// The busy task.
    pub task: T,
    /// The two claims.
    #[serde(flatten)]
    pub overlap: Overlap,
}

/// The first conflict of `candidate` with the busy tasks, smallest by task, candidate path and busy
/// path (L8.7).
pub fn decide_overlap<T: Ord + Clone>(
    candidate: (&T, &Claims),
    busy: &BTreeMap<T, Claims>,
    graph: &TaskGraph<T>,
) -> Option<Conflict<T>> {
    let (id, claims) = candidate;
    busy.iter()
        .filter(|(task, _)| *task != id && !graph.nested(id, task))
        .filter_map(|(task, theirs)| {
            claims.overlap(theirs).map(|overlap| Conflict { task: task.clone(), overlap })
        })
        .find(|conflict| !graph.ordered(id, &conflict.task))
}

#[cfg(test)]
mod tests;
