//! A question about the agent in the form of the recorded decisions (`inspect tool`, K6).
//!
//! One JSON object names the rules, the settings files, the mode, the tool and its input; the fields
//! are those of `fixtures/oracles/claude-permissions.json`, whose `about` explains them. What this
//! does not model makes the answer `unknown`, with the field named. Of a `note` one sentence counts,
//! by which the recorded cases say that earlier calls may have moved the session: where the answer
//! hangs on that, it is `unknown` as well.

mod arguments;
mod scene;
mod settings;

use serde_json::{Map, Value};

use self::arguments::Arguments;
use self::scene::Scene;
use self::settings::Loaded;
use super::decide::{Decision, Mode, Place, Session, ToolCall, ToolSet, decide};
use super::files::RuleSource;
use super::relation::PlacedRule;
use super::rule::Rule;

/// Fields that change nothing about the decision.
const IGNORED: &[&str] = &["id", "group", "decision", "why", "claude_version"];
/// Fields that are modelled.
const MODELLED: &[&str] = &[
    "allow",
    "deny",
    "allow_args",
    "deny_args",
    "mode",
    "bare",
    "setting_sources",
    "settings",
    "cwd",
    "setup",
    "env",
    "worktree",
    "extra_args",
    "mcp_servers",
    "tool",
    "input",
    "note",
];
/// What a recorded `note` says of a call that was not the first of its session. Nothing else in a
/// note counts.
const LATER_IN_SESSION: &str = "run after the earlier cases of this family in the same session";

/// Why a case ends before the agent would decide.
enum Early {
    /// The program would end at once.
    Exits(String),
    /// Something that is not modelled.
    NotModelled(String),
}

/// Answers one question.
///
/// # Errors
///
/// When the object is no question: no tool, or a field of the wrong type.
pub fn decide_case(case: &Value) -> Result<Decision, String> {
    let fields = case.as_object().ok_or("the input is no JSON object")?;
    if let Some(unknown) = fields
        .keys()
        .find(|name| !IGNORED.contains(&name.as_str()) && !MODELLED.contains(&name.as_str()))
    {
        return Ok(Decision::Unknown(format!("the field `{unknown}`")));
    }
    let call = match read_call(fields)? {
        Ok(call) => call,
        Err(early) => return Ok(answer_early(early)),
    };
    let scene = match Scene::read(fields) {
        Ok(scene) => scene,
        Err(early) => return Ok(answer_early(early)),
    };
    let session = match read_session(fields, &scene) {
        Ok(session) => session,
        Err(early) => return Ok(answer_early(early)),
    };
    let (session, place) = session;
    let decision = decide(&session, &call, &place);
    let later = |note: &str| note.split(';').any(|part| part.trim() == LATER_IN_SESSION);
    if !text(fields, "note").is_some_and(later) {
        return Ok(decision);
    }
    // An earlier call of the session may have moved it; where rules follow, the answer is open.
    let moved = scene::FOLDERS.iter().map(|folder| {
        let here = format!("{}/{folder}", place.start);
        decide(&session, &call, &Place { here, ..place.clone() })
    });
    let kind = std::mem::discriminant(&decision);
    let open = moved.into_iter().any(|other| std::mem::discriminant(&other) != kind);
    Ok(if open {
        Decision::Unknown("where earlier calls of the session had moved it".to_owned())
    } else {
        decision
    })
}

fn answer_early(early: Early) -> Decision {
    match early {
        Early::Exits(why) => Decision::Denied(why),
        Early::NotModelled(what) => Decision::Unknown(what),
    }
}

fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    fields.get(name).and_then(Value::as_str)
}

fn texts(value: Option<&Value>) -> Option<Vec<String>> {
    value?.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}

fn read_call(fields: &Map<String, Value>) -> Result<Result<ToolCall, Early>, String> {
    let tool = text(fields, "tool").ok_or("`tool` is missing")?;
    let empty = Map::new();
    let input = fields.get("input").and_then(Value::as_object).unwrap_or(&empty);
    let path = || ["file_path", "notebook_path", "path"].iter().find_map(|name| text(input, name));
    let call = match tool {
        "Bash" => {
            let known = [
                "command",
                "run_in_background",
                "timeout",
                "dangerouslyDisableSandbox",
                "description",
            ];
            if let Some(other) = input.keys().find(|name| !known.contains(&name.as_str())) {
                return Ok(Err(Early::NotModelled(format!("the input field `{other}`"))));
            }
            let command = text(input, "command").ok_or("`input.command` is missing")?;
            ToolCall::Shell { command: Scene::fill(command) }
        }
        "Read" | "Edit" | "Write" | "NotebookEdit" => {
            let path = path().ok_or("`input.file_path` is missing")?;
            ToolCall::File { tool: tool.to_owned(), path: Scene::fill(path) }
        }
        "WebFetch" => {
            let url = text(input, "url").ok_or("`input.url` is missing")?;
            ToolCall::Fetch { url: Scene::fill(url) }
        }
        _ => ToolCall::Other {
            tool: tool.to_owned(),
            kind: text(input, "subagent_type").map(str::to_owned),
        },
    };
    Ok(Ok(call))
}

fn read_session(fields: &Map<String, Value>, scene: &Scene) -> Result<(Session, Place), Early> {
    let arguments = Arguments::read(fields)?;
    let bare = fields.get("bare").and_then(Value::as_bool).unwrap_or(true);
    let loaded = Loaded::read(fields, scene, &arguments, bare)?;
    let mode = read_mode(fields, &loaded, &arguments)?;
    let command_line = |rules: &[String]| -> Vec<PlacedRule> {
        rules
            .iter()
            .map(|rule| PlacedRule { rule: Rule::parse(rule), source: RuleSource::CommandLine })
            .collect()
    };
    let mut allow = command_line(&arguments.allow);
    allow.extend(loaded.allow);
    let mut deny = command_line(&arguments.deny);
    deny.extend(loaded.deny);
    let tools = match &arguments.tools {
        Some(tools) if tools.iter().any(|tool| tool == "default") => None,
        Some(tools) => Some(ToolSet::Only(tools.clone())),
        None => None,
    };
    let tools = tools.unwrap_or(if bare { ToolSet::Bare } else { ToolSet::Full });
    let mut place = scene.place.clone();
    place.added.extend(arguments.added.iter().cloned());
    place.added.extend(loaded.added);
    Ok((Session { allow, deny, ask: loaded.ask, mode, tools }, place))
}

fn read_mode(
    fields: &Map<String, Value>,
    loaded: &Loaded,
    arguments: &Arguments,
) -> Result<Mode, Early> {
    let given = text(fields, "mode").or(loaded.default_mode.as_deref());
    let bypass = arguments.skips_permissions || given == Some("bypassPermissions");
    if bypass {
        let sandbox =
            fields.get("env").and_then(|env| env.get("IS_SANDBOX")).and_then(Value::as_str);
        if sandbox != Some("1") {
            return Err(Early::Exits("the mode is refused to root outside a sandbox".to_owned()));
        }
        return Ok(if loaded.bypass_disabled { Mode::DontAsk } else { Mode::BypassPermissions });
    }
    match given {
        None | Some("dontAsk" | "default" | "plan") => Ok(Mode::DontAsk),
        Some("acceptEdits") => Ok(Mode::AcceptEdits),
        Some(other) => Err(Early::NotModelled(format!("the mode `{other}`"))),
    }
}
