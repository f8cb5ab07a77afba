//! Guard 3: no declared file is one that the lane may not touch (C4).

use dispatch_core::names::BlockReason;

use super::{GuardInput, GuardMessage, Own};
use crate::paths::PathList;
use crate::verdict::{Grounds, Verdict};

pub(super) fn evaluate(input: &GuardInput<'_>, own: &Own) -> Verdict {
    let lane = input.task.lane.given();
    let mut found: Option<Grounds> = None;
    for claim in own.claims.entries() {
        let Some(entry) = input.policy.paths.forbids_claim(&claim.path, lane, &own.claims) else {
            continue;
        };
        let message = match entry.list {
            PathList::LocalForbidden => GuardMessage::LocalForbiddenPath,
            PathList::Hard | PathList::HumanReview => GuardMessage::ForbiddenPath,
        };
        let values = [("file", claim.path.as_str()), ("glob", &entry.glob)];
        found = Some(found.unwrap_or_default().and(message, &values));
    }
    match found {
        None => Verdict::Launch,
        Some(grounds) => Verdict::Block(BlockReason::ForbiddenPath, grounds),
    }
}
