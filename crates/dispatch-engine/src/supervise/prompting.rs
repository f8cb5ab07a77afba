//! The prompt and the system prompt of an attempt (D8).

use dispatch_close::text::fenced;
use dispatch_core::task::Task;

use super::Attempt;

/// The texts a worker is started with.
pub(crate) struct Texts {
    /// Its standard input.
    pub(crate) prompt: String,
    /// Its system prompt.
    pub(crate) system_prompt: String,
}

/// Puts the texts together.
pub(crate) fn texts(attempt: &Attempt<'_>, task: &Task) -> Texts {
    let prompt = format!("Task {}: {}\n\n{}\n", task.id, task.title, fenced(&task.description));
    let system_prompt = format!(
        "Your board command is `{} {}`. Work in the current directory only.\n",
        attempt.context.worker_edit, task.id
    );
    Texts { prompt, system_prompt }
}
