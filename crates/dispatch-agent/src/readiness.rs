//! Whether the local model is loaded (D4.2).

use std::time::Duration;

use serde::Deserialize;

/// How long the answer may take, all of it.
const LIMIT: Duration = Duration::from_secs(5);
/// The most bytes of an answer.
const ANSWER_MAX_BYTES: u64 = 4 << 20;

#[derive(Debug, Deserialize)]
struct Models {
    data: Vec<Model>,
}

#[derive(Debug, Deserialize)]
struct Model {
    id: String,
    #[serde(default)]
    state: Option<String>,
}

/// Asks the model server at `url` whether `model` is loaded; says what is wrong otherwise.
pub(crate) fn ask(url: &str, model: &str, limit: Duration) -> Result<(), String> {
    let address = format!("{}/api/v0/models", url.trim_end_matches('/'));
    let wrong = |what: String| format!("model `{model}` at `{url}` is not ready: {what}");
    // A proxy that is configured for the world outside has no place between us and this machine.
    let agent: ureq::Agent =
        ureq::Agent::config_builder().timeout_global(Some(limit)).proxy(None).build().into();
    let mut answer =
        agent.get(&address).call().map_err(|error| wrong(format!("`{address}`: {error}")))?;
    let body = answer
        .body_mut()
        .with_config()
        .limit(ANSWER_MAX_BYTES)
        .read_to_vec()
        .map_err(|error| wrong(format!("`{address}`: {error}")))?;
    judge(&body, model).map_err(wrong)
}

/// [`ask`] within the limit of D4.2.
pub(crate) fn readiness(url: &str, model: &str) -> Result<(), String> {
    ask(url, model, LIMIT)
}

fn judge(body: &[u8], model: &str) -> Result<(), String> {
    let models: Models = serde_json::from_slice(body)
        .map_err(|error| format!("its list of models cannot be read: {error}"))?;
    let Some(found) = models.data.iter().find(|found| found.id == model) else {
        let known: Vec<&str> = models.data.iter().map(|found| found.id.as_str()).take(10).collect();
        return Err(format!("it is not in the list of models: `{}`", known.join("`, `")));
    };
    match found.state.as_deref() {
        Some("loaded") => Ok(()),
        Some(state) => Err(format!("its state is `{state}`, not `loaded`")),
        None => Err("the list of models does not tell its state".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    const LIST: &str = r#"{"object":"list","data":[{"id":"a","state":"loaded","type":"llm"},{"id":"b","state":"not-loaded"},{"id":"c"}]}"#;

    #[test_case(LIST, "a", Ok(()); "loaded")]
    #[test_case(LIST, "b", Err("its state is `not-loaded`, not `loaded`"); "not loaded")]
    #[test_case(LIST, "c", Err("the list of models does not tell its state"); "no state")]
    #[test_case(LIST, "A", Err("it is not in the list of models: `a`, `b`, `c`"); "another name")]
    fn d4_2_only_the_state_loaded_is_ready(list: &str, model: &str, expected: Result<(), &str>) {
        assert_eq!(judge(list.as_bytes(), model), expected.map_err(str::to_owned));
    }

    #[test]
    fn d4_2_an_answer_that_is_no_list_is_not_ready() {
        for body in ["", "<html>", "{}", r#"{"data":{}}"#, "[]"] {
            assert!(judge(body.as_bytes(), "a").is_err(), "{body}");
        }
    }
}
