//! The client's side of the mailbox (W2): files only.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use dispatch_core::worker_edit::{
    MAIL_MAX_BYTES, MailAnswer, MailRequest, REQUEST_PREFIX, RESPONSE_PREFIX,
};

/// How long an answer may take.
const LIMIT: Duration = Duration::from_secs(30);
/// How often it is looked for, at first and later.
const PAUSE_MIN: Duration = Duration::from_millis(2);
const PAUSE_MAX: Duration = Duration::from_millis(20);

/// A request that got no answer.
#[derive(Debug)]
pub(crate) enum ClientError {
    /// There is no mailbox.
    NoMailbox,
    /// The request has more bytes than the mailbox takes.
    TooLarge(usize),
    /// The mailbox could not be used.
    Mailbox(io::Error),
    /// The request lay there unread and was taken back.
    Unread,
    /// It was read, but no answer came.
    Unanswered,
    /// The answer is not one.
    Answer(String),
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMailbox => f.write_str(
                "`DISPATCH_MAILBOX` is not set; this works only inside a dispatched attempt",
            ),
            Self::TooLarge(bytes) => write!(
                f,
                "the request has {bytes} bytes, more than {MAIL_MAX_BYTES}; nothing was written: send shorter texts one after the other"
            ),
            Self::Mailbox(error) => {
                write!(f, "could not use the mailbox of this attempt; nothing was written: {error}")
            }
            Self::Unread => write!(
                f,
                "nobody read the request within {} s; nothing was written: try again later",
                LIMIT.as_secs()
            ),
            Self::Unanswered => write!(
                f,
                "the request was read but not answered within {} s: look with `--view` whether it was done",
                LIMIT.as_secs()
            ),
            Self::Answer(fault) => write!(f, "the answer cannot be read: {fault}"),
        }
    }
}

/// Puts a request into the mailbox and waits for the answer.
pub(crate) fn send(mailbox: &Path, request: &MailRequest) -> Result<MailAnswer, ClientError> {
    let bytes = serde_json::to_vec(request).map_err(|error| ClientError::Mailbox(error.into()))?;
    if bytes.len() as u64 > MAIL_MAX_BYTES {
        return Err(ClientError::TooLarge(bytes.len()));
    }
    let key = random_key().map_err(ClientError::Mailbox)?;
    let asked = mailbox.join(format!("{REQUEST_PREFIX}{key}"));
    let answered = mailbox.join(format!("{RESPONSE_PREFIX}{key}"));
    // Under another name first: what has a request's name is whole.
    let draft = mailbox.join(format!("new-{key}"));
    put(&draft, &bytes).and_then(|()| fs::rename(&draft, &asked)).map_err(|error| {
        // It may not have come to that file at all.
        let _removed = fs::remove_file(&draft);
        ClientError::Mailbox(error)
    })?;
    wait_for(&asked, &answered)
}

fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)
}

fn wait_for(asked: &Path, answered: &Path) -> Result<MailAnswer, ClientError> {
    let began = Instant::now();
    let mut pause = PAUSE_MIN;
    loop {
        match File::open(answered) {
            Ok(file) => {
                let answer = read_answer(file);
                // The supervisor removes the mailbox with everything in it.
                let _removed = fs::remove_file(answered);
                return answer;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(ClientError::Answer(error.to_string())),
        }
        if began.elapsed() >= LIMIT {
            // Whoever removes it decides whether it was read.
            return Err(match fs::remove_file(asked) {
                Ok(()) => ClientError::Unread,
                Err(_) => ClientError::Unanswered,
            });
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

fn read_answer(file: File) -> Result<MailAnswer, ClientError> {
    let mut bytes = Vec::new();
    file.take(8 * MAIL_MAX_BYTES)
        .read_to_end(&mut bytes)
        .map_err(|error| ClientError::Answer(error.to_string()))?;
    serde_json::from_slice(&bytes).map_err(|error| ClientError::Answer(error.to_string()))
}

fn random_key() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}
