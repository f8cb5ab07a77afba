//! Why this process was started, read from the environment before anything else is touched (D1.2, D1.3).

use dispatch_core::names::SelectionOff;
use dispatch_core::trigger::{SENTINEL, Trigger, TriggerVariables, decide};

/// Why this process was started.
#[derive(Debug)]
pub struct Called {
    trigger: Trigger,
    runs_a_pass: bool,
}

/// Reads the environment and the command line.
pub fn read() -> Called {
    let variable =
        |name: &str| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
    let (active, task_id) = (variable(SENTINEL), variable("TASK_ID"));
    let (old_status, new_status) = (variable("OLD_STATUS"), variable("NEW_STATUS"));
    let trigger = decide(TriggerVariables {
        active: active.as_deref(),
        task_id: task_id.as_deref(),
        old_status: old_status.as_deref(),
        new_status: new_status.as_deref(),
    });
    let first = std::env::args().nth(1);
    let runs_a_pass = first.is_none_or(|word| word == "pass" || word.starts_with('-'));
    Called { trigger, runs_a_pass }
}

impl Called {
    /// What to say when one of our own writes called us back: then nothing else is done.
    pub fn own_write(&self) -> Option<String> {
        match &self.trigger {
            Trigger::OwnWrite { task, status } if self.runs_a_pass => {
                let clean = |text: &str| {
                    text.chars().filter(|c| !c.is_control()).take(100).collect::<String>()
                };
                Some(format!(
                    "{} is now {}: our own write, nothing to do",
                    clean(task),
                    clean(status)
                ))
            }
            Trigger::OwnWrite { .. } | Trigger::Maintenance(_) | Trigger::Pass => None,
        }
    }

    /// Why a pass selects nothing.
    pub fn selection_off(&self) -> Option<SelectionOff> {
        match self.trigger {
            Trigger::OwnWrite { .. } => Some(SelectionOff::Sentinel),
            Trigger::Maintenance(off) => Some(off),
            Trigger::Pass => None,
        }
    }
}
