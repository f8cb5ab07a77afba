use proptest::prelude::*;
use test_case::test_case;

use super::super::relation::relation;
use super::*;

fn own(rules: &[&str]) -> Vec<String> {
    rules.iter().map(ToString::to_string).collect()
}

fn lane(allow: &[&str], deny: &[&str]) -> LaneRules {
    LaneRules { allow: own(allow), deny: own(deny), ..LaneRules::default() }
}

fn user(allow: &[&str]) -> LoadedFile {
    LoadedFile { source: RuleSource::User, file: "user.json".to_owned(), allow: own(allow) }
}

fn denied(surface: &Surface) -> Vec<&str> {
    surface.denied.iter().map(|denied| denied.rule.as_str()).collect()
}

/// N56, P5.3, D7.4.
#[test]
fn p5_3_granted_is_the_lane_and_the_task_without_duplicates() {
    let task = TaskRules {
        worker_edit: Some("Bash(/x/worker-edit T-1:*)".to_owned()),
        test_command: Some("Bash(cargo test:*)".to_owned()),
    };
    let surface = compose(&lane(&["Edit(**)", "Bash(cargo test:*)"], &["Bash(gh:*)"]), &task, &[]);
    let (allow, deny) = surface.lists().unwrap();
    assert_eq!(allow, ["Edit(**)", "Bash(cargo test:*)", "Bash(/x/worker-edit T-1:*)"]);
    assert_eq!(deny, ["Bash(gh:*)"]);
    assert_eq!(surface.granted[1].origin, GrantOrigin::Lane);
}

/// P5.4.
#[test]
fn p5_4_a_loaded_rule_is_kept_denied_or_a_conflict() {
    let granted = lane(&["Bash(cargo test:*)", "Edit(**)"], &[]);
    let file = user(&[
        "Bash(cargo test --lib)",
        "Edit(src/**)",
        "Bash(gh:*)",
        "Bash(cargo:*)",
        "mcp__srv",
    ]);
    let surface = compose(&granted, &TaskRules::default(), &[file]);
    assert_eq!(denied(&surface), ["Bash(gh:*)", "mcp__srv"]);
    let conflicts: Vec<_> = surface
        .conflicts
        .iter()
        .map(|found| (found.loaded.as_str(), found.granted.rule.as_str(), found.file.as_str()))
        .collect();
    assert_eq!(conflicts, [("Bash(cargo:*)", "Bash(cargo test:*)", "user.json")]);
    insta::assert_snapshot!(surface.lists().unwrap_err(), @"`Bash(cargo:*)` from user.json can be neither kept nor denied beside the granted `Bash(cargo test:*)`: narrow one of them");
}

#[test]
fn p5_4_a_loaded_rule_that_means_everything_is_a_conflict() {
    for rule in ["Bash", "Bash (x:*)", "Bash(*)", "Bash( * )"] {
        let surface = compose(&lane(&["Bash(a:*)"], &[]), &TaskRules::default(), &[user(&[rule])]);
        assert_eq!(surface.conflicts.len(), 1, "{rule}");
        assert!(surface.denied.is_empty(), "{rule}");
    }
}

/// P5.4, P5.5: a denial sees the command behind `sudo` or a variable, where an allow does not
/// [d_bashallow-40, d_env-01].
#[test_case("Bash(sudo:*)"; "a wrapper")]
#[test_case("Bash(sudo -u x:*)"; "a wrapper with an option")]
#[test_case("Bash(env:*)"; "a wrapper that sets variables")]
#[test_case("Bash(timeout 5 sudo:*)"; "a wrapper in a wrapper")]
#[test_case("Bash(FOO=1:*)"; "a variable")]
fn p5_4_a_loaded_command_that_a_grant_runs_behind_a_wrapper_is_a_conflict(granted: &str) {
    let of = |rule: &str| compose(&lane(&[granted], &[]), &TaskRules::default(), &[user(&[rule])]);
    for rule in ["Bash(x:*)", "Bash(x)", "Bash(x *y)"] {
        let surface = of(rule);
        assert_eq!(denied(&surface), [""; 0], "{rule}");
        let found = &surface.conflicts[0];
        assert_eq!((found.loaded.as_str(), found.granted.rule.as_str()), (rule, granted));
        assert_eq!(found.relation, Relation::Overlaps);
    }
    for rule in ["Bash(:*)", "Edit(//x/**)", "mcp__srv"] {
        assert_eq!(of(rule).conflicts, [], "{rule} bears on no command");
    }
}

/// P5.5: a command may read outside the slot under a loaded rule, and perhaps not under a grant to edit there.
#[test]
fn p5_5_a_grant_to_edit_outside_the_slot_does_not_cover_a_loaded_one_to_read_there() {
    let of = |rule: &str| {
        compose(&lane(&["Edit(//w/out/**)"], &[]), &TaskRules::default(), &[user(&[rule])])
    };
    assert_eq!(of("Read(//w/out/**)").conflicts[0].granted.rule, "Edit(//w/out/**)");
    assert_eq!(of("Edit(//w/out/x)").conflicts, []);
    assert_eq!(denied(&of("Read(//w/other/**)")), ["Read(//w/other/**)"]);
}

/// The other way round nothing is lost: `sudo:*` denied leaves `x`.
#[test]
fn p5_4_a_loaded_wrapper_is_denied_beside_the_commands_it_could_run() {
    let granted = lane(&["Bash(x:*)", "Bash(sudo ls)"], &[]);
    let surface = compose(&granted, &TaskRules::default(), &[user(&["Bash(doas:*)"])]);
    assert_eq!(denied(&surface), ["Bash(doas:*)"]);
    let apart = compose(&granted, &TaskRules::default(), &[user(&["Bash(y:*)"])]);
    assert_eq!(denied(&apart), ["Bash(y:*)"], "what runs behind `sudo` is fixed");
}

/// P5.2: the first source wins, and the same text from another source counts where it means other paths.
#[test]
fn p5_2_a_rule_of_two_files_is_loaded_once_where_it_means_the_same() {
    let rules = ["Bash(gh:*)", "Edit(/src/**)"];
    let project = LoadedFile {
        source: RuleSource::Project,
        file: "project.json".to_owned(),
        allow: own(&rules),
    };
    let surface = compose(&lane(&[], &[]), &TaskRules::default(), &[user(&rules), project]);
    let loaded: Vec<_> = surface
        .loaded
        .iter()
        .map(|loaded| (loaded.file.as_str(), loaded.placed.rule.to_string()))
        .collect();
    let of = |file, rule: &str| (file, rule.to_owned());
    assert_eq!(
        loaded,
        [of("user.json", rules[0]), of("user.json", rules[1]), of("project.json", rules[1])]
    );
}

/// A dead text of a settings file grants nothing and must not break the deny list.
#[test]
fn p5_4_dead_text_is_not_passed_on() {
    let file = user(&["Bash(a:*),Bash(b:*)", "Bash(c:*)\nBash(d:*)", "Bash(e"]);
    let surface = compose(&lane(&["Edit(**)"], &[]), &TaskRules::default(), &[file]);
    assert_eq!(denied(&surface), ["Bash(e"]);
}

/// P2.2: `/x` of the person's file is not `/x` of the command line.
#[test]
fn p2_2_a_loaded_path_is_denied_where_it_lies() {
    let surface =
        compose(&lane(&["Bash(a:*)"], &[]), &TaskRules::default(), &[user(&["Edit(/src/**)"])]);
    assert_eq!(denied(&surface), ["Edit(~/.claude/src/**)", "Read(~/.claude/src/**)"]);
}

/// With a configuration directory of its own the agent looks for `/x` there, and nowhere else.
#[test]
fn p2_2_a_loaded_path_is_denied_in_the_agent_s_own_directory() {
    let of = |home: &str| {
        let lane = LaneRules { agent_home: Some(home.to_owned()), ..lane(&["Bash(a:*)"], &[]) };
        let surface = compose(&lane, &TaskRules::default(), &[user(&["Read(/src/**)"])]);
        surface.lists().unwrap().1
    };
    assert_eq!(of("/tmp/d/c"), ["Read(//tmp/d/c/src/**)"]);
    assert_eq!(of("/tmp/a (b)/[c]/"), ["Read(//tmp/a??b?/?c?/src/**)"]);
}

/// Reading the slot needs no rule: a loaded rule for it adds nothing, and none may be denied so that
/// it stops.
#[test]
fn p5_4_no_denial_takes_the_free_reading_of_the_slot_away() {
    let lane =
        LaneRules { slots_root: Some("/w/repo/.slots".to_owned()), ..lane(&["Bash(a:*)"], &[]) };
    let of = |rule: &str| compose(&lane, &TaskRules::default(), &[user(&[rule])]);
    assert_eq!(denied(&of("Read(src/**)")), [""; 0]);
    assert_eq!(denied(&of("Edit(src/**)")), ["Edit(src/**)"]);
    assert_eq!(denied(&of("Edit(//etc/**)")), ["Edit(//etc/**)", "Read(//etc/**)"]);
    for rule in ["Read(//w/repo/**)", "Edit(//**)", "Edit(//w/repo/.slots/one/**)"] {
        let surface = of(rule);
        assert_eq!(surface.conflicts[0].granted.origin, GrantOrigin::Free, "{rule}");
    }
}

#[test]
fn p5_8_the_built_in_denials_spare_what_the_lane_grants() {
    let lane = LaneRules {
        built_in_deny: own(&["WebFetch", "CronCreate"]),
        ..lane(&["WebFetch(domain:docs.rs)"], &[])
    };
    let surface = compose(&lane, &TaskRules::default(), &[]);
    assert_eq!(denied(&surface), ["CronCreate"]);
}

#[test]
fn p4_4_lists_that_do_not_fit_refuse() {
    let many: Vec<String> = (0..900).map(|n| format!("Bash({}-{n})", "c".repeat(1000))).collect();
    let surface =
        compose(&LaneRules { deny: many, ..LaneRules::default() }, &TaskRules::default(), &[]);
    assert!(matches!(surface.lists(), Err(SurfaceError::TooLong { .. })));
    let long = lane(&[&format!("Bash({})", "a".repeat(MAX_RULE_BYTES))], &[]);
    assert!(matches!(
        compose(&long, &TaskRules::default(), &[]).lists(),
        Err(SurfaceError::RuleTooLong { .. })
    ));
}

/// P4.4: with the byte that ends each argument the limits are what just fits: below the kernel's 128 KiB
/// for one argument, and with room for the environment in what it gives all of them.
#[test]
fn p4_4_lists_that_just_fit_pass() {
    assert_eq!((MAX_RULE_BYTES, MAX_LIST_BYTES), (122_880, 786_432));
    let rule = |mark: char, bytes: usize| {
        let around = "Bash()\0".len();
        format!("Bash({})", mark.to_string().repeat(bytes - around))
    };
    let lists = |deny: Vec<String>| {
        let rules = LaneRules { deny, ..LaneRules::default() };
        compose(&rules, &TaskRules::default(), &[]).lists()
    };
    assert!(lists(vec![rule('a', MAX_RULE_BYTES)]).is_ok());
    assert_eq!(
        lists(vec![rule('a', MAX_RULE_BYTES + 1)]),
        Err(SurfaceError::RuleTooLong { bytes: MAX_RULE_BYTES + 1 })
    );
    let eighth = MAX_LIST_BYTES / 8;
    let mut full: Vec<String> = ('a'..='h').map(|mark| rule(mark, eighth)).collect();
    assert!(lists(full.clone()).is_ok());
    full[0] = rule('a', eighth + 1);
    assert_eq!(lists(full), Err(SurfaceError::TooLong { bytes: MAX_LIST_BYTES + 1 }));
}

fn arb_rules() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[ab *]{1,4}(:\\*)?".prop_map(|spec| format!("Bash({spec})")), 0..4)
}

fn arb_command() -> impl Strategy<Value = String> {
    "[ab]{1,2}( [ab]{1,2}){0,2}"
}

/// Whether a rule admits a simple command, read a second way: by the words of the facts.
fn admits(rule: &str, command: &str) -> bool {
    fn glob(pattern: &[u8], text: &[u8]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some((b'*', rest)) => (0..=text.len()).any(|skip| glob(rest, &text[skip..])),
            Some((own, rest)) => text.first() == Some(own) && glob(rest, &text[1..]),
        }
    }
    if rule == "Bash" {
        return true;
    }
    let spec = rule.strip_prefix("Bash(").and_then(|rest| rest.strip_suffix(')')).unwrap();
    let squeeze =
        |text: &str| text.split(' ').filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ");
    if spec == "*" {
        return true;
    }
    if let Some(prefix) = spec.strip_suffix(":*") {
        let fits = |p: &str| command == p || command.starts_with(&format!("{p} "));
        return prefix.trim() == prefix && !prefix.is_empty() && fits(&squeeze(prefix));
    }
    if !spec.contains('*') {
        return spec == command;
    }
    let pattern = squeeze(spec);
    let only = pattern.strip_suffix(" *").filter(|stem| !stem.contains('*'));
    only == Some(command) || glob(pattern.as_bytes(), command.as_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// P5.5: with everything loaded, a worker can do no more than what was granted; and no denial of
    /// a loaded rule takes away anything granted.
    #[test]
    fn p5_5_loaded_rules_never_widen_and_grants_stay(
        allow in arb_rules(), loaded in arb_rules(), commands in prop::collection::vec(arb_command(), 20)
    ) {
        let lane = LaneRules { allow, ..LaneRules::default() };
        let file = LoadedFile { source: RuleSource::User, file: "user".into(), allow: loaded.clone() };
        let surface = compose(&lane, &TaskRules::default(), &[file]);
        if let Ok((granted, denied)) = surface.lists() {
            for command in &commands {
                let by = |rules: &[String]| rules.iter().any(|rule| admits(rule, command));
                let runs = (by(&granted) || by(&loaded)) && !by(&denied);
                prop_assert!(!runs || by(&lane.allow), "{} widens", command);
                prop_assert!(!by(&lane.allow) || runs, "{} is taken away", command);
            }
            for (grant, deny) in granted.iter().flat_map(|g| denied.iter().map(move |d| (g, d))) {
                prop_assert_eq!(relation(&Rule::parse(grant), &Rule::parse(deny)), Relation::Disjoint);
            }
        }
    }
}
