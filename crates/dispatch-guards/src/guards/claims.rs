//! Guard 7: no busy task claims the same files (L8.7).

use dispatch_core::names::WaitReason;

use super::{GuardInput, GuardMessage, Own, Role, list};
use crate::claims::decide_overlap;
use crate::verdict::{Grounds, Verdict};

pub(super) fn evaluate(input: &GuardInput<'_>, own: &Own) -> Verdict {
    if input.role == Role::Close || own.claims.is_empty() {
        return Verdict::Launch;
    }
    let id = &input.task.id;
    let unseen: Vec<_> = input.busy.unseen.iter().filter(|busy| *busy != id).collect();
    if !unseen.is_empty() {
        let tasks = list(unseen);
        let grounds = Grounds::of(GuardMessage::BoardIncomplete, &[("tasks", &tasks)]);
        return Verdict::Wait(WaitReason::BoardIncomplete, grounds);
    }
    let found = decide_overlap((id, &own.claims), &input.busy.claims, input.graph);
    let Some(conflict) = found else { return Verdict::Launch };
    let task = conflict.task.to_string();
    let overlap = &conflict.overlap;
    let values = [
        ("task", task.as_str()),
        ("path", &overlap.candidate.path),
        ("field", overlap.candidate.field.as_str()),
        ("other_path", &overlap.busy.path),
        ("other_field", overlap.busy.field.as_str()),
    ];
    let grounds = Grounds::of(GuardMessage::ClaimsOverlap, &values);
    // On an incomplete board a missing dependency proves nothing, so that the two are not ordered is
    // not known either; the task waits all the same.
    if input.board.complete {
        Verdict::Wait(WaitReason::ClaimsOverlap, grounds)
    } else {
        let more = Grounds::of(GuardMessage::BoardIncomplete, &[("tasks", &task)]);
        Verdict::Wait(WaitReason::BoardIncomplete, grounds.extended(more))
    }
}
