//! A stand-in for GitHub that the real `gh` talks to through a socket file.
//!
//! `gh` speaks plain HTTP over the socket its configuration names, for every host, so that nothing leaves the machine.
//! The bare repository of a [`Repo`] decides which branches and commits exist; a merge really moves its base branch.
//! The REST calls on pull requests, labels, reviewers, reviews and branches are there, and GraphQL queries; GraphQL
//! mutations are not.
//!
//! ```no_run
//! use dispatch_testkit::forge_server::{Fault, ForgeServer, Injection, Merge};
//! use dispatch_testkit::{programs, repo::Repo};
//!
//! let repo = Repo::new(&programs::gits()[0]);
//! let forge = ForgeServer::start(&repo, "acme/widgets");
//! forge.inject(Injection::on("POST /repos/acme/widgets/pulls").fault(Fault::LostAnswer).times(1));
//! // … run the program under test with `forge.environment()` …
//! assert_eq!(forge.pull_requests().len(), 1, "made once, although the answer was lost");
//! forge.merge(1, Merge::Squash);
//! ```

mod fault;
mod graphql;
mod rest;
mod state;

use std::fs;
use std::io;
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard};

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};

pub use self::fault::{Fault, Injection};
pub use self::state::{IssueComment, Merge, PullRequest, PullState, Review, ReviewState, Settings};
use self::state::{State, Store};
use crate::http::{Next, Reply, Request, Server};
use crate::programs;
use crate::repo::Repo;

/// A running forge with one repository; it ends when dropped.
pub struct ForgeServer {
    _server: Server,
    shared: Arc<Mutex<Shared>>,
    config: Utf8PathBuf,
    home: Utf8PathBuf,
    slug: String,
}

struct Shared {
    state: State,
    calls: Vec<ForgeCall>,
    injections: Vec<Injection>,
    asked: bool,
}

/// The token of the login that is stored for `gh`.
const TOKEN: &str = "token-of-the-test";

/// One request the forge has seen.
#[derive(Clone, Debug)]
pub struct ForgeCall {
    /// The HTTP method.
    pub method: String,
    /// Path and query, as sent.
    pub path: String,
    /// The token sent with it.
    pub token: String,
    /// The body, or null.
    pub body: Value,
    /// The status answered, whether or not the answer arrived.
    pub status: u16,
}

/// What a request comes to.
struct Answer {
    status: u16,
    body: Value,
    headers: Vec<(String, String)>,
}

impl Answer {
    fn new(status: u16, body: Value) -> Self {
        Self { status, body, headers: Vec::new() }
    }

    fn message(status: u16, message: &str) -> Self {
        let body = json!({
            "message": message,
            "documentation_url": "https://docs.github.com/rest",
            "status": status.to_string(),
        });
        Self::new(status, body)
    }
}

impl ForgeServer {
    /// Starts a forge whose repository `slug` (`owner/name`) is the bare repository of `repo`. Its socket and the
    /// configuration of `gh` are made in the scratch folder.
    pub fn start(repo: &Repo, slug: &str) -> Self {
        let store = Store::new(repo.git_program(), &repo.remote(), &repo.home());
        let shared = Arc::new(Mutex::new(Shared {
            state: State::new(slug, store),
            calls: Vec::new(),
            injections: Vec::new(),
            asked: false,
        }));
        let socket = repo.root().join("forge.sock");
        let server = Server::unix(socket.clone(), {
            let shared = Arc::clone(&shared);
            Box::new(move |request, reply| serve(&shared, &request, reply))
        });
        let config = repo.root().join("gh");
        fs::create_dir_all(&config).unwrap();
        fs::write(
            config.join("config.yml"),
            format!("version: \"1\"\nhttp_unix_socket: {socket}\n"),
        )
        .unwrap();
        // A stored login, in the form that both the present and the older `gh` read.
        let hosts = format!(
            "github.com:\n    git_protocol: ssh\n    users:\n        alice:\n            oauth_token: {TOKEN}\n    \
             user: alice\n    oauth_token: {TOKEN}\n"
        );
        fs::write(config.join("hosts.yml"), hosts).unwrap();
        Self { _server: server, shared, config, home: repo.home(), slug: slug.to_owned() }
    }

    /// `owner/name`.
    pub fn slug(&self) -> &str {
        &self.slug
    }

    /// What a program needs so that the `gh` it starts talks to this forge: variables to add to its environment.
    pub fn environment(&self) -> Vec<(String, String)> {
        let fixed = [
            ("GH_CONFIG_DIR", self.config.as_str()),
            ("GH_TOKEN", TOKEN),
            ("GH_PROMPT_DISABLED", "1"),
            ("GH_NO_UPDATE_NOTIFIER", "1"),
            ("GH_TELEMETRY", "false"),
            ("NO_COLOR", "1"),
        ];
        fixed.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
    }

    /// A command on the real `gh`, outside any repository.
    pub fn gh(&self, gh: &Utf8Path) -> Command {
        let mut command = programs::command(gh, &self.home);
        command.envs(self.environment()).current_dir(&self.home);
        command
    }

    /// Every pull request, by number.
    pub fn pull_requests(&self) -> Vec<PullRequest> {
        let mut shared = self.lock();
        shared.state.refresh();
        shared.state.pulls.clone()
    }

    /// One pull request.
    ///
    /// # Panics
    ///
    /// When there is none of that number.
    #[track_caller]
    pub fn pull_request(&self, number: u64) -> PullRequest {
        let found = self.pull_requests().into_iter().find(|pull| pull.number == number);
        found.unwrap_or_else(|| panic!("there is no pull request {number}"))
    }

    /// A person opens a pull request on the forge's pages. Returns its number.
    ///
    /// # Panics
    ///
    /// When the forge refuses, for instance because `head` does not exist.
    #[track_caller]
    pub fn open(&self, head: &str, base: &str, title: &str, body: &str) -> u64 {
        let opened = self.lock().state.create("alice", head, base, title, body, false);
        opened.unwrap_or_else(|refused| {
            panic!("could not open a pull request of `{head}`: {refused}")
        })
    }

    /// A stranger opens a pull request from a fork, whose branch has the name `head`.
    pub fn open_from_fork(&self, head: &str, base: &str, title: &str) -> u64 {
        self.lock().state.create_from_fork("stranger", head, base, title)
    }

    /// Changes a pull request as a person could on the forge's pages.
    #[track_caller]
    pub fn edit(&self, number: u64, change: impl FnOnce(&mut PullRequest)) {
        let mut shared = self.lock();
        let pull = shared.state.pulls.iter_mut().find(|pull| pull.number == number);
        change(pull.unwrap_or_else(|| panic!("there is no pull request {number}")));
    }

    /// Merges a pull request: the base branch of the bare repository moves. Returns the new commit.
    ///
    /// # Panics
    ///
    /// When it conflicts or is not open.
    #[track_caller]
    pub fn merge(&self, number: u64, how: Merge) -> String {
        self.lock()
            .state
            .merge(number, how)
            .unwrap_or_else(|refused| panic!("could not merge: {refused}"))
    }

    /// Closes a pull request without merging it.
    #[track_caller]
    pub fn close(&self, number: u64) {
        self.lock().state.refresh();
        self.edit(number, PullRequest::close);
    }

    /// A person reviews a pull request as it is now.
    #[track_caller]
    pub fn review(&self, number: u64, author: &str, state: ReviewState, body: &str) {
        self.lock().state.refresh();
        self.edit(number, |pull| pull.add_review(author, state, body));
    }

    /// Changes who is who, and what the repository is set to.
    pub fn configure(&self, change: impl FnOnce(&mut Settings)) {
        change(&mut self.lock().state.settings);
    }

    /// Makes later requests fail; the first injection that fits a request and is not used up applies.
    pub fn inject(&self, injection: Injection) {
        self.lock().injections.push(injection);
    }

    /// Takes back all injections.
    pub fn recover(&self) {
        self.lock().injections.clear();
    }

    /// Every request so far.
    pub fn calls(&self) -> Vec<ForgeCall> {
        self.lock().calls.clone()
    }

    /// Whether a request has come in, answered or not.
    pub fn is_asked(&self) -> bool {
        self.lock().asked
    }

    /// How many requests used `method` on a path that contains `path`.
    pub fn count(&self, method: &str, path: &str) -> usize {
        let calls = self.calls();
        calls.iter().filter(|call| call.method == method && call.path.contains(path)).count()
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap()
    }
}

fn serve(shared: &Mutex<Shared>, request: &Request, reply: &mut Reply<'_>) -> io::Result<Next> {
    let body = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
    let fault = {
        let mut shared = shared.lock().unwrap();
        shared.asked = true;
        let line =
            format!("{} {} {}", request.method, request.path, body["query"].as_str().unwrap_or(""));
        shared.injections.iter_mut().find_map(|injection| injection.take(&line))
    };
    if let Some(time) = fault.as_ref().and_then(Fault::pause) {
        reply.stop().pause(time);
    }
    if matches!(fault, Some(Fault::Hang)) {
        reply.stop().wait_while(|| true);
    }
    let answer = {
        let mut shared = shared.lock().unwrap();
        let token = token(request);
        let unanswered = fault.as_ref().and_then(Fault::instead);
        let answer = unanswered.unwrap_or_else(|| shared.state.answer(request, &token, &body));
        shared.calls.push(ForgeCall {
            method: request.method.clone(),
            path: request.path.clone(),
            token,
            body,
            status: answer.status,
        });
        answer
    };
    send(&answer, fault.as_ref(), reply)
}

fn send(answer: &Answer, fault: Option<&Fault>, reply: &mut Reply<'_>) -> io::Result<Next> {
    let mut headers = answer.headers.clone();
    let known =
        |headers: &[(String, String)]| headers.iter().any(|(name, _)| name == "content-type");
    if !known(&headers) {
        headers.push(("content-type".to_owned(), "application/json; charset=utf-8".to_owned()));
    }
    let text = match &answer.body {
        Value::Null if answer.status == 204 => String::new(),
        // A body that is not JSON is kept as a string.
        Value::String(raw) => raw.clone(),
        other => other.to_string(),
    };
    match fault {
        Some(Fault::Drop | Fault::LostAnswer | Fault::Hang) => Ok(Next::Drop),
        Some(Fault::Truncated) => {
            reply.begin(answer.status, &headers)?;
            reply.chunk(&text.as_bytes()[..text.len() / 2])?;
            Ok(Next::Drop)
        }
        _ => {
            reply.send(answer.status, &headers, text.as_bytes())?;
            Ok(Next::Keep)
        }
    }
}

fn token(request: &Request) -> String {
    let header = request.headers.iter().find(|(name, _)| name == "authorization");
    let value = header.map_or("", |(_, value)| value.as_str());
    value.split_once(' ').map_or(value, |(_, token)| token).to_owned()
}

impl State {
    fn answer(&mut self, request: &Request, token: &str, body: &Value) -> Answer {
        let refused = match &self.settings.token {
            _ if token.is_empty() => Some("Requires authentication"),
            Some(only) if only != token => Some("Bad credentials"),
            Some(_) | None => None,
        };
        if let Some(message) = refused {
            return Answer::message(401, message);
        }
        self.refresh();
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        if path == "/graphql" {
            return Answer::new(200, graphql::answer(self, body));
        }
        rest::answer(self, &request.method, path, query, body)
    }
}
