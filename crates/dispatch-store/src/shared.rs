//! Small files that passes, supervisors and people change at the same time.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;

use dispatch_core::id::TaskId;
use dispatch_core::record::Beat;
use dispatch_core::triage::Lane;
use dispatch_engine::ports::{LaneState, OwnerRecord, PortError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::DiskStore;
use crate::files::{failed, parse_json, read_json, replace_json};

const WISHES: &str = "wanted";
const LANES: &str = "lanes-state.json";
const OWNER: &str = "owner.json";
const OBSERVED: &str = "observed.json";
const BACKUPS: &str = "backups.json";
pub(crate) const SHARED_LOCK: &str = "shared.lock";

/// What was seen of another's beat, and our own clock then.
#[derive(Debug, Serialize, Deserialize)]
struct Observation {
    seen: Beat,
    at: Beat,
}

impl DiskStore {
    /// One wish is one byte at the end of `wanted`: appending needs no lock and loses none.
    pub(crate) fn add_wish(&self) -> Result<(), PortError> {
        let path = self.state_file(WISHES);
        OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&path)
            .and_then(|mut file| file.write_all(b"+"))
            .map_err(|source| failed(format!("add a wish to `{path}`"), source))
    }

    pub(crate) fn count_wishes(&self) -> Result<u64, PortError> {
        let path = self.state_file(WISHES);
        match path.metadata() {
            Ok(found) => Ok(found.len()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(0),
            Err(error) => Err(failed(format!("look at `{path}`"), error)),
        }
    }

    pub(crate) fn read_lane_state(&self, lane: Lane) -> Result<LaneState, PortError> {
        let all = read_json::<Map<String, Value>>(&self.state_file(LANES))?.unwrap_or_default();
        self.understand(LANES, all.get(lane.as_str()))
    }

    pub(crate) fn change_lane(
        &self,
        lane: Lane,
        change: &mut dyn FnMut(&mut LaneState),
    ) -> Result<LaneState, PortError> {
        self.with_short_lock(SHARED_LOCK, || {
            let path = self.state_file(LANES);
            let mut all = read_json::<Map<String, Value>>(&path)?.unwrap_or_default();
            let before: LaneState = self.understand(LANES, all.get(lane.as_str()))?;
            let mut after = before.clone();
            change(&mut after);
            if after != before {
                let entry = all.entry(lane.as_str()).or_insert_with(|| Value::Object(Map::new()));
                merge(entry, &self.as_json(LANES, &after)?);
                replace_json(&path, &all)?;
            }
            Ok(after)
        })
    }

    pub(crate) fn read_owner(&self) -> Result<OwnerRecord, PortError> {
        Ok(read_json(&self.state_file(OWNER))?.unwrap_or_default())
    }

    pub(crate) fn replace_owner(&self, owner: &OwnerRecord) -> Result<(), PortError> {
        self.with_short_lock(SHARED_LOCK, || {
            let path = self.state_file(OWNER);
            let mut kept = read_json::<Value>(&path)?.unwrap_or_else(|| Value::Object(Map::new()));
            merge(&mut kept, &self.as_json(OWNER, owner)?);
            replace_json(&path, &kept)
        })
    }

    pub(crate) fn read_observed(&self, id: &TaskId) -> Result<Option<(Beat, Beat)>, PortError> {
        let mut all = read_json::<BTreeMap<String, Observation>>(&self.state_file(OBSERVED))?
            .unwrap_or_default();
        Ok(all.remove(&id.canonical()).map(|found| (found.seen, found.at)))
    }

    pub(crate) fn replace_observed(
        &self,
        id: &TaskId,
        seen: &Beat,
        at: &Beat,
    ) -> Result<(), PortError> {
        self.with_short_lock(SHARED_LOCK, || {
            let path = self.state_file(OBSERVED);
            let mut all = read_json::<BTreeMap<String, Observation>>(&path)?.unwrap_or_default();
            all.insert(id.canonical(), Observation { seen: seen.clone(), at: at.clone() });
            replace_json(&path, &all)
        })
    }

    pub(crate) fn read_backups(&self) -> Result<BTreeMap<String, u32>, PortError> {
        Ok(read_json(&self.state_file(BACKUPS))?.unwrap_or_default())
    }

    pub(crate) fn change_backup_list(
        &self,
        change: &mut dyn FnMut(&mut BTreeMap<String, u32>),
    ) -> Result<(), PortError> {
        self.with_short_lock(SHARED_LOCK, || {
            let before = self.read_backups()?;
            let mut after = before.clone();
            change(&mut after);
            if after == before { Ok(()) } else { replace_json(&self.state_file(BACKUPS), &after) }
        })
    }

    fn understand(&self, name: &str, value: Option<&Value>) -> Result<LaneState, PortError> {
        let Some(value) = value else { return Ok(LaneState::default()) };
        parse_json(&self.state_file(name), value.to_string().as_bytes())
    }

    fn as_json(&self, name: &str, value: &impl Serialize) -> Result<Value, PortError> {
        serde_json::to_value(value)
            .map_err(|source| PortError::new(format!("write `{}`", self.state_file(name)), source))
    }
}

/// Puts the fields of `new` over those of `kept`; fields only `kept` has belong to a newer version and stay.
fn merge(kept: &mut Value, new: &Value) {
    match (kept, new) {
        (Value::Object(kept), Value::Object(new)) => {
            for (key, value) in new {
                kept.insert(key.clone(), value.clone());
            }
        }
        (kept, new) => *kept = new.clone(),
    }
}
