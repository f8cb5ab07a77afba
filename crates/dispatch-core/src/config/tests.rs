use camino::{Utf8Path, Utf8PathBuf};
use proptest::prelude::*;
use serde_json::{Value, json};
use test_case::test_case;

use super::keys::ROOT;
use super::load::MINIMAL;
use super::shape::key_paths;
use super::*;
use crate::triage::Lane;

const OLDER: &str = include_str!("../../../../fixtures/config/older-lanes.json");
const EXAMPLE: &str = include_str!("../../../../fixtures/config/example.json");

fn place(found: Found) -> Location {
    Location { file: "lanes.json".into(), found, board_dir: Some("backlog".into()) }
}

fn given(text: &str) -> Result<Loaded, Vec<ConfigError>> {
    load(text, &place(Found::Given)).map_err(|rejected| rejected.errors)
}

/// The minimal file with `value` at `pointer`.
fn with(pointer: &str, value: Value) -> String {
    let mut root: Value = serde_json::from_str(MINIMAL).unwrap();
    let mut place = &mut root;
    let names: Vec<&str> = pointer.trim_start_matches('/').split('/').collect();
    for name in &names[..names.len() - 1] {
        place = place.as_object_mut().unwrap().entry(name.to_owned()).or_insert_with(|| json!({}));
    }
    place.as_object_mut().unwrap().insert((*names.last().unwrap()).to_owned(), value);
    root.to_string()
}

fn errors(text: &str) -> Vec<String> {
    given(text).unwrap_err().iter().map(ToString::to_string).collect()
}

/// K2: one run tells all, also what can only be seen once the values are read.
#[test]
fn k2_a_faulty_value_hides_no_fault_of_the_others() {
    let mut value: Value =
        serde_json::from_str(&with("/ports", json!({ "base": 65_500, "bass": 1 }))).unwrap();
    value["slots"] = json!(["a", "b", "c"]);
    let text = value.to_string();
    let rejected = load(&text, &place(Found::Given)).unwrap_err();
    let paths: Vec<&str> = rejected.errors.iter().map(|error| error.path.as_str()).collect();
    assert_eq!(paths, ["ports.bass", "ports.base"]);
    assert_eq!(rejected.remainder.unwrap().ports.base, 65_500);
}

/// What is required and faulty has no default that the others could be judged with.
#[test]
fn k2_without_a_required_value_there_is_no_remainder() {
    for text in [with("/slots", json!([])), with("/lanes/frontier/maxTurns", json!("many"))] {
        assert_eq!(load(&text, &place(Found::Given)).unwrap_err().remainder, None, "{text}");
    }
}

#[test]
fn k2_the_older_file_loads_unchanged_with_the_older_locations_as_defaults() {
    let loaded = load(OLDER, &place(Found::Older)).unwrap();
    let config = &loaded.config;
    assert!(loaded.warnings.is_empty());
    assert_eq!(config.attempts, 3);
    assert_eq!(config.lanes.local.reviewer_timeout_minutes, Minutes::new(15.0));
    assert_eq!(config.setting_sources(Lane::Local), [SettingSource::User]);
    assert_eq!(
        config.setting_sources(Lane::Frontier),
        [SettingSource::User, SettingSource::Project]
    );
    assert_eq!(
        config.templates.local_system.as_deref(),
        Some(Utf8Path::new(".claude/skills/catalyst-backlog/worker-system-prompt.md"))
    );
    assert_eq!(config.provision.install, ["pnpm", "install"]);
    assert_eq!(config.prompt_hooks.len(), 2);
}

#[test]
fn k2_the_older_file_elsewhere_has_the_plain_defaults() {
    let loaded = given(OLDER).unwrap();
    assert!(loaded.older.is_empty());
    assert!(loaded.config.setting_sources(Lane::Frontier).is_empty());
    assert_eq!(loaded.config.templates, TemplatesConfig::default());
}

#[test]
fn k2_older_locations_without_a_file_are_dropped() {
    let mut loaded = load(OLDER, &place(Found::Older)).unwrap();
    loaded.settle(|file| file == "pnpm-lock.yaml" || file.as_str().contains("business-rules"));
    let config = &loaded.config;
    assert_eq!(config.templates, TemplatesConfig::default());
    assert_eq!(config.provision.install, ["pnpm", "install"]);
    assert!(config.provision.link.is_empty());
    assert_eq!(config.prompt_hooks.len(), 1);
    assert_eq!(config.prompt_hooks[0].kind, HookKind::File);
    assert_eq!(loaded.older.len(), 3);
}

#[test]
fn k2_what_the_older_file_gives_beats_the_older_locations() {
    let text = with("/provision", json!({ "install": ["npm", "ci"], "lockfile": null }));
    let loaded = load(&text, &place(Found::Older)).unwrap();
    assert_eq!(loaded.config.provision.install, ["npm", "ci"]);
    assert_eq!(loaded.config.provision.lockfile, Some(Utf8PathBuf::from("pnpm-lock.yaml")));
}

/// The schema is made of the table of keys, so this holds all three together.
#[test]
fn the_example_the_schema_and_the_types_hold_the_same_keys() {
    let example: Value = serde_json::from_str(EXAMPLE).unwrap();
    let loaded = given(EXAMPLE).unwrap();
    let warned: Vec<&str> = loaded.warnings.iter().map(|warning| warning.path.as_str()).collect();
    assert_eq!(warned, ["gc.keepDays", "ledger"]);
    let typed = serde_json::to_value(&loaded.config).unwrap();
    let mut paths = Vec::new();
    key_paths(&ROOT, "", &mut paths);
    // An editor's hint, an object without options, and the other form of a value that the example gives.
    let elsewhere = |path: &str| {
        path == "/$schema"
            || path == "/save"
            || path == "/agent/credential/helper"
            || path.starts_with("/commit/identity/")
            || path.starts_with("/checks/lint/0/")
    };
    for path in paths.iter().filter(|path| !elsewhere(path)) {
        assert!(example.pointer(path).is_some(), "the example lacks {path}");
        let typed = typed.pointer(path);
        assert!(typed.is_some(), "the types lack {path}");
        assert!(alike(example.pointer(path).unwrap(), typed.unwrap()), "{path} is not read");
    }
}

fn alike(written: &Value, typed: &Value) -> bool {
    match (written, typed) {
        (Value::Number(written), Value::Number(typed)) => written.as_f64() == typed.as_f64(),
        (Value::Array(written), Value::Array(typed)) => {
            written.len() == typed.len() && written.iter().zip(typed).all(|(a, b)| alike(a, b))
        }
        (Value::Object(written), Value::Object(typed)) => written
            .iter()
            .all(|(name, value)| typed.get(name).is_some_and(|typed| alike(value, typed))),
        _ => written == typed,
    }
}

/// K2: the defaults are those of the example, for the keys whose example value is the default.
#[test]
fn the_defaults_are_those_of_the_example() {
    let minimal = serde_json::to_value(given(MINIMAL).unwrap().config).unwrap();
    let example = serde_json::to_value(given(EXAMPLE).unwrap().config).unwrap();
    for path in [
        "/orphanInProgressThresholdHours",
        "/baseBranch",
        "/branchPrefix",
        "/parentBranch",
        "/projectRoot",
        "/agent",
        "/board",
        "/owner",
        "/forge",
        "/vcs",
        "/confinement/mode",
        "/confinement/reads",
        "/confinement/unixSockets",
        "/confinement/tcpPorts",
        "/provision",
        "/checks/cwd",
        "/checks/tree",
        "/checks/timeoutMinutes",
        "/checks/ownedDod",
        "/paths",
        "/resetBeforeAttempt",
        "/skills",
        "/templates",
        "/commit",
        "/humanReview",
        "/reviewer",
        "/reviews",
        "/limits",
        "/ports",
        "/gc",
        "/ledger",
        "/notify",
        "/language",
        "/lanes/local/reviewerTimeoutMinutes",
        "/lanes/local/tiers",
        "/lanes/local/settingSources",
        "/lanes/local/envPassthrough",
        "/lanes/local/stallTimeoutMinutes",
        "/lanes/local/confinement",
        "/lanes/local/reviewer",
        "/lanes/frontier/maxBudgetUsd",
        "/lanes/frontier/tiers",
        "/lanes/frontier/settingSources",
        "/lanes/frontier/reviewer",
        "/lanes/frontier/reviewerModel",
        "/lanes/frontier/reviewerTimeoutMinutes",
    ] {
        assert!(minimal.pointer(path).is_some(), "no such value {path}");
        assert_eq!(minimal.pointer(path), example.pointer(path), "{path}");
    }
}

#[test]
fn k2_errors_are_collected_with_file_path_found_and_expected() {
    let text = r#"{
      "slotsRoot": "../worktrees", "slots": ["a", "a", "b.lock"], "attempts": 0, "colour": 1,
      "lanes": {
        "local": { "settings": "/etc/x", "maxParallel": -1, "effort": "huge", "maxTurns": 1.5,
                   "timeoutMinutes": 0, "healthCheckUrl": "localhost:1", "reviewerModel": "-p" },
        "frontier": { "settings": "f.json", "maxParallel": 1, "model": { "direct": "sonnet" },
                      "maxTurns": "many", "maxBudgetUsd": 0, "timeoutMinutes": 90, "maxBudgetUSD": 1,
                      "settingSources": ["local"] }
      },
      "agent": { "credential": { "env": "A", "helper": ["b"] } }
    }"#;
    insta::assert_snapshot!(errors(text).join("\n"), @r#"
    lanes.json: slots[1]: found `"a"`; expected each entry once
    lanes.json: slots[2]: found `"b.lock"`; expected a slot name (letters, digits, `.`, `_`, `-`, beginning with a letter or digit; not ending in `.verify` or `.lock`)
    lanes.json: attempts: found `0`; expected a whole number from 1 to 1000000
    lanes.json: lanes.local.settings: found `"/etc/x"`; expected a path inside the code root (no leading `/`, no `..`, no backslash)
    lanes.json: lanes.local.maxParallel: found `-1`; expected a whole number from 0 to 1000
    lanes.json: lanes.local.effort: found `"huge"`; expected `"low"` or `"medium"` or `"high"` or `"xhigh"` or `"max"`
    lanes.json: lanes.local.maxTurns: found `1.5`; expected a whole number from 1 to 1000000
    lanes.json: lanes.local.timeoutMinutes: found `0`; expected a number of minutes above 0, at most 525600
    lanes.json: lanes.local.healthCheckUrl: found `"localhost:1"`; expected an address beginning `http://` or `https://`, without a query
    lanes.json: lanes.local.reviewerModel: found `"-p"`; expected a model name (not beginning with `-`, no blanks)
    lanes.json: lanes.frontier.model.sdd: missing; expected a model name (not beginning with `-`, no blanks)
    lanes.json: lanes.frontier.maxTurns: found `"many"`; expected a whole number from 1 to 1000000
    lanes.json: lanes.frontier.maxBudgetUsd: found `0`; expected an amount above 0, in US dollars
    lanes.json: lanes.frontier.settingSources[0]: found `"local"`; expected `"user"` or `"project"`
    lanes.json: lanes.frontier.maxBudgetUSD: unknown name; did you mean `maxBudgetUsd`?
    lanes.json: colour: unknown name; `dispatch config schema` lists the known ones, and names beginning `_` or `//` are free for notes
    lanes.json: agent.credential: found `{"env":"A","helper":["b"]}`; expected either `env` or `helper`
    "#);
}

#[test]
fn k2_unknown_names_are_warnings_in_the_older_file_and_for_notes() {
    let text = with("/maxTurn", json!(1));
    let loaded = load(&text, &place(Found::Older)).unwrap();
    let warnings: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "lanes.json: maxTurn: unknown name; `dispatch config schema` lists the known ones, and names beginning `_` or `//` are free for notes"
        ]
    );
    for name in ["_note", "//", "$comment"] {
        let text = with(&format!("/{}", name.replace('/', "~1")), json!(1)).replace("~1", "/");
        assert_eq!(given(&text).unwrap().warnings.len(), 1, "{name}");
    }
    assert!(given(&with("/$schema", json!("x"))).unwrap().warnings.is_empty());
}

#[test]
fn k2_a_syntax_error_names_line_and_column() {
    assert_eq!(
        errors("{\n  \"slots\": [,]\n}"),
        ["lanes.json:2:13: not valid JSON: expected value"]
    );
    assert_eq!(errors("").len(), 1);
    assert_eq!(errors("[]"), ["lanes.json: found `[]`; expected an object"]);
}

#[test]
fn a_name_given_twice_is_an_error() {
    let text = MINIMAL.replacen("\"attempts\": 3,", "\"attempts\": 3, \"attempts\": 99,", 1);
    assert_eq!(errors(&text), ["lanes.json: attempts: given twice; keep one of them"]);
}

#[test_case("/slotsRoot", &json!(".git/worktrees"); "slots inside the git directory")]
#[test_case("/slotsRoot", &json!("backlog/slots"); "slots inside the board directory")]
#[test_case("/slotsRoot", &json!("x/../backlog"); "slots in the board directory by a detour")]
#[test_case("/slotsRoot", &json!("."); "slots in the code root itself")]
#[test_case("/slots", &json!([]); "no slot")]
#[test_case("/slots", &json!(["x.verify"]); "the name of a verification tree")]
#[test_case("/lanes/local/settings", &json!("../x.json"); "settings outside the code root")]
#[test_case("/lanes/local/settings", &json!(".claude/worktrees/dispatch-1/x.json"); "settings a worker can write")]
#[test_case("/templates", &json!({ "contract": ".claude/worktrees/c.md" }); "a template a worker can write")]
#[test_case("/lanes/frontier/maxBudgetUsd", &json!(-1); "a negative budget")]
#[test_case("/lanes/frontier/settingSources", &json!(["user", "user"]); "a source twice")]
#[test_case("/orphanInProgressThresholdHours", &json!(-1); "a negative threshold")]
#[test_case("/harnessReviewer", &json!("--admin"); "a reviewer that would be an option")]
#[test_case("/branchPrefix", &json!("refs/heads/"); "a prefix that makes no branch name")]
#[test_case("/notify", &json!("loud"); "an unknown notifier")]
#[test_case("/notify", &json!([]); "an empty notifier")]
#[test_case("/commit", &json!({ "subject": "{title} {branch}" }); "an unknown placeholder")]
#[test_case("/commit", &json!({ "identity": "nobody" }); "an identity without an address")]
#[test_case("/ports", &json!({ "base": 65_530 }); "no room for the ports")]
#[test_case("/paths", &json!({ "hard": ["a{b"] }); "a glob that is none")]
#[test_case("/agent", &json!({ "credential": {} }); "a credential that says nothing")]
#[test_case("/language", &json!("de"); "a language without a catalogue")]
fn k2_rules_refuse(pointer: &str, value: &Value) {
    let text = with(pointer, value.clone());
    assert_eq!(errors(&text).len(), 1, "{:?}", errors(&text));
}

#[test_case("/slotsRoot", &json!("../worktrees"); "slots beside the repository")]
#[test_case("/lanes/local/maxParallel", &json!(0); "a lane turned off")]
#[test_case("/orphanInProgressThresholdHours", &json!(0); "the orphan step turned off")]
#[test_case("/lanes/frontier/timeoutMinutes", &json!(0.5); "half a minute")]
#[test_case("/lanes/frontier/model", &json!({ "direct": "a/b:c@1", "sdd": "x[1m]" }); "models as given")]
#[test_case("/confinement", &json!("off"); "confinement in short")]
#[test_case("/commit", &json!({ "identity": "A B <a@b>" }); "an identity in short")]
#[test_case("/notify", &json!(["say", "{title}"]); "a notifier of one's own")]
fn k2_rules_allow(pointer: &str, value: &Value) {
    let text = with(pointer, value.clone());
    given(&text).unwrap();
}

#[test]
fn short_forms_mean_the_long_ones() {
    let config = given(&with("/confinement", json!("partial"))).unwrap().config;
    assert_eq!(config.confinement_mode(Lane::Local), ConfinementMode::Partial);
    let config = given(&with("/commit", json!({ "identity": "A B <a@b>" }))).unwrap().config;
    let identity = Identity { name: "A B".to_owned(), email: "a@b".to_owned() };
    assert_eq!(config.commit.identity, Some(identity));
}

#[test]
fn k2_capacity_above_the_slots_is_a_warning() {
    let loaded = given(&with("/lanes/frontier/maxParallel", json!(2))).unwrap();
    assert_eq!(
        loaded.warnings[0].to_string(),
        "lanes.json: slots: the lanes may run 2 tasks at once and there are 1 slots: some capacity is never used"
    );
}

#[test]
fn given_values_are_told_from_defaults() {
    let loaded = given(&with("/gc", json!({ "keepDays": 30 }))).unwrap();
    assert!(loaded.given.contains("gc.keepDays"));
    assert!(!loaded.given.contains("language"));
}

#[test]
fn lane_settings_are_read_from_the_recorded_older_files() {
    let local = include_str!("../../../../fixtures/config/older-local.settings.json");
    let settings = load_lane_settings(local, Utf8Path::new("l.json"), Lane::Local).unwrap();
    assert_eq!(settings.model.as_deref(), Some("qwen/qwen3-coder-30b"));
    assert_eq!(settings.env["ANTHROPIC_BASE_URL"], "http://localhost:1234");
    assert_eq!(settings.allow.len(), 5);
    assert_eq!(settings.deny, ["Bash(git push:*)", "Edit(.claude/**)"]);
    let frontier = include_str!("../../../../fixtures/config/older-frontier.settings.json");
    let settings = load_lane_settings(frontier, Utf8Path::new("f.json"), Lane::Frontier).unwrap();
    assert_eq!((settings.model, settings.allow.len(), settings.deny.len()), (None, 7, 4));
}

#[test]
fn k2_lane_settings_errors_are_collected_and_show_no_secret() {
    let text = r#"{ "model": "-x", "env": { "A": 1, "B=": "x" }, "permissions": { "allow": ["Read", 3], "deny": "Bash" } }"#;
    let errors = load_lane_settings(text, Utf8Path::new("l.json"), Lane::Local).unwrap_err();
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(errors.join("\n"), @r#"
    l.json: model: found `"-x"`; expected a model name (not beginning with `-`, no blanks)
    l.json: env.A: found `a value that is no text`; expected a text without a NUL
    l.json: env.B=: found `B=`; expected a name without `=`
    l.json: permissions.allow[1]: found `3`; expected a permission rule
    l.json: permissions.deny: found `"Bash"`; expected a list of permission rules
    "#);
}

#[test_case("{}", Lane::Local, 2; "the local lane needs a model and an allow list")]
#[test_case("{}", Lane::Frontier, 0; "the frontier lane does not")]
#[test_case("{ \"model\": 3 }", Lane::Frontier, 0; "the frontier lane ignores the model")]
#[test_case("{ \"permissions\": [] }", Lane::Frontier, 2; "permissions that are a list")]
#[test_case("{ \"permissions\": { \"allow\": null } }", Lane::Frontier, 1; "an allow list that is null")]
fn lane_settings_need(text: &str, lane: Lane, count: usize) {
    let found = load_lane_settings(text, Utf8Path::new("l.json"), lane);
    assert_eq!(found.err().map_or(0, |errors| errors.len()), count);
}

#[test]
fn the_schema_lists_every_top_level_key_with_its_default() {
    let schema = schema();
    assert_eq!(schema.pointer("/properties/gc/properties/keepDays/default"), Some(&json!(30)));
    assert_eq!(schema.pointer("/properties/attempts/default"), None);
    assert_eq!(
        schema.pointer("/required"),
        Some(&json!(["slotsRoot", "slots", "attempts", "lanes"]))
    );
}

/// Any JSON value of small size.
fn arb_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z./*{}-]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::btree_map("(env|mode|[a-z]{1,4})", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// K2: what would be read and then do nothing is refused with what to do instead.
#[test_case("/checks/caches", json!(["target"]), "checks.caches"; "caches")]
#[test_case("/vcs/submodules", json!(true), "vcs.submodules"; "submodules")]
#[test_case("/provision/keep", json!([".claude"]), "resetBeforeAttempt"; "a file to reset in a kept folder")]
fn k2_a_value_without_effect_is_refused(at: &str, value: Value, named: &str) {
    let mut example: Value = serde_json::from_str(EXAMPLE).unwrap();
    *example.pointer_mut(at).unwrap() = value;
    let errors = given(&example.to_string()).unwrap_err();
    let paths: Vec<&str> = errors.iter().map(|error| error.path.as_str()).collect();
    assert_eq!(paths, [named]);
}

proptest! {
    /// Whatever stands at a key, the file loads or the faults name that key; the types never refuse what the shapes took.
    #[test]
    fn k2_any_value_at_any_key_loads_or_is_named(which in any::<prop::sample::Index>(), value in arb_json()) {
        let mut paths = Vec::new();
        key_paths(&ROOT, "", &mut paths);
        paths.retain(|path| !path.contains("/0"));
        let path = which.get(&paths);
        let mut example: Value = serde_json::from_str(EXAMPLE).unwrap();
        let Some(place) = example.pointer_mut(path) else { return Ok(()) };
        *place = value;
        let name = path.trim_start_matches('/').replace('/', ".");
        if let Err(errors) = given(&example.to_string()) {
            for error in errors {
                let between = ["slotsRoot", "ports.base", "agent.credential", "resetBeforeAttempt"];
                let about = error.path.starts_with(&name) || name.starts_with(&error.path)
                    || between.contains(&error.path.as_str())
                    || error.to_string().contains("`slotsRoot`");
                prop_assert!(about, "{path}: {error}");
                let typed = matches!(&error.fault, Fault::Wrong { expected, .. } if expected == "a value of the right form");
                prop_assert!(!typed, "{path}: {error}");
            }
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,60}") {
        drop(given(&text));
        drop(load_lane_settings(&text, Utf8Path::new("l.json"), Lane::Local));
    }
}

/// The examples that people copy are files that load.
#[test]
fn the_examples_of_the_documentation_load() {
    let (readme, page) =
        (include_str!("../../../../README.md"), include_str!("../../../../docs/setup.md"));
    let blocks = |text: &'static str| {
        let rest = text.split("```json\n").skip(1);
        rest.map(|rest| rest.split_once("```").unwrap().0).collect::<Vec<_>>()
    };
    let place = Location { file: "lanes.json".into(), found: Found::Given, board_dir: None };
    let loaded = load(blocks(readme)[0], &place).unwrap();
    assert_eq!(loaded.warnings, []);
    let settings = |text, lane| load_lane_settings(text, "s.json".into(), lane).unwrap();
    assert_eq!(settings(blocks(readme)[1], Lane::Frontier).allow.len(), 2);
    assert!(settings(blocks(page)[0], Lane::Local).model.is_some());
}

#[test]
fn k2_a_value_that_is_not_acted_on_is_told_where_it_is_given() {
    let warned = |text: &str| -> Vec<String> {
        given(text).unwrap().warnings.iter().map(ToString::to_string).collect()
    };
    assert_eq!(warned(MINIMAL), [""; 0]);
    for (text, name) in [
        (with("/gc/keepDays", json!(30)), "gc.keepDays"),
        (with("/ledger/review", json!("solo")), "ledger"),
    ] {
        let said = warned(&text).join("\n");
        assert!(said.starts_with(&format!("lanes.json: {name}: has no effect")), "{said}");
    }
}
