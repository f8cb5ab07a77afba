//! A list of rules, read for deciding.

use crate::permission::files::{FilePattern, RuleSource};
use crate::permission::relation::PlacedRule;
use crate::permission::rule::Rule;
use crate::permission::shell::ShellPattern;
use crate::permission::tools;

/// The rules of one list by what they are about.
#[derive(Debug, Clone, Default)]
pub(super) struct Rules {
    /// Tools given bare.
    bare: Vec<String>,
    /// Shell patterns, with the rule.
    pub(super) shell: Vec<(ShellPattern, String)>,
    /// `Edit(path)`.
    pub(super) edit: Vec<(FilePattern, String)>,
    /// `Read(path)`.
    pub(super) read: Vec<(FilePattern, String)>,
    /// Hosts of the web tool.
    pub(super) hosts: Vec<String>,
    /// Kinds of agent.
    pub(super) agents: Vec<String>,
}

/// Which list it is: a star in a tool's name counts only in a deny.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Allow,
    Deny,
}

impl Rules {
    pub(super) fn read(rules: &[PlacedRule], side: Side) -> Self {
        let mut read = Self::default();
        for placed in rules {
            read.add(placed, side);
        }
        read
    }

    fn add(&mut self, placed: &PlacedRule, side: Side) {
        let text = placed.rule.to_string();
        match &placed.rule {
            Rule::Opaque { .. } => {}
            Rule::Bare { tool } => {
                let starred = tool.contains('*');
                let fits = match tool.strip_prefix("mcp__") {
                    // A star in the server's name grants nothing [mcp_srvstar-02].
                    Some(rest) => !rest.split("__").next().unwrap_or_default().contains('*'),
                    None => !starred,
                };
                if side == Side::Deny || fits {
                    self.bare.push(tools::canonical(tool).to_owned());
                }
            }
            Rule::Scoped { tool, spec } => match tools::canonical(tool) {
                "Bash" => {
                    // A file's list refuses what the command line takes as a literal colon
                    // [sv_badmid-01].
                    let dropped = placed.source != RuleSource::CommandLine
                        && spec.contains(":*")
                        && !spec.ends_with(":*");
                    if !dropped {
                        self.shell.push((ShellPattern::parse(spec), text));
                    }
                }
                "Edit" => self.edit.push((FilePattern::parse(spec, placed.source), text)),
                "Read" => self.read.push((FilePattern::parse(spec, placed.source), text)),
                "WebFetch" => {
                    self.hosts.extend(spec.strip_prefix("domain:").map(str::to_owned));
                }
                "Agent" => self.agents.push(spec.clone()),
                _ => {}
            },
        }
    }

    /// Whether a tool is named bare.
    pub(super) fn names(&self, tool: &str) -> bool {
        let tool = tools::canonical(tool);
        self.bare.iter().any(|pattern| {
            let whole = tools::mcp_pattern(pattern).unwrap_or_else(|| pattern.clone());
            tools::name_matches(pattern, tool) || tools::name_matches(&whole, tool)
        })
    }
}
