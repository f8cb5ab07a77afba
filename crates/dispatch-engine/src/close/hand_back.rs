//! Handing the task to a person, or back to the queue (C10.2, C10.3).

use std::collections::BTreeSet;

use dispatch_close::comment::{EndComment, Saved, end_comment};
use dispatch_close::execute::{CloseRun, Fault};
use dispatch_close::listed::Listed;
use dispatch_close::plan::{Detail, Disposition, Failure};
use dispatch_core::names::{BlockReason, CloseStep, RequeueReason};
use dispatch_core::status::Status;

use super::board::{self, wait_for_board};
use super::{Step, Trouble, pause_lane, scope};
use crate::owed;
use crate::ports::{StatusChange, StatusWrite};
use crate::supervise::{Asked, Attempt};
use crate::texts::notify_blocked;

/// Denials from this number on are worth listing: they usually explain the failure (D10).
const MANY_DENIALS: usize = 3;

/// `block`: the cause and the status become visible in one edit.
pub(crate) fn block(attempt: &mut Attempt<'_>, run: &CloseRun) -> Step {
    let failure = carried_out(run, CloseStep::Block)?;
    let comment = told(attempt, failure)?;
    let handed = hand(attempt, CloseStep::Block, &Status::Blocked, Some(comment.clone()))?;
    if let (Disposition::Block(reason), false) = (&failure.disposition, handed.left_to_person) {
        let language = attempt.hand.config.language;
        notify_blocked(&attempt.ports, language, attempt.id(), *reason, &comment);
    }
    Ok(Some(handed.note))
}

/// `requeue`: the task goes back to `Queued`, and what was at fault pauses the lane.
pub(crate) fn requeue(attempt: &mut Attempt<'_>, run: &CloseRun) -> Step {
    let failure = carried_out(run, CloseStep::Requeue)?;
    if let Disposition::Requeue(RequeueReason::Paused(cause)) = &failure.disposition {
        pause_lane(attempt, *cause, &failure.detail.to_string());
    }
    let comment = if worth_a_comment(attempt, &failure.disposition) {
        Some(told(attempt, failure)?)
    } else {
        None
    };
    Ok(Some(hand(attempt, CloseStep::Requeue, &Status::Queued, comment)?.note))
}

/// A cancellation that came while the close went on: a supervisor that is closing finishes, but a task it handed
/// back is put where the person asked for.
pub(crate) fn late_cancellation(attempt: &mut Attempt<'_>, run: &CloseRun) -> Result<(), Trouble> {
    let handed = match run.failure().map(|failure| &failure.disposition) {
        Some(Disposition::Requeue(_)) => Status::Queued,
        Some(Disposition::Block(_)) => Status::Blocked,
        Some(Disposition::Leave { .. }) | None => return Ok(()),
    };
    let Some(Asked::Cancel(Some(to))) = attempt.asked() else { return Ok(()) };
    wait_for_board(attempt)?;
    let change = StatusChange { expected: vec![handed], to, comment: None };
    attempt.ports.board.set_status(attempt.id(), &change)?;
    Ok(())
}

/// What a person who took the task away is told, and the status they asked for (M4).
pub(crate) fn leave_to_person(attempt: &mut Attempt<'_>, run: &CloseRun) -> Result<(), Trouble> {
    let Some(failure) = run.failure() else { return Ok(()) };
    let Disposition::Leave { to } = &failure.disposition else { return Ok(()) };
    let comment = if attempt.saved().is_some() { Some(told(attempt, failure)?) } else { None };
    match (to, comment) {
        (Some(to), comment) => {
            hand(attempt, CloseStep::ReleaseSlot, to, comment)?;
        }
        (None, comment) => {
            if put_back(attempt, comment.clone())? {
                return Ok(());
            }
            if let Some(comment) = comment
                && let Err(error) = attempt.ports.board.comment(attempt.id(), &comment)
            {
                attempt.note(&format!("the comment was not written: {}", error.chain()));
            }
        }
    }
    Ok(())
}

/// Whether the task is `In Progress` again, as after a `git stash pop`, and was queued: it would wait for nobody (I4).
fn put_back(attempt: &Attempt<'_>, comment: Option<String>) -> Result<bool, Trouble> {
    if !board::board_is_here(attempt)? {
        return Ok(false);
    }
    let change = StatusChange { expected: vec![Status::InProgress], to: Status::Queued, comment };
    match attempt.ports.board.set_status(attempt.id(), &change) {
        Ok(StatusWrite::Written) => {
            attempt.note("the task was put back meanwhile: it is queued again");
            Ok(true)
        }
        Ok(StatusWrite::Mismatch { .. } | StatusWrite::Gone) => Ok(false),
        Err(error) => {
            attempt.note(&format!("whether the task was put back is not known: {}", error.chain()));
            Ok(false)
        }
    }
}

fn carried_out(run: &CloseRun, step: CloseStep) -> Result<&Failure, Trouble> {
    run.failure().ok_or_else(|| Failure::inside(step, "there is no failure to carry out").into())
}

/// What became of the write of a status.
struct Handed {
    note: String,
    /// Whether the task is a person's to move: they did, or took it from the board.
    left_to_person: bool,
}

/// Writes the status if it is still the one we believe in; anything else is a person's decision, or our own write of
/// a step that runs again.
fn hand(
    attempt: &mut Attempt<'_>,
    step: CloseStep,
    to: &Status,
    comment: Option<String>,
) -> Result<Handed, Trouble> {
    wait_for_board(attempt)?;
    let change = StatusChange { expected: vec![Status::InProgress], to: to.clone(), comment };
    let written = match attempt.ports.board.set_status(attempt.id(), &change) {
        Ok(written) => written,
        Err(error) => {
            let Some(problem) = board::hostile(attempt) else {
                return Err(Trouble::Fault(Fault { cause: None, why: error.chain() }));
            };
            // Waiting would keep the slot for as long as nobody looks at the file: a sweep writes it later.
            attempt.note(&format!("{step}: the task stays as it is: {problem}"));
            owed::remember(attempt, change, &problem);
            let note = "the task's file cannot be written until a person cleans it".to_owned();
            return Ok(Handed { note, left_to_person: false });
        }
    };
    let (note, left_to_person) = match written {
        StatusWrite::Written => (to.to_string(), false),
        StatusWrite::Mismatch { found } if found == *to => (format!("{to} already"), false),
        StatusWrite::Mismatch { found } => {
            attempt.note(&format!("{step}: a person set {found}; it stays"));
            (format!("{found}, set by a person, stays"), true)
        }
        StatusWrite::Gone => ("the board does not hold the task any more".to_owned(), true),
    };
    Ok(Handed { note, left_to_person })
}

/// A machine's fault that left no work is told once for the lane, not on every task (D11.2).
fn worth_a_comment(attempt: &Attempt<'_>, disposition: &Disposition) -> bool {
    if attempt.saved().is_some() {
        return true;
    }
    match disposition {
        Disposition::Requeue(reason) => matches!(
            reason,
            RequeueReason::TaskEdited | RequeueReason::RemoteMoved | RequeueReason::HardLinkOutside
        ),
        Disposition::Block(_) | Disposition::Leave { .. } => true,
    }
}

/// The comment about how the attempt ended, once the task it tells of can be read.
fn told(attempt: &mut Attempt<'_>, failure: &Failure) -> Result<String, Trouble> {
    wait_for_board(attempt)?;
    scope::look_at_files(attempt);
    Ok(comment_of(attempt, failure))
}

fn comment_of(attempt: &mut Attempt<'_>, failure: &Failure) -> String {
    let found = attempt.found();
    let left_out = found.left_out.clone();
    let mut files = found.forbidden_files.clone();
    files.append(&found.review_files);
    // What is the very failure is listed with it already.
    if let Detail::List { items, .. } = &failure.detail {
        let listed: BTreeSet<&String> = items.items.iter().collect();
        files.items.retain(|file| !listed.contains(file));
    }
    let denials = attempt.state.denials.clone();
    let listed = if denials.len() >= MANY_DENIALS { denials } else { Listed::default() };
    let name = attempt.attempt_ref();
    let path = attempt.slot().path.to_string();
    let held = failure.disposition == Disposition::Block(BlockReason::WorkHeld);
    let base = attempt.record.base.clone();
    let saved = match (held, attempt.saved(), &base) {
        (true, ..) => Saved::Held { path: &path },
        (false, Some(commit), Some(base)) => Saved::Kept { name: &name, commit, base },
        (false, ..) => Saved::Nothing { from: attempt.state.started_from.as_deref() },
    };
    end_comment(
        attempt.hand.config.language,
        &EndComment {
            task: attempt.id(),
            disposition: &failure.disposition,
            detail: &failure.detail,
            attempt: attempt.ordinal_after(&failure.disposition),
            saved,
            files: &files,
            left_out: &left_out,
            denials: &listed,
            log: &attempt.log_shown(),
        },
    )
}
