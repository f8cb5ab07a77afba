//! The texts a worker and a reviewer are given (D8, C7.2).
//!
//! Templates are built in and can be replaced by files of the code root. Everything that people, workers or the
//! repository wrote is inserted as data: inside a fence that cannot occur in it.

mod envelope;
mod fence;
mod hooks;
mod retry;
mod review;
mod skills;
mod template;
mod worker;

pub use fence::{fenced, inline};
pub use hooks::{file_hook_answer, file_hook_request, prompt_hook_answer, prompt_hook_request};
pub use retry::{Earlier, comments_since_block, is_block_comment};
pub use review::{ReviewInput, review_prompt};
pub use skills::{SkillIndex, SkillIndexError};
pub use template::{PLACEHOLDERS, TemplateError, check_template};
pub use worker::{
    FIRST_LINE, HookText, PROMPT_MAX_BYTES, PromptError, PromptInput, Prompts, RepositoryRules,
    TemplateName, Templates, build_prompts,
};

const LOCAL_SYSTEM: &str = include_str!("templates/local_system.md");
const FRONTIER_ADDENDUM: &str = include_str!("templates/frontier_addendum.md");
const FRONTIER_ENTRY: &str = include_str!("templates/frontier_entry.md");
const CLOSE_ATTEMPT: &str = include_str!("templates/close_attempt.md");
const CONTRACT: &str = include_str!("templates/contract.md");

/// Every built-in template.
#[cfg(test)]
const BUILT_IN: [&str; 5] =
    [LOCAL_SYSTEM, FRONTIER_ADDENDUM, FRONTIER_ENTRY, CLOSE_ATTEMPT, CONTRACT];

#[cfg(test)]
mod tests;
