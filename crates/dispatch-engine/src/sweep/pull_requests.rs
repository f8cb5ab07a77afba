//! M1 step 3: what became of recorded pull requests, and M3: the clean-up after a merge.

use dispatch_core::id::TaskId;
use dispatch_core::message::Message;
use dispatch_core::names::BlockReason;
use dispatch_core::object::CommitId;
use dispatch_core::record::{Phase, Record, RecordedProposal};
use dispatch_core::status::Status;

use super::words::{self, link};
use super::{Locked, Sweep, proposals};
use crate::ports::{
    Answer, Deletion, PortError, ProposalState, ReviewSince, StatusChange, StatusWrite,
};
use crate::settled::Settled;

pub(super) fn run(sweep: &mut Sweep<'_>) -> Result<(), PortError> {
    sweep.proposals = proposals::ask(sweep)?;
    for (id, state) in sweep.proposals.clone() {
        if let Err(error) = follow(sweep, &id, state) {
            sweep.problem(Some(&id), error.chain());
        }
    }
    sweep.each_record(is_to_be_cleaned, clean_up)
}

fn follow(sweep: &mut Sweep<'_>, id: &TaskId, state: ProposalState) -> Result<(), PortError> {
    let Some(Locked { lock, mut record }) = sweep.lock_ended(id)? else { return Ok(()) };
    let Some(proposal) = record.pr.clone() else { return Ok(()) };
    if !Settled::of(&proposal).is_open() {
        return Ok(());
    }
    let settled = match state {
        ProposalState::Merged { head, .. } => merged(sweep, id, &proposal, &head)?,
        ProposalState::Closed | ProposalState::Absent => closed(sweep, id, &proposal)?,
        ProposalState::Open { changes_requested } => {
            reviewed(sweep, id, &proposal, &changes_requested)?
        }
        ProposalState::Unknown(why) => {
            sweep.problem(
                Some(id),
                format!("what became of {} is not known: {why}", link(&proposal)),
            );
            None
        }
    };
    if let Some(settled) = settled {
        record.pr = Some(RecordedProposal { settled: Some(settled.to_string()), ..proposal });
        sweep.ports.store.write_record(&record)?;
    }
    drop(lock);
    Ok(())
}

fn merged(
    sweep: &mut Sweep<'_>,
    id: &TaskId,
    proposal: &RecordedProposal,
    head: &CommitId,
) -> Result<Option<Settled>, PortError> {
    match holds_ours(sweep, proposal, head) {
        Answer::Yes => {}
        Answer::Unknown => {
            let text = format!(
                "{} is merged, but whether it holds {} is not known yet",
                link(proposal),
                proposal.commit.short()
            );
            sweep.problem(Some(id), text);
            return Ok(None);
        }
        Answer::No => return merged_without_ours(sweep, id, proposal, head),
    }
    let change = StatusChange {
        expected: vec![Status::InProgress, Status::Blocked, Status::Queued],
        to: Status::Done,
        comment: None,
    };
    match sweep.ports.board.set_status(id, &change)? {
        StatusWrite::Written => sweep.did(id, format!("{} is merged: Done", link(proposal))),
        StatusWrite::Mismatch { found } => {
            sweep.did(id, format!("{} is merged; the task stays {found}", link(proposal)));
        }
        StatusWrite::Gone => {}
    }
    Ok(Some(Settled::Merged))
}

/// Whether what was merged holds our commit. A head that no pass has seen on a branch is fetched by its number.
fn holds_ours(sweep: &mut Sweep<'_>, proposal: &RecordedProposal, head: &CommitId) -> Answer {
    if *head == proposal.commit {
        return Answer::Yes;
    }
    let vcs = sweep.ports.vcs;
    let known = vcs.is_ancestor(&proposal.commit, head);
    let (Answer::Unknown, Some(number)) = (known, proposal.number) else { return known };
    let Some(limit) = sweep.left("fetches the heads of merged pull requests") else {
        return known;
    };
    match vcs.fetch_pull_request_head(number, limit) {
        Ok(()) => vcs.is_ancestor(&proposal.commit, head),
        Err(error) => {
            tracing::warn!(
                error = error.chain(),
                "the head of a merged pull request stays unknown"
            );
            Answer::Unknown
        }
    }
}

fn merged_without_ours(
    sweep: &mut Sweep<'_>,
    id: &TaskId,
    proposal: &RecordedProposal,
    head: &CommitId,
) -> Result<Option<Settled>, PortError> {
    let comment = words::merged_without(sweep.setup.config.language, proposal, head);
    block(sweep, id, BlockReason::MergedWithLaterCommits, &comment)?;
    Ok(Some(Settled::MergedWithout))
}

fn closed(
    sweep: &mut Sweep<'_>,
    id: &TaskId,
    proposal: &RecordedProposal,
) -> Result<Option<Settled>, PortError> {
    let comment = words::closed(sweep.setup.config.language, proposal);
    block(sweep, id, BlockReason::PrClosed, &comment)?;
    Ok(Some(Settled::Closed))
}

fn reviewed(
    sweep: &mut Sweep<'_>,
    id: &TaskId,
    proposal: &RecordedProposal,
    reviews: &[ReviewSince],
) -> Result<Option<Settled>, PortError> {
    let answered = match Settled::of(proposal) {
        Settled::Reviewed(at) => at,
        Settled::Open
        | Settled::Closed
        | Settled::MergedWithout
        | Settled::Merged
        | Settled::Finished => String::new(),
    };
    let news: Vec<&ReviewSince> = reviews.iter().filter(|review| review.at > answered).collect();
    let Some(latest) = news.iter().map(|review| review.at.clone()).max() else { return Ok(None) };
    let language = sweep.setup.config.language;
    if sweep.setup.config.reviews.auto_retry {
        let comment =
            words::changes_requested(language, Message::ChangesRequestedRetry, proposal, &news);
        let change = StatusChange {
            expected: vec![Status::InProgress],
            to: Status::Queued,
            comment: Some(comment),
        };
        match sweep.ports.board.set_status(id, &change)? {
            StatusWrite::Written => {
                sweep
                    .did(id, format!("changes were requested on {}: queued again", link(proposal)));
            }
            StatusWrite::Mismatch { .. } => tell(sweep, id, proposal, &news)?,
            StatusWrite::Gone => {}
        }
    } else {
        let comment =
            words::changes_requested(language, Message::ChangesRequested, proposal, &news);
        if !block(sweep, id, BlockReason::PrChangesRequested, &comment)? {
            tell(sweep, id, proposal, &news)?;
        }
    }
    Ok(Some(Settled::Reviewed(latest)))
}

/// Puts reviews on a task that a person moved already: the next attempt reads them there (D8.1).
fn tell(
    sweep: &mut Sweep<'_>,
    id: &TaskId,
    proposal: &RecordedProposal,
    news: &[&ReviewSince],
) -> Result<(), PortError> {
    if sweep.ports.board.task(id)?.is_none() {
        return Ok(());
    }
    let language = sweep.setup.config.language;
    let comment =
        words::changes_requested(language, Message::ChangesRequestedMoved, proposal, news);
    sweep.ports.board.comment(id, &comment)?;
    sweep.did(id, format!("changes were requested on {}: said on the task", link(proposal)));
    Ok(())
}

/// Blocks a task that waits for its pull request, and says whether it did; one that a person already moved elsewhere
/// stays there.
fn block(
    sweep: &mut Sweep<'_>,
    id: &TaskId,
    reason: BlockReason,
    comment: &str,
) -> Result<bool, PortError> {
    let change = StatusChange {
        expected: vec![Status::InProgress],
        to: Status::Blocked,
        comment: Some(comment.to_owned()),
    };
    let blocked = sweep.ports.board.set_status(id, &change)? == StatusWrite::Written;
    if blocked {
        sweep.notify_blocked(id, reason, comment);
        sweep.did(id, format!("blocked: {reason}"));
    }
    Ok(blocked)
}

fn is_to_be_cleaned(record: &Record) -> bool {
    record.phase == Phase::Ended
        && record.pr.as_ref().is_some_and(|proposal| Settled::of(proposal) == Settled::Merged)
}

/// M3: the branch of merged work is deleted on the remote if it still stands where we examined it.
fn clean_up(sweep: &mut Sweep<'_>, record: &Record) -> Result<(), PortError> {
    let Some(Locked { lock, mut record }) = sweep.lock_ended(&record.task_id)? else {
        return Ok(());
    };
    let Some(proposal) = record.pr.clone().filter(|_| is_to_be_cleaned(&record)) else {
        return Ok(());
    };
    let id = record.task_id.clone();
    let ours = proposal.branch.as_str().starts_with(&sweep.setup.config.branch_prefix)
        && proposal.branch != proposal.base;
    if ours {
        let Some(limit) = sweep.left("deletes the merged branches") else { return Ok(()) };
        match sweep.ports.vcs.delete_remote_branch(&proposal.branch, &proposal.commit, limit)? {
            Deletion::Deleted => {
                sweep.did(&id, format!("deleted the merged branch {}", proposal.branch));
            }
            Deletion::Gone => {}
            Deletion::Moved => {
                let comment = words::branch_kept(sweep.setup.config.language, &proposal);
                sweep.ports.board.comment(&id, &comment)?;
                sweep.did(
                    &id,
                    format!("left {} alone: it has commits that are not merged", proposal.branch),
                );
            }
        }
    }
    record.pr = Some(RecordedProposal { settled: Some(Settled::Finished.to_string()), ..proposal });
    sweep.ports.store.write_record(&record)?;
    drop(lock);
    Ok(())
}
