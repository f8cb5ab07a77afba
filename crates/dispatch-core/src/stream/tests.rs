use proptest::prelude::*;

use super::*;

fn summary_of(stream: &[u8], cuts: usize) -> StreamSummary {
    let mut summary = StreamSummary::default();
    for part in stream.chunks(cuts.max(1)) {
        summary.push(part);
    }
    summary.end();
    summary
}

fn result(text: &str) -> String {
    serde_json::json!({ "type": "result", "subtype": "success", "is_error": false, "num_turns": 1, "result": text })
        .to_string()
}

#[test]
fn d9_3_lines_end_at_the_newline_byte_only() {
    let text = "a\u{2028}b\u{2029}c\u{85}d\r";
    let summary = summary_of(format!("{}\n", result(text)).as_bytes(), 7);
    assert_eq!((summary.lines, summary.bad_lines), (1, 0));
    assert_eq!(summary.result.unwrap().text.as_deref(), Some(text));
}

#[test]
fn d9_3_a_line_longer_than_what_is_held_is_read_all_the_same() {
    let long = "é".repeat(WHOLE_LINE_BYTES);
    let stream = format!(
        "{{\"type\":\"user\",\"message\":{{\"content\":\"{long}\"}}}}\n{}\n{}\n",
        result(&format!("head {long}")),
        r#"{"type":"new-kind"}"#
    );
    let summary = summary_of(stream.as_bytes(), 64 * 1024);
    assert_eq!((summary.lines, summary.bad_lines), (3, 0));
    assert!(summary.pending.capacity() == 0);
    let result = summary.result.unwrap();
    assert!(result.text.unwrap().starts_with("head é"));
    assert_eq!(result.turns, Some(1));
}

#[test]
fn d9_3_a_line_without_an_end_is_counted_and_not_held_whole() {
    let mut summary = StreamSummary::default();
    let part = vec![b'['; 1024 * 1024];
    for _ in 0..40 {
        summary.push(&part);
    }
    summary.end();
    assert_eq!((summary.lines, summary.bad_lines), (1, 1));
    assert!(!summary.ends_with_newline);
}

#[test]
fn d9_3_unknown_events_are_skipped_and_bad_lines_counted() {
    let stream = "{\"type\":\"assistant\"}\n{\"type\":\"system\",\"subtype\":\"never-seen\"}\nnot json\n\n{\"no\":\"type\"}\n";
    let summary = summary_of(stream.as_bytes(), 1000);
    assert_eq!((summary.lines, summary.bad_lines), (4, 2));
}

#[test]
fn the_last_result_counts() {
    let stream = format!("{}\n{}\n", result("first"), result("second"));
    let summary = summary_of(stream.as_bytes(), 9);
    assert_eq!(summary.result.unwrap().text.as_deref(), Some("second"));
}

#[test]
fn d10_denials_come_from_tool_errors_too_and_each_once() {
    let call = |id: &str, tool: &str, input: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"m","content":[{{"type":"tool_use","id":"{id}","name":"{tool}","input":{input}}}]}}}}"#
        )
    };
    let error = |id: &str, text: &str| {
        format!(
            r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"{id}","is_error":true,"content":"{text}"}}]}}}}"#
        )
    };
    let stream = [
        call("t1", "Bash", r#"{"command":"git push"}"#),
        error("t1", "Permission to use Bash with command git push has been denied."),
        call("t2", "Edit", r#"{"file_path":"lib/x"}"#),
        error("t2", "File is in a directory that is denied by your permission settings."),
        call("t3", "Bash", r#"{"command":"false"}"#),
        error("t3", "Exit code 1"),
        r#"{"type":"result","subtype":"success","permission_denials":[{"tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"git push"}}]}"#.to_owned(),
    ]
    .join("\n");
    let summary = summary_of(stream.as_bytes(), 50);
    let denials: Vec<_> =
        summary.denials().iter().map(|d| (d.tool.as_str(), d.subject.as_str())).collect();
    assert_eq!(denials, [("Bash", "git push"), ("Edit", "lib/x")]);
    assert_eq!(summary.denial_count(), 2);
    assert_eq!((summary.tool_calls, summary.tool_errors), (3, 3));
}

/// What an agent says and does is a line each, taken once.
#[test]
fn what_the_agent_says_and_does_is_told_in_order() {
    let stream = [
        r#"{"type":"assistant","message":{"id":"m","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"I look\nat it.\u001b[2J"}]}}"#,
        r#"{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"cargo test"}}]}}"#,
        r#"{"type":"assistant","parent_tool_use_id":"t1","message":{"id":"n","content":[{"type":"tool_use","id":"t2","name":"Read","input":{"file_path":"a.rs"}}]}}"#,
    ]
    .join("\n");
    let mut summary = summary_of(stream.as_bytes(), 50);
    assert_eq!(
        summary.take_told(),
        [
            r"the agent says: I look at it.\u{1b}[2J",
            "the agent uses: Bash cargo test",
            "a sub-agent uses: Read a.rs",
        ]
    );
    assert!(summary.take_told().is_empty());
}

#[test]
fn d9_11_a_second_session_with_other_tools_is_kept() {
    let init = |tools: &str| {
        format!(
            r#"{{"type":"system","subtype":"init","tools":[{tools}],"permissionMode":"dontAsk"}}"#
        )
    };
    let same = format!("{}\n{}\n", init("\"Bash\""), init("\"Bash\""));
    assert_eq!(summary_of(same.as_bytes(), 80).changed_init, None);
    let more = format!("{}\n{}\n", init("\"Bash\""), init("\"Bash\",\"mcp__x__y\""));
    assert!(summary_of(more.as_bytes(), 80).changed_init.is_some());
}

proptest! {
    /// Where the bytes are cut changes nothing, and no bytes are too odd.
    #[test]
    fn cuts_do_not_matter(
        lines in proptest::collection::vec("(\\{\"type\":\"(result|user|x)\",\"result\":\"\\PC{0,8}\"\\}|\\PC{0,20})", 0..6),
        cut in 1usize..40,
    ) {
        let stream = lines.join("\n");
        let whole = summary_of(stream.as_bytes(), usize::MAX);
        let parts = summary_of(stream.as_bytes(), cut);
        prop_assert_eq!(format!("{whole:?}"), format!("{parts:?}"));
    }

    #[test]
    fn any_bytes_are_read(stream in proptest::collection::vec(any::<u8>(), 0..200)) {
        summary_of(&stream, 13);
    }
}
