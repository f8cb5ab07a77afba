//! The environment of programs that run in a slot, but for the agent (C5.3, D12).

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_core::launch::{Places, SlotPosition, command_environment as environment_of};

use super::Attempt;

/// The environment of a program that runs in this attempt's slot or verification tree.
pub(crate) fn command_environment(attempt: &Attempt<'_>) -> Vec<(String, String)> {
    let (home, temporary) = folders(attempt);
    let environment = environment_of(
        &attempt.context.environment,
        &attempt.hand.config,
        attempt.record.lane,
        Places { home: &home, temporary: &temporary, caches: None },
        slot_position(attempt),
    );
    let mut list = environment.list();
    list.push(("DISPATCH_ATTEMPT".to_owned(), attempt.record.token.clone()));
    list.push(("DISPATCH_TASK_ID".to_owned(), attempt.id().to_string()));
    list
}

/// The private home and temporary folders; without them nothing of the person's home is lent instead.
fn folders(attempt: &Attempt<'_>) -> (Utf8PathBuf, Utf8PathBuf) {
    match &attempt.state.place {
        Some(place) => (place.home.clone(), place.temporary.clone()),
        None => (Utf8Path::new("/nonexistent").to_owned(), Utf8Path::new("/tmp").to_owned()),
    }
}

/// The attempt's slot, and its place among the configured ones.
pub(crate) fn slot_position<'a>(attempt: &'a Attempt<'_>) -> SlotPosition<'a> {
    let name = &attempt.record.slot;
    let index = attempt.hand.config.slots.iter().position(|slot| slot == name).unwrap_or(0);
    SlotPosition { name, index }
}
