//! Ending what is left of an attempt whose supervisor is gone (M1 step 2).

use std::time::{Duration, Instant};

use dispatch_proc::{ProcError, ProcessIdentity, Signal, StopLimits, descendants, end_strays};
use rustix::process::{Pid, kill_process_group};

use crate::process::marked;

/// Stops a worker that is not our child, as far as it is alive and the very process meant, and then whatever
/// carries the marker; answers how many processes there were.
pub(crate) fn end_leftovers(
    worker: Option<&ProcessIdentity>,
    marker: &str,
    limits: StopLimits,
) -> Result<usize, ProcError> {
    let ended = worker.map_or(0, |worker| end_worker(worker, limits));
    Ok(ended + end_strays(&marked(marker), limits.kill)?)
}

fn end_worker(worker: &ProcessIdentity, limits: StopLimits) -> usize {
    if !worker.is_alive() {
        return 0;
    }
    // Its tools may have cleared their environment: they are known by their parents while those live.
    let mut tree = below(worker);
    worker.signal(Signal::INT);
    if !gone_within(worker, limits.interrupt) {
        tree.extend(below(worker));
        signal_group(worker, Signal::TERM);
        if !gone_within(worker, limits.terminate) {
            tree.extend(below(worker));
            signal_group(worker, Signal::KILL);
            worker.signal(Signal::KILL);
            gone_within(worker, limits.kill);
        }
    }
    tree.sort();
    tree.dedup();
    let mut ended = 1;
    while let Some(process) = tree.pop() {
        tree.extend(below(&process));
        ended += usize::from(process.signal(Signal::KILL));
    }
    ended
}

/// What is below this very process; nothing when it is gone, since its number may be another's.
fn below(process: &ProcessIdentity) -> Vec<ProcessIdentity> {
    let below = descendants(process.pid);
    if process.is_alive() { below } else { Vec::new() }
}

/// The worker leads its group: while it lives the group's number is its own.
fn signal_group(worker: &ProcessIdentity, signal: Signal) {
    if let Some(group) = Pid::from_raw(worker.pid).filter(|_| worker.is_alive()) {
        // A group that is gone is what we want.
        let _sent = kill_process_group(group, signal);
    }
}

fn gone_within(process: &ProcessIdentity, patience: Duration) -> bool {
    let began = Instant::now();
    while process.is_alive() {
        if began.elapsed() >= patience {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}
