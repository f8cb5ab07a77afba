//! Where a drawing may be written: at what a person named, and never where a link leads or what is not ours lies.

use std::fs;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_board::BoardLocation;
use dispatch_core::path::normal;
use thiserror::Error;

/// The folder of the board that holds documents.
const DOCUMENTS: &str = "docs";

/// Why nothing is written at a place.
#[derive(Debug, Error)]
pub(super) enum PlaceError {
    /// A link stands there.
    #[error("`{path}` is a symbolic link, which is never written through: name the file itself")]
    Link { path: Utf8PathBuf },
    /// A folder on the way is a link out of the repository.
    #[error("`{path}` leads out of the repository, to `{to}`")]
    LeadsOut { path: Utf8PathBuf, to: Utf8PathBuf },
    /// Documents of other projects are none of the board's.
    #[error(
        "`{path}` lies outside the repository `{repository}`, whose documents alone are written"
    )]
    Outside { path: Utf8PathBuf, repository: Utf8PathBuf },
    /// Git's own files.
    #[error("`{path}` lies in a folder of git's own, where nothing is written")]
    OfGit { path: Utf8PathBuf },
    /// Tasks, configuration and whatever else the board is made of.
    #[error("`{path}` is a part of the board itself, of which only `{documents}` is written to")]
    OfBoard { path: Utf8PathBuf, documents: Utf8PathBuf },
    /// A new document that the board would not know of.
    #[error(
        "there is no `{path}`; a new document is made below `{documents}` alone, as a Markdown file"
    )]
    NewElsewhere { path: Utf8PathBuf, documents: Utf8PathBuf },
    /// The folder cannot be looked at.
    #[error("could not look at `{path}`")]
    Look {
        path: Utf8PathBuf,
        #[source]
        source: io::Error,
    },
}

/// What may be written at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// A document, which lies in the repository.
    Document,
    /// A picture, which may lie wherever a person wants it.
    Picture,
}

/// The folders that bound where is written.
#[derive(Debug)]
pub(super) struct Bounds {
    repository: Utf8PathBuf,
    board_dir: Utf8PathBuf,
}

impl Bounds {
    pub(super) fn of(place: &BoardLocation) -> Self {
        Self { repository: super::code_root(place).to_owned(), board_dir: place.dir.clone() }
    }

    /// The folder that holds the board's documents.
    pub(super) fn documents(&self) -> Utf8PathBuf {
        self.board_dir.join(DOCUMENTS)
    }

    /// The place to write at, when something may be written there.
    pub(super) fn check(&self, path: &Utf8Path, what: What) -> Result<Utf8PathBuf, PlaceError> {
        let path = normal(path);
        if fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) {
            return Err(PlaceError::Link { path });
        }
        let real = real(&path)?;
        if of_git(&real) {
            return Err(PlaceError::OfGit { path });
        }
        let board_dir = real_folder(&self.board_dir);
        let within = |path: &Utf8Path, repository: &Utf8Path, board_dir: &Utf8Path| {
            path.starts_with(repository) || path.starts_with(board_dir)
        };
        let named = within(&path, &self.repository, &self.board_dir);
        let stays = within(&real, &real_folder(&self.repository), &board_dir);
        match (named, stays, what) {
            (true, false, What::Document | What::Picture) => {
                return Err(PlaceError::LeadsOut { path, to: real });
            }
            (false, false, What::Document) => {
                return Err(PlaceError::Outside { path, repository: self.repository.clone() });
            }
            (false, false, What::Picture) | (_, true, What::Document | What::Picture) => {}
        }
        if real.strip_prefix(&board_dir).is_ok_and(|rest| !rest.starts_with(DOCUMENTS)) {
            return Err(PlaceError::OfBoard { path, documents: self.documents() });
        }
        Ok(path)
    }

    /// Checks that the board program would find a new document.
    pub(super) fn check_new(&self, path: &Utf8Path) -> Result<(), PlaceError> {
        let documents = self.documents();
        if path.starts_with(&documents) && path.extension() == Some("md") {
            return Ok(());
        }
        Err(PlaceError::NewElsewhere { path: path.to_owned(), documents })
    }
}

/// Where a path lies when every link on the way is followed; what is not there yet keeps its name.
fn real(path: &Utf8Path) -> Result<Utf8PathBuf, PlaceError> {
    for folder in path.ancestors().skip(1) {
        match folder.canonicalize_utf8() {
            Ok(real) => return Ok(real.join(path.strip_prefix(folder).unwrap_or(path))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(PlaceError::Look { path: folder.to_owned(), source }),
        }
    }
    Ok(path.to_owned())
}

fn real_folder(folder: &Utf8Path) -> Utf8PathBuf {
    folder.canonicalize_utf8().unwrap_or_else(|_| folder.to_owned())
}

/// Whether a folder above is git's: by its name, or by what every git directory holds.
fn of_git(path: &Utf8Path) -> bool {
    path.ancestors().any(|folder| {
        folder.file_name().is_some_and(|name| name.eq_ignore_ascii_case(".git"))
            || (folder.join("HEAD").exists()
                && folder.join("objects").is_dir()
                && folder.join("refs").is_dir())
    })
}
