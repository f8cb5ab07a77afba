//! The comments that a person reads when an attempt ended (C10.2, C3.5).

mod words;

use dispatch_core::attempt::Ordinal;
use dispatch_core::config::Language;
use dispatch_core::id::TaskId;
use dispatch_core::names::{BlockReason, RequeueReason};
use dispatch_core::object::CommitId;

use self::words::Words;
use crate::listed::Listed;
use crate::phrase::Phrase;
use crate::plan::{Detail, Disposition};
use crate::pull_request::Remark;
use crate::text::{code, cut_marked, fenced, first_entries, for_comment, plain};

/// Most files that a comment lists before it counts the rest.
const MAX_LISTED: usize = 50;

/// What the detail may take of a comment, in bytes. Together with two lists it leaves room for where the work is and what
/// to do next, whatever a worker wrote.
const DETAIL_LIMIT: usize = 8 * 1024;

/// What one list may take of a comment, in bytes.
const LIST_LIMIT: usize = 2 * 1024;

/// Where the work of an attempt is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Saved<'a> {
    /// There was nothing to save.
    Nothing {
        /// The ref or branch with the earlier work that the attempt went on from.
        from: Option<&'a str>,
    },
    /// Under a ref of the local repository.
    Kept {
        /// The ref.
        name: &'a str,
        /// The commit.
        commit: &'a CommitId,
        /// The commit it is compared with.
        base: &'a CommitId,
    },
    /// Only in the slot.
    Held {
        /// The slot's worktree.
        path: &'a str,
    },
}

/// What a comment about an ended attempt is made of.
#[derive(Debug, Clone, Copy)]
pub struct EndComment<'a> {
    /// The task.
    pub task: &'a TaskId,
    /// What happens to the task.
    pub disposition: &'a Disposition,
    /// What there is to say about it.
    pub detail: &'a Detail,
    /// The attempt.
    pub attempt: Ordinal,
    /// Where the work is.
    pub saved: Saved<'a>,
    /// Files of the attempt that a person should look at, each with its class (C3.5).
    pub files: &'a Listed,
    /// Files that could not be saved, each with why.
    pub left_out: &'a Listed,
    /// Tool calls the worker was denied (D10).
    pub denials: &'a Listed,
    /// The attempt's directory, relative to the board root.
    pub log: &'a str,
}

/// The comment of a task that is blocked, put back, or taken away.
pub fn end_comment(language: Language, comment: &EndComment<'_>) -> String {
    let words = Words::of(language);
    let mut parts = vec![heading(language, comment)];
    parts.extend(explanation(language, comment.disposition).map(str::to_owned));
    let detail = detail(language, comment.detail).join("\n\n");
    if !detail.is_empty() {
        parts.push(cut_marked(&detail, DETAIL_LIMIT, str::len));
    }
    parts.push(whereabouts(&words, comment.saved));
    parts.extend(list(words.left_out, comment.left_out));
    parts.extend(list(words.files, comment.files));
    parts.extend(list(words.denials, comment.denials));
    parts.push(format!("{}: {}", words.log, code(comment.log)));
    parts.push(next_step(&words, comment));
    for_comment(&parts.join("\n\n"))
}

/// The comment of a task whose work is proposed (C9.6): where, and what whoever looks at it has to know and no pull request
/// says.
pub fn proposed_comment(
    language: Language,
    attempt: Ordinal,
    place: &Phrase,
    remarks: &[Remark],
    log: &str,
) -> String {
    let words = Words::of(language);
    let mut parts = vec![format!("**{}**: {}", words.proposed, place.text(language))];
    parts.extend(remarks.iter().flat_map(|remark| {
        let about = remark.kind.text(language).to_owned();
        [Some(about), lines(&remark.files, LIST_LIMIT)].into_iter().flatten()
    }));
    parts.push(format!("{}. {}: {}", attempt.text(language), words.log, code(log)));
    for_comment(&parts.join("\n\n"))
}

fn heading(language: Language, comment: &EndComment<'_>) -> String {
    let words = Words::of(language);
    let verb = match comment.disposition {
        Disposition::Block(_) => words.blocked,
        Disposition::Requeue(_) => words.requeued,
        Disposition::Leave { .. } => words.cancelled,
    };
    let reason = code(comment.disposition.reason());
    format!("**{verb}: {reason}** ({})", comment.attempt.text(language))
}

fn explanation(language: Language, disposition: &Disposition) -> Option<&'static str> {
    match disposition {
        Disposition::Block(reason) => Some(words::block_sentence(language, *reason)),
        Disposition::Requeue(reason) => Some(words::requeue_sentence(language, *reason)),
        Disposition::Leave { .. } => None,
    }
}

fn detail(language: Language, detail: &Detail) -> Vec<String> {
    let words = Words::of(language);
    let said = |about: &Phrase| plain(about.text(language));
    match detail {
        Detail::Nothing => Vec::new(),
        Detail::Words(text) => vec![said(text)],
        Detail::Error(text) => vec![format!("{}:", words.error), fenced(text)],
        Detail::Question(text) => vec![format!("{}:", words.question), fenced(text)],
        Detail::Output { about, tail } if tail.trim().is_empty() => vec![said(about)],
        Detail::Output { about, tail } => {
            vec![said(about), format!("{}:", words.output), fenced(tail)]
        }
        Detail::List { about, items } => {
            let mut parts = vec![said(about)];
            parts.extend(lines(items, DETAIL_LIMIT / 2));
            parts
        }
    }
}

fn whereabouts(words: &Words, saved: Saved<'_>) -> String {
    match saved {
        Saved::Nothing { from: None } => words.nothing_to_save.to_owned(),
        Saved::Nothing { from: Some(from) } => {
            format!("{} {}: {}", words.nothing_to_save, words.started_from, code(from))
        }
        Saved::Kept { name, commit, base } => format!(
            "{}: {} ({}). {}: {}",
            words.saved,
            code(name),
            commit.short(),
            words.look,
            code(&format!("git diff {} {}", base.short(), commit.short()))
        ),
        Saved::Held { path } => format!("{}: {}", words.held, code(path)),
    }
}

fn list(title: &str, items: &Listed) -> Vec<String> {
    if items.is_empty() {
        return Vec::new();
    }
    let mut parts = vec![format!("{title}:")];
    parts.extend(lines(items, LIST_LIMIT));
    parts
}

/// The entries in a fence: file names are a worker's text.
fn lines(items: &Listed, limit: usize) -> Option<String> {
    if items.is_empty() {
        return None;
    }
    let (mut shown, left_out) = first_entries(items, MAX_LISTED, limit);
    if left_out > 0 {
        shown.push(format!("… +{left_out}"));
    }
    Some(fenced(&shown.join("\n")))
}

fn next_step(words: &Words, comment: &EndComment<'_>) -> String {
    let text = match comment.disposition {
        Disposition::Block(BlockReason::WorkHeld) => words.next_held,
        Disposition::Block(_) if comment.attempt.is_last() => {
            return words.next_last.replace("{id}", comment.task.as_str());
        }
        Disposition::Block(
            BlockReason::BoardTampered
            | BlockReason::ScopeCheckFailed
            | BlockReason::AcceptanceUnmet
            | BlockReason::ReviewChangesRequested,
        ) => words.next_read,
        Disposition::Block(BlockReason::NeedsGuidance) => words.next_answer,
        Disposition::Block(_) => words.next_mend,
        Disposition::Requeue(RequeueReason::TaskEdited) => words.next_edited,
        Disposition::Requeue(_) => words.next_nothing,
        Disposition::Leave { .. } => words.next_cancelled,
    };
    text.to_owned()
}

#[cfg(test)]
mod tests;
