//! The reviewer (C7).

use std::fmt::Write as _;
use std::time::Duration;

use dispatch_close::execute::Fault;
use dispatch_close::phrase::Said;
use dispatch_close::plan::{Detail, Failure};
use dispatch_core::launch::{Places, reviewer_launch};
use dispatch_core::names::{BlockReason, CloseStep, PauseCause};
use dispatch_core::object::{CommitId, TreeId};
use dispatch_core::prompt::{ReviewInput, review_prompt};
use dispatch_core::task::Task;

use super::save::frozen_tree;
use super::{Step, Trouble, board, bound_slot, review_parts};
use crate::ports::{AttemptFile, Diff, Review, ReviewRequest, Verdict};
use crate::supervise::Attempt;

/// `reviewer`: another agent, on the account's own model, judges the whole change; that of a close attempt subtask by
/// subtask.
pub(crate) fn review(attempt: &mut Attempt<'_>) -> Step {
    let task = board::fresh_task(attempt, CloseStep::Reviewer)?;
    let parts = match review_parts::of_close_attempt(attempt)? {
        Some(parts) => parts,
        None => vec![Part { name: None, diff: diff(attempt)? }],
    };
    let (mut answers, mut approvals) = (String::new(), Vec::new());
    for part in &parts {
        let request = request(attempt, &task, part)?;
        let agent = attempt.ports.agent;
        let review = attempt.unless_asked(|alive| agent.review(&request, alive));
        attempt.verify()?;
        let review = review.map_err(|asked| asked.failure(Some(CloseStep::Reviewer)))?;
        if let Some(name) = &part.name {
            answers = format!("{answers}## {name}\n\n");
        }
        answers = answers + &answer_of(&review) + "\n";
        attempt.write(AttemptFile::Review, answers.as_bytes())?;
        approvals.push(approval(&review, part, request.limit)?);
    }
    attempt.found().review = Some(approvals.join("\n"));
    Ok(Some("approve".to_owned()))
}

/// The words of an approval; anything else ends the step.
fn approval(review: &Review, part: &Part, limit: Duration) -> Result<String, Trouble> {
    let step = CloseStep::Reviewer;
    let told = |verdict, findings: &[String]| match &part.name {
        Some(name) => said(&format!("{name}: {verdict}"), findings),
        None => said(verdict, findings),
    };
    let failed = |reason, detail| Err(Failure::found(step, reason, detail).into());
    match review {
        Review::Verdict { verdict: Verdict::Approve, findings, .. } => {
            Ok(told("approve", findings))
        }
        Review::Verdict { verdict: Verdict::RequestChanges, findings, .. } => {
            let question = told("request-changes", findings);
            failed(BlockReason::ReviewChangesRequested, Detail::Question(question))
        }
        Review::NoVerdict { why, .. } => {
            failed(BlockReason::ReviewNoVerdict, Detail::Error(why.clone()))
        }
        Review::Error(why) => Err(unavailable(format!("the reviewer failed: {why}"))),
        Review::Stopped => Err(unavailable(answer_of(review))),
        Review::TimedOut => {
            let minutes = limit.as_secs() / 60;
            Err(unavailable(format!("the reviewer did not end within {minutes} minutes")))
        }
    }
}

fn unavailable(why: String) -> Trouble {
    Trouble::Fault(Fault { cause: Some(PauseCause::ReviewerUnavailable), why })
}

/// A part of the change that is reviewed by itself.
pub(super) struct Part {
    /// What it is; none for the whole change.
    pub(super) name: Option<String>,
    /// Its complete diff.
    pub(super) diff: String,
}

/// The complete diff; a diff that cannot be had is never reviewed as an empty one (N34).
fn diff(attempt: &Attempt<'_>) -> Result<String, Trouble> {
    let (base, _) = attempt.base_and_start()?;
    let text = diff_of(attempt, &base, &frozen_tree(attempt)?)?;
    if text.trim().is_empty() && !attempt.state.close_attempt {
        return Err(unreadable(Said::DiffEmpty.phrase(&[])));
    }
    Ok(text)
}

/// A diff no larger than a reviewer is given.
pub(super) fn diff_of(
    attempt: &Attempt<'_>,
    from: &CommitId,
    tree: &TreeId,
) -> Result<String, Trouble> {
    let limit = attempt.hand.config.reviewer.max_diff_bytes;
    match attempt.ports.vcs.diff(from, tree, limit) {
        Ok(Diff::Text(text)) => Ok(text),
        Ok(Diff::TooLarge { bytes }) => {
            let why = Said::DiffTooLarge.phrase(&[("bytes", &bytes), ("limit", &limit)]);
            Err(Failure::found(CloseStep::Reviewer, BlockReason::ReviewDiffTooLarge, why).into())
        }
        Err(error) if error.pause.is_some() => Err(error.into()),
        Err(error) => Err(unreadable(error.chain())),
    }
}

fn unreadable(why: impl Into<Detail>) -> Trouble {
    Failure::found(CloseStep::Reviewer, BlockReason::ReviewDiffUnreadable, why).into()
}

fn request(attempt: &Attempt<'_>, task: &Task, part: &Part) -> Result<ReviewRequest, Trouble> {
    let ports = attempt.ports;
    let slot = bound_slot(attempt, CloseStep::Reviewer)?;
    let (_, start) = attempt.base_and_start()?;
    let dir = ports.vcs.verification_tree(&slot, &frozen_tree(attempt)?, &start)?;
    let token = ports.store.random_token()?;
    // The adapter sets the private folders of the review itself.
    let nowhere = camino::Utf8Path::new("/nonexistent");
    let places = Places { home: nowhere, temporary: nowhere, caches: None };
    let launch = reviewer_launch(
        &attempt.hand.config,
        attempt.record.lane,
        &attempt.context.environment,
        places,
        nowhere,
        &dir,
    )
    .ok_or_else(|| Failure::inside(CloseStep::Reviewer, "the lane has no usable reviewer"))?;
    Ok(ReviewRequest {
        prompt: review_prompt(&ReviewInput {
            task,
            diff: &part.diff,
            token: &token,
            part: part.name.as_deref(),
        }),
        argv: launch.argv,
        env: launch.environment.list(),
        dir: launch.cwd,
        token,
        marker: attempt.record.token.clone(),
        limit: launch.limit,
    })
}

fn said(verdict: &str, findings: &[String]) -> String {
    let mut text = verdict.to_owned();
    for finding in findings {
        // Writing into a String cannot fail.
        let _ = write!(text, "\n- {}", finding.trim());
    }
    text
}

fn answer_of(review: &Review) -> String {
    match review {
        Review::Verdict { answer, .. } => answer.clone(),
        Review::NoVerdict { answer, why } => format!("{answer}\n\n{why}"),
        Review::Error(why) => why.clone(),
        Review::Stopped => "the reviewer was ended before its time".to_owned(),
        Review::TimedOut => "the time limit passed".to_owned(),
    }
}
