//! What the sweep writes on the board: the catalogue's texts with its values.

use std::fmt::Write;

use dispatch_close::text::{fenced, for_comment, one_line};
use dispatch_core::config::Language;
use dispatch_core::message::Message;
use dispatch_core::object::CommitId;
use dispatch_core::record::RecordedProposal;
use dispatch_core::status::Status;

use crate::ports::ReviewSince;

/// How a person finds a proposal: the pull request's address, else its branch.
pub(super) fn link(proposal: &RecordedProposal) -> String {
    proposal.url.clone().unwrap_or_else(|| format!("`{}`", proposal.branch))
}

pub(super) fn closed(language: Language, proposal: &RecordedProposal) -> String {
    let (link, reference) = (link(proposal), proposal.commit.short());
    let (message, base) = match proposal.number {
        Some(_) => (Message::PullRequestClosed, None),
        None => (Message::BranchDeleted, Some(&proposal.base)),
    };
    let mut values: Vec<(&str, &dyn std::fmt::Display)> =
        vec![("link", &link), ("reference", &reference)];
    values.extend(base.map(|base| ("base", base as &dyn std::fmt::Display)));
    for_comment(&message.render(language, &values))
}

pub(super) fn merged_without(
    language: Language,
    proposal: &RecordedProposal,
    head: &CommitId,
) -> String {
    for_comment(&Message::MergedWithLaterCommits.render(
        language,
        &[
            ("link", &link(proposal)),
            ("merged", &head.short()),
            ("missing", &proposal.commit.short()),
            ("branch", &proposal.branch),
        ],
    ))
}

pub(super) fn changes_requested(
    language: Language,
    message: Message,
    proposal: &RecordedProposal,
    reviews: &[&ReviewSince],
) -> String {
    let mut text = message.render(language, &[("link", &link(proposal))]);
    for review in reviews {
        // Writing into a `String` cannot fail.
        write!(text, "\n\n{}:\n{}", one_line(&review.author), fenced(&review.body)).ok();
    }
    for_comment(&text)
}

pub(super) fn branch_kept(language: Language, proposal: &RecordedProposal) -> String {
    let cause = match language {
        Language::En => "it moved after the commit that was merged",
        Language::Es => "avanzó después del commit que se fusionó",
    };
    let commits = format!("{}..{}", proposal.commit.short(), proposal.branch);
    let values: [(&str, &dyn std::fmt::Display); 3] =
        [("branch", &proposal.branch), ("cause", &cause), ("commits", &commits)];
    for_comment(&Message::BranchKept.render(language, &values))
}

pub(super) fn done_taken_back(
    language: Language,
    proposal: &RecordedProposal,
    back_to: &Status,
) -> String {
    let message =
        if *back_to == Status::Blocked { Message::DoneWhileClosed } else { Message::DoneWhileOpen };
    for_comment(&message.render(language, &[("link", &link(proposal))]))
}

pub(super) fn orphan(language: Language, hours: f64) -> String {
    for_comment(&Message::Orphan.render(language, &[("hours", &hours)]))
}
