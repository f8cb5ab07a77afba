//! What a program says on both its streams, in the order it came.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

/// The output of one or more streams: appended to a file as far as that may grow, its end kept in memory.
///
/// A file that cannot be written, because the disk is full for example, costs the log but never the program: its
/// pipes are drained all the same.
#[derive(Debug, Clone)]
pub struct OutputLog(Arc<Mutex<Joint>>);

#[derive(Debug)]
struct Joint {
    file: Option<File>,
    file_room_bytes: u64,
    left_out_bytes: u64,
    tail: VecDeque<u8>,
    tail_max_bytes: usize,
}

impl OutputLog {
    /// An empty log that keeps the last `tail_max_bytes` and appends the first `file_max_bytes` to `file`.
    pub fn new(file: Option<File>, file_max_bytes: u64, tail_max_bytes: usize) -> Self {
        Self(Arc::new(Mutex::new(Joint {
            file,
            file_room_bytes: file_max_bytes,
            left_out_bytes: 0,
            tail: VecDeque::new(),
            tail_max_bytes,
        })))
    }

    /// Adds what came.
    pub fn write(&self, bytes: &[u8]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes);
    }

    /// Ends the log: its end in memory, which the file gets too when it was cut before.
    pub fn finish(&self) -> Vec<u8> {
        let mut joint = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let tail: Vec<u8> = joint.tail.iter().copied().collect();
        if joint.left_out_bytes > 0 {
            let left_out = joint.left_out_bytes.saturating_sub(tail.len() as u64);
            let gap = format!("\n… {left_out} bytes left out …\n");
            joint.append(gap.as_bytes());
            joint.append(&tail);
        }
        joint.file = None;
        tail
    }
}

impl Joint {
    fn write(&mut self, bytes: &[u8]) {
        let room = usize::try_from(self.file_room_bytes).unwrap_or(usize::MAX).min(bytes.len());
        self.append(&bytes[..room]);
        self.file_room_bytes -= room as u64;
        self.left_out_bytes += (bytes.len() - room) as u64;
        let last = &bytes[bytes.len() - bytes.len().min(self.tail_max_bytes)..];
        self.tail.extend(last);
        let over = self.tail.len().saturating_sub(self.tail_max_bytes);
        self.tail.drain(..over);
    }

    fn append(&mut self, bytes: &[u8]) {
        let Some(file) = &mut self.file else { return };
        if let Err(error) = file.write_all(bytes) {
            tracing::warn!(error = %error, "the output of a program can no longer be logged");
            self.file = None;
        }
    }
}

/// Two of them are equal when they are the same log.
impl PartialEq for OutputLog {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for OutputLog {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_within_its_bounds_is_whole_in_both_places() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let log = OutputLog::new(Some(File::create(&path).unwrap()), 100, 100);
        log.write(b"one ");
        log.write(b"two");
        assert_eq!(log.finish(), b"one two");
        assert_eq!(std::fs::read(path).unwrap(), b"one two");
    }

    #[test]
    fn too_long_a_log_keeps_its_beginning_and_its_end() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let log = OutputLog::new(Some(File::create(&path).unwrap()), 4, 3);
        for byte in b"abcdefghij" {
            log.write(&[*byte]);
        }
        log.write(b"klmnopqrst");
        assert_eq!(log.finish(), b"rst");
        assert_eq!(std::fs::read_to_string(path).unwrap(), "abcd\n… 13 bytes left out …\nrst");
    }

    #[test]
    fn a_file_that_cannot_be_written_costs_only_the_log() {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let log = OutputLog::new(Some(full), 100, 100);
        log.write(b"still here");
        assert_eq!(log.finish(), b"still here");
    }
}
