//! A worker that was started.

use std::time::Duration;

use camino::Utf8PathBuf;
use dispatch_core::record::ProcessMark;
use dispatch_engine::ports::{ExitMark, Leftovers, PortError, Running};
use dispatch_proc::{ProcError, StopLimits, StrayMark, end_strays};

use crate::process::exit_of;

/// A worker with its process tree.
#[derive(Debug)]
pub(crate) struct Worker {
    mark: ProcessMark,
    program: Utf8PathBuf,
    strays: StrayMark,
    limits: StopLimits,
    state: State,
}

#[derive(Debug)]
enum State {
    Runs(dispatch_proc::Running),
    Ended(ExitMark),
}

impl Worker {
    pub(crate) fn new(
        running: dispatch_proc::Running,
        mark: ProcessMark,
        program: Utf8PathBuf,
        strays: StrayMark,
        limits: StopLimits,
    ) -> Self {
        Self { mark, program, strays, limits, state: State::Runs(running) }
    }

    fn failed(&self, doing: &str, error: ProcError) -> PortError {
        PortError::new(format!("{doing} `{}`, process {}", self.program, self.mark.pid), error)
    }

    /// Reaps the worker if it ended.
    fn reap(&mut self) -> Result<Option<ExitMark>, ProcError> {
        let running = match &mut self.state {
            State::Ended(exit) => return Ok(Some(*exit)),
            State::Runs(running) => running,
        };
        if running.wait_timeout(Duration::ZERO)?.is_none() {
            return Ok(None);
        }
        // Until it is reaped its number, and so its group's, is its own.
        running.signal_group(dispatch_proc::Signal::KILL);
        let State::Runs(running) =
            std::mem::replace(&mut self.state, State::Ended(ExitMark::Unknown))
        else {
            return Ok(None);
        };
        let exit = exit_of(running.finish()?.ended);
        self.state = State::Ended(exit);
        Ok(Some(exit))
    }
}

impl Running for Worker {
    fn mark(&self) -> ProcessMark {
        self.mark.clone()
    }

    fn poll(&mut self) -> Result<Option<ExitMark>, PortError> {
        self.reap().map_err(|error| self.failed("look after", error))
    }

    fn stop(&mut self) -> Result<ExitMark, PortError> {
        let stopped = match &mut self.state {
            State::Runs(running) => running.stop(self.limits, &self.strays).map(drop),
            State::Ended(_) => end_strays(&self.strays, self.limits.kill).map(drop),
        };
        // It is reaped also when something it left behind does not end.
        let reaped = self.reap();
        stopped.map_err(|error| self.failed("stop", error))?;
        match reaped.map_err(|error| self.failed("stop", error))? {
            Some(exit) => Ok(exit),
            None => Ok(ExitMark::Unknown),
        }
    }

    fn end_strays(&mut self) -> Result<Leftovers, PortError> {
        end_strays(&self.strays, self.limits.kill)
            .map(|ended| Leftovers { ended })
            .map_err(|error| self.failed("end what was left behind by", error))
    }
}
