//! Sessions, and processes that outlive us.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use camino::Utf8PathBuf;

use crate::regular::{Links, open_regular};
use crate::run::{command_of, spawn};
use crate::{Call, ProcError, ProcessIdentity};

/// A process to start that goes on without us.
#[derive(Debug)]
pub struct Detached {
    /// What to run; its `launcher` must make a session of its own ([`exec_in_own_session`]), its streams and
    /// limit are not used.
    pub call: Call,
    /// An open descriptor handed over as its standard input, such as a held lock; nobody else gets it.
    pub stdin: Option<OwnedFd>,
    /// The file both its output streams are appended to.
    pub log: Utf8PathBuf,
}

/// Starts a process that goes on without us, and lets go of it.
///
/// The descriptor given as its standard input is closed here, whether this succeeds or not.
pub fn spawn_detached(detached: Detached) -> Result<ProcessIdentity, ProcError> {
    let Detached { call, stdin, log } = detached;
    let open =
        |source| ProcError::Open { program: call.program.clone(), path: log.clone(), source };
    let output = open_regular(&log, Links::Refused, File::options().append(true).create(true))
        .map_err(open)?;
    let mut command = command_of(&call)?;
    if call.launcher.is_empty() {
        command.process_group(0);
    }
    command
        .stdin(stdin.map_or_else(Stdio::null, Stdio::from))
        .stdout(output.try_clone().map_err(open)?)
        .stderr(output);
    let child = spawn(&call, &mut command)?;
    let pid = child.id().cast_signed();
    // One that ended at once is found dead by whoever looks at what is answered here.
    Ok(ProcessIdentity::of(pid).unwrap_or_else(|| ProcessIdentity {
        pid,
        start: 0,
        boot_id: crate::boot_id(),
    }))
}

/// Makes a session of its own for this process and puts `command_line` in its place; returns only if that fails.
///
/// This is what a launcher program calls: between the start of a process and its program nothing of ours can
/// run safely, so a small program of ours takes that place.
pub fn exec_in_own_session(command_line: &[OsString]) -> ProcError {
    let Some((program, args)) = command_line.split_first() else {
        return ProcError::NotFound { program: String::new(), path: String::new() };
    };
    // A process that already leads a session or group needs no other; that is the only way this fails.
    let _session = rustix::process::setsid();
    let source = Command::new(program).args(args).exec();
    ProcError::Start {
        program: Utf8PathBuf::from(program.to_string_lossy().into_owned()),
        dir: Utf8PathBuf::from("."),
        source,
    }
}

/// Puts `call` in the place of this process, with this process's streams; returns only if that fails.
pub fn exec_in_place(call: &Call) -> ProcError {
    match command_of(call) {
        Ok(mut command) => ProcError::Start {
            program: call.program.clone(),
            dir: call.dir.clone(),
            source: command.exec(),
        },
        Err(error) => error,
    }
}

/// Makes this process the one that inherits the orphans below it.
pub fn set_child_subreaper() -> Result<(), ProcError> {
    subreaper(Some(rustix::process::getpid()), "become the parent of orphaned processes")
}

/// Gives that up again.
pub fn unset_child_subreaper() -> Result<(), ProcError> {
    subreaper(None, "stop being the parent of orphaned processes")
}

fn subreaper(value: Option<rustix::process::Pid>, what: &'static str) -> Result<(), ProcError> {
    rustix::process::set_child_subreaper(value)
        .map_err(|error| ProcError::Attribute { what, source: error.into() })
}
