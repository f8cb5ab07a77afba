//! What the facts say in words, beyond the recorded cases.

use dispatch_guards::permission::recorded::decide_case;
use dispatch_guards::permission::{Decision, Rule, lint, relation};
use proptest::prelude::*;
use serde_json::{Value, json};
use test_case::test_case;

fn answer(allow: &[&str], deny: &[&str], command: &str) -> &'static str {
    let case = json!({"allow": allow, "deny": deny, "tool": "Bash", "input": {"command": command},
        "mode": "dontAsk", "bare": true, "setting_sources": "user"});
    said(&case)
}

fn said(case: &Value) -> &'static str {
    match decide_case(case).unwrap() {
        Decision::Allowed(_) => "allowed",
        Decision::Denied(_) => "denied",
        Decision::Unknown(_) => "unknown",
    }
}

/// F5: what runs with no rule.
const FREE: &[&str] = &[
    "arch",
    "base64 a.txt",
    "basename /x/y",
    "builtin echo hi",
    "command ls",
    "cal",
    "cat a.txt",
    "cd src",
    "cmp a.txt lib/l.txt",
    "column a.txt",
    "comm a.txt lib/l.txt",
    "cut -c1 a.txt",
    "date",
    "df",
    "diff a.txt lib/l.txt",
    "dirname a/b",
    "docker ps",
    "docker images",
    "docker logs x",
    "docker inspect x",
    "du",
    "echo hi",
    "egrep x a.txt",
    "expand a.txt",
    "expr 1 + 1",
    "false",
    "fd x",
    "fgrep x a.txt",
    "file a.txt",
    "find . -name x",
    "fmt a.txt",
    "fold a.txt",
    "free",
    "grep x a.txt",
    "groups",
    "head -5 a.txt",
    "help",
    "hexdump a.txt",
    "history",
    "hostname",
    "id",
    "ifconfig",
    "jq . a.txt",
    "locale",
    "ls src",
    "lsof",
    "man ls",
    "md5sum a.txt",
    "netstat",
    "nl a.txt",
    "node -v",
    "node --version",
    "nproc",
    "numfmt 1",
    "od a.txt",
    "paste a.txt",
    "pgrep x",
    "pr a.txt",
    "printf hi",
    "ps",
    "pwd",
    "pyright",
    "python --version",
    "python3 --version",
    "readlink a",
    "realpath a",
    "rev a.txt",
    "rg x",
    "sed -n 1,5p a.txt",
    "seq 3",
    "sha1sum a.txt",
    "sha256sum a.txt",
    "sleep 1",
    "sort a.txt",
    "ss",
    "stat a.txt",
    "strings a.txt",
    "tac a.txt",
    "tail -n 3 a.txt",
    "test -f a.txt",
    "[ -f a.txt ]",
    "[[ -f a.txt ]]",
    "tr a b",
    "tree",
    "true",
    "tsort a.txt",
    "type ls",
    "uname",
    "uniq -c",
    "uptime",
    "wc -l a.txt",
    "which ls",
    "whoami",
    "xargs",
    "xargs echo",
    "xargs grep x",
    "X=1",
    "",
    "git blame a.txt",
    "git branch",
    "git branch -a",
    "git branch --list",
    "git cat-file -p HEAD",
    "git config --get user.name",
    "git describe",
    "git diff",
    "git for-each-ref",
    "git grep x",
    "git log",
    "git ls-files",
    "git ls-remote",
    "git merge-base HEAD main",
    "git reflog",
    "git reflog show",
    "git remote",
    "git remote -v",
    "git rev-list HEAD",
    "git rev-parse HEAD",
    "git shortlog",
    "git show",
    "git stash list",
    "git stash show",
    "git status",
    "git tag",
    "git tag -l",
    "git worktree list",
];

/// F5: what does not, though harmless, and what F2 and F3 refuse.
const REFUSED: &[&str] = &[
    "env",
    "printenv",
    "export A=1",
    "command -v ls",
    "awk 1 a.txt",
    "sed s/a/b/ a.txt",
    "less a.txt",
    "xxd a.txt",
    "cksum a.txt",
    "uniq a.txt",
    ":",
    "echo $X",
    "timeout 5 ls",
    "nice ls",
    "/bin/ls",
    "cargo --version",
    "npm --version",
    "gh --version",
    "make --version",
    "cargo build",
    "sort -o z a.txt",
    "rg --pre cat x",
    "find . -delete",
    "find . -exec ls {} +",
    "jq env a.txt",
    "cat {{OUT}}/o.txt",
    "ls ..",
    "cd ..",
    "cd {{OUT}}",
    "cd /",
    "cd",
    "git -C . log",
    "git -c a.b=c log",
    "git --no-pager log",
    "git log --output=z",
    "git diff --ext-diff",
    "FOO=1 git log",
    "/usr/bin/git log",
    "timeout 5 git log",
    "git push",
    "git commit -m x",
    "git branch new",
    "git stash",
    "git tag v1",
    "cd src && git log",
    "cd src && cd deep && ls",
    "ls > out.txt",
    "ls &",
    "(ls)",
    "{ ls; }",
    "echo $(ls)",
    "echo `ls`",
    "cat <<EOF\nx\nEOF",
    "ls ${HOME}",
    "ls $PWD",
    "for i in 1 2; do echo $i; done",
    "f() { ls; }; f",
    "echo {a,b}",
    "echo $'a'",
    "rm a.txt",
    "touch z",
    "cp a.txt b.txt",
    "mkdir z",
    "tee z",
    "eval ls",
    "source a.txt",
    "exec ls",
    "sh -c ls",
    "bash -c ls",
];

#[test]
fn commands_are_free_or_not_as_the_facts_say() {
    let other_than = |expected: &str, commands: &[&str]| -> Vec<String> {
        let wrong = commands.iter().filter(|command| answer(&[], &[], command) != expected);
        wrong.map(ToString::to_string).collect()
    };
    assert_eq!(other_than("allowed", FREE), [""; 0]);
    assert_eq!(other_than("denied", REFUSED), [""; 0]);
}

/// F1 to F3: what a narrow rule covers.
#[test_case("Bash(mycmd:*)", "timeout -s KILL 5s nice -n 3 mycmd a", "allowed"; "wrappers nest")]
#[test_case("Bash(mycmd:*)", "timeout -- 5 mycmd a", "denied"; "a double dash spoils timeout")]
#[test_case("Bash(mycmd:*)", "CI=1 TZ=UTC mycmd", "allowed"; "several listed variables")]
#[test_case("Bash(mycmd:*)", "CI=1 FOO=1 mycmd", "denied"; "one that is not listed")]
#[test_case("Bash(mycmd:*)", "mycmd a; ls | wc -l", "allowed"; "free commands serve")]
#[test_case("Bash(mycmd:*)", "mycmd a > /dev/null 2>&1", "allowed"; "output to nowhere")]
#[test_case("Bash(mycmd:*)", "mycmd \"$(cat <<'EOF'\nit's (a) text\nEOF\n)\"", "allowed"; "a quoted document as argument")]
#[test_case("Bash(mycmd:*)", "until mycmd; do mycmd b; done", "allowed"; "until")]
#[test_case("Bash(mycmd:*)", "if mycmd; then foo; fi", "denied"; "a condition with another command")]
#[test_case("Bash(mycmd:*)", "mycmd 2> err.txt", "denied"; "an error file")]
#[test_case("Bash(cat:*)", "cat {{OUT}}/o.txt", "denied"; "held inside the slot")]
#[test_case("Bash(cp:*)", "cp a.txt /etc/x", "denied"; "copying out")]
#[test_case("Bash(rm:*)", "rm -rf .", "denied"; "the slot itself")]
#[test_case("Bash(rm:*)", "rm -rf src", "allowed"; "a folder of the slot")]
#[test_case("Bash(find:*)", "find . -exec ls {} +", "denied"; "find with an action")]
#[test_case("Bash(tee:*)", "ls | tee {{OUT}}/x", "allowed"; "tee is not held")]
#[test_case("Bash(git log:*)", "git log --output=z", "allowed"; "an output option is covered")]
#[test_case("Bash(mycmd a && foo b)", "mycmd a && foo b", "allowed"; "a compound as text")]
#[test_case("Bash(mycmd a | foo b)", "mycmd a | foo b", "denied"; "a pipe as text")]
#[test_case("Bash", "mycmd > .git/hooks/x", "denied"; "guarded whatever is granted")]
#[test_case("Bash", "mycmd > {{OUT}}/x", "allowed"; "bare writes anywhere")]
#[test_case("Edit(**)", "echo x > src/new.txt", "allowed"; "an edit rule licenses redirection")]
#[test_case("Edit", "echo x > src/new.txt", "denied"; "the bare one does not")]
#[test_case("Edit(**)", "touch z", "denied"; "but no touch")]
fn narrow_rules_cover_what_the_facts_say(allow: &str, command: &str, expected: &str) {
    assert_eq!(answer(&[allow], &[], command), expected);
}

/// P4.5, F7: what a deny sees and what walks around it. An allowed danger must never be
/// answered as denied.
#[test_case("git push", "denied"; "plain")]
#[test_case("sudo -u x env A=1 git push", "denied"; "wrappers nest")]
#[test_case("A=1 timeout 5 git push", "denied"; "variables")]
#[test_case("for i in 1; do git push; done", "denied"; "a loop")]
#[test_case("ls & git push", "denied"; "the background")]
#[test_case("git -C . push", "allowed"; "an option before the sub-command")]
#[test_case("git 'push'", "allowed"; "a quoted argument")]
#[test_case("/usr/bin/git push", "allowed"; "a path")]
#[test_case("bash -c 'git push'", "allowed"; "a shell")]
#[test_case("(git push)", "allowed"; "a subshell")]
#[test_case("echo $(git push)", "allowed"; "a substitution")]
#[test_case("eval git push", "allowed"; "eval")]
#[test_case("xargs -n1 git push", "allowed"; "xargs with an option")]
#[test_case("find . -exec git push {} +", "allowed"; "find")]
#[test_case("time -p git push", "allowed"; "time with an option")]
#[test_case("> x git push", "allowed"; "a leading redirection")]
#[test_case("echo 'git push' | sh", "allowed"; "a pipe into a shell")]
fn a_deny_sees_what_the_facts_say(command: &str, expected: &str) {
    assert_eq!(answer(&["Bash"], &["Bash(git push:*)"], command), expected);
}

/// K6: only the sentence of the recorded cases counts, not what a person's own note is about.
#[test_case("both calls are of the same session", "allowed"; "a note of a person")]
#[test_case("seen by hand; run after the earlier cases of this family in the same session", "unknown"; "a recorded note")]
fn k6_a_note_counts_only_where_it_says_what_the_recorded_ones_say(note: &str, expected: &str) {
    let case = json!({"allow": ["Edit(src/**)"], "tool": "Edit", "note": note,
        "input": {"file_path": "{{SLOT}}/src/s.txt"}});
    let printed = serde_json::to_value(decide_case(&case).unwrap()).unwrap();
    assert_eq!(printed["decision"], expected);
}

/// K6: a field that is not modelled makes the answer unknown and is named.
#[test]
fn k6_a_field_that_is_not_modelled_is_named() {
    let case = json!({"tool": "Bash", "input": {"command": "ls"}, "managed": {}});
    let printed = serde_json::to_string(&decide_case(&case).unwrap()).unwrap();
    assert_eq!(printed, r#"{"decision":"unknown","because":"the field `managed`"}"#);
    assert!(decide_case(&json!({"input": {}})).is_err());
    assert!(decide_case(&json!([])).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// Q1.7: no command, rule or path makes the model panic or hang.
    #[test]
    fn any_text_is_decided(
        command in "([a-z ]{0,4}|[ -~]{0,6}|[\"'`$(){}<>|&;#~\\\\*?\\[\n=]{0,5}|cat <<'E'\n|\nE\n\\)|é|\u{a0}|timeout 5 |env |sudo -u |watch |cd |rm ){0,8}",
        rule in "(Bash|Edit|Read|mcp__|x)?[ (]{0,2}[ -~é]{0,12}[)]{0,2}",
        path in "(~|/|\\.\\./|é|[a-z.]{0,5}|link/|[ -~]){0,6}",
    ) {
        let shell = json!({"allow": [rule], "deny": [rule], "tool": "Bash", "input": {"command": command}});
        let file = json!({"allow": [rule], "deny": ["Read(.env)"], "tool": "Edit", "input": {"file_path": path}});
        let _answers = (decide_case(&shell), decide_case(&file), lint(&rule), relation(&Rule::parse(&rule), &Rule::parse(&command)));
    }
}
