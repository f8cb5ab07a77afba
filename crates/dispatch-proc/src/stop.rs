//! The stop procedure for a worker (D9.5).

use std::time::Duration;

use rustix::process::Signal;

use crate::{ProcError, Running, StrayMark, end_strays};

/// How patient the stop procedure is at each of its stages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StopLimits {
    /// After asking the worker alone to interrupt what it does.
    pub interrupt: Duration,
    /// After asking its whole group to end.
    pub terminate: Duration,
    /// After killing what is left.
    pub kill: Duration,
}

impl Default for StopLimits {
    fn default() -> Self {
        Self {
            interrupt: Duration::from_secs(5),
            terminate: Duration::from_secs(10),
            kill: Duration::from_secs(10),
        }
    }
}

/// What it took to stop a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopProgress {
    /// It had ended already.
    HadEnded,
    /// It ended when interrupted.
    Interrupted,
    /// It ended when its group was asked to.
    Terminated,
    /// It was killed.
    Killed,
}

impl Running {
    /// Stops the worker: SIGINT to it, SIGTERM to its group, SIGKILL to its group, each as long as it still runs,
    /// then every stray until none is left.
    ///
    /// Only SIGINT makes an agent end the tool it runs, and a tool in a session of its own is reached by no
    /// signal to the group. The worker itself is left to be reaped by [`Running::finish`].
    pub fn stop(
        &mut self,
        limits: StopLimits,
        strays: &StrayMark,
    ) -> Result<StopProgress, ProcError> {
        let progress = self.stop_leader(limits)?;
        // Members of the group may outlive their leader, whose number is held until it is reaped.
        self.signal_group(Signal::KILL);
        end_strays(strays, limits.kill)?;
        Ok(progress)
    }

    fn stop_leader(&mut self, limits: StopLimits) -> Result<StopProgress, ProcError> {
        if self.wait_timeout(Duration::ZERO)?.is_some() {
            return Ok(StopProgress::HadEnded);
        }
        self.signal(Signal::INT);
        if self.wait_timeout(limits.interrupt)?.is_some() {
            return Ok(StopProgress::Interrupted);
        }
        self.signal_group(Signal::TERM);
        if self.wait_timeout(limits.terminate)?.is_some() {
            return Ok(StopProgress::Terminated);
        }
        self.kill_tree();
        match self.wait_timeout(limits.kill)? {
            Some(()) => Ok(StopProgress::Killed),
            None => Err(ProcError::StraysLeft { pids: vec![self.pid()] }),
        }
    }
}
