//! Our own files, in memory.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use dispatch_core::attempt::{AttemptCounts, AttemptNumber};
use dispatch_core::id::TaskId;
use dispatch_core::record::{Beat, Phase, Record, Request, SlotEntry};
use dispatch_core::slot::SlotName;
use dispatch_core::triage::Lane;
use dispatch_engine::ports::{
    AttemptFile, LaneState, OwnerRecord, PassLock, PortError, Recorded, Registry, SlotChange,
    Store, TaskLock, TryLock,
};
use serde_json::Value;

use super::World;

impl Store for World {
    fn wish_for_pass(&self) -> Result<(), PortError> {
        unimplemented!("passes wish")
    }

    fn wishes(&self) -> Result<u64, PortError> {
        let state = self.call();
        Ok(u64::from(state.wish_at.is_some_and(|at| at <= state.awake_ms)))
    }

    fn try_pass_lock(&self) -> Result<TryLock<Box<dyn PassLock>>, PortError> {
        unimplemented!("passes lock")
    }

    fn try_task_lock(&self, _id: &TaskId) -> Result<TryLock<Box<dyn TaskLock>>, PortError> {
        unimplemented!("a supervisor is handed its lock")
    }

    fn records(&self) -> Result<Vec<Recorded>, PortError> {
        unimplemented!("a supervisor has one record")
    }

    fn record(&self, _id: &TaskId) -> Result<Option<Record>, PortError> {
        Ok(self.call().record.clone())
    }

    fn write_record(&self, record: &Record) -> Result<(), PortError> {
        let mut state = self.effect();
        if record.phase == Phase::Ended {
            state.log.push("end the record".to_owned());
        }
        if let Some(waiting) = record.waiting.clone().filter(|it| state.waited.last() != Some(it)) {
            state.waited.push(waiting);
        }
        state.record = Some(record.clone());
        Ok(())
    }

    fn allocate_attempt(
        &self,
        _id: &TaskId,
        _above: Option<AttemptNumber>,
    ) -> Result<AttemptNumber, PortError> {
        unimplemented!("a claim allocates")
    }

    fn attempt_counts(&self, _id: &TaskId) -> Result<AttemptCounts, PortError> {
        Ok(AttemptCounts::default())
    }

    fn archive_attempts(&self, _id: &TaskId) -> Result<u32, PortError> {
        Ok(0)
    }

    fn has_attempts(&self, _id: &TaskId) -> Result<bool, PortError> {
        Ok(true)
    }

    fn attempt_dir(&self, id: &TaskId, attempt: AttemptNumber) -> Utf8PathBuf {
        format!("/code/backlog/.dispatch/{id}/attempt-{attempt}").into()
    }

    fn attempt_dir_shown(&self, id: &TaskId, attempt: AttemptNumber) -> String {
        format!("backlog/.dispatch/{id}/attempt-{attempt}")
    }

    fn write_attempt_file(
        &self,
        _id: &TaskId,
        _attempt: AttemptNumber,
        file: AttemptFile,
        content: &[u8],
    ) -> Result<(), PortError> {
        self.effect().files.insert(file, content.to_vec());
        Ok(())
    }

    fn append_attempt_file(
        &self,
        _id: &TaskId,
        _attempt: AttemptNumber,
        file: AttemptFile,
        content: &[u8],
    ) -> Result<(), PortError> {
        self.call().files.entry(file).or_default().extend_from_slice(content);
        Ok(())
    }

    fn read_attempt_file(
        &self,
        _id: &TaskId,
        _attempt: AttemptNumber,
        file: AttemptFile,
    ) -> Result<Option<Vec<u8>>, PortError> {
        Ok(self.call().files.get(&file).cloned())
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
        _id: &TaskId,
        name: &'static str,
        value: &Value,
    ) -> Result<(), PortError> {
        let mut state = self.effect();
        state.log.push(format!("keep {name}"));
        state.private.insert(name.to_owned(), value.clone());
        Ok(())
    }

    fn read_private(&self, _id: &TaskId, name: &'static str) -> Result<Option<Value>, PortError> {
        Ok(self.call().private.get(name).cloned())
    }

    fn registry(&self) -> Result<Registry, PortError> {
        let entry = self.call().entry.clone();
        Ok(Registry { configured: vec![entry.name.clone()], slots: vec![entry] })
    }

    fn change_slot(&self, _name: &SlotName, change: &SlotChange) -> Result<SlotEntry, PortError> {
        let mut state = self.effect();
        let before = state.entry.clone();
        match change {
            SlotChange::Bind { .. } => unimplemented!("a claim binds"),
            SlotChange::Free { task } => {
                if state.entry.task_id.as_ref() == Some(task) {
                    state.entry.task_id = None;
                    state.entry.attempt = None;
                    state.log.push("free the slot".to_owned());
                }
            }
            SlotChange::Hold { task, cause } => {
                if state.entry.task_id.as_ref() == Some(task) {
                    state.entry.held = Some(cause.clone());
                }
            }
            SlotChange::Unhold { task } => {
                if state.entry.task_id == *task {
                    state.entry.held = None;
                }
            }
            SlotChange::Installed { lockfile_hash } => {
                state.entry.lockfile_hash.clone_from(lockfile_hash);
            }
        }
        Ok(before)
    }

    fn write_request(&self, _id: &TaskId, request: &Request) -> Result<(), PortError> {
        let mut state = self.call();
        let pending = state.request.take();
        state.request = Some(request.clone().beside(pending));
        Ok(())
    }

    fn request(&self, _id: &TaskId) -> Result<Option<Request>, PortError> {
        Ok(self.call().request.clone())
    }

    fn clear_request(&self, _id: &TaskId) -> Result<(), PortError> {
        self.effect().request = None;
        Ok(())
    }

    fn lane_state(&self, _lane: Lane) -> Result<LaneState, PortError> {
        Ok(self.call().lane.clone())
    }

    fn change_lane_state(
        &self,
        _lane: Lane,
        change: &mut dyn FnMut(&mut LaneState),
    ) -> Result<LaneState, PortError> {
        let mut state = self.effect();
        change(&mut state.lane);
        Ok(state.lane.clone())
    }

    fn owner(&self) -> Result<OwnerRecord, PortError> {
        self.call();
        Ok(OwnerRecord::default())
    }

    fn write_owner(&self, _owner: &OwnerRecord) -> Result<(), PortError> {
        unimplemented!("a pass writes it")
    }

    fn observed(&self, _id: &TaskId) -> Result<Option<(Beat, Beat)>, PortError> {
        unimplemented!("a sweep observes")
    }

    fn write_observed(&self, _id: &TaskId, _seen: &Beat, _at: &Beat) -> Result<(), PortError> {
        unimplemented!("a sweep observes")
    }

    fn backups(&self) -> Result<BTreeMap<String, u32>, PortError> {
        Ok(self.call().backups.clone())
    }

    fn change_backups(
        &self,
        change: &mut dyn FnMut(&mut BTreeMap<String, u32>),
    ) -> Result<(), PortError> {
        let mut state = self.effect();
        if state.backups_broken {
            return Err(PortError::new("write the list of backups", "the disk is full"));
        }
        change(&mut state.backups);
        Ok(())
    }

    fn random_token(&self) -> Result<String, PortError> {
        self.call();
        Ok("0123456789abcdef0123456789abcdef".to_owned())
    }
}
