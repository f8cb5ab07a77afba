use std::collections::BTreeMap;

use camino::Utf8Path;
use test_case::test_case;

use super::*;
use crate::config::{Config, Credential, LaneSettings, SettingSource, load_lane_settings};
use crate::id::TaskId;
use crate::names::PauseCause;
use crate::slot::SlotName;
use crate::testing::config;
use crate::triage::Lane;

const LOCAL_SETTINGS: &str = include_str!("../../../../fixtures/config/older-local.settings.json");
const FRONTIER_SETTINGS: &str =
    include_str!("../../../../fixtures/config/older-frontier.settings.json");

struct Case {
    id: TaskId,
    lane: Lane,
    model: String,
    config: Config,
    settings: LaneSettings,
    rules: Rules,
    slot: SlotName,
    system_prompt: String,
    person: BTreeMap<String, String>,
}

impl Case {
    fn new(lane: Lane) -> Self {
        let (text, model) = match lane {
            Lane::Local => (LOCAL_SETTINGS, "qwen/qwen3-coder-30b"),
            Lane::Frontier => (FRONTIER_SETTINGS, "sonnet"),
        };
        let settings = load_lane_settings(text, Utf8Path::new("x.json"), lane).unwrap();
        let mut allow = settings.allow.clone();
        allow.push("Bash(/opt/dispatch/worker-edit T-5:*)".to_owned());
        allow.push("Bash(cargo test -p hello:*)".to_owned());
        let mut deny = settings.deny.clone();
        deny.extend(built_in_deny(lane, &settings.allow));
        let person = [
            ("PATH", "/usr/bin:/bin"),
            ("HOME", "/home/me"),
            ("LANG", "C.UTF-8"),
            ("CLAUDE_CODE_OAUTH_TOKEN", "s3cret-account"),
            ("ANTHROPIC_API_KEY", "s3cret-stale"),
            ("GITHUB_TOKEN", "s3cret-forge"),
            ("CLAUDECODE", "1"),
        ];
        Self {
            id: TaskId::parse("T-5").unwrap(),
            lane,
            model: model.to_owned(),
            config: config(),
            settings,
            rules: Rules { allow, deny, ..Rules::default() },
            slot: SlotName::parse("dispatch-2").unwrap(),
            system_prompt: "/code/backlog/.dispatch/T-5/attempt-1/system-prompt.md".to_owned(),
            person: person.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        }
    }

    fn build(&self) -> Result<Launch, LaunchRefusal> {
        build_launch(&LaunchRequest {
            id: &self.id,
            lane: self.lane,
            model: &self.model,
            config: &self.config,
            settings: &self.settings,
            rules: &self.rules,
            places: WorkerPlaces {
                slot: "/code/.claude/worktrees/dispatch-2".into(),
                board_root: "/code".into(),
                home: "/tmp/d/a/h".into(),
                temporary: "/tmp/d/a/t".into(),
                configuration: "/tmp/d/a/c".into(),
                mailbox: "/tmp/d/a/t/mail".into(),
                caches: None,
                prompt: "/code/backlog/.dispatch/T-5/attempt-1/prompt.md".into(),
                system_prompt: Utf8Path::new(&self.system_prompt),
            },
            slot: SlotPosition { name: &self.slot, index: 1 },
            marker: "T-5.1.7f3a",
            person: &self.person,
        })
    }
}

fn lines(launch: &Launch) -> String {
    launch.argv.join("\n")
}

#[test]
fn d7_2_the_local_lane_s_command_line() {
    insta::assert_snapshot!(lines(&Case::new(Lane::Local).build().unwrap()), @"
    -p
    --bare
    --strict-mcp-config
    --setting-sources

    --disable-slash-commands
    --no-session-persistence
    --append-system-prompt-file
    /code/backlog/.dispatch/T-5/attempt-1/system-prompt.md
    --permission-mode
    dontAsk
    --allowedTools
    Read
    Edit(**)
    Write
    Glob
    Grep
    Bash(/opt/dispatch/worker-edit T-5:*)
    Bash(cargo test -p hello:*)
    --disallowedTools
    Bash(git push:*)
    Edit(.claude/**)
    --effort
    medium
    --max-turns
    60
    --output-format
    stream-json
    --verbose
    --model
    qwen/qwen3-coder-30b
    ");
}

#[test]
fn d7_3_the_frontier_lane_s_command_line() {
    insta::assert_snapshot!(lines(&Case::new(Lane::Frontier).build().unwrap()), @"
    -p
    --setting-sources

    --strict-mcp-config
    --append-system-prompt-file
    /code/backlog/.dispatch/T-5/attempt-1/system-prompt.md
    --permission-mode
    dontAsk
    --allowedTools
    Read
    Edit(**)
    Write
    Bash(openspec:*)
    Bash(git status:*)
    Bash(git diff:*)
    Bash(git log:*)
    Bash(/opt/dispatch/worker-edit T-5:*)
    Bash(cargo test -p hello:*)
    --disallowedTools
    Bash(git push:*)
    Bash(git commit:*)
    Bash(gh:*)
    Edit(.claude/**)
    CronCreate
    CronDelete
    CronList
    EnterWorktree
    ExitWorktree
    ScheduleWakeup
    SendMessage
    WebFetch
    WebSearch
    Workflow
    --max-turns
    200
    --output-format
    stream-json
    --verbose
    --model
    sonnet
    ");
}

#[test]
fn d7_3_budget_and_sources_are_passed_when_configured() {
    let mut case = Case::new(Lane::Frontier);
    case.config.lanes.frontier.max_budget_usd = Some(2.5);
    case.config.lanes.frontier.setting_sources = SettingSource::ALL.to_vec();
    let argv = lines(&case.build().unwrap());
    assert!(argv.contains("--max-turns\n200\n--max-budget-usd\n2.5\n--output-format"), "{argv}");
    assert!(argv.starts_with("-p\n--setting-sources\nuser,project\n--strict-mcp-config"), "{argv}");
}

#[test]
fn d7_4_empty_lists_are_passed_as_an_empty_argument() {
    let mut case = Case::new(Lane::Local);
    case.rules = Rules::default();
    let argv = lines(&case.build().unwrap());
    assert!(argv.contains("--allowedTools\n\n--disallowedTools\n\n--effort"), "{argv}");
}

#[test]
fn d7_6_the_worker_s_environment() {
    let launch = Case::new(Lane::Frontier).build().unwrap();
    let env: Vec<String> = launch
        .environment
        .variables
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    insta::assert_snapshot!(env.join("\n"), @"
    ANTHROPIC_DEFAULT_OPUS_MODEL=claude-opus-4-1
    BACKLOG_CWD=/code
    BACKLOG_DISPATCH_ACTIVE=1
    CARGO_HOME=/tmp/d/a/h/.cache/cargo
    CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
    CLAUDE_CODE_OAUTH_TOKEN=s3cret-account
    CLAUDE_CODE_TMPDIR=/tmp/d/a/t
    CLAUDE_CONFIG_DIR=/tmp/d/a/c
    CLAUDE_PROJECT_DIR=/code/.claude/worktrees/dispatch-2
    DISABLE_AUTOUPDATER=1
    DISPATCH_ATTEMPT=T-5.1.7f3a
    DISPATCH_MAILBOX=/tmp/d/a/t/mail
    DISPATCH_PORT_BASE=42020
    DISPATCH_SLOT=dispatch-2
    DISPATCH_SLOT_INDEX=1
    DISPATCH_TASK_ID=T-5
    HOME=/tmp/d/a/h
    LANG=C.UTF-8
    PATH=/usr/bin:/bin
    RUSTUP_HOME=/home/me/.rustup
    TMPDIR=/tmp/d/a/t
    ");
    assert_eq!(launch.account, Account::Variable("CLAUDE_CODE_OAUTH_TOKEN".to_owned()));
}

#[test]
fn d7_6_the_local_lane_s_provider_does_not_get_the_account() {
    let launch = Case::new(Lane::Local).build().unwrap();
    assert_eq!(launch.account, Account::Settings);
    let values: Vec<&String> = launch.environment.variables.values().collect();
    assert!(values.iter().all(|value| !value.contains("s3cret")));
    assert_eq!(launch.environment.variables["ANTHROPIC_BASE_URL"], "http://localhost:1234");
    let mut case = Case::new(Lane::Local);
    case.config.agent.credential = Credential::Helper(vec!["/bin/key".to_owned()]);
    assert!(!lines(&case.build().unwrap()).contains("--settings\n"));
}

#[test]
fn d7_6_a_credential_helper_is_named_in_settings_and_nothing_is_in_the_environment() {
    let mut case = Case::new(Lane::Frontier);
    case.config.agent.credential =
        Credential::Helper(vec!["/usr/local/bin/get key".to_owned(), "it's".to_owned()]);
    let launch = case.build().unwrap();
    let at = launch.argv.iter().position(|word| word == "--settings").unwrap();
    let settings: serde_json::Value = serde_json::from_str(&launch.argv[at + 1]).unwrap();
    let line = settings["apiKeyHelper"].as_str().unwrap();
    assert_eq!(shlex::split(line).unwrap(), ["/usr/local/bin/get key", "it's"]);
    let mut values = launch.environment.variables.values();
    assert!(values.all(|value| !value.contains("s3cret")));
    assert_eq!(launch.account, Account::Helper);
}

#[test]
fn d7_6_a_missing_credential_is_said() {
    let mut case = Case::new(Lane::Frontier);
    case.person.insert("CLAUDE_CODE_OAUTH_TOKEN".to_owned(), String::new());
    let launch = case.build().unwrap();
    assert_eq!(launch.account, Account::MissingVariable("CLAUDE_CODE_OAUTH_TOKEN".to_owned()));
    assert!(!launch.environment.variables.contains_key("CLAUDE_CODE_OAUTH_TOKEN"));
}

#[test]
fn d7_6_the_record_of_a_launch_holds_no_secret() {
    for lane in [Lane::Local, Lane::Frontier] {
        let mut case = Case::new(lane);
        case.settings.env.insert("MY_API_KEY".to_owned(), "s3cret-lane".to_owned());
        let record = case.build().unwrap().record().to_string();
        assert!(!record.contains("s3cret") && !record.contains("lmstudio"), "{record}");
        assert!(record.contains("MY_API_KEY"));
    }
}

#[test]
fn n19_n68_d7_5_a_relative_system_prompt_is_refused_where_it_is_used() {
    let mut case = Case::new(Lane::Local);
    case.system_prompt = "system-prompt.md".to_owned();
    let refusal = case.build().unwrap_err();
    assert_eq!(refusal.because_of, RefusedBecauseOf::Lane(PauseCause::LaunchRefused));
    insta::assert_snapshot!(refusal, @"cannot launch a worker: the system prompt `system-prompt.md` is not an absolute path: the agent would look for it in the slot, where a worker writes");
}

#[test_case(Lane::Local, &["Edit(**)", "Bash(ls:*)"]; "no reading")]
#[test_case(Lane::Local, &["Read", "Bash(ls:*)"]; "no writing")]
#[test_case(Lane::Local, &["Read", "Write"]; "a tool the bare mode does not have")]
#[test_case(Lane::Frontier, &["Read"]; "no writing on the frontier lane")]
fn n20_d7_5_a_lane_without_file_tools_is_refused(lane: Lane, allow: &[&str]) {
    let mut case = Case::new(lane);
    case.settings.allow = allow.iter().map(ToString::to_string).collect();
    let refusal = case.build().unwrap_err();
    assert_eq!(refusal.because_of, RefusedBecauseOf::Lane(PauseCause::LaunchRefused));
    assert!(refusal.why.contains("permissions.allow"), "{refusal}");
}

#[test]
fn d7_5_refused_rules_of_the_lane_come_before_those_of_the_task() {
    let mut case = Case::new(Lane::Local);
    case.rules.task_faults = vec!["`Bash(make * x:*)` matches nothing".to_owned()];
    assert_eq!(case.build().unwrap_err().because_of, RefusedBecauseOf::Task);
    case.rules.lane_faults = vec!["`Bash (x:*)` grants everything".to_owned()];
    assert_eq!(
        case.build().unwrap_err().because_of,
        RefusedBecauseOf::Lane(PauseCause::LaunchRefused)
    );
}

#[test]
fn p4_4_lists_that_do_not_fit_pause_the_lane_for_that() {
    let mut case = Case::new(Lane::Frontier);
    case.rules.too_long = Some("the lists take 900000 bytes".to_owned());
    let refusal = case.build().unwrap_err();
    assert_eq!(refusal.because_of, RefusedBecauseOf::Lane(PauseCause::DenyListTooLong));
    assert!(refusal.why.contains("900000"), "{refusal}");
}

#[test_case("-p"; "an option")]
#[test_case("a b"; "a blank")]
#[test_case(""; "nothing")]
fn d7_5_a_model_that_is_no_value_is_refused(model: &str) {
    let mut case = Case::new(Lane::Frontier);
    case.model = model.to_owned();
    assert!(case.build().is_err());
}

#[test_case("--dangerously-skip-permissions"; "an option")]
#[test_case("Bash(a:*)\nBash(b:*)"; "two rules on two lines are one dead rule")]
#[test_case(" "; "a blank")]
fn d7_5_a_rule_that_is_no_argument_is_refused(rule: &str) {
    let mut case = Case::new(Lane::Frontier);
    case.rules.deny.push(rule.to_owned());
    assert!(case.build().is_err());
}

#[test]
fn d7_6_neither_settings_nor_passthrough_set_what_is_ours() {
    let mut case = Case::new(Lane::Frontier);
    case.settings.env.insert("CLAUDE_CONFIG_DIR".to_owned(), "/home/me/.claude".to_owned());
    assert!(case.build().unwrap_err().why.contains("env.CLAUDE_CONFIG_DIR"));
    let mut case = Case::new(Lane::Frontier);
    case.config.lanes.frontier.env_passthrough = vec!["HOME".to_owned()];
    assert!(case.build().unwrap_err().why.contains("envPassthrough"));
}

#[test]
fn d7_6_a_passed_prefix_never_sets_what_is_ours() {
    let mut case = Case::new(Lane::Frontier);
    case.config.lanes.frontier.env_passthrough = vec!["DISPATCH_*".to_owned()];
    case.person.insert("DISPATCH_TASK_ID".to_owned(), "T-99".to_owned());
    assert_eq!(case.build().unwrap().environment.variables["DISPATCH_TASK_ID"], "T-5");
}

#[test]
fn p5_8_the_frontier_lane_denies_what_is_free_and_harmful_unless_the_lane_grants_it() {
    let allow = ["WebFetch(domain:docs.rs)".to_owned()];
    let deny = built_in_deny(Lane::Frontier, &allow);
    assert!(deny.contains(&"CronCreate".to_owned()) && deny.contains(&"WebSearch".to_owned()));
    assert!(!deny.contains(&"WebFetch".to_owned()));
    assert!(built_in_deny(Lane::Local, &[]).is_empty());
}

#[test]
fn d9_11_the_expected_surface_follows_the_lists() {
    let launch = Case::new(Lane::Frontier).build().unwrap();
    let tools = &launch.expected.tools;
    for (tool, expected) in [
        ("Read", true),
        ("Task", true),
        ("CronCreate", false),
        ("WebFetch", false),
        ("Glob", false),
    ] {
        assert_eq!(tools.contains(tool), expected, "{tool}");
    }
    let surface = expected_surface(
        Lane::Local,
        &["mcp__docs".to_owned(), "Glob".to_owned()],
        &["Bash".to_owned(), "Edit(.git/**)".to_owned()],
    );
    let tools: Vec<&str> = surface.tools.iter().map(String::as_str).collect();
    assert_eq!(tools, ["Edit", "Glob", "Read", "mcp__docs", "mcp__docs__*"]);
}

/// What version 2.1.197 lists when it is started with this lane's flags and deny list.
#[test]
fn d9_11_the_frontier_lane_s_own_flags_are_no_mismatch() {
    let listed = [
        "Task",
        "Bash",
        "Edit",
        "NotebookEdit",
        "Read",
        "ReportFindings",
        "Skill",
        "TaskCreate",
        "TaskGet",
        "TaskList",
        "TaskOutput",
        "TaskStop",
        "TaskUpdate",
        "Write",
    ];
    let init = crate::stream::Init {
        tools: listed.map(str::to_owned).to_vec(),
        permission_mode: Some("dontAsk".to_owned()),
        ..crate::stream::Init::default()
    };
    let launch = Case::new(Lane::Frontier).build().unwrap();
    assert_eq!(crate::outcome::surface_mismatch(&init, &launch.expected), None);
}

#[test]
fn n33_c7_1_the_reviewer_s_command_line_and_environment() {
    let case = Case::new(Lane::Local);
    let places = Places { home: "/tmp/d/r/h".into(), temporary: "/tmp/d/r/t".into(), caches: None };
    let launch = reviewer_launch(
        &case.config,
        Lane::Local,
        &case.person,
        places,
        "/tmp/d/r/c".into(),
        "/code/.claude/worktrees/dispatch-2.verify".into(),
    )
    .unwrap();
    let env: Vec<String> = launch
        .environment
        .variables
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    insta::assert_snapshot!(format!("{}\n\n{}", launch.argv.join("\n"), env.join("\n")), @r#"
    -p
    --strict-mcp-config
    --setting-sources

    --disable-slash-commands
    --no-session-persistence
    --permission-mode
    dontAsk
    --tools
    Read
    --allowedTools

    --disallowedTools
    Bash
    Edit
    Write
    NotebookEdit
    Agent
    Task
    CronCreate
    CronDelete
    CronList
    EnterWorktree
    ExitWorktree
    ScheduleWakeup
    SendMessage
    WebFetch
    WebSearch
    Workflow
    --max-turns
    40
    --json-schema
    {"type":"object","properties":{"token":{"type":"string"},"verdict":{"type":"string","enum":["approve","request-changes"]},"findings":{"type":"array","items":{"type":"string"}}},"required":["token","verdict","findings"],"additionalProperties":false}
    --output-format
    json
    --model
    sonnet

    BACKLOG_DISPATCH_ACTIVE=1
    CARGO_HOME=/tmp/d/r/h/.cache/cargo
    CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
    CLAUDE_CODE_OAUTH_TOKEN=s3cret-account
    CLAUDE_CODE_TMPDIR=/tmp/d/r/t
    CLAUDE_CONFIG_DIR=/tmp/d/r/c
    DISABLE_AUTOUPDATER=1
    HOME=/tmp/d/r/h
    LANG=C.UTF-8
    PATH=/usr/bin:/bin
    RUSTUP_HOME=/home/me/.rustup
    TMPDIR=/tmp/d/r/t
    "#);
    let no_reviewer = reviewer_launch(
        &case.config,
        Lane::Frontier,
        &case.person,
        places,
        "/c".into(),
        "/t".into(),
    );
    assert_eq!(no_reviewer, None);
}

#[test]
fn c5_3_checks_get_what_is_passed_through_but_not_the_account() {
    let mut case = Case::new(Lane::Frontier);
    case.config.agent.credential = Credential::Env("COMPANY_MODEL_TOKEN".to_owned());
    let account = ["COMPANY_MODEL_TOKEN", "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"];
    let passed = ["APP_MODE", "NPM_TOKEN"];
    for name in account.iter().chain(&passed) {
        case.person.insert((*name).to_owned(), format!("value of {name}"));
        case.config.lanes.frontier.env_passthrough.push((*name).to_owned());
    }
    let places = Places { home: "/h".into(), temporary: "/t".into(), caches: Some("/c".into()) };
    let slot = SlotPosition { name: &case.slot, index: 1 };
    let environment = command_environment(&case.person, &case.config, Lane::Frontier, places, slot);
    for name in account {
        assert_eq!(environment.variables.get(name), None);
    }
    for name in passed {
        assert_eq!(environment.variables[name], format!("value of {name}"));
    }
    assert_eq!(environment.secret.iter().collect::<Vec<_>>(), ["NPM_TOKEN"]);
    assert_eq!(environment.variables["DISPATCH_PORT_BASE"], "42020");
}
