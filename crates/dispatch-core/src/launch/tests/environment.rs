//! D7.6: what a worker and a check find in their environment.

use super::*;

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
