//! Walks over the machine's processes.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use crate::ProcessIdentity;
use crate::identity::{Stat, boot_id};

/// All processes there are now, also those that wait to be reaped.
pub(crate) fn all_processes() -> Vec<Stat> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(Stat::read)
        .collect()
}

/// The processes below `root` by parentage, also dead ones, but for the subtrees of `spared`.
pub(crate) fn below(root: i32, spared: &BTreeSet<i32>) -> Vec<Stat> {
    let mut children: BTreeMap<i32, Vec<Stat>> = BTreeMap::new();
    for stat in all_processes() {
        children.entry(stat.parent).or_default().push(stat);
    }
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(parent) = open.pop() {
        for stat in children.remove(&parent).unwrap_or_default() {
            if !spared.contains(&stat.pid) {
                open.push(stat.pid);
                found.push(stat);
            }
        }
    }
    found
}

/// The living processes below `root` by parentage, in no particular order.
///
/// A process whose parent died belongs to the nearest subreaper above it, so this misses those of a program
/// that is gone unless this process is one and is `root`.
pub fn descendants(root: i32) -> Vec<ProcessIdentity> {
    identities(below(root, &BTreeSet::new()))
}

/// The living processes whose environment at their start held `name=value`.
///
/// Processes of other users cannot be looked into and are not found.
pub fn with_environment(name: &str, value: &str) -> Vec<ProcessIdentity> {
    let wanted = [name, "=", value].concat();
    let marked = |stat: &Stat| {
        fs::read(format!("/proc/{}/environ", stat.pid)).is_ok_and(|environment| {
            environment.split(|&byte| byte == 0).any(|entry| OsStr::from_bytes(entry) == &*wanted)
        })
    };
    identities(all_processes().into_iter().filter(marked))
}

fn identities(stats: impl IntoIterator<Item = Stat>) -> Vec<ProcessIdentity> {
    let boot_id = boot_id();
    stats
        .into_iter()
        .filter(|stat| !stat.is_dead())
        .map(|stat| ProcessIdentity { pid: stat.pid, start: stat.start, boot_id: boot_id.clone() })
        .collect()
}
