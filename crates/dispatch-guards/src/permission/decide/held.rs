//! Commands whose file arguments the agent reads, and holds inside the slot (F3).

use super::syntax::{Part, Word};
use super::texts::is_plain_listed;

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
    let (does, files): (Use, Vec<&Word>) = match name {
        "cat" | "ls" | "wc" | "nl" | "md5sum" | "sha1sum" | "sha256sum" | "hexdump" | "od"
        | "strings" | "base64" | "file" | "paste" | "column" | "uniq" | "diff" => {
            (Use::Reads, plain(rest, &["-d", "-n", "-s", "-t", "-A", "-j", "-N", "-w"]))
        }
        "head" | "tail" => (Use::Reads, plain(rest, &["-n", "-c"])),
        "sort" => (Use::Reads, plain(rest, &["-k", "-t", "-S"])),
        "cut" => (Use::Reads, plain(rest, &["-d", "-f", "-c", "-b"])),
        "stat" => (Use::Reads, plain(rest, &["-c", "--format", "--printf", "-f"])),
        "grep" | "rg" => (Use::Reads, after_pattern(rest)),
        "awk" | "jq" => {
            (Use::Reads, plain(rest, &["-F", "-v", "--arg", "--argjson"]).split_off_first())
        }
        "sed" => sed_files(rest),
        "find" => (
            Use::Reads,
            rest.iter().take_while(|w| !w.text.starts_with(['-', '(', '!', '\\'])).collect(),
        ),
        "mkdir" => (Use::Writes, plain(rest, &["-m", "--mode"])),
        "touch" => (Use::Writes, plain(rest, &["-d", "-r", "-t", "--date"])),
        "rm" | "rmdir" => (Use::Writes, plain(rest, &[])),
        "cp" | "mv" => (Use::Writes, plain(rest, &["-t", "-S"])),
        _ => return None,
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

trait SplitOffFirst {
    fn split_off_first(self) -> Self;
}

impl SplitOffFirst for Vec<&Word> {
    fn split_off_first(mut self) -> Self {
        if !self.is_empty() {
            self.remove(0);
        }
        self
    }
}

/// The command once variables and wrappers that an allow looks through are taken off.
fn inner_command(part: &Part) -> &[Word] {
    let mut words = part.words.as_slice();
    while let Some(word) = words.first()
        && super::syntax::is_assignment(&word.text)
    {
        if !is_plain_listed(word) {
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
    if given { files } else { files.split_off_first() }
}

fn sed_files(words: &[Word]) -> (Use, Vec<&Word>) {
    let in_place =
        words.iter().any(|w| w.text.starts_with("-i") || w.text.starts_with("--in-place"));
    let given = words.iter().any(|word| word.text == "-e" || word.text == "-f");
    let files = plain(words, &["-e", "-f", "-l"]);
    let files = if given { files } else { files.split_off_first() };
    (if in_place { Use::Writes } else { Use::Reads }, files)
}
