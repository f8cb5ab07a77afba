//! What the agent would decide about a tool call (P2.3): a model of its measured behaviour.
//!
//! Where the model is not sure it says so: a caller that judges a danger takes that for allowed, one
//! that judges whether a worker can do its job takes it for denied.

mod files;
mod free;
mod free_git;
mod held;
mod place;
mod rules;
mod shell;
mod syntax;
mod texts;

use dispatch_core::launch::BARE_TOOLS;
use serde::Serialize;

pub use place::Place;

use self::rules::{Rules, Side};
use super::relation::PlacedRule;
use super::tools;

/// How the agent asks for permission (`--permission-mode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// What nothing grants is refused. Without anybody to ask, `default` and `plan` refuse the same.
    DontAsk,
    /// Edits and a few file commands inside the slot need no rule.
    AcceptEdits,
    /// Only denials count.
    BypassPermissions,
}

/// Which tools there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolSet {
    /// Those of bare mode.
    Bare,
    /// All of them.
    Full,
    /// These.
    Only(Vec<String>),
}

/// Everything a session was given.
#[derive(Debug, Clone)]
pub struct Session {
    /// What is granted, by every source.
    pub allow: Vec<PlacedRule>,
    /// What is denied, by every source.
    pub deny: Vec<PlacedRule>,
    /// What has to be asked: with nobody there it is refused.
    pub ask: Vec<PlacedRule>,
    /// The mode.
    pub mode: Mode,
    /// The tools.
    pub tools: ToolSet,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolCall {
    /// A shell command.
    Shell {
        /// Its text.
        command: String,
    },
    /// A tool on one file: `Read`, `Edit`, `Write`, `NotebookEdit`.
    File {
        /// The tool.
        tool: String,
        /// The path as given.
        path: String,
    },
    /// A fetch from the web.
    Fetch {
        /// The address.
        url: String,
    },
    /// Any other tool.
    Other {
        /// Its name.
        tool: String,
        /// The kind of a sub-agent.
        kind: Option<String>,
    },
}

/// What the agent would decide, and because of what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "decision", content = "because")]
pub enum Decision {
    /// It would let the call run.
    Allowed(String),
    /// It would refuse.
    Denied(String),
    /// The model does not cover this.
    Unknown(String),
}

/// A yes, a no, or neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Yes,
    No,
    Unsure(&'static str),
}

fn allowed(because: impl Into<String>) -> Decision {
    Decision::Allowed(because.into())
}

fn denied(because: impl Into<String>) -> Decision {
    Decision::Denied(because.into())
}

fn unknown(because: impl Into<String>) -> Decision {
    Decision::Unknown(because.into())
}

/// What the agent would decide about `call` in `session`.
///
/// ```
/// use dispatch_guards::permission::{Decision, Mode, Place, PlacedRule, Session, ToolCall, ToolSet, decide};
///
/// let session = Session {
///     allow: vec![PlacedRule::command_line("Bash(cargo test:*)")],
///     deny: Vec::new(),
///     ask: Vec::new(),
///     mode: Mode::DontAsk,
///     tools: ToolSet::Bare,
/// };
/// let place = Place::new("/slot", "/home/worker");
/// let run = |command: &str| decide(&session, &ToolCall::Shell { command: command.into() }, &place);
/// assert!(matches!(run("cargo test --lib | head -5"), Decision::Allowed(_)));
/// assert!(matches!(run("cargo test > out.txt"), Decision::Denied(_)));
/// ```
pub fn decide(session: &Session, call: &ToolCall, place: &Place) -> Decision {
    let allow = Rules::read(&session.allow, Side::Allow);
    let deny = Rules::read(&session.deny, Side::Deny);
    let ask = Rules::read(&session.ask, Side::Deny);
    let tool = match call {
        ToolCall::Shell { .. } => "Bash",
        ToolCall::Fetch { .. } => "WebFetch",
        ToolCall::File { tool, .. } | ToolCall::Other { tool, .. } => tool,
    };
    if deny.names(tool) {
        return denied(format!("the tool `{tool}` is denied"));
    }
    if !exists(session, &allow, tool) {
        return denied(format!("there is no tool `{tool}`"));
    }
    if ask.names(tool) && session.mode != Mode::BypassPermissions {
        return denied(format!("the tool `{tool}` has to be asked for"));
    }
    let view = View { session, allow: &allow, deny: &deny, ask: &ask, place };
    match call {
        ToolCall::Shell { command } => shell::decide(&view, command),
        ToolCall::File { tool, path } => files::decide(&view, tool, path),
        ToolCall::Fetch { url } => decide_fetch(&view, url),
        ToolCall::Other { tool, kind } => decide_other(&view, tool, kind.as_deref()),
    }
}

/// A session with its rules read.
#[derive(Clone, Copy)]
struct View<'a> {
    session: &'a Session,
    allow: &'a Rules,
    deny: &'a Rules,
    ask: &'a Rules,
    place: &'a Place,
}

fn exists(session: &Session, allow: &Rules, tool: &str) -> bool {
    if tool.starts_with("mcp__") {
        return true;
    }
    let by_name = matches!(tool, "Glob" | "Grep");
    match &session.tools {
        ToolSet::Only(tools) => tools.iter().any(|known| known == tool),
        ToolSet::Bare => BARE_TOOLS.contains(&tool),
        ToolSet::Full if by_name => allow.names(tool),
        ToolSet::Full => !ABSENT.contains(&tool) && !tools::GONE.contains(&tool),
    }
}

/// Tools that a headless session does not have [nb_tools-02, nb_tools-04].
const ABSENT: &[&str] = &["TodoWrite", "AskUserQuestion", "ExitPlanMode"];

/// Tools that need no rule outside bare mode [nb_tools-01, ag2_none-01].
const FREE_TOOLS: &[&str] = &[
    "Agent",
    "CronCreate",
    "CronDelete",
    "CronList",
    "EnterWorktree",
    "ExitWorktree",
    "ScheduleWakeup",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
];

/// Documentation hosts that are free [nb_webnone-03]; the whole list is not known.
const FREE_HOSTS: &[&str] = &["docs.python.org"];

fn decide_fetch(view: &View<'_>, url: &str) -> Decision {
    let host = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = host.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default().split(':').next().unwrap_or_default();
    let host = host.to_lowercase();
    let matches = |patterns: &[String]| {
        patterns.iter().any(|p| tools::name_matches(&p.to_lowercase(), &host))
    };
    if matches(&view.deny.hosts) || matches(&view.ask.hosts) {
        return denied(format!("the host `{host}` is denied"));
    }
    if view.session.mode == Mode::BypassPermissions
        || view.allow.names("WebFetch")
        || matches(&view.allow.hosts)
    {
        return allowed("a rule for the host");
    }
    if FREE_HOSTS.contains(&host.as_str()) {
        return allowed("a documentation host that is free");
    }
    if host.starts_with("docs.") || host.starts_with("developer.") || host.starts_with("doc.") {
        return unknown("whether this documentation host is free");
    }
    denied("no rule for the host")
}

fn decide_other(view: &View<'_>, tool: &str, kind: Option<&str>) -> Decision {
    let is_agent = tools::canonical(tool) == "Agent";
    if is_agent && kind.is_some_and(|kind| view.deny.agents.iter().any(|denied| denied == kind)) {
        return denied("this kind of agent is denied");
    }
    if view.session.mode == Mode::BypassPermissions || view.allow.names(tool) {
        return allowed("a rule for the tool");
    }
    if FREE_TOOLS.contains(&tools::canonical(tool)) {
        return allowed("the tool is free");
    }
    if tool.starts_with("mcp__") || matches!(tool, "WebSearch" | "Glob" | "Grep") {
        return denied("no rule for the tool");
    }
    unknown(format!("whether the tool `{tool}` is free"))
}

#[cfg(test)]
mod tests;
