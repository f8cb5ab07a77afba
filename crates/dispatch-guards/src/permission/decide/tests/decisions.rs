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

/// F2, F3: what narrow rules and free commands make of `cd`, wrappers and files.
#[test_case(&["Bash(mycmd:*)"], "cd src && mycmd", "allowed"; "into a folder")]
#[test_case(&["Bash(mycmd:*)"], "cd src && mycmd && cd lib", "denied"; "more than one cd")]
#[test_case(&["Bash(mycmd:*)"], "cd . && mycmd && cd lib", "allowed"; "a cd that stays is none")]
#[test_case(&["Bash(mycmd:*)"], "cd /etc && mycmd", "denied"; "out of the slot")]
#[test_case(&["Bash(mycmd:*)"], "cd && mycmd", "denied"; "home")]
#[test_case(&["Bash(mycmd:*)"], "cd - && mycmd", "allowed"; "back")]
#[test_case(&["Bash(mycmd:*)"], "cd -P src && mycmd", "unknown"; "cd with an option")]
#[test_case(&["Bash(mycmd:*)", "Edit(**)"], "mycmd > f", "allowed"; "output into the slot")]
#[test_case(&["Bash(mycmd:*)", "Edit(**)"], "cd src && mycmd > f", "denied"; "cd beside an output")]
#[test_case(&["Bash(mycmd:*)", "Edit(**)"], "cd . && mycmd > f", "allowed"; "a cd that stays beside an output")]
#[test_case(&["Bash(mycmd:*)", "Edit(**)"], "mycmd > $X", "denied"; "output into what is not fixed")]
#[test_case(&[], "cat src/a && cd src && cat a", "allowed"; "reading and going on")]
#[test_case(&[], "cd src && cat ../../x", "denied"; "reading is held where the cd leads")]
#[test_case(&[], "cd src && cat ../x", "allowed"; "and free there")]
#[test_case(&[], "cd src && git status", "denied"; "a free git after a cd")]
#[test_case(&[], "cd . && git status", "allowed"; "a free git after a cd that stays")]
#[test_case(&["Bash(git status:*)"], "cd src && git status", "unknown"; "a granted git after a cd")]
#[test_case(&["Bash(git diff:*)"], "git diff --no-index a b", "denied"; "a git that reads any file")]
#[test_case(&["Bash(find:*)"], "find . -name x", "allowed"; "a find that only looks")]
#[test_case(&["Bash(find:*)"], "find . -ok rm {} ;", "denied"; "a find that asks")]
#[test_case(&["Bash(find:*)"], "find . -delete", "denied"; "a find that removes")]
#[test_case(&[], "command ls", "allowed"; "a free command by way of command")]
#[test_case(&[], "command builtin pwd", "allowed"; "by way of two")]
#[test_case(&[], "command -v ls", "denied"; "an option of command")]
#[test_case(&[], "command", "denied"; "command alone")]
#[test_case(&[], "CI=1 ls", "allowed"; "a listed variable before a free command")]
#[test_case(&[], "CI=1 FOO=1 ls", "denied"; "another variable")]
#[test_case(&[], "FOO=1", "allowed"; "a variable alone")]
#[test_case(&["Read(//etc/**)"], "cat /etc/x", "allowed"; "reading under a rule")]
#[test_case(&["Edit(//etc/**)"], "cat /etc/x", "unknown"; "reading under an edit rule")]
#[test_case(&["Bash(touch:*)", "Edit(//etc/**)"], "touch /etc/x", "unknown"; "writing under an edit rule")]
#[test_case(&["Bash(touch:*)"], "touch /etc/x", "denied"; "writing out of the slot")]
#[test_case(&["Bash(touch:*)"], "touch .git/x", "denied"; "writing where the agent guards")]
#[test_case(&["Bash(rm:*)"], "rm -r /w/slot", "denied"; "removing the slot")]
#[test_case(&["Bash(touch:*)"], "touch /w/slot", "allowed"; "touching it")]
#[test_case(&["Bash(eval:*)"], "eval ls", "denied"; "no rule covers eval")]
#[test_case(&["Bash(a && b)"], "a&&b", "allowed"; "a compound as text, blanks aside")]
#[test_case(&["Bash(a && b:*)"], "a && b c", "denied"; "a compound as a prefix")]
#[test_case(&["Bash((a))"], "(a)", "allowed"; "a group as text")]
#[test_case(&["Bash(a | b)"], "a | b", "denied"; "a pipe as text")]
#[test_case(&["Bash(mycmd:*)"], "mycmd \u{7}", "denied"; "a control character")]
#[test_case(&["Bash(mycmd:*)"], "mycmd\ta", "allowed"; "a tab is a blank")]
fn p2_3_narrow_rules_grant_each_part(allow: &[&str], command: &str, expected: &str) {
    assert_eq!(answer(&session(allow, &[]), &shell(command)), expected);
}

/// F4: what bare `Bash` refuses is what is written, and what is removed.
#[test_case("cp .git/config y", "allowed"; "reading what is guarded")]
#[test_case("cp y .git/config", "denied"; "writing it")]
#[test_case("touch a .git/x", "denied"; "writing it beside another file")]
#[test_case("cat .git/config", "allowed"; "showing it")]
#[test_case("echo x > .git/x", "denied"; "an output into it")]
#[test_case("echo x > src/../.git/x", "unknown"; "an output by way of a step up")]
#[test_case("cd src && touch ../.git/x", "allowed"; "after a cd nothing is looked at")]
#[test_case("rm -r /etc", "denied"; "removing a folder of the machine")]
#[test_case("rm -r /etc/x", "allowed"; "removing below one")]
#[test_case("rm -r /home/me", "denied"; "removing home")]
#[test_case("rm -r .", "denied"; "removing the slot")]
#[test_case("rmdir /", "denied"; "removing the root")]
#[test_case("touch /etc", "allowed"; "touching is not removing")]
fn p2_3_bare_bash_refuses_what_the_agent_guards(command: &str, expected: &str) {
    assert_eq!(answer(&session(&["Bash"], &[]), &shell(command)), expected);
    assert_eq!(answer(&session(&["Bash(**)"], &[]), &shell(command)), expected);
}

/// F3: accepting edits frees what writes inside the slot.
#[test_case("touch a", "allowed"; "a file of the slot")]
#[test_case("touch /etc/a", "denied"; "a file outside")]
#[test_case("echo x > a", "allowed"; "an output into the slot")]
#[test_case("echo x > /etc/a", "denied"; "an output outside")]
#[test_case("echo x > .git/a", "denied"; "an output where the agent guards")]
#[test_case("mycmd", "denied"; "another command")]
fn p2_3_accepted_edits_stay_in_the_slot(command: &str, expected: &str) {
    let session = Session { mode: Mode::AcceptEdits, ..session(&[], &[]) };
    assert_eq!(answer(&session, &shell(command)), expected);
}

/// F7: beyond 10,000 characters only bare `Bash` grants, and a denial sees the start alone.
#[test_case(10_000, &["Bash(mycmd:*)"], &[], "allowed"; "just short enough")]
#[test_case(10_001, &["Bash(mycmd:*)"], &[], "denied"; "too long for a narrow rule")]
#[test_case(10_001, &["Bash"], &[], "allowed"; "bare")]
#[test_case(10_001, &["Bash"], &["Bash(mycmd:*)"], "denied"; "denied by its start")]
#[test_case(10_001, &["Bash"], &["Bash(foo:*)"], "allowed"; "denied by another part")]
#[test_case(10_000, &["Bash"], &["Bash(foo:*)"], "denied"; "seen while it is short enough")]
fn p2_3_a_long_command(length: usize, allow: &[&str], deny: &[&str], expected: &str) {
    let denied_part = if deny == ["Bash(foo:*)"] { "; foo" } else { "" };
    let filling = "a".repeat(length - "mycmd ".len() - denied_part.len());
    let command = format!("mycmd {filling}{denied_part}");
    assert_eq!(answer(&session(allow, deny), &shell(&command)), expected);
}

/// F7: a denial that begins with a star sees groups, and not what stands in parentheses alone.
#[test_case("{ git push; }", "unknown"; "braces")]
#[test_case("(git push)", "allowed"; "parentheses")]
#[test_case("f() { git push; }; f", "denied"; "a function")]
#[test_case("{ git pull; }", "allowed"; "braces around another command")]
fn p2_3_a_denial_that_begins_with_a_star_sees_groups(command: &str, expected: &str) {
    assert_eq!(answer(&session(&["Bash"], &["Bash(*git*push*)"]), &shell(command)), expected);
    assert_eq!(answer(&session(&["Bash"], &["Bash(git push*)"]), &shell(command)), "allowed");
}

/// F7: a denial of files sees the commands that name them and the outputs into them.
#[test_case("cat src/a", "denied"; "a command that reads it")]
#[test_case("cat lib/a", "allowed"; "another file")]
#[test_case("touch src/a", "allowed"; "a command that writes it, under a denial of reading")]
#[test_case("cat src/*", "allowed"; "a pattern")]
#[test_case("grep -r x .", "allowed"; "the folder around it")]
fn p2_3_a_denial_of_reading_sees_named_files(command: &str, expected: &str) {
    assert_eq!(answer(&session(&["Bash"], &["Read(/src/**)"]), &shell(command)), expected);
}

/// F7.
#[test_case("touch src/a", "denied"; "a command that writes it")]
#[test_case("echo x > src/a", "denied"; "an output into it")]
#[test_case("echo x > lib/a", "allowed"; "an output elsewhere")]
#[test_case("cd src && echo x > a", "allowed"; "an output after a cd")]
#[test_case("cat src/a", "allowed"; "a command that reads it")]
fn p2_3_a_denial_of_writing_sees_named_files_and_outputs(command: &str, expected: &str) {
    assert_eq!(answer(&session(&["Bash"], &["Edit(/src/**)"]), &shell(command)), expected);
}

/// F6: links that lead in a circle end the following of them.
#[test]
fn p2_3_links_in_a_circle_are_followed_to_an_end() {
    let links = [("/w/slot/a", "b"), ("/w/slot/b", "a"), ("/w/slot/c", "/etc")];
    let links = links.map(|(at, to)| (at.to_owned(), to.to_owned())).into();
    let place = Place { links, ..place() };
    let reads = |path: &str| {
        let call = ToolCall::File { tool: "Read".to_owned(), path: path.to_owned() };
        matches!(decide(&session(&[], &[]), &call, &place), Decision::Allowed(_))
    };
    assert!(reads("a/x"));
    assert!(!reads("c/x"));
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
