//! An explanation as text.

use dispatch_core::record::Phase;
use dispatch_engine::explain::{ExplainedLaunch, Explanation};
use dispatch_engine::stage::Stage;
use dispatch_guards::guards::Guard;
use dispatch_guards::permission::DenyReason;
use dispatch_guards::verdict::VerdictKind;

use super::layout::{table, wrap};
use super::{command_line, plain, standstill, waits};

/// What the task is and waits for; every guard's verdict and the launch where they bear on that.
pub fn explanation(explanation: &Explanation, columns: Option<usize>) -> String {
    let mut lines = Vec::new();
    lines.extend(explanation.standstill.as_ref().map(|found| wrap(&standstill(found), columns)));
    lines.push(wrap(&plain(&stage(explanation)), columns));
    lines.push(wrap(&format!("title: {}", plain(&explanation.title)), columns));
    lines.push(format!("status: {}", plain(explanation.status.as_str())));
    let asks_the_guards = guards_matter(&explanation.stage);
    if asks_the_guards {
        lines.push(String::new());
        lines.extend(guards(explanation, columns));
    }
    if !matches!(explanation.stage, Stage::Done { .. }) {
        lines.push(String::new());
        lines.push(format!("Branch: {}", explanation.branches.own.name));
        lines.push(match &explanation.branches.base {
            Some(base) => format!("Proposed for: {}", base.name),
            None => "Proposed for: not known (the remote did not say)".to_owned(),
        });
    }
    if asks_the_guards {
        lines.extend(claims(explanation, columns));
        lines.push(String::new());
        lines.extend(launch(&explanation.launch, columns));
    }
    lines.push(String::new());
    lines.join("\n")
}

/// Whether the guards have a say in what happens to the task next.
const fn guards_matter(stage: &Stage) -> bool {
    match stage {
        Stage::Queued | Stage::NotQueued | Stage::Blocked { .. } => true,
        Stage::Running { .. }
        | Stage::Proposed { .. }
        | Stage::Done { .. }
        | Stage::ElsewhereInProgress { .. } => false,
    }
}

/// What the task is, and what it waits for.
fn stage(explanation: &Explanation) -> String {
    let id = &explanation.id;
    match &explanation.stage {
        Stage::Running { attempt, slot, phase, supervised: false, .. } => format!(
            "{id} is in the middle of attempt {attempt} in {slot} ({phase}), and nobody supervises it any more: the next pass goes on with it"
        ),
        Stage::Running { attempt, slot, phase, supervised: true, waiting } => {
            let now = match phase {
                Phase::Claimed | Phase::Prepared => "the slot is being prepared".to_owned(),
                Phase::Running => "it waits until the worker ends".to_owned(),
                Phase::Closing(step) if let Some(waiting) = waiting => {
                    format!("the worker has ended, and `{step}` {}", waits(waiting))
                }
                Phase::Closing(step) => {
                    format!("the worker has ended, and its work is judged, now by `{step}`")
                }
                Phase::Ended => "it is over".to_owned(),
            };
            format!(
                "{id} is worked on, attempt {attempt} in {slot}: {now} (`dispatch logs {id} --follow` shows it, `dispatch cancel {id}` stops it)"
            )
        }
        Stage::Proposed { link, base } => format!(
            "{id} is proposed as {link}: it waits for its merge into {base}, and the first pass after that makes it Done"
        ),
        Stage::Blocked { reason } => {
            let why = reason.map(|reason| format!(" (`{reason}`)")).unwrap_or_default();
            format!(
                "{id} is Blocked{why} and waits for a person: its last comment says what to do; `dispatch retry {id}` queues it again"
            )
        }
        Stage::Done { merged: Some(link) } => {
            format!("{id} is Done: {link} was merged, and nothing is left to do")
        }
        Stage::Done { merged: None } => format!("{id} is Done, and nothing is left to do"),
        Stage::Queued => queued(explanation),
        Stage::ElsewhereInProgress { parent: true } => {
            format!("{id} is In Progress: its status follows its subtasks")
        }
        Stage::ElsewhereInProgress { parent: false } => format!(
            "{id} is In Progress, and no attempt of it runs here: a person works on it, or moves it to Queued to have it taken"
        ),
        Stage::NotQueued => format!(
            "{id} is {}: no pass takes it until a person moves it to Queued",
            explanation.status
        ),
    }
}

fn queued(explanation: &Explanation) -> String {
    let (id, verdict) = (&explanation.id, &explanation.verdict);
    let reason = verdict.reason.unwrap_or_default();
    let why = verdict.comment.as_deref().unwrap_or_default();
    match verdict.verdict {
        VerdictKind::Wait => format!("{id} is Queued and waits ({reason}): {why}"),
        VerdictKind::Block => {
            format!("{id} is Queued, and the next pass blocks it ({reason}): {why}")
        }
        VerdictKind::Launch if let Some(why) = &explanation.held_back => {
            format!("{id} is Queued, and {why}")
        }
        VerdictKind::Launch if explanation.standstill.is_some() => {
            format!("{id} is Queued, and nothing else keeps it from being started")
        }
        VerdictKind::Launch if explanation.branches.base.is_none() => {
            format!(
                "{id} is Queued: the next pass asks the remote where its work belongs, and starts it"
            )
        }
        VerdictKind::Launch => format!("{id} is Queued: the next pass starts it"),
    }
}

fn guards(explanation: &Explanation, columns: Option<usize>) -> Vec<String> {
    let mut lines = vec!["Guards".to_owned()];
    for guard in &explanation.guards {
        let name = guard.guard.map_or("", Guard::name);
        let reason = guard.reason.map(|reason| format!(" {reason}")).unwrap_or_default();
        lines.push(format!("  {name:<14} {}{reason}", guard.verdict));
        lines.extend(
            guard
                .comment
                .iter()
                .flat_map(|comment| comment.lines())
                .map(|line| wrap(&format!("      {}", plain(line)), columns)),
        );
    }
    let verdict = &explanation.verdict;
    let reason = verdict.reason.map(|reason| format!(" {reason}")).unwrap_or_default();
    lines.push(format!("  {:<14} {}{reason}", "together", verdict.verdict));
    lines
}

fn launch(launch: &ExplainedLaunch, columns: Option<usize>) -> Vec<String> {
    match launch {
        ExplainedLaunch::Refused { why } => {
            vec![wrap(&format!("It would not be launched: {}", plain(why)), columns)]
        }
        ExplainedLaunch::Would { lane, argv, cwd, environment, denied } => {
            let variables = format!("with the variables {}", environment.join(", "));
            let mut lines = vec![
                format!("Launch on lane {lane}, in {}:", plain(cwd)),
                // Not broken, so that it can be pasted into a shell.
                super::lines(&command_line("claude", argv)).into_owned(),
                wrap(&plain(&variables), columns),
            ];
            if !denied.is_empty() {
                let rows: Vec<Vec<String>> = denied
                    .iter()
                    .map(|denied| vec![plain(&denied.rule).into_owned(), why(&denied.reason)])
                    .collect();
                lines.extend([String::new(), "Denied".to_owned()]);
                lines.extend(table(&rows, columns));
            }
            lines
        }
    }
}

/// Claims that could get in the way of others', or theirs in the way of these.
fn claims(explanation: &Explanation, columns: Option<usize>) -> Vec<String> {
    let Some(found) = &explanation.claims else {
        return vec![
            String::new(),
            "Claims: not judged, part of the board cannot be read".to_owned(),
        ];
    };
    if found.is_empty() {
        return Vec::new();
    }
    let rows: Vec<Vec<String>> = found
        .iter()
        .map(|pair| {
            let (one, other) = &pair.claims;
            let (one, other) = (plain(&one.path), plain(&other.path));
            let text = format!("`{one}` of {} and `{other}` of {}", pair.task, pair.other);
            vec![pair.rule.as_str().to_owned(), text]
        })
        .collect();
    let heading = "Claims that overlap, with nothing that orders the tasks: add a dependency or split the files";
    let mut lines = vec![String::new(), wrap(heading, columns)];
    lines.extend(table(&rows, columns));
    lines
}

fn why(reason: &DenyReason) -> String {
    match reason {
        DenyReason::Lane => "the lane's settings deny it".to_owned(),
        DenyReason::BuiltIn => "no unattended worker has it".to_owned(),
        DenyReason::Loaded { file } => format!("{} would grant it", plain(file)),
    }
}
