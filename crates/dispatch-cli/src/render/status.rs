//! The status as tables.

use dispatch_engine::status::{LaneStatus, RunningStatus, StatusReport};

use super::layout::{table, wrap};
use super::{duration, plain, standstill, waits};

/// What keeps the passes from working, slots, running attempts, lanes, the queue and what waits for a person.
pub fn status(report: &StatusReport, columns: Option<usize>) -> String {
    let mut lines = Vec::new();
    lines.extend(report.standstill.as_ref().map(|found| wrap(&standstill(found), columns)));
    let held_back = report.held_back().into_iter();
    lines.extend(held_back.map(|text| wrap(&format!("Held back: {}", plain(text)), columns)));
    // Without a configuration there are no lanes, and nothing can be said of the queue.
    let configured = !report.lanes.is_empty();
    for (title, rows, known) in [
        ("Slots", slots(report), configured),
        ("Running", running(&report.running), true),
        ("Lanes", lanes(&report.lanes), configured),
        ("Queue", queue(report), configured),
        ("Blocked", blocked(report), true),
        ("Proposed", proposals(report), true),
    ] {
        if rows.is_empty() {
            lines.extend(known.then(|| format!("{title}: none")));
        } else {
            lines.push(title.to_owned());
            lines.extend(table(&rows, columns));
        }
    }
    lines.extend(waiting(&report.running, columns));
    let problems = report.problems.iter();
    lines.extend(problems.map(|problem| wrap(&format!("problem: {}", plain(problem)), columns)));
    lines.push(String::new());
    lines.join("\n")
}

fn slots(report: &StatusReport) -> Vec<Vec<String>> {
    let row = |slot: &dispatch_engine::status::SlotStatus| {
        let state = match (&slot.held, &slot.task, slot.configured) {
            (Some(cause), _, _) => format!("HELD: {}", plain(cause)),
            (None, Some(task), _) => match slot.attempt {
                Some(attempt) => format!("{task}, attempt {attempt}"),
                None => task.to_string(),
            },
            (None, None, true) => "free".to_owned(),
            (None, None, false) => "free, no longer configured".to_owned(),
        };
        vec![slot.name.to_string(), state, plain(slot.path.as_str()).into_owned()]
    };
    report.slots.iter().map(row).collect()
}

fn running(attempts: &[RunningStatus]) -> Vec<Vec<String>> {
    let row = |attempt: &RunningStatus| {
        let beat = match (attempt.supervised, attempt.beat_age_s) {
            (false, _) => "no supervisor: the next pass recovers it".to_owned(),
            (true, Some(age)) => format!("last sign of life {} ago", duration(age)),
            (true, None) => "no sign of life yet".to_owned(),
        };
        let turns = if attempt.turns == 1 { "turn" } else { "turns" };
        let cost = attempt.cost_usd.map(|cost| format!(", {cost:.2} USD")).unwrap_or_default();
        vec![
            attempt.id.to_string(),
            format!("attempt {}", attempt.attempt),
            attempt.lane.to_string(),
            attempt.slot.to_string(),
            attempt.phase.to_string(),
            attempt
                .elapsed_s
                .map(|elapsed| duration(u64::try_from(elapsed).unwrap_or(0)))
                .unwrap_or_default(),
            format!("{} {turns}{cost}", attempt.turns),
            beat,
        ]
    };
    attempts.iter().map(row).collect()
}

/// What attempts wait for before they end.
fn waiting(attempts: &[RunningStatus], columns: Option<usize>) -> Vec<String> {
    let told = attempts.iter().filter_map(|attempt| {
        let text = waits(attempt.waiting.as_ref()?);
        Some(wrap(&format!("{}: `{}` {}", attempt.id, attempt.phase, plain(&text)), columns))
    });
    told.collect()
}

fn lanes(lanes: &[LaneStatus]) -> Vec<Vec<String>> {
    let row = |lane: &LaneStatus| {
        let pause = match &lane.pause {
            None => String::new(),
            Some(pause) => {
                let until = pause.until.as_deref().map_or_else(
                    || "until a person resumes it".to_owned(),
                    |until| format!("until {until}"),
                );
                format!("paused {until}: {}: {}", pause.cause, plain(&pause.detail))
            }
        };
        vec![
            lane.lane.to_string(),
            format!("{} of {} running", lane.running, lane.max_parallel),
            format!("confinement: {}", lane.confinement),
            pause,
        ]
    };
    lanes.iter().map(row).collect()
}

fn queue(report: &StatusReport) -> Vec<Vec<String>> {
    let row = |task: &dispatch_engine::status::QueuedStatus| {
        let (_, verdict) = task.outlook();
        vec![task.id.to_string(), plain(&task.title).into_owned(), verdict]
    };
    report.queue.iter().map(row).collect()
}

fn blocked(report: &StatusReport) -> Vec<Vec<String>> {
    let row = |task: &dispatch_engine::status::BlockedStatus| {
        let reason = task.reason.map_or("see its comments", |reason| reason.as_str());
        vec![task.id.to_string(), plain(&task.title).into_owned(), reason.to_owned()]
    };
    report.blocked.iter().map(row).collect()
}

fn proposals(report: &StatusReport) -> Vec<Vec<String>> {
    let row = |proposal: &dispatch_engine::status::ProposalStatus| {
        vec![
            proposal.id.to_string(),
            plain(&proposal.link).into_owned(),
            proposal.settled.clone().unwrap_or_default(),
        ]
    };
    report.proposals.iter().map(row).collect()
}
