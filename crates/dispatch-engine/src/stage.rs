//! How far a task has come, and what it waits for: what the record and the board say together.

use dispatch_core::attempt::AttemptNumber;
use dispatch_core::names::BlockReason;
use dispatch_core::record::{Phase, Record, Waiting};
use dispatch_core::slot::SlotName;
use dispatch_core::status::Status;
use dispatch_core::task::{Comment, DISPATCH_AUTHOR, Task};
use serde::Serialize;

use crate::settled::Settled;

/// How far a task has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Stage {
    /// An attempt has not ended.
    Running {
        /// The attempt.
        attempt: AttemptNumber,
        /// Its slot.
        slot: SlotName,
        /// How far it has come.
        phase: Phase,
        /// Whether its supervisor lives.
        supervised: bool,
        /// What its close waits for.
        waiting: Option<Waiting>,
    },
    /// Its work waits for a merge.
    Proposed {
        /// The pull request's address, or the branch.
        link: String,
        /// The branch it is proposed for.
        base: String,
    },
    /// A person has to act.
    Blocked {
        /// Why we blocked it, when our last comment says so.
        reason: Option<BlockReason>,
    },
    /// It is finished.
    Done {
        /// What was merged for it.
        merged: Option<String>,
    },
    /// It may be taken: the guards decide.
    Queued,
    /// It is in progress without an attempt of ours: by hand, or its status follows its subtasks.
    ElsewhereInProgress {
        /// Whether it has subtasks.
        parent: bool,
    },
    /// Nobody has queued it.
    NotQueued,
}

impl Stage {
    /// The stage of a task with what is recorded of it.
    pub(crate) fn of(task: &Task, record: Option<&Record>, supervised: bool) -> Self {
        let unended = record.filter(|record| record.phase != Phase::Ended);
        if let Some(record) = unended {
            return Self::Running {
                attempt: record.attempt,
                slot: record.slot.clone(),
                phase: record.phase,
                supervised,
                waiting: record.waiting.clone(),
            };
        }
        let proposal = record.and_then(|record| record.pr.as_ref());
        let link = |merged: bool| {
            let found = proposal.filter(|proposal| {
                let settled = Settled::of(proposal);
                if merged { settled.is_merged() } else { settled.is_open() }
            });
            found.map(|proposal| {
                let link = proposal.url.clone().unwrap_or_else(|| proposal.branch.to_string());
                (link, proposal.base.to_string())
            })
        };
        match &task.status {
            Status::Queued => Self::Queued,
            Status::Blocked => Self::Blocked { reason: block_reason(&task.comments) },
            Status::Done => Self::Done { merged: link(true).map(|(link, _)| link) },
            Status::InProgress => match link(false) {
                Some((link, base)) => Self::Proposed { link, base },
                None => Self::ElsewhereInProgress { parent: !task.children.is_empty() },
            },
            Status::ToDo | Status::Other(_) => Self::NotQueued,
        }
    }
}

/// Why a task is blocked, by our last comment on it: its first line names the reason in back-ticks.
pub(crate) fn block_reason(comments: &[Comment]) -> Option<BlockReason> {
    let first = our_last(comments)?.body.lines().find(|line| !line.trim().is_empty())?;
    first.split('`').skip(1).step_by(2).find_map(|word| word.parse().ok())
}

/// The last comment that we wrote.
pub(crate) fn our_last(comments: &[Comment]) -> Option<&Comment> {
    comments.iter().rev().find(|comment| {
        let author = comment.author.as_deref().unwrap_or_default();
        author.trim().trim_start_matches('@') == DISPATCH_AUTHOR
    })
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("**Blocked: `checks-failed`** (attempt 2 of 3)\n\n`scope-check-failed`" => Some("checks-failed"); "at the end of an attempt")]
    #[test_case("Bloqueada (`missing-triage`): falta `lane:`" => Some("missing-triage"); "by a guard, in another language")]
    #[test_case("The `parser` is done" => None; "a comment on something else")]
    #[test_case("" => None; "an empty one")]
    fn the_reason_of_a_block_is_read_from_our_comment(body: &str) -> Option<&'static str> {
        let comment = |author: &str, body: &str| Comment {
            index: 1,
            author: Some(author.to_owned()),
            created: None,
            body: body.to_owned(),
        };
        let comments =
            [comment(DISPATCH_AUTHOR, body), comment("alice", "`worker-lost`, I believe")];
        block_reason(&comments).map(BlockReason::as_str)
    }
}
