//! The text of one task file.

use std::fmt;

/// A comment of a task.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Comment {
    /// Who wrote it, if it says.
    pub author: Option<String>,
    /// When, as written.
    pub created: Option<String>,
    /// Its text.
    pub body: String,
}

/// A task file in the making; [`fmt::Display`] gives its text as the board's program writes it.
#[derive(Clone, Debug)]
pub struct TaskText {
    id: String,
    title: String,
    status: String,
    assignees: Vec<String>,
    created: String,
    labels: Vec<String>,
    dependencies: Vec<String>,
    parent: Option<String>,
    priority: Option<String>,
    ordinal: Option<u32>,
    more_header: Vec<String>,
    description: String,
    files: Vec<String>,
    test_command: Option<String>,
    criteria: Vec<(bool, String)>,
    done: Vec<(bool, String)>,
    plan: String,
    notes: String,
    final_summary: String,
    comments: Vec<Comment>,
}

impl TaskText {
    /// A task in `To Do` with nothing but a title.
    pub fn new(id: &str, title: &str) -> Self {
        Self {
            id: id.to_owned(),
            title: title.to_owned(),
            status: "To Do".to_owned(),
            assignees: Vec::new(),
            created: "2026-03-01 09:15".to_owned(),
            labels: Vec::new(),
            dependencies: Vec::new(),
            parent: None,
            priority: None,
            ordinal: None,
            more_header: Vec::new(),
            description: String::new(),
            files: Vec::new(),
            test_command: None,
            criteria: Vec::new(),
            done: Vec::new(),
            plan: String::new(),
            notes: String::new(),
            final_summary: String::new(),
            comments: Vec::new(),
        }
    }

    /// A queued, triaged task of the frontier lane with one criterion. It still needs a
    /// [test command](Self::test_command).
    pub fn ready(id: &str, title: &str) -> Self {
        Self::new(id, title)
            .status("Queued")
            .labels(["tier:minor", "lane:frontier", "path:direct"])
            .description("What to do is said in the title.")
            .criterion("It is done")
    }

    /// Sets the status.
    #[must_use]
    pub fn status(mut self, status: &str) -> Self {
        status.clone_into(&mut self.status);
        self
    }

    /// Replaces all labels.
    #[must_use]
    pub fn labels<const N: usize>(mut self, labels: [&str; N]) -> Self {
        self.labels = labels.map(str::to_owned).into();
        self
    }

    /// Replaces the lane among the labels.
    #[must_use]
    pub fn lane(mut self, lane: &str) -> Self {
        self.labels.retain(|label| !label.starts_with("lane:"));
        self.labels.push(format!("lane:{lane}"));
        self
    }

    /// Adds an assignee.
    #[must_use]
    pub fn assignee(mut self, assignee: &str) -> Self {
        self.assignees.push(assignee.to_owned());
        self
    }

    /// Sets the moment of creation, `YYYY-MM-DD HH:MM`.
    #[must_use]
    pub fn created(mut self, created: &str) -> Self {
        created.clone_into(&mut self.created);
        self
    }

    /// Adds a dependency.
    #[must_use]
    pub fn depends_on(mut self, id: &str) -> Self {
        self.dependencies.push(id.to_owned());
        self
    }

    /// Makes it a subtask.
    #[must_use]
    pub fn parent(mut self, id: &str) -> Self {
        self.parent = Some(id.to_owned());
        self
    }

    /// Sets the priority.
    #[must_use]
    pub fn priority(mut self, priority: &str) -> Self {
        self.priority = Some(priority.to_owned());
        self
    }

    /// Sets the place in its column.
    #[must_use]
    pub fn ordinal(mut self, ordinal: u32) -> Self {
        self.ordinal = Some(ordinal);
        self
    }

    /// Adds a line at the end of the front matter.
    #[must_use]
    pub fn header_line(mut self, line: &str) -> Self {
        self.more_header.push(line.to_owned());
        self
    }

    /// Sets the description.
    #[must_use]
    pub fn description(mut self, text: &str) -> Self {
        text.clone_into(&mut self.description);
        self
    }

    /// Declares the files the task will touch: a list at the end of the description.
    #[must_use]
    pub fn files<const N: usize>(mut self, files: [&str; N]) -> Self {
        self.files = files.map(str::to_owned).into();
        self
    }

    /// States the test command: a line at the end of the description.
    #[must_use]
    pub fn test_command(mut self, command: &str) -> Self {
        self.test_command = Some(command.to_owned());
        self
    }

    /// Adds an open acceptance criterion.
    #[must_use]
    pub fn criterion(mut self, text: &str) -> Self {
        self.criteria.push((false, text.to_owned()));
        self
    }

    /// Adds a ticked acceptance criterion.
    #[must_use]
    pub fn met_criterion(mut self, text: &str) -> Self {
        self.criteria.push((true, text.to_owned()));
        self
    }

    /// Adds an open item of the definition of done.
    #[must_use]
    pub fn done_when(mut self, text: &str) -> Self {
        self.done.push((false, text.to_owned()));
        self
    }

    /// Adds a ticked item of the definition of done.
    #[must_use]
    pub fn done_item(mut self, text: &str) -> Self {
        self.done.push((true, text.to_owned()));
        self
    }

    /// Sets the implementation plan.
    #[must_use]
    pub fn plan(mut self, text: &str) -> Self {
        text.clone_into(&mut self.plan);
        self
    }

    /// Sets the implementation notes.
    #[must_use]
    pub fn notes(mut self, text: &str) -> Self {
        text.clone_into(&mut self.notes);
        self
    }

    /// Sets the final summary.
    #[must_use]
    pub fn final_summary(mut self, text: &str) -> Self {
        text.clone_into(&mut self.final_summary);
        self
    }

    /// Adds a comment.
    #[must_use]
    pub fn comment(mut self, author: &str, body: &str) -> Self {
        let (author, created) = (Some(author.to_owned()), Some("2026-03-01 10:00".to_owned()));
        self.comments.push(Comment { author, created, body: body.to_owned() });
        self
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The name the board's program would give its file.
    pub fn file_name(&self) -> String {
        let words = self.title.split(|letter: char| !letter.is_ascii_alphanumeric());
        let slug: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        format!("{} - {}.md", self.id.to_lowercase(), slug.join("-"))
    }

    fn full_description(&self) -> String {
        let mut parts = Vec::new();
        if !self.description.is_empty() {
            parts.push(self.description.clone());
        }
        if !self.files.is_empty() {
            let bullets: Vec<String> = self.files.iter().map(|file| format!("- {file}")).collect();
            parts.push(format!("Files to touch:\n\n{}", bullets.join("\n")));
        }
        if let Some(command) = &self.test_command {
            parts.push(format!("Test command: {command}"));
        }
        parts.join("\n\n")
    }

    fn header(&self) -> Vec<String> {
        let mut lines = vec![
            "---".to_owned(),
            format!("id: {}", self.id),
            format!("title: {}", scalar(&self.title)),
            format!("status: {}", self.status),
        ];
        list(&mut lines, "assignee", &self.assignees);
        lines.push(format!("created_date: '{}'", self.created));
        list(&mut lines, "labels", &self.labels);
        list(&mut lines, "dependencies", &self.dependencies);
        lines.extend(self.parent.iter().map(|parent| format!("parent_task_id: {parent}")));
        lines.extend(self.priority.iter().map(|priority| format!("priority: {priority}")));
        lines.extend(self.ordinal.iter().map(|ordinal| format!("ordinal: {ordinal}")));
        lines.extend(self.more_header.iter().cloned());
        lines.push("---".to_owned());
        lines
    }
}

impl fmt::Display for TaskText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = vec![self.header().join("\n")];
        let section = |title: &str, marker: &str, text: &str| {
            format!(
                "## {title}\n\n<!-- SECTION:{marker}:BEGIN -->\n{text}\n<!-- SECTION:{marker}:END -->"
            )
        };
        let checklist = |title: &str, marker: &str, items: &[(bool, String)]| {
            let items = items.iter().enumerate().map(|(index, (checked, text))| {
                format!("- [{}] #{} {text}\n", if *checked { 'x' } else { ' ' }, index + 1)
            });
            let items: String = items.collect();
            format!("## {title}\n<!-- {marker}:BEGIN -->\n{items}<!-- {marker}:END -->")
        };
        let description = self.full_description();
        if !description.is_empty() {
            parts.push(section("Description", "DESCRIPTION", &description));
        }
        if !self.criteria.is_empty() {
            parts.push(checklist("Acceptance Criteria", "AC", &self.criteria));
        }
        if !self.done.is_empty() {
            parts.push(checklist("Definition of Done", "DOD", &self.done));
        }
        let texts = [
            ("Implementation Plan", "PLAN", &self.plan),
            ("Implementation Notes", "NOTES", &self.notes),
        ];
        for (title, marker, text) in texts {
            if !text.is_empty() {
                parts.push(section(title, marker, text));
            }
        }
        if !self.comments.is_empty() {
            let comments: Vec<String> = self.comments.iter().map(comment).collect();
            let comments = comments.join("\n\n");
            parts.push(format!(
                "## Comments\n\n<!-- COMMENTS:BEGIN -->\n{comments}\n<!-- COMMENTS:END -->"
            ));
        }
        if !self.final_summary.is_empty() {
            parts.push(section("Final Summary", "FINAL_SUMMARY", &self.final_summary));
        }
        writeln!(formatter, "{}", parts.join("\n\n"))
    }
}

fn comment(comment: &Comment) -> String {
    let author = comment.author.iter().map(|author| format!("author: {author}\n"));
    let created = comment.created.iter().map(|created| format!("created: {created}\n"));
    let head: String = author.chain(created).collect();
    format!("{head}---\n{}\n---", comment.body)
}

/// Reads what [`comment`] and the board's program write.
pub(super) fn read_comments(text: &str) -> Vec<Comment> {
    let Some((_, rest)) = text.split_once("<!-- COMMENTS:BEGIN -->\n") else { return Vec::new() };
    let block = rest.split("<!-- COMMENTS:END -->").next().unwrap_or_default();
    let mut comments = Vec::new();
    let mut lines = block.lines();
    let mut open = Comment { author: None, created: None, body: String::new() };
    while let Some(line) = lines.next() {
        if let Some(author) = line.strip_prefix("author: ") {
            open.author = Some(author.to_owned());
        } else if let Some(created) = line.strip_prefix("created: ") {
            open.created = Some(created.to_owned());
        } else if line == "---" {
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "---").collect();
            open.body = body.join("\n");
            comments.push(std::mem::replace(
                &mut open,
                Comment { author: None, created: None, body: String::new() },
            ));
        }
    }
    comments
}

fn list(lines: &mut Vec<String>, key: &str, items: &[String]) {
    if items.is_empty() {
        lines.push(format!("{key}: []"));
        return;
    }
    lines.push(format!("{key}:"));
    lines.extend(items.iter().map(|item| format!("  - {}", scalar(item))));
}

/// A YAML scalar as the board's program writes it: plain where that is safe, else in single quotes.
fn scalar(text: &str) -> String {
    let plain = text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || " _./-".contains(letter))
        && !text.ends_with(' ')
        && !["null", "true", "false", "yes", "no", "on", "off", "y", "n"]
            .contains(&text.to_lowercase().as_str());
    if plain { text.to_owned() } else { format!("'{}'", text.replace('\'', "''")) }
}
