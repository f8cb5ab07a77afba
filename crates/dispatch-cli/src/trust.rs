//! Trust: a configuration names programs to run, so it is used only while it is the approved one (S3).
//!
//! What was approved is kept per code root in the user's state directory, outside every checkout, with its text,
//! so that a change can be shown as a difference.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write as _};

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};
use dispatch_core::hex::hex;
use dispatch_core::printable::shown_lines;
use dispatch_proc::{Links, read_regular};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Everything that names a program to run, by the name it is shown under.
pub type Subject = BTreeMap<String, Vec<u8>>;

/// The most bytes of the file that keeps what was approved, with the text of each.
const MAX_BYTES: u64 = 256 << 20;

/// What was approved.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Approved {
    /// The code root it was approved for.
    pub code_root: Utf8PathBuf,
    /// What was approved, by name.
    pub items: BTreeMap<String, ApprovedItem>,
}

/// One approved text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovedItem {
    /// SHA-256 of its bytes, in hexadecimal: what decides.
    pub sha256: String,
    /// Its text, for showing a difference.
    pub text: String,
}

/// How the present subject differs from what was approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// It was not there.
    Added(String),
    /// It is gone.
    Removed(String),
    /// Its text is another one: the unified difference.
    Changed {
        /// Its name.
        name: String,
        /// The unified difference.
        diff: String,
    },
}

impl Approved {
    /// What approving the present subject means.
    pub fn of(code_root: &Utf8Path, subject: &Subject) -> Self {
        let items = subject
            .iter()
            .map(|(name, bytes)| {
                let text = String::from_utf8_lossy(bytes).into_owned();
                (name.clone(), ApprovedItem { sha256: sha256(bytes), text })
            })
            .collect();
        Self { code_root: code_root.to_owned(), items }
    }

    /// How the present subject differs.
    pub fn differences(&self, subject: &Subject) -> Vec<Difference> {
        let mut differences = Vec::new();
        for (name, bytes) in subject {
            match self.items.get(name) {
                None => differences.push(Difference::Added(name.clone())),
                Some(item) if item.sha256 == sha256(bytes) => {}
                Some(item) => {
                    let present = String::from_utf8_lossy(bytes);
                    let diff = similar::TextDiff::from_lines(item.text.as_str(), &present)
                        .unified_diff()
                        .context_radius(2)
                        .header("approved", "present")
                        .to_string();
                    differences.push(Difference::Changed { name: name.clone(), diff });
                }
            }
        }
        for name in self.items.keys().filter(|name| !subject.contains_key(*name)) {
            differences.push(Difference::Removed(name.clone()));
        }
        differences
    }
}

/// The differences for a person. Control characters are shown escaped: the text may come from anybody's branch.
pub fn render(differences: &[Difference]) -> String {
    let mut text = String::new();
    for difference in differences {
        let written = match difference {
            Difference::Added(name) => writeln!(text, "new: {}", shown_lines(name)),
            Difference::Removed(name) => writeln!(text, "gone: {}", shown_lines(name)),
            Difference::Changed { name, diff } => writeln!(text, "changed: {}", shown_lines(name))
                .and_then(|()| {
                    diff.lines().try_for_each(|line| writeln!(text, "  {}", shown_lines(line)))
                }),
        };
        debug_assert!(written.is_ok(), "a String takes every write");
    }
    text
}

/// The file that keeps what was approved for a code root.
pub fn file_for(
    code_root: &Utf8Path,
    state_home: Option<&str>,
    home: Option<&str>,
) -> anyhow::Result<Utf8PathBuf> {
    let usable =
        |value: Option<&str>| value.filter(|value| value.starts_with('/')).map(Utf8PathBuf::from);
    let state = usable(state_home)
        .or_else(|| usable(home).map(|home| home.join(".local/state")))
        .context("neither `XDG_STATE_HOME` nor `HOME` names a folder, so there is no place that keeps what you approved")?;
    Ok(state.join("dispatch/trust").join(format!("{}.json", sha256(code_root.as_str().as_bytes()))))
}

/// Reads what was approved; nothing when nothing was.
pub fn read(file: &Utf8Path) -> anyhow::Result<Option<Approved>> {
    match read_regular(file, Links::Followed, MAX_BYTES) {
        Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes).with_context(|| {
            format!("could not read what you approved in `{file}`; remove the file and run `dispatch trust` again")
        })?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("could not read `{file}`")),
    }
}

/// Keeps what was approved, readable for its user alone.
pub fn write(file: &Utf8Path, approved: &Approved) -> anyhow::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
    let folder = file.parent().context("the file of approvals has no folder")?;
    let doing = || format!("could not keep what you approved in `{file}`");
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).with_context(doing)?;
    let mut temporary = tempfile::NamedTempFile::new_in(folder).with_context(doing)?;
    temporary
        .as_file()
        .set_permissions(std::fs::Permissions::from_mode(0o600))
        .with_context(doing)?;
    temporary.write_all(serde_json::to_string_pretty(approved)?.as_bytes()).with_context(doing)?;
    temporary.as_file().sync_all().with_context(doing)?;
    temporary.persist(file).with_context(doing)?;
    Ok(())
}

/// SHA-256 in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(pairs: &[(&str, &str)]) -> Subject {
        pairs.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect()
    }

    #[test]
    fn what_was_approved_and_did_not_change_has_no_difference() {
        let subject = subject(&[("lanes.json", "{}\n")]);
        assert_eq!(Approved::of(Utf8Path::new("/code"), &subject).differences(&subject), []);
    }

    #[test]
    fn a_change_is_shown_as_a_difference_with_control_characters_escaped() {
        let approved = Approved::of(
            Utf8Path::new("/code"),
            &subject(&[("lanes.json", "a\nb\n"), ("old", "")]),
        );
        let differences =
            approved.differences(&subject(&[("lanes.json", "a\nc\u{1b}[2J\n"), ("hook.sh", "x")]));
        let text = render(&differences);
        assert!(text.contains("new: hook.sh") && text.contains("gone: old"), "{text}");
        assert!(text.contains("-b") && text.contains("+c\\u{1b}[2J"), "{text}");
    }

    #[test]
    fn approvals_are_kept_for_their_user_alone_and_read_back() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().to_str().unwrap();
        let file = file_for(Utf8Path::new("/code"), None, Some(home)).unwrap();
        assert_eq!(read(&file).unwrap(), None);
        let approved = Approved::of(Utf8Path::new("/code"), &subject(&[("lanes.json", "{}")]));
        write(&file, &approved).unwrap();
        assert_eq!(read(&file).unwrap(), Some(approved));
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn without_a_place_for_approvals_the_error_says_what_is_missing() {
        let error = file_for(Utf8Path::new("/code"), Some("relative"), None).unwrap_err();
        assert!(error.to_string().contains("XDG_STATE_HOME"));
    }
}
