//! Our own files, in memory, with locks that belong to processes.

use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;

use camino::Utf8PathBuf;
use dispatch_core::attempt::{AttemptCounts, AttemptNumber};
use dispatch_core::id::TaskId;
use dispatch_core::record::{Beat, Record, Request, SlotEntry};
use dispatch_core::slot::SlotName;
use dispatch_core::triage::Lane;
use dispatch_engine::ports::{
    AttemptFile, LaneState, OwnerRecord, PassLock, PortError, Recorded, Registry, SlotChange,
    Store, TaskLock, TryLock,
};
use serde_json::Value;

use super::World;

const PASS: &str = "pass";

struct Lock {
    world: World,
    id: Option<TaskId>,
    name: String,
}

impl PassLock for Lock {}

impl TaskLock for Lock {
    fn id(&self) -> &TaskId {
        self.id.as_ref().unwrap()
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // While a process is being killed its last call may still hold the state; its locks end with it anyway.
        if let Ok(mut state) = self.world.shared.state.try_borrow_mut()
            && state.locks.get(&self.name) == Some(&self.world.pid)
        {
            state.locks.remove(&self.name);
        }
    }
}

/// The lock that a supervisor was handed.
pub(super) fn lock(world: &World, id: &TaskId) -> Box<dyn TaskLock> {
    Box::new(Lock { world: world.clone(), id: Some(id.clone()), name: id.canonical() })
}

impl World {
    fn take(&self, name: &str, id: Option<&TaskId>) -> TryLock<Lock> {
        let mut state = self.call();
        if let Some(holder) = state.locks.get(name) {
            return TryLock::Busy(format!("pid {holder}"));
        }
        state.locks.insert(name.to_owned(), self.pid);
        TryLock::Taken(Lock { world: self.clone(), id: id.cloned(), name: name.to_owned() })
    }

    fn attempt_path(&self, id: &TaskId, attempt: AttemptNumber, file: AttemptFile) -> Utf8PathBuf {
        self.attempt_dir(id, attempt).join(file.file_name())
    }
}

impl Store for World {
    fn wish_for_pass(&self) -> Result<(), PortError> {
        self.try_effect()?.wishes += 1;
        Ok(())
    }

    fn wishes(&self) -> Result<u64, PortError> {
        Ok(self.call().wishes)
    }

    fn try_pass_lock(&self) -> Result<TryLock<Box<dyn PassLock>>, PortError> {
        Ok(match self.take(PASS, None) {
            TryLock::Taken(lock) => TryLock::Taken(Box::new(lock)),
            TryLock::Busy(holder) => TryLock::Busy(holder),
        })
    }

    fn try_task_lock(&self, id: &TaskId) -> Result<TryLock<Box<dyn TaskLock>>, PortError> {
        Ok(match self.take(&id.canonical(), Some(id)) {
            TryLock::Taken(lock) => TryLock::Taken(Box::new(lock)),
            TryLock::Busy(holder) => TryLock::Busy(holder),
        })
    }

    fn records(&self) -> Result<Vec<Recorded>, PortError> {
        let state = self.call();
        let readable =
            state.records.values().map(|record| Recorded::Read(Box::new(record.clone())));
        let torn = state.unreadable.iter().map(|id| {
            let doing = format!("understand `tasks/{id}.json`");
            let error = PortError::new(doing, "expected value at line 1 column 1");
            Recorded::Unreadable { id: id.clone(), error }
        });
        Ok(readable.chain(torn).collect())
    }

    fn record(&self, id: &TaskId) -> Result<Option<Record>, PortError> {
        Ok(self.call().records.get(id).cloned())
    }

    fn write_record(&self, record: &Record) -> Result<(), PortError> {
        let mut state = self.try_effect()?;
        let holder = state.locks.get(&record.task_id.canonical());
        assert_eq!(holder, Some(&self.pid), "a record is written by the holder of its lock");
        state.records.insert(record.task_id.clone(), record.clone());
        Ok(())
    }

    fn allocate_attempt(
        &self,
        id: &TaskId,
        above: Option<AttemptNumber>,
    ) -> Result<AttemptNumber, PortError> {
        let mut state = self.try_effect()?;
        let highest = state.attempts.get(id).copied().max(above);
        let next = highest.map_or(AttemptNumber::FIRST, AttemptNumber::next);
        state.attempts.insert(id.clone(), next);
        Ok(next)
    }

    fn attempt_counts(&self, id: &TaskId) -> Result<AttemptCounts, PortError> {
        Ok(self.call().records.get(id).map(|record| record.counts).unwrap_or_default())
    }

    fn archive_attempts(&self, id: &TaskId) -> Result<u32, PortError> {
        self.try_effect()?;
        Ok(u32::from(self.call().attempts.contains_key(id)))
    }

    fn has_attempts(&self, id: &TaskId) -> Result<bool, PortError> {
        Ok(self.call().attempts.contains_key(id))
    }

    fn attempt_dir(&self, id: &TaskId, attempt: AttemptNumber) -> Utf8PathBuf {
        format!("/code/backlog/.dispatch/{id}/attempt-{attempt}").into()
    }

    fn attempt_dir_shown(&self, id: &TaskId, attempt: AttemptNumber) -> String {
        format!("backlog/.dispatch/{id}/attempt-{attempt}")
    }

    fn write_attempt_file(
        &self,
        id: &TaskId,
        attempt: AttemptNumber,
        file: AttemptFile,
        content: &[u8],
    ) -> Result<(), PortError> {
        let path = self.attempt_path(id, attempt, file);
        self.try_effect()?.files.insert(path, content.to_vec());
        Ok(())
    }

    fn append_attempt_file(
        &self,
        id: &TaskId,
        attempt: AttemptNumber,
        file: AttemptFile,
        content: &[u8],
    ) -> Result<(), PortError> {
        let path = self.attempt_path(id, attempt, file);
        self.call().files.entry(path).or_default().extend_from_slice(content);
        Ok(())
    }

    fn read_attempt_file(
        &self,
        id: &TaskId,
        attempt: AttemptNumber,
        file: AttemptFile,
    ) -> Result<Option<Vec<u8>>, PortError> {
        let path = self.attempt_path(id, attempt, file);
        Ok(self.call().files.get(&path).cloned())
    }

    fn read_attempt_file_end(
        &self,
        id: &TaskId,
        attempt: AttemptNumber,
        file: AttemptFile,
        most_bytes: u64,
    ) -> Result<Option<Vec<u8>>, PortError> {
        let read = self.read_attempt_file(id, attempt, file)?;
        let most = usize::try_from(most_bytes).unwrap_or(usize::MAX);
        Ok(read.map(|bytes| bytes[bytes.len().saturating_sub(most)..].to_vec()))
    }

    fn write_private(
        &self,
        id: &TaskId,
        name: &'static str,
        value: &Value,
    ) -> Result<(), PortError> {
        self.try_effect()?.private.insert((id.clone(), name.to_owned()), value.clone());
        Ok(())
    }

    fn read_private(&self, id: &TaskId, name: &'static str) -> Result<Option<Value>, PortError> {
        Ok(self.call().private.get(&(id.clone(), name.to_owned())).cloned())
    }

    fn registry(&self) -> Result<Registry, PortError> {
        let state = self.call();
        Ok(Registry { slots: state.registry.clone(), configured: state.configured.clone() })
    }

    fn change_slot(&self, name: &SlotName, change: &SlotChange) -> Result<SlotEntry, PortError> {
        let mut state = self.try_effect()?;
        let capacity = state.capacity.clone();
        let entry = state.registry.iter_mut().find(|entry| entry.name == *name).unwrap();
        let before = entry.clone();
        match change {
            SlotChange::Bind { lane, task, attempt } => {
                let others = entry.task_id.as_ref().is_some_and(|bound| bound != task);
                if others || entry.held.is_some() {
                    return Err(PortError::new(format!("bind slot {name}"), "it is taken"));
                }
                entry.lane = Some(*lane);
                entry.task_id = Some(task.clone());
                entry.attempt = Some(*attempt);
                // I2.
                let bound = state.registry.iter().filter(|entry| entry.lane == Some(*lane));
                let bound = u32::try_from(bound.count()).unwrap();
                assert!(bound <= capacity[lane], "lane {lane} runs {bound}");
            }
            SlotChange::Free { task } => {
                if entry.task_id.as_ref() == Some(task) {
                    entry.lane = None;
                    entry.task_id = None;
                    entry.attempt = None;
                }
            }
            SlotChange::Hold { task, cause } => {
                if entry.task_id.as_ref() == Some(task) {
                    entry.held = Some(cause.clone());
                }
            }
            SlotChange::Unhold { task } => {
                if entry.task_id == *task {
                    entry.held = None;
                }
            }
            SlotChange::Installed { lockfile_hash } => {
                entry.lockfile_hash.clone_from(lockfile_hash);
            }
        }
        Ok(before)
    }

    fn write_request(&self, id: &TaskId, request: &Request) -> Result<(), PortError> {
        let mut state = self.try_effect()?;
        let request = request.clone().beside(state.requests.get(id).cloned());
        state.requests.insert(id.clone(), request);
        Ok(())
    }

    fn request(&self, id: &TaskId) -> Result<Option<Request>, PortError> {
        Ok(self.call().requests.get(id).cloned())
    }

    fn clear_request(&self, id: &TaskId) -> Result<(), PortError> {
        self.try_effect()?.requests.remove(id);
        Ok(())
    }

    fn lane_state(&self, lane: Lane) -> Result<LaneState, PortError> {
        Ok(self.call().lanes.get(&lane).cloned().unwrap_or_default())
    }

    fn change_lane_state(
        &self,
        lane: Lane,
        change: &mut dyn FnMut(&mut LaneState),
    ) -> Result<LaneState, PortError> {
        let mut state = self.try_effect()?;
        let lane_state = state.lanes.entry(lane).or_default();
        change(lane_state);
        Ok(lane_state.clone())
    }

    fn owner(&self) -> Result<OwnerRecord, PortError> {
        Ok(self.call().owner.clone())
    }

    fn write_owner(&self, owner: &OwnerRecord) -> Result<(), PortError> {
        self.try_effect()?.owner = owner.clone();
        Ok(())
    }

    fn observed(&self, id: &TaskId) -> Result<Option<(Beat, Beat)>, PortError> {
        Ok(self.call().observed.get(id).cloned())
    }

    fn write_observed(&self, id: &TaskId, seen: &Beat, at: &Beat) -> Result<(), PortError> {
        self.try_effect()?.observed.insert(id.clone(), (seen.clone(), at.clone()));
        Ok(())
    }

    fn backups(&self) -> Result<BTreeMap<String, u32>, PortError> {
        Ok(self.call().backups.clone())
    }

    fn change_backups(
        &self,
        change: &mut dyn FnMut(&mut BTreeMap<String, u32>),
    ) -> Result<(), PortError> {
        change(&mut self.try_effect()?.backups);
        Ok(())
    }

    fn random_token(&self) -> Result<String, PortError> {
        let mut state = self.call();
        state.tokens += 1;
        Ok(format!("{:032x}", state.tokens))
    }
}
