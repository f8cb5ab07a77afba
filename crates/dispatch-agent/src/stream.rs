//! Following the worker's output (D9.3).

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::sync::{Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_proc::{Links, open_regular};

/// How much is read at a time.
const CHUNK_BYTES: usize = 256 << 10;

/// Hands over the bytes of a file from byte `from` on, piece by piece; gives the byte to go on from.
///
/// The pieces are cut anywhere: what is a line is known where they go. What is written meanwhile is left for the next
/// time, so that a writer that never pauses keeps nobody here. A file that became shorter has nothing new.
fn follow(mut file: &File, from: u64, mut take: impl FnMut(&[u8])) -> io::Result<u64> {
    let end = file.metadata()?.len();
    file.seek(SeekFrom::Start(from))?;
    let mut file = file.take(end.saturating_sub(from));
    let mut done = from;
    let mut buffer = vec![0; CHUNK_BYTES];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(done),
            Ok(count) => {
                take(&buffer[..count]);
                done += count as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The streams that are being read. They stay open, so that one whose name is removed meanwhile, as cleaning a checkout
/// does, is read to its end all the same (S5).
#[derive(Debug, Default)]
pub(crate) struct OpenStreams(Mutex<BTreeMap<Utf8PathBuf, File>>);

impl OpenStreams {
    /// Hands over what came to `file` since `from`, and says how far it was read. A file that is not there yet holds
    /// nothing.
    pub(crate) fn follow(
        &self,
        file: &Utf8Path,
        from: u64,
        take: impl FnMut(&[u8]),
    ) -> io::Result<u64> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match open.entry(file.to_owned()) {
            Entry::Occupied(known) => follow(known.get(), from, take),
            Entry::Vacant(new) => {
                match open_regular(file, Links::Refused, File::options().read(true)) {
                    Ok(stream) => follow(new.insert(stream), from, take),
                    Err(error) if error.kind() == ErrorKind::NotFound => Ok(from),
                    Err(error) => Err(error),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use super::*;

    fn taken(file: &Utf8Path, from: u64) -> (Vec<u8>, u64) {
        let mut bytes = Vec::new();
        let done = OpenStreams::default()
            .follow(file, from, |piece| {
                assert!(piece.len() <= CHUNK_BYTES);
                bytes.extend_from_slice(piece);
            })
            .unwrap();
        (bytes, done)
    }

    #[test]
    fn d9_3_every_byte_is_handed_over_once_whatever_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let file = Utf8Path::from_path(dir.path()).unwrap().join("stream.jsonl");
        assert_eq!(taken(&file, 0), (Vec::new(), 0), "it is not there yet");
        let whole: Vec<u8> = (0..=255).cycle().take(3 * CHUNK_BYTES + 7).collect();
        fs::write(&file, &whole[..100]).unwrap();
        let (first, done) = taken(&file, 0);
        fs::write(&file, &whole).unwrap();
        let (second, done) = taken(&file, done);
        assert_eq!([first, second].concat(), whole);
        assert_eq!(taken(&file, done), (Vec::new(), whole.len() as u64));
        fs::write(&file, "shorter").unwrap();
        assert_eq!(taken(&file, done).0, b"");
    }

    #[test]
    fn a_stream_whose_name_was_removed_is_read_to_its_end() {
        let dir = tempfile::tempdir().unwrap();
        let file = Utf8Path::from_path(dir.path()).unwrap().join("stream.jsonl");
        let mut writer = File::create(&file).unwrap();
        let streams = OpenStreams::default();
        let mut seen = Vec::new();
        writer.write_all(b"first").unwrap();
        let read = streams.follow(&file, 0, |piece| seen.extend_from_slice(piece)).unwrap();
        fs::remove_file(&file).unwrap();
        writer.write_all(b", last").unwrap();
        streams.follow(&file, read, |piece| seen.extend_from_slice(piece)).unwrap();
        assert_eq!(seen, b"first, last");
    }

    #[test]
    fn a_writer_that_never_pauses_keeps_nobody() {
        let dir = tempfile::tempdir().unwrap();
        let file = Utf8Path::from_path(dir.path()).unwrap().join("stream.jsonl");
        fs::write(&file, vec![b'x'; 3 * CHUNK_BYTES]).unwrap();
        let mut writer = File::options().append(true).open(&file).unwrap();
        let mut pieces = 0;
        let done = OpenStreams::default()
            .follow(&file, 0, |piece| {
                pieces += 1;
                assert!(pieces < 100, "it reads what is written meanwhile");
                writer.write_all(piece).unwrap();
            })
            .unwrap();
        assert_eq!(done, 3 * CHUNK_BYTES as u64);
    }
}
