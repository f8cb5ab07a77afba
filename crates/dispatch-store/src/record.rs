//! Records, requests and private values of tasks.

use dispatch_core::id::TaskId;
use dispatch_core::record::{Record, Request};
use dispatch_engine::ports::{PortError, Recorded};
use serde_json::Value;

use crate::DiskStore;
use crate::files::{names_in, read_json, refused, remove, replace_json};
use crate::shared::SHARED_LOCK;

const RECORD: &str = ".json";
const REQUEST: &str = ".request";

impl DiskStore {
    pub(crate) fn all_records(&self) -> Result<Vec<Recorded>, PortError> {
        let mut found = Vec::new();
        for name in names_in(&self.state_file("tasks"))? {
            // Private values are named `<ID>.<name>.json`, which is no id.
            let Some(id) = name.strip_suffix(RECORD).and_then(|stem| TaskId::parse(stem).ok())
            else {
                continue;
            };
            match self.read_record(&id) {
                Ok(Some(record)) => found.push(Recorded::Read(Box::new(record))),
                Ok(None) => {}
                Err(error) => found.push(Recorded::Unreadable { id, error }),
            }
        }
        Ok(found)
    }

    pub(crate) fn read_record(&self, id: &TaskId) -> Result<Option<Record>, PortError> {
        let path = self.task_file(id, RECORD);
        let record: Option<Record> = read_json(&path)?;
        if let Some(record) = &record
            && record.task_id != *id
        {
            let why = format!("it is the record of {}", record.task_id);
            return Err(refused(format!("use `{path}` as the record of {id}"), why));
        }
        Ok(record)
    }

    pub(crate) fn replace_record(&self, record: &Record) -> Result<(), PortError> {
        let _writing = self.writing_records();
        self.write_record_file(record)
    }

    /// For whoever keeps the others from writing.
    pub(crate) fn write_record_file(&self, record: &Record) -> Result<(), PortError> {
        replace_json(&self.task_file(&record.task_id, RECORD), record)
    }

    pub(crate) fn replace_request(&self, id: &TaskId, request: &Request) -> Result<(), PortError> {
        self.with_short_lock(SHARED_LOCK, || {
            let request = request.clone().beside(self.read_request(id)?);
            replace_json(&self.task_file(id, REQUEST), &request)
        })
    }

    pub(crate) fn read_request(&self, id: &TaskId) -> Result<Option<Request>, PortError> {
        read_json(&self.task_file(id, REQUEST))
    }

    pub(crate) fn remove_request(&self, id: &TaskId) -> Result<(), PortError> {
        remove(&self.task_file(id, REQUEST))
    }

    pub(crate) fn replace_private(
        &self,
        id: &TaskId,
        name: &'static str,
        value: &Value,
    ) -> Result<(), PortError> {
        replace_json(&self.task_file(id, &format!(".{name}{RECORD}")), value)
    }

    pub(crate) fn private_value(
        &self,
        id: &TaskId,
        name: &'static str,
    ) -> Result<Option<Value>, PortError> {
        read_json(&self.task_file(id, &format!(".{name}{RECORD}")))
    }
}
