//! Following a worker to its end: stream, beat, limits, requests, broker (D9.3–D9.11).

use std::time::Duration;

use dispatch_close::execute::Stop;
use dispatch_close::phrase::Said;
use dispatch_close::plan::{ClosePlan, Detail, Failure, Frozen, failure_plan};
use dispatch_close::text::plain;
use dispatch_core::names::{BlockReason, Outcome, RequeueReason};
use dispatch_core::outcome::{
    Ended, Ending, ExpectedSurface, Stopped, StreamSummary, classify, surface_mismatch,
};

use super::{Asked, Attempt, broker, leave, plan_for};
use crate::ports::{AttemptFile, ExitMark, Mailbox, PortError, Running};

/// How often the stream is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How long a worker may live after its `result` event (D9.10).
const AFTER_RESULT: Duration = Duration::from_secs(30);
/// How often requests from outside are looked for.
const ASK_EVERY_MS: u64 = 1_000;
/// How much of the end of the worker's error output is read, and what a comment shows of a worker's words.
const STDERR_END_BYTES: u64 = 8 * 1024;
const TAIL_LINES: usize = 30;
const TAIL_BYTES: usize = 4 * 1024;

/// A worker that runs.
pub(crate) struct Worker {
    /// The process.
    pub(crate) running: Box<dyn Running>,
    /// Its requests to the board.
    pub(crate) mailbox: Box<dyn Mailbox>,
    /// What it may have (D9.11).
    pub(crate) surface: ExpectedSurface,
    /// Its time limit.
    pub(crate) timeout: Duration,
    /// How long it may say nothing.
    pub(crate) stall: Option<Duration>,
}

struct Follow<'s, 'a> {
    attempt: &'s mut Attempt<'a>,
    worker: Worker,
    summary: StreamSummary,
    read_to: u64,
    began_ms: u64,
    active_ms: u64,
    result_ms: Option<u64>,
    asked_ms: u64,
    judged_init: bool,
    mismatch: Option<String>,
}

/// Why following ends.
#[derive(Clone, Copy)]
enum Over {
    Exited(ExitMark),
    Stop(Stopped),
    /// It said its last word and stays.
    Lingers,
}

/// Follows the worker until nothing of it is left, and plans what follows.
pub(crate) fn follow(attempt: &mut Attempt<'_>, worker: Worker) -> Result<ClosePlan, Stop> {
    let now = attempt.ports.clock.beat().awake_ms;
    let mut follow = Follow {
        attempt,
        worker,
        summary: StreamSummary::default(),
        read_to: 0,
        began_ms: now,
        active_ms: now,
        result_ms: None,
        asked_ms: now,
        judged_init: false,
        mismatch: None,
    };
    let over = loop {
        if let Some(over) = follow.look()? {
            break over;
        }
        follow.worker.mailbox.wait(LOOK_EVERY);
    };
    follow.end(over)
}

impl Follow<'_, '_> {
    fn now(&self) -> u64 {
        self.attempt.ports.clock.beat().awake_ms
    }

    /// One look at everything; why following ends, if it does.
    fn look(&mut self) -> Result<Option<Over>, Stop> {
        // Asked before the stream is read: what was written before the exit is then in what is read.
        let exited = self.worker.running.poll();
        if self.read() {
            self.active_ms = self.now();
        }
        match broker::serve(self.attempt, &*self.worker.mailbox) {
            Ok(true) => self.active_ms = self.now(),
            Ok(false) => {}
            Err(error) => self.attempt.note(&format!("the mailbox: {}", error.chain())),
        }
        self.attempt.beat();
        match exited {
            Ok(Some(exit)) => return Ok(Some(Over::Exited(exit))),
            Ok(None) => {}
            Err(error) => {
                self.attempt.note(&error.chain());
                return Ok(Some(Over::Exited(ExitMark::Unknown)));
            }
        }
        if let Some(stopped) = self.why_stop()? {
            return Ok(Some(Over::Stop(stopped)));
        }
        // Whoever goes on talking after its result has what time it was given, and its result counts.
        let out_of_time = self.passed(self.began_ms, self.worker.timeout);
        let lingers = self.result_ms.is_some_and(|at| out_of_time || self.passed(at, AFTER_RESULT));
        Ok(lingers.then_some(Over::Lingers))
    }

    fn passed(&self, since_ms: u64, limit: Duration) -> bool {
        u128::from(self.now().saturating_sub(since_ms)) >= limit.as_millis()
    }

    /// Reads what is new; says whether there was anything.
    fn read(&mut self) -> bool {
        let ports = self.attempt.ports;
        let dir = ports.store.attempt_dir(self.attempt.id(), self.attempt.number());
        let file = dir.join(AttemptFile::Stream.file_name());
        let before = self.read_to;
        match ports.agent.read_stream(&file, before, &mut self.summary) {
            Ok(to) => self.read_to = to,
            Err(error) => self.attempt.note(&error.chain()),
        }
        self.tell();
        match (&self.summary.result, self.result_ms) {
            (Some(_), None) => self.result_ms = Some(self.now()),
            // A background task's turn goes on after a result; only the last one counts.
            (Some(_), Some(_)) if self.read_to > before => self.result_ms = Some(self.now()),
            _ => {}
        }
        self.read_to > before
    }

    /// Puts what the agent says and does into the readable log, while it runs.
    fn tell(&mut self) {
        for line in self.summary.take_told() {
            self.attempt.note(&line);
        }
    }

    /// Whether we stop the worker ourselves, and why.
    fn why_stop(&mut self) -> Result<Option<Stopped>, Stop> {
        if let Some(mismatch) = self.surface() {
            self.attempt.note(&mismatch);
            self.mismatch = Some(mismatch);
            return Ok(Some(Stopped::SurfaceMismatch));
        }
        let now = self.now();
        if now.saturating_sub(self.asked_ms) >= ASK_EVERY_MS {
            self.asked_ms = now;
            self.attempt.verify()?;
            match self.attempt.asked() {
                Some(Asked::Cancel(to)) => {
                    self.attempt.state.cancel_to = to;
                    return Ok(Some(Stopped::Cancelled));
                }
                Some(Asked::Interrupt) => return Ok(Some(Stopped::Interrupted)),
                None => {}
            }
        }
        if self.result_ms.is_some() {
            return Ok(None);
        }
        if self.passed(self.began_ms, self.worker.timeout) {
            return Ok(Some(Stopped::Timeout));
        }
        let stalled = self.worker.stall.is_some_and(|limit| self.passed(self.active_ms, limit));
        Ok(stalled.then_some(Stopped::Stalled))
    }

    /// What the agent has beyond what it was given (D9.11).
    fn surface(&mut self) -> Option<String> {
        let changed = self.summary.changed_init.as_ref();
        let init = match (changed, &self.summary.init) {
            (Some(changed), _) => changed,
            (None, Some(init)) if !self.judged_init => init,
            (None, _) => return None,
        };
        let mismatch = surface_mismatch(init, &self.worker.surface).map(|found| found.to_string());
        self.judged_init = true;
        mismatch
    }

    /// Ends whatever is left of the worker and classifies how it ended.
    fn end(mut self, over: Over) -> Result<ClosePlan, Stop> {
        let mut ending = Ending::default();
        let exit = match over {
            Over::Exited(exit) => self.strays().map(|()| exit),
            Over::Stop(stopped) => {
                ending.stopped = Some(stopped);
                self.attempt.state.stopped = Some(stopped.outcome());
                // Written before the first signal (D9.5).
                self.attempt.save_state()?;
                self.attempt.note(&format!("stopping the worker: {}", stopped.outcome()));
                self.worker.running.stop()
            }
            Over::Lingers => {
                self.attempt.note("the worker said its last word and does not end; ending it");
                self.worker.running.stop()
            }
        };
        // What cannot be ended may still write: nothing of the slot may be touched now, recovery tries again.
        let exit = exit.map_err(|error| leave(&error))?;
        self.read();
        self.summary.end();
        self.tell();
        if let Err(error) = broker::drain(&*self.worker.mailbox) {
            self.attempt.note(&format!("the mailbox: {}", error.chain()));
        }
        match exit {
            ExitMark::Code(code) => ending.exit = Some(code),
            ExitMark::Signal(signal) => ending.signal = Some(signal),
            ExitMark::Unknown => {}
        }
        ending.stderr_tail = self.stderr_tail();
        let lost = taken_away(exit) && ending.stopped.is_none() && self.summary.result.is_none();
        let ended = classify(&self.summary, &ending);
        keep(self.attempt, &ended);
        if lost {
            return Ok(lost_plan(self.attempt, Lost::Worker));
        }
        let detail = detail(&ended, exit, self.mismatch.as_deref());
        Ok(plan_for(self.attempt, ended.outcome, detail))
    }

    fn strays(&mut self) -> Result<(), PortError> {
        let left = self.worker.running.end_strays()?;
        if left.ended > 0 {
            self.attempt.note(&format!("ended {} processes the worker left behind", left.ended));
        }
        Ok(())
    }

    fn stderr_tail(&self) -> String {
        let attempt = &self.attempt;
        let end = attempt.ports.store.read_attempt_file_end(
            attempt.id(),
            attempt.number(),
            AttemptFile::WorkerStderr,
            STDERR_END_BYTES,
        );
        let bytes = end.unwrap_or_else(|error| {
            attempt.note(&error.chain());
            None
        });
        let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
        dispatch_close::text::tail(&text, TAIL_LINES, TAIL_BYTES)
    }
}

/// Keeps how the worker ended for the comment, `outcome.json` and the readable log.
pub(crate) fn keep(attempt: &mut Attempt<'_>, ended: &Ended) {
    attempt.state.limit_resets_at = ended.limit_resets_at.map(crate::texts::moment);
    attempt.state.denials = ended
        .figures
        .denials
        .iter()
        .map(|denial| format!("{} {}", denial.tool, denial.subject))
        .collect();
    attempt.state.ended = serde_json::to_value(ended).ok();
    attempt.note(&format!("the worker ended: {}", ended.outcome));
    if !ended.text.trim().is_empty() {
        attempt.note(&format!("its last words:\n{}", plain(&ended.text)));
    }
}

/// What a comment says about an outcome.
fn detail(ended: &Ended, exit: ExitMark, mismatch: Option<&str>) -> Detail {
    let text = ended.text.trim();
    if let Some(mismatch) = mismatch {
        Detail::Error(mismatch.to_owned())
    } else if ended.outcome == Outcome::NeedsGuidance {
        Detail::Question(text.to_owned())
    } else {
        let without_result = matches!(ended.outcome, Outcome::Crash | Outcome::UsageError);
        let about = match exit {
            ExitMark::Code(code) if without_result => {
                Said::AgentExitStatus.phrase(&[("code", &code)])
            }
            ExitMark::Signal(signal) if without_result => {
                Said::AgentSignal.phrase(&[("signal", &signal)])
            }
            ExitMark::Code(_) | ExitMark::Signal(_) | ExitMark::Unknown if text.is_empty() => {
                return Detail::Nothing;
            }
            ExitMark::Code(_) | ExitMark::Signal(_) | ExitMark::Unknown => {
                Said::AgentSaidLast.phrase(&[])
            }
        };
        Detail::Output { about, tail: dispatch_close::text::tail(text, TAIL_LINES, TAIL_BYTES) }
    }
}

/// Whether something else ended the worker, such as a system short of memory: these signals do not come from a fault of
/// the program itself.
fn taken_away(exit: ExitMark) -> bool {
    const HANGUP: i32 = 1;
    const INTERRUPT: i32 = 2;
    const KILL: i32 = 9;
    const TERMINATE: i32 = 15;
    match exit {
        ExitMark::Unknown => true,
        ExitMark::Signal(signal) => [HANGUP, INTERRUPT, KILL, TERMINATE].contains(&signal),
        ExitMark::Code(_) => false,
    }
}

/// Who disappeared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lost {
    /// Our worker.
    Worker,
    /// The supervisor before us.
    Supervisor,
}

/// The plan for an attempt whose worker or supervisor disappeared: back once, blocked the second time in a row
/// (D11.1).
pub(crate) fn lost_plan(attempt: &mut Attempt<'_>, lost: Lost) -> ClosePlan {
    let again = attempt.record.lost_in_a_row > 0;
    let (requeue, block) = match lost {
        Lost::Worker => (RequeueReason::WorkerLost, BlockReason::WorkerLost),
        Lost::Supervisor => (RequeueReason::SupervisorLost, BlockReason::SupervisorLost),
    };
    let failure = if again {
        Failure {
            step: None,
            disposition: dispatch_close::plan::Disposition::Block(block),
            detail: Detail::Nothing,
        }
    } else {
        Failure::requeue(None, requeue, Detail::Nothing)
    };
    failure_plan(failure, Frozen::NotYet)
}
