//! Output kept in memory within a bound.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::{OutputLog, Sink};

/// Which part of too long an output is kept.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Keep {
    /// The beginning.
    Beginning,
    /// The beginning and the end, half each.
    BothEnds,
}

#[derive(Debug, Default)]
struct Kept {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped_bytes: u64,
}

/// A pipe being drained by a thread of its own.
#[derive(Debug)]
pub(crate) struct Drain {
    kept: Arc<Mutex<Kept>>,
    done: Receiver<()>,
}

impl Drain {
    /// Starts reading `pipe` to its end, keeping of it what `sink` says.
    pub(crate) fn start(pipe: impl Read + Send + 'static, sink: &Sink, keep: Keep) -> Self {
        let (max_bytes, log) = match sink {
            Sink::Memory { max_bytes } => (*max_bytes, None),
            Sink::Log { log, max_bytes } => (*max_bytes, Some(log.clone())),
            Sink::File(_) | Sink::WithStdout | Sink::Null => (0, None),
        };
        let kept = Arc::new(Mutex::new(Kept::default()));
        let (told, done) = channel();
        let shared = Arc::clone(&kept);
        let (head_max, tail_max) = match keep {
            Keep::Beginning => (max_bytes, 0),
            Keep::BothEnds => (max_bytes / 2, max_bytes - max_bytes / 2),
        };
        std::thread::spawn(move || drain(pipe, &shared, (head_max, tail_max), log.as_ref(), &told));
        Self { kept, done }
    }

    /// What was read once the pipe ended, or when `patience` is over: a process that left its group may keep a
    /// pipe open for ever, and its output is then not the program's.
    pub(crate) fn finish(self, patience: Duration) -> (Vec<u8>, u64) {
        // Either the end was reached or we stop waiting for it; both leave what was read.
        let _ended = self.done.recv_timeout(patience);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = std::mem::take(&mut kept.head);
        if !kept.tail.is_empty() {
            if kept.dropped_bytes > 0 {
                bytes.extend_from_slice("\n…\n".as_bytes());
            }
            bytes.extend(kept.tail.drain(..));
        }
        (bytes, kept.dropped_bytes)
    }
}

fn drain(
    mut pipe: impl Read,
    kept: &Mutex<Kept>,
    (head_max, tail_max): (usize, usize),
    log: Option<&OutputLog>,
    told: &Sender<()>,
) {
    let mut buffer = vec![0; 64 << 10];
    loop {
        let count = match pipe.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        if let Some(log) = log {
            log.write(&buffer[..count]);
        }
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (first, rest) = buffer[..count].split_at(count.min(head_max - kept.head.len()));
        kept.head.extend_from_slice(first);
        kept.tail.extend(rest);
        let over = kept.tail.len().saturating_sub(tail_max);
        kept.tail.drain(..over);
        kept.dropped_bytes += over as u64;
    }
    // Nobody listens any more when the reader lost patience.
    let _heard = told.send(());
}
