//! Starting a supervisor that outlives us (D9.1).

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::time::Duration;

use camino::Utf8PathBuf;
use dispatch_core::id::TaskId;
use dispatch_core::record::ProcessMark;
use dispatch_engine::ports::{PortError, TaskLock};
use dispatch_proc::{Call, Detached, Sink, find_program, run, spawn_detached};

use crate::process::{MARKER, mark_of};

/// What puts a program into a scope of its own under the user's manager, so that the end of the unit that started
/// us is not its end.
const SCOPE: [&str; 6] = ["systemd-run", "--user", "--scope", "--quiet", "--collect", "--"];
/// How long the user's manager may take to answer.
const SCOPE_LIMIT: Duration = Duration::from_secs(5);
/// What a callback says about itself, and what belongs to one attempt: a supervisor is no callback, and a pass that a
/// worker's doing started must not make it look like something that worker left behind.
const NOT_INHERITED: [&str; 7] = [
    "TASK_ID",
    "TASK_TITLE",
    "OLD_STATUS",
    "NEW_STATUS",
    MARKER,
    "DISPATCH_TASK_ID",
    "DISPATCH_MAILBOX",
];

/// The program that supervises: ourselves.
pub struct SupervisorProgram {
    /// Its path.
    pub program: Utf8PathBuf,
    /// Arguments that go before `supervise <ID>`.
    pub args: Vec<String>,
    /// Where it runs: the code root.
    pub dir: Utf8PathBuf,
    /// Its whole environment; the variables of a callback and of an attempt are left out.
    pub env: BTreeMap<OsString, OsString>,
    /// A program and its arguments that make a session of their own and put the rest of their command line in
    /// their place.
    pub session: Vec<OsString>,
    /// The file a supervisor's output is appended to.
    pub log: Box<dyn Fn(&TaskId) -> Utf8PathBuf>,
    /// Whether the user's manager makes scopes for us, once it was asked.
    pub scopes: OnceCell<bool>,
}

impl fmt::Debug for SupervisorProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SupervisorProgram")
            .field("program", &self.program)
            .field("dir", &self.dir)
            .finish_non_exhaustive()
    }
}

impl SupervisorProgram {
    /// Starts the supervisor of a task, which gets the task's lock as its standard input.
    pub(crate) fn start(
        &self,
        id: &TaskId,
        lock: Box<dyn TaskLock>,
        recover: bool,
    ) -> Result<ProcessMark, PortError> {
        let doing = || format!("start the supervisor of {id}");
        let descriptor = match lock.descriptor() {
            Some(descriptor) => Some(
                descriptor.try_clone_to_owned().map_err(|error| PortError::new(doing(), error))?,
            ),
            None => None,
        };
        let log = (self.log)(id);
        if let Some(folder) = log.parent() {
            std::fs::create_dir_all(folder).map_err(|error| PortError::new(doing(), error))?;
        }
        let call = self.call(id, recover);
        let started = spawn_detached(Detached { call, stdin: descriptor, log });
        // The supervisor holds it now; until here nobody could take it.
        drop(lock);
        started.map(mark_of).map_err(|error| PortError::new(doing(), error))
    }

    fn call(&self, id: &TaskId, recover: bool) -> Call {
        let mut call = Call::new(&self.program, &self.dir, Duration::MAX)
            .args(&self.args)
            .args(["supervise", &id.canonical()])
            .envs(
                self.env.iter().filter(|(name, _)| !NOT_INHERITED.iter().any(|&own| own == *name)),
            );
        if recover {
            call = call.arg("--recover");
        }
        call.launcher.clone_from(&self.session);
        if *self.scopes.get_or_init(|| self.has_scopes()) {
            call.launcher.extend(SCOPE.map(OsString::from));
        }
        call
    }

    /// Whether there is a user's manager that makes scopes: found out by making one.
    fn has_scopes(&self) -> bool {
        let is_set = |name: &str| self.env.contains_key(OsStr::new(name));
        if !is_set("XDG_RUNTIME_DIR") && !is_set("DBUS_SESSION_BUS_ADDRESS") {
            return false;
        }
        let path = self.env.get(OsStr::new("PATH")).map(|path| &**path);
        if find_program(SCOPE[0], path, &self.dir).is_err() {
            return false;
        }
        let mut call = Call::new(SCOPE[0], &self.dir, SCOPE_LIMIT)
            .args(&SCOPE[1..])
            .arg("true")
            .envs(&self.env);
        call.stdout = Sink::Null;
        run(&call).is_ok_and(|finished| finished.is_success())
    }
}
