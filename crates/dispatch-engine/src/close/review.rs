//! The reviewer (C7).

use std::fmt::Write as _;

use dispatch_close::execute::Fault;
use dispatch_close::plan::{Detail, Failure};
use dispatch_core::launch::{Places, reviewer_launch};
use dispatch_core::names::{BlockReason, CloseStep, PauseCause};
use dispatch_core::prompt::{ReviewInput, review_prompt};
use dispatch_core::task::Task;

use super::save::frozen_tree;
use super::{Step, Trouble, board, bound_slot};
use crate::ports::{AttemptFile, Diff, Review, ReviewRequest, Verdict};
use crate::supervise::Attempt;

/// `reviewer`: another agent, on the account's own model, judges the whole change.
pub(crate) fn review(attempt: &mut Attempt<'_>) -> Step {
    let step = CloseStep::Reviewer;
    let task = board::fresh_task(attempt, step)?;
    let diff = diff(attempt)?;
    let request = request(attempt, &task, &diff)?;
    let ports = attempt.ports;
    let review = ports.agent.review(&request, &mut || attempt.beat());
    attempt.verify()?;
    attempt.write(AttemptFile::Review, answer_of(&review).as_bytes())?;
    let failed = |reason, detail| Err(Failure::found(step, reason, detail).into());
    match review {
        Review::Verdict { verdict: Verdict::Approve, findings, .. } => {
            attempt.close().review = Some(said("approve", &findings));
            Ok(Some("approve".to_owned()))
        }
        Review::Verdict { verdict: Verdict::RequestChanges, findings, .. } => {
            let question = said("request-changes", &findings);
            failed(BlockReason::ReviewChangesRequested, Detail::Question(question))
        }
        Review::NoVerdict { why, .. } => failed(BlockReason::ReviewNoVerdict, Detail::Words(why)),
        Review::Error(why) => Err(unavailable(format!("the reviewer failed: {why}"))),
        Review::TimedOut => {
            let minutes = request.limit.as_secs() / 60;
            Err(unavailable(format!("the reviewer did not end within {minutes} minutes")))
        }
    }
}

fn unavailable(why: String) -> Trouble {
    Trouble::Fault(Fault { cause: Some(PauseCause::ReviewerUnavailable), why })
}

/// The complete diff; a diff that cannot be had is never reviewed as an empty one (N34).
fn diff(attempt: &Attempt<'_>) -> Result<String, Trouble> {
    let (base, _) = attempt.base_and_start()?;
    let tree = frozen_tree(attempt)?;
    let limit = attempt.hand.config.reviewer.max_diff_bytes;
    let failed = |reason, why| {
        Trouble::Failed(Failure::found(CloseStep::Reviewer, reason, Detail::Words(why)))
    };
    match attempt.ports.vcs.diff(&base, &tree, limit) {
        Ok(Diff::Text(text)) if text.trim().is_empty() && !attempt.state.close_attempt => {
            Err(failed(BlockReason::ReviewDiffUnreadable, "the diff is empty".to_owned()))
        }
        Ok(Diff::Text(text)) => Ok(text),
        Ok(Diff::TooLarge { bytes }) => Err(failed(
            BlockReason::ReviewDiffTooLarge,
            format!("the diff has {bytes} bytes, and `reviewer.maxDiffBytes` is {limit}"),
        )),
        Err(error) if error.pause.is_some() => Err(error.into()),
        Err(error) => Err(failed(BlockReason::ReviewDiffUnreadable, error.chain())),
    }
}

fn request(attempt: &Attempt<'_>, task: &Task, diff: &str) -> Result<ReviewRequest, Trouble> {
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
        prompt: review_prompt(&ReviewInput { task, diff, token: &token, part: None }),
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
        Review::TimedOut => "the time limit passed".to_owned(),
    }
}
