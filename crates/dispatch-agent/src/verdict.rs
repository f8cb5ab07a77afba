//! What a reviewer's answer is worth (C7.2, C7.3).

use dispatch_core::stream::{ResultEvent, StreamSummary};
use dispatch_engine::ports::{Review, Verdict};
use dispatch_proc::brief;
use serde::Deserialize;
use serde_json::Value;

/// A verdict; `dispatch_core::launch::VERDICT_SCHEMA` is the schema the agent is given for it, and this is checked again,
/// since the agent passes over a schema it does not like.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Structured {
    token: String,
    verdict: Decision,
    findings: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Decision {
    Approve,
    RequestChanges,
}

/// Judges what a reviewer wrote: `ended` says how its run ended, such as "ended with exit status 1".
///
/// A verdict counts only when the run is no error and the structured answer is there, is valid and carries `token`.
/// A run that failed for the account's or the machine's reasons is an error; one that came to its end without a
/// verdict is not, since doing it again would not help.
pub fn judge_answer(
    stdout: &[u8],
    stderr: &str,
    ended: &str,
    succeeded: bool,
    token: &str,
) -> Review {
    let Some(event) = last_result(stdout) else {
        let said = if stderr.trim().is_empty() { "it said nothing" } else { stderr };
        return Review::Error(format!(
            "the reviewer {ended} without a result: {}",
            brief(said, 500)
        ));
    };
    let answer = answer(&event);
    if event.is_error || !succeeded {
        return match unhelpable(&event) {
            Some(why) => Review::NoVerdict { answer, why: why.to_owned() },
            None => Review::Error(complaint(&event, ended, stderr)),
        };
    }
    let no_verdict = |why: String| Review::NoVerdict { answer: answer.clone(), why };
    let Some(structured) = event.structured_output else {
        return no_verdict("it answered without the structured verdict".to_owned());
    };
    match serde_json::from_value::<Structured>(structured) {
        Err(error) => no_verdict(format!("its verdict does not satisfy the schema: {error}")),
        Ok(found) if found.token != token => {
            no_verdict("its verdict does not carry the token of this review".to_owned())
        }
        Ok(found) => Review::Verdict {
            verdict: match found.verdict {
                Decision::Approve => Verdict::Approve,
                Decision::RequestChanges => Verdict::RequestChanges,
            },
            findings: found.findings,
            answer,
        },
    }
}

/// The whole answer, for `review.md`.
fn answer(event: &ResultEvent) -> String {
    match (&event.structured_output, &event.text) {
        (Some(structured), _) => {
            serde_json::to_string_pretty(structured).unwrap_or_else(|_| structured.to_string())
        }
        (None, Some(text)) => text.clone(),
        (None, None) => event.errors.join("\n"),
    }
}

/// Why a failed run would fail again with the same diff.
fn unhelpable(event: &ResultEvent) -> Option<&'static str> {
    let by_subtype = match event.subtype.as_str() {
        "error_max_structured_output_retries" => Some("none of its answers satisfied the schema"),
        "error_max_turns" => Some("it used up its turns"),
        "error_max_budget_usd" => Some("it used up its budget"),
        _ => None,
    };
    let by_reason = match event.terminal_reason.as_deref() {
        Some("prompt_too_long" | "blocking_limit") => {
            Some("the diff does not fit the model's window")
        }
        _ => None,
    };
    let refused = event.stop_reason.as_deref() == Some("refusal");
    by_subtype.or(by_reason).or(refused.then_some("the model refused to answer"))
}

fn complaint(event: &ResultEvent, ended: &str, stderr: &str) -> String {
    let status =
        event.api_error_status.map(|status| format!(" (status {status})")).unwrap_or_default();
    let text = format!("the reviewer {ended}{status}: {}", brief(&answer(event), 500));
    if stderr.trim().is_empty() {
        text
    } else {
        format!("{text}; it complained: {}", brief(stderr, 500))
    }
}

/// The last result in the one object, the array, or the lines that a run prints.
fn last_result(stdout: &[u8]) -> Option<ResultEvent> {
    let mut summary = StreamSummary::default();
    if let Ok(events) = serde_json::from_slice::<Vec<Value>>(stdout) {
        for event in events {
            summary.push(format!("{event}\n").as_bytes());
        }
    } else {
        summary.push(stdout);
    }
    summary.end();
    summary.result
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use test_case::test_case;

    use super::*;

    fn judge(event: &Value) -> Review {
        judge_answer(event.to_string().as_bytes(), "", "ended with exit status 0", true, "tok")
    }

    fn success(structured: &Value) -> Value {
        json!({"type": "result", "subtype": "success", "is_error": false, "result": structured.to_string(), "structured_output": structured})
    }

    #[test]
    fn c7_2_a_valid_verdict_with_the_token_counts() {
        let review = judge(&success(
            &json!({"token": "tok", "verdict": "request-changes", "findings": ["a", "b"]}),
        ));
        let Review::Verdict { verdict, findings, answer } = review else { panic!("{review:?}") };
        assert_eq!(
            (verdict, findings),
            (Verdict::RequestChanges, vec!["a".to_owned(), "b".to_owned()])
        );
        assert!(answer.contains("request-changes"));
    }

    #[test_case(&json!({"token": "other", "verdict": "approve", "findings": []}); "another token")]
    #[test_case(&json!({"token": "", "verdict": "approve", "findings": []}); "an empty token")]
    #[test_case(&json!({"verdict": "approve", "findings": []}); "no token")]
    #[test_case(&json!({"token": "tok", "verdict": "approved", "findings": []}); "another word")]
    #[test_case(&json!({"token": "tok", "verdict": "approve"}); "no findings")]
    #[test_case(&json!({"token": "tok", "verdict": "approve", "findings": [1]}); "findings that are no text")]
    #[test_case(&json!({"token": "tok", "verdict": "approve", "findings": [], "more": 1}); "a field too many")]
    #[test_case(&json!([]); "no object")]
    #[test_case(&json!("approve"); "a text")]
    fn c7_2_any_other_structured_answer_is_no_verdict(structured: &Value) {
        let review = judge(&success(structured));
        assert!(matches!(review, Review::NoVerdict { .. }), "{review:?}");
    }

    #[test]
    fn c7_2_prose_is_no_verdict_even_when_it_is_the_verdicts_json() {
        let text = json!({"token": "tok", "verdict": "approve", "findings": []}).to_string();
        let review = judge(
            &json!({"type": "result", "subtype": "success", "is_error": false, "result": text}),
        );
        let Review::NoVerdict { answer, .. } = review else { panic!("{review:?}") };
        assert_eq!(answer, text);
    }

    #[test]
    fn c7_2_a_verdict_of_a_failed_run_does_not_count() {
        let mut event = success(&json!({"token": "tok", "verdict": "approve", "findings": []}));
        event["is_error"] = json!(true);
        assert!(matches!(judge(&event), Review::Error(_)));
        event["is_error"] = json!(false);
        let killed =
            judge_answer(event.to_string().as_bytes(), "", "was ended by signal 9", false, "tok");
        assert!(matches!(killed, Review::Error(_)));
    }

    #[test_case("error_max_structured_output_retries", None, None; "schema never satisfied")]
    #[test_case("error_max_turns", None, None; "turns")]
    #[test_case("success", Some("prompt_too_long"), None; "too long for the model")]
    #[test_case("success", None, Some("refusal"); "refused")]
    fn c7_3_what_would_fail_again_is_no_verdict(
        subtype: &str,
        reason: Option<&str>,
        stop: Option<&str>,
    ) {
        let event = json!({"type": "result", "subtype": subtype, "is_error": true, "terminal_reason": reason, "stop_reason": stop});
        assert!(matches!(judge(&event), Review::NoVerdict { .. }));
    }

    #[test]
    fn c7_3_a_fault_of_the_account_or_the_machine_is_an_error_with_its_words() {
        let event = json!({"type": "result", "subtype": "success", "is_error": true, "api_error_status": 401, "result": "Invalid API key"});
        let review = judge_answer(
            event.to_string().as_bytes(),
            "warn",
            "ended with exit status 1",
            false,
            "tok",
        );
        assert_eq!(
            review,
            Review::Error("the reviewer ended with exit status 1 (status 401): Invalid API key; it complained: warn".into())
        );
        let review =
            judge_answer(b"", "error: unknown option", "ended with exit status 1", false, "tok");
        assert_eq!(
            review,
            Review::Error(
                "the reviewer ended with exit status 1 without a result: error: unknown option"
                    .into()
            )
        );
    }

    #[test]
    fn the_last_result_counts_in_every_form_of_output() {
        let first = success(&json!({"token": "tok", "verdict": "request-changes", "findings": []}));
        let last = success(&json!({"token": "tok", "verdict": "approve", "findings": []}));
        let lines = format!("{first}\n{last}\n{}\n", json!({"type": "system"}));
        let array = json!([first, last, {"type": "system"}]).to_string();
        for output in [lines, array] {
            let review = judge_answer(output.as_bytes(), "", "", true, "tok");
            assert!(
                matches!(review, Review::Verdict { verdict: Verdict::Approve, .. }),
                "{review:?}"
            );
        }
    }

    /// The agent cuts texts at a byte count; the verdict stands in the same line.
    #[test]
    fn half_a_surrogate_pair_beside_the_verdict_does_not_lose_it() {
        let line = br#"{"type":"result","subtype":"success","is_error":false,"result":"cut \ud83d","structured_output":{"token":"tok","verdict":"approve","findings":[]}}"#;
        let review = judge_answer(line, "", "", true, "tok");
        assert!(matches!(review, Review::Verdict { .. }), "{review:?}");
    }
}
