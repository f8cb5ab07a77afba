//! Ending what a program left behind.
//!
//! A process that made a session of its own is reached by no signal to a group. It is found in two ways: below
//! this process, when that is a subreaper and so inherits every orphan; and by a variable in the environment,
//! which also finds those of a process that died before.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, waitpid};

use crate::tree::{below, with_environment};
use crate::{ProcError, ProcessIdentity};

/// How the strays of a program are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StrayMark {
    /// Whatever is below this process and is not itself a program run of ours.
    BelowThisProcess,
    /// Whatever has this variable with this value in its environment.
    Environment {
        /// The variable.
        name: String,
        /// Its value, unique to the program run.
        value: String,
    },
    /// Both.
    Both {
        /// The variable.
        name: String,
        /// Its value, unique to the program run.
        value: String,
    },
}

/// The programs this process runs now: theirs is the business of whoever started them.
static OWN_CHILDREN: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Remembers a program run as ours until [`forget_child`].
pub(crate) fn remember_child(pid: i32) {
    OWN_CHILDREN.lock().unwrap_or_else(PoisonError::into_inner).insert(pid);
}

/// Forgets a program run that was reaped.
pub(crate) fn forget_child(pid: i32) {
    OWN_CHILDREN.lock().unwrap_or_else(PoisonError::into_inner).remove(&pid);
}

fn own_children() -> BTreeSet<i32> {
    OWN_CHILDREN.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The strays that live now.
pub fn find_strays(mark: &StrayMark) -> Vec<ProcessIdentity> {
    match mark {
        StrayMark::BelowThisProcess => strays_below_us(),
        StrayMark::Environment { name, value } => strays_marked(name, value),
        StrayMark::Both { name, value } => {
            let mut strays = strays_below_us();
            strays.extend(strays_marked(name, value));
            strays.sort();
            strays.dedup();
            strays
        }
    }
}

fn own_pid() -> i32 {
    rustix::process::getpid().as_raw_nonzero().get()
}

/// Also reaps those below us that ended already, each by its number.
fn strays_below_us() -> Vec<ProcessIdentity> {
    let own_pid = own_pid();
    let mut living = Vec::new();
    for stat in below(own_pid, &own_children()) {
        if stat.is_dead() {
            if stat.parent == own_pid {
                reap(stat.pid);
            }
        } else if let Some(identity) = ProcessIdentity::of(stat.pid) {
            living.push(identity);
        }
    }
    living
}

fn strays_marked(name: &str, value: &str) -> Vec<ProcessIdentity> {
    let (own_pid, own_children) = (own_pid(), own_children());
    let mut strays = with_environment(name, value);
    strays.retain(|stray| stray.pid != own_pid && !own_children.contains(&stray.pid));
    strays
}

/// Reaps one child if it ended; a number that is no child of ours is left alone by the kernel.
fn reap(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        // Somebody else may have reaped it meanwhile; then there is nothing left to do.
        let _reaped = waitpid(Some(pid), WaitOptions::NOHANG);
    }
}

/// Kills every stray, and those they start meanwhile, until none is left; answers how many were found.
///
/// # Errors
///
/// When some do not go within `patience` although killed.
pub fn end_strays(mark: &StrayMark, patience: Duration) -> Result<usize, ProcError> {
    let began = Instant::now();
    let mut ended = BTreeSet::new();
    let mut pause = Duration::from_millis(1);
    loop {
        let strays = find_strays(mark);
        if strays.is_empty() {
            return Ok(ended.len());
        }
        if began.elapsed() > patience {
            return Err(ProcError::StraysLeft { pids: strays.iter().map(|s| s.pid).collect() });
        }
        for stray in strays {
            tracing::debug!(pid = stray.pid, "ending a process that was left behind");
            stray.signal(Signal::KILL);
            ended.insert(stray);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}
