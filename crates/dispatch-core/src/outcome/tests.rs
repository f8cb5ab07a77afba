use proptest::prelude::*;
use test_case::test_case;
use time::macros::datetime;

use super::*;
use crate::names::Outcome;

fn ended(stream: &str, ending: &Ending) -> Ended {
    let mut summary = StreamSummary::default();
    summary.push(stream.as_bytes());
    summary.end();
    classify(&summary, ending)
}

fn failure_of(fields: &str) -> Ended {
    let stream = format!(
        r#"{{"type":"result","subtype":"success","is_error":true,"num_turns":1,{fields}}}"#
    );
    ended(&stream, &Ending::default())
}

#[test_case(Stopped::Timeout, Outcome::Timeout)]
#[test_case(Stopped::Stalled, Outcome::Stalled)]
#[test_case(Stopped::Cancelled, Outcome::Cancelled)]
#[test_case(Stopped::Interrupted, Outcome::Interrupted)]
#[test_case(Stopped::SurfaceMismatch, Outcome::SurfaceMismatch)]
fn d10_our_own_stop_comes_before_what_the_agent_says(stopped: Stopped, outcome: Outcome) {
    let ending = Ending { stopped: Some(stopped), ..Ending::default() };
    let stream =
        r#"{"type":"result","subtype":"success","is_error":false,"num_turns":2,"result":"Done."}"#;
    assert_eq!(ended(stream, &ending).outcome, outcome);
    assert_eq!(ended("", &ending).outcome, outcome);
}

#[test]
fn d10_without_a_result_a_silent_end_is_told_from_a_refused_command_line() {
    let said = Ending { stderr_tail: "error: unknown option\n".to_owned(), ..Ending::default() };
    assert_eq!(ended("", &said).outcome, Outcome::UsageError);
    assert_eq!(ended("", &said).text, "error: unknown option");
    assert_eq!(ended("", &Ending::default()).outcome, Outcome::Crash);
    let started = r#"{"type":"system","subtype":"init"}"#;
    assert_eq!(ended(started, &said).outcome, Outcome::Crash);
}

#[test_case(r#""result":"Claude AI usage limit reached|1767225600""#, Some(datetime!(2026-01-01 0:00 UTC)); "seconds at the end")]
#[test_case(r#""result":"Claude AI usage limit reached|1767225600000""#, Some(datetime!(2026-01-01 0:00 UTC)); "milliseconds at the end")]
#[test_case(r#""result":"You've hit your session limit","api_error_status":429"#, None; "no time")]
#[test_case(r#""result":"Credit balance is too low","api_error_status":400"#, None; "no credit")]
fn d11_1_a_used_up_window_has_its_reset_time_when_said(
    fields: &str,
    resets: Option<time::OffsetDateTime>,
) {
    let ended = failure_of(fields);
    assert_eq!(ended.outcome, Outcome::UsageLimit);
    assert_eq!(ended.limit_resets_at, resets);
}

#[test]
fn d11_1_the_reset_time_of_the_event_wins() {
    let stream = concat!(
        r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1767225600}}"#,
        "\n",
        r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"limit"}"#,
    );
    let ended = ended(stream, &Ending::default());
    assert_eq!(ended.limit_resets_at, Some(datetime!(2026-01-01 0:00 UTC)));
}

#[test]
fn d10_exit_statuses_are_a_cross_check_only() {
    let stream =
        r#"{"type":"result","subtype":"success","is_error":false,"num_turns":2,"result":"Done."}"#;
    let ending = Ending { exit: Some(1), ..Ending::default() };
    let ended = ended(stream, &ending);
    assert_eq!(ended.outcome, Outcome::Success);
    assert_eq!(ended.figures.oddity.as_deref(), Some("the agent exited 1 after a success"));
}

#[test]
fn spawn_failures_have_their_cause() {
    let ended = spawn_failed("no such program");
    assert_eq!((ended.outcome, ended.text.as_str()), (Outcome::SpawnFailed, "no such program"));
}

#[test]
fn the_record_of_an_end_is_camel_case_json() {
    let stream = r#"{"type":"result","subtype":"success","is_error":false,"num_turns":2,"result":"Done.","total_cost_usd":0.5,"duration_ms":10,"session_id":"s"}"#;
    let json = serde_json::to_value(ended(stream, &Ending::default())).unwrap();
    insta::assert_snapshot!(json, @r#"{"costUsd":0.5,"denialCount":0,"denials":[],"durationMs":10,"limitResetsAt":null,"model":null,"outcome":"success","retries":0,"sessionId":"s","text":"Done.","turns":2}"#);
}

#[test]
fn d10_a_last_message_that_stands_for_a_failure_is_one() {
    let stream = concat!(
        r#"{"type":"assistant","error":"rate_limit","message":{"id":"a","model":"<synthetic>","content":[]}}"#,
        "\n",
        r#"{"type":"result","subtype":"success","is_error":false,"num_turns":3,"result":"You have hit your limit"}"#,
    );
    assert_eq!(ended(stream, &Ending::default()).outcome, Outcome::UsageLimit);
}

proptest! {
    /// Whatever the event holds, there is one outcome, and success only without an error and with words and turns.
    #[test]
    fn d10_success_is_never_claimed_lightly(
        is_error in any::<bool>(),
        turns in 0u64..3,
        text in "(NEEDS-GUIDANCE: x|Done\\.| {0,2})",
        subtype in "(success|error_max_turns|error_during_execution|error_new)",
        status in prop::option::of(300u64..600),
    ) {
        let event = serde_json::json!({
            "type": "result", "subtype": subtype, "is_error": is_error, "num_turns": turns,
            "result": text, "api_error_status": status,
        });
        let outcome = ended(&event.to_string(), &Ending::default()).outcome;
        let fits = !is_error && turns > 0 && text == "Done.";
        prop_assert_eq!(outcome == Outcome::Success, fits);
    }
}
