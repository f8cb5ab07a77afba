//! How the sets that two rules admit lie to each other (P3).

mod file_rules;

use self::file_rules::{FileRule, relate_files};
use super::commands::file_commands;
use super::files::RuleSource;
use super::rule::{Rule, collapse};
use super::shell::ShellPattern;
use super::tools;
use super::wrappers::{Peeled, is_open_to_denials, peel, takes_in_wrapper};

/// How two rules lie to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// They admit the same.
    Equal,
    /// The first admits all that the second does.
    Covers,
    /// The second admits all that the first does.
    CoveredBy,
    /// They have something in common, or it cannot be decided: the answer that leads to a refusal.
    Overlaps,
    /// They have nothing in common.
    Disjoint,
}

impl Relation {
    /// The relation seen from the other side.
    #[must_use]
    pub fn reversed(self) -> Self {
        match self {
            Self::Covers => Self::CoveredBy,
            Self::CoveredBy => Self::Covers,
            Self::Equal | Self::Overlaps | Self::Disjoint => self,
        }
    }

    /// Whether the first admits all that the second does.
    pub fn covers(self) -> bool {
        matches!(self, Self::Equal | Self::Covers)
    }

    fn from_parts(forth: bool, back: bool, meets: bool) -> Self {
        match (forth, back) {
            (true, true) => Self::Equal,
            (true, false) => Self::CoveredBy,
            (false, true) => Self::Covers,
            (false, false) if meets => Self::Overlaps,
            (false, false) => Self::Disjoint,
        }
    }
}

/// A rule with the place it was given in; the same text means different things in different places.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct PlacedRule {
    /// The rule.
    pub rule: Rule,
    /// The place.
    pub source: RuleSource,
}

impl PlacedRule {
    /// A rule given on the command line.
    pub fn command_line(text: &str) -> Self {
        Self { rule: Rule::parse(text), source: RuleSource::CommandLine }
    }
}

/// How two rules given on the command line lie to each other.
///
/// ```
/// use dispatch_guards::permission::{Relation, Rule, relation};
///
/// let all = Rule::parse("Bash(git log:*)");
/// let one = Rule::parse("Bash(git log --oneline)");
/// assert_eq!(relation(&all, &one), Relation::Covers);
/// assert_eq!(relation(&all, &Rule::parse("Bash(git logs)")), Relation::Disjoint);
/// ```
pub fn relation(a: &Rule, b: &Rule) -> Relation {
    relate(a, RuleSource::CommandLine, b, RuleSource::CommandLine)
}

/// How two rules lie to each other, each with the place it was given in.
pub fn relation_placed(a: &PlacedRule, b: &PlacedRule) -> Relation {
    relate(&a.rule, a.source, &b.rule, b.source)
}

/// A rule read once, to be held against many.
#[derive(Debug, Clone)]
pub(crate) struct PreparedRule {
    pub(crate) placed: PlacedRule,
    /// The words that every admitted command begins with, for shell patterns that are neither
    /// compounds nor begin with a variable or a wrapper.
    plain_head: Option<PlainHead>,
    kind: Kind,
    /// Whether it admits some command of the shell.
    names_commands: bool,
    /// Whether it admits any command behind a program or a variable that a denial looks through.
    open_to_denials: bool,
}

/// What two rules are told apart by at a glance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Shell commands that all begin with this byte.
    Command(u8),
    /// A tool of which no shell rule and no file rule says anything.
    OtherTool,
    /// It takes a closer look.
    Any,
}

impl Kind {
    fn of(rule: &Rule, head: Option<&PlainHead>) -> Self {
        let Some(tool) = rule.tool() else { return Self::Any };
        match (head.and_then(|head| head.words.bytes().next()), tool) {
            (Some(first), _) => Self::Command(first),
            (None, "Bash" | "Edit" | "Read" | "Write" | "NotebookEdit") => Self::Any,
            (None, _) if tool.contains('*') => Self::Any,
            (None, _) => Self::OtherTool,
        }
    }

    fn apart_from(self, other: Self) -> bool {
        match (self, other) {
            (Self::Command(first), Self::Command(second)) => first != second,
            (Self::Command(_), Self::OtherTool) | (Self::OtherTool, Self::Command(_)) => true,
            (Self::OtherTool, Self::OtherTool) | (Self::Any, _) | (_, Self::Any) => false,
        }
    }
}

#[derive(Debug, Clone)]
struct PlainHead {
    words: String,
    /// Whether the pattern ends with these words, or with a blank and anything.
    complete: bool,
}

impl PreparedRule {
    pub(crate) fn new(placed: PlacedRule) -> Self {
        let plain_head = PlainHead::of(&placed.rule);
        let kind = Kind::of(&placed.rule, plain_head.as_ref());
        let commands = shell_pattern(&placed.rule);
        let names_commands = commands.as_ref().is_some_and(|it| *it != ShellPattern::Nothing);
        let open_to_denials = commands.as_ref().is_some_and(is_open_to_denials);
        Self { placed, plain_head, kind, names_commands, open_to_denials }
    }

    pub(crate) fn granted(text: &str) -> Self {
        Self::new(PlacedRule::command_line(text))
    }

    /// As [`relation_placed`], with a short way for rules that begin with other words.
    pub(crate) fn relate(&self, other: &Self) -> Relation {
        if self.kind.apart_from(other.kind) {
            return Relation::Disjoint;
        }
        if let (Some(a), Some(b)) = (&self.plain_head, &other.plain_head)
            && a.apart_from(b)
        {
            return Relation::Disjoint;
        }
        relation_placed(&self.placed, &other.placed)
    }

    /// As [`Self::relate`], where this rule would be denied: `sudo x` is no `x` to an allow, and is one
    /// to a deny.
    pub(crate) fn relate_denied(&self, granted: &Self) -> Relation {
        match self.relate(granted) {
            Relation::Disjoint if self.names_commands && granted.open_to_denials => {
                Relation::Overlaps
            }
            relation => relation,
        }
    }
}

/// What a rule of the shell admits; none for a rule of another tool, and for the bare one.
fn shell_pattern(rule: &Rule) -> Option<ShellPattern> {
    let spec = rule.spec().filter(|_| rule.tool() == Some("Bash"))?;
    Some(ShellPattern::parse(spec))
}

impl PlainHead {
    fn of(rule: &Rule) -> Option<Self> {
        let pattern = shell_pattern(rule)?;
        let complete = match pattern {
            ShellPattern::Stem(_) => true,
            ShellPattern::Glob(_) => false,
            // A text is compared as typed, and may be a compound.
            ShellPattern::Text(_) | ShellPattern::Everything | ShellPattern::Nothing => {
                return None;
            }
        };
        let plain = peel(&pattern) == Peeled::Nothing && !takes_in_wrapper(&pattern);
        plain.then(|| Self { words: pattern.head().to_owned(), complete })
    }

    fn apart_from(&self, other: &Self) -> bool {
        let (a, b) = (self.words.as_bytes(), other.words.as_bytes());
        let shared = a.len().min(b.len());
        if a[..shared] != b[..shared] {
            return true;
        }
        match a.len().cmp(&b.len()) {
            std::cmp::Ordering::Less => self.complete && b[shared] != b' ',
            std::cmp::Ordering::Greater => other.complete && a[shared] != b' ',
            std::cmp::Ordering::Equal => false,
        }
    }
}

fn relate(a: &Rule, a_source: RuleSource, b: &Rule, b_source: RuleSource) -> Relation {
    let (Some(a_tool), Some(b_tool)) = (a.tool(), b.tool()) else {
        return if a == b { Relation::Equal } else { Relation::Disjoint };
    };
    let (a_tool, b_tool) = (tools::canonical(a_tool), tools::canonical(b_tool));
    if a_tool.contains('*') || b_tool.contains('*') {
        return relate_names(a_tool, a.spec(), b_tool, b.spec());
    }
    match (a_tool, b_tool) {
        ("Bash", "Bash") => relate_shell(a.spec(), b.spec()),
        ("Bash", "Edit" | "Read") => relate_shell_to_file(a.spec(), b.spec()),
        ("Edit" | "Read", "Bash") => relate_shell_to_file(b.spec(), a.spec()),
        (
            "Edit" | "Read" | "Write" | "NotebookEdit",
            "Edit" | "Read" | "Write" | "NotebookEdit",
        ) => {
            let a = FileRule::new(a_tool, a.spec(), a_source);
            let b = FileRule::new(b_tool, b.spec(), b_source);
            relate_files(&a, &b)
        }
        _ if a_tool.starts_with("mcp__") => relate_names(a_tool, a.spec(), b_tool, b.spec()),
        _ if a_tool == b_tool => relate_specs(a_tool, a.spec(), b.spec()),
        _ => Relation::Disjoint,
    }
}

/// Rules whose tool is a pattern, or MCP rules.
fn relate_names(a: &str, a_spec: Option<&str>, b: &str, b_spec: Option<&str>) -> Relation {
    let pattern = |tool: &str| tools::mcp_pattern(tool).unwrap_or_else(|| tool.to_owned());
    let (a_names, b_names) = (glob(&pattern(a)), glob(&pattern(b)));
    let names = Relation::from_parts(
        a_names.within(&b_names),
        b_names.within(&a_names),
        a_names.meets(&b_names),
    );
    match (a_spec, b_spec) {
        (None, None) => names,
        _ if a == b && a_spec == b_spec => Relation::Equal,
        _ if names == Relation::Disjoint => Relation::Disjoint,
        _ => Relation::Overlaps,
    }
}

fn glob(pattern: &str) -> ShellPattern {
    ShellPattern::parse(pattern)
}

fn relate_shell(a: Option<&str>, b: Option<&str>) -> Relation {
    let pattern = |spec: Option<&str>| spec.map_or(ShellPattern::Everything, ShellPattern::parse);
    let (x, y) = (pattern(a), pattern(b));
    if x == y {
        return Relation::Equal;
    }
    if let Some(relation) = relate_compounds(&x, &y) {
        return relation;
    }
    let plain = Relation::from_parts(x.within(&y), y.within(&x), x.meets(&y));
    if plain == Relation::Disjoint && meet_inside(&x, &y) { Relation::Overlaps } else { plain }
}

/// Whether the two meet once environment prefixes and wrappers are looked through.
///
/// An allow looks through some and a deny through more, so a rule that spells `timeout 5 x` or
/// `FOO=1 x` bears on one for `x`, and one for `timeout` on every rule [wrap-31, d_env-01, dwrap-46].
fn meet_inside(a: &ShellPattern, b: &ShellPattern) -> bool {
    if takes_in_wrapper(a) || takes_in_wrapper(b) {
        return true;
    }
    match (peel(a), peel(b)) {
        (Peeled::Anything, _) | (_, Peeled::Anything) => true,
        (Peeled::Nothing, Peeled::Nothing) => false,
        (Peeled::Inner(inner), Peeled::Nothing) => meets_any(&inner, std::slice::from_ref(b)),
        (Peeled::Nothing, Peeled::Inner(inner)) => meets_any(&inner, std::slice::from_ref(a)),
        (Peeled::Inner(mut x), Peeled::Inner(mut y)) => {
            x.push(a.clone());
            y.push(b.clone());
            meets_any(&x, &y)
        }
    }
}

fn meets_any(some: &[ShellPattern], others: &[ShellPattern]) -> bool {
    some.iter().any(|one| {
        takes_in_wrapper(one)
            || others.iter().any(|other| takes_in_wrapper(other) || one.meets(other))
    })
}

/// A text that spells a compound admits that whole text, not a simple command: it is held against
/// another rule part by part.
fn relate_compounds(a: &ShellPattern, b: &ShellPattern) -> Option<Relation> {
    let parts_a = compound_parts(a);
    let parts_b = compound_parts(b);
    match (parts_a, parts_b) {
        (None, None) => None,
        (Some(x), Some(y)) => Some(if x == y { Relation::Equal } else { Relation::Disjoint }),
        (Some(parts), None) => Some(relate_parts(&parts, b)),
        (None, Some(parts)) => Some(relate_parts(&parts, a).reversed()),
    }
}

fn relate_parts(parts: &[ShellPattern], other: &ShellPattern) -> Relation {
    if *other == ShellPattern::Everything || parts.iter().all(|part| part.within(other)) {
        return Relation::CoveredBy;
    }
    let touches = parts.iter().any(|part| part.meets(other) || meet_inside(part, other));
    if touches { Relation::Overlaps } else { Relation::Disjoint }
}

fn compound_parts(pattern: &ShellPattern) -> Option<Vec<ShellPattern>> {
    let ShellPattern::Text(text) = pattern else { return None };
    let parts = split_operators(text);
    (parts.len() > 1)
        .then(|| parts.into_iter().map(|part| ShellPattern::Text(collapse(part.trim()))).collect())
}

/// Splits at shell operators outside quotes; command substitutions and groups count as operators.
pub(crate) fn split_operators(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut quote = None;
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        match (quote, character) {
            (None | Some('"'), '\\') => escaped = true,
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            (None, ';' | '|' | '&' | '\n' | '(' | ')' | '`' | '<' | '>') => {
                parts.push(&text[start..at]);
                start = at + character.len_utf8();
            }
            (None | Some(_), _) => {}
        }
    }
    parts.push(&text[start..]);
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// A file rule bears on the commands whose file arguments the agent reads [de_srcb-05, dr_env-04].
fn relate_shell_to_file(shell: Option<&str>, file: Option<&str>) -> Relation {
    let Some(spec) = shell else {
        return if file.is_some() { Relation::Overlaps } else { Relation::Disjoint };
    };
    if file.is_none() {
        return Relation::Disjoint;
    }
    let pattern = ShellPattern::parse(spec);
    let reached = match &pattern {
        ShellPattern::Everything => true,
        ShellPattern::Text(text) if text.contains(['<', '>']) => true,
        ShellPattern::Text(text) => split_operators(text)
            .into_iter()
            .any(|part| names_files(&ShellPattern::Text(collapse(part.trim())))),
        ShellPattern::Stem(_) | ShellPattern::Glob(_) | ShellPattern::Nothing => {
            names_files(&pattern)
        }
    };
    if reached { Relation::Overlaps } else { Relation::Disjoint }
}

/// Whether some command of the pattern is one whose file arguments the agent may read.
fn names_files(pattern: &ShellPattern) -> bool {
    takes_in_wrapper(pattern)
        || is_file_command(pattern)
        || match peel(pattern) {
            Peeled::Nothing => false,
            Peeled::Anything => true,
            Peeled::Inner(inner) => {
                inner.iter().any(|inner| takes_in_wrapper(inner) || is_file_command(inner))
            }
        }
}

fn is_file_command(pattern: &ShellPattern) -> bool {
    let head = pattern.head();
    let name = head.split([' ', '\t']).next().unwrap_or_default();
    // The agent takes the quotes off a command's name [prefix-16].
    let quoted = name.contains(['"', '\'', '\\']);
    let open = name.len() == head.len() && matches!(pattern, ShellPattern::Glob(_));
    quoted || file_commands().any(|command| command == name || (open && command.starts_with(head)))
}

/// Rules of another tool: bare is everything, a host pattern of the web tool is a set, any other text
/// is itself.
fn relate_specs(tool: &str, a: Option<&str>, b: Option<&str>) -> Relation {
    match (a, b) {
        (None, None) => Relation::Equal,
        (None, Some(_)) => Relation::Covers,
        (Some(_), None) => Relation::CoveredBy,
        (Some(a), Some(b)) if a == b => Relation::Equal,
        (Some(a), Some(b)) if tool == "WebFetch" => {
            match (a.strip_prefix("domain:"), b.strip_prefix("domain:")) {
                (Some(a), Some(b)) => {
                    let (a, b) = (glob(a), glob(b));
                    Relation::from_parts(a.within(&b), b.within(&a), a.meets(&b))
                }
                _ => Relation::Disjoint,
            }
        }
        (Some(_), Some(_)) => Relation::Overlaps,
    }
}

#[cfg(test)]
mod tests;
