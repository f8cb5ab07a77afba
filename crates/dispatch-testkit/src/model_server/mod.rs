//! A scripted model on loopback that a real `claude` talks to.
//!
//! A test says what the model answers, turn by turn, in one or more lanes; a request goes to the first lane whose
//! conditions it meets, so that a worker and its reviewer, or the workers of two tasks, are told apart. Every request is
//! kept for the test to look at.
//!
//! ```no_run
//! use dispatch_testkit::model_server::{Lane, ModelServer, Turn};
//! use dispatch_testkit::json;
//!
//! let model = ModelServer::start([
//!     Lane::reviewer("review").turn(Turn::verdict(&json!({"verdict": "pass", "findings": []}))),
//!     Lane::worker("task 1").when_said("TASK-1")
//!         .turn(Turn::bash("echo done > result.txt"))
//!         .turn(Turn::text("All done.")),
//! ]);
//! // ANTHROPIC_BASE_URL=model.base_url(), any ANTHROPIC_API_KEY
//! assert_eq!(model.requests_of("task 1").len(), 2);
//! assert!(model.strangers().is_empty());
//! ```
//!
//! One answer is one turn: "calls two tools one after the other, then answers" is three turns. A retry by the client is
//! a new request, so it takes a turn too. A lane that has run out repeats its last turn.

mod script;
mod wire;

use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use serde_json::{Value, json};

pub use self::script::{Cut, Gate, Lane, Turn};
use crate::http::{Address, Next, Reply, Request, Server};
use crate::wait;

/// A running model; it ends when dropped.
pub struct ModelServer {
    server: Server,
    state: Arc<Mutex<State>>,
}

struct State {
    lanes: Vec<Lane>,
    local: Vec<(String, String)>,
    requests: Vec<ModelRequest>,
}

impl ModelServer {
    /// Starts a model on a free port. The first lane that a request fits answers it; a request that fits none is
    /// refused with 400 and kept among the [`strangers`](Self::strangers).
    pub fn start(lanes: impl IntoIterator<Item = Lane>) -> Self {
        let state = Arc::new(Mutex::new(State {
            lanes: lanes.into_iter().collect(),
            local: Vec::new(),
            requests: Vec::new(),
        }));
        let server = Server::tcp(Box::new({
            let state = Arc::clone(&state);
            move |request, reply| answer(&state, &request, reply)
        }));
        Self { server, state }
    }

    /// The value for `ANTHROPIC_BASE_URL`.
    pub fn base_url(&self) -> String {
        match self.server.address() {
            Address::Tcp(address) => format!("http://{address}"),
            Address::Unix(path) => format!("unix:{path}"),
        }
    }

    /// The port of loopback the model listens on.
    pub fn port(&self) -> u16 {
        match self.server.address() {
            Address::Tcp(address) => address.port(),
            Address::Unix(_) => 0,
        }
    }

    /// Adds a lane before all others, while the model runs.
    pub fn add(&self, lane: Lane) {
        self.lock().lanes.insert(0, lane);
    }

    /// Lists a model as a local model server does at `/api/v0/models`; `state` is `loaded` or another word. A model
    /// listed before gets the new state.
    pub fn load_local(&self, id: &str, state: &str) {
        let mut shared = self.lock();
        shared.local.retain(|(known, _)| known != id);
        shared.local.push((id.to_owned(), state.to_owned()));
    }

    /// All requests so far, in the order they came.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.lock().requests.clone()
    }

    /// The requests `lane` answered.
    pub fn requests_of(&self, lane: &str) -> Vec<ModelRequest> {
        self.requests()
            .into_iter()
            .filter(|request| request.lane.as_deref() == Some(lane))
            .collect()
    }

    /// The requests that fitted no lane.
    pub fn strangers(&self) -> Vec<ModelRequest> {
        self.requests().into_iter().filter(|request| request.lane.is_none()).collect()
    }

    /// Waits until `lane` has been asked `count` times.
    ///
    /// # Panics
    ///
    /// When that takes longer than [`wait::PATIENCE`].
    #[track_caller]
    pub fn wait_for(&self, lane: &str, count: usize) {
        wait::until(&format!("{count} requests of lane `{lane}`"), || {
            self.requests_of(lane).len() >= count
        });
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

/// One request to the model.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    /// Counts from 1 over all lanes.
    pub number: usize,
    /// The lane that answered.
    pub lane: Option<String>,
    /// Header names in lower case.
    pub headers: Vec<(String, String)>,
    /// The request as sent.
    pub body: Value,
}

impl ModelRequest {
    /// The names of the tools on offer.
    pub fn tools(&self) -> Vec<&str> {
        let tools = self.body["tools"].as_array().into_iter().flatten();
        tools.filter_map(|tool| tool["name"].as_str()).collect()
    }

    /// The model asked for.
    pub fn model(&self) -> &str {
        self.body["model"].as_str().unwrap_or_default()
    }

    /// The system prompt, its blocks joined by newlines.
    pub fn system(&self) -> String {
        text_of(&self.body["system"])
    }

    /// The text of the first message: the prompt.
    pub fn prompt(&self) -> String {
        text_of(&self.body["messages"][0]["content"])
    }

    /// What the tools called by the previous turn answered: text, and whether it was an error.
    pub fn tool_results(&self) -> Vec<(String, bool)> {
        let last = self.body["messages"].as_array().and_then(|messages| messages.last());
        let blocks = last.and_then(|message| message["content"].as_array()).into_iter().flatten();
        blocks
            .filter(|block| block["type"] == "tool_result")
            .map(|block| (text_of(&block["content"]), block["is_error"] == true))
            .collect()
    }

    /// The working folder the client states in its system prompt.
    pub fn cwd(&self) -> Option<String> {
        let system = self.system();
        let line = system.lines().find_map(|line| {
            let fact = line.trim().trim_start_matches("- ");
            fact.strip_prefix("CWD: ").or_else(|| fact.strip_prefix("Primary working directory: "))
        });
        line.map(str::to_owned)
    }

    /// The board command the client's text names: the path of `worker-edit` and the task's id.
    pub fn board_command(&self) -> Option<String> {
        let text = format!("{}\n{}", self.system(), self.prompt());
        let (before, after) = text.split_once("/worker-edit ")?;
        let outside = |letter: char| letter.is_whitespace() || "`'\"(".contains(letter);
        let folder = before.rsplit(outside).next()?;
        let id = |letter: char| letter.is_ascii_alphanumeric() || "-.".contains(letter);
        let end = after.find(|letter| !id(letter)).unwrap_or(after.len());
        Some(format!("{folder}/worker-edit {}", after[..end].trim_end_matches('.')))
    }

    /// The value of a header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The text of a string, or of the text blocks of a list.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

fn answer(state: &Mutex<State>, request: &Request, reply: &mut Reply<'_>) -> io::Result<Next> {
    let path = request.path.split('?').next().unwrap_or_default();
    if path == "/api/v0/models" {
        let models = &state.lock().unwrap().local;
        let models: Vec<Value> = models
            .iter()
            .map(|(id, state)| json!({"id": id, "object": "model", "type": "llm", "state": state}))
            .collect();
        let body = json!({"object": "list", "data": models}).to_string();
        reply.send(200, &wire::json_header(), body.as_bytes())?;
        return Ok(Next::Keep);
    }
    if request.method != "POST" || !path.ends_with("/v1/messages") {
        let body: &[u8] =
            if path.ends_with("/count_tokens") { br#"{"input_tokens":10}"# } else { b"{}" };
        reply.send(200, &wire::json_header(), body)?;
        return Ok(Next::Keep);
    }
    let body = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
    let mut model_request =
        ModelRequest { number: 0, lane: None, headers: request.headers.clone(), body };
    let turn = {
        let mut state = state.lock().unwrap();
        model_request.number = state.requests.len() + 1;
        let lane = state.lanes.iter_mut().find(|lane| lane.fits(&model_request));
        let taken = lane.map(|lane| (lane.name.clone(), lane.take()));
        let (name, turn) = taken.unzip();
        model_request.lane = name;
        state.requests.push(model_request.clone());
        turn
    };
    match turn {
        // Outside the lock: a turn made by the test may look at the model, and a gate may hold it back.
        Some(turn) => turn.resolve(&model_request).play(&model_request, reply),
        None => refuse_stranger(reply),
    }
}

fn refuse_stranger(reply: &mut Reply<'_>) -> io::Result<Next> {
    let error =
        json!({"type": "invalid_request_error", "message": "no lane of the test's script fits"});
    let body = json!({"type": "error", "error": error}).to_string();
    reply.send(400, &wire::json_header(), body.as_bytes())?;
    Ok(Next::Keep)
}

impl script::Answer {
    fn play(self, request: &ModelRequest, reply: &mut Reply<'_>) -> io::Result<Next> {
        if let Some(gate) = &self.gate {
            gate.enter();
            reply.stop().wait_while(|| gate.is_closed());
        }
        if self.delay > Duration::ZERO {
            reply.stop().pause(self.delay);
        }
        if self.hang {
            reply.stop().wait_while(|| true);
            return Ok(Next::Drop);
        }
        if self.cut == Some(Cut::AtOnce) {
            return Ok(Next::Drop);
        }
        if let Some(failure) = &self.failure {
            let mut headers = wire::json_header();
            headers.extend(self.headers.iter().cloned());
            reply.send(failure.status, &headers, failure.body(request.number).as_bytes())?;
            return Ok(Next::Keep);
        }
        wire::stream(&self, request, reply)
    }
}
