//! The status as tables.

use std::fmt::Write as _;

use comfy_table::{Table, presets};
use dispatch_engine::status::{LaneStatus, RunningStatus, StatusReport};

use super::{duration, plain};

/// Slots, running attempts, lanes and the queue.
pub fn status(report: &StatusReport) -> String {
    let mut text = String::new();
    section(&mut text, "Slots", slots(report));
    section(&mut text, "Running", running(&report.running));
    section(&mut text, "Lanes", lanes(&report.lanes));
    section(&mut text, "Queue", queue(report));
    section(&mut text, "Proposed", proposals(report));
    for problem in &report.problems {
        line(&mut text, &format!("problem: {}", plain(problem)));
    }
    text
}

fn line(text: &mut String, line: &str) {
    let written = writeln!(text, "{line}");
    debug_assert!(written.is_ok(), "a String takes every write");
}

fn section(text: &mut String, title: &str, rows: Vec<Vec<String>>) {
    if rows.is_empty() {
        return line(text, &format!("{title}: none"));
    }
    line(text, title);
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    for row in rows {
        table.add_row(row);
    }
    for row in table.lines() {
        line(text, &format!("  {}", row.trim_end()));
    }
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
        vec![slot.name.to_string(), state, slot.path.to_string()]
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
        let cost = attempt.cost_usd.map(|cost| format!("{cost:.2} USD")).unwrap_or_default();
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
            format!("{} turns", attempt.turns),
            cost,
            beat,
        ]
    };
    attempts.iter().map(row).collect()
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
        let verdict = match task.verdict.reason {
            None => task.verdict.verdict.to_owned(),
            Some(reason) => format!("{}: {reason}", task.verdict.verdict),
        };
        vec![task.id.to_string(), plain(&task.title).into_owned(), verdict]
    };
    report.queue.iter().map(row).collect()
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
