//! What client and broker put into the mailbox (W2).

use serde::{Deserialize, Serialize};

/// The name of a request begins with this, its key follows.
pub const REQUEST_PREFIX: &str = "req-";

/// The name of the answer begins with this, the same key follows.
pub const RESPONSE_PREFIX: &str = "res-";

/// The most bytes of a request.
pub const MAIL_MAX_BYTES: u64 = 1 << 20;

/// A request, as JSON in the mailbox. It is not trusted: the broker judges it anew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailRequest {
    /// The arguments, the program's name left out.
    pub argv: Vec<String>,
    /// What stood on standard input, when a text was given as `-`; otherwise empty.
    #[serde(default)]
    pub stdin: String,
}

/// The answer, as JSON in the mailbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailAnswer {
    /// The exit status of the client (W1.4).
    pub exit: i32,
    /// What it prints.
    #[serde(default)]
    pub stdout: String,
    /// What it complains.
    #[serde(default)]
    pub stderr: String,
}

/// Whether a text can be the key of a request: 1 to 64 lower-case letters and digits, so that it is a harmless
/// part of a file name.
pub fn is_mail_key(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase())
}
