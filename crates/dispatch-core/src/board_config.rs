//! The board's own configuration file, as the board program reads it: line by line, lists as YAML.

use crate::js_text;
use crate::yaml::{self, Value};

/// What the dispatcher needs of the board's configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoardConfig {
    /// The statuses in their order, in the board's spelling.
    pub statuses: Vec<String>,
    /// The status new tasks get.
    pub default_status: Option<String>,
    /// The priorities, highest first.
    pub priorities: Priorities,
    /// The prefix of task ids, as written; file names have it in lower case.
    pub task_prefix: String,
    /// What new tasks get as their definition of done.
    pub definition_of_done: Vec<String>,
    /// The shell command the board program runs after a status change.
    pub on_status_change: Option<String>,
    /// Where the board lies, when the configuration lies in the project root.
    pub backlog_directory: Option<String>,
    /// Whether the board program commits its own edits.
    pub auto_commit: bool,
    /// Whether the board program looks at other branches.
    pub check_active_branches: bool,
    /// Whether the board program fetches.
    pub remote_operations: bool,
}

/// The priorities of a board, highest first (B1.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Priorities(Vec<String>);

impl Default for Priorities {
    fn default() -> Self {
        Self(["high", "medium", "low"].map(str::to_owned).to_vec())
    }
}

impl Priorities {
    /// The priorities of this list; the usual three when it names none.
    pub fn new(names: &[String]) -> Self {
        let mut known: Vec<String> = Vec::new();
        for name in names.iter().filter_map(|name| normal_name(name)) {
            if !known.contains(&name) {
                known.push(name);
            }
        }
        if known.is_empty() { Self::default() } else { Self(known) }
    }

    /// The rank of a priority: the list's length for its first entry, 1 for the last, 0 for what it does not name.
    pub fn rank(&self, name: &str) -> u32 {
        let Some(name) = normal_name(name) else { return 0 };
        let place = self.0.iter().position(|known| *known == name);
        place.map_or(0, |at| u32::try_from(self.0.len() - at).unwrap_or(u32::MAX))
    }
}

/// A priority in lower case with single blanks.
pub(crate) fn normal_name(text: &str) -> Option<String> {
    let words: Vec<String> = text
        .split(js_text::is_space)
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    (!words.is_empty()).then(|| words.join(" "))
}

impl Default for BoardConfig {
    fn default() -> Self {
        Self::parse("")
    }
}

impl BoardConfig {
    /// Reads the configuration; what it does not say has the board program's own default.
    pub fn parse(text: &str) -> Self {
        let list = |key: &str| list_value(text, key);
        let mut config = Self {
            statuses: list("statuses")
                .filter(|names| !names.is_empty())
                .unwrap_or_else(|| ["To Do", "In Progress", "Done"].map(str::to_owned).to_vec()),
            default_status: None,
            priorities: Priorities::new(&list("priorities").unwrap_or_default()),
            task_prefix: "task".to_owned(),
            definition_of_done: list("definition_of_done").unwrap_or_default(),
            on_status_change: None,
            backlog_directory: None,
            auto_commit: false,
            check_active_branches: true,
            remote_operations: true,
        };
        for line in text.split('\n').map(js_text::trim) {
            let Some((key, value)) = line.split_once(':') else { continue };
            if line.starts_with('#') {
                continue;
            }
            let value = js_text::trim(value);
            let unquoted = || value.replace(['\'', '"'], "");
            let is_true = || value.eq_ignore_ascii_case("true");
            match js_text::trim(key) {
                "default_status" => {
                    config.default_status = Some(unquoted()).filter(|v| !v.is_empty());
                }
                "task_prefix" => config.task_prefix = unquoted(),
                "backlog_directory" | "backlogDirectory" => {
                    config.backlog_directory = Some(unquoted()).filter(|v| !v.is_empty());
                }
                "onStatusChange" | "on_status_change" => {
                    let value = value.strip_prefix(['\'', '"']).unwrap_or(value);
                    let value = value.strip_suffix(['\'', '"']).unwrap_or(value);
                    config.on_status_change = Some(value.to_owned()).filter(|v| !v.is_empty());
                }
                "auto_commit" => config.auto_commit = is_true(),
                "check_active_branches" => config.check_active_branches = is_true(),
                "remote_operations" => config.remote_operations = is_true(),
                _ => {}
            }
        }
        if config.task_prefix.is_empty() {
            "task".clone_into(&mut config.task_prefix);
        }
        config
    }
}

/// The texts of a top-level list.
fn list_value(text: &str, key: &str) -> Option<Vec<String>> {
    let mut block = String::new();
    let mut inside = false;
    for line in text.lines() {
        let top = !line.starts_with([' ', '\t', '#', '-']) && line.contains(':');
        if top {
            inside = line.split_once(':').is_some_and(|(name, _)| name.trim() == key);
            if inside {
                // Of a key that is given twice the last one counts.
                block.clear();
            }
        }
        if inside {
            block.push_str(line);
            block.push('\n');
        }
    }
    if block.is_empty() {
        return None;
    }
    let Value::Map(mut entries) = yaml::parse(&block).ok()?.value else { return None };
    let Value::List(items) = entries.pop()?.1.value else { return None };
    let texts = items.into_iter().filter_map(|item| match item.value {
        Value::Scalar(scalar) => Some(js_text::trim(&scalar.as_text().0).to_owned()),
        Value::List(_) | Value::Map(_) => None,
    });
    Some(texts.filter(|text| !text.is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b1_2_priorities_rank_by_the_order_of_the_list() {
        let usual = Priorities::default();
        assert_eq!(
            ["High", "medium", "low", "none", ""].map(|name| usual.rank(name)),
            [3, 2, 1, 0, 0]
        );
        let own = Priorities::new(&["Urgent".into(), "very  Soon".into(), "urgent".into()]);
        assert_eq!(["urgent", "Very soon", "high"].map(|name| own.rank(name)), [2, 1, 0]);
    }

    #[test]
    fn the_configuration_is_read_as_the_board_program_reads_it() {
        let config = BoardConfig::parse(concat!(
            "project_name: \"x: y\"\n",
            "# statuses: [\"No\"]\n",
            "statuses: [\"To Do\", \"Queued\", 'Done']\n",
            "priorities:\n  - Now\n  - Later\n",
            "definition_of_done: [\"Tests pass\", \"Docs: updated\"]\n",
            "task_prefix: \"T\"\r\n",
            "onStatusChange: 'notify \"$TASK_ID\"'\n",
            "check_active_branches: false\n",
        ));
        assert_eq!(config.statuses, ["To Do", "Queued", "Done"]);
        assert_eq!(config.priorities.rank("now"), 2);
        assert_eq!(config.definition_of_done, ["Tests pass", "Docs: updated"]);
        assert_eq!(config.task_prefix, "T");
        assert_eq!(config.on_status_change.as_deref(), Some("notify \"$TASK_ID\""));
        assert!(!config.check_active_branches && config.remote_operations);
        assert_eq!(BoardConfig::default().statuses, ["To Do", "In Progress", "Done"]);
    }
}
