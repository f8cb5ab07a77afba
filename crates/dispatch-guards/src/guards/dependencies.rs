//! Guard 4: every dependency is effectively done.

use dispatch_core::dependencies::{Dependencies, NeverDone, judge};
use dispatch_core::names::{BlockReason, WaitReason};

use super::{GuardInput, GuardMessage, list};
use crate::verdict::{Grounds, Verdict};

pub(super) fn evaluate(input: &GuardInput<'_>) -> Verdict {
    match judge(input.board, input.task) {
        Dependencies::Met => Verdict::Launch,
        Dependencies::NotDone(ids) => {
            let tasks = list(&ids);
            let grounds = Grounds::of(GuardMessage::DependencyNotDone, &[("tasks", &tasks)]);
            Verdict::Wait(WaitReason::DependencyNotDone, grounds)
        }
        Dependencies::Unseen(ids) => {
            let tasks = list(&ids);
            let grounds = Grounds::of(GuardMessage::BoardIncomplete, &[("tasks", &tasks)]);
            Verdict::Wait(WaitReason::BoardIncomplete, grounds)
        }
        Dependencies::Unknown(never) => {
            let grounds = never.iter().fold(Grounds::default(), |grounds, (task, why)| {
                let message = match why {
                    NeverDone::Archived => GuardMessage::ArchivedDependency,
                    NeverDone::NoSuchTask => GuardMessage::UnknownDependency,
                    NeverDone::NotAnId => GuardMessage::ForeignDependency,
                };
                grounds.and(message, &[("task", task)])
            });
            Verdict::Block(BlockReason::UnknownDependency, grounds)
        }
        Dependencies::Cycle(ids) => {
            let path = ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(" → ");
            let grounds = Grounds::of(GuardMessage::DependencyCycle, &[("path", &path)]);
            Verdict::Block(BlockReason::DependencyCycle, grounds)
        }
    }
}
