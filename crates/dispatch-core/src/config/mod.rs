//! `lanes.json` and the lane settings files: types, defaults, and everything that is wrong with one, all at once (K2).
//!
//! ```
//! use dispatch_core::config::{Found, Location, load};
//!
//! let place = Location { file: "lanes.json".into(), found: Found::Given, board_dir: None };
//! let errors = load(r#"{ "slots": [], "atempts": 3 }"#, &place).unwrap_err().errors;
//! assert!(errors.iter().any(|error| error.to_string() == "lanes.json: atempts: unknown name; did you mean `attempts`?"));
//! ```

mod defaults;
mod error;
mod keys;
mod lane_settings;
mod lanes;
mod load;
mod model;
mod notify;
mod older;
mod rules;
mod shape;
mod values;

#[cfg(test)]
mod tests;

pub use error::{ConfigError, ConfigWarning, Fault};
pub use lane_settings::{LaneSettings, load_lane_settings, mistyped_names};
pub use lanes::{FrontierLane, Lanes, LocalLane, PathModels};
pub use load::{Found, Loaded, Location, Rejected, load, schema, smallest};
pub use model::{
    AgentConfig, BoardConfig, ChecksConfig, CommitConfig, Config, ConfinementConfig, Credential,
    DEFAULT_MAX_FILE_BYTES, FileCommand, ForgeConfig, GcConfig, GeneratedConfig, HumanReviewConfig,
    Identity, LedgerConfig, LimitsConfig, OwnedDod, PathsConfig, PortsConfig, PromptHook,
    ProvisionConfig, ReviewerConfig, ReviewsConfig, SkillsConfig, TemplatesConfig, VcsConfig,
};
pub use notify::Notify;
pub use older::OlderDefault;
pub use rules::usable_model;
pub use values::{
    BoardWriter, ConfinementMode, Effort, ForgeKind, HookKind, Language, LedgerReview, Minutes,
    Owner, ParentBranch, ReadPolicy, SettingSource, SocketPolicy, VerificationTree,
};
