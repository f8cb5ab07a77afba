//! Guard 6: there is room, and the lane runs.

use dispatch_core::names::WaitReason;

use super::{GuardInput, GuardMessage, lane};
use crate::verdict::{Grounds, Verdict};

pub(super) fn evaluate(input: &GuardInput<'_>) -> Verdict {
    let lane = lane(input.task);
    if let Some(facts) = input.limits.lanes.get(&lane) {
        if let Some(pause) = &facts.pause {
            let detail = pause.detail.trim_end_matches('.');
            let values =
                [("lane", lane.as_str()), ("cause", pause.cause.as_str()), ("detail", detail)];
            let grounds = Grounds::of(GuardMessage::LanePaused, &values);
            return Verdict::Wait(WaitReason::LanePaused, grounds);
        }
        if facts.max_parallel == 0 {
            let grounds = Grounds::of(GuardMessage::LaneOff, &[("lane", lane.as_str())]);
            return Verdict::Wait(WaitReason::LaneAtCapacity, grounds);
        }
        if facts.running >= facts.max_parallel {
            let (running, limit) = (facts.running.to_string(), facts.max_parallel.to_string());
            let values =
                [("lane", lane.as_str()), ("running", running.as_str()), ("limit", &limit)];
            let grounds = Grounds::of(GuardMessage::LaneAtCapacity, &values);
            return Verdict::Wait(WaitReason::LaneAtCapacity, grounds);
        }
    }
    if input.slots.free == 0 {
        let count = input.slots.configured.to_string();
        let grounds = Grounds::of(GuardMessage::NoFreeSlot, &[("count", &count)]);
        return Verdict::Wait(WaitReason::NoFreeSlot, grounds);
    }
    Verdict::Launch
}
