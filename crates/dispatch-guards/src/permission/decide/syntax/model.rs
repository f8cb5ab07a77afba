//! A command text as it was read: simple commands, and what is not looked into.

/// A word of a simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::permission::decide) struct Word {
    /// As written, with variables the agent follows filled in.
    pub(in crate::permission::decide) text: String,
    /// What it stands for, when that is one fixed text.
    pub(in crate::permission::decide) value: Option<String>,
    /// Whether it holds a glob character outside quotes.
    pub(in crate::permission::decide) glob: bool,
    /// The blanks before it.
    pub(in crate::permission::decide) gap: String,
}

/// Where a command's output or input goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::permission::decide) enum Redirect {
    /// Into a file; none when the name is not fixed.
    Output(Option<String>),
    /// From a file that is named plainly.
    Input,
    /// From a text with a quoted delimiter, or between descriptors.
    Harmless,
}

/// One simple command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::permission::decide) struct Part {
    /// Assignments before the command, then its words.
    pub(in crate::permission::decide) words: Vec<Word>,
    /// How many of the words are assignments.
    pub(in crate::permission::decide) assignments: usize,
    /// Its redirections.
    pub(in crate::permission::decide) redirects: Vec<Redirect>,
    /// Whether a redirection stands before the command: the agent then sees no command.
    pub(in crate::permission::decide) hidden: bool,
    /// Commands substituted into an assignment, which count as parts of their own.
    pub(in crate::permission::decide) substituted: Vec<String>,
}

impl Part {
    /// The words of the command itself.
    pub(in crate::permission::decide) fn command(&self) -> &[Word] {
        &self.words[self.assignments.min(self.words.len())..]
    }

    /// What the command is called, when that is fixed.
    pub(in crate::permission::decide) fn name(&self) -> Option<&str> {
        self.command().first().and_then(|word| word.value.as_deref())
    }
}

/// A command text, read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::permission::decide) struct Script {
    /// The simple commands, those in conditions and loops included.
    pub(in crate::permission::decide) parts: Vec<Part>,
    /// Why the agent gives up on it, if it does: then only bare `Bash` or the very text grants it.
    pub(in crate::permission::decide) complex: Option<&'static str>,
    /// Texts of groups and functions, whose commands the agent does not look at.
    pub(in crate::permission::decide) groups: Vec<Group>,
}

/// A piece of the text that is not looked into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::permission::decide) struct Group {
    /// Its text.
    pub(in crate::permission::decide) text: String,
    /// Whether it defines a function.
    pub(in crate::permission::decide) function: bool,
}
