//! The documents the graph is written to.

use std::fs::{self, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};
use dispatch_graph::section::{self, Change, SectionError};
use dispatch_graph::svg;
use dispatch_proc::{Links, open_regular, read_regular};
use thiserror::Error;
use time::OffsetDateTime;
use time::macros::format_description;

use super::place::{Bounds, PlaceError, What};

/// The largest document or picture that is looked at.
const MAX_BYTES: u64 = 64 << 20;

/// How much of a document is read for its id.
const HEAD_BYTES: u64 = 4 << 10;

/// Why a document is left alone.
#[derive(Debug, Error)]
pub(super) enum DocumentError {
    /// Nothing is written there.
    #[error(transparent)]
    Place(#[from] PlaceError),
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
    /// It holds something else than a picture of ours.
    #[error(
        "left `{path}` alone: it is no picture that `backlog-graph` drew; `--force` replaces it"
    )]
    NotOurPicture { path: Utf8PathBuf },
}

/// What happens to a file that is no picture of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Others {
    /// It is left alone.
    Kept,
    /// It is replaced, as a person wants it.
    Replaced,
}

/// A file that would change.
#[derive(Debug)]
pub(super) struct Plan {
    path: Utf8PathBuf,
    bytes: Vec<u8>,
    is_new: bool,
}

/// The document with the part in it, the board's own one when none is named; nothing when the part is there already.
pub(super) fn with_part(
    named: Option<&Utf8Path>,
    bounds: &Bounds,
    part: &str,
) -> Result<Option<Plan>, DocumentError> {
    let named =
        named.map_or_else(|| bounds.documents().join("dependency-graph.md"), Utf8Path::to_owned);
    let path = bounds.check(&named, What::Document)?;
    let Some(old) = read(&path)? else {
        bounds.check_new(&path)?;
        let created = OffsetDateTime::now_utc()
            .format(format_description!("[year]-[month]-[day] [hour]:[minute]"))
            .unwrap_or_default();
        let id = format!("doc-{}", next_number(&bounds.documents()));
        let text = section::new_document(&id, &created, part);
        return Ok(Some(Plan { path, bytes: text.into_bytes(), is_new: true }));
    };
    match section::put(&old, part) {
        Ok(Change::None) => Ok(None),
        Ok(Change::To(bytes)) => Ok(Some(Plan { path, bytes, is_new: false })),
        Err(source) => Err(DocumentError::Markers { path, source }),
    }
}

/// The picture as a file of its own; nothing when it is there already.
pub(super) fn picture(
    named: &Utf8Path,
    bounds: &Bounds,
    drawn: String,
    others: Others,
) -> Result<Option<Plan>, DocumentError> {
    let path = bounds.check(named, What::Picture)?;
    let bytes = drawn.into_bytes();
    match read(&path)? {
        Some(old) if old == bytes => Ok(None),
        Some(old) if others == Others::Kept && !svg::is_ours(&old) => {
            Err(DocumentError::NotOurPicture { path })
        }
        old => Ok(Some(Plan { path, bytes, is_new: old.is_none() })),
    }
}

fn read(path: &Utf8Path) -> Result<Option<Vec<u8>>, DocumentError> {
    match read_regular(path, Links::Refused, MAX_BYTES) {
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
            if entry.path().extension() != Some("md") {
                return 0;
            }
            let text = head(entry.path()).unwrap_or_default();
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

/// The beginning of a document. A pipe or a device in its place is nothing the board program could have numbered.
fn head(path: &Utf8Path) -> io::Result<Vec<u8>> {
    let file = open_regular(path, Links::Followed, File::options().read(true))?;
    let mut bytes = Vec::new();
    file.take(HEAD_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

impl Plan {
    /// What `--check` says of it.
    pub(super) fn due(&self) -> String {
        if self.is_new {
            format!("`{}` is not there yet; without `--check` it is made", self.path)
        } else {
            format!("`{}` is out of date; without `--check` it is brought up to date", self.path)
        }
    }

    /// Writes the file so that a reader sees the old one or the new one. A link that came there meanwhile is replaced,
    /// not followed.
    pub(super) fn write(&self) -> anyhow::Result<()> {
        let path = &self.path;
        let folder = path
            .parent()
            .filter(|folder| !folder.as_str().is_empty())
            .unwrap_or(Utf8Path::new("."));
        fs::create_dir_all(folder).with_context(|| format!("could not make `{folder}`"))?;
        let failed = || format!("could not write `{path}`");
        let old = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file);
        let mode = old.map(|old| old.permissions().mode() & 0o777);
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
        file.persist(path).map_err(|error| error.error).with_context(failed)?;
        Ok(())
    }
}
