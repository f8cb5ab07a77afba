//! What lanes need of the place that a pass runs in, beside what the guards and the machine say.

use std::collections::BTreeMap;

use dispatch_core::launch::account_variable;
use dispatch_core::triage::Lane;

use crate::ports::Ports;
use crate::setup::{Setup, confinement_fault};

/// What keeps workers of each lane from being started, or their work from being proposed, where this process runs, for a
/// person. Lanes that are off are left out, and those whose settings were not read, which is told elsewhere. Asks no
/// network.
///
/// Another process, in another environment, may miss nothing.
pub fn missing(ports: &Ports<'_>, setup: &Setup) -> BTreeMap<Lane, Vec<String>> {
    let on = setup.lanes.iter().filter_map(|(lane, read)| {
        let settings = read.as_ref().ok().filter(|_| setup.config.max_parallel(*lane) > 0)?;
        Some((*lane, account_variable(&setup.config, *lane, settings)))
    });
    let on: Vec<_> = on.collect();
    let of_forge = if on.is_empty() { None } else { ports.forge.missing() };
    on.into_iter()
        .map(|(lane, account)| {
            let of_agent = ports.agent.missing(account).into_iter();
            (lane, of_agent.chain(of_forge.clone()).collect())
        })
        .collect()
}

/// What a person is told of a lane that misses something.
pub fn told(lane: Lane, missing: &BTreeMap<Lane, Vec<String>>) -> Option<String> {
    let missing = missing.get(&lane).filter(|missing| !missing.is_empty())?;
    Some(format!("from here no worker of lane {lane} can be started: {}", missing.join("; ")))
}

/// Why no worker of a lane would be started here though the guards allow it, for a person; nothing when one would.
pub(crate) fn held_back(
    setup: &Setup,
    lane: Lane,
    missing: &BTreeMap<Lane, Vec<String>>,
) -> Option<String> {
    told(lane, missing).or_else(|| confinement_fault(&setup.config, lane, setup.confined))
}
