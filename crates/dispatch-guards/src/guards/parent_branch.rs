//! Guard 4b: the branches the work builds on are known.

use dispatch_core::config::ParentBranch;
use dispatch_core::names::WaitReason;
use dispatch_core::parent::has_own_branch;

use super::{BranchPresence, GuardInput, GuardMessage};
use crate::verdict::{Grounds, Verdict};

pub(super) fn evaluate(input: &GuardInput<'_>) -> Verdict {
    let remote = input.remote;
    // Right after guard 4: a task with earlier work is never started afresh from the base.
    if remote.dispatched_before && remote.own.seen == BranchPresence::Unknown {
        return wait_unknown(remote.own.name.as_str());
    }
    let Some(parent_id) = &input.task.parent else { return Verdict::Launch };
    let Some(parent) = input.board.find(parent_id) else {
        if !input.board.may_hide(parent_id) {
            return Verdict::Launch;
        }
        let tasks = parent_id.to_string();
        let grounds = Grounds::of(GuardMessage::BoardIncomplete, &[("tasks", &tasks)]);
        return Verdict::Wait(WaitReason::BoardIncomplete, grounds);
    };
    if !has_own_branch(parent) {
        return Verdict::Launch;
    }
    let Some(branch) = &remote.parent else {
        // Nobody asked the remote: nothing is concluded from that.
        return wait_unknown(parent.branch.given().unwrap_or(parent_id.as_str()));
    };
    match (branch.seen, input.limits.parent_branch) {
        (BranchPresence::Present, ParentBranch::Create | ParentBranch::Require)
        | (BranchPresence::Absent, ParentBranch::Create) => Verdict::Launch,
        (BranchPresence::Unknown, ParentBranch::Create | ParentBranch::Require) => {
            wait_unknown(branch.name.as_str())
        }
        (BranchPresence::Absent, ParentBranch::Require) => {
            let task = parent_id.to_string();
            let values = [("branch", branch.name.as_str()), ("task", &task)];
            let grounds = Grounds::of(GuardMessage::ParentBranchMissing, &values);
            Verdict::Wait(WaitReason::ParentBranchMissing, grounds)
        }
    }
}

fn wait_unknown(branch: &str) -> Verdict {
    let grounds = Grounds::of(GuardMessage::RemoteUnknown, &[("branch", branch)]);
    Verdict::Wait(WaitReason::RemoteUnknown, grounds)
}
