//! Rules that are not what they look like (P4).

mod programs;

use serde::Serialize;

use super::commands::{GRAMMAR, UNGRANTABLE};
use super::files::{Anchor, FilePattern, RuleSource};
use super::relation::split_operators;
use super::rule::{Rule, has_star, split_list};
use super::shell::ShellPattern;
use super::tools;

/// What a rule turns out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LintClass {
    /// What it looks like.
    Ok,
    /// It does nothing: as a grant a hole in the work, as a deny a hole in the fence.
    Dead,
    /// Written like a narrow rule, it means everything.
    Everything,
    /// It reaches beyond what it names.
    Reaches,
}

/// How far a rule reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reach {
    /// It lets other programs be run, or things outside the slot be written.
    Acts,
    /// It lets things outside the slot be read.
    Reads,
    /// It exists only outside bare mode, and would write anywhere there.
    ActsUnlessBare,
}

/// The judgement of one rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Lint {
    /// What it is.
    pub class: LintClass,
    /// What the agent makes of it, for a person.
    pub why: String,
    /// What to write instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
    /// How far it reaches, for [`LintClass::Reaches`].
    #[serde(skip)]
    pub reach: Option<Reach>,
}

/// Which of the two lists a rule stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuleList {
    /// What a worker may do.
    Allow,
    /// What it may not.
    Deny,
}

impl Lint {
    fn ok() -> Self {
        Self {
            class: LintClass::Ok,
            why: "it means what it says".to_owned(),
            instead: None,
            reach: None,
        }
    }

    fn dead(why: impl Into<String>) -> Self {
        Self { class: LintClass::Dead, why: why.into(), instead: None, reach: None }
    }

    fn everything(why: impl Into<String>) -> Self {
        Self { class: LintClass::Everything, why: why.into(), instead: None, reach: None }
    }

    fn reaches(reach: Reach, why: impl Into<String>) -> Self {
        Self { class: LintClass::Reaches, why: why.into(), instead: None, reach: Some(reach) }
    }

    fn instead(self, form: impl Into<String>) -> Self {
        Self { instead: Some(form.into()), ..self }
    }
}

/// Judges a rule of an allow list given on the command line.
///
/// ```
/// use dispatch_guards::permission::{LintClass, lint};
///
/// let judged = lint("Bash(pnpm --filter * test:*)");
/// assert_eq!(judged.class, LintClass::Dead);
/// assert_eq!(judged.instead.as_deref(), Some("Bash(pnpm --filter * test), Bash(pnpm --filter * test *)"));
/// ```
pub fn lint(text: &str) -> Lint {
    lint_in(text, RuleList::Allow)
}

/// Judges a rule of one of the two lists.
pub fn lint_in(text: &str, list: RuleList) -> Lint {
    let text = text.trim();
    if text.is_empty() {
        return Lint::dead("it is empty");
    }
    if let Some(found) = lint_separators(text, list) {
        return found;
    }
    match Rule::parse(text) {
        Rule::Opaque { text } => lint_opaque(&text),
        Rule::Bare { tool } => {
            lint_tool(&tool, list).unwrap_or_else(|| lint_bare(&tool, text, list))
        }
        Rule::Scoped { tool, .. } => {
            // Judged as it was written: what the canonical form leaves out may be what is wrong.
            let spec = text.get(tool.len() + 1..text.len() - 1).unwrap_or_default();
            lint_tool(&tool, list).unwrap_or_else(|| lint_scoped(&tool, spec, list))
        }
    }
}

/// An argument that the agent splits into several, or that should have been split.
fn lint_separators(text: &str, list: RuleList) -> Option<Lint> {
    if is_run_together(text) {
        return Some(Lint::dead(
            "only commas and blanks separate rules: several rules run together are one dead rule",
        ));
    }
    let parts = split_list(text);
    if let [first, rest @ ..] = parts.as_slice()
        && !rest.is_empty()
    {
        if is_name(first) && rest.first().is_some_and(|next| next.starts_with('(')) {
            let joined = format!("{first}{}", rest.join(" "));
            let judged = lint_in(&joined, list);
            let instead = match judged.class {
                LintClass::Ok | LintClass::Reaches => Some(joined),
                LintClass::Dead | LintClass::Everything => judged.instead,
            };
            let why = format!(
                "a blank before the parenthesis makes it `{first}`, which is everything, and a leftover"
            );
            return Some(Lint { instead, ..Lint::everything(why) });
        }
        let whole = parts.iter().all(|part| !matches!(Rule::parse(part), Rule::Opaque { .. }));
        return Some(if whole {
            Lint::dead("it is several rules in one text: give each by itself")
                .instead(parts.join(", "))
        } else {
            Lint::dead("the first `)` ends the rule: what follows is lost")
        });
    }
    None
}

/// Whether a closing parenthesis is followed, without a separator the agent knows, by another rule.
fn is_run_together(text: &str) -> bool {
    text.match_indices(')').any(|(at, _)| {
        let rest = text[at + 1..].trim_start_matches(['\n', '\r', '\t', ';']);
        rest.split_once('(').is_some_and(|(tool, _)| tools::KNOWN.contains(&tool))
    })
}

fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn lint_opaque(text: &str) -> Lint {
    let opens = text.matches('(').count();
    let closes = text.matches(')').count();
    if text.starts_with(['"', '\'', '[']) {
        return Lint::dead("quotes or brackets around rules make one dead rule");
    }
    if opens > closes {
        return Lint::dead("the parenthesis is not closed").instead(format!("{text})"));
    }
    if let Some(end) = text.rfind(')')
        && end + 1 < text.len()
    {
        return Lint::dead("text after the closing parenthesis makes it no rule")
            .instead(&text[..=end]);
    }
    Lint::dead("it is no rule: write `Tool` or `Tool(what)`")
}

/// What is wrong with the name of the tool, if anything is.
fn lint_tool(tool: &str, list: RuleList) -> Option<Lint> {
    if let Some(rest) = tool.strip_prefix("mcp__") {
        return lint_mcp(rest, list);
    }
    if tool.contains('*') {
        return match list {
            RuleList::Deny => None,
            RuleList::Allow => {
                Some(Lint::dead("a star in the tool's name is ignored in an allow list"))
            }
        };
    }
    if tools::KNOWN.contains(&tool) {
        return None;
    }
    if tools::GONE.contains(&tool) {
        return Some(lint_gone(tool, list));
    }
    let known = tools::KNOWN.iter().find(|known| known.eq_ignore_ascii_case(tool));
    Some(match known {
        Some(known) => {
            Lint::dead(format!("letter case counts: the tool is `{known}`")).instead(*known)
        }
        None if tool.to_ascii_lowercase().starts_with("mcp__") => {
            Lint::dead("letter case counts in the name of an MCP tool")
        }
        None => Lint::dead(format!("the agent knows no tool `{tool}`")),
    })
}

/// A tool of older versions. What the others did needs no rule: reading the slot is free.
fn lint_gone(tool: &str, list: RuleList) -> Lint {
    let dead = Lint::dead(format!("the agent has no tool `{tool}` any more"));
    match (tool, list) {
        ("MultiEdit", RuleList::Allow) => dead.instead("Edit(**)"),
        ("MultiEdit", RuleList::Deny) => dead.instead("Edit"),
        _ => dead,
    }
}

fn lint_mcp(rest: &str, list: RuleList) -> Option<Lint> {
    let star_in_server = rest.split("__").next().is_some_and(|server| server.contains('*'));
    match list {
        RuleList::Allow if star_in_server => {
            Some(Lint::dead("a star in the server's name grants nothing; name the server"))
        }
        RuleList::Allow | RuleList::Deny => None,
    }
}

fn lint_bare(tool: &str, text: &str, list: RuleList) -> Lint {
    let plain = text == tool;
    if list == RuleList::Deny {
        return if plain || tool != "Bash" {
            Lint::ok()
        } else {
            Lint::everything(format!("it denies the whole tool `{tool}`")).instead(tool)
        };
    }
    match tool {
        "Bash" => Lint::everything("it grants every command: name the commands"),
        "Edit" => Lint::everything("it edits any file of the machine; `Edit(**)` is the slot")
            .instead("Edit(**)"),
        "Write" | "NotebookEdit" => Lint::reaches(
            Reach::ActsUnlessBare,
            format!("`{tool}` without a path writes any file of the machine; `Edit(**)` lets it write the slot"),
        )
        .instead("Edit(**)"),
        "Read" => Lint::reaches(
            Reach::Reads,
            "it reads the whole machine; reading the slot needs no rule",
        ),
        "Glob" | "Grep" => Lint::reaches(Reach::Reads, "it looks outside the slot as well"),
        "WebFetch" => Lint::reaches(Reach::Reads, "it fetches from any host: name the hosts")
            .instead("WebFetch(domain:example.com)"),
        _ => Lint::ok(),
    }
}

fn lint_scoped(tool: &str, spec: &str, list: RuleList) -> Lint {
    match tool {
        "Bash" => lint_shell(spec, list),
        "Edit" | "Read" => lint_file(tool, spec, list),
        "Write" | "NotebookEdit" => {
            Lint::dead(format!("`{tool}` with a path does nothing; a path on `Edit` governs it"))
                .instead(format!("Edit({spec})"))
        }
        "WebFetch" => lint_host(spec, list),
        "Agent" | "Task" if list == RuleList::Allow => {
            Lint::everything("allowing one kind of agent limits nothing: every kind is free")
        }
        _ if tool.starts_with("mcp__") => {
            Lint::dead("an MCP rule takes nothing in parentheses").instead(tool)
        }
        _ => Lint::ok(),
    }
}

fn lint_host(spec: &str, list: RuleList) -> Lint {
    match spec.strip_prefix("domain:") {
        None => Lint::dead("only `domain:` patterns match").instead("WebFetch(domain:example.com)"),
        Some("*") if list == RuleList::Allow => Lint::everything("it fetches from any host"),
        Some(_) => Lint::ok(),
    }
}

fn lint_shell(spec: &str, list: RuleList) -> Lint {
    match ShellPattern::parse(spec) {
        ShellPattern::Nothing => lint_dead_shell(spec),
        ShellPattern::Everything => Lint::everything("it means every command: name the commands"),
        pattern => lint_shell_form(spec, &pattern).unwrap_or_else(|| match list {
            RuleList::Deny => Lint::ok(),
            RuleList::Allow => programs::lint_reach(&pattern).unwrap_or_else(Lint::ok),
        }),
    }
}

/// Says why a pattern admits nothing.
fn lint_dead_shell(spec: &str) -> Lint {
    let trimmed = spec.trim();
    match trimmed.strip_suffix(":*") {
        Some(prefix) if prefix.trim().is_empty() => {
            Lint::dead("nothing stands before `:*`: it matches no command")
        }
        Some(prefix) => Lint::dead("blanks around a prefix make it match nothing")
            .instead(format!("Bash({}:*)", prefix.trim())),
        None if trimmed.is_empty() => Lint::dead("only blanks: it matches no command"),
        None => Lint::dead("a blank at an end makes it match nothing")
            .instead(format!("Bash({trimmed})")),
    }
}

/// Forms that look like patterns and are not.
fn lint_shell_form(spec: &str, pattern: &ShellPattern) -> Option<Lint> {
    if let Some(prefix) = spec.strip_suffix(":*")
        && has_star(prefix)
    {
        let stem = prefix.trim();
        return Some(
            Lint::dead("with `:*` at the end every other star is a literal star")
                .instead(format!("Bash({stem}), Bash({stem} *)")),
        );
    }
    if spec.trim_end().ends_with(":*") && !spec.ends_with(":*") {
        let prefix = spec.trim_end().trim_end_matches(":*");
        return Some(
            Lint::dead("a blank after `:*` makes it a literal colon")
                .instead(format!("Bash({prefix}:*)")),
        );
    }
    let program = pattern.head().split(' ').next().unwrap_or_default();
    if UNGRANTABLE.contains(&program) || GRAMMAR.contains(&program) {
        return Some(Lint::dead("no rule but `Bash` itself covers this command"));
    }
    lint_operators(spec, pattern)
}

fn lint_operators(spec: &str, pattern: &ShellPattern) -> Option<Lint> {
    let plain = spec.replace("&&", "\u{0}");
    if split_operators(spec).len() < 2 && !spec.contains(['<', '>']) {
        return None;
    }
    let only_and = split_operators(&plain).len() < 2;
    match pattern {
        ShellPattern::Text(_) if only_and || spec.contains("$(") => None,
        ShellPattern::Text(_) => Some(Lint::dead(
            "a command is judged part by part: write one rule for each part; writing to a file takes `Edit(path)`",
        )),
        ShellPattern::Stem(_) | ShellPattern::Glob(_) => Some(Lint::dead(
            "a pattern is held against each part by itself, so it never sees an operator: write one rule for each part",
        )),
        ShellPattern::Everything | ShellPattern::Nothing => None,
    }
}

/// Folders of the machine that a one-slash path is usually meant to name.
const MACHINE_FOLDERS: &[&str] = &[
    "home", "Users", "root", "etc", "tmp", "usr", "var", "opt", "mnt", "srv", "private", "Volumes",
];

fn lint_file(tool: &str, spec: &str, list: RuleList) -> Lint {
    if let Some(dead) = lint_dead_path(tool, spec) {
        return dead;
    }
    let first = spec.strip_prefix('/').and_then(|rest| rest.split('/').next());
    if first.is_some_and(|first| MACHINE_FOLDERS.contains(&first)) {
        return Lint::reaches(
            Reach::Acts,
            "with one slash the path is not absolute: it begins at the start directory",
        )
        .instead(format!("{tool}(/{spec})"));
    }
    if list == RuleList::Deny {
        return Lint::ok();
    }
    let reach = if tool == "Read" { Reach::Reads } else { Reach::Acts };
    let pattern = FilePattern::parse(spec, RuleSource::CommandLine);
    match pattern.anchor {
        Anchor::Root | Anchor::Home | Anchor::AgentHome => Lint::reaches(
            reach,
            if tool == "Read" { "it reads outside the slot" } else { "it writes outside the slot" },
        ),
        Anchor::Here if tool == "Edit" && pattern.is_unanchored() => Lint::reaches(
            Reach::Acts,
            "without a slash before it the pattern matches at any depth, and moves with `cd`",
        )
        .instead(format!("Edit(/{})", spec.strip_prefix("./").unwrap_or(spec))),
        Anchor::Here | Anchor::Start | Anchor::Nowhere => Lint::ok(),
    }
}

fn lint_dead_path(tool: &str, spec: &str) -> Option<Lint> {
    let trimmed = spec.trim();
    if trimmed != spec || trimmed.is_empty() {
        return Some(
            Lint::dead("blanks inside the parentheses are part of the path")
                .instead(format!("{tool}({trimmed})")),
        );
    }
    if let Some(stem) = spec.strip_suffix(":*") {
        return Some(
            Lint::dead("`:*` means nothing in a path").instead(format!("{tool}(/{stem}/**)")),
        );
    }
    if spec.starts_with('!') {
        return Some(Lint::dead("a negated pattern grants and denies nothing"));
    }
    if spec.contains('{') && spec.contains('}') {
        return Some(Lint::dead("braces are literal in a path: write one rule for each"));
    }
    if spec.split('/').any(|part| part == "..") {
        return Some(Lint::dead("`..` never matches: write the absolute path with two slashes"));
    }
    let nothing = FilePattern::parse(spec, RuleSource::CommandLine).is_nothing();
    nothing.then(|| Lint::dead("it matches no path"))
}

/// How a finding bears on a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Said by `config check`.
    Warning,
    /// Refused by `config check` and launch.
    Error,
}

/// A rule of a lane's list that is not what it looks like.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule as written.
    pub rule: String,
    /// The list it stands in.
    pub list: RuleList,
    /// Whether it refuses a launch.
    pub severity: Severity,
    /// What it is.
    pub lint: Lint,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let list = match self.list {
            RuleList::Allow => "allow",
            RuleList::Deny => "deny",
        };
        write!(f, "`{}` ({list} list): {}", self.rule.escape_debug(), self.lint.why)?;
        match &self.lint.instead {
            Some(form) => write!(f, "; write `{form}`"),
            None => Ok(()),
        }
    }
}

/// Judges a lane's own lists (D7.5, P4): what is dead or means everything refuses, what reaches beyond
/// the slot is a warning, and on the local lane an error.
pub fn lint_lists(
    lane: dispatch_core::triage::Lane,
    allow: &[String],
    deny: &[String],
) -> Vec<Finding> {
    use dispatch_core::triage::Lane;
    let judge = |rule: &String, list| {
        let lint = lint_in(rule, list);
        let severity = match (lint.class, lane, lint.reach) {
            (LintClass::Ok, _, _) => return None,
            (LintClass::Dead | LintClass::Everything, _, _)
            | (LintClass::Reaches, Lane::Local, Some(Reach::Acts)) => Severity::Error,
            (LintClass::Reaches, Lane::Local | Lane::Frontier, _) => Severity::Warning,
        };
        Some(Finding { rule: rule.clone(), list, severity, lint })
    };
    let allowed = allow.iter().filter_map(|rule| judge(rule, RuleList::Allow));
    let denied = deny.iter().filter_map(|rule| judge(rule, RuleList::Deny));
    allowed.chain(denied).collect()
}

#[cfg(test)]
mod tests;
