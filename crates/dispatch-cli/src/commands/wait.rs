//! Waiting for a pass and for what it started.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::Context;
use dispatch_core::id::TaskId;
use dispatch_core::record::{Phase, Record};
use dispatch_engine::ports::{AttemptFile, Ports, Recorded, TryLock};
use serde_json::Value;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::output;
use crate::render::waits;

/// How often the end of a pass or of a supervisor is looked for.
const LOOK: Duration = Duration::from_millis(200);

/// A signal to end, which ends the waiting with a word on what goes on.
pub(super) struct Interrupt {
    signal: Arc<AtomicUsize>,
}

impl Interrupt {
    /// From now on a signal to end is taken note of.
    pub(super) fn listen() -> anyhow::Result<Self> {
        let signal = Arc::new(AtomicUsize::new(0));
        for number in [SIGINT, SIGTERM, SIGHUP] {
            let as_value = usize::try_from(number).unwrap_or_default();
            signal_hook::flag::register_usize(number, Arc::clone(&signal), as_value)
                .context("could not listen to signals")?;
        }
        Ok(Self { signal })
    }

    /// Ends this process by the signal that came, if one did, after saying what goes on.
    fn obey(&self, goes_on: impl FnOnce() -> String) -> anyhow::Result<()> {
        let signal = self.signal.load(Ordering::SeqCst);
        if signal == 0 {
            return Ok(());
        }
        output::note(&goes_on());
        let number = i32::try_from(signal).unwrap_or(SIGINT);
        signal_hook::low_level::emulate_default_handler(number)
            .context("could not end by the signal that came")
    }
}

/// Waits until no other pass is at work.
pub(super) fn for_pass(
    ports: &Ports<'_>,
    holder: &str,
    interrupt: &Interrupt,
) -> anyhow::Result<()> {
    // Whoever is turned away while we look is looked after by the pass that follows.
    while matches!(ports.store.try_pass_lock()?, TryLock::Busy(_)) {
        interrupt.obey(|| {
            format!("the other pass ({holder}) goes on; no pass of this call was made (`dispatch status` shows what runs)")
        })?;
        ports.clock.sleep(LOOK);
    }
    Ok(())
}

/// The tasks that are worked on.
pub(super) fn running(ports: &Ports<'_>) -> anyhow::Result<BTreeSet<TaskId>> {
    let mut running = BTreeSet::new();
    for recorded in ports.store.records()? {
        if let Recorded::Read(record) = recorded
            && record.phase != Phase::Ended
            && matches!(ports.store.try_task_lock(&record.task_id)?, TryLock::Busy(_))
        {
            running.insert(record.task_id.clone());
        }
    }
    Ok(running)
}

/// Waits until nobody holds the lock of any of these tasks, and says how each ended, and what keeps one from ending.
pub(super) fn for_attempts(
    ports: &Ports<'_>,
    mut running: BTreeSet<TaskId>,
    json: bool,
    interrupt: &Interrupt,
) -> anyhow::Result<()> {
    let say = |line: &str| {
        if json {
            output::note(line);
            Ok(())
        } else {
            output::line(line)
        }
    };
    let mut told: BTreeMap<TaskId, String> = BTreeMap::new();
    while !running.is_empty() {
        let mut ended = Vec::new();
        for id in &running {
            if matches!(ports.store.try_task_lock(id)?, TryLock::Taken(_)) {
                ended.push(id.clone());
            } else if let Some(Record { waiting: Some(waiting), phase, .. }) =
                ports.store.record(id)?
                && told.get(id) != Some(&waiting.why)
            {
                say(&format!(
                    "{id}: `{phase}` {}; `dispatch cancel {id}` stops it",
                    waits(&waiting)
                ))?;
                told.insert(id.clone(), waiting.why);
            }
        }
        for id in ended {
            running.remove(&id);
            say(&how_it_ended(ports, &id)?)?;
        }
        if !running.is_empty() {
            interrupt.obey(|| goes_on(&running))?;
            ports.clock.sleep(LOOK);
        }
    }
    Ok(())
}

/// What goes on without us, and how to stop it.
fn goes_on(running: &BTreeSet<TaskId>) -> String {
    let names: Vec<String> = running.iter().map(ToString::to_string).collect();
    let (verb, one) = match names.as_slice() {
        [only] => ("goes", only.clone()),
        [first, ..] => ("go", first.clone()),
        [] => return String::new(),
    };
    format!(
        "{} {verb} on in the background: `dispatch status` shows what runs, `dispatch cancel {one}` stops {}",
        names.join(" and "),
        if names.len() == 1 { "it" } else { "one" }
    )
}

/// How the last attempt of a task ended, and what the task is now.
fn how_it_ended(ports: &Ports<'_>, id: &TaskId) -> anyhow::Result<String> {
    let Some(record) = ports.store.record(id)? else {
        return Ok(format!("{id}: nothing is recorded of it any more"));
    };
    let attempt = record.attempt;
    let now = match ports.board.task(id)? {
        Some(task) => format!("the task is {}", task.status),
        None => "the board does not hold the task any more".to_owned(),
    };
    if record.phase != Phase::Ended {
        return Ok(format!(
            "{id}: attempt {attempt} is left in phase {}, the next pass goes on with it; {now}",
            record.phase
        ));
    }
    let outcome = ports.store.read_attempt_file(id, attempt, AttemptFile::Outcome)?;
    let outcome: Value =
        outcome.map(|bytes| serde_json::from_slice(&bytes)).transpose()?.unwrap_or_default();
    Ok(if outcome["success"] == true {
        let link = record.pr.map_or_else(
            || "nothing to propose".to_owned(),
            |proposal| {
                format!(
                    "proposed as {}",
                    proposal.url.unwrap_or_else(|| proposal.branch.to_string())
                )
            },
        );
        format!("{id}: attempt {attempt} ended, {link}; {now}")
    } else {
        let reason = outcome["reason"].as_str().unwrap_or("no outcome was written");
        format!("{id}: attempt {attempt} ended, {reason}; {now} (`dispatch logs {id}` shows why)")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k1_who_stops_waiting_learns_what_goes_on_and_how_to_stop_it() {
        let tasks =
            |names: &[&str]| names.iter().map(|name| TaskId::parse(name).unwrap()).collect();
        assert_eq!(
            goes_on(&tasks(&["T-15", "T-16"])),
            "T-15 and T-16 go on in the background: `dispatch status` shows what runs, `dispatch cancel T-15` stops one"
        );
        assert_eq!(
            goes_on(&tasks(&["T-15"])),
            "T-15 goes on in the background: `dispatch status` shows what runs, `dispatch cancel T-15` stops it"
        );
    }
}
