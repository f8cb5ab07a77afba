//! The engine's port over our files.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use dispatch_core::attempt::{AttemptCounts, AttemptNumber};
use dispatch_core::hex::hex;
use dispatch_core::id::TaskId;
use dispatch_core::record::{Beat, Record, Request, SlotEntry};
use dispatch_core::slot::SlotName;
use dispatch_core::triage::Lane;
use dispatch_engine::ports::{
    AttemptFile, LaneState, OwnerRecord, PassLock, PortError, Recorded, Registry, SlotChange,
    Store, TaskLock, TryLock,
};
use serde_json::Value;

use crate::DiskStore;

impl Store for DiskStore {
    fn wish_for_pass(&self) -> Result<(), PortError> {
        self.add_wish()
    }

    fn wishes(&self) -> Result<u64, PortError> {
        self.count_wishes()
    }

    fn try_pass_lock(&self) -> Result<TryLock<Box<dyn PassLock>>, PortError> {
        self.take_pass_lock()
    }

    fn try_task_lock(&self, id: &TaskId) -> Result<TryLock<Box<dyn TaskLock>>, PortError> {
        self.take_task_lock(id)
    }

    fn records(&self) -> Result<Vec<Recorded>, PortError> {
        self.all_records()
    }

    fn record(&self, id: &TaskId) -> Result<Option<Record>, PortError> {
        self.read_record(id)
    }

    fn write_record(&self, record: &Record) -> Result<(), PortError> {
        self.replace_record(record)
    }

    fn allocate_attempt(
        &self,
        id: &TaskId,
        above: Option<AttemptNumber>,
    ) -> Result<AttemptNumber, PortError> {
        self.new_attempt(id, above)
    }

    fn attempt_counts(&self, id: &TaskId) -> Result<AttemptCounts, PortError> {
        self.counts(id)
    }

    fn archive_attempts(&self, id: &TaskId) -> Result<u32, PortError> {
        self.archive(id)
    }

    fn has_attempts(&self, id: &TaskId) -> Result<bool, PortError> {
        self.any_attempts(id)
    }

    fn attempt_dir(&self, id: &TaskId, attempt: AttemptNumber) -> Utf8PathBuf {
        self.dir_of_attempt(id, attempt)
    }

    fn attempt_dir_shown(&self, id: &TaskId, attempt: AttemptNumber) -> String {
        self.shown_dir_of_attempt(id, attempt)
    }

    fn write_attempt_file(
        &self,
        id: &TaskId,
        attempt: AttemptNumber,
        file: AttemptFile,
        content: &[u8],
    ) -> Result<(), PortError> {
        self.replace_attempt_file(id, attempt, file, content)
    }

    fn append_attempt_file(
        &self,
        id: &TaskId,
        attempt: AttemptNumber,
        file: AttemptFile,
        content: &[u8],
    ) -> Result<(), PortError> {
        self.extend_attempt_file(id, attempt, file, content)
    }

    fn read_attempt_file(
        &self,
        id: &TaskId,
        attempt: AttemptNumber,
        file: AttemptFile,
    ) -> Result<Option<Vec<u8>>, PortError> {
        self.attempt_file(id, attempt, file)
    }

    fn read_attempt_file_end(
        &self,
        id: &TaskId,
        attempt: AttemptNumber,
        file: AttemptFile,
        most_bytes: u64,
    ) -> Result<Option<Vec<u8>>, PortError> {
        self.end_of_attempt_file(id, attempt, file, most_bytes)
    }

    fn write_private(
        &self,
        id: &TaskId,
        name: &'static str,
        value: &Value,
    ) -> Result<(), PortError> {
        self.replace_private(id, name, value)
    }

    fn read_private(&self, id: &TaskId, name: &'static str) -> Result<Option<Value>, PortError> {
        self.private_value(id, name)
    }

    fn registry(&self) -> Result<Registry, PortError> {
        self.read_registry()
    }

    fn change_slot(&self, name: &SlotName, change: &SlotChange) -> Result<SlotEntry, PortError> {
        self.change_entry(name, change)
    }

    fn write_request(&self, id: &TaskId, request: &Request) -> Result<(), PortError> {
        self.replace_request(id, request)
    }

    fn request(&self, id: &TaskId) -> Result<Option<Request>, PortError> {
        self.read_request(id)
    }

    fn clear_request(&self, id: &TaskId) -> Result<(), PortError> {
        self.remove_request(id)
    }

    fn lane_state(&self, lane: Lane) -> Result<LaneState, PortError> {
        self.read_lane_state(lane)
    }

    fn change_lane_state(
        &self,
        lane: Lane,
        change: &mut dyn FnMut(&mut LaneState),
    ) -> Result<LaneState, PortError> {
        self.change_lane(lane, change)
    }

    fn owner(&self) -> Result<OwnerRecord, PortError> {
        self.read_owner()
    }

    fn write_owner(&self, owner: &OwnerRecord) -> Result<(), PortError> {
        self.replace_owner(owner)
    }

    fn observed(&self, id: &TaskId) -> Result<Option<(Beat, Beat)>, PortError> {
        self.read_observed(id)
    }

    fn write_observed(&self, id: &TaskId, seen: &Beat, at: &Beat) -> Result<(), PortError> {
        self.replace_observed(id, seen, at)
    }

    fn backups(&self) -> Result<BTreeMap<String, u32>, PortError> {
        self.read_backups()
    }

    fn change_backups(
        &self,
        change: &mut dyn FnMut(&mut BTreeMap<String, u32>),
    ) -> Result<(), PortError> {
        self.change_backup_list(change)
    }

    fn random_token(&self) -> Result<String, PortError> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)
            .map_err(|source| PortError::new("draw a random token", source))?;
        Ok(hex(&bytes))
    }
}
