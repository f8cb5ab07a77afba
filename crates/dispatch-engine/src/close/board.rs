//! The steps that read the board (B4, C8), and whether it can be read (S3).

use std::time::Duration;

use dispatch_close::acceptance::{Acceptance, OwnedItem, judge_acceptance};
use dispatch_close::execute::{Fault, Stop};
use dispatch_close::phrase::Said;
use dispatch_close::plan::{Detail, Failure};
use dispatch_core::names::{BlockReason, CloseStep, RequeueReason};
use dispatch_core::record::Waiting;
use dispatch_core::status::Status;
use dispatch_core::task::{Checklist, Task};

use super::{Step, Trouble};
use crate::ports::{Answer, PortError, Tick};
use crate::supervise::Attempt;

/// How often an absent board is looked for.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// Whether the board's checkout is on the board branch and follows what the last pass saw.
pub(crate) fn board_is_here(attempt: &Attempt<'_>) -> Result<bool, PortError> {
    let ports = attempt.ports;
    let place = ports.vcs.board_place()?;
    if !place.repository {
        return Ok(true);
    }
    let config = &attempt.hand.config;
    let configured = config.board.branch.as_ref().or(config.base_branch.as_ref());
    let expected = configured.or(attempt.state.board_branch.as_ref());
    if expected.is_some() && place.branch.as_ref() != expected {
        return Ok(false);
    }
    let (Some(last), Some(head)) = (ports.store.owner()?.head, place.head) else { return Ok(true) };
    Ok(match ports.vcs.is_ancestor(&last, &head) {
        Answer::Yes => true,
        Answer::No | Answer::Unknown => last == head,
    })
}

/// Waits until the board is where it belongs (C1.4b); a shutdown leaves the phase as it is.
pub(crate) fn wait_for_board(attempt: &mut Attempt<'_>) -> Result<(), Trouble> {
    let mut said = false;
    loop {
        if board_is_here(attempt)? {
            if said {
                attempt.waits(None);
            }
            return Ok(());
        }
        if !said {
            let why = "the board's checkout is elsewhere";
            attempt.note(&format!("{why}; waiting for it"));
            attempt.waits(Some(Waiting { why: why.to_owned(), until: None }));
            said = true;
        }
        if attempt.ports.commands.asked_to_end() {
            let why = "the board's checkout is elsewhere and the dispatcher was asked to stop";
            return Err(Trouble::Stop(Stop::Leave(why.to_owned())));
        }
        attempt.rest(LOOK_EVERY);
        attempt.verify()?;
    }
}

/// The task as the board has it now. A board that cannot be read is waited for; a task that a complete board does
/// not hold was taken away by a person.
pub(crate) fn fresh_task(attempt: &mut Attempt<'_>, step: CloseStep) -> Result<Task, Trouble> {
    wait_for_board(attempt)?;
    let read = attempt.ports.board.task(attempt.id());
    let task = read.map_err(|error| Trouble::Fault(Fault { cause: None, why: error.chain() }))?;
    task.ok_or_else(|| Failure::taken_away(Some(step), Said::TaskGone.phrase(&[])).into())
}

/// What would make the board program run a command, when it is in the task's own file (B2.7).
pub(crate) fn hostile(attempt: &Attempt<'_>) -> Option<String> {
    attempt.ports.board.read().hostile_file_of(attempt.id()).map(ToString::to_string)
}

/// `board-check`: the task is still the one that was started, and still ours (B4).
pub(crate) fn check(attempt: &mut Attempt<'_>) -> Step {
    let step = CloseStep::BoardCheck;
    let task = match fresh_task(attempt, step) {
        Ok(task) => task,
        Err(trouble) => {
            return Err(match hostile(attempt) {
                Some(problem) => {
                    let about = Said::HostileFile.phrase(&[]);
                    let detail = Detail::Output { about, tail: problem };
                    Failure::found(step, BlockReason::BoardTampered, detail).into()
                }
                None => trouble,
            });
        }
    };
    if task.status != Status::InProgress {
        let set = Said::StatusSet.phrase(&[("status", &task.status)]);
        return Err(Failure::taken_away(Some(step), set).into());
    }
    let Some(snapshot) = &attempt.state.snapshot else {
        let why = "the task as it was at the start was not kept";
        return Err(Failure::inside(step, why).into());
    };
    let changes = snapshot.changes(&task);
    if changes.is_empty() {
        return Ok(None);
    }
    let about = Said::Protected.phrase(&[]);
    let items = changes.iter().collect();
    let detail = Detail::List { about, items };
    // Under confinement only a person can have edited them.
    Err(Trouble::Failed(if attempt.context.confined {
        Failure::requeue(Some(step), RequeueReason::TaskEdited, detail)
    } else {
        Failure::found(step, BlockReason::BoardTampered, detail)
    }))
}

/// `acceptance`: everything that must be ticked is (C8).
pub(crate) fn acceptance(attempt: &mut Attempt<'_>) -> Step {
    let step = CloseStep::Acceptance;
    let task = fresh_task(attempt, step)?;
    match judge_acceptance(&task, &attempt.policies.owned) {
        Acceptance::Met => {
            tick_owned(attempt, &task, OwnedItem::Acceptance);
            Ok(None)
        }
        Acceptance::Unmet(items) => {
            let lint = attempt.policies.owned.open_items(&task, OwnedItem::Lint);
            let about = if lint.is_empty() || attempt.found().linted {
                Said::StillOpen
            } else {
                Said::StillOpenUnproved
            };
            let items = items.into_iter().collect();
            let detail = Detail::List { about: about.phrase(&[]), items };
            Err(Failure::found(step, BlockReason::AcceptanceUnmet, detail).into())
        }
    }
}

/// Ticks the open items that the dispatcher owns and just proved (C5.5). A tick that fails is logged, never fatal.
pub(crate) fn tick_owned(attempt: &Attempt<'_>, task: &Task, owned: OwnedItem) {
    for text in attempt.policies.owned.open_items(task, owned) {
        let ticked = attempt.ports.board.tick(attempt.id(), Checklist::DefinitionOfDone, text);
        match ticked {
            Ok(Tick::Ticked | Tick::AlreadyTicked) => {}
            Ok(Tick::NoSuchItem) => attempt.note(&format!("no item to tick: {text}")),
            Err(error) => attempt.note(&format!("could not tick {text:?}: {}", error.chain())),
        }
    }
}
