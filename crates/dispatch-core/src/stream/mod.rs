//! The agent's event stream, read as it grows, in memory that does not grow with it (D9.3).
//!
//! ```
//! use dispatch_core::stream::StreamSummary;
//!
//! let mut summary = StreamSummary::default();
//! summary.push(br#"{"type":"result","subtype":"success","is_error":false,"num_tur"#);
//! summary.push(b"ns\":3,\"result\":\"Done.\"}\n");
//! summary.end();
//! assert_eq!(summary.result.unwrap().text.as_deref(), Some("Done."));
//! ```

mod line;
mod shorten;
mod summary;
mod told;

pub use summary::{AgentError, Denial, Init, ResultEvent, StreamSummary};

use shorten::Shortener;

/// The most bytes of a line that are held as they are; a longer line is held with its texts cut.
const WHOLE_LINE_BYTES: usize = 6 * 1024 * 1024;

impl StreamSummary {
    /// Takes the next bytes of the stream, cut anywhere.
    ///
    /// Lines end at the byte 0x0A only, and no line is too long: of one longer than some megabytes the long texts are
    /// cut, and what it says is read all the same.
    pub fn push(&mut self, mut bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = bytes.split_at(end);
            if self.pending.is_empty() && self.long.is_none() {
                self.line(line);
            } else {
                self.hold(line);
                self.end_line();
            }
            bytes = rest.get(1..).unwrap_or_default();
        }
        self.hold(bytes);
    }

    /// Takes the end of the stream: an unfinished last line is read as far as it goes.
    pub fn end(&mut self) {
        if !self.pending.is_empty() || self.long.is_some() {
            self.ends_with_newline = false;
            self.end_line();
        }
    }

    fn hold(&mut self, bytes: &[u8]) {
        if let Some(long) = &mut self.long {
            long.push(bytes);
            return;
        }
        self.pending.extend_from_slice(bytes);
        if self.pending.len() > WHOLE_LINE_BYTES {
            let mut long = Shortener::default();
            long.push(&std::mem::take(&mut self.pending));
            self.long = Some(long);
        }
    }

    fn end_line(&mut self) {
        let line = match self.long.take() {
            Some(long) => long.finish(),
            None => Some(std::mem::take(&mut self.pending)),
        };
        match line {
            Some(line) => self.line(&line),
            None => self.unreadable_line(),
        }
    }
}

#[cfg(test)]
mod tests;
