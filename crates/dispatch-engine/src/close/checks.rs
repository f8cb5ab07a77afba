//! Formatters in the slot, linters and tests in the verification tree (C5).

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_close::acceptance::OwnedItem;
use dispatch_close::checks::{CommandPlan, PlannedCommand, join, plan_commands};
use dispatch_close::listed::Listed;
use dispatch_close::phrase::Said;
use dispatch_close::plan::{Detail, Failure};
use dispatch_close::text::tail;
use dispatch_core::config::VerificationTree;
use dispatch_core::names::{BlockReason, CloseStep, RequeueReason};
use dispatch_core::object::TreeId;
use dispatch_core::path::TreePath;
use dispatch_guards::test_command::resolve_test_command;

use super::save::frozen_tree;
use super::{Step, Trouble, board, bound_slot};
use crate::governor;
use crate::ports::{
    AttemptFile, Change, CommandEnd, CommandPlace, CommandSpec, EntryKind, ExitMark, PortError,
};
use crate::supervise::{Attempt, ProvisionEnd, Ran, Where, command_environment, provision};

/// The lines of a failed check's output that a comment shows (C5.4).
const TAIL_LINES: usize = 30;
const TAIL_BYTES: usize = 6 * 1024;

/// `format`: formatters run in the slot, before it is frozen.
pub(crate) fn format(attempt: &mut Attempt<'_>) -> Step {
    let rules = attempt.hand.config.checks.format.clone();
    if rules.is_empty() {
        return Ok(Some("no formatter is configured".to_owned()));
    }
    let slot = bound_slot(attempt, CloseStep::Format)?;
    attempt.fresh_folders()?;
    let (base, start) = attempt.base_and_start()?;
    let tree = attempt.ports.vcs.freeze(&slot, &start)?.tree;
    let files = regular_files(&attempt.ports.vcs.changes(&base, &tree)?);
    let plan = planned(attempt, &rules, &files)?;
    for command in &plan.commands {
        run_check(attempt, CloseStep::Format, command, &slot.path, CommandPlace::Slot)?
            .map_or(Ok(()), |detail| {
                Err(Failure::found(CloseStep::Format, BlockReason::FormatFailed, detail))
            })?;
    }
    let uncovered: Listed = plan.uncovered.iter().collect();
    let note = (!uncovered.is_empty()).then(|| format!("no formatter covers {uncovered}"));
    attempt.found().uncovered = uncovered;
    attempt.found().linted = !plan.commands.is_empty();
    Ok(note)
}

/// `checks`: linters, then the test command, on a fresh copy of the frozen tree.
pub(crate) fn check(attempt: &mut Attempt<'_>) -> Step {
    let step = CloseStep::Checks;
    let (base, start) = attempt.base_and_start()?;
    let tree = frozen_tree(attempt)?;
    let files = regular_files(&attempt.ports.vcs.changes(&base, &tree)?);
    let rules = attempt.hand.config.checks.lint.clone();
    let lints = planned(attempt, &rules, &files)?;
    let test = test_command(attempt)?;
    if lints.commands.is_empty() && test.is_none() {
        proved(attempt, false, None)?;
        return Ok(Some("no check is configured for these files".to_owned()));
    }
    let slot = bound_slot(attempt, step)?;
    // A worker can leave programs and settings in its home, where tools look for them (C5.2).
    attempt.fresh_folders()?;
    let fresh = attempt.hand.config.checks.tree == VerificationTree::Fresh;
    let (dir, place) = if fresh {
        let dir = attempt.ports.vcs.verification_tree(&slot, &tree, &start)?;
        provisioned(attempt, &dir, &tree)?;
        (dir, CommandPlace::Verification)
    } else {
        (slot.path.clone(), CommandPlace::Slot)
    };
    for command in lints.commands.iter().chain(&test) {
        if let Some(detail) = run_check(attempt, step, command, &dir, place)? {
            return Err(Failure::found(step, BlockReason::ChecksFailed, detail).into());
        }
    }
    let changed = if fresh {
        attempt.ports.vcs.changed_in_verification(&slot, &tree)?
    } else {
        changed_in_slot(attempt, &tree)?
    };
    if !changed.is_empty() {
        let about = Said::ChangedByChecks.phrase(&[]);
        let items = changed.iter().collect();
        let detail = Detail::List { about, items };
        return Err(Failure::found(step, BlockReason::TreeChangedByChecks, detail).into());
    }
    proved(attempt, !lints.commands.is_empty(), test.as_ref())?;
    Ok(None)
}

/// Ticks what the checks proved: "scoped tests" only when a test command really ran, formatting and linting only when a
/// program for it did (C5.5, N37). Rules for other files than the changed ones prove nothing.
fn proved(
    attempt: &mut Attempt<'_>,
    linted_now: bool,
    test: Option<&PlannedCommand>,
) -> Result<(), Trouble> {
    let linted = attempt.found().linted || linted_now;
    attempt.found().linted = linted;
    attempt.found().test = test.map(|command| command.name.clone());
    let task = board::fresh_task(attempt, CloseStep::Checks)?;
    if linted {
        board::tick_owned(attempt, &task, OwnedItem::Lint);
    }
    if test.is_some() {
        board::tick_owned(attempt, &task, OwnedItem::Tests);
    }
    Ok(())
}

/// The test command as it was resolved at launch, never as the task reads now (N36).
fn test_command(attempt: &Attempt<'_>) -> Result<Option<PlannedCommand>, Trouble> {
    let Some(text) = &attempt.hand.test_command else { return Ok(None) };
    let command = resolve_test_command(text, &attempt.policies.test_shapes).map_err(|refusal| {
        PortError::new(format!("read the test command `{text}`"), refusal.to_string())
    })?;
    let config = &attempt.hand.config;
    let dir = join(config.project_root.as_str(), config.checks.cwd.as_str());
    Ok(Some(PlannedCommand { name: command.text(), dir, argv: command.argv().to_vec() }))
}

fn planned(
    attempt: &Attempt<'_>,
    rules: &[dispatch_core::config::FileCommand],
    files: &[TreePath],
) -> Result<CommandPlan, PortError> {
    plan_commands(rules, files, attempt.hand.config.project_root.as_str())
        .map_err(|source| PortError::new("plan the checks", source))
}

/// The verification tree's dependencies, from its own lockfile (C5.2).
fn provisioned(attempt: &mut Attempt<'_>, dir: &Utf8Path, tree: &TreeId) -> Result<(), Trouble> {
    let lane = attempt.record.lane;
    let step = CloseStep::Checks;
    let target = Where::Verification { dir: dir.to_owned(), tree: tree.clone() };
    match provision(attempt, &target)? {
        ProvisionEnd::NotDue | ProvisionEnd::Done { .. } => Ok(()),
        ProvisionEnd::Asked(asked) => Err(asked.failure(Some(step)).into()),
        ProvisionEnd::NeedsAPerson(items) => {
            let about = Said::ManifestsChanged.phrase(&[]);
            let detail = Detail::List { about, items: items.into_iter().collect() };
            Err(Failure::found(step, BlockReason::ProvisionChanged, detail).into())
        }
        ProvisionEnd::Failed(why) => {
            governor::provision_failed(&attempt.ports, attempt.hand.config.language, lane, &why)?;
            Err(Failure::requeue(Some(step), RequeueReason::ProvisionFailed, why).into())
        }
    }
}

fn changed_in_slot(attempt: &Attempt<'_>, tree: &TreeId) -> Result<Vec<TreePath>, Trouble> {
    let vcs = attempt.ports.vcs;
    let slot = bound_slot(attempt, CloseStep::Checks)?;
    let (_, start) = attempt.base_and_start()?;
    let now = vcs.freeze(&slot, &start)?.tree;
    if now == *tree {
        return Ok(Vec::new());
    }
    let before = vcs.commit(tree, std::slice::from_ref(&start), "chore: compare")?;
    Ok(vcs.changes(&before, &now)?.into_iter().map(|change| change.path).collect())
}

/// Runs one command of a step in a folder of `dir`; what a comment says when it failed.
pub(crate) fn run_check(
    attempt: &mut Attempt<'_>,
    step: CloseStep,
    command: &PlannedCommand,
    dir: &Utf8Path,
    place: CommandPlace,
) -> Result<Option<Detail>, Trouble> {
    let ports = attempt.ports;
    let limit = attempt.hand.config.checks.timeout_minutes.duration();
    let log = ports.store.attempt_dir(attempt.id(), attempt.number());
    let spec = CommandSpec {
        argv: command.argv.clone(),
        dir: folder(dir, &command.dir),
        env: command_environment(attempt),
        stdin: Vec::new(),
        limit,
        log: Some(log.join(AttemptFile::TestLog.file_name())),
        place,
        marker: attempt.record.token.clone(),
    };
    let ran = attempt.run(&spec)?;
    attempt.verify()?;
    match ran {
        Ran::Ended(end) => Ok(failure_of(&command.name, &end, limit)),
        Ran::Asked(asked) => Err(asked.failure(Some(step)).into()),
    }
}

fn failure_of(name: &str, end: &CommandEnd, limit: Duration) -> Option<Detail> {
    let (about, tail) = match end {
        end if end.succeeded() => return None,
        CommandEnd::Ended { exit, output, .. } => {
            let about = match exit {
                ExitMark::Code(code) => Said::ExitCode.phrase(&[("name", &name), ("code", code)]),
                ExitMark::Signal(signal) => {
                    Said::ExitSignal.phrase(&[("name", &name), ("signal", signal)])
                }
                ExitMark::Unknown => Said::ExitUnknown.phrase(&[("name", &name)]),
            };
            (about, tail(output, TAIL_LINES, TAIL_BYTES))
        }
        CommandEnd::TimedOut { output } => {
            let minutes = limit.as_secs() / 60;
            let about = Said::TimedOut.phrase(&[("name", &name), ("minutes", &minutes)]);
            (about, tail(output, TAIL_LINES, TAIL_BYTES))
        }
        CommandEnd::Stopped => (Said::EndedEarly.phrase(&[("name", &name)]), String::new()),
        CommandEnd::NotStarted(why) => (Said::NotStarted.phrase(&[("name", &name)]), why.clone()),
    };
    Some(Detail::Output { about, tail })
}

fn folder(tree: &Utf8Path, below: &str) -> Utf8PathBuf {
    if below.is_empty() { tree.to_owned() } else { tree.join(below) }
}

/// Changed files that still exist and are files, not links or repositories.
pub(crate) fn regular_files(changes: &[Change]) -> Vec<TreePath> {
    let regular = |change: &&Change| change.kind == Some(EntryKind::File);
    changes.iter().filter(regular).map(|change| change.path.clone()).collect()
}
