//! Guard 2: the lane takes the task's tier.

use dispatch_core::names::BlockReason;
use dispatch_core::triage::{Lane, Tier};

use super::{GuardInput, GuardMessage, list};
use crate::verdict::{Grounds, Verdict};

pub(super) fn evaluate(input: &GuardInput<'_>) -> Verdict {
    // A missing answer is guard 1's business.
    let (Some(lane), Some(tier)) = (input.task.lane.given(), input.task.tier.given()) else {
        return Verdict::Launch;
    };
    if (lane, tier) == (Lane::Local, Tier::Complex) {
        let grounds = Grounds::of(GuardMessage::ComplexOnLocal, &[]);
        return Verdict::Block(BlockReason::ComplexOnLocal, grounds);
    }
    let Some(facts) = input.limits.lanes.get(&lane) else { return Verdict::Launch };
    if facts.tiers.contains(&tier) {
        return Verdict::Launch;
    }
    let allowed = list(&facts.tiers);
    let values = [("lane", lane.as_str()), ("allowed", allowed.as_str()), ("tier", tier.as_str())];
    let grounds = Grounds::of(GuardMessage::TierNotAllowed, &values);
    Verdict::Block(BlockReason::TierNotAllowedOnLane, grounds)
}
