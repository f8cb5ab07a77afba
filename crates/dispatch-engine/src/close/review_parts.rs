//! What the reviewer of a close attempt is shown, one after the other (C7.2).

use std::collections::BTreeSet;

use dispatch_core::object::{CommitId, TreeId};
use dispatch_core::path::TreePath;

use super::Trouble;
use super::review::{Part, diff_of};
use super::save::frozen_tree;
use crate::ports::PortError;
use crate::settled::is_merged;
use crate::supervise::Attempt;

/// The change of each subtask, then what the close attempt itself changed; none when that is not all of the change, which
/// is then reviewed as one.
pub(super) fn of_close_attempt(attempt: &Attempt<'_>) -> Result<Option<Vec<Part>>, Trouble> {
    if !attempt.state.close_attempt {
        return Ok(None);
    }
    let (base, start) = attempt.base_and_start()?;
    let tree = frozen_tree(attempt)?;
    let Some(children) = merged_children(attempt)? else { return Ok(None) };
    let mut shown = changed_paths(attempt, &start, &tree)?;
    for child in &children {
        shown.extend(changed_paths(attempt, &child.base, &child.tree)?);
    }
    if !changed_paths(attempt, &base, &tree)?.is_subset(&shown) {
        return Ok(None);
    }
    let mut parts = Vec::new();
    for Child { name, base, tree } in children {
        parts.push(Part { diff: diff_of(attempt, &base, &tree)?, name: Some(name) });
    }
    let own = diff_of(attempt, &start, &tree)?;
    if !own.trim().is_empty() || parts.is_empty() {
        let name = "what was changed to make the whole work".to_owned();
        parts.push(Part { diff: own, name: Some(name) });
    }
    Ok(Some(parts))
}

/// The merged change of a subtask.
struct Child {
    name: String,
    base: CommitId,
    tree: TreeId,
}

/// The changes of all subtasks; none when one of them is not known, or no longer in the repository.
fn merged_children(attempt: &Attempt<'_>) -> Result<Option<Vec<Child>>, PortError> {
    let ports = attempt.ports;
    let board = ports.board.read();
    let Some(whole) = board.find(attempt.id()).filter(|_| board.complete) else { return Ok(None) };
    let mut children = Vec::new();
    for id in &whole.children {
        let record = ports.store.record(id)?.filter(is_merged);
        let base = record.as_ref().and_then(|record| record.base.clone());
        let proposal = record.and_then(|record| record.pr);
        let Some((base, proposal)) = base.zip(proposal) else { return Ok(None) };
        let Ok(tree) = ports.vcs.tree_of(&proposal.commit) else { return Ok(None) };
        let title = board.find(id).map_or("", |task| task.title.as_str());
        children.push(Child { name: format!("{id}, {title}"), base, tree });
    }
    Ok(Some(children))
}

fn changed_paths(
    attempt: &Attempt<'_>,
    from: &CommitId,
    tree: &TreeId,
) -> Result<BTreeSet<TreePath>, PortError> {
    let changes = attempt.ports.vcs.changes(from, tree)?;
    Ok(changes.into_iter().map(|change| change.path).collect())
}
