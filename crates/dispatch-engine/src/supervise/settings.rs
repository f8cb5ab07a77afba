//! The settings files that a worker loads: the very texts that were judged (P5.2, P5.7, D7.6).

use dispatch_core::config::SettingSource;
use dispatch_core::names::{PauseCause, RequeueReason};
use dispatch_guards::permission::{LoadedFile, RuleSource, SettingsFile};

use super::Attempt;
use super::launching::NotLaunched;
use crate::ports::{Lying, PrivatePlace};
use crate::surface::{
    LOCAL_SETTINGS, PROJECT_SETTINGS, loaded, loads_project, loads_user, settings_files, tree_path,
};

/// Reads and judges the files the worker will load, and puts the person's where the agent looks for it.
pub(super) fn settle(
    attempt: &Attempt<'_>,
    place: &PrivatePlace,
) -> Result<Vec<LoadedFile>, NotLaunched> {
    let hand = &attempt.hand;
    let sources: &[SettingSource] = hand.config.setting_sources(attempt.record.lane);
    let project = if loads_project(sources) { project_file(attempt)? } else { None };
    let person = &hand.agent_settings.person;
    let files = settings_files(&hand.config, attempt.record.lane, person, || Ok(project.clone()))
        .map_err(|why| {
        NotLaunched::requeue(RequeueReason::Paused(PauseCause::LaunchRefused), why)
    })?;
    if let Some(file) = files.iter().find(|file| file.source() == RuleSource::Project) {
        as_in_the_code_root(attempt, file)?;
    }
    if let Ok(Some(text)) = &person.text
        && loads_user(sources)
    {
        attempt.ports.agent.give_settings(place, text)?;
    }
    Ok(loaded(&files))
}

fn drift(why: String) -> NotLaunched {
    NotLaunched::requeue(RequeueReason::SettingsDrift, why)
}

/// The project's file at the base commit. The one that lies in the slot, which is what the agent reads, must be the
/// same, and beside it there must be no overlay.
fn project_file(attempt: &Attempt<'_>) -> Result<Option<Vec<u8>>, NotLaunched> {
    let vcs = attempt.ports.vcs;
    let slot = attempt.slot();
    let (base, _) = attempt.base_and_start()?;
    let path = tree_path(PROJECT_SETTINGS)?;
    let at_base = vcs.file_at(&vcs.tree_of(&base)?, &path)?;
    let same = match (vcs.lying(&slot, &path)?, &at_base) {
        (Lying::Nothing, None) => true,
        (Lying::File(text), Some(known)) => text == *known,
        (Lying::Nothing | Lying::File(_) | Lying::Other, _) => false,
    };
    if !same {
        return Err(drift(format!(
            "`{path}` in the slot is not the base's: bring the branch up to date, or set the file back"
        )));
    }
    let overlay = tree_path(LOCAL_SETTINGS)?;
    if vcs.lying(&slot, &overlay)? != Lying::Nothing {
        return Err(drift(format!(
            "`{overlay}` lies in the slot: take it out of the repository, or out of what is provisioned"
        )));
    }
    Ok(at_base)
}

/// What runs in a worker or bounds it is what a person sees in the code root.
fn as_in_the_code_root(attempt: &Attempt<'_>, file: &SettingsFile) -> Result<(), NotLaunched> {
    let known = attempt.hand.agent_settings.code_root.as_deref().and_then(|text| {
        SettingsFile::parse(RuleSource::Project, PROJECT_SETTINGS, text.as_bytes()).ok()
    });
    let found: Vec<String> = file.drift(known.as_ref()).iter().map(ToString::to_string).collect();
    if found.is_empty() {
        return Ok(());
    }
    Err(drift(format!(
        "`{PROJECT_SETTINGS}` of the base has what the checkout's own does not have: {}; bring the checkout up to date and look at it",
        found.join(", ")
    )))
}
