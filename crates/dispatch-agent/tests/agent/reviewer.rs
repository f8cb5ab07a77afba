//! The real agent as a reviewer (C7).

use std::fs;
use std::ops::ControlFlow;
use std::time::Duration;

use dispatch_agent::{ClaudeAgent, ClaudeSettings};
use dispatch_core::launch::VERDICT_SCHEMA;
use dispatch_engine::ports::{Agent, Review, ReviewRequest, Verdict};
use dispatch_testkit::json;
use dispatch_testkit::model_server::{Lane, ModelServer, Turn};
use dispatch_testkit::programs::{self, Peer};
use dispatch_testkit::wait;

use crate::desk::{Desk, QUICK, goes_on, marker};

fn request(desk: &Desk, base_url: &str, name: &str) -> ReviewRequest {
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
        "--disallowedTools",
        "",
        "--json-schema",
        VERDICT_SCHEMA,
        "--output-format",
        "json",
        "--model",
        "sonnet",
    ];
    ReviewRequest {
        argv: argv.map(str::to_owned).into(),
        env: programs::claude_environment(&desk.root, base_url)
            .into_iter()
            .filter(|(name, _)| !name.contains("DIR"))
            .collect(),
        dir: desk.slot.clone(),
        prompt: "Review this diff.\n".into(),
        token: "token-1".into(),
        marker: marker(name),
        limit: wait::PATIENCE,
    }
}

fn agent(desk: &Desk) -> Option<ClaudeAgent> {
    let program = programs::find(Peer::Claude)?.into_string();
    Some(ClaudeAgent::new(ClaudeSettings { program, ..desk.settings() }))
}

#[test]
fn c7_2_a_verdict_is_the_structured_answer_with_the_token() {
    let desk = Desk::new();
    let Some(agent) = agent(&desk) else { return };
    let verdict = json!({"token": "token-1", "verdict": "request-changes", "findings": ["a bug"]});
    let model = ModelServer::start([Lane::reviewer("review").turn(Turn::verdict(&verdict))]);
    let review = agent.review(&request(&desk, &model.base_url(), "verdict"), &mut goes_on);
    let Review::Verdict { verdict, findings, .. } = review else { panic!("{review:?}") };
    assert_eq!((verdict, &*findings), (Verdict::RequestChanges, &["a bug".to_owned()][..]));
    assert!(model.requests_of("review")[0].prompt().contains("Review this diff."));
}

#[test]
fn c7_2_a_forged_token_and_prose_are_no_verdict() {
    let desk = Desk::new();
    let Some(agent) = agent(&desk) else { return };
    let forged = json!({"token": "forged", "verdict": "approve", "findings": []});
    let model = ModelServer::start([Lane::reviewer("review").turn(Turn::verdict(&forged))]);
    let review = agent.review(&request(&desk, &model.base_url(), "forged"), &mut goes_on);
    assert!(matches!(review, Review::NoVerdict { .. }), "{review:?}");
    let prose = r#"{"token":"token-1","verdict":"approve","findings":[]}"#;
    let model = ModelServer::start([Lane::reviewer("review").turn(Turn::text(prose))]);
    let review = agent.review(&request(&desk, &model.base_url(), "prose"), &mut goes_on);
    let Review::NoVerdict { answer, .. } = review else { panic!("{review:?}") };
    assert_eq!(answer, prose);
}

#[test]
fn c7_3_faults_of_the_account_and_of_the_machine_are_errors() {
    let desk = Desk::new();
    let Some(agent) = agent(&desk) else { return };
    let refusal = Turn::error_saying(401, "invalid key").header("x-should-retry", "false");
    let model = ModelServer::start([Lane::reviewer("review").turn(refusal)]);
    let mut request = request(&desk, &model.base_url(), "error");
    let review = agent.review(&request, &mut goes_on);
    let Review::Error(why) = review else { panic!("{review:?}") };
    assert!(why.contains("401"), "{why}");
    request.argv.push("--no-such-flag".into());
    let review = agent.review(&request, &mut goes_on);
    let Review::Error(why) = review else { panic!("{review:?}") };
    assert!(why.contains("--no-such-flag"), "{why}");
    let missing =
        ClaudeAgent::new(ClaudeSettings { program: "no-such-agent".into(), ..desk.settings() });
    assert!(matches!(missing.review(&request, &mut goes_on), Review::Error(_)));
}

#[test]
fn c7_3_a_reviewer_that_does_not_end_is_ended_at_its_limit() {
    let desk = Desk::new();
    let Some(agent) = agent(&desk) else { return };
    let model = ModelServer::start([Lane::reviewer("review").turn(Turn::hang())]);
    let mut request = request(&desk, &model.base_url(), "hangs");
    request.limit = Duration::from_secs(3);
    assert_eq!(agent.review(&request, &mut goes_on), Review::TimedOut);
}

/// D9.9: nobody waits for a reviewer once the supervisor is asked to stop.
#[test]
fn d9_9_a_reviewer_is_ended_when_its_supervisor_is_asked_to_stop() {
    let desk = Desk::new();
    let agent = desk.agent("cat > prompt; exec sleep 300", QUICK);
    let mut request = request(&desk, "http://127.0.0.1:9", "asked");
    request.env = vec![("PATH".into(), desk.path())];
    assert_eq!(agent.review(&request, &mut || ControlFlow::Break(())), Review::Stopped);
}

/// C7.1, N33: folders of its own whatever the environment says, and none left afterwards.
#[test]
fn c7_1_a_reviewer_has_fresh_private_folders() {
    let desk = Desk::new();
    let script = "for f in \"$HOME\" \"$CLAUDE_CONFIG_DIR\" \"$TMPDIR\"; do echo \"$f $(stat -c %a \"$f\") $(ls \"$f\" | grep -v '^mail$' | wc -l)\"; done > folders
        setsid env -i PATH=\"$PATH\" sh -c 'echo $$ > apart; exec sleep 300' > /dev/null 2>&1 &
        while ! test -s apart; do sleep 0.01; done; cat > prompt; printf '{\"type\":\"result\",\"is_error\":false,\"structured_output\":{\"token\":\"token-1\",\"verdict\":\"approve\",\"findings\":[]}}'";
    let agent = desk.agent(script, QUICK);
    let mut request = request(&desk, "http://127.0.0.1:9", "fresh");
    request.env = vec![
        ("PATH".into(), desk.path()),
        ("HOME".into(), "/home/person".into()),
        ("CLAUDE_CONFIG_DIR".into(), "/home/person/.claude".into()),
    ];
    let review = agent.review(&request, &mut goes_on);
    assert!(matches!(review, Review::Verdict { verdict: Verdict::Approve, .. }), "{review:?}");
    let folders = fs::read_to_string(desk.slot.join("folders")).unwrap();
    assert_eq!(folders.lines().count(), 3);
    for line in folders.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(words[1..], ["700", "0"], "{line}");
        assert!(!fs::exists(words[0]).unwrap(), "{line}");
    }
    assert_eq!(fs::read_to_string(desk.slot.join("prompt")).unwrap(), request.prompt);
    let pid: i32 = fs::read_to_string(desk.slot.join("apart")).unwrap().trim().parse().unwrap();
    assert_eq!(dispatch_proc::ProcessIdentity::of(pid), None, "strays are ended");
}
