//! Guard 1b: the settings a lane loads do not conflict with what the launch would grant (P5).

use dispatch_core::names::{BlockReason, WaitReason};

use super::{GuardInput, GuardMessage, Own, lane};
use crate::permission::{GrantOrigin, RuleConflict, TaskRules};
use crate::verdict::{Grounds, Verdict};

pub(super) fn evaluate(input: &GuardInput<'_>, own: &Own) -> Verdict {
    let lane = lane(input.task);
    let surface = match input.surfaces.get(&lane) {
        None => return Verdict::Launch,
        Some(Err(cause)) => {
            let values = [("lane", lane.as_str()), ("cause", *cause)];
            let grounds = Grounds::of(GuardMessage::SettingsUnreadable, &values);
            return Verdict::Wait(WaitReason::SettingsUnreadable, grounds);
        }
        Some(Ok(surface)) => surface,
    };
    let task = TaskRules {
        worker_edit: input.worker_edit_rule.map(str::to_owned),
        test_command: own.test_command.as_ref().and_then(|found| Some(found.as_ref().ok()?.rule())),
    };
    let conflicts = surface.conflicts(&task);
    // A conflict with the lane is no fault of the task, and pauses the lane whoever finds it.
    let of_lane = conflicts.iter().find(|conflict| !is_of_task(conflict));
    if let Some(conflict) = of_lane {
        let values = [
            ("file", conflict.file.as_str()),
            ("loaded", &conflict.loaded),
            ("granted", &conflict.granted.rule),
            ("lane", lane.as_str()),
        ];
        let grounds = Grounds::of(GuardMessage::LaneRuleConflict, &values);
        return Verdict::Wait(WaitReason::PermissionConflict, grounds);
    }
    match conflicts.first() {
        None => Verdict::Launch,
        Some(conflict) => {
            let values = [
                ("file", conflict.file.as_str()),
                ("loaded", &conflict.loaded),
                ("granted", &conflict.granted.rule),
            ];
            let grounds = Grounds::of(GuardMessage::TestCommandConflict, &values);
            Verdict::Block(BlockReason::PermissionConflict, grounds)
        }
    }
}

fn is_of_task(conflict: &RuleConflict) -> bool {
    match conflict.granted.origin {
        GrantOrigin::TestCommand => true,
        GrantOrigin::Lane | GrantOrigin::WorkerEdit | GrantOrigin::Free => false,
    }
}
