//! Every recorded stream of the real agent, classified (D10). What is expected stands in the recordings' index.

use std::collections::BTreeMap;

use dispatch_core::names::Outcome;
use dispatch_core::outcome::{
    Ended, Ending, ExpectedSurface, StreamSummary, classify, surface_mismatch,
};
use serde_json::Value;

struct Recorded {
    file: String,
    about: Value,
    summary: StreamSummary,
    ended: Ended,
}

fn folder() -> camino::Utf8PathBuf {
    camino::Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/claude")
}

fn recorded() -> Vec<Recorded> {
    let index: Value =
        serde_json::from_slice(&std::fs::read(folder().join("index.json")).unwrap()).unwrap();
    let mut all = Vec::new();
    for about in index["fixtures"].as_array().unwrap() {
        let file = about["file"].as_str().unwrap().to_owned();
        let mut summary = StreamSummary::default();
        for part in std::fs::read(folder().join(&file)).unwrap().chunks(8192) {
            summary.push(part);
        }
        summary.end();
        let stderr = about["stderr_file"].as_str();
        let number = |name: &str| about[name].as_i64().map(|number| i32::try_from(number).unwrap());
        let ending = Ending {
            stopped: None,
            exit: number("exit_code"),
            signal: number("signal"),
            stderr_tail: stderr
                .map(|file| std::fs::read_to_string(folder().join(file)).unwrap())
                .unwrap_or_default(),
        };
        let ended = classify(&summary, &ending);
        all.push(Recorded { file, about: about.clone(), summary, ended });
    }
    all
}

/// What the class that the recording was given means for a worker that nobody stopped.
fn expected(class: &str) -> Outcome {
    match class {
        "success" | "success_with_denials" | "schema_missing" => Outcome::Success,
        "success_empty" => Outcome::EmptyAnswer,
        "no_model_call" => Outcome::PromptSwallowed,
        "max_turns" => Outcome::TurnsExhausted,
        "max_budget" => Outcome::BudgetExceeded,
        "api_auth" => Outcome::LoginExpired,
        "api_credit" | "api_rate_limit" => Outcome::UsageLimit,
        "api_server" | "api_overloaded" | "api_unreachable" | "api_interrupted" => {
            Outcome::Overloaded
        }
        "api_error" | "model_not_found" | "output_limit" => Outcome::ApiError,
        "prompt_too_long" => Outcome::PromptTooLong,
        "refusal" => Outcome::Refused,
        "schema_failed" => Outcome::ExecutionError,
        "usage_error" => Outcome::UsageError,
        "killed" | "terminated" | "truncated" | "text" => Outcome::Crash,
        other => panic!("no such class {other}"),
    }
}

#[test]
fn d10_every_recorded_stream_is_classified_as_recorded() {
    let all = recorded();
    assert!(all.len() >= 83, "{} recordings", all.len());
    let mut wrong = BTreeMap::new();
    for Recorded { file, about, ended, .. } in &all {
        let class = about["suggested_class"].as_str().unwrap();
        let expected = match (class, about["has_result"].as_bool()) {
            // An interruption that was not ours: a failed run, or none at all.
            ("interrupted", Some(true)) => Outcome::ExecutionError,
            ("interrupted", _) => Outcome::Crash,
            (class, _) => expected(class),
        };
        if ended.outcome != expected {
            wrong.insert(file, (ended.outcome, expected));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn d10_the_figures_are_those_of_the_last_result() {
    for Recorded { file, about, summary, ended } in recorded() {
        if about["format"] == "text" {
            continue;
        }
        assert_eq!(summary.result.is_some(), about["has_result"] == true, "{file}");
        if let Some(result) = &summary.result {
            assert_eq!(ended.figures.turns, about["num_turns"].as_u64(), "{file}");
            assert_eq!(ended.figures.cost_usd, about["total_cost_usd"].as_f64(), "{file}");
            assert_eq!(result.subtype, about["subtype"].as_str().unwrap_or_default(), "{file}");
            if let Some(text) = about["text"].as_str() {
                assert_eq!(result.text.as_deref(), Some(text), "{file}");
            }
            if let Some(length) = about["text_length"].as_u64() {
                let found = result.text.as_ref().map_or(0, |text| text.chars().count());
                assert_eq!(found as u64, length, "{file}");
            }
        }
        if let Some(lines) = about["lines"].as_u64() {
            assert_eq!(summary.lines, lines, "{file}");
        }
        if let Some(ends) = about["ends_with_newline"].as_bool() {
            assert_eq!(
                summary.ends_with_newline || summary.bytes == 0,
                ends || summary.bytes == 0,
                "{file}"
            );
        }
        if about["format"] == "stream-json" {
            assert_eq!(summary.bad_lines, about["bad_lines"].as_u64().unwrap(), "{file}");
            assert_eq!(Some(summary.retries), about["api_retries"].as_u64(), "{file}");
        }
    }
}

#[test]
fn d10_recorded_denials_are_found() {
    for Recorded { file, about, ended, .. } in recorded() {
        let Some(denials) = about["permission_denials"].as_array() else { continue };
        for denial in denials {
            let (tool, subject) = (denial[0].as_str().unwrap(), denial[1].as_str().unwrap());
            let found =
                ended.figures.denials.iter().any(|d| d.tool == tool && d.subject == subject);
            assert!(found, "{file}: {tool} {subject}");
        }
    }
    let absent_tool =
        recorded().into_iter().find(|r| r.file == "permission-denials.jsonl").unwrap();
    assert!(absent_tool.ended.figures.denials.iter().any(|denial| denial.tool == "Write"));
    assert_eq!(absent_tool.ended.figures.denial_count, 4);
}

#[test]
fn c7_2_structured_output_is_kept() {
    let all = recorded();
    for Recorded { file, about, summary, .. } in &all {
        let found = summary.result.as_ref().and_then(|result| result.structured_output.as_ref());
        assert_eq!(
            found,
            about.get("structured_output").filter(|value| !value.is_null()),
            "{file}"
        );
    }
    assert!(all.iter().any(|r| r.about.get("structured_output").is_some_and(Value::is_object)));
}

#[test]
fn d9_11_the_recorded_bare_surface_is_bash_edit_and_read() {
    let bare = ExpectedSurface {
        tools: ["Bash", "Edit", "Read", "StructuredOutput"].map(str::to_owned).into(),
        permission_mode: "dontAsk".to_owned(),
    };
    let mut looked = 0;
    for Recorded { file, summary, .. } in recorded() {
        // Recorded without the bare mode.
        if ["success-subagent.jsonl", "success-hooks.jsonl", "two-results-two-prompts.jsonl"]
            .contains(&file.as_str())
        {
            continue;
        }
        let Some(init) = &summary.init else { continue };
        looked += 1;
        assert_eq!(surface_mismatch(init, &bare), None, "{file}");
    }
    assert!(looked > 50);
    let full = recorded().into_iter().find(|r| r.file == "success-subagent.jsonl").unwrap();
    let mismatch = surface_mismatch(full.summary.init.as_ref().unwrap(), &bare).unwrap();
    assert!(mismatch.extra_tools.contains(&"WebFetch".to_owned()));
}
