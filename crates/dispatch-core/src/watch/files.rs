//! Which files of a board directory matter to a watcher.

use camino::Utf8Path;

/// The folders of a board directory that hold what a watcher wants to know; the empty one is the directory itself.
pub const WATCHED_FOLDERS: [&str; 5] = ["", "tasks", "completed", "archive", "archive/tasks"];

/// Whether a change of the file at `path`, relative to the board directory, may change what the board says.
///
/// Logs of attempts, locks, documents (the graph is one) and files that are still being written beside their place are
/// none of the board's tasks.
pub fn matters(path: &Utf8Path) -> bool {
    if WATCHED_FOLDERS.iter().any(|folder| path == *folder) {
        return true;
    }
    let folder = path.parent().unwrap_or(Utf8Path::new(""));
    let Some(name) = path.file_name() else { return false };
    match folder.as_str() {
        "" => matches!(name, "config.yml" | "config.yaml"),
        "tasks" | "completed" | "archive/tasks" => {
            !name.starts_with('.') && path.extension() == Some("md")
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("tasks/t-1 - a.md", true)]
    #[test_case("completed/t-1 - a.md", true)]
    #[test_case("archive/tasks/t-1 - a.md", true)]
    #[test_case("config.yml", true)]
    #[test_case("tasks", true; "the folder itself may be replaced")]
    #[test_case("", true; "and the whole board")]
    #[test_case(".dispatch/T-1/attempt-1/stream.jsonl", false; "logs of attempts")]
    #[test_case(".locks/t-1.lock", false; "locks")]
    #[test_case("docs/dependency-graph.md", false; "the graph is our own document")]
    #[test_case("tasks/.t-1.md.tmp", false; "half written")]
    #[test_case("tasks/t-1.md.swp", false)]
    #[test_case("drafts/d-1 - a.md", false; "drafts are not tasks")]
    fn r2_1_only_files_of_the_board_matter(path: &str, expected: bool) {
        assert_eq!(matters(Utf8Path::new(path)), expected);
    }
}
