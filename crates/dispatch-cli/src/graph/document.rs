//! The documents the graph is written to.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};
use dispatch_graph::section::{self, Change, SectionError};
use thiserror::Error;
use time::OffsetDateTime;
use time::macros::format_description;

/// Why a document is left alone.
#[derive(Debug, Error)]
pub(super) enum DocumentError {
    /// It cannot be read.
    #[error("could not read `{path}`")]
    Read {
        path: Utf8PathBuf,
        #[source]
        source: io::Error,
    },
    /// Its markers are no pair.
    #[error("left `{path}` alone")]
    Markers {
        path: Utf8PathBuf,
        #[source]
        source: SectionError,
    },
}

/// A file that would change.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) path: Utf8PathBuf,
    bytes: Vec<u8>,
}

/// Where the graph of a board goes when nothing is said.
pub(super) fn default_path(board_dir: &Utf8Path) -> Utf8PathBuf {
    board_dir.join("docs/dependency-graph.md")
}

/// The document with the part in it; nothing when it is there already.
pub(super) fn with_part(
    path: &Utf8Path,
    board_dir: &Utf8Path,
    part: &str,
) -> Result<Option<Plan>, DocumentError> {
    let Some(old) = read(path)? else {
        let created = OffsetDateTime::now_utc()
            .format(format_description!("[year]-[month]-[day] [hour]:[minute]"))
            .unwrap_or_default();
        let id = format!("doc-{}", next_number(&board_dir.join("docs")));
        let text = section::new_document(&id, &created, part);
        return Ok(Some(Plan { path: path.to_owned(), bytes: text.into_bytes() }));
    };
    match section::put(&old, part) {
        Ok(Change::None) => Ok(None),
        Ok(Change::To(bytes)) => Ok(Some(Plan { path: path.to_owned(), bytes })),
        Err(source) => Err(DocumentError::Markers { path: path.to_owned(), source }),
    }
}

/// A file that is ours as a whole.
pub(super) fn whole(path: &Utf8Path, text: String) -> Result<Option<Plan>, DocumentError> {
    let bytes = text.into_bytes();
    let same = read(path)?.is_some_and(|old| old == bytes);
    Ok((!same).then(|| Plan { path: path.to_owned(), bytes }))
}

fn read(path: &Utf8Path) -> Result<Option<Vec<u8>>, DocumentError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(DocumentError::Read { path: path.to_owned(), source }),
    }
}

/// A number no document of the board has.
fn next_number(docs: &Utf8Path) -> u64 {
    fn highest(folder: &Utf8Path, depth: usize) -> u64 {
        let Ok(entries) = folder.read_dir_utf8() else { return 0 };
        let of_entry = |entry: camino::Utf8DirEntry| {
            if depth > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                return highest(entry.path(), depth - 1);
            }
            let text = match entry.path().extension() {
                Some("md") => fs::read(entry.path()).unwrap_or_default(),
                _ => return 0,
            };
            let text = String::from_utf8_lossy(&text);
            let ids = text.lines().take(20).filter_map(|line| line.strip_prefix("id:"));
            let numbers = ids.filter_map(|id| {
                let id = id.trim().trim_matches(['"', '\'']).to_ascii_lowercase();
                id.strip_prefix("doc-")?.parse().ok()
            });
            numbers.max().unwrap_or(0)
        };
        entries.flatten().map(of_entry).max().unwrap_or(0)
    }
    highest(docs, 8).saturating_add(1)
}

impl Plan {
    /// Writes the file so that a reader sees the old one or the new one. A link stays one.
    pub(super) fn write(&self) -> anyhow::Result<()> {
        let path = self.path.canonicalize_utf8().unwrap_or_else(|_| self.path.clone());
        let folder = path
            .parent()
            .filter(|folder| !folder.as_str().is_empty())
            .unwrap_or(Utf8Path::new("."));
        fs::create_dir_all(folder).with_context(|| format!("could not make `{folder}`"))?;
        let failed = || format!("could not write `{path}`");
        let mode = fs::metadata(&path).ok().map(|old| old.permissions().mode() & 0o777);
        let mut file = tempfile::Builder::new()
            .prefix(".backlog-graph-")
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(folder)
            .with_context(failed)?;
        file.write_all(&self.bytes).with_context(failed)?;
        if let Some(mode) = mode {
            file.as_file().set_permissions(Permissions::from_mode(mode)).with_context(failed)?;
        }
        file.as_file().sync_all().with_context(failed)?;
        file.persist(&path).with_context(failed)?;
        Ok(())
    }
}
