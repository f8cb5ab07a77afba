//! Stopping the dispatcher at a chosen point, without its help: a program that it starts waits there, before or after
//! its work, for as long as the record shows the phase that was asked for.

use std::fs::{self, File};

use camino::Utf8PathBuf;
use dispatch_testkit::wait;
use rustix::process::Signal;

use crate::world::{World, kill};

/// When a program waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// Before it does anything.
    Before,
    /// After it did everything, before its caller is told.
    After,
}

/// Stands in front of the real programs of a world.
pub(crate) struct Halts<'w> {
    world: &'w World,
    order: Utf8PathBuf,
    met: Utf8PathBuf,
}

impl<'w> Halts<'w> {
    /// Puts a program that can wait in front of `git`, `gh`, `claude`, and of a `callback` that does nothing.
    pub(crate) fn install(world: &'w World) -> Self {
        let (order, met) = (world.path("halt"), world.path("halt.met"));
        world.add_program("callback", "#!/bin/sh\n");
        for name in ["git", "gh", "claude", "callback"] {
            let (program, real) = (world.bin().join(name), world.path(&format!("real-{name}")));
            fs::rename(&program, &real).unwrap();
            let record = world.state_path("tasks/T-1.json");
            let script = SCRIPT
                .replace("{order}", order.as_str())
                .replace("{met}", met.as_str())
                .replace("{record}", record.as_str())
                .replace("{real}", real.as_str())
                .replace("{name}", name);
            world.add_program(name, &script);
        }
        Self { world, order, met }
    }

    /// Lets the first program wait whose name and arguments hold `words`, while T-1 is in `phase`.
    pub(crate) fn order(&self, phase: &str, words: &str, when: When) {
        let when = match when {
            When::Before => "before",
            When::After => "after",
        };
        fs::remove_dir(&self.met).ok();
        let next = self.order.with_extension("next");
        fs::write(&next, format!("{when}\n{phase}\n{words}\n")).unwrap();
        fs::rename(&next, &self.order).unwrap();
    }

    /// Waits until a program waits, and gives the supervisor.
    #[track_caller]
    pub(crate) fn wait_for(&self, phase: &str) -> i32 {
        wait::until(&format!("a program to wait in {phase}"), || self.met.exists());
        self.world.wait_for_phase("T-1", phase)
    }

    /// Kills the supervisor where a program waits for it, which then goes on alone.
    #[track_caller]
    pub(crate) fn kill(&self, phase: &str) {
        kill_and_wait(self.world, self.wait_for(phase));
        // A worker stays as it is: whoever recovers the attempt has to end it.
        if phase != "running" {
            self.lift();
        }
    }

    /// Lets everything go on.
    pub(crate) fn lift(&self) {
        fs::remove_file(&self.order).unwrap();
    }
}

/// Kills a process and waits until it is gone.
#[track_caller]
pub(crate) fn kill_and_wait(world: &World, pid: i32) {
    kill(pid, Signal::KILL);
    wait_until_gone(world, pid);
}

/// Waits until a process of the world is gone.
#[track_caller]
pub(crate) fn wait_until_gone(world: &World, pid: i32) {
    wait::until("the process to be gone", || {
        world.processes().iter().all(|process| process.pid != pid)
    });
}

/// Holds one of the locks that are only ever held for a moment: who needs it waits for ten seconds.
pub(crate) fn hold_lock(world: &World, name: &str) -> File {
    let file = File::options().read(true).write(true).open(world.state_path(name)).unwrap();
    file.lock().unwrap();
    file
}

/// Only the first program that meets the order waits; what is started after a recovery does not.
const SCRIPT: &str = r#"#!/bin/sh
meets() {
  { read -r when && read -r phase && read -r words; } 2>/dev/null < '{order}' || return 1
  [ "$when" = "$1" ] || return 1
  case "$2" in *"$words"*) ;; *) return 1 ;; esac
  grep -qF "\"phase\": \"$phase\"" '{record}' 2>/dev/null
}
halt() {
  if meets "$1" "$2" && mkdir '{met}' 2>/dev/null; then
    while [ -e '{order}' ]; do sleep 0.05; done
  fi
}
all="{name} $*"
halt before "$all"
[ -e '{order}' ] || exec '{real}' "$@"
'{real}' "$@"
code=$?
halt after "$all"
exit "$code"
"#;
