//! Paths inside the repository.

use std::fmt;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A contained path relative to the repository's top, with `/` between segments (B1.3).
///
/// It cannot leave the repository by itself: no leading `/`, no backslash, no drive, no empty, `.` or `..`
/// segment, no control character. A symbolic link on the way is another matter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct RepoPath(String);

/// Why a text is not a contained path.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{}` is not a path inside the repository: {why}", found.escape_debug())]
pub struct RepoPathError {
    /// The text.
    pub found: String,
    /// What is wrong with it.
    pub why: &'static str,
}

impl RepoPath {
    /// Reads a contained path without a trailing slash.
    pub fn parse(text: &str) -> Result<Self, RepoPathError> {
        match containment_fault(text) {
            Some(why) => Err(RepoPathError { found: text.chars().take(300).collect(), why }),
            None => Ok(Self(text.to_owned())),
        }
    }

    /// The path.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path.
    pub fn as_path(&self) -> &Utf8Path {
        Utf8Path::new(&self.0)
    }

    /// This path below the folder `base`.
    #[must_use]
    pub fn below(&self, base: &Self) -> Self {
        Self(format!("{}/{}", base.0, self.0))
    }
}

/// What keeps `text` from being a contained path, if anything does.
pub fn containment_fault(text: &str) -> Option<&'static str> {
    if text.is_empty() {
        return Some("it is empty");
    }
    if text.starts_with('/') {
        return Some("it begins with `/`");
    }
    if text.contains('\\') {
        return Some("it holds a backslash");
    }
    if text.chars().any(char::is_control) {
        return Some("it holds a control character");
    }
    let mut bytes = text.bytes();
    if bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic()) && bytes.next() == Some(b':') {
        return Some("it names a drive");
    }
    text.split('/').find_map(|segment| match segment {
        "" => Some("it has an empty segment"),
        "." => Some("it has a `.` segment"),
        ".." => Some("it has a `..` segment"),
        _ => None,
    })
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl<'de> Deserialize<'de> for RepoPath {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// A path as git has it: any bytes but NUL (C3.2). Shown escaped where it is not plain text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreePath(Vec<u8>);

impl TreePath {
    /// The path of these bytes.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The path as text, when it is text.
    pub fn as_utf8(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }
}

impl From<&RepoPath> for TreePath {
    fn from(path: &RepoPath) -> Self {
        Self(path.as_str().as_bytes().to_vec())
    }
}

impl fmt::Display for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_utf8() {
            Some(text) if !text.chars().any(char::is_control) => f.pad(text),
            Some(text) => write!(f, "{}", text.escape_debug()),
            None => write!(f, "{}", self.0.escape_ascii()),
        }
    }
}

impl fmt::Debug for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TreePath({})", self.0.escape_ascii())
    }
}

impl Serialize for TreePath {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The path without `.` and `..`, by its text alone: what it names may not exist yet. Above the root is the root; a
/// relative path keeps the `..` that lead out of it.
pub fn normal(path: &Utf8Path) -> Utf8PathBuf {
    let mut normal = Utf8PathBuf::new();
    for component in path.components() {
        match component {
            Utf8Component::CurDir => {}
            Utf8Component::ParentDir if normal.file_name().is_some() => {
                normal.pop();
            }
            Utf8Component::ParentDir if normal.is_absolute() => {}
            Utf8Component::ParentDir
            | Utf8Component::Prefix(_)
            | Utf8Component::RootDir
            | Utf8Component::Normal(_) => normal.push(component),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("/a/code/../slots/./x", "/a/slots/x")]
    #[test_case("/../x", "/x"; "above the root is the root")]
    #[test_case("../x/../y", "../y"; "a relative path may lead out")]
    #[test_case("x/../../y", "../y"; "also by and by")]
    fn a_path_without_dots(path: &str, normal: &str) {
        assert_eq!(super::normal(Utf8Path::new(path)), Utf8Path::new(normal));
    }

    #[test]
    fn b1_3_only_contained_paths_are_taken() {
        for text in ["", "/a", "a/", "a//b", "./a", "a/..", "a\\b", "C:a", "a\nb", "..", "a\u{7f}"]
        {
            assert!(RepoPath::parse(text).is_err(), "{text:?}");
        }
        for text in ["a", "src/a b.rs", "ä/ö", "...", ".env", "a:b/c"] {
            assert_eq!(RepoPath::parse(text).is_ok(), text != "a:b/c", "{text:?}");
        }
    }

    #[test]
    fn c3_2_paths_of_any_bytes_are_shown_escaped() {
        assert_eq!(TreePath::new(*b"a\xffb").to_string(), "a\\xffb");
        assert_eq!(TreePath::new(*b"a\nb").to_string(), "a\\nb");
        assert_eq!(TreePath::new("ä").to_string(), "ä");
    }
}
