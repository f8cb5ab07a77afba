//! A supervisor's sign of life, kept up by a thread of its own while the supervisor waits for something long (D9.4).

use std::ops::ControlFlow;
use std::os::fd::BorrowedFd;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use dispatch_core::id::TaskId;
use dispatch_core::record::Phase;
use dispatch_engine::ports::{Clock, PortError, TaskLock};
use dispatch_engine::texts::moment;

use crate::DiskStore;

/// A task's lock under which the beat of the record advances; it ends before the lock does.
///
/// Everything a supervisor waits for has a limit, so that living is sign enough of getting on.
struct BeatingLock {
    // Fields are dropped in this order.
    _beating: Beating,
    lock: Box<dyn TaskLock>,
}

impl TaskLock for BeatingLock {
    fn id(&self) -> &TaskId {
        self.lock.id()
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.lock.descriptor()
    }
}

/// The thread; dropping this waits for its end, so that nothing is written afterwards.
struct Beating {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Beating {
    fn drop(&mut self) {
        drop(self.stop.take());
        // A thread that panicked beats no more, which is all that is wanted here.
        self.thread.take().map(JoinHandle::join);
    }
}

impl DiskStore {
    /// Lets the beat of the record whose lock is given advance at least at this interval until the lock ends.
    pub fn beating(
        &self,
        lock: Box<dyn TaskLock>,
        clock: impl Clock + Send + 'static,
        every: Duration,
    ) -> Result<Box<dyn TaskLock>, PortError> {
        let Some(record) = self.read_record(lock.id())? else { return Ok(lock) };
        let (store, id) = (self.clone(), lock.id().clone());
        let (stop, stopped) = channel();
        let thread = std::thread::spawn(move || {
            while stopped.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                match store.beat(&id, &record.token, &clock, every) {
                    Ok(ControlFlow::Continue(())) => {}
                    Ok(ControlFlow::Break(())) => return,
                    Err(error) => {
                        tracing::warn!(error = error.chain(), "the beat could not be written");
                    }
                }
            }
        });
        let beating = Beating { stop: Some(stop), thread: Some(thread) };
        Ok(Box::new(BeatingLock { _beating: beating, lock }))
    }

    /// One beat, unless the supervisor itself did that just now; breaks off when the record is another claim's (D9.7).
    fn beat(
        &self,
        id: &TaskId,
        token: &str,
        clock: &dyn Clock,
        every: Duration,
    ) -> Result<ControlFlow<()>, PortError> {
        let _writing = self.writing_records();
        let Some(mut record) = self.read_record(id)? else { return Ok(ControlFlow::Break(())) };
        if record.token != token {
            return Ok(ControlFlow::Break(()));
        }
        let now = clock.beat();
        let fresh = record.beat.as_ref().is_some_and(|beat| {
            let age = now.awake_ms.checked_sub(beat.awake_ms).map(Duration::from_millis);
            beat.boot_id == now.boot_id && age.is_some_and(|age| age < every)
        });
        // A record that has ended may be taken up again, by whoever saves a held slot.
        if record.phase != Phase::Ended && !fresh {
            record.beat = Some(now);
            record.heartbeat_at = Some(moment(clock.now()));
            self.write_record_file(&record)?;
        }
        Ok(ControlFlow::Continue(()))
    }
}
