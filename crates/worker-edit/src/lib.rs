//! The worker's only board channel: `worker-edit <ID> --view`, or `worker-edit <ID>` with edits.
//!
//! It checks what is asked against the worker's policy, puts it into the attempt's mailbox and waits for the
//! supervisor's answer; it touches nothing but that mailbox. Exit status: 0 done; 1 the board refused, is busy or
//! did not answer; 2 refused by policy, nothing written.
//!
//! Ids such as D6.4 name rules; `docs/rules` in the repository explains them.

mod client;

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::process::ExitCode;

use dispatch_core::worker_edit::{
    Draft, MailAnswer, MailRequest, PolicyRule, Refused, TEXT_MAX_BYTES,
};

use crate::client::ClientError;

/// The board refused, is busy, or nobody answered.
const FAILED: i32 = 1;
/// The policy refused; nothing was written.
const REFUSED: i32 = 2;

/// Carries out the command line of this process.
pub fn main() -> ExitCode {
    let answer = ask().unwrap_or_else(|(exit, complaint)| MailAnswer {
        exit,
        stdout: String::new(),
        stderr: format!("{complaint}\n"),
    });
    // A worker that does not read what it is told is told nothing.
    let _told = std::io::stdout().write_all(answer.stdout.as_bytes());
    let _complained = std::io::stderr().write_all(answer.stderr.as_bytes());
    match answer.exit {
        0 => ExitCode::SUCCESS,
        REFUSED => ExitCode::from(2),
        _ => ExitCode::FAILURE,
    }
}

fn ask() -> Result<MailAnswer, (i32, String)> {
    let refused = |complaint: &dyn std::fmt::Display| (REFUSED, complaint.to_string());
    let argv: Vec<String> = std::env::args_os()
        .skip(1)
        .map(std::ffi::OsString::into_string)
        .collect::<Result<_, _>>()
        .map_err(|_| refused(&Refused::new(PolicyRule::Texts, "the arguments must be UTF-8")))?;
    let task = std::env::var("DISPATCH_TASK_ID").ok();
    let draft =
        Draft::parse(&argv, task.as_deref(), &BTreeSet::new()).map_err(|error| refused(&error))?;
    let stdin = if draft.reads_stdin() {
        read_stdin().map_err(|error| refused(&error))?
    } else {
        String::new()
    };
    draft.with_stdin(&stdin).map_err(|error| refused(&error))?;
    let mailbox = std::env::var_os("DISPATCH_MAILBOX").filter(|mailbox| !mailbox.is_empty());
    let mailbox = mailbox.ok_or_else(|| refused(&ClientError::NoMailbox))?;
    client::send(mailbox.as_ref(), &MailRequest { argv, stdin })
        .map_err(|error| (FAILED, error.to_string()))
}

/// Reads a text, and not much more than a text may have.
fn read_stdin() -> Result<String, String> {
    let mut text = Vec::new();
    std::io::stdin()
        .take(TEXT_MAX_BYTES as u64 + 1)
        .read_to_end(&mut text)
        .map_err(|error| format!("could not read the text from standard input: {error}"))?;
    match String::from_utf8(text) {
        Ok(text) => Ok(text),
        // A text that is cut off inside a letter is one that is too long.
        Err(error) if error.as_bytes().len() > TEXT_MAX_BYTES => {
            Ok(String::from_utf8_lossy(error.as_bytes()).into_owned())
        }
        Err(_) => {
            let why = "the text on standard input must be UTF-8";
            Err(Refused::new(PolicyRule::Texts, why).to_string())
        }
    }
}
