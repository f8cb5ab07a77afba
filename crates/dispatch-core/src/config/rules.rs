//! What texts of the configuration may be, and the rules between values.

use std::collections::BTreeSet;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

use super::error::{Fault, Finding};
use super::model::Config;
use super::shape::{Findings, Shape, TextRule};
use crate::branch::{BranchName, task_branch};
use crate::id::TaskId;
use crate::path::RepoPath;
use crate::slot::SlotName;

macro_rules! text {
    ($name:ident, $expected:literal, $pattern:expr, $check:expr) => {
        pub(super) static $name: Shape =
            Shape::Text(TextRule { expected: $expected, pattern: $pattern, check: $check });
    };
}

fn plain(text: &str) -> bool {
    !text.trim().is_empty() && !text.chars().any(char::is_control)
}

text!(
    LINE,
    "a text of one line, not empty",
    Some(r"^[^\u0000-\u001f\u007f]*\S[^\u0000-\u001f\u007f]*$"),
    plain
);
text!(ARGV_WORD, "a text without a NUL", None, |text| !text.contains('\0'));
// A folder may have any name, with a line break in it too (V2.2).
text!(FREE_PATH, "a path, not empty", None, |text| {
    !text.trim().is_empty() && !text.contains('\0')
});
text!(
    CONTAINED,
    "a path inside the code root (no leading `/`, no `..`, no backslash)",
    None,
    |text| { RepoPath::parse(text).is_ok() }
);
text!(CONTAINED_OR_TOP, "a path inside the repository, or `.` for its top", None, |text| {
    text == "." || RepoPath::parse(text).is_ok()
});
text!(
    SLOT_NAME,
    "a slot name (letters, digits, `.`, `_`, `-`, beginning with a letter or digit; not ending in `.verify` or `.lock`)",
    Some("^[A-Za-z0-9][A-Za-z0-9._-]*$"),
    |text| SlotName::parse(text).is_ok()
);
text!(BRANCH, "a branch name that git accepts", None, |text| BranchName::parse(text).is_ok());
text!(
    BRANCH_PREFIX,
    "a text that a branch name may begin with, such as `task/`",
    None,
    branch_prefix
);
text!(GLOB, "a glob", None, |text| {
    plain(text) && globset::Glob::new(text.trim_end_matches('/')).is_ok()
});
text!(SIBLING, "a path pattern that holds `{stem}`, such as `tests/{stem}{ext}`", None, |text| {
    text.contains("{stem}") && RepoPath::parse(text).is_ok()
});
text!(MODEL, "a model name (not beginning with `-`, no blanks)", Some(r"^[^\s-]\S*$"), |text| {
    usable_model(text)
});
text!(
    HTTP_ADDRESS,
    "an address beginning `http://` or `https://`, without a query",
    Some("^https?://[^\\s?#]+$"),
    |text| {
        let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
        rest.is_some_and(|rest| {
            !rest.is_empty()
                && !rest.starts_with('/')
                && !rest.contains(|c: char| c.is_whitespace() || c.is_control() || "?#".contains(c))
        })
    }
);
text!(ENV_NAME, "the name of an environment variable", Some("^[A-Za-z_][A-Za-z0-9_]*$"), |text| {
    env_name(text)
});
text!(
    ENV_PATTERN,
    "the name of an environment variable, or its beginning followed by `*`",
    Some("^[A-Za-z_][A-Za-z0-9_]*\\*?$"),
    |text| env_name(text.strip_suffix('*').unwrap_or(text))
);
text!(
    REVIEWER_HANDLE,
    "a GitHub login (1 to 39 letters, digits and single inner hyphens) or `org/team-slug`",
    Some(
        "^[A-Za-z0-9](?:[A-Za-z0-9]|-(?=[A-Za-z0-9])){0,38}(?:/[A-Za-z0-9][A-Za-z0-9._-]{0,99})?$"
    ),
    |text| reviewer_handle(text)
);
text!(IDENTITY, "`Name <address>`", None, |text| split_identity(text).is_some());
text!(
    SUBJECT,
    "one line that holds `{title}`; the only other placeholders are `{type}` and `{id}`",
    None,
    |text| subject(text)
);
text!(LABEL, "a label of at most 50 characters, on one line, without a comma", None, |text| {
    plain(text) && text.chars().count() <= 50 && !text.contains(',') && !text.starts_with('-')
});

fn branch_prefix(text: &str) -> bool {
    TaskId::parse("T-1").is_ok_and(|id| task_branch(text, &id, 0).is_ok())
}

fn env_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether the agent takes `text` as the name of a model; it does not look itself (D7.3).
pub fn usable_model(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 200
        && !text.starts_with('-')
        && !text.contains(|c: char| c.is_whitespace() || c.is_control())
}

fn reviewer_handle(text: &str) -> bool {
    let (login, slug) = match text.split_once('/') {
        Some((login, slug)) => (login, Some(slug)),
        None => (text, None),
    };
    let word = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric());
    let login_fits = login.len() <= 39 && login.split('-').all(word);
    let slug_fits = slug.is_none_or(|slug| {
        slug.len() <= 100
            && slug.starts_with(|c: char| c.is_ascii_alphanumeric())
            && slug.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
    });
    login_fits && slug_fits
}

/// Splits `Name <address>`.
pub(super) fn split_identity(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once('<')?;
    let address = rest.strip_suffix('>')?;
    let fits = plain(name) && plain(address) && !address.contains(['<', '>']);
    fits.then_some((name.trim(), address.trim()))
}

fn subject(text: &str) -> bool {
    let mut rest = text.to_owned();
    for placeholder in ["{type}", "{id}", "{title}"] {
        rest = rest.replace(placeholder, "");
    }
    plain(text) && text.contains("{title}") && !rest.contains(['{', '}'])
}

/// The rules between values of a configuration that is right in itself (K2).
pub(super) fn between(config: &Config, board_dir: Option<&Utf8Path>, out: &mut Findings) {
    slots_root(config, board_dir, out);
    without_effect(config, out);
    let total =
        u64::from(config.lanes.local.max_parallel) + u64::from(config.lanes.frontier.max_parallel);
    if total > config.slots.len() as u64 {
        out.warnings.push(Finding {
            path: "slots".to_owned(),
            fault: Fault::Unlikely {
                because: format!(
                    "the lanes may run {total} tasks at once and there are {} slots: some capacity is never used",
                    config.slots.len()
                ),
            },
        });
    }
    let last = u64::from(config.ports.base) + 20 * config.slots.len() as u64 - 1;
    if last > 65_535 {
        out.errors.push(Finding {
            path: "ports.base".to_owned(),
            fault: Fault::Wrong {
                found: config.ports.base.to_string(),
                expected: format!(
                    "room for {} slots of 20 ports each below 65536",
                    config.slots.len()
                ),
            },
        });
    }
    for (path, file) in files_that_bound_a_worker(config) {
        let below_slots = |root: &Utf8PathBuf| !root.as_str().is_empty() && file.starts_with(root);
        if lexical(&config.slots_root).as_ref().is_some_and(below_slots) {
            out.errors.push(Finding {
                path,
                fault: Fault::Wrong {
                    found: file.to_string(),
                    expected: "a file outside `slotsRoot`, where no worker can write".to_owned(),
                },
            });
        }
    }
}

/// Values that would be taken and do nothing: whoever writes one relies on it.
fn without_effect(config: &Config, out: &mut Findings) {
    let mut refuse = |path: &str, found: String, expected: &str| {
        let fault = Fault::Wrong { found, expected: expected.to_owned() };
        out.errors.push(Finding { path: path.to_owned(), fault });
    };
    let listed = |paths: &[Utf8PathBuf]| {
        paths.iter().map(|path| path.as_str()).collect::<Vec<_>>().join(", ")
    };
    if !config.checks.caches.is_empty() {
        let expected = "an empty list: every verification starts without what an earlier one left";
        refuse("checks.caches", listed(&config.checks.caches), expected);
    }
    if config.vcs.submodules {
        let expected = "`false`: slots do not set up submodules; `provision.link` may name a program that does";
        refuse("vcs.submodules", "true".to_owned(), expected);
    }
    let kept: Vec<Utf8PathBuf> = config
        .reset_before_attempt
        .iter()
        .filter(|file| config.provision.keep.iter().any(|folder| file.starts_with(folder)))
        .cloned()
        .collect();
    if !kept.is_empty() {
        let expected = "files outside the folders of `provision.keep`, which stay as they are between attempts";
        refuse("resetBeforeAttempt", listed(&kept), expected);
    }
}

/// Values that are read and checked, and that this version does nothing about; `given` are the paths of a file's values.
pub(super) fn not_acted_on(given: &BTreeSet<String>) -> Vec<Finding> {
    const IGNORED: [(&str, &str); 2] = [
        ("gc.keepDays", "has no effect: this version keeps the work of every attempt for good"),
        ("ledger", "has no effect: this version keeps no ledger"),
    ];
    let is_given = |name: &str| {
        given.iter().any(|path| {
            path.strip_prefix(name).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        })
    };
    IGNORED
        .into_iter()
        .filter(|(name, _)| is_given(name))
        .map(|(name, because)| Finding {
            path: name.to_owned(),
            fault: Fault::Unlikely { because: because.to_owned() },
        })
        .collect()
}

fn files_that_bound_a_worker(config: &Config) -> Vec<(String, Utf8PathBuf)> {
    let templates = &config.templates;
    let named = [
        ("lanes.local.settings", Some(&config.lanes.local.settings)),
        ("lanes.frontier.settings", Some(&config.lanes.frontier.settings)),
        ("templates.localSystem", templates.local_system.as_ref()),
        ("templates.frontierAddendum", templates.frontier_addendum.as_ref()),
        ("templates.frontierEntry", templates.frontier_entry.as_ref()),
        ("templates.closeAttempt", templates.close_attempt.as_ref()),
        ("templates.contract", templates.contract.as_ref()),
        ("skills.index", config.skills.index.as_ref()),
        ("provision.lockfile", config.provision.lockfile.as_ref()),
    ];
    named
        .into_iter()
        .filter_map(|(path, file)| file.map(|file| (path.to_owned(), file.clone())))
        .collect()
}

fn slots_root(config: &Config, board_dir: Option<&Utf8Path>, out: &mut Findings) {
    let mut refuse = |expected: &str| {
        out.errors.push(Finding {
            path: "slotsRoot".to_owned(),
            fault: Fault::Wrong {
                found: config.slots_root.to_string(),
                expected: expected.to_owned(),
            },
        });
    };
    // Outside the code root the folders of the repository are not in the way.
    let Some(root) = lexical(&config.slots_root) else { return };
    if root.as_str().is_empty() {
        refuse("a folder of its own, not the code root");
    }
    if root.components().any(|part| part.as_str().eq_ignore_ascii_case(".git")) {
        refuse("a folder outside `.git`");
    }
    if let Some(board) = board_dir
        && (root.starts_with(board) || board.starts_with(&root))
        && !root.as_str().is_empty()
    {
        refuse("a folder that neither lies in the board directory nor holds it");
    }
}

/// `path` without `.` and `..`, when it stays below the code root.
fn lexical(path: &Utf8Path) -> Option<Utf8PathBuf> {
    let mut kept = Utf8PathBuf::new();
    for part in path.components() {
        match part {
            Utf8Component::Prefix(_) | Utf8Component::RootDir => return None,
            Utf8Component::CurDir => {}
            Utf8Component::ParentDir => {
                if !kept.pop() {
                    return None;
                }
            }
            Utf8Component::Normal(name) => kept.push(name),
        }
    }
    Some(kept)
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("octocat", true; "a login")]
    #[test_case("a-b-c", true; "single inner hyphens")]
    #[test_case("org/team.slug_1", true; "a team")]
    #[test_case("-x", false; "a leading hyphen would become an option")]
    #[test_case("a--b", false; "two hyphens")]
    #[test_case("a-", false; "a trailing hyphen")]
    #[test_case("a/-b", false; "a slug that begins with a hyphen")]
    #[test_case("a/b/c", false; "two slashes")]
    #[test_case("a\n", false; "a newline")]
    #[test_case("abcdefghijabcdefghijabcdefghijabcdefghij", false; "forty characters")]
    fn n23_a_reviewer_is_a_login_or_a_team(text: &str, expected: bool) {
        assert_eq!(reviewer_handle(text), expected);
    }

    #[test_case("{type}({id}): {title}", true; "the default")]
    #[test_case("{title} {nonce}", false; "an unknown placeholder")]
    #[test_case("{type}", false; "no title")]
    fn a_subject_has_known_placeholders(text: &str, expected: bool) {
        assert_eq!(subject(text), expected);
    }
}
