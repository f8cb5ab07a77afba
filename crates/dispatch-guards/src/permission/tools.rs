//! The tools of the agent, and which rule of one governs another (P2.2, P2.4, P5.8).

use super::wildcard::takes_whole;

/// The tools known to the measured version of the agent.
pub const KNOWN: &[&str] = &[
    "Agent",
    "AskUserQuestion",
    "Bash",
    "BashOutput",
    "CronCreate",
    "CronDelete",
    "CronList",
    "Edit",
    "EnterPlanMode",
    "EnterWorktree",
    "ExitPlanMode",
    "ExitWorktree",
    "Glob",
    "Grep",
    "KillShell",
    "LSP",
    "ListMcpResourcesTool",
    "Monitor",
    "NotebookEdit",
    "PowerShell",
    "PushNotification",
    "Read",
    "ReadMcpResourceTool",
    "RemoteTrigger",
    "ReportFindings",
    "ScheduleWakeup",
    "SendMessage",
    "Skill",
    "SlashCommand",
    "StructuredOutput",
    "Task",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TeamCreate",
    "TeamDelete",
    "TodoWrite",
    "ToolSearch",
    "WebFetch",
    "WebSearch",
    "Workflow",
    "Write",
];

/// Tools that older versions had: a rule for one does nothing [e_multi-01].
pub const GONE: &[&str] = &["MultiEdit", "LS", "NotebookRead"];

/// The name under which the agent knows a tool: `Task` is `Agent` [ag2_dtask-01].
pub fn canonical(tool: &str) -> &str {
    if tool == "Task" { "Agent" } else { tool }
}

/// A pattern over tool names, `*` standing for anything.
pub fn name_matches(pattern: &str, name: &str) -> bool {
    takes_whole(pattern.as_bytes(), name.as_bytes(), |step| *step == b'*', |own, byte| own == byte)
}

/// The server and tool pattern of an MCP rule: `mcp__srv` is `mcp__srv__*` [mcp_server-03].
pub fn mcp_pattern(tool: &str) -> Option<String> {
    let rest = tool.strip_prefix("mcp__")?;
    Some(if rest.contains("__") { tool.to_owned() } else { format!("{tool}__*") })
}

#[cfg(test)]
mod tests {
    use dispatch_core::launch::{BARE_TOOLS, FRONTIER_DENIED_TOOLS, FULL_TOOLS};

    use super::*;

    /// P4.1: a rule about a tool that a launch has is about a known one.
    #[test]
    fn every_tool_of_a_launch_is_known() {
        let of_launches = [BARE_TOOLS, FULL_TOOLS, FRONTIER_DENIED_TOOLS].concat();
        for tool in of_launches {
            assert!(KNOWN.contains(&tool) && !GONE.contains(&tool), "{tool}");
        }
    }
}
