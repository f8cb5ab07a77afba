//! GitHub through the `gh` program, always `gh api` (V4.2).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use camino::Utf8PathBuf;
use dispatch_core::branch::BranchName;
use dispatch_core::error_chain::chain;
use dispatch_core::record::RecordedProposal;
use dispatch_engine::ports::{
    Forge, ForgeKind, NewPullRequest, PortError, ProposalState, PullRequest,
};
use dispatch_proc::{Call, Ended, Stdin, brief, run};
use serde_json::{Value, json};

use super::answer::{is_from_here, proposals, pull_request, question};
use super::error::LOG_IN;
use super::{ForgeError, GitHubRepository};

/// What a question may take; a pass may have less time left.
const LOOK_LIMIT: Duration = Duration::from_secs(20);
/// What a change may take.
const WRITE_LIMIT: Duration = Duration::from_mins(1);

/// What is wrong with an answer that is no pull request.
const NO_PULL_REQUEST: &str = "a pull request without number, address or base";

/// Tokens of the environment, which outrank the stored login, also when they are stale (C9.4).
const TOKENS: &[&str] =
    &["GITHUB_TOKEN", "GH_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"];
/// What would make `gh` ask another repository, use a pager or print requests.
const STEERING: &[&str] = &[
    "GH_REPO",
    "GH_HOST",
    "GH_PAGER",
    "GH_BROWSER",
    "GH_FORCE_TTY",
    "GH_DEBUG",
    "DEBUG",
    "CLICOLOR_FORCE",
];

/// How `gh` is run.
#[derive(Debug, Clone)]
pub struct GhSettings {
    /// A path, or a name on `PATH`.
    pub program: Utf8PathBuf,
    /// The person's environment.
    pub env: Vec<(OsString, OsString)>,
    /// Whether a token may come from the environment (`forge.tokenFromEnv`).
    pub token_from_env: bool,
    /// How long a question may take.
    pub look_limit: Duration,
    /// How long a change may take.
    pub write_limit: Duration,
}

impl GhSettings {
    /// `gh` of `program` with the person's environment, the stored login, and the usual limits.
    pub fn new(
        program: impl Into<Utf8PathBuf>,
        env: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        Self {
            program: program.into(),
            env: env.into_iter().collect(),
            token_from_env: false,
            look_limit: LOOK_LIMIT,
            write_limit: WRITE_LIMIT,
        }
    }
}

/// GitHub.
#[derive(Debug, Clone)]
pub struct GhForge {
    repository: GitHubRepository,
    program: Utf8PathBuf,
    env: BTreeMap<OsString, OsString>,
    look_limit: Duration,
    write_limit: Duration,
}

impl GhForge {
    /// The forge of `repository`.
    pub fn new(repository: GitHubRepository, settings: GhSettings) -> Self {
        let GhSettings { program, env, token_from_env, look_limit, write_limit } = settings;
        let mut env: BTreeMap<OsString, OsString> = env
            .into_iter()
            .filter(|(name, _)| {
                let named = |names: &[&str]| names.iter().any(|listed| name == listed);
                !named(STEERING)
                    && !name.as_bytes().starts_with(b"GIT_")
                    && (token_from_env || !named(TOKENS))
            })
            .collect();
        for (name, value) in [
            ("GH_PROMPT_DISABLED", "1"),
            ("GH_NO_UPDATE_NOTIFIER", "1"),
            ("GH_TELEMETRY", "false"),
            ("NO_COLOR", "1"),
            ("LC_ALL", "C"),
        ] {
            env.insert(name.into(), value.into());
        }
        Self { repository, program, env, look_limit, write_limit }
    }

    /// The login `gh` acts as; fails as every other call would.
    pub fn login(&self) -> Result<String, ForgeError> {
        let answer = self.get("user")?;
        let login = answer["login"].as_str().map(str::to_owned);
        login.ok_or_else(|| ForgeError::nonsense("gh api user", "no login"))
    }

    fn path(&self, rest: &str) -> String {
        format!("repos/{}/{rest}", self.repository.slug())
    }

    fn get(&self, path: &str) -> Result<Value, ForgeError> {
        self.ask("GET", path, None, self.look_limit)
    }

    fn write(&self, method: &str, path: &str, body: &Value) -> Result<Value, ForgeError> {
        self.ask(method, path, Some(body), self.write_limit)
    }

    fn ask(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        limit: Duration,
    ) -> Result<Value, ForgeError> {
        let (command, finished) = self.call(method, path, body, limit)?;
        if !finished.is_success() {
            return Err(ForgeError::of(&command, &finished));
        }
        if finished.stdout.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&finished.stdout).map_err(|error| {
            ForgeError::nonsense(&command, format!("its answer is no JSON: {error}"))
        })
    }

    fn call(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        limit: Duration,
    ) -> Result<(String, dispatch_proc::Finished), ForgeError> {
        // A folder that is in no repository: there is nothing there for gh's own calls of git to find.
        let mut call = Call::new(&self.program, "/", limit)
            .envs(&self.env)
            .args(["api", "--hostname", &self.repository.host, "--method", method, path])
            .args(["--header", "Accept: application/vnd.github+json"]);
        if let Some(body) = body {
            call = call.args(["--input", "-"]).stdin(Stdin::Bytes(body.to_string().into_bytes()));
        }
        let command = format!("gh api {method} {path}");
        match run(&call) {
            Ok(finished) => Ok((command, finished)),
            Err(source) => Err(ForgeError::Proc { command, source }),
        }
    }

    fn open_of(
        &self,
        branch: &BranchName,
        base: &BranchName,
    ) -> Result<Option<PullRequest>, ForgeError> {
        let head = encoded(&format!("{}:{branch}", self.repository.owner));
        let path = self.path(&format!(
            "pulls?state=open&head={head}&sort=created&direction=desc&per_page=100"
        ));
        let answer = self.get(&path)?;
        let Some(listed) = answer.as_array() else {
            return Err(ForgeError::nonsense(&path, "its answer is no list"));
        };
        let ours =
            listed.iter().filter(|pull| is_from_here(pull, &self.repository, branch.as_str()));
        let read: Option<Vec<PullRequest>> =
            ours.map(|pull| pull_request(pull, &self.repository)).collect();
        let Some(mut read) = read else {
            return Err(ForgeError::nonsense(&path, NO_PULL_REQUEST));
        };
        // A person may have turned it to another base; a second one beside it would be of no use to them.
        let at = read.iter().position(|pull| pull.base == *base).unwrap_or(0);
        Ok((at < read.len()).then(|| read.swap_remove(at)))
    }

    /// Opens a pull request. A failed write may have happened, and one may have been opened meanwhile: whatever
    /// went wrong, a look decides.
    fn open(&self, new: &NewPullRequest) -> Result<PullRequest, ForgeError> {
        let path = self.path("pulls");
        let body = json!({
            "title": new.title, "body": new.body, "head": new.branch.as_str(), "base": new.base.as_str(),
        });
        let error = match self.write("POST", &path, &body) {
            Ok(answer) => match pull_request(&answer, &self.repository) {
                Some(pull) => return Ok(pull),
                None => ForgeError::nonsense(&path, NO_PULL_REQUEST),
            },
            Err(error) => error,
        };
        match self.open_of(&new.branch, &new.base) {
            Ok(Some(pull)) => Ok(pull),
            Ok(None) | Err(_) => Err(error),
        }
    }

    /// Makes a change, and looks whether it happened when the answer says it did not.
    fn change(
        &self,
        method: &str,
        path: &str,
        body: &Value,
        happened: impl FnOnce() -> Result<bool, ForgeError>,
    ) -> Result<(), ForgeError> {
        match self.write(method, path, body) {
            Ok(_) => Ok(()),
            Err(error) => match happened() {
                Ok(true) => Ok(()),
                Ok(false) | Err(_) => Err(error),
            },
        }
    }
}

/// A text as part of a query, by the strictest reading.
fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            // Writing into a text cannot fail.
            let _written = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// Whether a list of objects has one whose `key` is `value`, whatever the case.
fn lists(answer: &Value, key: &str, value: &str) -> bool {
    let named =
        |item: &Value| item[key].as_str().is_some_and(|found| found.eq_ignore_ascii_case(value));
    answer.as_array().into_iter().flatten().any(named)
}

impl Forge for GhForge {
    fn kind(&self) -> ForgeKind {
        ForgeKind::GitHub
    }

    fn missing(&self) -> Option<String> {
        let program = &self.program;
        let host = &self.repository.host;
        // The stored login, or the variables that are left to it: no request is made.
        let call = Call::new(program, "/", self.look_limit).envs(&self.env).args([
            "auth",
            "token",
            "--hostname",
            host,
        ]);
        match run(&call) {
            Ok(finished) => match finished.ended {
                Ended::Exit(code) if code != 0 => {
                    let words = brief(&finished.stderr_text(), 200);
                    Some(format!("`{program}` is not logged in to {host} ({words}): {LOG_IN}"))
                }
                // What is wrong with a call that was ended, the calls themselves tell.
                Ended::Exit(_) | Ended::Signal(_) | Ended::TimedOut | Ended::Stopped => None,
            },
            Err(error) => Some(format!(
                "`{program}`, which opens pull requests, cannot be run ({}): install GitHub CLI, add its folder to the \
                 `PATH` of whatever runs the passes, or have branches pushed without pull requests (`\"forge\": {{ \
                 \"kind\": \"git\" }}`)",
                chain(&error)
            )),
        }
    }

    fn proposals(
        &self,
        recorded: &[RecordedProposal],
        limit: Duration,
    ) -> Result<BTreeMap<u64, ProposalState>, PortError> {
        let Some(query) = question(&self.repository, recorded) else { return Ok(BTreeMap::new()) };
        let doing = "ask what became of the pull requests";
        let body = json!({ "query": query });
        let (command, finished) = self
            .call("POST", "graphql", Some(&body), limit.min(self.look_limit))
            .map_err(|error| error.port(doing))?;
        // A part that could not be answered makes the whole call fail, with the rest of the answer there.
        let answer = serde_json::from_slice(&finished.stdout).unwrap_or(Value::Null);
        match proposals(&answer, recorded) {
            Some(states) => Ok(states),
            None if finished.is_success() => {
                Err(ForgeError::nonsense(&command, "an answer without data").port(doing))
            }
            None => Err(ForgeError::of(&command, &finished).port(doing)),
        }
    }

    fn find_open(
        &self,
        branch: &BranchName,
        base: &BranchName,
    ) -> Result<Option<PullRequest>, PortError> {
        self.open_of(branch, base)
            .map_err(|error| error.port(format!("look for an open pull request of {branch}")))
    }

    fn create(&self, new: &NewPullRequest) -> Result<PullRequest, PortError> {
        self.open(new).map_err(|error| error.port(format!("open a pull request of {}", new.branch)))
    }

    fn update_body(&self, number: u64, body: &str) -> Result<(), PortError> {
        let path = self.path(&format!("pulls/{number}"));
        self.change("PATCH", &path, &json!({ "body": body }), || {
            let answer = self.get(&path)?;
            let now = answer["body"].as_str().unwrap_or_default().replace("\r\n", "\n");
            Ok(now.trim_end() == body.replace("\r\n", "\n").trim_end())
        })
        .map_err(|error| error.port(format!("write the body of pull request {number}")))
    }

    fn label(&self, number: u64, label: &str) -> Result<(), PortError> {
        let path = self.path(&format!("issues/{number}/labels"));
        self.change("POST", &path, &json!({ "labels": [label] }), || {
            Ok(lists(&self.get(&path)?, "name", label))
        })
        .map_err(|error| error.port(format!("add the label `{label}` to pull request {number}")))
    }

    fn request_review(&self, number: u64, reviewer: &str) -> Result<(), PortError> {
        let path = self.path(&format!("pulls/{number}/requested_reviewers"));
        let (list, key, name) = match reviewer.rsplit_once('/') {
            Some((_, team)) => ("teams", "slug", team),
            None => ("users", "login", reviewer),
        };
        let asked = if list == "teams" { "team_reviewers" } else { "reviewers" };
        self.change("POST", &path, &json!({ asked: [name] }), || {
            Ok(lists(&self.get(&path)?[list], key, name))
        })
        .map_err(|error| error.port(format!("ask {reviewer} to review pull request {number}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c9_4_a_stale_token_and_what_steers_gh_are_left_out_unless_asked_for() {
        let env = ["GH_TOKEN", "GITHUB_TOKEN", "GH_REPO", "GH_FORCE_TTY", "GIT_DIR", "HOME"]
            .map(|name| (OsString::from(name), OsString::from("x")));
        let repository = GitHubRepository::of_url("git@github.com:acme/widgets").unwrap();
        let mut settings = GhSettings::new("gh", env);
        let kept = |forge: &GhForge| {
            let mut kept: Vec<_> = forge.env.keys().filter_map(|name| name.to_str()).collect();
            kept.retain(|name| forge.env[std::ffi::OsStr::new(name)] == "x");
            kept.join(" ")
        };
        assert_eq!(kept(&GhForge::new(repository.clone(), settings.clone())), "HOME");
        settings.token_from_env = true;
        assert_eq!(kept(&GhForge::new(repository, settings)), "GH_TOKEN GITHUB_TOKEN HOME");
    }

    #[test]
    fn a_branch_name_cannot_add_to_the_query() {
        assert_eq!(encoded("acme:a&state=all/ü"), "acme%3Aa%26state%3Dall%2F%C3%BC");
    }
}
