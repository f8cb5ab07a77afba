//! What the dispatcher remembers of a stream.

use std::collections::VecDeque;

use serde::Serialize;
use serde_json::Value;

use super::line::{Line, read};
use super::shorten::Shortener;
use super::told::Told;

/// How many denials are remembered one by one; the others are counted.
const DENIALS_KEPT: usize = 50;

/// How many tool calls wait for their result at once, at most.
const CALLS_KEPT: usize = 64;

/// The most bytes remembered of the final text.
const TEXT_KEPT: usize = 1024 * 1024;

/// The most bytes remembered of what a denied call was about.
const SUBJECT_KEPT: usize = 500;

/// What is remembered of a stream, however long it is.
#[derive(Debug, Clone)]
pub struct StreamSummary {
    /// Bytes read.
    pub bytes: u64,
    /// Lines read, blank ones aside.
    pub lines: u64,
    /// Lines that are not JSON, or not JSON as the stream has it.
    pub bad_lines: u64,
    /// Lines in which bytes that are no text had to be replaced.
    pub repaired_lines: u64,
    /// Whether the last line ended as a line does; an agent that was cut off leaves half a line.
    pub ends_with_newline: bool,
    /// The first `system/init` event.
    pub init: Option<Init>,
    /// A later `system/init` event that differs from the first in what the worker may do.
    pub changed_init: Option<Init>,
    /// The session.
    pub session_id: Option<String>,
    /// Messages of the model, those of sub-agents aside.
    pub assistant_messages: u64,
    /// Tool calls, those of sub-agents included.
    pub tool_calls: u64,
    /// Tool calls that came back as an error.
    pub tool_errors: u64,
    /// Requests that were repeated after a failure of the provider.
    pub retries: u64,
    /// The failure that the last message made by the agent itself stands for.
    pub error: Option<AgentError>,
    /// Whether the model refused the request.
    pub refused: bool,
    /// When the used-up usage window ends, in seconds since 1970, when the stream says so.
    pub limit_resets_at: Option<i64>,
    /// The last `result` event: an earlier one is superseded by a background task's turn.
    pub result: Option<ResultEvent>,
    denials: Vec<Denial>,
    denials_beyond: u64,
    calls: VecDeque<Call>,
    told: Told,
    last_message_id: Option<String>,
    /// The beginning of a line whose end has not come yet.
    pub(super) pending: Vec<u8>,
    /// The same for a very long line.
    pub(super) long: Option<Shortener>,
}

impl Default for StreamSummary {
    fn default() -> Self {
        Self {
            bytes: 0,
            lines: 0,
            bad_lines: 0,
            repaired_lines: 0,
            ends_with_newline: true,
            init: None,
            changed_init: None,
            session_id: None,
            assistant_messages: 0,
            tool_calls: 0,
            tool_errors: 0,
            retries: 0,
            error: None,
            refused: false,
            limit_resets_at: None,
            result: None,
            denials: Vec::new(),
            denials_beyond: 0,
            calls: VecDeque::new(),
            told: Told::default(),
            last_message_id: None,
            pending: Vec::new(),
            long: None,
        }
    }
}

/// What the agent says about itself at the beginning of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Init {
    /// The tools it has.
    pub tools: Vec<String>,
    /// The permission mode it runs in.
    pub permission_mode: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// Its working directory.
    pub cwd: Option<String>,
    /// Its MCP servers.
    pub mcp_servers: Vec<String>,
    /// Its version.
    pub version: Option<String>,
}

/// The failure that a message made by the agent itself stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentError {
    /// The agent's word for it, such as `rate_limit`.
    pub kind: String,
}

/// The event that ends a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResultEvent {
    /// `success` also stands before every failure of the provider; see `is_error`.
    pub subtype: String,
    /// Whether the run failed.
    pub is_error: bool,
    /// The provider's status of the failure.
    pub api_error_status: Option<u64>,
    /// Why the run ended.
    pub terminal_reason: Option<String>,
    /// Why the model stopped.
    pub stop_reason: Option<String>,
    /// The final text, or the text of the failure.
    pub text: Option<String>,
    /// Further words about a failure.
    pub errors: Vec<String>,
    /// Turns taken.
    pub turns: Option<u64>,
    /// Wall time in milliseconds.
    pub duration_ms: Option<u64>,
    /// An estimate of the cost in US dollars.
    pub cost_usd: Option<f64>,
    /// The answer to a schema.
    pub structured_output: Option<Value>,
}

/// A tool call that the permissions refused.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Denial {
    /// The tool.
    pub tool: String,
    /// The command, path or address it was about, cut.
    pub subject: String,
    #[serde(skip)]
    call: String,
}

impl Denial {
    /// A denial of `tool` about `subject`.
    pub fn new(tool: impl Into<String>, subject: impl Into<String>) -> Self {
        Self { tool: tool.into(), subject: subject.into(), call: String::new() }
    }
}

#[derive(Debug, Clone, PartialEq)]
struct Call {
    id: String,
    tool: String,
    subject: String,
}

impl StreamSummary {
    /// The denials that are remembered one by one, in order.
    pub fn denials(&self) -> &[Denial] {
        &self.denials
    }

    /// How many calls were denied.
    pub fn denial_count(&self) -> u64 {
        self.denials.len() as u64 + self.denials_beyond
    }

    /// What the agent said and which tools it used since this was asked last, a readable line each, at most some thousand
    /// in all.
    pub fn take_told(&mut self) -> Vec<String> {
        self.told.take()
    }

    /// A line of which not even the skeleton could be held.
    pub(super) fn unreadable_line(&mut self) {
        self.lines += 1;
        self.bad_lines += 1;
    }

    /// Reads one line, without its newline.
    pub(super) fn line(&mut self, line: &[u8]) {
        if carries_nothing(line) {
            self.lines += 1;
            return;
        }
        match read(line) {
            Line::Blank => {}
            Line::Bad => {
                self.lines += 1;
                self.bad_lines += 1;
            }
            Line::Json { value, repaired } => {
                self.lines += 1;
                self.repaired_lines += u64::from(repaired);
                match value {
                    // With `--output-format json --verbose` all events are one list.
                    Value::Array(events) => events.iter().for_each(|event| self.event(event)),
                    event => self.event(&event),
                }
            }
        }
    }

    fn event(&mut self, event: &Value) {
        if self.session_id.is_none() {
            self.session_id = text(event, "session_id");
        }
        let subtype = event.get("subtype").and_then(Value::as_str);
        match (event.get("type").and_then(Value::as_str), subtype) {
            (Some("system"), Some("init")) => self.init(event),
            (Some("system"), Some("api_retry")) => self.retries += 1,
            (Some("system"), Some("model_refusal_no_fallback")) => self.refused = true,
            (Some("rate_limit_event"), _) => self.rate_limit(event),
            (Some("assistant"), _) => self.assistant(event),
            (Some("user"), _) => self.tool_results(event),
            (Some("result"), _) => self.result(event),
            // A newer agent says more; what is not known is not needed.
            (Some(_), _) => {}
            (None, _) => self.bad_lines += 1,
        }
    }

    fn init(&mut self, event: &Value) {
        let servers = event.get("mcp_servers").and_then(Value::as_array);
        let name = |server: &Value| {
            server.as_str().map(str::to_owned).or_else(|| text(server, "name")).unwrap_or_default()
        };
        let init = Init {
            tools: texts(event, "tools"),
            permission_mode: text(event, "permissionMode"),
            model: text(event, "model"),
            cwd: text(event, "cwd"),
            mcp_servers: servers.into_iter().flatten().map(name).collect(),
            version: text(event, "claude_code_version"),
        };
        match &self.init {
            None => self.init = Some(init),
            Some(first)
                if first.tools == init.tools && first.permission_mode == init.permission_mode => {}
            Some(_) => self.changed_init = Some(init),
        }
    }

    fn rate_limit(&mut self, event: &Value) {
        let Some(info) = event.get("rate_limit_info") else { return };
        if info.get("status").and_then(Value::as_str) == Some("rejected") {
            self.limit_resets_at = info.get("resetsAt").and_then(Value::as_i64);
        }
    }

    fn assistant(&mut self, event: &Value) {
        let Some(message) = event.get("message") else { return };
        let own = event.get("parent_tool_use_id").is_none_or(Value::is_null);
        let synthetic = message.get("model").and_then(Value::as_str) == Some("<synthetic>");
        if own {
            // A later message of the model means that the failure was got over.
            self.error = text(event, "error").map(|kind| AgentError { kind });
            let id = text(message, "id");
            // One reply comes as several lines with the same id.
            if !synthetic && (id.is_none() || id != self.last_message_id) {
                self.assistant_messages += 1;
            }
            self.last_message_id = id;
        }
        for block in message.get("content").and_then(Value::as_array).into_iter().flatten() {
            match block.get("type").and_then(Value::as_str) {
                Some("tool_use") => self.tool_call(block, own),
                Some("text") => {
                    let said = block.get("text").and_then(Value::as_str).unwrap_or_default();
                    self.told.say(if own { "the agent says" } else { "a sub-agent says" }, said);
                }
                // Thinking, and what a newer agent puts there.
                Some(_) | None => {}
            }
        }
    }

    fn tool_call(&mut self, block: &Value, own: bool) {
        self.tool_calls += 1;
        if self.calls.len() == CALLS_KEPT {
            self.calls.pop_front();
        }
        let call = Call {
            id: text(block, "id").unwrap_or_default(),
            tool: text(block, "name").unwrap_or_default(),
            subject: subject(block.get("input")),
        };
        let who = if own { "the agent uses" } else { "a sub-agent uses" };
        self.told.say(who, &format!("{} {}", call.tool, call.subject));
        self.calls.push_back(call);
    }

    fn tool_results(&mut self, event: &Value) {
        let content = event.pointer("/message/content").and_then(Value::as_array);
        for block in content.into_iter().flatten() {
            if block.get("is_error").and_then(Value::as_bool) != Some(true) {
                continue;
            }
            self.tool_errors += 1;
            let id = text(block, "tool_use_id").unwrap_or_default();
            if !tells_a_denial(&tool_error(block)) {
                continue;
            }
            let call = self.calls.iter().find(|call| call.id == id);
            let (tool, subject) = call
                .map_or_else(Default::default, |call| (call.tool.clone(), call.subject.clone()));
            self.deny(Denial { tool, subject, call: id });
        }
    }

    fn deny(&mut self, denial: Denial) {
        let known = |kept: &Denial| !denial.call.is_empty() && kept.call == denial.call;
        if self.denials.iter().any(known) {
            return;
        }
        if self.denials.len() < DENIALS_KEPT {
            self.denials.push(denial);
        } else {
            self.denials_beyond += 1;
        }
    }

    fn result(&mut self, event: &Value) {
        let denied = event.get("permission_denials").and_then(Value::as_array);
        let beyond = self.denials_beyond;
        for denial in denied.into_iter().flatten() {
            self.deny(Denial {
                tool: text(denial, "tool_name").unwrap_or_default(),
                subject: subject(denial.get("tool_input")),
                call: text(denial, "tool_use_id").unwrap_or_default(),
            });
        }
        // Past the remembered ones the two sources cannot be told apart: they are not counted twice.
        if beyond > 0 {
            self.denials_beyond = beyond;
        }
        let text_of = |name| text(event, name).map(|text| cut(text, TEXT_KEPT));
        self.result = Some(ResultEvent {
            subtype: text(event, "subtype").unwrap_or_default(),
            is_error: event.get("is_error").and_then(Value::as_bool).unwrap_or(false),
            api_error_status: event.get("api_error_status").and_then(Value::as_u64),
            terminal_reason: text_of("terminal_reason"),
            stop_reason: text_of("stop_reason"),
            text: text_of("result"),
            errors: texts(event, "errors").into_iter().take(20).collect(),
            turns: event.get("num_turns").and_then(Value::as_u64),
            duration_ms: event.get("duration_ms").and_then(Value::as_u64),
            cost_usd: event.get("total_cost_usd").and_then(Value::as_f64),
            structured_output: event.get("structured_output").filter(|v| !v.is_null()).cloned(),
        });
    }
}

/// Whether a line is certain to hold nothing that is remembered, told without parsing it.
///
/// The bulk of a long stream are partial messages and the results of tools that went well.
fn carries_nothing(line: &[u8]) -> bool {
    if line.starts_with(b"{\"type\":\"stream_event\"") {
        return true;
    }
    line.starts_with(b"{\"type\":\"user\"")
        && line.ends_with(b"}")
        && memchr::memmem::find(line, b"\"is_error\":true").is_none()
}

fn text(value: &Value, name: &str) -> Option<String> {
    value.get(name).and_then(Value::as_str).map(str::to_owned)
}

fn texts(value: &Value, name: &str) -> Vec<String> {
    let items = value.get(name).and_then(Value::as_array);
    items.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// What a call was about: the first telling value of its input.
fn subject(input: Option<&Value>) -> String {
    const TELLING: [&str; 8] = [
        "command",
        "file_path",
        "notebook_path",
        "path",
        "pattern",
        "url",
        "query",
        "subagent_type",
    ];
    let Some(input) = input else { return String::new() };
    TELLING
        .iter()
        .find_map(|name| text(input, name))
        .map(|text| cut(text, SUBJECT_KEPT))
        .unwrap_or_default()
}

/// The beginning of a tool's error text, however it is packed.
fn tool_error(block: &Value) -> String {
    match block.get("content") {
        Some(Value::String(text)) => text.chars().take(4000).collect(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.get("text")).filter_map(Value::as_str).collect()
        }
        _ => String::new(),
    }
}

/// Whether a tool's error means that the permissions refused the call; not all such calls are in the `result` event.
fn tells_a_denial(error: &str) -> bool {
    let error = error.strip_prefix("<tool_use_error>").unwrap_or(error);
    (error.starts_with("Permission to use ") && error.contains("denied"))
        || error.contains("denied by your permission settings")
        || error.contains("has been denied by permission rule")
        || error.starts_with("Error: No such tool available")
}

/// `text` cut at `limit` bytes, on a character boundary.
fn cut(mut text: String, limit: usize) -> String {
    if text.len() > limit {
        text.truncate(text.floor_char_boundary(limit));
        text.push('…');
    }
    text
}
