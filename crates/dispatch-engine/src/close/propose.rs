//! Proposing the work (C9).

use std::collections::BTreeSet;
use std::time::Duration;

use dispatch_close::acceptance::OwnedItem;
use dispatch_close::comment::proposed_comment;
use dispatch_close::commit::proposal_message;
use dispatch_close::execute::{Fault, Stop};
use dispatch_close::phrase::{Phrase, Said};
use dispatch_close::plan::Failure;
use dispatch_close::pull_request::{Body, BodyFacts, Remark, RemarkKind, merge_body, title};
use dispatch_close::text::one_line;
use dispatch_core::branch::BranchName;
use dispatch_core::config::VerificationTree;
use dispatch_core::message::Message;
use dispatch_core::names::{CloseStep, PauseCause, RequeueReason};
use dispatch_core::object::CommitId;
use dispatch_core::record::RecordedProposal;
use dispatch_core::task::Task;

use super::save::{commit_once, frozen_tree};
use super::{Step, Trouble, board};
use crate::ports::{ForgeKind, NewPullRequest, PortError, PullRequest, Push, RemoteBranch};
use crate::supervise::Attempt;
use crate::texts::moment;

/// How long it may take to find out where a branch stands.
const LOOK_BUDGET: Duration = Duration::from_secs(30);

/// `open-pr`: commit, push expecting what we know, open or reuse a pull request, record it.
pub(crate) fn open_pr(attempt: &mut Attempt<'_>) -> Step {
    let task = board::fresh_task(attempt, CloseStep::OpenPr)?;
    let commit = committed(attempt)?;
    let name = attempt.attempt_ref();
    attempt.ports.vcs.keep(&name, &commit)?;
    pushed(attempt, &commit)?;
    let base = attempt
        .record
        .base_branch
        .clone()
        .ok_or_else(|| PortError::new("propose the work", "the record names no base branch"))?;
    let opened = match attempt.ports.forge.kind() {
        ForgeKind::Git => None,
        ForgeKind::GitHub => Some(pull_request(attempt, &task, &base)?),
    };
    attempt.found().saved = Some(commit.clone());
    attempt.record.saved = Some(commit.clone());
    attempt.record.pr = Some(RecordedProposal {
        number: opened.as_ref().map(|opened| opened.number),
        url: opened.as_ref().map(|opened| opened.url.clone()),
        branch: attempt.record.branch.clone(),
        commit,
        base: opened.as_ref().map_or(&base, |opened| &opened.base).clone(),
        pushed_at: moment(attempt.ports.clock.now()),
        settled: None,
        done_reverted: false,
    });
    attempt.write_record()?;
    if let Some(opened) = &opened {
        ask_for_people(attempt, opened.number);
    }
    let place = match &opened {
        None => Said::ProposedBranch.phrase(&[("branch", &attempt.record.branch), ("base", &base)]),
        Some(PullRequest { url, base: found, .. }) if *found == base => Phrase::of_name(url),
        Some(PullRequest { url, base: found, .. }) => {
            Said::ProposedTurned.phrase(&[("url", url), ("found", found), ("base", &base)])
        }
    };
    announce(attempt, &task, &place)?;
    Ok(Some(place.to_string()))
}

/// The commit of the frozen tree; a close attempt that changed nothing proposes what it started from.
fn committed(attempt: &mut Attempt<'_>) -> Result<CommitId, Trouble> {
    let (_, start) = attempt.base_and_start()?;
    let tree = frozen_tree(attempt)?;
    if attempt.ports.vcs.tree_of(&start)? == tree {
        return Ok(start);
    }
    let message = proposal_message(&attempt.hand.config.commit, &attempt.commit_facts());
    commit_once(attempt, &tree, &start, &message)
}

/// Pushes to the task's branch, expecting it where we know it; a branch that moved is never overwritten (N31).
fn pushed(attempt: &mut Attempt<'_>, commit: &CommitId) -> Result<(), Trouble> {
    let vcs = attempt.ports.vcs;
    let branch = attempt.record.branch.clone();
    let expected = match &attempt.hand.branch.seen {
        RemoteBranch::At(commit) => Some(commit.clone()),
        RemoteBranch::Absent => None,
        RemoteBranch::Unknown => {
            return Err(unreachable(format!("where `{branch}` stands on the remote is not known")));
        }
    };
    match vcs.push(&branch, commit, expected.as_ref())? {
        Push::Pushed => return Ok(()),
        Push::Moved => {}
    }
    // A step that runs again finds its own push.
    match vcs.fetch(&BTreeSet::from([branch.clone()]), LOOK_BUDGET).get(&branch) {
        RemoteBranch::At(found) if found == *commit => Ok(()),
        RemoteBranch::Unknown => Err(unreachable(format!("where `{branch}` stands is not known"))),
        RemoteBranch::At(_) | RemoteBranch::Absent => {
            let moved = Said::BranchMoved.phrase(&[("branch", &branch)]);
            let reason = RequeueReason::RemoteMoved;
            Err(Failure::requeue(Some(CloseStep::OpenPr), reason, moved).into())
        }
    }
}

fn unreachable(why: String) -> Trouble {
    Trouble::Fault(Fault { cause: Some(PauseCause::RemoteUnreachable), why })
}

/// Reuses the open pull request of the branch, or opens one.
fn pull_request(
    attempt: &mut Attempt<'_>,
    task: &Task,
    base: &BranchName,
) -> Result<PullRequest, Trouble> {
    let forge = attempt.ports.forge;
    let ours = body(attempt, task);
    let branch = attempt.record.branch.clone();
    let Some(open) = forge.find_open(&branch, base)? else {
        let title = title(&task.id, &task.title);
        let body = ours.render();
        return Ok(forge.create(&NewPullRequest { branch, base: base.clone(), title, body })?);
    };
    match &open.body {
        // A body that cannot be read is left alone: replacing it could lose a person's text (N32).
        None => attempt.note("the pull request's body could not be read and is left alone"),
        Some(current) => {
            let merged = merge_body(current, &ours);
            if merged != *current
                && let Err(error) = forge.update_body(open.number, &merged)
            {
                attempt.note(&format!("the pull request's body is as it was: {}", error.chain()));
            }
        }
    }
    Ok(open)
}

/// What weakens the proof, and files that only look harmless: said in the pull request, or where there is none in the
/// comment.
fn remarks(attempt: &mut Attempt<'_>) -> Vec<Remark> {
    let mut remarks = Vec::new();
    if attempt.hand.config.checks.tree == VerificationTree::Slot {
        remarks.push(Remark::new(RemarkKind::CheckedInSlot));
    }
    if !attempt.context.confined {
        remarks.push(Remark::new(RemarkKind::Unconfined));
    }
    if let Some(why) = &attempt.state.base_left_out {
        let files = [one_line(why)].into_iter().collect();
        remarks.push(Remark { kind: RemarkKind::BaseLeftOut, files });
    }
    let found = attempt.found();
    for (kind, files) in [
        (RemarkKind::Undeclared, &found.undeclared),
        (RemarkKind::NotFormatted, &found.uncovered),
        (RemarkKind::Generated, &found.generated),
    ] {
        if !files.is_empty() {
            remarks.push(Remark { kind, files: files.clone() });
        }
    }
    remarks
}

/// The same where there is no pull request, whose own sections say the rest.
fn remarks_of_branch(attempt: &mut Attempt<'_>) -> Vec<Remark> {
    let mut remarks = remarks(attempt);
    let files = attempt.found().review_files.clone();
    if !files.is_empty() {
        remarks.push(Remark { kind: RemarkKind::ForReview, files });
    }
    remarks
}

fn body(attempt: &mut Attempt<'_>, task: &Task) -> Body {
    let remarks = remarks(attempt);
    let conflicts = attempt.state.conflicts.clone();
    let (ordinal, log) = (attempt.ordinal(), attempt.log_shown());
    let language = attempt.hand.config.language;
    let found = attempt.found();
    Body::new(&BodyFacts {
        task,
        attempt: ordinal,
        language,
        files: &found.files,
        test: found.test.as_deref(),
        review: found.review.as_deref(),
        conflicts: &conflicts,
        remarks: &remarks,
        human_review: &found.review_files,
        log: &log,
    })
}

/// Label and reviewer, where there are files for a person: two calls, and neither undoes anything (C9.3).
fn ask_for_people(attempt: &mut Attempt<'_>, number: u64) {
    if attempt.found().review_files.is_empty() {
        return;
    }
    let forge = attempt.ports.forge;
    let label = attempt.hand.config.human_review.label.clone();
    if let Err(error) = forge.label(number, &label) {
        attempt.note(&format!("the label was not added: {}", error.chain()));
    }
    match attempt.hand.config.harness_reviewer.clone() {
        None => attempt.note("no `harnessReviewer` is configured, so nobody is asked for a review"),
        Some(reviewer) => {
            if let Err(error) = forge.request_review(number, &reviewer) {
                attempt.note(&format!("{reviewer} was not asked: {}", error.chain()));
            }
        }
    }
}

/// Comment, notification and tick (C9.6); none of them fails a proposal that stands.
fn announce(attempt: &mut Attempt<'_>, task: &Task, place: &Phrase) -> Result<(), Stop> {
    // The push and the forge may have taken a while.
    match board::wait_for_board(attempt) {
        Ok(()) => {}
        Err(Trouble::Stop(stop)) => return Err(stop),
        Err(trouble) => {
            attempt.note(&format!("the task is told nothing: {trouble}"));
            return Ok(());
        }
    }
    board::tick_owned(attempt, task, OwnedItem::PullRequest);
    if attempt.found().announced {
        return Ok(());
    }
    let language = attempt.hand.config.language;
    let in_pull_request = attempt.record.pr.as_ref().is_some_and(|pr| pr.number.is_some());
    let remarks = if in_pull_request { Vec::new() } else { remarks_of_branch(attempt) };
    let (ordinal, log) = (attempt.ordinal(), attempt.log_shown());
    let comment = proposed_comment(language, ordinal, place, &remarks, &log);
    // A supervisor may have been killed right after it.
    if task.comments.iter().any(|said| said.body.trim() == comment.trim()) {
        attempt.found().announced = true;
    } else {
        match attempt.ports.board.comment(attempt.id(), &comment) {
            Ok(()) => attempt.found().announced = true,
            Err(error) => attempt.note(&format!("the comment was not written: {}", error.chain())),
        }
    }
    let title = match attempt.record.pr.as_ref().and_then(|proposal| proposal.number) {
        Some(_) => Message::NotifyPullRequestTitle.render(language, &[("id", attempt.id())]),
        None => Message::NotifyBranchTitle.render(language, &[("id", attempt.id())]),
    };
    attempt.ports.notifier.notify(&title, place.text(language));
    if let Err(stop) = attempt.save_state() {
        tracing::warn!(?stop, "the announcement was not remembered");
    }
    Ok(())
}
