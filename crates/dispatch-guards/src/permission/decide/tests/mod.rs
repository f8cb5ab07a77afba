//! What is seen in a command, in one table: every reading between the text and the decision.
//!
//! The recorded decisions of the agent say whether the end of it is right; this says which reading a decision came from,
//! so that a change to one of them shows where no recorded case would.

mod commands;
mod decisions;

use std::fmt::Write;

use self::commands::{
    ASSIGNMENTS, DOCUMENTS, FILES, FREE, GROUPS, KEYWORDS, LISTS, PATTERNS, QUOTES, REDIRECTIONS,
    VARIABLES,
};
use super::free::is_free;
use super::held::held;
use super::syntax::{Part, Redirect, Word, read};
use super::texts::{allow_candidates, deny_candidates};

fn word(word: &Word) -> String {
    let mut text = format!("`{}`", word.text.escape_debug());
    match &word.value {
        None => text.push_str("=?"),
        Some(value) if *value != word.text => write!(text, "={value:?}").unwrap(),
        Some(_) => {}
    }
    if word.glob {
        text.push('*');
    }
    text
}

fn redirect(redirect: &Redirect) -> String {
    match redirect {
        Redirect::Output(Some(file)) => format!(">{file}"),
        Redirect::Output(None) => ">?".to_owned(),
        Redirect::Input => "<".to_owned(),
        Redirect::Harmless => "-".to_owned(),
    }
}

/// A simple command: its assignments, its words, and what the readings after it make of it.
fn simple(part: &Part) -> String {
    let (before, command) = part.words.split_at(part.assignments.min(part.words.len()));
    let words = |words: &[Word]| words.iter().map(word).collect::<Vec<_>>().join(" ");
    let mut line = format!("  [{}] {}", words(before), words(command));
    for found in &part.redirects {
        write!(line, " {}", redirect(found)).unwrap();
    }
    if part.hidden {
        line.push_str(" hidden");
    }
    for inner in &part.substituted {
        write!(line, " ${inner:?}").unwrap();
    }
    line
}

fn seen(commands: &[&str], further: impl Fn(&Part) -> Vec<String>) -> String {
    let mut table = String::new();
    for command in commands {
        let script = read(command, "/home/me");
        let complex = script.complex.map(|why| format!("   gives up: {why}")).unwrap_or_default();
        writeln!(table, "{command:?}{complex}").unwrap();
        for part in &script.parts {
            writeln!(table, "{}", simple(part)).unwrap();
            for line in further(part) {
                writeln!(table, "      {line}").unwrap();
            }
        }
        for group in &script.groups {
            let kind = if group.function { "function" } else { "group" };
            writeln!(table, "  {kind} {:?}", group.text).unwrap();
        }
    }
    table
}

fn nothing(_: &Part) -> Vec<String> {
    Vec::new()
}

#[test]
fn a_text_is_read_as_simple_commands_or_given_up() {
    let all = [QUOTES, LISTS, DOCUMENTS, KEYWORDS, GROUPS].concat();
    insta::assert_snapshot!(seen(&all, nothing));
}

#[test]
fn variables_patterns_and_redirections_are_followed_as_far_as_they_are_fixed() {
    let all = [ASSIGNMENTS, VARIABLES, PATTERNS, REDIRECTIONS].concat();
    insta::assert_snapshot!(seen(&all, nothing));
}

#[test]
fn files_and_texts_are_found_behind_variables_and_wrappers() {
    let further = |part: &Part| {
        let (denied, followed) = deny_candidates(part);
        vec![
            format!("files {:?}", held(part)),
            format!("allow {:?}", allow_candidates(part)),
            format!("deny {followed:?} {denied:?}"),
        ]
    };
    insta::assert_snapshot!(seen(FILES, further));
}

#[test]
fn commands_that_only_show_something_are_free() {
    let free = |command: &&str| {
        let script = read(command, "/home/me");
        let answers: Vec<String> =
            script.parts.iter().map(|part| format!("{:?}", is_free(part.command()))).collect();
        format!("{command}: {}", answers.join(", "))
    };
    insta::assert_snapshot!(FREE.iter().map(free).collect::<Vec<_>>().join("\n"));
}
