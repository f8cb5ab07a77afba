//! Where a tool call happens, and which paths are which.

use std::collections::BTreeMap;

use crate::permission::files::{Anchor, FilePattern};

/// The surroundings of a tool call. Every path is absolute and without `.` and `..`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The directory the agent was started in: the slot.
    pub start: String,
    /// The directory the session is in now.
    pub here: String,
    /// The home directory.
    pub home: String,
    /// Further directories the agent may work in (`--add-dir`, `additionalDirectories`).
    pub added: Vec<String>,
    /// Symbolic links that are known: where each lies, and where it leads.
    pub links: BTreeMap<String, String>,
}

/// A path as given and as it really is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Resolved {
    pub(super) named: String,
    pub(super) real: String,
}

impl Resolved {
    pub(super) fn both(&self) -> [&str; 2] {
        [&self.named, &self.real]
    }
}

impl Place {
    /// A place without links, in the directory the agent was started in.
    pub fn new(start: impl Into<String>, home: impl Into<String>) -> Self {
        let start = start.into();
        Self { here: start.clone(), start, home: home.into(), ..Self::default() }
    }

    pub(super) fn resolve(&self, path: &str) -> Resolved {
        let absolute = if let Some(rest) = path.strip_prefix("~/") {
            format!("{}/{rest}", self.home)
        } else if path == "~" {
            self.home.clone()
        } else if path.starts_with('/') {
            path.to_owned()
        } else {
            format!("{}/{path}", self.here)
        };
        let named = normalise(&absolute);
        let real = self.follow(&named, 8);
        Resolved { named, real }
    }

    fn follow(&self, path: &str, left: usize) -> String {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        for end in ends {
            if let Some(target) = self.links.get(&path[..end])
                && left > 0
            {
                let parent = path[..end].rsplit_once('/').map_or("", |(parent, _)| parent);
                let target = if target.starts_with('/') {
                    target.clone()
                } else {
                    format!("{parent}/{target}")
                };
                let moved = normalise(&format!("{target}{}", &path[end..]));
                return self.follow(&moved, left - 1);
            }
        }
        path.to_owned()
    }

    /// Whether both forms of the path lie where the agent works.
    pub(super) fn is_inside(&self, path: &Resolved) -> bool {
        path.both().iter().all(|path| {
            is_within(path, &self.start) || self.added.iter().any(|dir| is_within(path, dir))
        })
    }

    /// Whether a pattern matches an absolute path.
    pub(super) fn matches(&self, pattern: &FilePattern, path: &str) -> bool {
        let root = match pattern.anchor {
            Anchor::Here => self.here.as_str(),
            Anchor::Start => self.start.as_str(),
            Anchor::Home => self.home.as_str(),
            Anchor::Root => "",
            Anchor::AgentHome => {
                return below(path, &format!("{}/.claude", self.home))
                    .is_some_and(|rest| pattern.matches(rest));
            }
            Anchor::Nowhere => return false,
        };
        below(path, root).is_some_and(|rest| pattern.matches(rest))
    }
}

fn below<'a>(path: &'a str, root: &str) -> Option<&'a str> {
    path.strip_prefix(root)?.strip_prefix('/').filter(|rest| !rest.is_empty())
}

pub(super) fn is_within(path: &str, directory: &str) -> bool {
    path == directory || path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

/// The path without `.`, `..` and doubled slashes.
pub(super) fn normalise(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                kept.pop();
            }
            _ => kept.push(segment),
        }
    }
    format!("/{}", kept.join("/"))
}

/// Whether the agent keeps everybody from writing there (F6).
pub(super) fn is_guarded(path: &str) -> bool {
    const FOLDERS: &[&str] = &[".git", ".vscode", ".idea", ".husky"];
    const FILES: &[&str] = &[
        ".mcp.json",
        ".gitmodules",
        ".gitconfig",
        ".bashrc",
        ".bash_profile",
        ".bash_login",
        ".profile",
        ".zshrc",
        ".zprofile",
        ".zshenv",
        ".ripgreprc",
        ".claude.json",
    ];
    let path = path.to_lowercase();
    let segments: Vec<&str> = path.split('/').collect();
    let in_agent_folder = segments.iter().enumerate().any(|(at, segment)| {
        *segment == ".claude" && segments.get(at + 1).is_none_or(|next| *next != "worktrees")
    });
    in_agent_folder
        || segments.iter().any(|segment| FOLDERS.contains(segment))
        || segments.last().is_some_and(|last| FILES.contains(last))
}
