//! The state an older dispatcher of this kind left beside the board (S5).

use std::fs;
use std::time::{Duration, SystemTime};

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_core::id::TaskId;
use dispatch_core::record::SlotEntry;
use dispatch_core::slot::SlotName;
use dispatch_core::triage::Lane;
use dispatch_engine::ports::PortError;
use serde_json::Value;

use crate::DiskStore;
use crate::files::{names_in, read, read_json, replace};

/// A lock of the older dispatcher that was not refreshed for this long is left over (D9.4's time-to-live).
const FRESH: Duration = Duration::from_mins(10);
/// Says that the older state was looked at and taken over.
const IMPORTED: &str = "older-imported";

/// What was found of an older dispatcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OlderDispatcher {
    /// Nothing, or it was taken over before.
    Nothing,
    /// It still runs: we must not.
    Running {
        /// The process.
        pid: u32,
        /// The file that names it.
        file: Utf8PathBuf,
    },
    /// Its slot bindings were taken over now.
    Imported {
        /// How many slots.
        slots: usize,
    },
}

impl DiskStore {
    /// Refuses beside a running older dispatcher, and takes over what one that ended left, once.
    ///
    /// `is_alive` answers whether a process of this number exists.
    pub fn older_dispatcher(
        &self,
        is_alive: &dyn Fn(u32) -> bool,
    ) -> Result<OlderDispatcher, PortError> {
        let root = self.places.board_dir.join(".dispatch");
        let mut claims = vec![root.join("dispatch.lock")];
        let locks = root.join("locks");
        claims.extend(
            names_in(&locks)?
                .into_iter()
                .filter(|name| Utf8Path::new(name).extension() == Some("json"))
                .map(|name| locks.join(name)),
        );
        for file in claims {
            let Some(text) = read(&file)? else { continue };
            if let Some(pid) = named_process(&text)
                && is_alive(pid)
                && is_fresh(&file)
            {
                return Ok(OlderDispatcher::Running { pid, file });
            }
        }
        let marker = self.state_file(IMPORTED);
        if read(&marker)?.is_some() {
            return Ok(OlderDispatcher::Nothing);
        }
        let Some(older) = read_json::<Value>(&root.join("slots.json"))? else {
            return Ok(OlderDispatcher::Nothing);
        };
        let slots = self.import(&older)?;
        replace(&marker, b"the older dispatcher's slots.json was taken over\n")?;
        Ok(OlderDispatcher::Imported { slots })
    }

    fn import(&self, older: &Value) -> Result<usize, PortError> {
        let entries: Vec<Older> = older_entries(older);
        self.import_entries(|slot: &mut SlotEntry| {
            let Some(found) = entries.iter().find(|entry| entry.name == slot.name) else {
                return false;
            };
            if slot.lockfile_hash.is_none() {
                slot.lockfile_hash.clone_from(&found.lockfile_hash);
            }
            if slot.task_id.is_none() {
                // No record of ours explains this binding: what lies in the slot may be the only copy of some work.
                if let Some(task) = &found.task {
                    slot.task_id = Some(task.clone());
                    slot.lane = found.lane;
                    slot.held = Some(format!("an older dispatcher left it bound to {task}"));
                }
            }
            true
        })
    }
}

/// A slot of the older registry.
#[derive(Debug)]
struct Older {
    name: SlotName,
    task: Option<TaskId>,
    lane: Option<Lane>,
    lockfile_hash: Option<String>,
}

/// The entries of the older registry, which kept them as a list or by name.
fn older_entries(older: &Value) -> Vec<Older> {
    let slots = older.get("slots").unwrap_or(older);
    let named: Vec<(Option<&str>, &Value)> = match slots {
        Value::Array(list) => list.iter().map(|entry| (None, entry)).collect(),
        Value::Object(map) => {
            map.iter().map(|(name, entry)| (Some(name.as_str()), entry)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    named.into_iter().filter_map(|(name, entry)| older_entry(name, entry)).collect()
}

fn older_entry(name: Option<&str>, entry: &Value) -> Option<Older> {
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    Some(Older {
        name: SlotName::parse(name.or_else(|| text("name"))?).ok()?,
        task: text("taskId").and_then(|task| TaskId::parse(task).ok()),
        lane: text("lane").and_then(|lane| lane.parse().ok()),
        lockfile_hash: text("lockfileHash").map(str::to_owned),
    })
}

/// The process a lock names: a bare number, or `pid` in JSON.
fn named_process(text: &[u8]) -> Option<u32> {
    let text = str::from_utf8(text).ok()?.trim();
    text.parse().ok().or_else(|| {
        let value: Value = serde_json::from_str(text).ok()?;
        value.get("pid")?.as_u64()?.try_into().ok()
    })
}

fn is_fresh(file: &Utf8Path) -> bool {
    let changed = fs::metadata(file).and_then(|found| found.modified());
    // A time that cannot be told, or lies in the future, counts as fresh: refusing is the harmless direction.
    changed.map_or(true, |changed| {
        SystemTime::now().duration_since(changed).map_or(true, |age| age < FRESH)
    })
}
