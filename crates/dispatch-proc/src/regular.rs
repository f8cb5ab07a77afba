//! Opening files in places where a program that ran there may have put something else: a pipe that nobody serves
//! would be waited for without end, and a link would lead to a file of a person.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;

use camino::Utf8Path;
use rustix::fs::OFlags;
use rustix::io::Errno;

/// Whether the last part of a path may be a symbolic link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// It is followed.
    Followed,
    /// It is refused.
    Refused,
}

/// Opens a regular file as `how` says, and never waits for the other end of a pipe.
///
/// # Errors
///
/// As opening a file fails; anything else than a regular file is refused in words of its own.
pub fn open_regular(path: &Utf8Path, links: Links, how: &mut OpenOptions) -> io::Result<File> {
    let flags = match links {
        Links::Followed => OFlags::NONBLOCK | OFlags::NOCTTY,
        Links::Refused => OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW,
    };
    let file =
        how.custom_flags(flags.bits().cast_signed()).open(path).map_err(|error| {
            match error.raw_os_error().map(Errno::from_raw_os_error) {
                Some(Errno::LOOP) => refused("it is a symbolic link"),
                Some(Errno::NXIO | Errno::ISDIR) => refused("it is not a regular file"),
                Some(_) | None => error,
            }
        })?;
    let found = file.metadata()?;
    match (found.is_file(), found.is_dir()) {
        (true, _) => Ok(file),
        (false, true) => Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder")),
        (false, false) => Err(refused("it is not a regular file")),
    }
}

/// Reads a regular file that has at most so many bytes.
///
/// # Errors
///
/// As [`open_regular`] fails; a larger file is refused rather than cut.
pub fn read_regular(path: &Utf8Path, links: Links, most_bytes: u64) -> io::Result<Vec<u8>> {
    let file = open_regular(path, links, OpenOptions::new().read(true))?;
    let mut bytes = Vec::new();
    file.take(most_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most_bytes {
        return Err(refused(&format!("it has more than {most_bytes} bytes")));
    }
    Ok(bytes)
}

fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use camino::Utf8PathBuf;
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn path(&self, name: &str) -> Utf8PathBuf {
            Utf8Path::from_path(self.0.path()).unwrap().join(name)
        }
    }

    #[test]
    fn a_planted_pipe_is_neither_read_nor_written_nor_waited_for() {
        let folder = Folder::new();
        let pipe = folder.path("pipe");
        mknodat(CWD, pipe.as_std_path(), FileType::Fifo, Mode::RWXU, 0).unwrap();
        let read = read_regular(&pipe, Links::Followed, 10).unwrap_err();
        assert_eq!(read.to_string(), "it is not a regular file");
        let append = open_regular(&pipe, Links::Followed, OpenOptions::new().append(true));
        assert_eq!(append.unwrap_err().to_string(), "it is not a regular file");
    }

    #[test]
    fn a_planted_link_is_followed_only_where_links_belong() {
        let folder = Folder::new();
        let (file, link) = (folder.path("file"), folder.path("link"));
        fs::write(&file, "precious").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(
            read_regular(&link, Links::Refused, 100).unwrap_err().to_string(),
            "it is a symbolic link"
        );
        let mut how = OpenOptions::new();
        how.append(true).create(true);
        assert!(open_regular(&link, Links::Refused, &mut how).is_err());
        assert!(open_regular(&link, Links::Followed, OpenOptions::new().read(true)).is_ok());
        assert_eq!(read_regular(&file, Links::Refused, 8).unwrap(), b"precious");
    }

    #[test]
    fn a_file_that_grew_too_large_is_refused_rather_than_cut() {
        let folder = Folder::new();
        let file = folder.path("file");
        fs::write(&file, "12345").unwrap();
        assert_eq!(
            read_regular(&file, Links::Refused, 4).unwrap_err().to_string(),
            "it has more than 4 bytes"
        );
        assert!(
            read_regular(&folder.path("none"), Links::Refused, 4)
                .is_err_and(|error| { error.kind() == io::ErrorKind::NotFound })
        );
        assert!(
            read_regular(&folder.path("."), Links::Refused, 4)
                .is_err_and(|error| { error.kind() == io::ErrorKind::IsADirectory })
        );
    }
}
