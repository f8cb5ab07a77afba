//! What a worker and a reviewer are started with (D7, C7.1).
//!
//! Nothing here reads the person's environment or settings: all of it arrives as values, and what comes out is the
//! complete command line and environment.

mod environment;
mod presets;
mod reviewer;
mod tools;
mod worker;

pub use environment::{
    Environment, Places, SlotPosition, base_environment, command_environment, is_credential_name,
    slot_variables,
};
pub use presets::{Preset, preset_readable};
pub use reviewer::{REVIEWER_MAX_TURNS, ReviewerLaunch, VERDICT_SCHEMA, reviewer_launch};
pub use tools::{
    BARE_TOOLS, FRONTIER_DENIED_TOOLS, FULL_TOOLS, PERMISSION_MODE, built_in_deny, expected_surface,
};
pub use worker::{
    Account, Launch, LaunchRefusal, LaunchRequest, Limits, RefusedBecauseOf, Rules, WorkerPlaces,
    account_variable, build_launch, is_set_by_us,
};

#[cfg(test)]
mod tests;
