use proptest::prelude::*;
use test_case::test_case;

use super::*;
use crate::permission::files::FilePattern;

#[test_case("Bash(git log:*)", "Bash(git log:*)", Relation::Equal; "same prefix")]
#[test_case("Bash(git log:*)", "Bash(git log *)", Relation::Equal; "prefix and glob of the same set")]
#[test_case("Bash(git:*)", "Bash(git log:*)", Relation::Covers; "shorter prefix")]
#[test_case("Bash(git log:*)", "Bash(git log --oneline)", Relation::Covers; "a text in a prefix")]
#[test_case("Bash(npm run test:*)", "Bash(npm run test:unit)", Relation::Disjoint; "gl14-02")]
#[test_case("Bash(pnpm * test)", "Bash(pnpm --filter web test)", Relation::Covers; "a text in a glob")]
#[test_case("Bash(pnpm * test)", "Bash(pnpm --filter:*)", Relation::Overlaps; "prefix and glob cross")]
#[test_case("Bash", "Bash(git:*)", Relation::Covers; "bare covers")]
#[test_case("Bash", "Bash()", Relation::Equal; "spellings of bare")]
#[test_case("Bash(**)", "Bash", Relation::Equal; "stars alone are everything")]
#[test_case("Bash(:*)", "Bash(git:*)", Relation::CoveredBy; "dead covers nothing")]
#[test_case("Bash(timeout:*)", "Bash(mycmd:*)", Relation::Overlaps; "a wrapper runs the other")]
#[test_case("Bash(sudo:*)", "Bash(mycmd:*)", Relation::Disjoint; "an allow does not look through sudo")]
#[test_case("Bash(sudo mycmd:*)", "Bash(mycmd:*)", Relation::Overlaps; "a deny looks through sudo")]
#[test_case("Bash(FOO=1 mycmd:*)", "Bash(mycmd:*)", Relation::Overlaps; "d_env-01")]
#[test_case("Bash(mycmd a && foo b)", "Bash(mycmd:*)", Relation::Overlaps; "a compound touches its parts")]
#[test_case("Bash(mycmd a && foo b)", "Bash(git:*)", Relation::Disjoint; "a compound of other commands")]
#[test_case("Bash(mycmd a && mycmd b)", "Bash(mycmd:*)", Relation::CoveredBy; "a compound of one command")]
#[test_case("Bash(git:*)", "Edit(src/**)", Relation::Disjoint; "other tools")]
#[test_case("Bash(touch:*)", "Edit(src/**)", Relation::Overlaps; "a file rule bears on touch")]
#[test_case("Bash", "Edit(src/**)", Relation::Overlaps; "a file rule bears on every shell")]
#[test_case("Edit(**)", "Edit(src/**)", Relation::Covers; "the slot and a folder")]
#[test_case("Edit(src)", "Edit(src/**)", Relation::Equal; "two spellings of a folder")]
#[test_case("Edit(/src/**)", "Edit(/src/a/*.rs)", Relation::Covers; "a folder and a glob in it")]
#[test_case("Edit(/src/**)", "Edit(/lib/**)", Relation::Disjoint; "two folders")]
#[test_case("Edit(src/**)", "Edit(lib/**)", Relation::Overlaps; "two folders at any depth")]
#[test_case("Edit(/src/*.rs)", "Edit(/src/a*)", Relation::Overlaps; "two globs")]
#[test_case("Edit(/src/**/x)", "Edit(/src/x)", Relation::Covers; "folders of any depth may be none")]
#[test_case("Edit(/src/**/x)", "Edit(/src/yx)", Relation::Overlaps; "folders of any depth end at a slash")]
#[test_case("Edit(/*a)", "Edit(/a)", Relation::Covers; "a star at the start takes nothing as well")]
#[test_case("Edit(/*)", "Edit(/?*)", Relation::Equal; "a name is never empty")]
#[test_case("Edit(/SRC/**)", "Edit(/src/**)", Relation::Equal; "letter case")]
#[test_case("Edit(/src/**)", "Edit(//home/x/**)", Relation::Overlaps; "two anchors cannot be decided")]
#[test_case("Edit(//**)", "Edit(/src/**)", Relation::Covers; "everything covers every anchor")]
#[test_case("Edit(//o/**)", "Read(//o/x)", Relation::Overlaps; "whether editing lets a command read outside the slot was not tried")]
#[test_case("Edit(/o/**)", "Read(/o/x)", Relation::Covers; "editing lets read in the slot, where it is free")]
#[test_case("Edit(//**)", "Read(/o/x)", Relation::Covers; "editing everywhere lets read in the slot")]
#[test_case("Edit(/o/x)", "Read(/o/**)", Relation::Overlaps; "editing less than is read")]
#[test_case("Edit(/o/**)", "Read(/p/**)", Relation::Disjoint; "editing here and reading there")]
#[test_case("Read(//o/**)", "Edit(//o/x)", Relation::Overlaps; "reading does not let edit")]
#[test_case("Write(src/**)", "Edit(src/**)", Relation::Disjoint; "a dead rule")]
#[test_case("Edit", "Edit(src/**)", Relation::Overlaps; "the bare tool is less than the path")]
#[test_case("Write", "Edit", Relation::Disjoint; "two bare tools")]
#[test_case("mcp__srv", "mcp__srv__*", Relation::Equal; "a server and its tools")]
#[test_case("mcp__srv", "mcp__srv__read", Relation::Covers; "a server and a tool")]
#[test_case("mcp__srv", "mcp__srv2", Relation::Disjoint; "two servers")]
#[test_case("WebFetch(domain:*.example.com)", "WebFetch(domain:a.example.com)", Relation::Covers; "hosts")]
#[test_case("WebFetch(domain:*.example.com)", "WebFetch(domain:example.com)", Relation::Disjoint; "a host is not below itself")]
#[test_case("Task", "Agent", Relation::Equal; "one tool, two names")]
#[test_case("Bash(a", "Bash(a", Relation::Equal; "opaque text is itself")]
#[test_case("Bash(a", "Bash", Relation::Disjoint; "opaque text conflicts with nothing")]
#[test_case("Bash(md5sum:*)", "Read(x)", Relation::Overlaps; "every command held inside the slot is reached by a file rule")]
#[test_case("Bash(du:*)", "Read(x)", Relation::Overlaps; "a reader that was not recorded under a deny")]
#[test_case("Bash(tac:*)", "Read(x)", Relation::Disjoint; "dr_envb-23")]
#[test_case("Bash(mycmd && cat x)", "Read(x)", Relation::Overlaps; "a file rule bears on a later part of a compound")]
#[test_case("Bash(mycmd > x)", "Edit(x)", Relation::Overlaps; "a file rule bears on a redirection")]
#[test_case("Bash('cat' x)", "Read(x)", Relation::Overlaps; "prefix-16")]
#[test_case("Bash(timeout 5 cat:*)", "Read(x)", Relation::Overlaps; "a reader behind a wrapper")]
#[test_case("Bash(timeout 5 n*)", "Read(x)", Relation::Overlaps; "a star that takes in a wrapper behind a wrapper")]
#[test_case("Bash(timeout 5 mk:*)", "Read(x)", Relation::Disjoint; "another command behind a wrapper")]
#[test_case("Bash(n*)", "Read(x)", Relation::Overlaps; "a star that takes in a wrapper of a reader")]
#[test_case("Bash(sudo -u x mycmd:*)", "Bash(mycmd:*)", Relation::Overlaps; "d_bashallow-40")]
#[test_case("Bash(timeout -s KILL 5 mycmd:*)", "Bash(mycmd:*)", Relation::Overlaps; "the value of an option of a wrapper")]
#[test_case("Bash(timeout --foreground mycmd:*)", "Bash(foo:*)", Relation::Disjoint; "an option without a value takes no word")]
#[test_case("Bash(env A=1 -i mycmd:*)", "Bash(mycmd:*)", Relation::Overlaps; "an option behind a variable of a wrapper")]
#[test_case("Bash(nice -5 mycmd:*)", "Bash(mycmd:*)", Relation::Overlaps; "a priority in one word")]
#[test_case("Bash(nice -5 mycmd:*)", "Bash(foo:*)", Relation::Disjoint; "a priority in one word takes no other")]
#[test_case("Bash(flock x mycmd:*)", "Bash(mycmd:*)", Relation::Overlaps; "d_bashallow-120")]
#[test_case("Bash(flock x mycmd foo:*)", "Bash(foo:*)", Relation::Disjoint; "a wrapper that takes one word takes no second")]
#[test_case("Bash(watch \"mycmd a\")", "Bash(mycmd:*)", Relation::Overlaps; "dwrap2-11")]
#[test_case("Bash(A[0]=1 mycmd:*)", "Bash(mycmd:*)", Relation::Overlaps; "an element of an array is a variable")]
#[test_case("Bash(CI=1:*)", "Bash(mycmd:*)", Relation::Overlaps; "an allow looks through a listed variable")]
#[test_case("Bash(FOO=1:*)", "Bash(mycmd:*)", Relation::Disjoint; "an allow does not look through another variable")]
#[test_case("Bash(tim* b)", "Bash(mycmd:*)", Relation::Overlaps; "a star in the name of a wrapper")]
#[test_case("Bash(mk* b)", "Bash(mycmd:*)", Relation::Disjoint; "a star in the name of another program")]
#[test_case("Bash(mycmd * run)", "Bash(mycmd * stop)", Relation::Disjoint; "globs that begin alike and end in other words")]
#[test_case("Bash(mycmd:*)", "Bash(my*cmd)", Relation::Overlaps; "words that a glob admits alone and followed by themselves")]
#[test_case("Bash(mycmd \"a\" && foo b)", "Bash(foo:*)", Relation::Overlaps; "an operator behind quotes parts a compound")]
#[test_case("Bash(mycmd \"a && foo b\")", "Bash(foo:*)", Relation::Disjoint; "an operator in quotes parts nothing")]
#[test_case("Skill(domain:a)", "Skill(domain:b)", Relation::Overlaps; "a host means something to the web tool alone")]
#[test_case("Skill(domain:*)", "Skill(domain:b)", Relation::Overlaps; "a star in what another tool takes is not known to be one")]
fn p3_relation(a: &str, b: &str, expected: Relation) {
    let (a, b) = (Rule::parse(a), Rule::parse(b));
    assert_eq!(relation(&a, &b), expected);
    assert_eq!(relation(&b, &a), expected.reversed());
}

/// P2.2: the same text means other paths in the person's file.
#[test]
fn p2_2_a_rule_travels_with_its_source() {
    let place = |source| PlacedRule { rule: Rule::parse("Edit(/src/**)"), source };
    let here = place(RuleSource::CommandLine);
    assert_eq!(relation_placed(&here, &place(RuleSource::Project)), Relation::Equal);
    assert_eq!(relation_placed(&here, &place(RuleSource::User)), Relation::Overlaps);
    assert_eq!(relation_placed(&here, &place(RuleSource::Flag)), Relation::Disjoint);
}

/// P3: what a settings file holds cannot make a launch hang.
#[test_case(&format!("Edit(/*a{})", "?".repeat(60)), "Edit(/*b*)"; "places behind a star")]
#[test_case(&format!("Edit(/{}b)", "*a".repeat(600)), &format!("Edit(/{}c)", "*a".repeat(600)); "many stars in a path")]
#[test_case(&format!("Edit({}a)", "**/*a/".repeat(60)), &format!("Edit({}b)", "**/*a/".repeat(60)); "many folders of any depth")]
#[test_case(&format!("Bash(x{})", "*a".repeat(20_000)), &format!("Bash(x{})", "*b".repeat(20_000)); "many stars in a command")]
fn p3_long_patterns_that_are_not_decided_overlap(a: &str, b: &str) {
    assert_eq!(relation(&Rule::parse(a), &Rule::parse(b)), Relation::Overlaps);
}

/// P3: the bound leaves room for what people write.
#[test]
fn p3_patterns_of_several_stars_are_decided() {
    let specs = [
        "//home/*/work/**/crates/*/tests/**/*_test.rs",
        "//home/**/node_modules/**/package.json",
        "//home/someone/Documents/2024-*-??/*.md",
    ];
    let patterns = specs.map(|spec| FilePattern::parse(spec, RuleSource::CommandLine));
    for (a, b) in patterns.iter().flat_map(|a| patterns.iter().map(move |b| (a, b))) {
        assert_eq!(a.within(b), Some(a == b));
        assert!(a.meets(b).is_some());
    }
}

/// P3: a file is held against a pattern of many stars in bounded time.
#[test]
fn p3_a_path_is_matched_against_many_stars_in_bounded_time() {
    let pattern = |spec: &str| FilePattern::parse(spec, RuleSource::CommandLine);
    let (name, path) = ("a".repeat(2000), "a/".repeat(500));
    assert!(!pattern(&format!("/{}b", "*a".repeat(200))).matches(&name));
    assert!(!pattern(&format!("/{}b", "**/a/".repeat(100))).matches(path.trim_end_matches('/')));
}

fn prepared(rule: &Rule) -> PreparedRule {
    PreparedRule::new(PlacedRule { rule: rule.clone(), source: RuleSource::CommandLine })
}

fn arb_rule() -> impl Strategy<Value = Rule> {
    let shell = "[ab *]{1,6}(:\\*)?".prop_map(|spec| format!("Bash({spec})"));
    let wrapped =
        "(timeout 5|sudo|A=1) [ab *]{1,3}(:\\*)?".prop_map(|spec| format!("Bash({spec})"));
    let compound = "[ab]{1,2} && [ab]{1,2}".prop_map(|spec| format!("Bash({spec})"));
    let file = ("Edit|Read|Write", "(/|//|~/)?[ab*]{1,2}(/[ab*]{1,2}){0,2}")
        .prop_map(|(tool, spec)| format!("{tool}({spec})"));
    let other =
        "(mcp__s(__[ab*]{1,2})?|Bash|Edit|Read|Write|Task|x\\(|WebFetch\\(domain:[ab*.]{1,4}\\))";
    prop_oneof![4 => shell, 1 => wrapped, 1 => compound, 3 => file, 2 => other]
        .prop_map(|t| Rule::parse(&t))
}

/// A second reading of a file pattern, by turning it into all the paths it matches out of a list.
fn matched_paths(spec: &str) -> Vec<String> {
    fn segment(pattern: &[u8], name: &[u8]) -> bool {
        match pattern.split_first() {
            None => name.is_empty(),
            Some((b'*', rest)) => (0..=name.len()).any(|skip| segment(rest, &name[skip..])),
            Some((own, rest)) => name.first() == Some(own) && segment(rest, &name[1..]),
        }
    }
    let names = ["a", "b", "ab", "c"];
    let mut paths: Vec<Vec<&str>> = Vec::new();
    for one in names {
        paths.push(vec![one]);
        for two in names {
            paths.push(vec![one, two]);
            for three in names {
                paths.push(vec![one, two, three]);
                paths.extend(names.map(|four| vec![one, two, three, four]));
            }
        }
    }
    let anchored = spec.starts_with('/') || spec.contains('/');
    let pattern: Vec<&str> = spec.trim_start_matches('/').split('/').collect();
    let fits = |path: &[&str]| {
        path.len() == pattern.len()
            && path
                .iter()
                .zip(&pattern)
                .all(|(name, part)| segment(part.as_bytes(), name.as_bytes()))
    };
    paths
        .into_iter()
        .filter(|path| {
            let starts = if anchored { 0..=0 } else { 0..=path.len() - 1 };
            starts.clone().any(|from| (from + 1..=path.len()).any(|to| fits(&path[from..to])))
        })
        .map(|path| path.join("/"))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// The short way says the same as the long one.
    #[test]
    fn a_prepared_rule_relates_as_the_rule(a in arb_rule(), b in arb_rule()) {
        prop_assert_eq!(prepared(&a).relate(&prepared(&b)), relation(&a, &b));
    }

    /// P3: reflexive, symmetric, and covering is transitive.
    #[test]
    fn p3_the_relation_is_an_order(a in arb_rule(), b in arb_rule(), c in arb_rule()) {
        prop_assert_eq!(relation(&a, &a), Relation::Equal);
        prop_assert_eq!(relation(&a, &b).reversed(), relation(&b, &a));
        if relation(&a, &b).covers() && relation(&b, &c).covers() {
            prop_assert!(relation(&a, &c).covers(), "{} {} {}", a, b, c);
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// P3: file patterns below one anchor agree with trying 340 paths.
    #[test]
    fn p3_file_patterns_agree_with_brute_force(
        a in "/?[abc*]{1,2}(/[abc*]{1,2}){0,2}", b in "/?[abc*]{1,2}(/[abc*]{1,2}){0,2}"
    ) {
        let [a, b] = [a, b].map(|spec| spec.replace("**", "*"));
        let pattern = |spec: &str| FilePattern::parse(spec, RuleSource::CommandLine);
        let (mine, theirs) = (matched_paths(&a), matched_paths(&b));
        for path in &mine {
            prop_assert!(pattern(&a).matches(path), "{} {}", a, path);
        }
        let common = mine.iter().any(|path| theirs.contains(path));
        let inside = mine.iter().all(|path| theirs.contains(path));
        if let Some(meets) = pattern(&a).meets(&pattern(&b)) {
            prop_assert!(meets || !common);
        }
        if let Some(within) = pattern(&a).within(&pattern(&b)) {
            prop_assert!(!within || inside);
        }
    }
}

/// Rules of every kind, each against each: one character a pair.
const EACH_AGAINST_EACH: &[&str] = &[
    "Bash",
    "Bash(*)",
    "Bash(a)",
    "Bash(a b)",
    "Bash(a:*)",
    "Bash(a b:*)",
    "Bash(ab:*)",
    "Bash(a *)",
    "Bash(a*)",
    "Bash(* a)",
    "Bash(a * b)",
    "Bash(a * b *)",
    "Bash(a*b)",
    "Bash(*a*)",
    "Bash(* *)",
    "Bash(:*)",
    "Bash(X=1 a:*)",
    "Bash(CI=1 a:*)",
    "Bash(timeout 5 a:*)",
    "Bash(nice a)",
    "Bash(ni* b)",
    "Bash(ti* a)",
    "Bash(env a:*)",
    "Bash(sudo a:*)",
    "Bash(sudo:*)",
    "Bash(xargs:*)",
    "Bash(a && b)",
    "Bash(a && a b)",
    "Bash(cat:*)",
    "Bash(cat f)",
    "Bash(touch f)",
    "Bash(sed:*)",
    "Bash(a > f)",
    "Edit",
    "Edit(**)",
    "Edit(f)",
    "Edit(/f)",
    "Edit(./f)",
    "Edit(//w/f)",
    "Edit(~/f)",
    "Edit(src/**)",
    "Edit(/src/**)",
    "Edit(/src/*.rs)",
    "Edit(/src/[a-c]*)",
    "Edit(/src/[!a-c]*)",
    "Edit(/src/?)",
    "Edit(/src/**/x)",
    "Edit(//**)",
    "Edit(!f)",
    "Read",
    "Read(f)",
    "Read(/src/**)",
    "Read(//w/**)",
    "Read(~/**)",
    "Write",
    "Write(f)",
    "NotebookEdit",
    "Glob",
    "Grep(x)",
    "WebFetch",
    "WebFetch(domain:a.b)",
    "WebFetch(domain:*.b)",
    "WebSearch",
    "Task",
    "Agent(Explore)",
    "Skill(x)",
    "mcp__s",
    "mcp__s__*",
    "mcp__s__a",
    "mcp__s__a*",
    "mcp__*",
    "mcp__t__a",
    "mcp__s__a(b)",
    "mcp__s__a(c)",
    "mcp__t__a(b)",
    "W*(b)",
    "*",
    "W*",
    "NoSuchTool",
    "Bash(a",
    "a b",
];

#[test]
fn each_kind_of_rule_against_each() {
    let rules: Vec<Rule> = EACH_AGAINST_EACH.iter().map(|text| Rule::parse(text)).collect();
    let sign = |relation: Relation| match relation {
        Relation::Equal => '=',
        Relation::Covers => '>',
        Relation::CoveredBy => '<',
        Relation::Overlaps => 'x',
        Relation::Disjoint => '.',
    };
    let mut table = Vec::new();
    for (a, text) in rules.iter().zip(EACH_AGAINST_EACH) {
        let row: String = rules.iter().map(|b| sign(relation(a, b))).collect();
        table.push(format!("{row}  {text}"));
        let short_way = rules.iter().map(|b| sign(prepared(a).relate(&prepared(b))));
        assert_eq!(row, short_way.collect::<String>(), "{text}, read once and held against each");
    }
    insta::assert_snapshot!(table.join("\n"));
}

/// The same rules of the shell, given in other places than the command line, mean other paths.
#[test]
fn each_file_rule_against_each_from_every_source() {
    let files: Vec<&str> = EACH_AGAINST_EACH
        .iter()
        .copied()
        .filter(|text| text.contains("t(") || text.contains("d("))
        .collect();
    let mut table = Vec::new();
    for source in [RuleSource::CommandLine, RuleSource::User, RuleSource::Project] {
        for a in &files {
            let of = |b: &&str| {
                let one = PlacedRule { rule: Rule::parse(a), source };
                let other = PlacedRule { rule: Rule::parse(b), source: RuleSource::Project };
                match relation_placed(&one, &other) {
                    Relation::Equal => '=',
                    Relation::Covers => '>',
                    Relation::CoveredBy => '<',
                    Relation::Overlaps => 'x',
                    Relation::Disjoint => '.',
                }
            };
            let row: String = files.iter().map(of).collect();
            table.push(format!("{row}  {source:?} {a}"));
        }
    }
    insta::assert_snapshot!(table.join("\n"));
}
