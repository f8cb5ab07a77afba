//! Claude Code as the engine's agent (W4).

use std::ffi::OsString;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_core::attempt::AttemptNumber;
use dispatch_core::error_chain::chain;
use dispatch_core::id::TaskId;
use dispatch_core::outcome::StreamSummary;
use dispatch_core::record::ProcessMark;
use dispatch_engine::ports::{
    Agent, AgentLaunch, Leftovers, Mailbox, PortError, PrivatePlace, Review, ReviewRequest, Running,
};
use dispatch_proc::{
    Call, ProcError, ProcessIdentity, Sink, Stdin, StopLimits, StrayMark, boot_id,
    set_child_subreaper, start,
};

use crate::leftovers::end_leftovers;
use crate::mailbox::FolderMailbox;
use crate::place;
use crate::process::{MARKER, identity_of, mark_of, marked_or_below};
use crate::readiness::{missing, readiness};
use crate::reviewer::review;
use crate::stream::OpenStreams;
use crate::worker::Worker;

/// How the agent is run.
#[derive(Debug, Clone)]
pub struct ClaudeSettings {
    /// The program, looked up on the `PATH` of each launch.
    pub program: String,
    /// A program and its arguments that make a session of their own and put the rest of their command line in
    /// their place.
    pub session: Vec<OsString>,
    /// What tells this dispatcher from another of the same user: its state directory.
    pub scope: String,
    /// The person's `TMPDIR`; private folders are made there when it is short enough, else in `/tmp`.
    pub temporary: Option<String>,
    /// How patient the stop procedure is.
    pub stop: StopLimits,
}

impl ClaudeSettings {
    /// The settings for one state directory.
    pub fn new(
        session: Vec<OsString>,
        scope: impl Into<String>,
        temporary: Option<String>,
    ) -> Self {
        Self {
            program: "claude".to_owned(),
            session,
            scope: scope.into(),
            temporary,
            stop: StopLimits::default(),
        }
    }
}

/// Claude Code.
#[derive(Debug, Clone)]
pub struct ClaudeAgent {
    settings: ClaudeSettings,
    streams: Arc<OpenStreams>,
}

impl ClaudeAgent {
    /// The agent as set.
    pub fn new(settings: ClaudeSettings) -> Self {
        Self { settings, streams: Arc::default() }
    }

    fn base(&self) -> Utf8PathBuf {
        place::base(self.settings.temporary.as_deref())
    }

    fn make_place(&self, parts: &[&str]) -> Result<PrivatePlace, PortError> {
        let (base, name) =
            (self.base(), place::short_name(&[&[&*self.settings.scope], parts].concat()));
        place::make(&base, &name)
            .map_err(|error| PortError::new(format!("make private folders in `{base}`"), error))
    }

    fn call(&self, launch: &AgentLaunch) -> Call {
        let mut call = Call::new(self.settings.program.as_str(), &launch.dir, Duration::MAX)
            .args(&launch.argv)
            .envs(launch.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdin::File(launch.stdin.clone()));
        call.stdout = Sink::File(launch.stdout.clone());
        call.stderr = Sink::File(launch.stderr.clone());
        call.launcher.clone_from(&self.settings.session);
        call
    }

    fn try_review(
        &self,
        request: &ReviewRequest,
        alive: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<Review, PortError> {
        set_child_subreaper().map_err(|error| PortError::new("run the reviewer", error))?;
        let place = self.make_place(&["review", &request.marker, &request.token])?;
        let review = review(&self.settings.program, request, &place, alive);
        let removed = self.remove_private_place(&place);
        let review = review.map_err(|error| {
            PortError::new(format!("keep the review's files in `{}`", place.root), error)
        })?;
        if let Err(error) = removed {
            tracing::warn!(error = error.chain(), "the reviewer's folders are left behind");
        }
        Ok(review)
    }
}

impl Agent for ClaudeAgent {
    fn private_place(
        &self,
        id: &TaskId,
        attempt: AttemptNumber,
    ) -> Result<PrivatePlace, PortError> {
        self.make_place(&["attempt", &id.canonical(), &attempt.to_string()])
    }

    fn give_settings(&self, place: &PrivatePlace, text: &str) -> Result<(), PortError> {
        place::give_settings(place, text).map_err(|error| {
            let folder = &place.configuration;
            PortError::new(format!("put the person's settings into `{folder}`"), error)
        })
    }

    fn mailbox(&self, place: &PrivatePlace) -> Result<Box<dyn Mailbox>, PortError> {
        Ok(Box::new(FolderMailbox::open(&place.mailbox)?))
    }

    fn remove_private_place(&self, place: &PrivatePlace) -> Result<(), PortError> {
        place::remove(&place.root)
            .map_err(|error| PortError::new(format!("remove `{}`", place.root), error))
    }

    fn launch(&self, launch: &AgentLaunch) -> Result<Box<dyn Running>, PortError> {
        let program = &self.settings.program;
        let failed = |error: ProcError| {
            let missing = matches!(error, ProcError::NotFound { .. });
            let error = PortError::new(format!("start the agent in `{}`", launch.dir), error);
            if missing {
                error.hint(format!(
                    "install `{program}`, or put its folder on the PATH of this service"
                ))
            } else {
                error
            }
        };
        let marker = launch.env.iter().find(|(name, _)| name == MARKER).map(|(_, value)| value);
        let strays = marker.map_or(StrayMark::BelowThisProcess, |marker| marked_or_below(marker));
        // Whatever the worker leaves behind comes to us.
        set_child_subreaper().map_err(failed)?;
        let running = start(&self.call(launch)).map_err(failed)?;
        let identity = running.identity().cloned().unwrap_or_else(|| ProcessIdentity {
            pid: running.pid(),
            start: 0,
            boot_id: boot_id(),
        });
        Ok(Box::new(Worker::new(
            running,
            mark_of(identity),
            Utf8PathBuf::from(program),
            strays,
            self.settings.stop,
        )))
    }

    fn read_stream(
        &self,
        file: &Utf8Path,
        from: u64,
        summary: &mut StreamSummary,
    ) -> Result<u64, PortError> {
        self.streams
            .follow(file, from, |bytes| summary.push(bytes))
            .map_err(|error| PortError::new(format!("read the agent's events in `{file}`"), error))
    }

    fn end_leftovers(
        &self,
        worker: Option<&ProcessMark>,
        marker: &str,
    ) -> Result<Leftovers, PortError> {
        end_leftovers(worker.map(identity_of).as_ref(), marker, self.settings.stop)
            .map(|ended| Leftovers { ended })
            .map_err(|error| {
                PortError::new(format!("end what is left of attempt `{marker}`"), error)
            })
    }

    fn missing(&self, account: Option<&str>) -> Vec<String> {
        missing(&self.settings.program, account, |name| std::env::var_os(name))
    }

    fn readiness(&self, health_check_url: &str, model: &str) -> Result<(), String> {
        readiness(health_check_url, model)
    }

    fn review(
        &self,
        request: &ReviewRequest,
        alive: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Review {
        self.try_review(request, alive).unwrap_or_else(|error| Review::Error(chain(&error)))
    }
}
