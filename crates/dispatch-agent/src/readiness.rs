//! What a worker needs beside its launch: the agent's program, an account, the local model (D4.2).

use std::ffi::OsString;
use std::time::Duration;

use camino::Utf8Path;
use dispatch_proc::find_program;
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

/// What a worker needs of the environment `set`, and does not find there.
pub(crate) fn missing(
    program: &str,
    account: Option<&str>,
    set: impl Fn(&str) -> Option<OsString>,
) -> Vec<String> {
    let found = find_program(program, set("PATH").as_deref(), Utf8Path::new("/"));
    let no_program = found.is_err().then(|| {
        format!("the agent's program `{program}` is not on the `PATH`: install Claude Code, or add its folder to the `PATH` of whatever runs the passes")
    });
    let unset = account.filter(|name| set(name).is_none_or(|value| value.is_empty()));
    let no_account = unset.map(|name| {
        format!("the variable `{name}` (`agent.credential.env`) is not set: export it where passes run (`claude setup-token` makes a token)")
    });
    no_program.into_iter().chain(no_account).collect()
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

    #[test]
    fn what_a_worker_needs_and_does_not_find_is_told_with_what_to_do() {
        let here = |name: &str| match name {
            "PATH" => std::env::var_os("PATH"),
            "SET" => Some("a-token".into()),
            "EMPTY" => Some(OsString::new()),
            _ => None,
        };
        assert_eq!(missing("sh", Some("SET"), here), [""; 0]);
        assert_eq!(missing("sh", None, here), [""; 0]);
        for unset in ["EMPTY", "NONE"] {
            let said = missing("sh", Some(unset), here).join("\n");
            assert!(said.contains(&format!("`{unset}`")) && said.contains("export it"), "{said}");
        }
        let said = missing("no-such-agent", Some("NONE"), here);
        assert_eq!(said.len(), 2);
        assert!(said[0].contains("`no-such-agent` is not on the `PATH`"), "{said:?}");
        assert_eq!(missing("sh", None, |_| None).len(), 1, "without a `PATH` nothing is found");
    }

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
