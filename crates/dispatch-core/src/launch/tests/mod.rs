mod environment;
mod reviewer;

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

const LOCAL_SETTINGS: &str =
    include_str!("../../../../../fixtures/config/older-local.settings.json");
const FRONTIER_SETTINGS: &str =
    include_str!("../../../../../fixtures/config/older-frontier.settings.json");

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

/// N22.
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

/// N21.
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
