//! Commands whose file arguments the agent reads, and holds inside the slot (F3).

use super::syntax::{Part, Word};
use crate::permission::commands::{FileArguments, file_arguments};
use crate::permission::wrappers::{is_assignment, is_plain_listed};

/// What a command does with its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Reads,
    Writes,
}

/// The files a command names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) name: String,
    pub(super) does: Use,
    /// As given; a glob by the folder it lies in.
    pub(super) paths: Vec<HeldPath>,
}

/// One file argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HeldPath {
    pub(super) path: String,
    /// Whether it is one fixed path: no glob, no variable that is not fixed.
    pub(super) fixed: bool,
}

/// The files that a part names, if its command is one the agent reads paths from.
pub(super) fn held(part: &Part) -> Option<Held> {
    let words = inner_command(part);
    let name = words.first()?.value.as_deref()?;
    let rest = &words[1..];
    let (does, files) = match file_arguments(name)? {
        FileArguments::Read(with_value) => (Use::Reads, plain(rest, with_value)),
        FileArguments::ReadAfterFirst(with_value) => {
            (Use::Reads, after_first(plain(rest, with_value)))
        }
        FileArguments::ReadAfterPattern => (Use::Reads, after_pattern(rest)),
        FileArguments::EditedInPlace => sed_files(rest),
        FileArguments::ReadBeforeConditions => (
            Use::Reads,
            rest.iter().take_while(|w| !w.text.starts_with(['-', '(', '!', '\\'])).collect(),
        ),
        FileArguments::Written(with_value) => (Use::Writes, plain(rest, with_value)),
        FileArguments::MovedTo | FileArguments::NotRecorded => return None,
    };
    let paths = files
        .into_iter()
        .map(|word| {
            let known = word.value.is_some();
            let path = word.value.clone().unwrap_or_else(|| word.text.clone());
            match (word.glob, path.find(['*', '?', '['])) {
                (true, Some(star)) => {
                    let folder = path[..star].rsplit_once('/').map_or(".", |(folder, _)| folder);
                    let folder = if folder.is_empty() { "/" } else { folder };
                    HeldPath { path: folder.to_owned(), fixed: false }
                }
                _ => HeldPath { path, fixed: known },
            }
        })
        .filter(|held| held.path != "-")
        .collect();
    Some(Held { name: name.to_owned(), does, paths })
}

fn after_first(mut files: Vec<&Word>) -> Vec<&Word> {
    if !files.is_empty() {
        files.remove(0);
    }
    files
}

/// The command once variables and wrappers that an allow looks through are taken off.
fn inner_command(part: &Part) -> &[Word] {
    let mut words = part.words.as_slice();
    while let Some(word) = words.first()
        && is_assignment(&word.text)
    {
        if !is_plain_listed(&word.text) {
            break;
        }
        words = &words[1..];
    }
    while let Some((inner, false)) = super::texts::unwrap_for_allow(words) {
        words = inner;
    }
    words
}

/// Everything that is no option and no value of one.
fn plain<'a>(words: &'a [Word], with_value: &[&str]) -> Vec<&'a Word> {
    let mut found = Vec::new();
    let mut options = true;
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if options && word.text == "--" {
            options = false;
        } else if options && word.text.len() > 1 && word.text.starts_with('-') {
            at += usize::from(with_value.contains(&word.text.as_str()));
        } else {
            found.push(word);
        }
        at += 1;
    }
    found
}

fn after_pattern(words: &[Word]) -> Vec<&Word> {
    let given = words.iter().any(|word| word.text == "-e" || word.text == "-f");
    let files =
        plain(words, &["-e", "-f", "-m", "-A", "-B", "-C", "--include", "--exclude", "-g", "-t"]);
    if given { files } else { after_first(files) }
}

fn sed_files(words: &[Word]) -> (Use, Vec<&Word>) {
    let in_place =
        words.iter().any(|w| w.text.starts_with("-i") || w.text.starts_with("--in-place"));
    let given = words.iter().any(|word| word.text == "-e" || word.text == "-f");
    let files = plain(words, &["-e", "-f", "-l"]);
    let files = if given { files } else { after_first(files) };
    (if in_place { Use::Writes } else { Use::Reads }, files)
}
