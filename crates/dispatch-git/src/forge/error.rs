//! What can go wrong with the forge (V4.3).

use dispatch_core::names::PauseCause;
use dispatch_engine::ports::PortError;
use dispatch_proc::{Ended, Finished, ProcError, brief};
use thiserror::Error;

/// What helps where `gh` has no token.
pub(super) const LOG_IN: &str =
    "log in with `gh auth login`, or set `forge.tokenFromEnv` if the token is in the environment";

/// The kind of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ForgeFault {
    /// `gh` has no token at all.
    NoToken,
    /// The token is not accepted.
    Unauthorised,
    /// The token may not do this.
    Forbidden,
    /// Too many requests.
    RateLimited,
    /// There is no such thing, or the token may not see it.
    NotFound,
    /// The forge understood and refused.
    Invalid,
    /// The forge was not reached, or its answer got lost.
    Network,
    /// No answer in time.
    Timeout,
    /// The forge failed, or its answer made no sense.
    ServerError,
}

impl ForgeFault {
    /// Its fixed name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoToken => "no-token",
            Self::Unauthorised => "unauthorised",
            Self::Forbidden => "forbidden",
            Self::RateLimited => "rate-limited",
            Self::NotFound => "not-found",
            Self::Invalid => "invalid",
            Self::Network => "network",
            Self::Timeout => "timeout",
            Self::ServerError => "server-error",
        }
    }

    /// Whether a later try may find it gone without anything being changed in the request.
    const fn is_the_machines(self) -> bool {
        match self {
            Self::NoToken
            | Self::Unauthorised
            | Self::Forbidden
            | Self::RateLimited
            | Self::NotFound
            | Self::Network
            | Self::Timeout
            | Self::ServerError => true,
            Self::Invalid => false,
        }
    }

    const fn hint(self) -> Option<&'static str> {
        match self {
            Self::NoToken => Some(LOG_IN),
            Self::Unauthorised => Some(
                "the stored login is not accepted: log in again with `gh auth login`, or check the token when `forge.tokenFromEnv` is set",
            ),
            Self::Forbidden | Self::NotFound => Some(
                "check that the login may read and write this repository and its pull requests",
            ),
            Self::RateLimited => Some("it is tried again later"),
            Self::Invalid | Self::Network | Self::Timeout | Self::ServerError => None,
        }
    }
}

/// The forge could not do what it was asked.
#[derive(Debug, Error)]
pub enum ForgeError {
    /// `gh` could not be run.
    #[error("could not run `{command}`")]
    Proc {
        /// The command line.
        command: String,
        /// The error it failed with.
        #[source]
        source: ProcError,
    },
    /// `gh` or the forge failed.
    #[error("`{command}` failed ({}): {words}", fault.as_str())]
    Failed {
        /// The command line.
        command: String,
        /// The kind.
        fault: ForgeFault,
        /// How it ended, and gh's own words.
        words: String,
    },
    /// This forge has no such thing.
    #[error("a git remote without a forge has no {what}")]
    NoneHere {
        /// What was asked for.
        what: &'static str,
    },
}

impl ForgeError {
    /// The kind of the failure, when the forge or its client failed.
    pub fn fault(&self) -> Option<ForgeFault> {
        match self {
            Self::Failed { fault, .. } => Some(*fault),
            Self::Proc { .. } | Self::NoneHere { .. } => None,
        }
    }

    /// An answer that makes no sense.
    pub(super) fn nonsense(command: &str, words: impl Into<String>) -> Self {
        Self::Failed {
            command: command.to_owned(),
            fault: ForgeFault::ServerError,
            words: words.into(),
        }
    }

    /// Reads what `gh api` said when it failed.
    pub(super) fn of(command: &str, finished: &Finished) -> Self {
        let stderr = finished.stderr_text();
        let stdout = String::from_utf8_lossy(&finished.stdout);
        let mut words = brief(&stderr, 500);
        // The reason of a refusal is only in the answer itself.
        if let Ok(answer) = serde_json::from_str::<serde_json::Value>(&stdout)
            && let Some(errors) = answer.get("errors").filter(|errors| !errors.is_null())
        {
            words = brief(&format!("{words} {errors}"), 500);
        }
        Self::Failed {
            command: command.to_owned(),
            fault: fault_of(finished, &stderr, &stdout),
            words: format!("it {}; {words}", finished.ended),
        }
    }

    /// This error at the port.
    pub(super) fn port(self, doing: impl Into<String>) -> PortError {
        let fault = self.fault();
        let machine = fault.is_none_or(ForgeFault::is_the_machines);
        let mut error = PortError::new(doing, self);
        if machine {
            error = error.pausing(PauseCause::ForgeUnreachable);
        }
        match fault.and_then(ForgeFault::hint) {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}

/// The HTTP status in gh's own words: `gh: … (HTTP 404)`, `gh: HTTP 502`.
fn status_in(stderr: &str) -> Option<u16> {
    let (_, rest) = stderr.rsplit_once("HTTP ")?;
    rest.get(..3)?.parse().ok()
}

fn fault_of(finished: &Finished, stderr: &str, stdout: &str) -> ForgeFault {
    let said = |text: &str| stderr.contains(text) || stdout.contains(text);
    if finished.ended == Ended::TimedOut {
        return ForgeFault::Timeout;
    }
    if said("rate limit") {
        return ForgeFault::RateLimited;
    }
    match status_in(stderr) {
        Some(401) => return ForgeFault::Unauthorised,
        Some(403) => return ForgeFault::Forbidden,
        Some(404 | 410) => return ForgeFault::NotFound,
        Some(429) => return ForgeFault::RateLimited,
        Some(500..) => return ForgeFault::ServerError,
        Some(400..) => return ForgeFault::Invalid,
        Some(_) | None => {}
    }
    if finished.ended == Ended::Exit(4) || said("gh auth login") || said("GH_TOKEN") {
        return ForgeFault::NoToken;
    }
    if said("invalid header field value for \"Authorization\"") {
        return ForgeFault::Unauthorised;
    }
    if said("NOT_FOUND") || said("Could not resolve to a Repository") {
        return ForgeFault::NotFound;
    }
    if said("FORBIDDEN") || said("does not have the correct permissions") {
        return ForgeFault::Forbidden;
    }
    let lost = ["EOF", "dial ", "connection", "error connecting", "lookup ", "tls:", "i/o timeout"];
    if lost.iter().any(|sign| stderr.contains(sign)) {
        return ForgeFault::Network;
    }
    ForgeFault::ServerError
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use test_case::test_case;

    use super::*;

    #[test_case(1, "gh: Bad credentials (HTTP 401)", ForgeFault::Unauthorised; "401")]
    #[test_case(1, "gh: Resource not accessible by integration (HTTP 403)", ForgeFault::Forbidden; "403")]
    #[test_case(1, "gh: API rate limit exceeded for user ID 1. (HTTP 403)", ForgeFault::RateLimited; "primary limit")]
    #[test_case(1, "gh: You have exceeded a secondary rate limit. Please wait (HTTP 403)", ForgeFault::RateLimited; "secondary limit")]
    #[test_case(1, "gh: API rate limit exceeded for user ID 1.", ForgeFault::RateLimited; "GraphQL limit")]
    #[test_case(1, "gh: Not Found (HTTP 404)", ForgeFault::NotFound; "404")]
    #[test_case(1, "gh: Validation Failed (HTTP 422)", ForgeFault::Invalid; "422")]
    #[test_case(1, "gh: HTTP 502", ForgeFault::ServerError; "502 page")]
    #[test_case(1, "gh: Server Error (HTTP 500)", ForgeFault::ServerError; "500")]
    #[test_case(4, "To get started with GitHub CLI, please run:  gh auth login", ForgeFault::NoToken; "no token")]
    #[test_case(1, "Post \"https://api.github.com/graphql\": EOF", ForgeFault::Network; "closed")]
    #[test_case(1, "error connecting to api.github.com\ncheck your internet connection", ForgeFault::Network; "no name")]
    #[test_case(1, "Post \"…\": dial unix /x: connect: connection refused", ForgeFault::Network; "refused")]
    #[test_case(1, "invalid character 'h' in literal true", ForgeFault::ServerError; "no JSON")]
    fn v4_3_every_failure_is_typed(code: i32, stderr: &str, expected: ForgeFault) {
        let finished = Finished {
            ended: Ended::Exit(code),
            stdout: Vec::new(),
            stdout_dropped_bytes: 0,
            stderr: stderr.into(),
            elapsed: Duration::ZERO,
        };
        let error = ForgeError::of("gh api x", &finished);
        assert_eq!(error.fault(), Some(expected));
        assert!(error.to_string().contains(expected.as_str()));
    }
}
