//! What happened between two looks, a line an event.

use std::collections::BTreeSet;

use dispatch_core::attempt::AttemptNumber;
use dispatch_core::id::TaskId;
use dispatch_engine::status::{RunningStatus, StatusReport};

/// Something that a person is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    /// What, on one line.
    pub(super) text: String,
    /// Whether it went wrong.
    pub(super) is_fault: bool,
}

impl Event {
    /// Something that happened.
    pub(super) fn news(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_fault: false }
    }

    /// Something that went wrong.
    pub(super) fn fault(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_fault: true }
    }
}

/// What a person is told of the dispatcher's own doing; the board's changes are told by the board.
pub(super) fn between(before: &StatusReport, after: &StatusReport) -> Vec<Event> {
    let mut events = Vec::new();
    let key = |running: &RunningStatus| (running.id.clone(), running.attempt);
    let old: BTreeSet<(TaskId, AttemptNumber)> = before.running.iter().map(key).collect();
    let new: BTreeSet<(TaskId, AttemptNumber)> = after.running.iter().map(key).collect();
    for running in &before.running {
        if !new.contains(&key(running)) {
            events.push(Event::news(format!("{}: attempt {} ended", running.id, running.attempt)));
        }
    }
    for running in &after.running {
        if !old.contains(&key(running)) {
            events.push(Event::news(format!(
                "{}: attempt {} on lane {} in {}",
                running.id, running.attempt, running.lane, running.slot
            )));
        }
    }
    for proposal in &after.proposals {
        let known = |old: &dispatch_engine::status::ProposalStatus| {
            old.id == proposal.id && old.link == proposal.link
        };
        if !before.proposals.iter().any(known) {
            events.push(Event::news(format!("{}: proposed, {}", proposal.id, proposal.link)));
        }
    }
    for slot in &after.slots {
        let held = before.slots.iter().find(|old| old.name == slot.name);
        if let Some(cause) = &slot.held
            && held.is_none_or(|old| old.held.is_none())
        {
            events.push(Event::news(format!("{} is held: {cause}", slot.name)));
        }
    }
    for lane in &after.lanes {
        let old = before.lanes.iter().find(|old| old.lane == lane.lane);
        let old = old.and_then(|old| old.pause.as_ref());
        match (&lane.pause, old) {
            (Some(pause), None) => {
                events.push(Event::fault(format!(
                    "lane {} paused: {}: {}",
                    lane.lane, pause.cause, pause.detail
                )));
            }
            (None, Some(_)) => events.push(Event::news(format!("lane {} resumed", lane.lane))),
            (Some(_), Some(_)) | (None, None) => {}
        }
    }
    for problem in &after.problems {
        if !before.problems.contains(problem) {
            events.push(Event::fault(format!("problem: {problem}")));
        }
    }
    events
}
