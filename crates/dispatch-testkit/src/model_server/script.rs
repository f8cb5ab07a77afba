//! What the model is told to answer.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::ModelRequest;
use crate::wait;

type Condition = Box<dyn Fn(&ModelRequest) -> bool + Send>;

/// The answers to one kind of request, in order.
pub struct Lane {
    pub(super) name: String,
    conditions: Vec<Condition>,
    turns: Vec<Turn>,
    at: usize,
}

/// The tool through which `claude` takes an answer that must fit a schema.
const VERDICT_TOOL: &str = "StructuredOutput";

impl Lane {
    /// A lane every request fits, until conditions are added; the name is for the test.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), conditions: Vec::new(), turns: Vec::new(), at: 0 }
    }

    /// A lane for requests that are not asked for an answer by a schema.
    pub fn worker(name: impl Into<String>) -> Self {
        Self::new(name).when(|request| !request.tools().contains(&VERDICT_TOOL))
    }

    /// A lane for requests that must answer by a schema.
    pub fn reviewer(name: impl Into<String>) -> Self {
        Self::new(name).when_offered(VERDICT_TOOL)
    }

    /// Narrows the lane to requests whose prompt or system prompt contains `text`.
    #[must_use]
    pub fn when_said(self, text: impl Into<String>) -> Self {
        let text = text.into();
        self.when(move |request| {
            request.prompt().contains(&text) || request.system().contains(&text)
        })
    }

    /// Narrows the lane to requests that offer `tool`.
    #[must_use]
    pub fn when_offered(self, tool: impl Into<String>) -> Self {
        let tool = tool.into();
        self.when(move |request| request.tools().contains(&tool.as_str()))
    }

    /// Narrows the lane by any condition.
    #[must_use]
    pub fn when(mut self, condition: impl Fn(&ModelRequest) -> bool + Send + 'static) -> Self {
        self.conditions.push(Box::new(condition));
        self
    }

    /// Adds a turn.
    #[must_use]
    pub fn turn(mut self, turn: Turn) -> Self {
        self.turns.push(turn);
        self
    }

    /// Adds turns.
    #[must_use]
    pub fn turns(mut self, turns: impl IntoIterator<Item = Turn>) -> Self {
        self.turns.extend(turns);
        self
    }

    pub(super) fn fits(&self, request: &ModelRequest) -> bool {
        self.conditions.iter().all(|condition| condition(request))
    }

    /// The next turn; the last one for ever.
    pub(super) fn take(&mut self) -> Turn {
        let turn = self.turns.get(self.at).or(self.turns.last()).cloned();
        self.at += 1;
        turn.unwrap_or_else(|| panic!("lane `{}` has no turn", self.name))
    }
}

/// Holds answers back until a test opens it, so that a test can act while a worker runs.
///
/// ```
/// use dispatch_testkit::model_server::{Gate, Turn};
///
/// let gate = Gate::new();
/// let turn = Turn::text("done").behind(&gate);
/// // … gate.wait_for(1): a worker waits behind it …
/// gate.open();
/// # drop(turn);
/// ```
#[derive(Clone, Default)]
pub struct Gate(Arc<GateState>);

#[derive(Default)]
struct GateState {
    open: AtomicBool,
    entered: AtomicUsize,
}

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets everything through, now and later.
    pub fn open(&self) {
        self.0.open.store(true, Ordering::SeqCst);
    }

    /// How many requests have come to the gate.
    pub fn entered(&self) -> usize {
        self.0.entered.load(Ordering::SeqCst)
    }

    /// Waits until `count` requests have come to the gate.
    ///
    /// # Panics
    ///
    /// When that takes longer than [`wait::PATIENCE`].
    #[track_caller]
    pub fn wait_for(&self, count: usize) {
        wait::until(&format!("{count} requests at the gate"), || self.entered() >= count);
    }

    pub(super) fn enter(&self) {
        self.0.entered.fetch_add(1, Ordering::SeqCst);
    }

    pub(super) fn is_closed(&self) -> bool {
        !self.0.open.load(Ordering::SeqCst)
    }
}

/// Where an answer is cut off.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Cut {
    /// No byte is sent.
    AtOnce,
    /// Half of the events are sent.
    Middle,
    /// All but the closing event are sent.
    BeforeStop,
}

/// One answer of the model.
#[derive(Clone)]
pub struct Turn(Kind);

#[derive(Clone)]
enum Kind {
    Fixed(Box<Answer>),
    Made(Arc<dyn Fn(&ModelRequest) -> Turn + Send + Sync>),
}

#[derive(Clone, Default)]
pub(super) struct Answer {
    pub(super) blocks: Vec<Block>,
    pub(super) stop_reason: Option<String>,
    pub(super) usage: Option<(u64, u64)>,
    pub(super) failure: Option<Failure>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) delay: Duration,
    pub(super) stall: Duration,
    pub(super) hang: bool,
    pub(super) cut: Option<Cut>,
    pub(super) gate: Option<Gate>,
}

#[derive(Clone)]
pub(super) enum Block {
    Text(String),
    Thinking(String),
    Tool { name: String, input: Value },
}

#[derive(Clone)]
pub(super) struct Failure {
    pub(super) status: u16,
    kind: String,
    message: String,
    raw: Option<String>,
}

impl Failure {
    pub(super) fn body(&self, number: usize) -> String {
        self.raw.clone().unwrap_or_else(|| {
            let error = json!({"type": self.kind, "message": self.message});
            let id = format!("req_test{number:04}");
            json!({"type": "error", "error": error, "request_id": id}).to_string()
        })
    }
}

impl Turn {
    /// Says something and ends the run, unless a tool is called too.
    pub fn text(text: impl Into<String>) -> Self {
        Self::of(Block::Text(text.into()))
    }

    /// An answer without any block.
    pub fn empty() -> Self {
        Self::fixed(Answer::default())
    }

    /// Only thinks.
    pub fn thinking(text: impl Into<String>) -> Self {
        Self::of(Block::Thinking(text.into()))
    }

    /// Calls a tool.
    pub fn tool(name: impl Into<String>, input: Value) -> Self {
        Self::of(Block::Tool { name: name.into(), input })
    }

    /// Runs a shell command through the client's tool.
    pub fn bash(command: impl Into<String>) -> Self {
        let command: String = command.into();
        Self::tool("Bash", json!({"command": command, "description": "Runs a step"}))
    }

    /// Makes a new file through the client's editing tool, `path` being below the working folder.
    pub fn new_file(path: impl Into<String>, content: impl Into<String>) -> Self {
        let (path, content) = (path.into(), content.into());
        Self::made(move |request| {
            let path = format!("{}/{path}", request.cwd().unwrap_or_default());
            let input = json!({"file_path": path, "old_string": "", "new_string": content});
            Self::tool("Edit", input)
        })
    }

    /// Edits the task through the board command the worker was given; `edits` is written as in a shell. Says so in a text
    /// when it was given none.
    pub fn worker_edit(edits: impl Into<String>) -> Self {
        let edits = edits.into();
        Self::made(move |request| match request.board_command() {
            Some(command) => Self::bash(format!("{command} {edits}")),
            None => Self::text("I was given no board command."),
        })
    }

    /// Answers by the schema the client was given.
    pub fn verdict(answer: &Value) -> Self {
        Self::tool(VERDICT_TOOL, answer.clone())
    }

    /// Fails with an HTTP status and the error kind the API uses for it.
    pub fn error(status: u16) -> Self {
        Self::error_saying(status, format!("scripted error {status}"))
    }

    /// Fails with an HTTP status and a message.
    pub fn error_saying(status: u16, message: impl Into<String>) -> Self {
        let kind = match status {
            400 => "invalid_request_error",
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            _ => "api_error",
        };
        let failure = Failure { status, kind: kind.to_owned(), message: message.into(), raw: None };
        Self::fixed(Answer { failure: Some(failure), ..Answer::default() })
    }

    /// Fails with an HTTP status and a body that is not the API's, such as a page of a proxy.
    pub fn error_with_body(status: u16, body: impl Into<String>) -> Self {
        let raw = Some(body.into());
        let failure = Failure { status, kind: String::new(), message: String::new(), raw };
        Self::fixed(Answer { failure: Some(failure), ..Answer::default() })
    }

    /// Never answers; the client is let go when the model ends.
    pub fn hang() -> Self {
        Self::fixed(Answer { hang: true, ..Answer::default() })
    }

    /// Decides when the request is there. The test's code runs in the model's thread, so it can also act on the world
    /// before the answer goes out.
    pub fn made(make: impl Fn(&ModelRequest) -> Self + Send + Sync + 'static) -> Self {
        Self(Kind::Made(Arc::new(make)))
    }

    /// Adds a text block.
    #[must_use]
    pub fn and_text(self, text: impl Into<String>) -> Self {
        let text = text.into();
        self.with(move |answer| answer.blocks.push(Block::Text(text.clone())))
    }

    /// Adds a tool call to the same answer.
    #[must_use]
    pub fn and_tool(self, name: impl Into<String>, input: Value) -> Self {
        let name = name.into();
        self.with(move |answer| {
            answer.blocks.push(Block::Tool { name: name.clone(), input: input.clone() });
        })
    }

    /// Sets the stop reason, such as `max_tokens` or `refusal`.
    #[must_use]
    pub fn stop_reason(self, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        self.with(move |answer| answer.stop_reason = Some(reason.clone()))
    }

    /// Sets the tokens the answer is said to cost.
    #[must_use]
    pub fn usage(self, input_tokens: u64, output_tokens: u64) -> Self {
        self.with(move |answer| answer.usage = Some((input_tokens, output_tokens)))
    }

    /// Adds a header to the answer, such as `retry-after`.
    #[must_use]
    pub fn header(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let header = (name.into(), value.into());
        self.with(move |answer| answer.headers.push(header.clone()))
    }

    /// Answers late.
    #[must_use]
    pub fn delay(self, time: Duration) -> Self {
        self.with(move |answer| answer.delay = time)
    }

    /// Pauses half-way through the answer.
    #[must_use]
    pub fn stall(self, time: Duration) -> Self {
        self.with(move |answer| answer.stall = time)
    }

    /// Drops the connection.
    #[must_use]
    pub fn cut(self, cut: Cut) -> Self {
        self.with(move |answer| answer.cut = Some(cut))
    }

    /// Answers once `gate` is open.
    #[must_use]
    pub fn behind(self, gate: &Gate) -> Self {
        let gate = gate.clone();
        self.with(move |answer| answer.gate = Some(gate.clone()))
    }

    /// The same turn `count` times.
    pub fn times(self, count: usize) -> Vec<Self> {
        vec![self; count]
    }

    fn fixed(answer: Answer) -> Self {
        Self(Kind::Fixed(Box::new(answer)))
    }

    fn of(block: Block) -> Self {
        Self::fixed(Answer { blocks: vec![block], ..Answer::default() })
    }

    fn with(self, change: impl Fn(&mut Answer) + Send + Sync + 'static) -> Self {
        match self.0 {
            Kind::Fixed(mut answer) => {
                change(&mut answer);
                Self(Kind::Fixed(answer))
            }
            Kind::Made(make) => Self::made(move |request| {
                let mut answer = make(request).resolve(request);
                change(&mut answer);
                Self::fixed(answer)
            }),
        }
    }

    pub(super) fn resolve(self, request: &ModelRequest) -> Answer {
        match self.0 {
            Kind::Fixed(answer) => *answer,
            Kind::Made(make) => make(request).resolve(request),
        }
    }
}

impl fmt::Debug for Lane {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Lane({}, {} turns, at {})", self.name, self.turns.len(), self.at)
    }
}
