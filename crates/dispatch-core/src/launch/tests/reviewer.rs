//! C7.1: how a reviewer is started.

use super::*;

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
