//! Which process is meant.

use std::fs;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

/// A process, told apart from a later one with the same number: numbers are used again, and a machine that
/// started anew uses all of them again.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProcessIdentity {
    /// Its number.
    pub pid: i32,
    /// Its start mark: the kernel's count of ticks between boot and its start.
    pub start: u64,
    /// The boot it belongs to.
    pub boot_id: String,
}

impl ProcessIdentity {
    /// The process with this number now, unless there is none or it is only waiting to be reaped.
    pub fn of(pid: i32) -> Option<Self> {
        let stat = Stat::read(pid)?;
        (!stat.is_dead()).then(|| Self { pid, start: stat.start, boot_id: boot_id() })
    }

    /// This process.
    pub fn current() -> Self {
        let pid = rustix::process::getpid().as_raw_nonzero().get();
        Self::of(pid).unwrap_or_else(|| Self { pid, start: 0, boot_id: boot_id() })
    }

    /// Whether this very process still runs; one that only waits to be reaped does not.
    pub fn is_alive(&self) -> bool {
        Self::of(self.pid).as_ref() == Some(self)
    }

    /// Sends `signal` to this very process, and to no other that got its number since.
    ///
    /// Answers whether there was such a process to send it to.
    pub fn signal(&self, signal: Signal) -> bool {
        let Some(pid) = Pid::from_raw(self.pid) else { return false };
        // The descriptor pins the process: looking after opening it leaves no gap.
        let Ok(pinned) = pidfd_open(pid, PidfdFlags::empty()) else { return false };
        self.is_alive() && pidfd_send_signal(&pinned, signal).is_ok()
    }
}

/// The kernel's name for the present boot; empty where there is none.
pub fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

/// What `/proc/<pid>/stat` says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stat {
    pub(crate) pid: i32,
    pub(crate) state: u8,
    pub(crate) parent: i32,
    pub(crate) start: u64,
}

impl Stat {
    /// Reads it; a process that is gone has none.
    pub(crate) fn read(pid: i32) -> Option<Self> {
        Self::parse(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    fn parse(pid: i32, text: &[u8]) -> Option<Self> {
        // The name stands in parentheses and may hold anything, parentheses too.
        let end_of_name = text.iter().rposition(|&byte| byte == b')')?;
        let rest = str::from_utf8(&text[end_of_name + 1..]).ok()?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        Some(Self {
            pid,
            state: *fields.first()?.as_bytes().first()?,
            parent: fields.get(1)?.parse().ok()?,
            start: fields.get(19)?.parse().ok()?,
        })
    }

    /// Whether it ended and only waits to be reaped.
    pub(crate) fn is_dead(self) -> bool {
        matches!(self.state, b'Z' | b'X' | b'x')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_blanks_and_parentheses_does_not_move_the_fields() {
        let text = b"77 (a) Z 1 (x) S 42 77 77 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2";
        let stat = Stat::parse(77, text).unwrap();
        assert_eq!((stat.parent, stat.start, stat.state), (42, 987_654, b'S'));
    }

    #[test]
    fn this_process_is_alive_and_one_with_another_start_mark_is_not() {
        let current = ProcessIdentity::current();
        assert!(current.is_alive());
        assert!(!ProcessIdentity { start: current.start + 1, ..current.clone() }.is_alive());
        assert!(!ProcessIdentity { boot_id: "another boot".into(), ..current }.is_alive());
    }
}
