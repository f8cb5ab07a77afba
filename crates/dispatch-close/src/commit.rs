//! The messages of our commits (C9.1).

use dispatch_core::attempt::AttemptNumber;
use dispatch_core::config::CommitConfig;
use dispatch_core::id::TaskId;

use crate::text::{cut_chars, one_line};

/// The longest subject, in characters.
pub const SUBJECT_LIMIT: usize = 72;

/// What a commit message is made of.
#[derive(Debug, Clone, Copy)]
pub struct CommitFacts<'a> {
    /// The task.
    pub id: &'a TaskId,
    /// Its title.
    pub title: &'a str,
    /// The attempt.
    pub attempt: AttemptNumber,
}

/// The message of the commit that is proposed: a Conventional Commits subject by the configured template, and a
/// body that names task, attempt and dispatcher.
pub fn proposal_message(config: &CommitConfig, facts: &CommitFacts<'_>) -> String {
    let fill = |title: &str| {
        config
            .subject
            .replace("{type}", &config.kind)
            .replace("{id}", facts.id.as_str())
            .replace("{title}", title)
    };
    let title = one_line(facts.title);
    let around = one_line(&fill("")).chars().count();
    // One character more than the template alone, for the blank that `one_line` takes before an empty title.
    let room = SUBJECT_LIMIT.saturating_sub(around + 1).max(1);
    let subject = cut_chars(&one_line(&fill(&cut_chars(&title, room))), SUBJECT_LIMIT);
    format!("{subject}\n\n{}", trailer(facts))
}

/// The message of a commit that only keeps an attempt's work.
pub fn saved_message(reason: &str, facts: &CommitFacts<'_>) -> String {
    let subject = cut_chars(
        &format!("chore({}): keep the work of attempt {} ({reason})", facts.id, facts.attempt),
        SUBJECT_LIMIT,
    );
    format!("{subject}\n\n{}", trailer(facts))
}

/// The message of the merge of the base into the start (D6.6).
pub fn merge_message(base: &str, facts: &CommitFacts<'_>) -> String {
    let subject = cut_chars(
        &format!("chore({}): merge {} before working", facts.id, one_line(base)),
        SUBJECT_LIMIT,
    );
    format!("{subject}\n\n{}", trailer(facts))
}

fn trailer(facts: &CommitFacts<'_>) -> String {
    format!("Task: {}\nAttempt: {}\nMade by: dispatch\n", facts.id, facts.attempt)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(title: &str) -> String {
        let id = TaskId::parse("T-5").unwrap();
        let facts = CommitFacts { id: &id, title, attempt: AttemptNumber::FIRST };
        proposal_message(&CommitConfig::default(), &facts)
    }

    #[test]
    fn c9_1_the_subject_is_conventional_and_the_body_names_task_attempt_and_dispatcher() {
        insta::assert_snapshot!(message("Add a slug\nhelper"), @r"
        feat(T-5): Add a slug helper

        Task: T-5
        Attempt: 1
        Made by: dispatch
        ");
    }

    proptest! {
        #[test]
        fn c9_1_no_title_makes_a_subject_over_72_characters_or_a_second_line(title in any::<String>()) {
            let message = message(&title);
            let (subject, body) = message.split_once("\n\n").unwrap();
            prop_assert!(subject.chars().count() <= SUBJECT_LIMIT, "{subject}");
            prop_assert!(subject.starts_with("feat(T-5):"));
            prop_assert!(!subject.contains('\n'));
            prop_assert!(body.starts_with("Task: T-5\n"));
        }
    }
}
