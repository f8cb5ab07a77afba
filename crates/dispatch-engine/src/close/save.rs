//! Taking the tree of the attempt, and keeping its work (C3.1, C10.1).

use dispatch_close::commit::saved_message;
use dispatch_close::execute::{CloseRun, Stop};
use dispatch_core::names::CloseStep;
use dispatch_core::object::{CommitId, TreeId};

use super::{Step, Trouble, bound_slot, scope};
use crate::budget::PUSH;
use crate::ports::PortError;
use crate::supervise::Attempt;

/// `freeze`: writes the slot into a tree. From here on everything is about that tree.
pub(crate) fn freeze(attempt: &mut Attempt<'_>) -> Step {
    let slot = bound_slot(attempt, CloseStep::Freeze)?;
    let (_, start) = attempt.base_and_start()?;
    let frozen = attempt.ports.vcs.freeze(&slot, &start)?;
    let found = attempt.found();
    found.nested = frozen.nested.iter().map(|nested| &nested.path).collect();
    found.left_out = frozen.left_out.iter().map(|(path, why)| format!("{path}: {why}")).collect();
    attempt.freeze_as(frozen.tree.clone());
    Ok(Some(frozen.tree.to_string()))
}

/// The frozen tree; the plan froze it before any step that asks.
pub(crate) fn frozen_tree(attempt: &Attempt<'_>) -> Result<TreeId, PortError> {
    let tree = attempt.state.found.tree.clone();
    tree.ok_or_else(|| PortError::new("use the frozen tree", "the slot was not frozen"))
}

/// `save-work`: a commit under a ref of ours is the save; the push to the same name is a backup.
pub(crate) fn save_work(attempt: &mut Attempt<'_>, run: &CloseRun) -> Step {
    let (_, start) = attempt.base_and_start()?;
    let tree = frozen_tree(attempt)?;
    if tree == attempt.ports.vcs.tree_of(&start)? {
        return Ok(Some("nothing to save".to_owned()));
    }
    let reason = run.failure().map_or("success", |failure| failure.disposition.reason());
    let message = saved_message(reason, &attempt.commit_facts());
    let commit = commit_once(attempt, &tree, &start, &message)?;
    let name = attempt.attempt_ref();
    attempt.ports.vcs.keep(&name, &commit)?;
    attempt.found().saved = Some(commit.clone());
    attempt.record.saved = Some(commit.clone());
    // The work is safe here: what fails from now on does not hold the slot.
    attempt.write_record().map_err(|error| Stop::Leave(error.chain()))?;
    scope::look_for_danger(attempt);
    back_up(attempt, &name);
    Ok(Some(format!("{name} {commit}")))
}

/// The commit of the tree, made at most once: a step that runs twice must not make a second one. A held slot may have
/// changed since.
pub(crate) fn commit_once(
    attempt: &mut Attempt<'_>,
    tree: &TreeId,
    start: &CommitId,
    message: &str,
) -> Result<CommitId, Trouble> {
    if let Some(commit) = attempt.found().commit.clone()
        && attempt.ports.vcs.tree_of(&commit)? == *tree
    {
        return Ok(commit);
    }
    let commit = attempt.ports.vcs.commit(tree, std::slice::from_ref(start), message)?;
    attempt.found().commit = Some(commit.clone());
    attempt.save_state()?;
    Ok(commit)
}

/// Pushes the kept work to the same name on the remote, unless it holds something that must not leave this machine.
fn back_up(attempt: &mut Attempt<'_>, name: &str) {
    let ports = attempt.ports;
    if attempt.found().dangerous != Some(false) {
        attempt.note("the work is kept here only: it holds, or may hold, something dangerous");
        return;
    }
    let Err(error) = ports.vcs.push_backup(name, PUSH) else { return };
    attempt.note(&format!("no backup yet: {}", error.chain()));
    let listed = ports.store.change_backups(&mut |backups| {
        backups.entry(name.to_owned()).or_insert(0);
    });
    if let Err(error) = listed {
        attempt.note(&format!("the backup is not on the sweep's list: {}", error.chain()));
    }
}
