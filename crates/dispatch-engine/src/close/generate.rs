//! Generated files (C6).

use dispatch_close::checks::{PlannedCommand, globs};
use dispatch_close::plan::{Detail, Failure};
use dispatch_core::config::GeneratedConfig;
use dispatch_core::names::{BlockReason, CloseStep};
use dispatch_core::path::TreePath;

use super::checks::run_check;
use super::{Step, Trouble, bound_slot};
use crate::ports::{CommandPlace, PortError};
use crate::supervise::Attempt;

/// `generated-files`: generators whose inputs changed run in the slot; what they write outside their outputs fails.
pub(crate) fn generated_files(attempt: &mut Attempt<'_>) -> Step {
    let mut ran = Vec::new();
    for config in attempt.hand.config.generated.clone() {
        if generate(attempt, &config)? {
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
    let compiled = |patterns: &[String]| {
        globs(patterns).map_err(|source| PortError::new("read `generated`", source))
    };
    let (watch, outputs) = (compiled(&config.watch)?, compiled(&config.outputs)?);
    let before = vcs.freeze(&slot, &start)?.tree;
    let watched = |path: &TreePath| path.as_utf8().is_some_and(|path| watch.is_match(path));
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
    let output = |path: &TreePath| path.as_utf8().is_some_and(|path| outputs.is_match(path));
    let written = vcs.changes(&marked, &after)?;
    let outside: Vec<&TreePath> =
        written.iter().map(|change| &change.path).filter(|path| !output(path)).collect();
    if !outside.is_empty() {
        let about = format!("`{}` changed files outside its outputs:", command.name);
        let items = outside.iter().map(ToString::to_string).collect();
        return Err(failed(Detail::List { about, items }).into());
    }
    // Told by the whole change, not by this run: a step that runs again finds nothing left to write.
    let inside = vcs.changes(&base, &after)?;
    let close = attempt.close();
    for path in inside.iter().map(|change| &change.path).filter(|path| output(path)) {
        let path = path.to_string();
        if !close.generated.contains(&path) {
            close.generated.push(path);
        }
    }
    Ok(true)
}
