//! Which lane and model a task runs on (D5).

use crate::config::Config;
use crate::names::BlockReason;
use crate::task::Task;
use crate::triage::{Answer, ExecutionPath, Lane, Tier};

/// Where a task runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LaneChoice {
    /// Nowhere, for a reason of the task's own; guards 1 and 2 block it for the same.
    Refused(BlockReason),
    /// On the local lane, with the model of the lane's settings file.
    Local,
    /// On the frontier lane.
    Frontier {
        /// The model of the task's path.
        model: String,
    },
}

impl LaneChoice {
    /// The lane, when there is one.
    pub const fn lane(&self) -> Option<Lane> {
        match self {
            Self::Refused(_) => None,
            Self::Local => Some(Lane::Local),
            Self::Frontier { .. } => Some(Lane::Frontier),
        }
    }
}

/// The three triage answers of a task, or why there are none.
pub fn triage_of(task: &Task) -> Result<(Tier, Lane, ExecutionPath), BlockReason> {
    fn conflicts<T>(answer: &Answer<T>) -> bool {
        matches!(answer, Answer::Conflicting(_))
    }
    if conflicts(&task.tier) || conflicts(&task.lane) || conflicts(&task.path) {
        return Err(BlockReason::ConflictingTriage);
    }
    match (task.tier.given(), task.lane.given(), task.path.given()) {
        (Some(tier), Some(lane), Some(path)) => Ok((tier, lane, path)),
        _ => Err(BlockReason::MissingTriage),
    }
}

/// Resolves the lane of a task; a task that passed the guards is never refused (D5.2).
pub fn resolve_lane(task: &Task, config: &Config) -> LaneChoice {
    let (tier, lane, path) = match triage_of(task) {
        Ok(triage) => triage,
        Err(reason) => return LaneChoice::Refused(reason),
    };
    if (tier, lane) == (Tier::Complex, Lane::Local) {
        return LaneChoice::Refused(BlockReason::ComplexOnLocal);
    }
    if !config.tiers(lane).contains(&tier) {
        return LaneChoice::Refused(BlockReason::TierNotAllowedOnLane);
    }
    let models = &config.lanes.frontier.model;
    match (lane, path) {
        (Lane::Local, _) => LaneChoice::Local,
        (Lane::Frontier, ExecutionPath::Direct) => {
            LaneChoice::Frontier { model: models.direct.clone() }
        }
        (Lane::Frontier, ExecutionPath::Sdd) => LaneChoice::Frontier { model: models.sdd.clone() },
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;
    use crate::testing::{config, task};

    fn frontier(model: &str) -> LaneChoice {
        LaneChoice::Frontier { model: model.to_owned() }
    }

    /// D5, D5.1, D5.2: the labels choose lane and model, or a reason.
    #[test_case(&["tier:minor", "lane:local", "path:direct"], &LaneChoice::Local; "a minor task on the local lane")]
    #[test_case(&["tier:medium", "lane:local", "path:direct"], &LaneChoice::Refused(BlockReason::TierNotAllowedOnLane); "the local lane takes minor tasks alone by default")]
    #[test_case(&["tier:complex", "lane:local", "path:direct"], &LaneChoice::Refused(BlockReason::ComplexOnLocal); "complex is never local")]
    #[test_case(&["tier:complex", "lane:frontier", "path:sdd"], &frontier("opus"); "sdd takes the sdd model")]
    #[test_case(&["tier:minor", "lane:frontier", "path:direct"], &frontier("sonnet"); "direct takes the direct model")]
    #[test_case(&["tier:minor", "lane:frontier"], &LaneChoice::Refused(BlockReason::MissingTriage); "no path")]
    #[test_case(&["tier:minor", "lane:frontier", "lane:local", "path:sdd"], &LaneChoice::Refused(BlockReason::ConflictingTriage); "two lanes")]
    fn d5_1_d5_2(labels: &[&str], expected: &LaneChoice) {
        let mut task = task("T-1");
        task.labels = labels.iter().map(ToString::to_string).collect();
        task.tier = crate::triage::read_answer(&task.labels, "tier");
        task.lane = crate::triage::read_answer(&task.labels, "lane");
        task.path = crate::triage::read_answer(&task.labels, "path");
        assert_eq!(resolve_lane(&task, &config()), *expected);
    }
}
