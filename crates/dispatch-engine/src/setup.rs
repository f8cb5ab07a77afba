//! What bounds everything the engine does, read once and handed in as a value (D3.3).

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_core::config::{Config, ConfinementMode, LaneSettings};
use dispatch_core::slot::SlotName;
use dispatch_core::triage::Lane;
use dispatch_guards::claims::TestSiblings;
use dispatch_guards::paths::{PathLists, PathPolicy, PathPolicyError, PolicyPlaces};
use dispatch_guards::test_command::{TestShapeError, TestShapes};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::ports::SlotPlace;

/// Where things are. Every path is absolute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Roots {
    /// The main checkout: configuration, templates and slots hang off it.
    pub code_root: Utf8PathBuf,
    /// The board root, in which the board program is run.
    pub board_root: Utf8PathBuf,
    /// The board directory.
    pub board_dir: Utf8PathBuf,
    /// The folder of the slots.
    pub slots_root: Utf8PathBuf,
    /// The configuration file and the files it names, relative to the code root: no worker may change them.
    pub own_files: Vec<Utf8PathBuf>,
}

impl Roots {
    /// The place of a slot.
    pub fn slot(&self, name: &SlotName) -> SlotPlace {
        SlotPlace { name: name.clone(), path: self.slots_root.join(name.as_str()) }
    }

    /// The board directory relative to the code root, when it lies inside it.
    pub fn board_dir_in_code(&self) -> Option<&Utf8Path> {
        self.board_dir.strip_prefix(&self.code_root).ok()
    }
}

/// The configuration with everything it names, as it was approved.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The configuration.
    pub config: Config,
    /// The settings of each lane, or what is wrong with them (D3.6).
    pub lanes: BTreeMap<Lane, Result<LaneSettings, String>>,
    /// The texts of templates, contract and skill index that exist, by path relative to the code root.
    pub texts: BTreeMap<Utf8PathBuf, String>,
    /// Where things are.
    pub roots: Roots,
    /// What follows from the configuration for judging tasks.
    pub policies: Policies,
    /// Whether a person approved all of this (README §3).
    pub trust: Trust,
    /// Whether this dispatcher confines workers by the kernel (W3.3).
    pub confined: bool,
}

/// What keeps a launch from being as confined as the configuration demands (W3.3): with less than what it demands
/// nothing is started, and `off` has to be said.
pub(crate) fn confinement_fault(config: &Config, lane: Lane, confined: bool) -> Option<String> {
    match config.confinement_mode(lane) {
        ConfinementMode::Off => None,
        ConfinementMode::Required | ConfinementMode::Partial if confined => None,
        ConfinementMode::Required | ConfinementMode::Partial => Some(format!(
            "lane {lane} demands kernel confinement, which is not available here; to run workers without it, say \
             `\"confinement\": {{ \"mode\": \"off\" }}` in the configuration"
        )),
    }
}

/// Whether a person approved the configuration and the programs it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// They did.
    Approved,
    /// It is not what was approved: the difference, for a person.
    Changed(String),
}

/// What follows from the configuration for judging tasks and their changes.
#[derive(Debug, Clone)]
pub struct Policies {
    /// The shapes of test commands (P6).
    pub test_shapes: TestShapes,
    /// The path policy (C4).
    pub paths: PathPolicy,
    /// The test siblings of a source file (ledger §8).
    pub siblings: TestSiblings,
}

/// A configuration from which no policies follow.
#[derive(Debug, Error)]
pub enum PolicyError {
    /// A shape of a test command that cannot be used.
    #[error("the configured `testCommands` cannot be used")]
    TestShapes(#[source] TestShapeError),
    /// A path list that cannot be used.
    #[error("the configured `paths` cannot be used")]
    Paths(#[source] PathPolicyError),
}

impl Policies {
    /// The policies of a configuration.
    pub fn of(config: &Config, roots: &Roots) -> Result<Self, PolicyError> {
        let (lists, places) = (path_lists(config), policy_places(roots));
        Ok(Self {
            test_shapes: TestShapes::with(&config.test_commands)
                .map_err(PolicyError::TestShapes)?,
            paths: PathPolicy::new(&lists, &places).map_err(PolicyError::Paths)?,
            siblings: TestSiblings::new(config.paths.test_siblings.clone()),
        })
    }
}

/// The configured path lists.
pub(crate) fn path_lists(config: &Config) -> PathLists {
    PathLists {
        hard: config.paths.hard.clone(),
        local_forbidden: config.paths.local_forbidden.clone(),
        human_review: config.paths.human_review.clone(),
        except: config.paths.narrowed.clone(),
    }
}

/// The files that no worker may change whatever the lists say.
pub(crate) fn policy_places(roots: &Roots) -> PolicyPlaces {
    PolicyPlaces {
        board_dir: roots.board_dir_in_code().map(Utf8Path::to_string),
        files: roots.own_files.iter().map(ToString::to_string).collect(),
    }
}
