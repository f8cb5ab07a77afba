//! The tools of the agent: what is free, and what an unattended worker must not have (P5.8).

use std::collections::BTreeSet;

use crate::outcome::ExpectedSurface;
use crate::triage::Lane;

/// The permission mode of every launch: what nothing grants is refused, and nobody is asked.
pub const PERMISSION_MODE: &str = "dontAsk";

/// The tools there are in bare mode.
pub const BARE_TOOLS: &[&str] = &["Bash", "Edit", "Read"];

/// The tools of the full harness; some of these are denied. `Skill` is there unless slash commands are turned off.
pub const FULL_TOOLS: &[&str] = &[
    "Agent",
    "Bash",
    "CronCreate",
    "CronDelete",
    "CronList",
    "Edit",
    "EnterWorktree",
    "ExitWorktree",
    "NotebookEdit",
    "Read",
    "ReportFindings",
    "ScheduleWakeup",
    "SendMessage",
    "Skill",
    "Task",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "WebFetch",
    "WebSearch",
    "Workflow",
    "Write",
];

/// What the full harness has without any rule and an unattended worker must not have: work that outlives it, other
/// working directories, the network, messages to people.
pub const FRONTIER_DENIED_TOOLS: &[&str] = &[
    "CronCreate",
    "CronDelete",
    "CronList",
    "EnterWorktree",
    "ExitWorktree",
    "ScheduleWakeup",
    "SendMessage",
    "WebFetch",
    "WebSearch",
    "Workflow",
];

/// The rules that `lane` denies beside its own list; a tool that the lane's own allow list names is left to it.
pub fn built_in_deny(lane: Lane, lane_allow: &[String]) -> Vec<String> {
    let denied = match lane {
        // The bare mode has none of them.
        Lane::Local => &[][..],
        Lane::Frontier => FRONTIER_DENIED_TOOLS,
    };
    let granted = |tool: &str| lane_allow.iter().any(|rule| tool_of(rule) == tool);
    denied.iter().filter(|tool| !granted(tool)).map(ToString::to_string).collect()
}

/// What the agent may list at its start, given the final lists of a launch (D9.11).
pub fn expected_surface(lane: Lane, allow: &[String], deny: &[String]) -> ExpectedSurface {
    let free = match lane {
        Lane::Local => BARE_TOOLS,
        Lane::Frontier => FULL_TOOLS,
    };
    let mut tools: BTreeSet<String> = free.iter().map(ToString::to_string).collect();
    for rule in allow {
        let tool = tool_of(rule);
        // A server's name alone grants all its tools.
        if tool.starts_with("mcp__") && tool.matches("__").count() == 1 {
            tools.insert(format!("{tool}__*"));
        }
        tools.insert(tool.to_owned());
    }
    for rule in deny {
        // Only a rule without a specification takes the tool away.
        if rule.trim() == tool_of(rule) {
            tools.remove(rule.trim());
        }
    }
    ExpectedSurface { tools, permission_mode: PERMISSION_MODE.to_owned() }
}

/// The tool that a rule is about.
pub(super) fn tool_of(rule: &str) -> &str {
    rule.split_once('(').map_or(rule, |(tool, _)| tool).trim()
}
