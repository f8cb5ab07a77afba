//! Running `dispatch`, and what it said.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::time::Duration;

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};
use dispatch_core::id::TaskId;
use dispatch_engine::pass::{End, PassReport, Selection};
use dispatch_proc::{Call, Links, Sink, open_regular};

use crate::wire::Ground;

/// How much of what a failed pass wrote on standard error is looked at.
const ERROR_BYTES: u64 = 4 << 10;

/// The program to run, and where.
#[derive(Debug, Clone)]
pub(super) struct Dispatch {
    program: Utf8PathBuf,
    dir: Utf8PathBuf,
    state_dir: Utf8PathBuf,
    config: Option<Utf8PathBuf>,
}

/// How a pass ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PassEnd {
    /// What it came to, a line each.
    pub(super) lines: Vec<String>,
    /// What went wrong, a line each.
    pub(super) failures: Vec<String>,
    /// The tasks that it had seen `Queued` and did not block.
    pub(super) served: BTreeSet<TaskId>,
}

impl Dispatch {
    /// The program that lies beside this one.
    pub(super) fn find(ground: &Ground, config: Option<&Utf8PathBuf>) -> anyhow::Result<Self> {
        let here = std::env::current_dir().context("could not find the current directory")?;
        Ok(Self {
            program: crate::wire::own_program()?,
            dir: Utf8PathBuf::try_from(here).context("the current directory is not UTF-8")?,
            state_dir: ground.state_dir(),
            config: config.cloned(),
        })
    }

    fn call(&self, args: &[&str]) -> Call {
        let call = Call::new(self.program.clone(), self.dir.clone(), Duration::MAX)
            .args(args)
            .envs(std::env::vars_os());
        match &self.config {
            Some(file) => call.args(["--config", file.as_str()]),
            None => call,
        }
    }

    /// Runs a pass to its end. It has a process group of its own, and writes where it can go on writing when we end.
    pub(super) fn pass(&self) -> PassEnd {
        self.try_pass().unwrap_or_else(|error| PassEnd {
            failures: vec![format!("{error:#}")],
            ..PassEnd::default()
        })
    }

    fn try_pass(&self) -> anyhow::Result<PassEnd> {
        std::fs::create_dir_all(&self.state_dir)
            .with_context(|| format!("could not make `{}`", self.state_dir))?;
        let log = self.state_dir.join("pass.log");
        let before = std::fs::metadata(&log).map_or(0, |metadata| metadata.len());
        let mut call = self.call(&["pass", "--json"]);
        call.stderr = Sink::File(log.clone());
        let finished = dispatch_proc::run(&call)?;
        let mut end = match serde_json::from_slice::<PassReport>(&finished.stdout) {
            Ok(report) => told(&report),
            Err(_) => PassEnd { failures: errors(&log, before), ..PassEnd::default() },
        };
        if !finished.is_success() && end.failures.is_empty() {
            end.failures.push(format!("it {}; `{log}` may say why", finished.ended));
        }
        Ok(end)
    }

    /// Cancels the attempt of a task, and gives what was said of it.
    pub(super) fn cancel(&self, id: &TaskId) -> String {
        let call = self.call(&["cancel", &id.to_string()]);
        let said = dispatch_proc::run(&call).map(|finished| {
            let said = if finished.is_success() { &finished.stdout } else { &finished.stderr };
            String::from_utf8_lossy(said).trim().to_owned()
        });
        said.unwrap_or_else(|error| error.to_string())
    }
}

/// What a report comes to for a person who watches.
fn told(report: &PassReport) -> PassEnd {
    let mut end = PassEnd::default();
    for round in &report.rounds {
        for line in &round.maintenance {
            let text = match &line.id {
                Some(id) => format!("{id}: {}", line.text),
                None => line.text.clone(),
            };
            if line.problem { &mut end.failures } else { &mut end.lines }.push(text);
        }
        end.failures.extend(round.problems.iter().cloned());
        for task in &round.considered {
            match task.end {
                End::Failed => end.failures.push(task.to_string()),
                End::Dispatched { .. } | End::Waiting { .. } => {
                    end.served.insert(task.id.clone());
                    end.lines.push(task.to_string());
                }
                End::WouldDispatch | End::Blocked { .. } | End::Withdrawn => {
                    end.lines.push(task.to_string());
                }
            }
        }
        if let Selection::Off { reason, grounds } = &round.selection {
            let first = grounds.lines().next().unwrap_or_default();
            end.lines.push(format!("nothing was selected ({reason}): {first}"));
        }
    }
    if let Some(holder) = &report.another {
        end.lines.push(format!("another pass is running ({holder}); it will look again"));
    }
    // Rounds that found the same say it once.
    let mut seen = BTreeSet::new();
    end.lines.retain(|line| seen.insert(line.clone()));
    end
}

/// The errors a pass wrote that printed no report.
fn errors(log: &Utf8Path, from: u64) -> Vec<String> {
    let mut text = String::new();
    let opened = open_regular(log, Links::Refused, File::options().read(true));
    let read = opened.and_then(|mut file| {
        let end = file.metadata()?.len();
        file.seek(SeekFrom::Start(from.max(end.saturating_sub(ERROR_BYTES))))?;
        let mut bytes = Vec::new();
        file.take(ERROR_BYTES).read_to_end(&mut bytes)?;
        text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(())
    });
    if let Err(error) = read {
        return vec![format!("could not read `{log}`: {error}")];
    }
    text.lines().filter(|line| line.starts_with("error:")).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(json: &serde_json::Value) -> PassEnd {
        told(&serde_json::from_value(json.clone()).unwrap())
    }

    #[test]
    fn r2_1_a_report_is_told_and_says_whom_it_served() {
        let end = of(&serde_json::json!({"rounds": [{
            "maintenance": [{"step": "orphans", "id": "T-9", "text": "put back", "problem": false}],
            "considered": [
                {"id": "T-1", "verdict": "dispatched", "slot": "slot-1", "attempt": 1, "grounds": ""},
                {"id": "T-2", "verdict": "waiting", "reason": "no-free-slot", "grounds": "both are taken"},
                {"id": "T-3", "verdict": "blocked", "reason": "missing-triage", "grounds": ""},
                {"id": "T-4", "verdict": "failed", "grounds": "no disk"},
            ],
            "selection": {"kind": "done"}, "rehearsed": false, "notes": [], "problems": ["no remote"],
        }]}));
        assert_eq!(
            end.lines,
            [
                "T-9: put back",
                "T-1: dispatched, attempt 1 in slot-1",
                "T-2: waiting, no-free-slot: both are taken",
                "T-3: blocked, missing-triage"
            ]
        );
        assert_eq!(end.failures, ["no remote", "T-4: failed: no disk"]);
        // A task that was blocked and queued again meanwhile is owed a pass.
        assert_eq!(end.served.iter().map(ToString::to_string).collect::<Vec<_>>(), ["T-1", "T-2"]);
    }

    #[test]
    fn r2_1_a_pass_that_selects_nothing_says_why() {
        let end = of(&serde_json::json!({"another": "pid 7", "rounds": [{
            "maintenance": [], "considered": [], "rehearsed": false, "notes": [], "problems": [],
            "selection": {"kind": "off", "reason": "config-changed", "grounds": "not approved:\n+ x"},
        }]}));
        assert_eq!(
            end.lines,
            [
                "nothing was selected (config-changed): not approved:",
                "another pass is running (pid 7); it will look again"
            ]
        );
        assert!(end.failures.is_empty() && end.served.is_empty());
    }
}
