//! Composition against the model of the agent (P5.5): loading settings never widens a worker, and
//! denying what they add takes nothing away.

use dispatch_guards::permission::{
    Decision, LaneRules, LoadedFile, Mode, Place, PlacedRule, Rule, RuleSource, Session, TaskRules,
    ToolCall, ToolSet, compose, decide,
};
use proptest::prelude::*;

/// Rules that settings and lanes may hold; none for a free command, since denying such a rule stops
/// the command too (P5.4): being free is no grant.
fn arb_rule() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "mk",
        "mk a",
        "mk a b",
        "gh",
        "gh pr",
        "xargs",
        "timeout 5 mk",
        "A=1 mk",
        "sudo",
        "sudo mk",
        "A=1",
        "sudo -u x mk",
        "flock x mk",
        "timeout -s KILL 5 mk",
        "CI=1",
        "touch",
        "md5sum",
    ]);
    let shape = prop::sample::select(vec!["", ":*", " *", "*", " * b", " * b *", " && gh"]);
    let shell = (words, shape).prop_map(|(words, shape)| format!("Bash({words}{shape})"));
    let file = prop::sample::select(vec![
        "Edit(**)",
        "Edit(/src/**)",
        "Edit(src/**)",
        "Edit(//w/out/**)",
        "Edit",
        "Read",
        "Read(//w/out/**)",
        "Read(src/**)",
        "Write",
        "Bash",
        "Bash()",
        "Bash(:*)",
        "Bash (mk:*)",
        "mcp__srv",
        "Edit(~/x)",
    ]);
    prop_oneof![3 => shell, 1 => file.prop_map(str::to_owned)]
}

fn arb_call() -> impl Strategy<Value = ToolCall> {
    let words = prop::sample::select(vec![
        "mk",
        "mk a",
        "mk a b",
        "mk b",
        "gh pr",
        "gh",
        "gh pr x b",
        "touch src/z",
        "md5sum /w/out/x",
        "ls",
        "mkx",
        "mk a x b",
    ]);
    let before = prop::sample::select(vec![
        "",
        "timeout 5 ",
        "CI=1 ",
        "A=1 ",
        "sudo ",
        "xargs ",
        "nice ",
        "sudo -u x ",
        "flock x ",
        "timeout -s KILL 5 ",
    ]);
    let after = prop::sample::select(vec![
        "",
        " | wc -l",
        " && gh pr",
        "; mk",
        " > src/out",
        " > /dev/null",
        " > /w/out/x",
    ]);
    let shell = (before, words, after).prop_map(|(before, words, after)| ToolCall::Shell {
        command: format!("{before}{words}{after}"),
    });
    let paths = prop::sample::select(vec!["src/a", "a", "lib/src/a", "/w/out/x", "~/x", ".git/x"]);
    let tools = prop::sample::select(vec!["Read", "Edit", "Write"]);
    let file = (tools, paths)
        .prop_map(|(tool, path)| ToolCall::File { tool: tool.to_owned(), path: path.to_owned() });
    prop_oneof![3 => shell, 1 => file]
}

fn runs(allow: &[PlacedRule], deny: &[PlacedRule], call: &ToolCall) -> bool {
    let session = Session {
        allow: allow.to_vec(),
        deny: deny.to_vec(),
        ask: Vec::new(),
        mode: Mode::DontAsk,
        tools: ToolSet::Full,
    };
    matches!(decide(&session, call, &Place::new("/w/slots/one", "/w/home")), Decision::Allowed(_))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    /// P5.5.
    #[test]
    fn p5_5_the_agent_does_with_loaded_rules_what_it_did_without(
        lane in prop::collection::vec(arb_rule(), 0..4),
        loaded in prop::collection::vec(arb_rule(), 0..4),
        calls in prop::collection::vec(arb_call(), 8),
    ) {
        // A lane's own list may hold nothing that means everything or nothing (P4); here it may not
        // hold what the command line splits.
        let lane: Vec<String> = lane.into_iter().filter(|rule| !rule.contains(" (")).collect();
        let worker_edit = Some("Bash(/x/worker-edit T-1:*)".to_owned());
        let task = TaskRules { worker_edit, test_command: None };
        let slots_root = Some("/w/slots".to_owned());
        let rules = LaneRules { allow: lane, slots_root, ..LaneRules::default() };
        let file = LoadedFile { source: RuleSource::User, file: "user".to_owned(), allow: loaded.clone() };
        let place = |rules: &[String], source| -> Vec<PlacedRule> {
            rules.iter().map(|rule| PlacedRule { rule: Rule::parse(rule), source }).collect()
        };
        if let Ok((granted, denied)) = compose(&rules, &task, &[file]).lists() {
            let alone = place(&granted, RuleSource::CommandLine);
            let mut all = alone.clone();
            all.extend(place(&loaded, RuleSource::User));
            let denied = place(&denied, RuleSource::CommandLine);
            for call in &calls {
                let (without, with) = (runs(&alone, &[], call), runs(&all, &denied, call));
                prop_assert!(without || !with, "{:?} widens by {:?}, denied {:?}", call, loaded, denied);
                prop_assert!(with || !without, "{:?} is taken from {:?} by {:?}", call, granted, denied);
            }
        }
    }
}
