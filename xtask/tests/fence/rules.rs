//! Every rule that the repository cites is explained in `docs/rules`, and every rule explained there is cited.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

use crate::{read, root};

/// The letters of the subjects. Anything else that looks like an id (`T-5`, `PS4`) is none.
const SUBJECTS: &str = "BCDFIKLMNPQRSVW";

/// The id at the beginning of a text: a letter, a number, then a part (`B2.9`), a letter (`D8.1b`) or neither; or a
/// pitfall (`BR-07`).
fn id_at(text: &str) -> Option<&str> {
    let number = |from: &str| from.bytes().take_while(u8::is_ascii_digit).count();
    let (subject, pitfall) = match text.strip_prefix("BR-") {
        Some(_) => (3, true),
        None => (usize::from(text.starts_with(|first| SUBJECTS.contains(first))), false),
    };
    let digits = number(&text[subject..]);
    if subject == 0 || !(1..=2).contains(&digits) {
        return None;
    }
    let mut end = subject + digits;
    let part = text[end..].strip_prefix('.').map_or(0, number);
    if part > 0 && !pitfall {
        end += 1 + part;
    }
    end += usize::from(text[end..].starts_with(|next: char| next.is_ascii_lowercase()));
    (!text[end..].starts_with(is_of_a_word)).then(|| &text[..end])
}

fn is_of_a_word(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}

/// The ids in a text: those that begin where a word begins.
fn ids(text: &str) -> Vec<String> {
    let begins = |at: &usize| {
        !text[..*at].ends_with(|before: char| is_of_a_word(before) || "-.\\{".contains(before))
    };
    let places = text.char_indices().map(|(at, _)| at).filter(begins);
    places.filter_map(|at| id_at(&text[at..])).map(str::to_owned).collect()
}

/// The ids at the beginning of a test's name, followed by what it tests: `n33_c7_1_the_reviewer…` is N33 and C7.1.
fn ids_of_name(name: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut words = name.split('_').peekable();
    let is_number = |word: &&str| word.starts_with(|first: char| first.is_ascii_digit());
    while let Some(word) = words.next() {
        let mut id = if word == "br" { "BR-".to_owned() } else { word.to_uppercase() };
        match words.next_if(is_number) {
            Some(number) if word == "br" => id += number,
            Some(part) => id = format!("{id}.{part}"),
            None => {}
        }
        let lower = id
            .char_indices()
            .map(|(at, char)| if at > 2 { char.to_ascii_lowercase() } else { char });
        let id: String = lower.collect();
        if id_at(&id) != Some(&id) || words.peek().is_none() {
            break;
        }
        found.push(id);
    }
    found
}

/// The text of the comment in a line, if there is one.
fn comment<'a>(line: &'a str, mark: &str) -> Option<&'a str> {
    let (code, comment) = line.split_once(mark)?;
    let in_text = code.matches('"').count() % 2 == 1 || code.ends_with(':');
    (!in_text).then_some(comment)
}

/// What a line of a file cites.
fn cited_in(path: &Utf8Path, line: &str) -> Vec<String> {
    match path.extension() {
        Some("rs") => {
            let mut found = comment(line, "//").map(ids).unwrap_or_default();
            if let Some((_, name)) = line.split_once("fn ") {
                found.extend(ids_of_name(name.split(['(', '<']).next().unwrap()));
            }
            found
        }
        Some("toml") => comment(line, "#").map(ids).unwrap_or_default(),
        _ => ids(line),
    }
}

/// The files whose comments, names or text may cite a rule.
fn files(under: &Utf8Path, found: &mut Vec<Utf8PathBuf>) {
    for entry in under.read_dir_utf8().unwrap() {
        let entry = entry.unwrap();
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            if path.file_name() != Some("target") {
                files(path, found);
            }
        } else if matches!(path.extension(), Some("rs" | "toml"))
            || path.file_name() == Some("README.md")
        {
            found.push(path.to_owned());
        }
    }
}

/// Every id cited, with the first place that does.
fn cited() -> BTreeMap<String, String> {
    let mut paths = Vec::new();
    for room in ["crates", "xtask", "fuzz", "fixtures"] {
        files(&root().join(room), &mut paths);
    }
    paths.sort();
    let mut cited = BTreeMap::new();
    // This file is about ids and cites none; the plants of the fence beside it are numbered.
    for path in paths
        .iter()
        .filter(|path| !path.ends_with("fence/rules.rs") && !path.ends_with("fence/barriers.rs"))
    {
        for (number, line) in (1..).zip(read(path).lines()) {
            for id in cited_in(path, line) {
                cited.entry(id).or_insert_with(|| format!("{path}:{number}"));
            }
        }
    }
    cited
}

/// The rules of `docs/rules`: a list entry begins with each.
fn explained() -> BTreeSet<String> {
    let mut explained = BTreeSet::new();
    for entry in fs::read_dir(root().join("docs/rules")).unwrap() {
        let path = Utf8PathBuf::from_path_buf(entry.unwrap().path()).unwrap();
        for line in read(&path).lines() {
            if let Some((id, text)) =
                line.strip_prefix("- **").and_then(|rest| rest.split_once("** "))
            {
                assert!(!text.trim().is_empty(), "{path}: {id} says nothing");
                assert!(explained.insert(id.to_owned()), "{path}: {id} is explained twice");
            }
        }
    }
    explained
}

#[test]
fn every_cited_rule_is_explained() {
    let explained = explained();
    let cited = cited();
    assert!(cited.len() > 200, "{cited:?}");

    let missing: Vec<_> = cited.iter().filter(|(id, _)| !explained.contains(*id)).collect();

    assert!(missing.is_empty(), "docs/rules does not explain {missing:#?}");
}

#[test]
fn every_explained_rule_is_cited() {
    let cited = cited();

    let idle: Vec<_> = explained().into_iter().filter(|id| !cited.contains_key(id)).collect();

    assert!(idle.is_empty(), "docs/rules explains what nobody cites: {idle:?}");
}

#[test]
fn ids_are_found_in_comments_and_names() {
    assert_eq!(
        ids("D6.4, B3.1b and N33 (BR-07), not T-5, PS4, xB1, B1x_, M1516.0 or 2B3"),
        ["D6.4", "B3.1b", "N33", "BR-07"]
    );
    assert_eq!(ids_of_name("n33_c7_1_the_reviewer"), ["N33", "C7.1"]);
    assert_eq!(ids_of_name("br_22_d8_1b_a_line"), ["BR-22", "D8.1b"]);
    assert_eq!(ids_of_name("i6_2b_or_not"), ["I6.2b"]);
    assert!(ids_of_name("p2").is_empty() && ids_of_name("the_b2_board").is_empty());
    assert_eq!(comment("let a = \"http://b\"; // B1", "//"), None);
    assert_eq!(comment("let a = b; // B1", "//"), Some(" B1"));
}
