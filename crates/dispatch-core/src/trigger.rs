//! What the environment says about why this process was started (D1.2, D1.3).

use crate::names::SelectionOff;
use crate::status::Status;

/// Set for every process that a worker or one of our own board writes starts.
pub const SENTINEL: &str = "BACKLOG_DISPATCH_ACTIVE";

/// The variables of the board's status callback.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TriggerVariables<'a> {
    /// [`SENTINEL`].
    pub active: Option<&'a str>,
    /// `TASK_ID`.
    pub task_id: Option<&'a str>,
    /// `OLD_STATUS`.
    pub old_status: Option<&'a str>,
    /// `NEW_STATUS`.
    pub new_status: Option<&'a str>,
}

/// Why this process was started, and so what it may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trigger {
    /// The callback of one of our own writes: say so and end at once, touching nothing (N5).
    OwnWrite {
        /// The task.
        task: String,
        /// Its new status.
        status: String,
    },
    /// Maintenance runs, no task is selected.
    Maintenance(SelectionOff),
    /// Maintenance and selection.
    Pass,
}

/// Decides from the environment alone, so that a person's every board edit costs only this.
pub fn decide(variables: TriggerVariables<'_>) -> Trigger {
    let given = |value: Option<&str>| value.filter(|value| !value.is_empty()).map(str::to_owned);
    if let Some(active) = given(variables.active) {
        return match (active.as_str(), given(variables.task_id), variables.new_status) {
            ("1", Some(task), Some(status)) => {
                Trigger::OwnWrite { task, status: status.to_owned() }
            }
            _ => Trigger::Maintenance(SelectionOff::Sentinel),
        };
    }
    match variables.new_status {
        None => Trigger::Pass,
        Some(new) => {
            let queued = |status: &str| Status::parse(status) == Status::Queued;
            if queued(new) && !variables.old_status.is_some_and(queued) {
                Trigger::Pass
            } else {
                Trigger::Maintenance(SelectionOff::Callback)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    const SENTINEL_ON: Trigger = Trigger::Maintenance(SelectionOff::Sentinel);
    const CALLBACK: Trigger = Trigger::Maintenance(SelectionOff::Callback);

    fn own() -> Trigger {
        Trigger::OwnWrite { task: "T-1".into(), status: "Blocked".into() }
    }

    #[test_case(None, None, None, None, &Trigger::Pass; "nothing set is no callback")]
    #[test_case(None, Some("T-1"), Some("To Do"), Some("Queued"), &Trigger::Pass; "queued by a person")]
    #[test_case(None, Some("T-1"), Some("To Do"), Some("queued"), &Trigger::Pass; "in any letter case")]
    #[test_case(None, Some("T-1"), Some("Queued"), Some("Queued"), &CALLBACK; "queued before")]
    #[test_case(None, Some("T-1"), Some("Queued"), Some("Done"), &CALLBACK; "another status")]
    #[test_case(None, Some("T-1"), None, Some("Queued"), &Trigger::Pass; "no old status")]
    #[test_case(None, None, None, Some(""), &CALLBACK; "an empty new status is a callback")]
    #[test_case(Some("1"), Some("T-1"), Some("Queued"), Some("Blocked"), &own(); "our own write")]
    #[test_case(Some("1"), None, None, None, &SENTINEL_ON; "started by a worker")]
    #[test_case(Some("1"), Some(""), None, Some("Queued"), &SENTINEL_ON; "no task named")]
    #[test_case(Some("yes"), Some("T-1"), None, Some("Queued"), &SENTINEL_ON; "another value")]
    #[test_case(Some(""), None, None, None, &Trigger::Pass; "empty is not set")]
    fn d1_the_environment_decides(
        active: Option<&str>,
        task_id: Option<&str>,
        old_status: Option<&str>,
        new_status: Option<&str>,
        expected: &Trigger,
    ) {
        let variables = TriggerVariables { active, task_id, old_status, new_status };
        assert_eq!(decide(variables), *expected);
    }
}
