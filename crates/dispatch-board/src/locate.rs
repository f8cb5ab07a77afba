//! Where the board lies (S3).

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_core::board_config::BoardConfig;
use dispatch_core::path::normal;
use thiserror::Error;

use crate::read::read_text;

/// The configuration file of a board that lies in the project root.
const ROOT_CONFIG: &str = "backlog.config.yml";

/// The folders a board is looked for in, in order.
const FOLDERS: [&str; 2] = ["backlog", ".backlog"];

/// A board that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoardLocation {
    /// The board root: the folder the board program is run in.
    pub root: Utf8PathBuf,
    /// The board directory.
    pub dir: Utf8PathBuf,
    /// Its configuration file.
    pub config_file: Utf8PathBuf,
    /// Its configuration, as read when it was found.
    pub config: BoardConfig,
}

/// Why no board was found.
#[derive(Debug, Error)]
pub enum LocateError {
    /// `BACKLOG_CWD` names no folder.
    #[error("`BACKLOG_CWD` is `{path}`, which is no folder")]
    NoSuchFolder {
        /// The folder, made absolute.
        path: Utf8PathBuf,
    },
    /// Neither the folder nor one above it holds a board.
    #[error(
        "neither `{start}` nor a folder above it holds a Backlog.md board; `backlog init` makes one"
    )]
    NoBoard {
        /// Where the search began.
        start: Utf8PathBuf,
    },
    /// The configuration cannot be read.
    #[error("cannot read the board configuration `{path}`")]
    Config {
        /// The file.
        path: Utf8PathBuf,
        /// The error it failed with.
        #[source]
        source: io::Error,
    },
}

/// Finds the board the way the board program finds it.
///
/// The search begins in `backlog_cwd` when that is set and not empty, else in `current_dir`; from a linked worktree it
/// begins at the same place of the main checkout, since a worktree has a copy of the board of its own.
pub fn locate(
    current_dir: &Utf8Path,
    backlog_cwd: Option<&str>,
) -> Result<BoardLocation, LocateError> {
    let given = backlog_cwd.map(str::trim).filter(|text| !text.is_empty());
    let start = match given {
        Some(text) => {
            let path = normal(&current_dir.join(text));
            if !path.is_dir() {
                return Err(LocateError::NoSuchFolder { path });
            }
            // One board has one name, whatever links lead to it: its state is bound to that name.
            path.canonicalize_utf8().unwrap_or(path)
        }
        None => main_checkout_place(current_dir),
    };
    for folder in start.ancestors() {
        if let Some((dir, config_file)) = board_in(folder) {
            let text = read_text(&config_file)
                .map_err(|source| LocateError::Config { path: config_file.clone(), source })?;
            let config = BoardConfig::parse(&text);
            return Ok(BoardLocation { root: folder.to_owned(), dir, config_file, config });
        }
    }
    Err(LocateError::NoBoard { start })
}

/// The board directory and configuration file of a project root.
fn board_in(root: &Utf8Path) -> Option<(Utf8PathBuf, Utf8PathBuf)> {
    let root_config = root.join(ROOT_CONFIG);
    if let Ok(text) = read_text(&root_config)
        && names_a_project(&text)
    {
        let named = BoardConfig::parse(&text).backlog_directory.as_deref().and_then(inside);
        let dir = named.map(|dir| root.join(dir)).or_else(|| {
            FOLDERS
                .iter()
                .map(|folder| root.join(folder))
                .find(|dir| folder_config(dir).is_some())
                .or_else(|| FOLDERS.iter().map(|folder| root.join(folder)).find(|dir| dir.is_dir()))
        })?;
        return Some((dir, root_config));
    }
    FOLDERS.iter().map(|folder| root.join(folder)).find_map(|dir| {
        let config = folder_config(&dir)?;
        Some((dir, config))
    })
}

fn folder_config(dir: &Utf8Path) -> Option<Utf8PathBuf> {
    ["config.yml", "config.yaml"].iter().map(|name| dir.join(name)).find(|path| path.is_file())
}

fn names_a_project(text: &str) -> bool {
    text.lines().map(str::trim).filter(|line| !line.starts_with('#')).any(|line| {
        line.split_once(':').is_some_and(|(key, value)| {
            matches!(key.trim(), "project_name" | "projectName")
                && !value.trim().trim_matches(['\'', '"']).is_empty()
        })
    })
}

/// A configured folder when it stays inside the project root.
fn inside(text: &str) -> Option<Utf8PathBuf> {
    let path = normal(Utf8Path::new(text.trim()));
    let escapes = path.is_absolute() || path.starts_with("..") || text.contains('\\');
    (!escapes && !path.as_str().is_empty()).then_some(path)
}

/// The place in the main checkout that corresponds to `dir`, which may lie in a linked worktree.
fn main_checkout_place(dir: &Utf8Path) -> Utf8PathBuf {
    mapped(dir).unwrap_or_else(|| dir.to_owned())
}

fn mapped(dir: &Utf8Path) -> Option<Utf8PathBuf> {
    let top = dir.ancestors().find(|folder| folder.join(".git").symlink_metadata().is_ok())?;
    let pointer = read_text(&top.join(".git")).ok()?;
    let git_dir = normal(&top.join(pointer.strip_prefix("gitdir:")?.trim()));
    let common = read_text(&git_dir.join("commondir")).ok()?;
    let common = normal(&git_dir.join(common.trim()));
    if common.file_name() != Some(".git") {
        return None;
    }
    let main = common.parent()?;
    let wanted = main.join(dir.strip_prefix(top).ok()?);
    wanted.ancestors().find(|folder| folder.is_dir()).map(Utf8Path::to_owned)
}
