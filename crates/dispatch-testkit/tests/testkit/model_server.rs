//! A real `claude` talks to the scripted model.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_testkit::json;
use dispatch_testkit::model_server::{Cut, Gate, Lane, ModelServer, Turn};
use dispatch_testkit::programs::{self, Peer};
use dispatch_testkit::scratch::Scratch;
use serde_json::Value;

/// A folder to work in and a home beside it.
struct Desk {
    scratch: Scratch,
    work: Utf8PathBuf,
}

impl Desk {
    fn new() -> Self {
        let scratch = Scratch::new();
        let work = scratch.dir("work");
        Self { scratch, work }
    }

    fn claude(
        &self,
        claude: &Utf8Path,
        model: &ModelServer,
        more: &[&str],
    ) -> std::process::Command {
        let mut command = programs::command(claude, &self.scratch.home());
        command
            .env_clear()
            .envs(programs::claude_environment(&self.scratch.home(), &model.base_url()))
            .args(["-p", "Please work on TASK-1.", "--bare", "--strict-mcp-config"])
            .args([
                "--setting-sources",
                "",
                "--disable-slash-commands",
                "--permission-mode",
                "dontAsk",
            ])
            .args(["--model", "sonnet", "--output-format", "stream-json", "--verbose"])
            .args(["--allowedTools=Read,Edit(./**),Bash(echo:*)"])
            .args(more)
            .stdin(Stdio::null())
            .current_dir(&self.work);
        command
    }
}

/// The last result event of a stream.
fn result(stream: &[u8]) -> Value {
    let lines = String::from_utf8_lossy(stream);
    let mut events = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    events.rfind(|event| event["type"] == "result").expect("a result event")
}

#[test]
fn claude_runs_the_scripted_turns_in_order() {
    let Some(claude) = programs::find(Peer::Claude) else { return };
    let desk = Desk::new();
    let model = ModelServer::start([Lane::worker("task").when_said("TASK-1").turns([
        Turn::bash("echo hello"),
        Turn::new_file("notes/new.txt", "written\n"),
        Turn::text("All done.").usage(100, 7),
    ])]);

    let output = programs::output(&mut desk.claude(&claude, &model, &[]));

    let result = result(&output.stdout);
    assert_eq!((&result["result"], &result["is_error"]), (&json!("All done."), &json!(false)));
    assert_eq!(std::fs::read_to_string(desk.work.join("notes/new.txt")).unwrap(), "written\n");
    let asked = model.requests_of("task");
    assert_eq!(asked.len(), 3);
    assert_eq!(asked[0].cwd().as_deref(), Some(desk.work.as_str()));
    assert_eq!(asked[0].tools(), ["Bash", "Edit", "Read"]);
    assert_eq!(asked[1].tool_results(), [("hello".to_owned(), false)]);
    assert!(model.strangers().is_empty());
}

#[test]
fn a_reviewer_is_told_apart_from_a_worker() {
    let Some(claude) = programs::find(Peer::Claude) else { return };
    let desk = Desk::new();
    let model = ModelServer::start([
        Lane::reviewer("review").turn(Turn::verdict(&json!({"verdict": "pass"}))),
        Lane::worker("work").turn(Turn::text("I am the worker.")),
    ]);
    let schema =
        r#"{"type":"object","properties":{"verdict":{"type":"string"}},"required":["verdict"]}"#;

    let review = programs::output(&mut desk.claude(&claude, &model, &["--json-schema", schema]));
    let work = programs::output(&mut desk.claude(&claude, &model, &[]));

    assert_eq!(result(&review.stdout)["structured_output"], json!({"verdict": "pass"}));
    assert_eq!(result(&work.stdout)["result"], "I am the worker.");
    assert_eq!((model.requests_of("review").len(), model.requests_of("work").len()), (1, 1));
}

#[test]
fn an_api_error_reaches_the_client_as_its_status() {
    let Some(claude) = programs::find(Peer::Claude) else { return };
    let desk = Desk::new();
    for status in [400_u16, 401, 429, 529] {
        let refusal = Turn::error_saying(status, "scripted").header("x-should-retry", "false");
        let model = ModelServer::start([Lane::new("any").turn(refusal)]);

        let output = programs::output(&mut desk.claude(&claude, &model, &[]));

        let result = result(&output.stdout);
        assert_eq!(result["api_error_status"], json!(status));
        assert_eq!(result["is_error"], json!(true));
        assert_eq!(output.status.code(), Some(1));
    }
}

#[test]
fn a_request_that_fits_no_lane_is_refused_and_kept() {
    let Some(claude) = programs::find(Peer::Claude) else { return };
    let desk = Desk::new();
    let model = ModelServer::start([Lane::new("other").when_said("TASK-2").turn(Turn::text("no"))]);

    let output = programs::output(&mut desk.claude(&claude, &model, &[]));

    assert_eq!(result(&output.stdout)["api_error_status"], json!(400));
    assert_eq!(model.strangers().len(), 1);
    assert!(model.requests_of("other").is_empty());
}

#[test]
fn a_gate_holds_an_answer_until_the_test_has_acted() {
    let Some(claude) = programs::find(Peer::Claude) else { return };
    let desk = Desk::new();
    let gate = Gate::new();
    let model = ModelServer::start([Lane::new("any").turn(Turn::text("late").behind(&gate))]);

    let mut child = desk.claude(&claude, &model, &[]).stdout(Stdio::piped()).spawn().unwrap();
    gate.wait_for(1);
    assert!(child.try_wait().unwrap().is_none(), "the client still waits");
    gate.open();

    let output = child.wait_with_output().unwrap();
    assert_eq!(result(&output.stdout)["result"], "late");
}

#[test]
fn an_answer_cut_off_anywhere_fails_the_run() {
    let Some(claude) = programs::find(Peer::Claude) else { return };
    let desk = Desk::new();
    for cut in [Cut::AtOnce, Cut::Middle] {
        let model = ModelServer::start([Lane::new("any").turn(Turn::text("half").cut(cut))]);

        let output = programs::output(&mut desk.claude(&claude, &model, &[]));

        assert_eq!(result(&output.stdout)["is_error"], json!(true), "{cut:?}");
    }
}

#[test]
fn a_hanging_model_ends_with_the_server() {
    let Some(claude) = programs::find(Peer::Claude) else { return };
    let desk = Desk::new();
    let model = ModelServer::start([Lane::new("any").turn(Turn::hang())]);
    let mut child = desk.claude(&claude, &model, &[]).stdout(Stdio::null()).spawn().unwrap();
    model.wait_for("any", 1);

    let begun = Instant::now();
    drop(model);

    assert!(
        begun.elapsed() < Duration::from_secs(10),
        "dropping the model does not wait for clients"
    );
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_turn_can_act_on_the_world_before_it_answers() {
    let Some(claude) = programs::find(Peer::Claude) else { return };
    let desk = Desk::new();
    let file = desk.work.join("meanwhile.txt");
    let model = ModelServer::start([Lane::new("any").turn(Turn::made(move |request| {
        std::fs::write(&file, request.prompt()).unwrap();
        Turn::text("seen")
    }))]);

    programs::output(&mut desk.claude(&claude, &model, &[]));

    let written = std::fs::read_to_string(desk.work.join("meanwhile.txt")).unwrap();
    assert!(written.contains("Please work on TASK-1."));
}

#[test]
fn a_local_model_is_listed_with_its_present_state() {
    let model = ModelServer::start([]);
    model.load_local("qwen", "not-loaded");
    model.load_local("qwen", "loaded");
    let mut stream = TcpStream::connect(("127.0.0.1", model.port())).unwrap();
    stream
        .write_all(b"GET /api/v0/models HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        .unwrap();

    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();

    let body: Value = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
    assert_eq!(
        (&body["data"][0]["id"], &body["data"][0]["state"]),
        (&json!("qwen"), &json!("loaded"))
    );
    assert_eq!(body["data"].as_array().unwrap().len(), 1);
}

#[test]
fn the_board_command_is_found_in_the_prompt() {
    let Some(claude) = programs::find(Peer::Claude) else { return };
    let desk = Desk::new();
    let model = ModelServer::start([
        Lane::new("any").turns([Turn::worker_edit("--check-ac 1"), Turn::text("Done.")])
    ]);
    let prompt = "Tick criteria with `/opt/dispatch/worker-edit T-5.1`.";

    let mut command = desk.claude(&claude, &model, &["--append-system-prompt", prompt]);
    let output = programs::output(&mut command);

    let denied = &result(&output.stdout)["permission_denials"][0]["tool_input"]["command"];
    assert_eq!(*denied, json!("/opt/dispatch/worker-edit T-5.1 --check-ac 1"));
}
