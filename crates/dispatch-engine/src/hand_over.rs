//! What a pass hands over to the supervisor of an attempt (D3.3): the very values the guards judged by.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use dispatch_core::attempt::AttemptNumber;
use dispatch_core::branch::BranchName;
use dispatch_core::config::{Config, LaneSettings};
use dispatch_core::id::TaskId;
use dispatch_core::record::Record;
use dispatch_core::triage::Lane;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ports::{PortError, RemoteBranch, Store};
use crate::setup::{AgentSettings, Policies, Roots};

/// The name under which the store keeps it.
pub const HAND_OVER: &str = "hand-over";

/// Everything that bounds one attempt. Nothing of it is read a second time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HandOver {
    /// The task.
    pub task_id: TaskId,
    /// The attempt.
    pub attempt: AttemptNumber,
    /// The token of the claim; the record carries the same one.
    pub token: String,
    /// The lane.
    pub lane: Lane,
    /// The configuration as it was approved.
    pub config: Config,
    /// The lane's settings.
    pub settings: LaneSettings,
    /// The settings files of the agent that the worker may be told to load.
    #[serde(default)]
    pub agent_settings: AgentSettings,
    /// The texts of templates, contract and skill index, by path relative to the code root.
    pub texts: BTreeMap<Utf8PathBuf, String>,
    /// Where things are.
    pub roots: Roots,
    /// The test command as it was resolved and granted; none for a close attempt that declares none.
    pub test_command: Option<String>,
    /// The branch the work is proposed for (D6.6), and what the remote said about it.
    pub base: SeenBranch,
    /// The branch that a missing base is made from: the base of a parent's branch.
    pub base_made_from: Option<SeenBranch>,
    /// The task's own branch, and what the remote said about it.
    pub branch: SeenBranch,
    /// How many counted attempts ended before this one.
    pub counted_before: u32,
}

/// A branch, and what the remote said about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SeenBranch {
    /// The branch.
    pub name: BranchName,
    /// What the remote said.
    pub seen: RemoteBranch,
}

/// Why what was handed over is not to be had.
#[derive(Debug)]
pub enum HandOverError {
    /// It could not be read now.
    Port(PortError),
    /// It cannot be used, now or later.
    Unusable(PortError),
}

impl From<PortError> for HandOverError {
    fn from(error: PortError) -> Self {
        Self::Port(error)
    }
}

impl HandOver {
    /// What was handed over for the claim that `record` describes, and what follows from it.
    pub fn of_claim(store: &dyn Store, record: &Record) -> Result<(Self, Policies), HandOverError> {
        let id = &record.task_id;
        let doing = || format!("take over the attempt of {id}");
        let unusable = |why: &str| HandOverError::Unusable(PortError::new(doing(), why));
        // A file that cannot be read now is another matter than one that cannot be understood.
        let kept = store.read_private(id, HAND_OVER)?;
        let value = kept.ok_or_else(|| unusable("nothing was handed over"))?;
        let hand = Self::understand(id, value).map_err(HandOverError::Unusable)?;
        if hand.token != record.token || hand.attempt != record.attempt {
            return Err(unusable("record and hand-over are of different claims"));
        }
        let policies = Policies::of(&hand.config, &hand.roots)
            .map_err(|source| HandOverError::Unusable(PortError::new(doing(), source)))?;
        Ok((hand, policies))
    }

    /// Keeps it for the supervisor.
    pub fn write(&self, store: &dyn Store) -> Result<(), PortError> {
        let value = serde_json::to_value(self).map_err(|source| {
            PortError::new(format!("write the hand-over of {}", self.task_id), source)
        })?;
        store.write_private(&self.task_id, HAND_OVER, &value)
    }

    /// Reads what was handed over for the present attempt of a task.
    pub fn read(store: &dyn Store, id: &TaskId) -> Result<Option<Self>, PortError> {
        store.read_private(id, HAND_OVER)?.map(|value| Self::understand(id, value)).transpose()
    }

    fn understand(id: &TaskId, value: Value) -> Result<Self, PortError> {
        serde_json::from_value(value)
            .map_err(|source| PortError::new(format!("understand the hand-over of {id}"), source))
    }
}
