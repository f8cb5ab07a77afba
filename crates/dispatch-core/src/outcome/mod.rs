//! How a worker ended, told from its stream (D10).
//!
//! ```
//! use dispatch_core::names::Outcome;
//! use dispatch_core::outcome::{Ending, StreamSummary, classify};
//!
//! let mut summary = StreamSummary::default();
//! summary.push(b"{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"api_error_status\":529,\"num_turns\":1}\n");
//! let ended = classify(&summary, &Ending::default());
//! assert_eq!(ended.outcome, Outcome::Overloaded);
//! ```

mod guidance;
mod surface;

use serde::Serialize;
use time::OffsetDateTime;

use crate::names::Outcome;
use crate::stream::{Denial, ResultEvent};

pub use crate::stream::StreamSummary;

pub use guidance::{MARKER, question};
pub use surface::{ExpectedSurface, SurfaceMismatch, surface_mismatch};

/// Why we stopped the worker ourselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// Its time was up.
    Timeout,
    /// It said nothing for too long.
    Stalled,
    /// A person cancelled the task.
    Cancelled,
    /// We were shut down, or the lane was stopped.
    Interrupted,
    /// It had other tools or another permission mode than it was given.
    SurfaceMismatch,
}

impl Stopped {
    /// The outcome of a worker stopped for this reason.
    pub const fn outcome(self) -> Outcome {
        match self {
            Self::Timeout => Outcome::Timeout,
            Self::Stalled => Outcome::Stalled,
            Self::Cancelled => Outcome::Cancelled,
            Self::Interrupted => Outcome::Interrupted,
            Self::SurfaceMismatch => Outcome::SurfaceMismatch,
        }
    }
}

/// What is known about the end of the process, beside the stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ending {
    /// Whether and why we stopped it; recorded before the first signal.
    pub stopped: Option<Stopped>,
    /// Its exit status, when it exited.
    pub exit: Option<i32>,
    /// The signal that killed it.
    pub signal: Option<i32>,
    /// The end of its standard error; empty when it said nothing there.
    pub stderr_tail: String,
}

/// How a worker ended, with what a person should see of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ended {
    /// The outcome.
    pub outcome: Outcome,
    /// The question, the final text, or the cause of the failure in the agent's own words.
    pub text: String,
    /// The figures.
    #[serde(flatten)]
    pub figures: Figures,
    /// When a used-up usage window ends, when the agent said so.
    #[serde(with = "time::serde::rfc3339::option")]
    pub limit_resets_at: Option<OffsetDateTime>,
}

/// Figures of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Figures {
    /// Turns taken; without a `result` event the messages of the model.
    pub turns: Option<u64>,
    /// An estimate of the cost.
    pub cost_usd: Option<f64>,
    /// Wall time in milliseconds, as the agent measured it.
    pub duration_ms: Option<u64>,
    /// The model, as the agent named it.
    pub model: Option<String>,
    /// The session.
    pub session_id: Option<String>,
    /// The calls that were denied, the first ones.
    pub denials: Vec<Denial>,
    /// How many calls were denied.
    pub denial_count: u64,
    /// How often the provider's failures made the agent repeat a request.
    pub retries: u64,
    /// The exit status disagrees with the event: worth a line in the log, it decides nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oddity: Option<String>,
}

/// The outcome of a worker whose process never started.
pub fn spawn_failed(cause: &str) -> Ended {
    Ended {
        outcome: Outcome::SpawnFailed,
        text: cause.to_owned(),
        figures: Figures::default(),
        limit_resets_at: None,
    }
}

/// Decides how a worker ended.
///
/// Our own stop comes first, then the last `result` event; exit statuses and the event's `success` decide nothing, since
/// the agent exits 0 without having succeeded and calls every failure of the provider a success.
pub fn classify(summary: &StreamSummary, ending: &Ending) -> Ended {
    let (outcome, text) = decide(summary, ending);
    let limit_resets_at = match outcome {
        Outcome::UsageLimit => reset_time(summary, &text),
        _ => None,
    };
    Ended { outcome, text, figures: figures(summary, ending), limit_resets_at }
}

fn decide(summary: &StreamSummary, ending: &Ending) -> (Outcome, String) {
    if let Some(stopped) = ending.stopped {
        let text = summary.result.as_ref().map(words).unwrap_or_default();
        return (stopped.outcome(), text);
    }
    let Some(result) = &summary.result else {
        let usage = summary.lines == 0 && !ending.stderr_tail.trim().is_empty();
        let outcome = if usage { Outcome::UsageError } else { Outcome::Crash };
        return (outcome, ending.stderr_tail.trim().to_owned());
    };
    // The last message may stand for a failure that the event does not own up to.
    if result.is_error || summary.error.is_some() {
        return (failure(summary, result), words(result));
    }
    let text = result.text.clone().unwrap_or_default();
    if result.turns == Some(0) {
        return (Outcome::PromptSwallowed, text);
    }
    if text.trim().is_empty() {
        return (Outcome::EmptyAnswer, String::new());
    }
    match question(&text) {
        Some(question) => (Outcome::NeedsGuidance, question),
        None => (Outcome::Success, text),
    }
}

/// The outcome of a run whose `result` event says that it failed.
fn failure(summary: &StreamSummary, result: &ResultEvent) -> Outcome {
    match result.subtype.as_str() {
        "error_max_turns" => return Outcome::TurnsExhausted,
        "error_max_budget_usd" => return Outcome::BudgetExceeded,
        "success" => {}
        _ => return Outcome::ExecutionError,
    }
    match result.terminal_reason.as_deref() {
        Some("prompt_too_long" | "blocking_limit") => return Outcome::PromptTooLong,
        Some("max_turns") => return Outcome::TurnsExhausted,
        _ => {}
    }
    if result.stop_reason.as_deref() == Some("refusal") || summary.refused {
        return Outcome::Refused;
    }
    let kind = summary.error.as_ref().map_or("", |error| error.kind.as_str());
    let text = result.text.as_deref().unwrap_or_default();
    match (kind, result.api_error_status) {
        ("rate_limit" | "billing_error", _) | (_, Some(402 | 429)) => Outcome::UsageLimit,
        _ if says_limit(text) => Outcome::UsageLimit,
        ("authentication_failed", _) | (_, Some(401 | 403)) => Outcome::LoginExpired,
        // No status at all: the network or the server is down, which is no fault of the task either.
        ("overloaded", _) | (_, Some(500..=599)) | ("server_error", None) => Outcome::Overloaded,
        _ => Outcome::ApiError,
    }
}

/// Whether a failure's text says that the account's usage window is used up.
fn says_limit(text: &str) -> bool {
    let text = text.to_lowercase();
    text.contains("usage limit")
        || text.contains("credit balance is too low")
        || (text.contains("hit your") && text.contains("limit"))
        || (text.contains("limit reached") && text.contains("reset"))
}

/// When the usage window ends: from the agent's own event, or from the `|<seconds>` at the end of its sentence.
fn reset_time(summary: &StreamSummary, text: &str) -> Option<OffsetDateTime> {
    let from_text = || {
        let (_, number) = text.rsplit_once('|')?;
        let number: i64 = number.trim().parse().ok()?;
        // Some versions count in milliseconds.
        Some(if number > 100_000_000_000 { number / 1000 } else { number })
    };
    let seconds = summary.limit_resets_at.or_else(from_text)?;
    OffsetDateTime::from_unix_timestamp(seconds).ok()
}

/// What a failed run says about itself.
fn words(result: &ResultEvent) -> String {
    match &result.text {
        Some(text) if !text.trim().is_empty() => text.clone(),
        _ => result.errors.join("\n"),
    }
}

fn figures(summary: &StreamSummary, ending: &Ending) -> Figures {
    let result = summary.result.as_ref();
    let messages = (summary.assistant_messages > 0).then_some(summary.assistant_messages);
    let oddity = match (result, ending.exit, ending.signal) {
        (Some(result), Some(0), _) if result.is_error => {
            Some("the agent exited 0 after a failure".to_owned())
        }
        (Some(result), Some(exit), _) if !result.is_error && exit != 0 => {
            Some(format!("the agent exited {exit} after a success"))
        }
        (None, Some(0), _) => Some("the agent exited 0 without a result".to_owned()),
        _ => None,
    };
    Figures {
        turns: result.and_then(|result| result.turns).or(messages),
        cost_usd: result.and_then(|result| result.cost_usd),
        duration_ms: result.and_then(|result| result.duration_ms),
        model: summary.init.as_ref().and_then(|init| init.model.clone()),
        session_id: summary.session_id.clone(),
        denials: summary.denials().to_vec(),
        denial_count: summary.denial_count(),
        retries: summary.retries,
        oddity,
    }
}

#[cfg(test)]
mod tests;
