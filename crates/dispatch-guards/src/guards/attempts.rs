//! Guard 5: attempts are left.

use dispatch_core::names::{BlockReason, WaitReason};

use super::{GuardInput, GuardMessage, MAX_FAULTS};
use crate::verdict::{Grounds, Verdict};

pub(super) fn evaluate(input: &GuardInput<'_>) -> Verdict {
    let (counts, limit) = (input.attempts, input.limits.attempts);
    let task = input.task.id.to_string();
    if counts.counted >= limit {
        let (count, limit) = (counts.counted.to_string(), limit.to_string());
        let values = [("count", count.as_str()), ("limit", &limit), ("task", &task)];
        let grounds = Grounds::of(GuardMessage::AttemptsExhausted, &values);
        return Verdict::Block(BlockReason::AttemptsExhausted, grounds);
    }
    if counts.faults() >= MAX_FAULTS {
        let count = counts.faults().to_string();
        let values = [("count", count.as_str()), ("task", &task)];
        let grounds = Grounds::of(GuardMessage::TooManyFaults, &values);
        return Verdict::Wait(WaitReason::TooManyFaults, grounds);
    }
    Verdict::Launch
}
