//! The real agent as a worker.

use std::ffi::OsString;
use std::fs;

use camino::Utf8Path;
use dispatch_agent::{ClaudeAgent, ClaudeSettings};
use dispatch_core::attempt::AttemptNumber;
use dispatch_core::outcome::StreamSummary;
use dispatch_engine::ports::{Agent, AgentLaunch, ExitMark, PrivatePlace};
use dispatch_proc::{StopLimits, find_strays};
use dispatch_testkit::json;
use dispatch_testkit::model_server::{Lane, ModelServer, Turn};
use dispatch_testkit::programs::{self, Peer};
use dispatch_testkit::wait;
use serde_json::Value;

use crate::desk::{Desk, ended, marker};

/// The real agent, started through `session`.
pub(crate) fn agent(desk: &Desk, session: Vec<OsString>) -> Option<ClaudeAgent> {
    let program = programs::find(Peer::Claude)?;
    // Found by its name on the PATH of the launch, as in the product.
    std::os::unix::fs::symlink(program, desk.root.join("bin/claude")).unwrap();
    let stop = StopLimits { interrupt: wait::PATIENCE, ..StopLimits::default() };
    Some(ClaudeAgent::new(ClaudeSettings { stop, session, ..desk.settings() }))
}

pub(crate) fn launch(
    desk: &Desk,
    model: &ModelServer,
    place: &PrivatePlace,
    marker: &str,
) -> AgentLaunch {
    let argv = [
        "-p",
        "--bare",
        "--strict-mcp-config",
        "--setting-sources",
        "",
        "--disable-slash-commands",
        "--no-session-persistence",
        "--permission-mode",
        "dontAsk",
        "--allowedTools",
        "Read",
        "Edit(./**)",
        "Bash(sleep:*)",
        "Bash(./leave:*)",
        "--disallowedTools",
        "",
        "--max-turns",
        "8",
        "--output-format",
        "stream-json",
        "--verbose",
        "--model",
        "sonnet",
    ];
    let mut launch = desk.launch(&argv, marker);
    let own = ["PATH", "HOME", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_TMPDIR", "TMPDIR"];
    launch.env.extend(
        programs::claude_environment(&desk.root, &model.base_url())
            .into_iter()
            .filter(|(name, _)| !own.contains(&name.as_str())),
    );
    let folders = [
        ("HOME", &place.home),
        ("CLAUDE_CONFIG_DIR", &place.configuration),
        ("CLAUDE_CODE_TMPDIR", &place.temporary),
        ("TMPDIR", &place.temporary),
    ];
    launch.env.extend(folders.map(|(name, folder)| (name.to_owned(), folder.to_string())));
    launch
}

pub(crate) fn last_result(stream: &Utf8Path) -> Option<Value> {
    let text = fs::read_to_string(stream).unwrap();
    let mut events = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    events.rfind(|event| event["type"] == json!("result"))
}

#[test]
fn a_worker_works_in_its_slot_and_its_stream_is_followed() {
    let desk = Desk::new();
    let Some(agent) = agent(&desk, desk.settings().session) else { return };
    let model = ModelServer::start([Lane::worker("work")
        .turn(Turn::new_file("made.txt", "by the worker\n"))
        .turn(Turn::text("I am done."))]);
    let place = agent.private_place(&"T-1".parse().unwrap(), AttemptNumber::FIRST).unwrap();
    let launch = launch(&desk, &model, &place, &marker("works"));
    let mut worker = agent.launch(&launch).unwrap();
    let (mut summary, mut from) = (StreamSummary::default(), 0);
    let exit = wait::until_some("the worker's end", || {
        from = agent.read_stream(&launch.stdout, from, &mut summary).unwrap();
        worker.poll().unwrap()
    });
    assert_eq!(exit, ExitMark::Code(0));
    from = agent.read_stream(&launch.stdout, from, &mut summary).unwrap();
    assert_eq!(from, fs::metadata(&launch.stdout).unwrap().len(), "the whole stream was fed");
    summary.end();
    assert_eq!(summary.result.unwrap().text.as_deref(), Some("I am done."));
    assert_eq!(fs::read_to_string(desk.slot.join("made.txt")).unwrap(), "by the worker\n");
    assert_eq!(worker.end_strays().unwrap().ended, 0);
    assert!(fs::read_dir(&place.configuration).unwrap().count() > 0, "it used its own folder");
    agent.remove_private_place(&place).unwrap();
}

/// D9.5: the tool runs in a session of its own; only an interrupt makes the agent end it and report.
#[test]
fn d9_5_a_stopped_worker_ends_its_running_tool_and_leaves_nothing() {
    let desk = Desk::new();
    let Some(agent) = agent(&desk, desk.settings().session) else { return };
    let model = ModelServer::start([Lane::worker("work").turn(Turn::bash("sleep 300"))]);
    let place = agent.private_place(&"T-2".parse().unwrap(), AttemptNumber::FIRST).unwrap();
    let marker = marker("stopped");
    let mut worker = agent.launch(&launch(&desk, &model, &place, &marker)).unwrap();
    let mark = dispatch_proc::StrayMark::Environment {
        name: "DISPATCH_ATTEMPT".into(),
        value: marker.clone(),
    };
    wait::until("the tool to run", || {
        find_strays(&mark).iter().any(|process| {
            fs::read(format!("/proc/{}/cmdline", process.pid))
                .is_ok_and(|line| line.starts_with(b"sleep\x00300"))
        })
    });
    worker.stop().unwrap();
    assert_eq!(find_strays(&mark), []);
    let result = last_result(&desk.root.join("stream.jsonl")).expect("an interrupted run reports");
    assert_eq!(result["is_error"], json!(true));
    agent.remove_private_place(&place).unwrap();
}

/// N30: what a tool put into the background outlives a clean exit of the agent, until the walk.
#[test]
fn what_a_tool_left_in_the_background_is_ended_after_the_worker() {
    let desk = Desk::new();
    let Some(agent) = agent(&desk, desk.settings().session) else { return };
    let model = ModelServer::start([Lane::worker("work")
        .turn(Turn::bash("./leave"))
        .turn(Turn::text("Left something."))]);
    desk.tool("leave", "setsid -f sleep 301 > /dev/null 2>&1");
    let place = agent.private_place(&"T-3".parse().unwrap(), AttemptNumber::FIRST).unwrap();
    let mut worker = agent.launch(&launch(&desk, &model, &place, &marker("background"))).unwrap();
    assert_eq!(ended(&mut *worker), ExitMark::Code(0));
    assert_eq!(worker.end_strays().unwrap().ended, 1);
    agent.remove_private_place(&place).unwrap();
}
