//! Every other program: provisioning, hooks, formatters, checks, and our own supervisors.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use camino::Utf8Path;
use dispatch_core::error_chain::chain;
use dispatch_core::hex::hex;
use dispatch_core::id::TaskId;
use dispatch_core::record::ProcessMark;
use dispatch_engine::ports::{CommandEnd, CommandSpec, Commands, PortError, TaskLock};
use dispatch_proc::{
    Call, Ended, Links, OutputLog, ProcError, ProcessIdentity, Signal, Sink, Stdin, open_regular,
    run_watched, set_child_subreaper,
};
use sha2::{Digest, Sha256};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::process::{MARKER, exit_of, identity_of, mark_of, marked, marked_or_below};
use crate::supervisor::SupervisorProgram;

/// The most of one program's output in a log.
const LOG_MAX_BYTES: u64 = 64 << 20;
/// The end of a program's output that is answered.
const OUTPUT_MAX_BYTES: usize = 64 << 10;
/// The beginning of its standard output that is answered.
const STDOUT_MAX_BYTES: usize = 256 << 10;

/// How far the search for what a program left behind goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Processes that carry the marker: in a process that has started supervisors, which live on.
    Marked,
    /// Also whatever is below this process, which becomes the parent of orphans: in a supervisor.
    Descendants,
}

/// Runs programs.
#[derive(Debug)]
pub struct SystemCommands {
    reach: Reach,
    supervisor: SupervisorProgram,
    asked: Arc<AtomicBool>,
}

impl SystemCommands {
    /// Runs programs, and starts supervisors by `supervisor`.
    pub fn new(reach: Reach, supervisor: SupervisorProgram) -> Result<Self, PortError> {
        if reach == Reach::Descendants {
            set_child_subreaper()
                .map_err(|error| PortError::new("own what programs leave", error))?;
        }
        Ok(Self { reach, supervisor, asked: Arc::new(AtomicBool::new(false)) })
    }

    /// From now on a first SIGTERM, SIGINT or SIGHUP is answered by [`Commands::asked_to_end`], and a second one ends
    /// this process at once (D9.9).
    pub fn watch_signals(&self) -> Result<(), PortError> {
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            // In this order: the first signal finds the flag down, then raises it.
            signal_hook::flag::register_conditional_default(signal, Arc::clone(&self.asked))
                .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&self.asked)))
                .map_err(|error| PortError::new(format!("watch for signal {signal}"), error))?;
        }
        Ok(())
    }

    fn call(&self, spec: &CommandSpec, program: &str, args: &[String], log: &OutputLog) -> Call {
        let mut call = Call::new(program, &spec.dir, spec.limit)
            .args(args)
            .envs(spec.env.iter().map(|(name, value)| (name, value)))
            .env(MARKER, &spec.marker);
        if !spec.stdin.is_empty() {
            call = call.stdin(Stdin::Bytes(spec.stdin.clone()));
        }
        call.stdout = Sink::Log { log: log.clone(), max_bytes: STDOUT_MAX_BYTES };
        // A log reads as a terminal would show it: the error comes after what led to it, and so it is among the last
        // lines. What answers on its standard output keeps that apart, and has no log.
        call.stderr = match &spec.log {
            Some(_) => Sink::WithStdout,
            None => Sink::Log { log: log.clone(), max_bytes: 0 },
        };
        call.strays = Some(match self.reach {
            Reach::Marked => marked(&spec.marker),
            Reach::Descendants => marked_or_below(&spec.marker),
        });
        call
    }
}

impl Commands for SystemCommands {
    fn run(
        &self,
        spec: &CommandSpec,
        alive: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<CommandEnd, PortError> {
        let Some((program, args)) = spec.argv.split_first() else {
            return Ok(CommandEnd::NotStarted("the command is empty".to_owned()));
        };
        let file = spec
            .log
            .as_deref()
            .map(opened)
            .transpose()
            .map_err(|error| PortError::new(format!("open the log of `{program}`"), error))?;
        let log = OutputLog::new(file, LOG_MAX_BYTES, OUTPUT_MAX_BYTES);
        let call = self.call(spec, program, args, &log);
        note(spec, &format!("$ {}", call.shown()));
        let result = run_watched(&call, alive);
        let output = String::from_utf8_lossy(&log.finish()).into_owned();
        let end = match result {
            Ok(finished) => match finished.ended {
                Ended::TimedOut => {
                    note(spec, &format!("[{} s passed, it was ended]", spec.limit.as_secs()));
                    CommandEnd::TimedOut { output }
                }
                Ended::Stopped => {
                    note(spec, "[it was ended: the attempt was asked to stop]");
                    CommandEnd::Stopped
                }
                Ended::Exit(_) | Ended::Signal(_) => {
                    let seconds = finished.elapsed.as_secs_f64();
                    note(spec, &format!("[{} after {seconds:.1} s]", finished.ended));
                    CommandEnd::Ended {
                        exit: exit_of(finished.ended),
                        output,
                        stdout: String::from_utf8_lossy(&finished.stdout).into_owned(),
                    }
                }
            },
            Err(error @ (ProcError::NotFound { .. } | ProcError::Start { .. })) => {
                let why = chain(&error);
                note(spec, &format!("[not started: {why}]"));
                CommandEnd::NotStarted(why)
            }
            Err(error) => return Err(PortError::new(format!("run `{}`", call.shown()), error)),
        };
        Ok(end)
    }

    fn start_supervisor(
        &self,
        id: &TaskId,
        lock: Box<dyn TaskLock>,
        recover: bool,
    ) -> Result<ProcessMark, PortError> {
        self.supervisor.start(id, lock, recover)
    }

    fn is_alive(&self, process: &ProcessMark) -> bool {
        identity_of(process).is_alive()
    }

    fn kill(&self, process: &ProcessMark) -> Result<(), PortError> {
        // One that is gone already is what was wanted.
        identity_of(process).signal(Signal::KILL);
        Ok(())
    }

    fn ourselves(&self) -> ProcessMark {
        mark_of(ProcessIdentity::current())
    }

    fn asked_to_end(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    fn file_digest(&self, path: &Utf8Path) -> Result<Option<String>, PortError> {
        digest(path).map_err(|error| PortError::new(format!("read `{path}`"), error))
    }
}

/// Adds a line of ours to the log; a full disk costs the line, as it costs the program's output.
fn note(spec: &CommandSpec, line: &str) {
    if let Some(Ok(mut file)) = spec.log.as_deref().map(opened) {
        file.write_all(format!("{line}\n").as_bytes()).ok();
    }
}

fn opened(path: &Utf8Path) -> io::Result<File> {
    open_regular(path, Links::Refused, File::options().append(true).create(true))
}

fn digest(path: &Utf8Path) -> io::Result<Option<String>> {
    let mut file = match open_regular(path, Links::Followed, File::options().read(true)) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            count => digest.update(&buffer[..count]),
        }
    }
    Ok(Some(hex(&digest.finalize())))
}
