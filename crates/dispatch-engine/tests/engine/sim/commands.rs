//! Other programs, supervisors, clocks and notifications.

use std::ops::ControlFlow;
use std::time::Duration;

use camino::Utf8Path;
use dispatch_core::id::TaskId;
use dispatch_core::record::{Beat, ProcessMark};
use dispatch_engine::ports::{
    Clock, CommandEnd, CommandSpec, Commands, ExitMark, Notifier, PortError, TaskLock,
};
use time::OffsetDateTime;

use super::{Pending, World};

fn mark(pid: u32) -> ProcessMark {
    ProcessMark { pid, start: 1, boot_id: "boot".to_owned() }
}

impl Commands for World {
    fn run(
        &self,
        spec: &CommandSpec,
        alive: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<CommandEnd, PortError> {
        self.state().awake_ms += 30_000;
        if alive().is_break() {
            return Ok(CommandEnd::Stopped);
        }
        let state = self.call();
        let fails = state.failing.iter().any(|word| spec.argv.join(" ").contains(word));
        let output = if fails { "assertion failed" } else { "ok" }.to_owned();
        let exit = ExitMark::Code(i32::from(fails));
        Ok(CommandEnd::Ended { exit, stdout: output.clone(), output })
    }

    fn start_supervisor(
        &self,
        id: &TaskId,
        lock: Box<dyn TaskLock>,
        recover: bool,
    ) -> Result<ProcessMark, PortError> {
        let mut state = self.try_effect()?;
        assert_eq!(
            state.locks.get(&id.canonical()),
            Some(&self.pid),
            "the lock is not ours to hand on"
        );
        if state.starting_fails {
            drop(state);
            drop(lock);
            return Err(PortError::new(
                format!("start a supervisor for {id}"),
                "no more processes",
            ));
        }
        state.next_pid += 1;
        let pid = state.next_pid;
        // The open lock file is the supervisor's standard input from now on.
        state.locks.insert(id.canonical(), pid);
        state.pending.push(Pending { pid, id: id.clone(), recover });
        drop(state);
        drop(lock);
        Ok(mark(pid))
    }

    fn is_alive(&self, process: &ProcessMark) -> bool {
        self.call().locks.values().any(|pid| *pid == process.pid)
    }

    fn kill(&self, process: &ProcessMark) -> Result<(), PortError> {
        let mut state = self.try_effect()?;
        state.killed.push(process.pid);
        state.locks.retain(|_, pid| *pid != process.pid);
        state.pending.retain(|pending| pending.pid != process.pid);
        Ok(())
    }

    fn ourselves(&self) -> ProcessMark {
        mark(self.pid)
    }

    fn asked_to_end(&self) -> bool {
        false
    }

    fn file_digest(&self, _path: &Utf8Path) -> Result<Option<String>, PortError> {
        Ok(None)
    }
}

impl Clock for World {
    fn now(&self) -> OffsetDateTime {
        let state = self.state();
        let seconds = i64::try_from(state.awake_ms / 1000).unwrap() + state.wall_jump_s;
        // 2026-01-01 12:00 when the machine has been awake for a thousand seconds.
        OffsetDateTime::from_unix_timestamp(1_767_268_800 - 1000 + seconds).unwrap()
    }

    fn beat(&self) -> Beat {
        let state = self.state();
        Beat { boot_id: state.boot.clone(), awake_ms: state.awake_ms }
    }

    fn sleep(&self, duration: Duration) {
        let second = |ms: u64| ms / 1000;
        let ms = u64::try_from(duration.as_millis()).unwrap();
        let mut state = self.call();
        let before = second(state.awake_ms);
        state.awake_ms += ms;
        for _ in before..second(state.awake_ms) {
            state.act();
        }
    }
}

impl Notifier for World {
    fn notify(&self, title: &str, _body: &str) {
        self.call().notified.push(title.to_owned());
    }
}
