//! Generated files (C6).

use std::collections::BTreeSet;

use dispatch_close::checks::{PlannedCommand, globs};
use dispatch_close::phrase::Said;
use dispatch_close::plan::{Detail, Failure};
use dispatch_core::config::GeneratedConfig;
use dispatch_core::names::{BlockReason, CloseStep};
use dispatch_core::path::TreePath;

use super::checks::run_check;
use super::{Step, Trouble, bound_slot};
use crate::ports::{Change, CommandPlace, PortError};
use crate::supervise::Attempt;

/// `generated-files`: generators whose inputs changed run in the slot; what they write outside their outputs fails.
pub(crate) fn generated_files(attempt: &mut Attempt<'_>) -> Step {
    let mut ran = Vec::new();
    for (index, config) in attempt.hand.config.generated.clone().iter().enumerate() {
        if generate(attempt, config)? {
            attempt.found().generators.insert(index);
            ran.push(config.command.join(" "));
        }
    }
    Ok((!ran.is_empty()).then(|| ran.join("; ")))
}

fn generate(attempt: &mut Attempt<'_>, config: &GeneratedConfig) -> Result<bool, Trouble> {
    let step = CloseStep::GeneratedFiles;
    let vcs = attempt.ports.vcs;
    let slot = bound_slot(attempt, step)?;
    attempt.fresh_folders()?;
    let (base, start) = attempt.base_and_start()?;
    let (watched, output) = (matching(&config.watch)?, matching(&config.outputs)?);
    let before = vcs.freeze(&slot, &start)?.tree;
    if !vcs.changes(&base, &before)?.iter().any(|change| watched(&change.path)) {
        return Ok(false);
    }
    let command = PlannedCommand {
        name: config.command.join(" "),
        dir: attempt.hand.config.project_root.as_str().trim_start_matches('.').to_owned(),
        argv: config.command.clone(),
    };
    let failed = |detail| Failure::found(step, BlockReason::GeneratedFilesFailed, detail);
    if let Some(detail) = run_check(attempt, step, &command, &slot.path, CommandPlace::Slot)? {
        return Err(failed(detail).into());
    }
    let marked = vcs.commit(&before, std::slice::from_ref(&start), "chore: before generating")?;
    let after = vcs.freeze(&slot, &start)?.tree;
    let written = vcs.changes(&marked, &after)?;
    let outside: Vec<&TreePath> =
        written.iter().map(|change| &change.path).filter(|path| !output(path)).collect();
    if !outside.is_empty() {
        let about = Said::OutsideOutputs.phrase(&[("name", &command.name)]);
        let items = outside.iter().collect();
        return Err(failed(Detail::List { about, items }).into());
    }
    Ok(true)
}

/// The files of a change that a generator wrote: told by the whole change, not by one run, since a step that runs again
/// finds nothing left to write.
pub(crate) fn generated(
    attempt: &Attempt<'_>,
    changes: &[Change],
) -> Result<BTreeSet<TreePath>, PortError> {
    let ran = &attempt.state.found.generators;
    let configs = attempt.hand.config.generated.iter().enumerate();
    let mut found = BTreeSet::new();
    for (_, config) in configs.filter(|(index, _)| ran.contains(index)) {
        let output = matching(&config.outputs)?;
        found
            .extend(changes.iter().map(|change| &change.path).filter(|path| output(path)).cloned());
    }
    Ok(found)
}

fn matching(patterns: &[String]) -> Result<impl Fn(&TreePath) -> bool, PortError> {
    let set = globs(patterns).map_err(|source| PortError::new("read `generated`", source))?;
    Ok(move |path: &TreePath| path.as_utf8().is_some_and(|path| set.is_match(path)))
}
