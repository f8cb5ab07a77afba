//! The profiles of the two lanes.

use std::time::Duration;

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

use super::defaults;
use super::model::Config;
use super::values::{ConfinementMode, Effort, Minutes, SettingSource};
use crate::triage::{Lane, Tier};

/// The two lanes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lanes {
    /// A small model on this machine in a bare harness.
    pub local: LocalLane,
    /// The full harness with a frontier model.
    pub frontier: FrontierLane,
}

/// The profile of the local lane.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LocalLane {
    /// The agent's settings file of the lane.
    pub settings: Utf8PathBuf,
    /// How many of its tasks may run at once; 0 turns the lane off.
    pub max_parallel: u32,
    /// The agent's effort.
    pub effort: Effort,
    /// The most turns of one attempt.
    pub max_turns: u32,
    /// The time limit of one attempt.
    pub timeout_minutes: Minutes,
    /// The address of the local model server.
    pub health_check_url: String,
    /// The model of the reviewer, on the account's own provider.
    pub reviewer_model: String,
    /// The time limit of the reviewer.
    #[serde(default = "defaults::reviewer_timeout")]
    pub reviewer_timeout_minutes: Minutes,
    /// The tiers the lane takes.
    #[serde(default = "defaults::local_tiers")]
    pub tiers: Vec<Tier>,
    /// The settings sources its worker loads.
    #[serde(default)]
    pub setting_sources: Vec<SettingSource>,
    /// Names of a person's variables handed on; a final `*` stands for any rest.
    #[serde(default)]
    pub env_passthrough: Vec<String>,
    /// The limit of time without output.
    #[serde(default)]
    pub stall_timeout_minutes: Option<Minutes>,
    /// The confinement this lane demands; none takes the general one.
    #[serde(default)]
    pub confinement: Option<ConfinementMode>,
    /// Whether a reviewing agent judges the work.
    #[serde(default = "defaults::yes")]
    pub reviewer: bool,
}

/// The profile of the frontier lane.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FrontierLane {
    /// The agent's settings file of the lane.
    pub settings: Utf8PathBuf,
    /// How many of its tasks may run at once; 0 turns the lane off.
    pub max_parallel: u32,
    /// The model of each path, as given to the agent.
    pub model: PathModels,
    /// The most turns of one attempt.
    pub max_turns: u32,
    /// The most an attempt may cost.
    #[serde(default)]
    pub max_budget_usd: Option<f64>,
    /// The time limit of one attempt.
    pub timeout_minutes: Minutes,
    /// The tiers the lane takes.
    #[serde(default = "defaults::all_tiers")]
    pub tiers: Vec<Tier>,
    /// The settings sources its worker loads.
    #[serde(default)]
    pub setting_sources: Vec<SettingSource>,
    /// Names of a person's variables handed on; a final `*` stands for any rest.
    #[serde(default)]
    pub env_passthrough: Vec<String>,
    /// The limit of time without output.
    #[serde(default)]
    pub stall_timeout_minutes: Option<Minutes>,
    /// The confinement this lane demands; none takes the general one.
    #[serde(default)]
    pub confinement: Option<ConfinementMode>,
    /// Whether a reviewing agent judges the work.
    #[serde(default)]
    pub reviewer: bool,
    /// The model of the reviewer.
    #[serde(default = "defaults::reviewer_model")]
    pub reviewer_model: String,
    /// The time limit of the reviewer.
    #[serde(default = "defaults::reviewer_timeout")]
    pub reviewer_timeout_minutes: Minutes,
}

/// The models of the two paths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathModels {
    /// For `path:direct`.
    pub direct: String,
    /// For `path:sdd`.
    pub sdd: String,
}

impl Config {
    /// How many tasks of `lane` may run at once.
    pub fn max_parallel(&self, lane: Lane) -> u32 {
        match lane {
            Lane::Local => self.lanes.local.max_parallel,
            Lane::Frontier => self.lanes.frontier.max_parallel,
        }
    }

    /// The tiers that `lane` takes.
    pub fn tiers(&self, lane: Lane) -> &[Tier] {
        match lane {
            Lane::Local => &self.lanes.local.tiers,
            Lane::Frontier => &self.lanes.frontier.tiers,
        }
    }

    /// The settings file of `lane`, relative to the code root.
    pub fn settings_path(&self, lane: Lane) -> &Utf8PathBuf {
        match lane {
            Lane::Local => &self.lanes.local.settings,
            Lane::Frontier => &self.lanes.frontier.settings,
        }
    }

    /// The settings sources that the workers of `lane` load (P5.1).
    pub fn setting_sources(&self, lane: Lane) -> &[SettingSource] {
        match lane {
            Lane::Local => &self.lanes.local.setting_sources,
            Lane::Frontier => &self.lanes.frontier.setting_sources,
        }
    }

    /// The names of a person's variables that `lane` hands on.
    pub fn env_passthrough(&self, lane: Lane) -> &[String] {
        match lane {
            Lane::Local => &self.lanes.local.env_passthrough,
            Lane::Frontier => &self.lanes.frontier.env_passthrough,
        }
    }

    /// The time limit of an attempt on `lane`.
    pub fn timeout(&self, lane: Lane) -> Duration {
        match lane {
            Lane::Local => self.lanes.local.timeout_minutes.duration(),
            Lane::Frontier => self.lanes.frontier.timeout_minutes.duration(),
        }
    }

    /// The limit of time without output on `lane`.
    pub fn stall_timeout(&self, lane: Lane) -> Option<Duration> {
        match lane {
            Lane::Local => self.lanes.local.stall_timeout_minutes,
            Lane::Frontier => self.lanes.frontier.stall_timeout_minutes,
        }
        .map(Minutes::duration)
    }

    /// The confinement that `lane` demands.
    pub fn confinement_mode(&self, lane: Lane) -> ConfinementMode {
        match lane {
            Lane::Local => self.lanes.local.confinement,
            Lane::Frontier => self.lanes.frontier.confinement,
        }
        .unwrap_or(self.confinement.mode)
    }

    /// The reviewer of `lane`: its model and time limit; none when the lane has no reviewer.
    pub fn reviewer_of(&self, lane: Lane) -> Option<(&str, Duration)> {
        let (on, model, limit) = match lane {
            Lane::Local => {
                let lane = &self.lanes.local;
                (lane.reviewer, &lane.reviewer_model, lane.reviewer_timeout_minutes)
            }
            Lane::Frontier => {
                let lane = &self.lanes.frontier;
                (lane.reviewer, &lane.reviewer_model, lane.reviewer_timeout_minutes)
            }
        };
        on.then(|| (model.as_str(), limit.duration()))
    }
}
