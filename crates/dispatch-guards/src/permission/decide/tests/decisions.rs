//! What is decided where no recorded case says so: the facts, applied to shapes beside the recorded ones.

use test_case::test_case;

use crate::permission::decide::{
    Decision, Mode, Place, PlacedRule, Session, ToolCall, ToolSet, decide,
};

fn session(allow: &[&str], deny: &[&str]) -> Session {
    let rules = |rules: &[&str]| rules.iter().map(|rule| PlacedRule::command_line(rule)).collect();
    Session {
        allow: rules(allow),
        deny: rules(deny),
        ask: Vec::new(),
        mode: Mode::DontAsk,
        tools: ToolSet::Full,
    }
}

fn place() -> Place {
    Place::new("/w/slot", "/home/me")
}

fn answer(session: &Session, call: &ToolCall) -> &'static str {
    match decide(session, call, &place()) {
        Decision::Allowed(_) => "allowed",
        Decision::Denied(_) => "denied",
        Decision::Unknown(_) => "unknown",
    }
}

fn shell(command: &str) -> ToolCall {
    ToolCall::Shell { command: command.to_owned() }
}

fn tool(name: &str) -> ToolCall {
    ToolCall::Other { tool: name.to_owned(), kind: None }
}

/// P2.3: with a denial of commands nothing is sure behind a wrapper that is not followed, and only then.
#[test_case(&["Bash(git push:*)"], "unknown"; "a denial of commands")]
#[test_case(&["Edit(src/**)"], "allowed"; "a denial of files")]
#[test_case(&[], "allowed"; "no denial")]
fn p2_3_a_wrapper_that_is_not_followed_matters_to_denials_of_commands(
    deny: &[&str],
    expected: &str,
) {
    assert_eq!(answer(&session(&["Bash"], deny), &shell("env -S \"$X\"")), expected);
}

/// F6, F8: tools that a headless session lacks are there in no mode; `Glob` and `Grep` where they are
/// allowed by name.
#[test_case("TodoWrite", &[], "denied"; "one that asks a person")]
#[test_case("LS", &[], "denied"; "one that is gone")]
#[test_case("Glob", &[], "denied"; "glob")]
#[test_case("Glob", &["Glob"], "allowed"; "glob by name")]
#[test_case("Grep", &[], "denied"; "grep")]
#[test_case("WebSearch", &[], "allowed"; "one that is there")]
fn p2_3_a_mode_that_asks_nothing_adds_no_tool(name: &str, allow: &[&str], expected: &str) {
    let session = Session { mode: Mode::BypassPermissions, ..session(allow, &[]) };
    assert_eq!(answer(&session, &tool(name)), expected);
}

/// F9: what is free with no rule, what is not, and where the model is not sure.
#[test_case("Agent", "allowed"; "agent")]
#[test_case("CronCreate", "allowed"; "a scheduler")]
#[test_case("mcp__srv__read", "denied"; "a tool of a server")]
#[test_case("WebSearch", "denied"; "a search")]
#[test_case("Skill", "unknown"; "one that was not tried")]
fn p2_3_other_tools_are_free_or_not_as_recorded(name: &str, expected: &str) {
    assert_eq!(answer(&session(&[], &[]), &tool(name)), expected);
}

/// F9: some documentation hosts are free, and which is not known of all.
#[test_case("https://docs.python.org/3/", "allowed"; "a host that was tried")]
#[test_case("https://docs.rs/x", "unknown"; "docs")]
#[test_case("https://developer.mozilla.org/", "unknown"; "developer")]
#[test_case("https://doc.rust-lang.org/std", "unknown"; "doc")]
#[test_case("https://example.com/docs.python.org", "denied"; "a host in the path")]
#[test_case("https://docs.python.org@example.com/", "denied"; "a host as the name of a person")]
#[test_case("https://DOCS.python.org:443/", "allowed"; "letter case and port")]
fn p2_3_a_documentation_host_may_be_free(url: &str, expected: &str) {
    let fetch = ToolCall::Fetch { url: url.to_owned() };
    assert_eq!(answer(&session(&[], &[]), &fetch), expected);
    assert_eq!(answer(&session(&["WebFetch"], &[]), &fetch), "allowed");
    assert_eq!(answer(&session(&["WebFetch"], &["WebFetch(domain:*)"]), &fetch), "denied");
}
