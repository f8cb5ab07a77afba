//! Reading and replacing small files.

use std::error::Error as StdError;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};

use camino::Utf8Path;
use dispatch_core::names::PauseCause;
use dispatch_engine::ports::PortError;
use dispatch_proc::{Links, open_regular, read_regular};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// No file of ours that is read whole comes near this size.
const MOST_BYTES: u64 = 64 << 20;
const NO_SPACE_HINT: &str = "free some space on this file system";

/// The error of an operation on a file; a full disk is known as a fault of the machine.
pub(crate) fn failed(doing: impl Into<String>, source: io::Error) -> PortError {
    let full = matches!(source.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded);
    let error = PortError::new(doing, source);
    if full { error.pausing(PauseCause::DiskFull).hint(NO_SPACE_HINT) } else { error }
}

/// Makes a directory that only its owner may enter, and its missing parents.
pub(crate) fn make_private_dir(dir: &Utf8Path) -> Result<(), PortError> {
    dispatch_proc::make_private_dir(dir)
        .map_err(|source| failed(format!("make the private directory `{dir}`"), source))
}

/// Reads a file; `None` when there is none.
pub(crate) fn read(path: &Utf8Path) -> Result<Option<Vec<u8>>, PortError> {
    match read_regular(path, Links::Refused, MOST_BYTES) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(format!("read `{path}`"), error)),
    }
}

/// Reads the last bytes of a file, at most so many, however long it is or grows meanwhile; `None` when there is none.
pub(crate) fn read_end(path: &Utf8Path, most_bytes: u64) -> Result<Option<Vec<u8>>, PortError> {
    let end = || -> io::Result<Vec<u8>> {
        let mut file = open_regular(path, Links::Refused, File::options().read(true))?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(most_bytes)))?;
        let mut bytes = Vec::new();
        file.take(most_bytes).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    match end() {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(format!("read the end of `{path}`"), error)),
    }
}

/// Reads a JSON file; `None` when there is none.
pub(crate) fn read_json<T: DeserializeOwned>(path: &Utf8Path) -> Result<Option<T>, PortError> {
    read(path)?.map(|bytes| parse_json(path, &bytes)).transpose()
}

/// Parses the content of a JSON file; the error names the file and, through its cause, line and column.
pub(crate) fn parse_json<T: DeserializeOwned>(
    path: &Utf8Path,
    bytes: &[u8],
) -> Result<T, PortError> {
    serde_json::from_slice(bytes).map_err(|source| {
        PortError::new(format!("understand `{path}`"), source).hint(format!(
            "look at `{path}`; it is rewritten whole, so a half-written one points to the disk"
        ))
    })
}

/// Replaces a file whole and durably, or leaves it as it was.
pub(crate) fn replace(path: &Utf8Path, content: &[u8]) -> Result<(), PortError> {
    replace_bytes(path, content).map_err(|source| failed(format!("write `{path}`"), source))
}

/// Replaces a JSON file whole and durably.
pub(crate) fn replace_json(path: &Utf8Path, value: &impl Serialize) -> Result<(), PortError> {
    let mut content = serde_json::to_vec_pretty(value).map_err(|source| {
        PortError::new(format!("put the content of `{path}` into JSON"), source)
    })?;
    content.push(b'\n');
    replace(path, &content)
}

fn replace_bytes(path: &Utf8Path, content: &[u8]) -> io::Result<()> {
    let dir = path.parent().ok_or_else(|| io::Error::from(ErrorKind::InvalidInput))?;
    // The leading dot keeps a file that a crash left behind out of every listing of ours.
    let mut temporary = tempfile::Builder::new().prefix(".new-").tempfile_in(dir)?;
    temporary.write_all(content)?;
    temporary.as_file().sync_all()?;
    temporary.persist(path).map_err(|error| error.error)?;
    File::open(dir)?.sync_all()
}

/// Removes a file; one that is gone already is fine.
pub(crate) fn remove(path: &Utf8Path) -> Result<(), PortError> {
    match fs::remove_file(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(failed(format!("remove `{path}`"), error)),
    }
}

/// The names in a directory, sorted; none when there is no such directory. Names that are not text are none of ours.
pub(crate) fn names_in(dir: &Utf8Path) -> Result<Vec<String>, PortError> {
    let doing = || format!("list `{dir}`");
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(doing(), error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|source| failed(doing(), source))?;
        if let Ok(name) = entry.file_name().into_string() {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// An error for something that is not as it has to be.
pub(crate) fn refused(
    doing: impl Into<String>,
    why: impl Into<Box<dyn StdError + Send + Sync>>,
) -> PortError {
    PortError::new(doing, why)
}
