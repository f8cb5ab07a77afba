use dispatch_core::triage::Lane;
use test_case::test_case;

use super::*;

/// N14, P4.1, each with a recorded case.
#[test_case("Bash(pnpm --filter * test:*)", Some("Bash(pnpm --filter * test), Bash(pnpm --filter * test *)"); "a_npmdead-03")]
#[test_case("Bash(:*)", None; "colonstar-01")]
#[test_case("Bash(*:*)", Some("Bash(*), Bash(* *)"); "star2-01")]
#[test_case("Bash( )", None; "space-01")]
#[test_case("Bash( mycmd:*)", Some("Bash(mycmd:*)"); "spc1-02")]
#[test_case("Bash(mycmd:* )", Some("Bash(mycmd:*)"); "spc2-01")]
#[test_case("Bash(mycmd :*)", Some("Bash(mycmd:*)"); "spc4-01")]
#[test_case("Bash(mycmd a )", Some("Bash(mycmd a)"); "ws3-01")]
#[test_case("bash(mycmd:*)", Some("Bash"); "case-01")]
#[test_case("Bash(mycmd:*", Some("Bash(mycmd:*)"); "unclosed-01")]
#[test_case("Bash(mycmd:*)x", Some("Bash(mycmd:*)"); "trail-01")]
#[test_case("Bash(mycmd:*) Bash(foo:*)", Some("Bash(mycmd:*), Bash(foo:*)"); "sv_joined-01")]
#[test_case("Bash(mycmd:*)\nBash(foo:*)", None; "p_nl-01")]
#[test_case("Bash(mycmd:*);Bash(foo:*)", None; "p_semi-01")]
#[test_case("Bash(mycmd:*)Bash(foo:*)", None; "p_nojoin-01")]
#[test_case("[\"Bash(mycmd:*)\",\"Bash(foo:*)\"]", None; "p_json-01")]
#[test_case("Bash(mycmd (a) b)", None; "p_paren-01")]
#[test_case("Write(src/**)", Some("Edit(src/**)"); "nb_writed-03")]
#[test_case("NotebookEdit(**)", Some("Edit(**)"); "nb_nbd-01")]
#[test_case("Edit( src/** )", Some("Edit(src/**)"); "f20-03")]
#[test_case("Edit(src:*)", Some("Edit(/src/**)"); "e_colonstar-02")]
#[test_case("Edit({src,lib}/**)", None; "e_brace-02")]
#[test_case("Edit(!src/**)", None; "a negation")]
#[test_case("Edit(../out/**)", None; "e_dotdot-04")]
#[test_case("MultiEdit", Some("Edit(**)"); "e_multi-01")]
#[test_case("LS", None; "a reader that is gone is no grant to write")]
#[test_case("NotebookRead", None; "a reader of notebooks that is gone is no grant to write")]
#[test_case("NoSuchTool", None; "p_unk-02")]
#[test_case("Bash(eval:*)", None; "ev1-01")]
#[test_case("Bash(mycmd && *)", None; "a_compound3-02")]
#[test_case("Bash(mycmd > *)", None; "a_redirrule3-01")]
#[test_case("mcp__*", None; "mcp_mcpstar-01")]
#[test_case("mcp__srv*", None; "mcp_srvstar-02")]
#[test_case("mcp__srv__read(x)", Some("mcp__srv__read"); "mcp_paren-02")]
#[test_case("MCP__SRV__READ", None; "mcp_case-01")]
#[test_case("WebFetch(https://example.com/*)", Some("WebFetch(domain:example.com)"); "nb_webwfurl-01")]
fn p4_1_dead_rules_are_named_with_the_form_that_works(rule: &str, instead: Option<&str>) {
    let judged = lint(rule);
    assert_eq!(judged.class, LintClass::Dead, "{judged:?}");
    assert_eq!(judged.instead.as_deref(), instead);
}

/// P4.2.
#[test_case("Bash (mycmd:*)"; "spc3-02")]
#[test_case("Bash()"; "empty-01")]
#[test_case("Bash( * )"; "p_bashspacestar-02")]
#[test_case("Bash(**)"; "stars alone")]
#[test_case("Bash(*)"; "star-01")]
#[test_case("Bash"; "bare-01")]
#[test_case("Edit(*)"; "e_star-04")]
#[test_case("Edit()"; "e_empty-04")]
#[test_case("Edit"; "e_bare-06")]
#[test_case("Agent(Explore)"; "ag2_atype-01")]
#[test_case("WebFetch(domain:*)"; "nb_webwfany-01")]
fn p4_2_rules_that_mean_everything_are_named(rule: &str) {
    assert_eq!(lint(rule).class, LintClass::Everything, "{:?}", lint(rule));
}

/// P4.2: what is offered instead is a form that works.
#[test_case("Bash (make:*)", Some("Bash(make:*)"); "a rule that is right without the blank")]
#[test_case("Bash (tee:*)", Some("Bash(tee:*)"); "one that reaches far")]
#[test_case("Bash (a * b:*)", Some("Bash(a * b), Bash(a * b *)"); "one that is dead")]
#[test_case("Write (src/**)", Some("Edit(src/**)"); "one that another tool governs")]
#[test_case("Bash (*)", None; "one that is everything")]
fn p4_2_a_blank_before_the_parenthesis_is_taken_out(rule: &str, instead: Option<&str>) {
    let judged = lint(rule);
    assert_eq!((judged.class, judged.instead.as_deref()), (LintClass::Everything, instead));
}

/// P4.3.
#[test_case("Bash(bash:*)"; "a_bashc2-03")]
#[test_case("Bash(sh -c:*)"; "a shell with an option")]
#[test_case("Bash(env:*)"; "ev4-01")]
#[test_case("Bash(xargs:*)"; "a_xargs-02")]
#[test_case("Bash(python3:*)"; "py2-02")]
#[test_case("Bash(python3 -c *)"; "py-04")]
#[test_case("Bash(node *)"; "node1-01")]
#[test_case("Bash(sudo:*)"; "a_sudo2-02")]
#[test_case("Bash(tee:*)"; "a_tee-02")]
#[test_case("Bash(dd:*)"; "cmdnoed-16")]
#[test_case("Bash(ln:*)"; "cmdnoed-15")]
#[test_case("Bash(git:*)"; "gitx-01")]
#[test_case("Bash(git *)"; "git as a glob")]
#[test_case("Bash(git -C:*)"; "an option of git")]
#[test_case("Bash(git log:*)"; "gitlog-05")]
#[test_case("Bash(find . -exec:*)"; "find with an action")]
#[test_case("Bash(find . -delete *)"; "find that removes")]
#[test_case("Bash(timeout 5 bash:*)"; "a shell in a wrapper")]
#[test_case("Bash(timeout -s KILL 5 bash:*)"; "a shell in a wrapper with an option that takes a value")]
#[test_case("Bash(flock lock bash:*)"; "a shell in a wrapper that takes a file")]
#[test_case("Bash(/usr/bin/python3.12:*)"; "an interpreter by its path and version")]
#[test_case("Bash(./scripts/*)"; "gl9-03")]
#[test_case("Bash(FOO=* mycmd *)"; "a2_env2-04: a star before the program")]
#[test_case("Bash(timeout * mycmd *)"; "a star in the arguments of a wrapper")]
#[test_case("Bash(sed:*)"; "sed runs programs")]
#[test_case("Bash(python3 -u:*)"; "an interpreter with an option")]
#[test_case("Bash(backlog task edit:*)"; "the board of every task")]
#[test_case("Bash(git fetch:*)"; "git with a program of its own")]
#[test_case("Bash(CI=1 python3:*)"; "an interpreter behind a variable")]
#[test_case("Bash(* run)"; "midlead-02")]
#[test_case("Bash(ba*)"; "a star in the name of a shell")]
#[test_case("Bash(mycmd --output *)"; "an output option")]
#[test_case("Bash(git*)"; "a star in the name of git")]
#[test_case("Bash(back*)"; "a star in the name of the board program")]
#[test_case("Bash(so*)"; "a star in the name of a reader that writes")]
#[test_case("Bash(git branch:*)"; "refs that other slots share")]
#[test_case("Bash(git merge-file:*)"; "a command of git that writes anywhere")]
#[test_case("Bash(git no-such-command:*)"; "a command of git that is not known")]
#[test_case("Bash(python3)"; "an interpreter that reads its program")]
#[test_case("Bash(python3 -)"; "an interpreter that is told to read its program")]
#[test_case("Bash(bash -s)"; "a shell that is told to read its program")]
#[test_case("Bash(timeout 60 node)"; "an interpreter in a wrapper, alone")]
#[test_case("Bash(cargo build && sh)"; "a shell in a compound")]
#[test_case("Bash(psql app)"; "a program that runs what it reads, by text")]
#[test_case("Bash(sqlite3 app.db:*)"; "a program that runs what it reads")]
#[test_case("Bash(npx backlog.md:*)"; "the board program, fetched")]
#[test_case("Bash(pnpm exec backlog task edit:*)"; "the board program, run by another")]
#[test_case("Bash(backlog task edit T-2 -s Done)"; "another task, by text")]
#[test_case("Bash(shuf:*)"; "a reader that writes")]
#[test_case("Edit(/home/x/**)"; "e_absout1-04")]
#[test_case("Edit(//home/x/**)"; "e_absout-04")]
#[test_case("Edit(~/**)"; "e_tilde-06")]
#[test_case("Edit(src/**)"; "f1-02")]
#[test_case("Edit(*.txt)"; "e_extp-06")]
#[test_case("Write"; "nb_write-06")]
#[test_case("Read"; "r_bare-04")]
fn p4_3_rules_that_reach_beyond_are_named(rule: &str) {
    assert_eq!(lint(rule).class, LintClass::Reaches, "{:?}", lint(rule));
}

#[test_case("Bash(cargo test:*)")]
#[test_case("Bash(pnpm --filter * test)")]
#[test_case("Bash(mycmd \"a; b\":*)")]
#[test_case("Bash(git status:*)")]
#[test_case("Bash(git log --output=x)"; "a text says all it does")]
#[test_case("Bash(find . -name:*)"; "find without an action")]
#[test_case("Bash(timeout 60 cargo test:*)")]
#[test_case("Bash(python3 -m pytest:*)")]
#[test_case("Bash(mycmd a && foo b)")]
#[test_case("Bash(python3 --version)")]
#[test_case("Bash(python3 scripts/build.py)")]
#[test_case("Bash(make)")]
#[test_case("Bash(npm test)")]
#[test_case("Bash(backlog task list --plain)")]
#[test_case("Bash(ls backlog:*)"; "a folder of that name")]
#[test_case("Bash(git add:*)")]
#[test_case("Bash(git rev-parse:*)")]
#[test_case("Edit(**)")]
#[test_case("Edit(/src/**)")]
#[test_case("Edit(src/deep/**)")]
#[test_case("Read(src/**)")]
#[test_case("WebFetch(domain:example.com)")]
#[test_case("mcp__srv")]
#[test_case("mcp__srv__re*")]
#[test_case("TaskCreate")]
fn p4_rules_that_mean_what_they_say_pass(rule: &str) {
    assert_eq!(lint(rule).class, LintClass::Ok, "{:?}", lint(rule));
}

/// As a deny a wide rule is what it says, a dead one is a hole.
#[test_case("Bash(git:*)", LintClass::Ok)]
#[test_case("Edit(src/**)", LintClass::Ok)]
#[test_case("WebFetch", LintClass::Ok)]
#[test_case("mcp__*", LintClass::Ok)]
#[test_case("*", LintClass::Ok)]
#[test_case("Agent(Explore)", LintClass::Ok)]
#[test_case("Bash (git push:*)", LintClass::Everything; "pd_spparen-01")]
#[test_case("Bash(mycmd:*", LintClass::Dead; "d_unclosed-01")]
#[test_case("bash", LintClass::Dead; "d_lower-01")]
#[test_case("Write(src/**)", LintClass::Dead; "de_writesrc-01")]
fn p4_a_deny_is_judged_as_a_deny(rule: &str, class: LintClass) {
    assert_eq!(lint_in(rule, RuleList::Deny).class, class);
}

fn severities(lane: Lane, allow: &[&str], deny: &[&str]) -> Vec<Severity> {
    let own = |rules: &[&str]| rules.iter().map(ToString::to_string).collect::<Vec<_>>();
    lint_lists(lane, &own(allow), &own(deny)).iter().map(|finding| finding.severity).collect()
}

/// D7.5, P4: what refuses a launch, and that the lists of the older dispatcher do not.
#[test]
fn d7_5_dead_rules_refuse_and_wide_ones_refuse_on_the_local_lane() {
    assert_eq!(severities(Lane::Frontier, &["Bash(:*)"], &[]), [Severity::Error]);
    assert_eq!(severities(Lane::Frontier, &[], &["Bash(x:*"]), [Severity::Error]);
    assert_eq!(severities(Lane::Frontier, &["Bash(tee:*)"], &[]), [Severity::Warning]);
    assert_eq!(severities(Lane::Local, &["Bash(tee:*)"], &[]), [Severity::Error]);
    let local = severities(
        Lane::Local,
        &["Read", "Edit(**)", "Write", "Glob", "Grep"],
        &["Bash(git push:*)", "Edit(.claude/**)"],
    );
    assert!(local.iter().all(|severity| *severity == Severity::Warning));
}

/// K3: sentence, cause, value, next step.
#[test]
fn a_finding_reads_as_a_sentence() {
    let findings = lint_lists(Lane::Local, &["Bash(a * b:*)".to_owned()], &[]);
    insta::assert_snapshot!(findings[0], @"`Bash(a * b:*)` (allow list): with `:*` at the end every other star is a literal star; write `Bash(a * b), Bash(a * b *)`");
}

/// Rules as people write them, each with what is said about it.
const WRITTEN: &[&str] = &[
    "",
    " ",
    "Bash",
    "Bash()",
    "Bash(a:*)",
    "Bash(a b:*)",
    "Bash(a *)",
    "Bash(a* b)",
    "Bash(* a)",
    "Bash(a:* b)",
    "Bash(a :*)",
    "Bash(:*)",
    "Bash(a",
    "Bash a)",
    "a)",
    "mcp__s__a (b)",
    "a-b (c)",
    "Bash(\"a\" ; b)",
    "Bash(a))",
    "Bash(a) b",
    "Bash((a)",
    "Bash(a)Edit(b)",
    "Bash(a)x_Y(b)",
    "Bash(a),Edit(b)",
    "Bash(a);Edit(b)",
    "\"Bash(a)\"",
    "'Bash(a)'",
    "[Bash(a)]",
    "a_b",
    "a b",
    "a-b",
    "bash(a)",
    "BASH",
    "edit(f)",
    "Bash(a && b)",
    "Bash(a && b:*)",
    "Bash(a | b)",
    "Bash(a ; b)",
    "Bash(a > f)",
    "Bash(a < f)",
    "Bash(a $(b))",
    "Bash(a $(b) | c)",
    "Bash(a & b)",
    "Bash(a \"&&\" b)",
    "Bash(eval a)",
    "Bash(if:*)",
    "Bash({ a; })",
    "Bash(source x)",
    "Bash(. x)",
    "Bash(exec:*)",
    "Bash(sh:*)",
    "Bash(bash -c a)",
    "Bash(python3:*)",
    "Bash(node -e a)",
    "Bash(perl:*)",
    "Bash(env:*)",
    "Bash(xargs:*)",
    "Bash(sudo:*)",
    "Bash(timeout:*)",
    "Bash(timeout 5 sh:*)",
    "Bash(nice:*)",
    "Bash(find:*)",
    "Bash(find . -exec:*)",
    "Bash(git:*)",
    "Bash(git push:*)",
    "Bash(git commit:*)",
    "Bash(git log:*)",
    "Bash(git config:*)",
    "Bash(gh:*)",
    "Bash(gh pr:*)",
    "Bash(curl:*)",
    "Bash(wget:*)",
    "Bash(ssh:*)",
    "Bash(scp:*)",
    "Bash(nc:*)",
    "Bash(rm:*)",
    "Bash(mv:*)",
    "Bash(cp:*)",
    "Bash(tee:*)",
    "Bash(dd:*)",
    "Bash(chmod:*)",
    "Bash(ln:*)",
    "Bash(sed:*)",
    "Bash(sed -i:*)",
    "Bash(awk:*)",
    "Bash(npm:*)",
    "Bash(npm test)",
    "Bash(npm run:*)",
    "Bash(npx:*)",
    "Bash(pnpm:*)",
    "Bash(pnpm exec:*)",
    "Bash(yarn:*)",
    "Bash(bun:*)",
    "Bash(cargo:*)",
    "Bash(cargo test:*)",
    "Bash(cargo run:*)",
    "Bash(make:*)",
    "Bash(make test)",
    "Bash(docker:*)",
    "Bash(kubectl:*)",
    "Bash(pip:*)",
    "Bash(uv run:*)",
    "Bash(go:*)",
    "Bash(go test:*)",
    "Bash(java:*)",
    "Bash(mvn:*)",
    "Bash(gradle:*)",
    "Bash(claude:*)",
    "Bash(backlog:*)",
    "Bash(dispatch:*)",
    "Bash(crontab:*)",
    "Bash(systemctl:*)",
    "Bash(tmux:*)",
    "Bash(vim:*)",
    "Bash(less:*)",
    "Bash(man:*)",
    "Bash(ls:*)",
    "Bash(cat:*)",
    "Bash(CI=1 npm test)",
    "Bash(X=1 a:*)",
    "Bash(/usr/bin/sh:*)",
    "Bash(./run:*)",
    "Bash(~/run:*)",
    "Edit",
    "Edit()",
    "Edit(*)",
    "Edit(**)",
    "Edit(./**)",
    "Edit(/**)",
    "Edit(//**)",
    "Edit(~/**)",
    "Edit(//etc/**)",
    "Edit(src/**)",
    "Edit( src/**)",
    "Edit(src/**:*)",
    "Edit(a:*)",
    "Edit(!a)",
    "Edit({a,b})",
    "Edit({a)",
    "Edit(a})",
    "Edit(../a)",
    "Edit(a/../b)",
    "Edit(a..b)",
    "Edit(.git/**)",
    "Edit(.claude/**)",
    "Edit(backlog/**)",
    "Read",
    "Read(**)",
    "Read(//**)",
    "Read(~/.ssh/**)",
    "Read(//etc/passwd)",
    "Write",
    "Write(a)",
    "NotebookEdit",
    "NotebookEdit(a)",
    "MultiEdit(a)",
    "NotebookRead",
    "LS(a)",
    "Glob",
    "Grep",
    "Task",
    "Agent",
    "Agent(x)",
    "Skill",
    "Skill(x)",
    "SlashCommand",
    "WebFetch",
    "WebFetch()",
    "WebFetch(domain:a.b)",
    "WebFetch(domain:*)",
    "WebFetch(domain:*.b)",
    "WebFetch(https://a.b)",
    "WebFetch(a.b)",
    "WebSearch",
    "WebSearch(x)",
    "TodoWrite",
    "KillShell",
    "BashOutput",
    "ExitPlanMode",
    "AskUserQuestion",
    "mcp__s",
    "mcp__s__a",
    "mcp__s__*",
    "mcp__s__a*",
    "mcp__s*",
    "mcp__*",
    "mcp__",
    "mcp__s__a(b)",
    "MCP__s__a",
    "mcp_s_a",
    "*",
    "Ba*",
    "W*(x)",
    "NoSuchTool",
    "Bsh(a)",
    "Edti(a)",
];

#[test]
fn what_is_said_about_rules_as_people_write_them() {
    let mut table = Vec::new();
    for list in [RuleList::Allow, RuleList::Deny] {
        for rule in WRITTEN {
            let Lint { class, why, instead, reach } = lint_in(rule, list);
            table.push(format!("{list:?} {rule:?}: {class:?} {reach:?} {why} -> {instead:?}"));
        }
    }
    insta::assert_snapshot!(table.join("\n"));
}
