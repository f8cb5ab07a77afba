//! What prompt hooks are asked, and what their answers mean (D8.4).

use camino::Utf8Path;
use serde_json::{Value, json};

use crate::task::Task;

/// The most bytes that are taken of one answer.
const ANSWER_MAX_BYTES: usize = 64 * 1024;

/// What a `prompt` hook gets on standard input. The text names no task id: a hook that looks for one would find
/// whatever a person wrote.
pub fn prompt_hook_request(task: &Task, slot: &Utf8Path) -> String {
    let prompt = format!("{}\n\n{}", task.title, task.description);
    json!({ "prompt": prompt, "cwd": slot }).to_string()
}

/// What a `file` hook gets on standard input, for one declared file.
pub fn file_hook_request(file: &str, slot: &Utf8Path) -> String {
    let path = slot.join(file);
    json!({ "tool_name": "Edit", "tool_input": { "file_path": path }, "cwd": slot }).to_string()
}

/// The text a `prompt` hook answered.
pub fn prompt_hook_answer(stdout: &str) -> Option<String> {
    usable(stdout)
}

/// The text in a `file` hook's answer; an answer of another form says nothing.
pub fn file_hook_answer(stdout: &str) -> Option<String> {
    let answer: Value = serde_json::from_str(stdout.trim()).ok()?;
    usable(answer.pointer("/hookSpecificOutput/additionalContext")?.as_str()?)
}

fn usable(text: &str) -> Option<String> {
    let text = text.trim();
    let cut = text.floor_char_boundary(ANSWER_MAX_BYTES);
    text.get(..cut).filter(|text| !text.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;
    use crate::testing::task;

    /// N49.
    #[test]
    fn d8_4_hooks_are_asked_about_the_slot_and_never_told_the_id() {
        let slot = Utf8Path::new("/s/dispatch-1");
        let request = prompt_hook_request(&task("T-77"), slot);
        assert!(!request.contains("T-77") && request.contains("Greet the user."));
        assert_eq!(
            file_hook_request("src/a.rs", slot),
            r#"{"cwd":"/s/dispatch-1","tool_input":{"file_path":"/s/dispatch-1/src/a.rs"},"tool_name":"Edit"}"#
        );
    }

    #[test_case(r#"{"hookSpecificOutput":{"additionalContext":" use x "}}"#, Some("use x"); "a context")]
    #[test_case(r#"{"hookSpecificOutput":{"additionalContext":""}}"#, None; "an empty one")]
    #[test_case(r#"{"decision":"block"}"#, None; "another answer")]
    #[test_case("use x", None; "no JSON")]
    #[test_case("", None; "nothing")]
    fn d8_4_a_file_hook_answers_with_a_context(stdout: &str, expected: Option<&str>) {
        assert_eq!(file_hook_answer(stdout).as_deref(), expected);
    }

    #[test]
    fn answers_are_cut_on_a_character() {
        let answer = prompt_hook_answer(&"é".repeat(ANSWER_MAX_BYTES)).unwrap();
        assert_eq!(answer.len(), ANSWER_MAX_BYTES);
        assert_eq!(prompt_hook_answer(" \n"), None);
    }
}
