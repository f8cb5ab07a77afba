//! Boards on disk for the tests.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_testkit::programs;
use tempfile::TempDir;

/// A folder with a board made of recorded files.
pub(crate) struct Recorded {
    _guard: TempDir,
    pub(crate) root: Utf8PathBuf,
    /// The cases: name, id as written, and the path of the file.
    pub(crate) cases: Vec<(String, String, Utf8PathBuf)>,
}

pub(crate) fn fixtures() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/backlog")
}

pub(crate) fn scratch() -> (TempDir, Utf8PathBuf) {
    let guard = TempDir::new().unwrap();
    let root = Utf8PathBuf::from_path_buf(guard.path().canonicalize().unwrap()).unwrap();
    (guard, root)
}

/// The recorded board of a version: one task file a case, those the version wrote itself on a board of their own.
pub(crate) fn recorded(version: &str, native: bool) -> Recorded {
    let (guard, root) = scratch();
    let dir = root.join("backlog");
    for folder in ["tasks", "completed", "archive/tasks", "drafts"] {
        fs::create_dir_all(dir.join(folder)).unwrap();
    }
    let config = fs::read_to_string(fixtures().join(version).join("_board/config.yml")).unwrap();
    fs::write(dir.join("config.yml"), config).unwrap();
    let mut cases = Vec::new();
    let mut names: Vec<_> =
        fixtures().join(version).read_dir_utf8().unwrap().map(|e| e.unwrap().into_path()).collect();
    names.sort();
    for case in names {
        let Ok(expected) = fs::read(case.join("expected.json")) else { continue };
        let expected: serde_json::Value = serde_json::from_slice(&expected).unwrap();
        let name = case.file_name().unwrap();
        if name.starts_with("native-") != native {
            continue;
        }
        let place = expected["file"].as_str().unwrap().split_once('/').unwrap().1;
        let path = dir.join(place);
        fs::copy(case.join("task.md"), &path).unwrap();
        if expected["folder"] == "tasks" {
            let id = expected["facts"]["id"].as_str().unwrap().to_owned();
            cases.push((name.to_owned(), id, path));
        }
    }
    Recorded { _guard: guard, root, cases }
}

/// Runs the board program on a board; its output goes to a file.
pub(crate) fn backlog(program: &Utf8Path, root: &Utf8Path, args: &[&str]) -> (bool, String) {
    let mut command = programs::command(program, root);
    command.args(args).current_dir(root).env("BACKLOG_CWD", root);
    let output = command.output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr).into_owned()
        + &String::from_utf8_lossy(&output.stdout);
    (output.status.success(), words)
}
