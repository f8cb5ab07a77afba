//! What a person does to slots and running tasks (M4). Nothing here needs the pass lock (D2.3).

mod cancel;
mod release_slot;
mod retry;

use dispatch_core::id::TaskId;
use thiserror::Error;

pub use self::cancel::{Cancelled, cancel};
pub use self::release_slot::{Released, release_slot};
pub use self::retry::{Retried, retry};

use crate::ports::PortError;

/// Why it was not done.
#[derive(Debug, Error)]
pub enum ByHandError {
    /// It is refused, for a reason a person can do something about: exit status 2.
    #[error("{0}")]
    Refused(String),
    /// Something failed.
    #[error("{doing}")]
    Failed {
        /// What was being done.
        doing: String,
        /// Why it failed.
        #[source]
        source: PortError,
    },
}

impl ByHandError {
    fn at(doing: &str) -> impl Fn(PortError) -> Self + '_ {
        move |source| Self::Failed { doing: doing.to_owned(), source }
    }
}

/// Where the work of an attempt is kept once it is saved.
fn kept_at(id: &TaskId, attempt: dispatch_core::attempt::AttemptNumber) -> String {
    dispatch_core::branch::attempt_ref(id, attempt)
}
