//! What happens in the demo: its tasks, and what the scripted agent does with each.

/// A task of the demo.
#[derive(Debug)]
pub(super) struct DemoTask {
    /// Its id.
    pub(super) id: &'static str,
    /// Its title.
    pub(super) title: &'static str,
    /// Its description, without the declared files and the test command.
    pub(super) description: &'static str,
    /// The file it declares.
    pub(super) file: &'static str,
    /// The task it waits for.
    pub(super) depends_on: Option<&'static str>,
    /// What the agent does.
    pub(super) act: Act,
    /// How it must end.
    pub(super) ends: Ending,
}

/// What the scripted agent does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// Writes a file, ticks the criterion and says so.
    Write {
        /// The path of the file.
        path: &'static str,
        /// What the file holds then.
        content: &'static str,
    },
    /// Ends with a question.
    Ask(&'static str),
}

/// How a task must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// Its branch was pushed, merged by a person, and the sweep saw that.
    Merged,
    /// Its branch is pushed and proposed.
    Proposed,
    /// Blocked, with this reason in its comment.
    Blocked(&'static str),
}

impl Ending {
    /// The status this means.
    pub(super) const fn status(self) -> &'static str {
        match self {
            Self::Merged => "Done",
            Self::Proposed => "In Progress",
            Self::Blocked(_) => "Blocked",
        }
    }

    /// In words.
    pub(super) fn describe(self) -> String {
        match self {
            Self::Merged => "pushed, merged by a person, done".to_owned(),
            Self::Proposed => "waited for its dependency, then pushed".to_owned(),
            Self::Blocked(reason) => format!("blocked: {reason}"),
        }
    }
}

/// The tasks, in the order of their numbers.
pub(super) const TASKS: [DemoTask; 5] = [
    DemoTask {
        id: "T-1",
        title: "Greet the world",
        description: "The project has no greeting yet. Add one.",
        file: "greetings/hello.txt",
        depends_on: None,
        act: Act::Write { path: "greetings/hello.txt", content: "Hello, world\n" },
        ends: Ending::Merged,
    },
    DemoTask {
        id: "T-2",
        title: "Say goodbye as well",
        description: "Add a farewell. The agent will also change how the project is built, which it must not.",
        file: "greetings/goodbye.txt",
        depends_on: None,
        act: Act::Write { path: ".github/workflows/build.yml", content: "on: push\n" },
        ends: Ending::Blocked("scope-check-failed"),
    },
    DemoTask {
        id: "T-3",
        title: "Greet in Spanish",
        description: "Add a greeting in Spanish. The agent will leave the file empty, and the tests notice.",
        file: "greetings/hola.txt",
        depends_on: None,
        act: Act::Write { path: "greetings/hola.txt", content: "" },
        ends: Ending::Blocked("checks-failed"),
    },
    DemoTask {
        id: "T-4",
        title: "Greet a second time",
        description: "Builds on the first greeting, so it waits until that is merged.",
        file: "greetings/again.txt",
        depends_on: Some("T-1"),
        act: Act::Write { path: "greetings/again.txt", content: "Hello again\n" },
        ends: Ending::Proposed,
    },
    DemoTask {
        id: "T-5",
        title: "Greet in the right language",
        description: "Does not say which language that is.",
        file: "greetings/right.txt",
        depends_on: None,
        act: Act::Ask("Which language do you mean: French or German?"),
        ends: Ending::Blocked("needs-guidance"),
    },
];
