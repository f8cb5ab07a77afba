//! What bounds everything the engine does, read once and handed in as a value (D3.3).

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_close::acceptance::{OwnedPatterns, PatternError};
use dispatch_core::config::{Config, ConfinementMode, LaneSettings};
use dispatch_core::slot::SlotName;
use dispatch_core::triage::Lane;
use dispatch_guards::claims::TestSiblings;
use dispatch_guards::paths::{PathLists, PathPolicy, PathPolicyError, PolicyPlaces};
use dispatch_guards::permission::SettingsFile;
use dispatch_guards::test_command::{TestShapeError, TestShapes};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::ports::SlotPlace;
pub use crate::surface::PROJECT_SETTINGS;
use crate::surface::settings_files;

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

    /// Whether slots can lie where they are to lie (K2): their worktrees are emptied and given to workers, so they may
    /// neither hold nor lie in anything a worker must not write to. `common_dir` is git's own directory.
    pub fn check_slots_root(&self, common_dir: &Utf8Path) -> Result<(), SlotsRootError> {
        let at = &self.slots_root;
        let within = |other: &Utf8Path| at.starts_with(other) || other.starts_with(at);
        let taken = if self.code_root.starts_with(at) {
            Some(("holds the code root", self.code_root.clone()))
        } else if within(&self.board_dir) {
            Some(("holds or lies in the board directory", self.board_dir.clone()))
        } else if within(common_dir) {
            Some(("holds or lies in git's own directory", common_dir.to_owned()))
        } else {
            let files = self.own_files.iter().map(|file| self.code_root.join(file));
            let mut held = files.filter(|file| file.starts_with(at));
            held.next().map(|file| ("holds a file that bounds a worker", file))
        };
        match taken {
            None => Ok(()),
            Some((how, path)) => Err(SlotsRootError { slots_root: at.clone(), how, path }),
        }
    }

    /// The board directory relative to the code root, when it lies inside it.
    pub fn board_dir_in_code(&self) -> Option<&Utf8Path> {
        self.board_dir.strip_prefix(&self.code_root).ok()
    }
}

/// A folder in which no slots may lie.
#[derive(Debug, Error)]
#[error("`{slots_root}` {how} `{path}`; name a folder of its own, such as `../slots`")]
pub struct SlotsRootError {
    slots_root: Utf8PathBuf,
    how: &'static str,
    path: Utf8PathBuf,
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
    /// The settings files of the agent that workers may be told to load.
    pub agent_settings: AgentSettings,
    /// The board command of workers, absolute; none where no worker is started.
    pub worker_edit: Option<Utf8PathBuf>,
    /// Where things are.
    pub roots: Roots,
    /// What follows from the configuration for judging tasks.
    pub policies: Policies,
    /// Whether a person approved all of this (S3).
    pub trust: Trust,
    /// Whether this dispatcher confines workers by the kernel (W3.3).
    pub confined: bool,
}

/// The agent's own settings files, read with the configuration where a lane loads them (P5.2, D7.6).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentSettings {
    /// The person's.
    pub person: PersonSettings,
    /// The project's, as it lies in the code root: what a person sees there is what may run in a worker (P5.7).
    pub code_root: Option<String>,
}

/// The person's settings file. Workers get a copy of this very text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PersonSettings {
    /// Where it is, for people.
    pub file: String,
    /// Its text; none when there is no such file. The error says why it cannot be read.
    pub text: Result<Option<String>, String>,
}

impl Default for PersonSettings {
    fn default() -> Self {
        Self { file: "settings.json".to_owned(), text: Ok(None) }
    }
}

impl AgentSettings {
    /// The files a worker of `lane` would load if the code root were its base, or what refuses them.
    pub fn judge(&self, config: &Config, lane: Lane) -> Result<Vec<SettingsFile>, String> {
        let code_root = self.code_root.as_ref().map(|text| text.clone().into_bytes());
        settings_files(config, lane, &self.person, || Ok(code_root.clone()))
    }
}

/// What keeps a launch from being as confined as the configuration demands (W3.3): with less than what it demands
/// nothing is started, and `off` has to be said.
pub fn confinement_fault(config: &Config, lane: Lane, confined: bool) -> Option<String> {
    match config.confinement_mode(lane) {
        ConfinementMode::Off => None,
        ConfinementMode::Required | ConfinementMode::Partial if confined => None,
        ConfinementMode::Required | ConfinementMode::Partial => Some(format!(
            "lane {lane} demands kernel confinement, which this version of the dispatcher does not have; to run workers \
             without it, say `\"confinement\": {{ \"mode\": \"off\" }}` in the configuration"
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
    /// The test siblings of a source file (L8).
    pub siblings: TestSiblings,
    /// Which items of a definition of done are the dispatcher's to tick (C5.5).
    pub owned: OwnedPatterns,
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
    /// A pattern of owned items that cannot be used.
    #[error("the configured `checks` cannot be used")]
    Owned(#[source] PatternError),
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
            owned: OwnedPatterns::new(&config.checks.owned_dod).map_err(PolicyError::Owned)?,
        })
    }

    /// Everything that keeps [`Policies::of`] from its answer, where it tells the first alone.
    pub fn faults(config: &Config, roots: &Roots) -> Vec<PolicyError> {
        let (lists, places) = (path_lists(config), policy_places(roots));
        let shapes = TestShapes::with(&config.test_commands).err().map(PolicyError::TestShapes);
        let paths = PathPolicy::new(&lists, &places).err().map(PolicyError::Paths);
        let owned = OwnedPatterns::new(&config.checks.owned_dod).err().map(PolicyError::Owned);
        [shapes, paths, owned].into_iter().flatten().collect()
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

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    /// K2: an absolute or climbing `slotsRoot` is judged by where it leads.
    #[test_case("/code/slots", None; "a folder in the repository")]
    #[test_case("/elsewhere/slots", None; "a folder beside it")]
    #[test_case("/code", Some("holds the code root"); "the code root itself")]
    #[test_case("/", Some("holds the code root"); "a folder above it")]
    #[test_case("/code/backlog/slots", Some("the board directory"); "below the board")]
    #[test_case("/code/.git/dispatch", Some("git's own directory"); "below git's own directory")]
    #[test_case("/code/settings", Some("a file that bounds a worker"); "over the settings of a lane")]
    fn k2_slots_lie_apart_from_everything_a_worker_must_not_write(at: &str, why: Option<&str>) {
        let roots = Roots {
            code_root: "/code".into(),
            board_root: "/code".into(),
            board_dir: "/code/backlog".into(),
            slots_root: at.into(),
            own_files: vec!["settings/frontier.json".into()],
        };
        let checked = roots.check_slots_root("/code/.git".into());
        match (checked, why) {
            (Ok(()), None) => {}
            (Err(error), Some(why)) => assert!(error.to_string().contains(why), "{error}"),
            (checked, why) => panic!("{checked:?}, expected {why:?}"),
        }
    }
}
