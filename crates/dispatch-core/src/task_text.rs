//! What a person declares in the prose of a task: files, test command, branch (B1.3, B1.4).

use crate::task::{DeclaredFile, OneLine};

/// The lists under the lines `Files to touch:` and `Files:` of `texts`, in order, without repetitions.
///
/// An entry is kept even when it is no usable path, so that a guard can name it.
pub fn declared_files(texts: &[&str]) -> Vec<DeclaredFile> {
    let mut found: Vec<DeclaredFile> = Vec::new();
    for text in texts {
        let mut listing = false;
        for line in text.lines() {
            if is_heading(line) {
                listing = true;
                continue;
            }
            if !listing || line.trim().is_empty() {
                continue;
            }
            match bullet(line) {
                Some(entry) => {
                    let file = declared_file(entry);
                    if !found.contains(&file) {
                        found.push(file);
                    }
                }
                // An indented line goes on with the note of the entry above it.
                None => listing = line.starts_with([' ', '\t']),
            }
        }
    }
    found
}

fn is_heading(line: &str) -> bool {
    let bare = undecorated(line);
    ["Files to touch:", "Files:"].iter().any(|heading| bare.eq_ignore_ascii_case(heading))
}

/// A line without Markdown's marks for headings and emphasis around it.
fn undecorated(line: &str) -> &str {
    let line = line.trim();
    let line = line.trim_start_matches('#').trim_start();
    line.trim_matches(['*', '_']).trim()
}

fn bullet(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let rest = line.strip_prefix(['-', '*', '+'])?;
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| rest.trim())
}

/// Reads one entry: the path, and whether it is marked ` (shared)`.
pub fn declared_file(entry: &str) -> DeclaredFile {
    let entry = entry.trim();
    let quoted = entry.strip_prefix('`').and_then(|rest| rest.split_once('`'));
    let (path, tail) = quoted.unwrap_or_else(|| {
        let cut = [" - ", " — "].iter().filter_map(|mark| entry.find(mark)).min();
        (&entry[..cut.unwrap_or(entry.len())], "")
    });
    let path = path.trim();
    let (path, inside) = match path.strip_suffix(" (shared)") {
        Some(path) => (path.trim_end(), true),
        None => (path, false),
    };
    DeclaredFile {
        text: path.to_owned(),
        shared: inside || tail.trim_start().starts_with("(shared)"),
    }
}

/// The value of the lines `<key> <value>` in `texts`, where `key` ends with its colon.
pub fn one_line(texts: &[&str], key: &str) -> OneLine {
    let mut values: Vec<String> = Vec::new();
    for line in texts.iter().flat_map(|text| text.lines()) {
        let Some(value) = keyed(line, key) else { continue };
        if !value.is_empty() && !values.iter().any(|known| known == value) {
            values.push(value.to_owned());
        }
    }
    match values.len() {
        0 => OneLine::Missing,
        1 => OneLine::Given(values.remove(0)),
        _ => OneLine::Conflicting(values),
    }
}

fn keyed<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let line = bullet(line).unwrap_or(line).trim();
    let marks = line.len() - line.trim_start_matches(['*', '_']).len();
    let (mark, rest) = line.split_at(marks);
    if rest.len() < key.len() || !rest.as_bytes()[..key.len()].eq_ignore_ascii_case(key.as_bytes())
    {
        return None;
    }
    let mut value = rest[key.len()..].trim_start();
    if !mark.is_empty() {
        // `**Test command:** …`, or the whole line emphasised.
        value = value.strip_prefix(mark).or_else(|| value.strip_suffix(mark)).unwrap_or(value);
    }
    Some(without_backticks(value.trim()))
}

fn without_backticks(value: &str) -> &str {
    let ticks = value.len() - value.trim_start_matches('`').len();
    let fence = &value[..ticks];
    if ticks == 0 {
        return value;
    }
    match value[ticks..].strip_suffix(fence) {
        Some(inner) if !inner.contains('`') => inner.trim(),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("src/a.rs", "src/a.rs", false; "bare")]
    #[test_case("`src/a.rs`", "src/a.rs", false; "in back-ticks")]
    #[test_case("`src/a b.rs` - the parser", "src/a b.rs", false; "a note after a hyphen")]
    #[test_case("src/a.rs — the parser", "src/a.rs", false; "a note after a dash")]
    #[test_case("src/a-b.rs", "src/a-b.rs", false; "a hyphen without blanks belongs to the name")]
    #[test_case("src/a.rs (shared)", "src/a.rs", true; "shared")]
    #[test_case("`src/a.rs` (shared) - both", "src/a.rs", true; "shared with a note")]
    #[test_case("src/a.rs (shared) — both", "src/a.rs", true; "shared, bare, with a note")]
    #[test_case("`src/`", "src/", false; "a folder")]
    #[test_case("../x", "../x", false; "a fault is kept")]
    fn b1_3_entries(entry: &str, text: &str, shared: bool) {
        assert_eq!(declared_file(entry), DeclaredFile { text: text.to_owned(), shared });
    }

    #[test]
    fn b1_3_the_list_ends_where_other_text_begins() {
        let text = "Intro\n- not/a/file\n\n**Files to touch:**\n\n- a.rs\n  with a note below\n* b.rs\n\n- a.rs\nOther text\n- c.rs\nFiles:\n- d/";
        let found: Vec<String> =
            declared_files(&[text]).into_iter().map(|file| file.text).collect();
        assert_eq!(found, ["a.rs", "b.rs", "d/"]);
    }

    #[test_case("Test command: cargo test", "cargo test"; "bare")]
    #[test_case("test command: `cargo test -p x`", "cargo test -p x"; "in back-ticks")]
    #[test_case("- **Test command:** `npm test`", "npm test"; "a bullet with emphasis")]
    #[test_case("Test command: echo `date`", "echo `date`"; "back-ticks inside stay")]
    fn b1_4_test_command(line: &str, expected: &str) {
        assert_eq!(one_line(&["x", line], "Test command:"), OneLine::Given(expected.to_owned()));
    }

    #[test]
    fn b1_4_two_lines_agree_or_conflict() {
        assert_eq!(one_line(&["Branch: a", "Branch: `a`"], "Branch:"), OneLine::Given("a".into()));
        assert_eq!(
            one_line(&["Branch: a", "Branch: b"], "Branch:"),
            OneLine::Conflicting(vec!["a".into(), "b".into()])
        );
        assert_eq!(one_line(&["No Branch: a", "Branch:"], "Branch:"), OneLine::Missing);
    }
}
