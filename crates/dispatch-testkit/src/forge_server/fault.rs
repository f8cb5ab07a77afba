//! What can go wrong between a client and the forge.

use std::time::Duration;

use serde_json::{Value, json};

use super::Answer;

/// A way to fail.
#[derive(Clone, Debug)]
pub enum Fault {
    /// 401: the token is not accepted.
    Unauthorised,
    /// 403: the token may not do this.
    Forbidden,
    /// 403 with the headers of the primary rate limit.
    RateLimited,
    /// 403 with `Retry-After`: the secondary rate limit.
    SecondaryRateLimited,
    /// 404, as a token without access gets it.
    NotFound,
    /// A server error: 500, 502 (a page, not JSON) or 503.
    ServerError(u16),
    /// 200 with `{"data": null}`, or a plain `null` on a REST path.
    NullData,
    /// 200 with GraphQL errors and no data.
    GraphQlError(String),
    /// 200 with a text that is not JSON.
    NotJson,
    /// The connection is closed; the request is not carried out.
    Drop,
    /// The request is carried out, then the connection is closed without an answer.
    LostAnswer,
    /// The request is carried out, then half of the answer is sent.
    Truncated,
    /// Never answers; the client is let go when the forge ends. The request is not carried out.
    Hang,
    /// Answers late.
    Delay(Duration),
}

impl Fault {
    pub(super) fn pause(&self) -> Option<Duration> {
        match self {
            Self::Delay(time) => Some(*time),
            _ => None,
        }
    }

    /// The answer given instead of the real one; `None` when the request is carried out.
    pub(super) fn instead(&self) -> Option<Answer> {
        let limit = |remaining: &str| {
            let fields = [
                ("limit", "5000"),
                ("remaining", remaining),
                ("reset", "4102444800"),
                ("resource", "core"),
            ];
            fields.map(|(name, value)| (format!("x-ratelimit-{name}"), value.to_owned())).to_vec()
        };
        let with = |mut answer: Answer, headers: Vec<(String, String)>| {
            answer.headers = headers;
            answer
        };
        let html = vec![("content-type".to_owned(), "text/html".to_owned())];
        Some(match self {
            Self::Unauthorised => Answer::message(401, "Bad credentials"),
            Self::Forbidden => Answer::message(403, "Resource not accessible by integration"),
            Self::RateLimited => {
                with(Answer::message(403, "API rate limit exceeded for user ID 1."), limit("0"))
            }
            Self::SecondaryRateLimited => with(
                Answer::message(
                    403,
                    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
                ),
                vec![("retry-after".to_owned(), "60".to_owned())],
            ),
            Self::NotFound => Answer::message(404, "Not Found"),
            Self::ServerError(502) => with(
                Answer::new(
                    502,
                    Value::from("<html><title>502 Bad Gateway</title><body>Unicorn!</body></html>"),
                ),
                html,
            ),
            Self::ServerError(status) => Answer::message(*status, "Server Error"),
            Self::NullData => Answer::new(200, json!({"data": null})),
            Self::GraphQlError(message) => {
                Answer::new(200, json!({"data": null, "errors": [{"message": message}]}))
            }
            Self::NotJson => Answer::new(200, Value::from("this is not json")),
            Self::Drop | Self::Hang => Answer::new(0, Value::Null),
            Self::LostAnswer | Self::Truncated | Self::Delay(_) => return None,
        })
    }
}

/// A fault, and the requests it is for.
#[derive(Clone, Debug)]
pub struct Injection {
    on: String,
    skip: usize,
    times: usize,
    fault: Fault,
}

impl Injection {
    /// For requests whose `METHOD /path?query`, followed by the GraphQL text if there is one, contains `text`. An empty
    /// text fits all. Without [`fault`](Self::fault) the request is answered late by nothing: it passes.
    pub fn on(text: impl Into<String>) -> Self {
        Self { on: text.into(), skip: 0, times: usize::MAX, fault: Fault::Delay(Duration::ZERO) }
    }

    /// What happens to them.
    #[must_use]
    pub fn fault(mut self, fault: Fault) -> Self {
        self.fault = fault;
        self
    }

    /// Only to the first `count`.
    #[must_use]
    pub fn times(mut self, count: usize) -> Self {
        self.times = count;
        self
    }

    /// Not to the first `count`.
    #[must_use]
    pub fn after(mut self, count: usize) -> Self {
        self.skip = count;
        self
    }

    pub(super) fn take(&mut self, line: &str) -> Option<Fault> {
        if !line.contains(&self.on) {
            return None;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return None;
        }
        self.times = self.times.checked_sub(1)?;
        Some(self.fault.clone())
    }
}
