//! The broker: makes the worker's board writes for it (W2).

use std::collections::BTreeSet;

use dispatch_core::worker_edit::{Draft, PolicyRule, Refused, Request};

use super::Attempt;
use crate::close::board::board_is_here;
use crate::ports::{Mail, Mailbox, PortError, WorkerEditEnd};

/// An answer to a worker: exit status, standard output, standard error.
struct Answer {
    exit: i32,
    stdout: String,
    stderr: String,
}

impl Answer {
    fn refused(text: impl std::fmt::Display) -> Self {
        Self { exit: 2, stdout: String::new(), stderr: format!("{text}\n") }
    }

    fn failed(text: impl std::fmt::Display) -> Self {
        Self { exit: 1, stdout: String::new(), stderr: format!("{text}\n") }
    }
}

/// The most requests answered in one go: a worker that never stops asking must not keep us from its limits.
const SERVED_AT_ONCE: usize = 8;

/// Answers requests that are waiting, one at a time; says whether there was one.
pub(crate) fn serve(attempt: &Attempt<'_>, mailbox: &dyn Mailbox) -> Result<bool, PortError> {
    let mut any = false;
    for _ in 0..SERVED_AT_ONCE {
        let Some(mail) = mailbox.take()? else { break };
        any = true;
        let answer = decide(attempt, &mail);
        attempt.note(&format!("worker-edit {} -> exit {}", shown(&mail), answer.exit));
        mailbox.answer(&mail, answer.exit, &answer.stdout, &answer.stderr)?;
    }
    Ok(any)
}

/// Answers what is left when the worker is gone: nothing is written any more (C1.1).
pub(crate) fn drain(mailbox: &dyn Mailbox) -> Result<(), PortError> {
    while let Some(mail) = mailbox.take()? {
        mailbox.answer(&mail, 1, "", "the attempt has ended; nothing was written\n")?;
    }
    Ok(())
}

/// The client is not trusted: its policy is applied again here.
fn decide(attempt: &Attempt<'_>, mail: &Mail) -> Answer {
    let ports = attempt.ports;
    let id = attempt.id();
    match board_is_here(attempt) {
        Ok(true) => {}
        Ok(false) => {
            return Answer::failed(
                "the board's checkout is on another branch now; try again later",
            );
        }
        Err(error) => return Answer::failed(error.chain()),
    }
    let owned = match owned_items(attempt) {
        Ok(owned) => owned,
        Err(error) => return Answer::failed(error.chain()),
    };
    let draft = match Draft::parse(&mail.argv, Some(id.as_str()), &owned) {
        Ok(draft) => draft,
        Err(refused) => return Answer::refused(refused),
    };
    match draft.with_stdin(&mail.stdin) {
        Err(refused) => Answer::refused(refused),
        Ok(Request::View) => match ports.board.view(id) {
            Ok(stdout) => Answer { exit: 0, stdout, stderr: String::new() },
            Err(error) => Answer::failed(error.chain()),
        },
        Ok(Request::Edits(edits)) => {
            match ports.board.edit_for_worker(id, &edits, attempt.number()) {
                Ok(WorkerEditEnd::Written) => {
                    Answer { exit: 0, stdout: "done\n".to_owned(), stderr: String::new() }
                }
                Ok(WorkerEditEnd::Protected(why)) => {
                    Answer::refused(Refused::new(PolicyRule::ProtectedFields, why))
                }
                Ok(WorkerEditEnd::Refused(why)) => Answer::failed(why),
                Err(error) => Answer::failed(error.chain()),
            }
        }
    }
}

/// The numbers of the definition-of-done items that are the dispatcher's (C5.5, W1.2).
fn owned_items(attempt: &Attempt<'_>) -> Result<BTreeSet<u32>, PortError> {
    let task = attempt.ports.board.task(attempt.id())?;
    let items = task.map(|task| task.definition_of_done).unwrap_or_default();
    Ok(items
        .iter()
        .filter(|item| attempt.policies.owned.owner_of(&item.text).is_some())
        .map(|item| item.index)
        .collect())
}

/// The flags of a request without its texts, which may be long.
fn shown(mail: &Mail) -> String {
    let flags = mail.argv.iter().filter(|word| word.starts_with("--") && word.len() < 40);
    dispatch_close::text::one_line(&flags.map(String::as_str).collect::<Vec<_>>().join(" "))
}
