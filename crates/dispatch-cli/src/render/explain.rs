//! An explanation as text.

use dispatch_engine::explain::{ExplainedLaunch, Explanation};

use dispatch_guards::guards::Guard;
use dispatch_guards::permission::DenyReason;

use super::{command_line, plain};

/// Every guard's verdict, and the launch.
pub fn explanation(explanation: &Explanation) -> String {
    let mut lines = vec![
        format!("{}: {}", explanation.id, plain(&explanation.title)),
        format!("status: {}", explanation.status),
        String::new(),
        "Guards".to_owned(),
    ];
    for guard in &explanation.guards {
        let name = guard.guard.map_or("", Guard::name);
        let reason = guard.reason.map(|reason| format!(" {reason}")).unwrap_or_default();
        lines.push(format!("  {name:<14} {}{reason}", guard.verdict));
        lines.extend(
            guard
                .comment
                .iter()
                .flat_map(|comment| comment.lines())
                .map(|line| format!("      {}", plain(line))),
        );
    }
    let verdict = &explanation.verdict;
    let reason = verdict.reason.map(|reason| format!(" {reason}")).unwrap_or_default();
    lines.push(format!("  {:<24} {}{reason}", "together", verdict.verdict));
    lines.push(String::new());
    lines.push(format!("Branch: {}", explanation.branches.own.name));
    match &explanation.branches.base {
        Some(base) => lines.push(format!("Proposed for: {}", base.name)),
        None => lines.push("Proposed for: not known (the remote did not say)".to_owned()),
    }
    lines.extend(claims(explanation));
    lines.push(String::new());
    match &explanation.launch {
        ExplainedLaunch::Refused { why } => {
            lines.push(format!("It would not be launched: {}", plain(why)));
        }
        ExplainedLaunch::Would { lane, argv, cwd, environment, denied } => {
            lines.push(format!("Launch on lane {lane}, in {cwd}:"));
            lines.push(command_line("claude", argv));
            lines.push(format!("with the variables {}", environment.join(", ")));
            lines.push(String::new());
            lines.push("Denied".to_owned());
            lines.extend(
                denied
                    .iter()
                    .map(|denied| format!("  {:<24} {}", plain(&denied.rule), why(&denied.reason))),
            );
        }
    }
    lines.push(String::new());
    lines.join("\n")
}

/// Claims that could get in the way of others', or theirs in the way of these.
fn claims(explanation: &Explanation) -> Vec<String> {
    let Some(found) = &explanation.claims else {
        return vec![
            String::new(),
            "Claims: not judged, part of the board cannot be read".to_owned(),
        ];
    };
    if found.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![
        String::new(),
        "Claims that overlap, with nothing that orders the tasks: add a dependency or split the files".to_owned(),
    ];
    lines.extend(found.iter().map(|pair| {
        let (one, other) = &pair.claims;
        format!(
            "  {:<24} `{}` of {} and `{}` of {}",
            pair.rule.as_str(),
            plain(&one.path),
            pair.task,
            plain(&other.path),
            pair.other
        )
    }));
    lines
}

fn why(reason: &DenyReason) -> String {
    match reason {
        DenyReason::Lane => "the lane's settings deny it".to_owned(),
        DenyReason::BuiltIn => "no unattended worker has it".to_owned(),
        DenyReason::Loaded { file } => format!("{} would grant it", plain(file)),
    }
}
