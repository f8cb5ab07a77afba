//! The slot registry, `registry.json` (D6.1, D6.2).

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_core::record::{Phase, Rest, SlotEntry};
use dispatch_core::slot::SlotName;
use dispatch_engine::ports::{PortError, Recorded, Registry, SlotChange, SlotPlace};
use dispatch_proc::{Links, read_regular};
use serde::{Deserialize, Serialize};

use crate::DiskStore;
use crate::files::{names_in, read_json, refused, replace_json};

const REGISTRY: &str = "registry.json";
const REGISTRY_LOCK: &str = "registry.lock";

/// The most bytes of a file of git that holds a path.
const POINTER_MAX_BYTES: u64 = 8 << 10;

/// The file as it lies on disk.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct OnDisk {
    slots: Vec<SlotEntry>,
    #[serde(flatten)]
    rest: Rest,
}

impl DiskStore {
    pub(crate) fn read_registry(&self) -> Result<Registry, PortError> {
        let on_disk = match read_json::<OnDisk>(&self.state_file(REGISTRY))? {
            Some(on_disk) => on_disk,
            None => self.with_short_lock(REGISTRY_LOCK, || self.read_or_rebuild())?,
        };
        Ok(Registry {
            slots: self.in_order(on_disk.slots),
            configured: self.places.slots.iter().map(|slot| slot.name.clone()).collect(),
        })
    }

    pub(crate) fn change_entry(
        &self,
        name: &SlotName,
        change: &SlotChange,
    ) -> Result<SlotEntry, PortError> {
        self.with_short_lock(REGISTRY_LOCK, || {
            let mut on_disk = self.read_or_rebuild()?;
            on_disk.slots = self.in_order(on_disk.slots);
            let entry =
                on_disk.slots.iter_mut().find(|entry| entry.name == *name).ok_or_else(|| {
                    refused(format!("change slot {name}"), "there is no slot of this name")
                })?;
            let before = entry.clone();
            let configured = self.places.slots.iter().any(|slot| slot.name == *name);
            apply(entry, change, configured)?;
            if *entry != before {
                replace_json(&self.state_file(REGISTRY), &on_disk)?;
            }
            Ok(before)
        })
    }

    /// Configured slots first, in configured order and at their configured place; then what else is known.
    fn in_order(&self, known: Vec<SlotEntry>) -> Vec<SlotEntry> {
        let mut by_name: BTreeMap<SlotName, SlotEntry> =
            known.into_iter().map(|entry| (entry.name.clone(), entry)).collect();
        let mut ordered: Vec<SlotEntry> = self
            .places
            .slots
            .iter()
            .map(|slot| {
                by_name
                    .remove(&slot.name)
                    .map_or_else(|| unbound(slot), |entry| placed(entry, slot))
            })
            .collect();
        ordered.extend(by_name.into_values());
        ordered
    }

    fn read_or_rebuild(&self) -> Result<OnDisk, PortError> {
        let path = self.state_file(REGISTRY);
        if let Some(on_disk) = read_json::<OnDisk>(&path)? {
            return Ok(on_disk);
        }
        let rebuilt = OnDisk { slots: self.rebuilt_slots()?, rest: Rest::new() };
        replace_json(&path, &rebuilt)?;
        Ok(rebuilt)
    }

    /// The slots as records and the repository's list of worktrees tell them, for a registry that is missing.
    fn rebuilt_slots(&self) -> Result<Vec<SlotEntry>, PortError> {
        let mut slots: BTreeMap<SlotName, SlotEntry> = BTreeMap::new();
        for (name, path) in self.worktrees_under_slots_root()? {
            slots.insert(name.clone(), unbound(&SlotPlace { name, path }));
        }
        for slot in &self.places.slots {
            slots.insert(slot.name.clone(), unbound(slot));
        }
        for recorded in self.all_records()? {
            let record = match recorded {
                Recorded::Read(record) => record,
                // Which slot it binds is not known: calling any slot free could start a second worker in it.
                Recorded::Unreadable { error, .. } => return Err(error),
            };
            if record.phase == Phase::Ended {
                continue;
            }
            let path = self.places.slots_root.join(record.slot.as_str());
            let place = SlotPlace { name: record.slot.clone(), path };
            let entry = slots.entry(record.slot.clone()).or_insert_with(|| unbound(&place));
            entry.lane = Some(record.lane);
            entry.task_id = Some(record.task_id.clone());
            entry.attempt = Some(record.attempt);
        }
        Ok(slots.into_values().collect())
    }

    /// The repository's linked worktrees that lie directly under the slots root.
    ///
    /// git keeps one directory a worktree in `<common dir>/worktrees`, whose file `gitdir` names the worktree's `.git`.
    fn worktrees_under_slots_root(&self) -> Result<Vec<(SlotName, Utf8PathBuf)>, PortError> {
        let Some(common_dir) = self.places.state_dir.parent() else { return Ok(Vec::new()) };
        let list = common_dir.join("worktrees");
        let mut found = Vec::new();
        for name in names_in(&list)? {
            // One that vanished or cannot be read is no slot we could use.
            let pointer = list.join(&name).join("gitdir");
            let Ok(bytes) = read_regular(&pointer, Links::Refused, POINTER_MAX_BYTES) else {
                continue;
            };
            let Ok(text) = String::from_utf8(bytes) else { continue };
            let Some(path) = Utf8Path::new(text.trim_end_matches('\n')).parent() else { continue };
            if path.parent() != Some(self.places.slots_root.as_path()) {
                continue;
            }
            if let Some(Ok(name)) = path.file_name().map(SlotName::parse) {
                found.push((name, path.to_owned()));
            }
        }
        Ok(found)
    }
}

fn unbound(slot: &SlotPlace) -> SlotEntry {
    SlotEntry {
        name: slot.name.clone(),
        path: slot.path.clone(),
        lane: None,
        task_id: None,
        attempt: None,
        lockfile_hash: None,
        held: None,
        rest: Rest::new(),
    }
}

/// A slot that nothing is bound to lies where the configuration says; a bound one stays where its work is.
fn placed(mut entry: SlotEntry, slot: &SlotPlace) -> SlotEntry {
    if entry.task_id.is_none() && entry.held.is_none() && entry.path != slot.path {
        entry.path.clone_from(&slot.path);
        entry.lockfile_hash = None;
    }
    entry
}

fn apply(entry: &mut SlotEntry, change: &SlotChange, configured: bool) -> Result<(), PortError> {
    match change {
        SlotChange::Bind { lane, task, attempt } => {
            let refuse =
                |why: String| Err(refused(format!("bind slot {} to {task}", entry.name), why));
            if let Some(holder) = entry.task_id.as_ref().filter(|holder| *holder != task) {
                return refuse(format!("it is bound to {holder}"));
            }
            if let Some(cause) = &entry.held {
                return refuse(format!("it is held: {cause}"));
            }
            if !configured {
                return refuse("it is not configured any more".to_owned());
            }
            entry.lane = Some(*lane);
            entry.task_id = Some(task.clone());
            entry.attempt = Some(*attempt);
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
        SlotChange::Installed { lockfile_hash } => entry.lockfile_hash.clone_from(lockfile_hash),
    }
    Ok(())
}

impl DiskStore {
    /// Changes the entries for which `change` says so; gives how many.
    pub(crate) fn import_entries(
        &self,
        mut change: impl FnMut(&mut SlotEntry) -> bool,
    ) -> Result<usize, PortError> {
        self.with_short_lock(REGISTRY_LOCK, || {
            let mut on_disk = self.read_or_rebuild()?;
            on_disk.slots = self.in_order(on_disk.slots);
            let mut changed = 0;
            for entry in &mut on_disk.slots {
                if change(entry) {
                    changed += 1;
                }
            }
            replace_json(&self.state_file(REGISTRY), &on_disk)?;
            Ok(changed)
        })
    }
}
