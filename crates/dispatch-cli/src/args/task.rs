//! A task as a person names it.

use dispatch_core::id::{TaskId, TaskIdError};

/// A task id, or its number alone, as the board program takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskArg {
    /// The whole id.
    Id(TaskId),
    /// What stands after the prefix, such as `9` or `9.1`.
    Number(String),
}

impl TaskArg {
    /// Reads an id or a number.
    pub fn parse(text: &str) -> Result<Self, TaskIdError> {
        if text.starts_with(|c: char| c.is_ascii_digit()) {
            let refused = |_| TaskIdError { found: text.chars().take(100).collect() };
            TaskId::parse(&format!("T-{text}")).map_err(refused)?;
            return Ok(Self::Number(text.to_owned()));
        }
        TaskId::parse(text).map(Self::Id)
    }

    /// The id, where a number alone has this prefix.
    pub fn with_prefix(&self, prefix: &str) -> Result<TaskId, TaskIdError> {
        match self {
            Self::Id(id) => Ok(id.clone()),
            Self::Number(number) => {
                TaskId::parse(&format!("{}-{number}", prefix.to_ascii_uppercase()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("9", "TASK-9"; "a number")]
    #[test_case("9.1", "TASK-9.1"; "a subtask")]
    #[test_case("T-9", "T-9"; "a whole id")]
    fn a_number_alone_has_the_prefix_of_the_board(text: &str, id: &str) {
        assert_eq!(TaskArg::parse(text).unwrap().with_prefix("task").unwrap().as_str(), id);
    }

    #[test_case("9x")]
    #[test_case("nine")]
    #[test_case("")]
    fn other_texts_are_no_tasks_and_are_named_as_written(text: &str) {
        assert_eq!(TaskArg::parse(text).unwrap_err().found, text);
    }
}
