//! Starting a program and carrying it to its end.

use std::fs::File;
use std::io::{PipeReader, Write};
use std::ops::ControlFlow;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use camino::Utf8Path;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::capture::{Drain, Keep};
use crate::regular::{Links, open_regular};
use crate::strays::{forget_child, remember_child};
use crate::tree::descendants;
use crate::{Call, Ended, Finished, ProcError, ProcessIdentity, Sink, Stdin, end_strays};

/// How long a pipe may stay open after its program ended.
const PIPE_PATIENCE: Duration = Duration::from_secs(2);
/// How long killed strays may take to go.
const STRAY_PATIENCE: Duration = Duration::from_secs(10);

/// How long a program that is not wanted any more has to end by itself.
const STOP_PATIENCE: Duration = Duration::from_secs(5);

/// How often whoever waits for a program is given the word.
const WATCH_EVERY: Duration = Duration::from_secs(2);

/// Runs `call` to its end or its limit.
pub fn run(call: &Call) -> Result<Finished, ProcError> {
    run_watched(call, &mut || ControlFlow::Continue(()))
}

/// Runs `call` to its end or its limit, and calls `alive` every few seconds meanwhile: a process that waits for
/// another one may have to show that it lives. When `alive` breaks off, the program is asked to end, then killed with all
/// that is below it.
#[tracing::instrument(level = "debug", skip_all, fields(program = %call.program, limit_s = call.limit.as_secs()))]
pub fn run_watched(
    call: &Call,
    alive: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Finished, ProcError> {
    let mut running = start(call)?;
    let mut left = call.limit;
    let cut_off = loop {
        let slice = left.min(WATCH_EVERY);
        if running.wait_timeout(slice)?.is_some() {
            break None;
        }
        left = left.saturating_sub(slice);
        if left.is_zero() {
            running.kill_tree();
            break Some(Ended::TimedOut);
        }
        if alive().is_break() {
            running.end_tree(STOP_PATIENCE)?;
            break Some(Ended::Stopped);
        }
    };
    let strays = match &call.strays {
        Some(mark) => {
            // What is left of its group goes first, while its number is still held by the unreaped leader.
            running.signal_group(Signal::KILL);
            end_strays(mark, STRAY_PATIENCE)
        }
        None => Ok(0),
    };
    let mut finished = running.finish()?;
    strays?;
    if let Some(cut_off) = cut_off {
        finished.ended = cut_off;
    }
    tracing::debug!(ended = %finished.ended, elapsed_ms = finished.elapsed.as_millis(), "program ended");
    Ok(finished)
}

/// Starts `call` in a process group of its own and lets it run; `call.limit` is left to the caller.
pub fn start(call: &Call) -> Result<Running, ProcError> {
    let mut command = command_of(call)?;
    if call.launcher.is_empty() {
        command.process_group(0);
    }
    command.stdin(match &call.stdin {
        Stdin::Null => Stdio::null(),
        Stdin::Bytes(_) => Stdio::piped(),
        Stdin::File(path) => Stdio::from(opened(call, path, File::options().read(true))?),
    });
    let joined = streams(call, &mut command)?;
    let mut child = spawn(call, &mut command)?;
    let pid = child.id().cast_signed();
    remember_child(pid);
    if let (Stdin::Bytes(bytes), Some(mut pipe)) = (&call.stdin, child.stdin.take()) {
        let bytes = bytes.clone();
        // A program that reads only part of its input closes the pipe; that is its right.
        std::thread::spawn(move || pipe.write_all(&bytes));
    }
    // What is left of our ends of the pipe would keep its reader waiting.
    drop(command);
    let stdout = match joined {
        Some(pipe) => Some(Drain::start(pipe, &call.stdout, Keep::Beginning)),
        None => child.stdout.take().map(|pipe| Drain::start(pipe, &call.stdout, Keep::Beginning)),
    };
    let stderr = child.stderr.take().map(|pipe| Drain::start(pipe, &call.stderr, Keep::BothEnds));
    let identity = ProcessIdentity::of(pid);
    Ok(Running {
        program: call.program.clone(),
        pid,
        identity,
        exit: watch(pid),
        exited: false,
        child,
        stdout,
        stderr,
        began: Instant::now(),
    })
}

/// The command with its arguments, environment and directory, found on the given `PATH`.
pub(crate) fn command_of(call: &Call) -> Result<Command, ProcError> {
    let path = call.env.get(std::ffi::OsStr::new("PATH"));
    let find = |program: &str| crate::find_program(program, path.map(|p| &**p), &call.dir);
    let program = find(call.program.as_str())?;
    let mut command = match call.launcher.split_first() {
        None => Command::new(program),
        Some((launcher, args)) => {
            let mut command = Command::new(find(&launcher.to_string_lossy())?);
            command.args(args).arg(program);
            command
        }
    };
    command.args(&call.args).env_clear().envs(&call.env).current_dir(&call.dir);
    Ok(command)
}

/// Spawns, trying again while another thread still holds a just-written program open for writing.
pub(crate) fn spawn(call: &Call, command: &mut Command) -> Result<Child, ProcError> {
    let mut tries = 0;
    loop {
        match command.spawn() {
            Ok(child) => return Ok(child),
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy && tries < 20 => {
                tries += 1;
                std::thread::sleep(Duration::from_millis(10));
            }
            Err(source) => {
                return Err(ProcError::Start {
                    program: call.program.clone(),
                    dir: call.dir.clone(),
                    source,
                });
            }
        }
    }
}

/// Says where the output goes; gives the end to read when both streams share a pipe.
fn streams(call: &Call, command: &mut Command) -> Result<Option<PipeReader>, ProcError> {
    if call.stderr != Sink::WithStdout {
        command.stdout(stdio(call, &call.stdout)?).stderr(stdio(call, &call.stderr)?);
        return Ok(None);
    }
    let pipe =
        std::io::pipe().and_then(|(reader, writer)| Ok((reader, writer.try_clone()?, writer)));
    let (reader, one, other) = pipe.map_err(|source| ProcError::Start {
        program: call.program.clone(),
        dir: call.dir.clone(),
        source,
    })?;
    command.stdout(one).stderr(other);
    Ok(Some(reader))
}

fn stdio(call: &Call, sink: &Sink) -> Result<Stdio, ProcError> {
    Ok(match sink {
        Sink::Memory { .. } | Sink::Log { .. } => Stdio::piped(),
        Sink::WithStdout | Sink::Null => Stdio::null(),
        Sink::File(path) => {
            Stdio::from(opened(call, path, File::options().append(true).create(true))?)
        }
    })
}

fn opened(call: &Call, path: &Utf8Path, how: &mut std::fs::OpenOptions) -> Result<File, ProcError> {
    open_regular(path, Links::Refused, how).map_err(|source| ProcError::Open {
        program: call.program.clone(),
        path: path.to_owned(),
        source,
    })
}

/// Tells when the child ended, without reaping it: its number stays its own until [`Running::finish`].
fn watch(pid: i32) -> Receiver<std::io::Result<()>> {
    let (tell, exit) = channel();
    std::thread::spawn(move || {
        let result = loop {
            let Some(pid) = Pid::from_raw(pid) else { break Ok(()) };
            match waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
                Ok(_) => break Ok(()),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => break Err(error.into()),
            }
        };
        // Nobody listens any more when the run was given up.
        let _heard = tell.send(result);
    });
    exit
}

/// A program that was started by [`start`].
#[derive(Debug)]
pub struct Running {
    program: camino::Utf8PathBuf,
    pid: i32,
    identity: Option<ProcessIdentity>,
    exit: Receiver<std::io::Result<()>>,
    exited: bool,
    child: Child,
    stdout: Option<Drain>,
    stderr: Option<Drain>,
    began: Instant,
}

impl Running {
    /// Its number, which is also its group's.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Its identity; `None` if it ended before it could be looked at.
    pub fn identity(&self) -> Option<&ProcessIdentity> {
        self.identity.as_ref()
    }

    /// Waits until it ended, at most for `patience`; answers `None` when it still runs.
    pub fn wait_timeout(&mut self, patience: Duration) -> Result<Option<()>, ProcError> {
        if self.exited {
            return Ok(Some(()));
        }
        match self.exit.recv_timeout(patience) {
            Ok(Ok(())) => {
                self.exited = true;
                Ok(Some(()))
            }
            Ok(Err(source)) => {
                Err(ProcError::Wait { program: self.program.clone(), pid: self.pid, source })
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Ok(None),
        }
    }

    /// Sends `signal` to its process group, unless it was reaped.
    pub fn signal_group(&self, signal: Signal) {
        if let Some(group) = Pid::from_raw(self.pid) {
            // An empty group is what we want.
            let _sent = kill_process_group(group, signal);
        }
    }

    /// Sends `signal` to the program alone.
    pub fn signal(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.pid) {
            // It may have ended just now.
            let _sent = rustix::process::kill_process(pid, signal);
        }
    }

    /// Asks its group to end, and kills what does not within `patience`, also in groups and sessions of their own.
    fn end_tree(&mut self, patience: Duration) -> Result<(), ProcError> {
        // Looked up while their parent lives: afterwards they are nobody's.
        let below = descendants(self.pid);
        self.signal_group(Signal::TERM);
        if self.wait_timeout(patience)?.is_none() {
            self.kill_tree();
        }
        self.signal_group(Signal::KILL);
        for process in below {
            process.signal(Signal::KILL);
        }
        Ok(())
    }

    /// Kills its group and whatever is below it, also in groups and sessions of their own.
    pub(crate) fn kill_tree(&self) {
        let mut seen = descendants(self.pid);
        self.signal(Signal::KILL);
        self.signal_group(Signal::KILL);
        while let Some(process) = seen.pop() {
            seen.extend(descendants(process.pid));
            process.signal(Signal::KILL);
        }
    }

    /// Waits for its end and reaps it.
    pub fn finish(mut self) -> Result<Finished, ProcError> {
        let status = self.child.wait();
        forget_child(self.pid);
        let status = status.map_err(|source| ProcError::Wait {
            program: self.program.clone(),
            pid: self.pid,
            source,
        })?;
        let elapsed = self.began.elapsed();
        let taken =
            |drain: Option<Drain>| drain.map(|d| d.finish(PIPE_PATIENCE)).unwrap_or_default();
        let (stdout, stdout_dropped_bytes) = taken(self.stdout.take());
        let (stderr, _) = taken(self.stderr.take());
        Ok(Finished { ended: status.into(), stdout, stdout_dropped_bytes, stderr, elapsed })
    }
}
