//! The scope check over the frozen tree (C3.2–C3.5).

use std::collections::BTreeSet;

use dispatch_close::listed::Listed;
use dispatch_close::phrase::Said;
use dispatch_close::plan::{Detail, Failure};
use dispatch_core::names::{BlockReason, CloseStep};
use dispatch_core::path::TreePath;
use dispatch_core::task::Task;
use dispatch_guards::claims::{Claim, Claims, TestSiblings};
use dispatch_guards::scope::{
    Change, ChangeOrigin, ChangeStatus, Content, EmptyChange, ScopeClass, ScopeReport, ScopeRules,
    ScopeVerdict, classify_scope, danger,
};

use super::generate::generated;
use super::save::frozen_tree;
use super::{Step, Trouble, board};
use crate::ports::{self, EntryKind, PortError};
use crate::supervise::Attempt;
use crate::texts::count_of_files;

/// `scope-check`: every changed file may be changed by this task on this lane.
pub(crate) fn check(attempt: &mut Attempt<'_>) -> Step {
    let task = board::fresh_task(attempt, CloseStep::ScopeCheck)?;
    let looked = judge(attempt, &task)?;
    keep(attempt, &looked);
    let report = looked.report;
    if attempt.found().dangerous.is_none() {
        let why = "which credentials the worker was given was not kept";
        return Err(Failure::inside(CloseStep::ScopeCheck, why).into());
    }
    let found = |reason, detail| {
        Err(Trouble::Failed(Failure::found(CloseStep::ScopeCheck, reason, detail)))
    };
    match report.verdict {
        ScopeVerdict::Pass => Ok(Some(count_of_files(report.files.len()))),
        ScopeVerdict::NoChanges => found(BlockReason::NoChanges, Detail::Nothing),
        ScopeVerdict::ScopeCheckFailed => {
            let items: Listed = report.failing().collect();
            let about = match items.len() {
                1 => Said::OneFile.phrase(&[]),
                count => Said::Files.phrase(&[("count", &count)]),
            };
            let detail = Detail::List { about, items };
            found(BlockReason::ScopeCheckFailed, detail)
        }
    }
}

/// Computes the files for a comment, where the scope check did not run. A failure means that nothing is known, and never
/// makes a failed close fail harder (C3.5). The board must be here.
pub(crate) fn look_at_files(attempt: &mut Attempt<'_>) {
    if attempt.found().judged {
        return;
    }
    let task = match attempt.ports.board.task(attempt.id()) {
        Ok(Some(task)) => task,
        Ok(None) => return,
        Err(error) => return attempt.note(&format!("files not judged: {}", error.chain())),
    };
    match judge(attempt, &task) {
        Ok(looked) => keep(attempt, &looked),
        Err(trouble) => attempt.note(&format!("files not judged: {trouble}")),
    }
}

/// Finds out whether the tree may leave this machine, where the scope check did not run: no task is needed for that.
pub(crate) fn look_for_danger(attempt: &mut Attempt<'_>) {
    if attempt.found().dangerous.is_some() {
        return;
    }
    match changed(attempt) {
        Ok(Changed { judged, .. }) => {
            let limit = attempt.hand.config.paths.max_file_bytes;
            let found = judged.iter().any(|change| danger(change, limit).is_some());
            keep_danger(attempt, found);
        }
        Err(error) => attempt.note(&format!("files not looked through: {}", error.chain())),
    }
}

fn keep(attempt: &mut Attempt<'_>, Looked { report, generated }: &Looked) {
    let shown = |keep: fn(&ScopeClass) -> bool| -> Listed {
        report.files.iter().filter(|file| keep(&file.class)).collect()
    };
    let forbidden =
        shown(|class| matches!(class, ScopeClass::Forbidden(_) | ScopeClass::Dangerous(_)));
    let undeclared = report.files.iter().filter(|file| file.class == ScopeClass::InScope);
    let found = attempt.found();
    found.forbidden_files = forbidden;
    found.review_files = report.for_review().collect();
    found.undeclared = undeclared.map(|file| &file.path).collect();
    found.files = report.files.iter().map(|file| &file.path).collect();
    found.generated = generated.iter().collect();
    found.judged = true;
    keep_danger(attempt, report.holds_danger);
}

/// Without knowing the credentials that were handed out, a tree is never called harmless.
fn keep_danger(attempt: &mut Attempt<'_>, found: bool) {
    let searched = attempt.state.handed_out.is_some();
    attempt.found().dangerous = (found || searched).then_some(found);
}

/// Every changed file with its class, and beside them those that were generated.
struct Looked {
    report: ScopeReport,
    generated: BTreeSet<TreePath>,
}

fn judge(attempt: &Attempt<'_>, task: &Task) -> Result<Looked, PortError> {
    let Changed { judged, generated } = changed(attempt)?;
    let config = &attempt.hand.config;
    let claims = claims_of(task, config.project_root.as_str(), &attempt.policies.siblings);
    let rules = ScopeRules {
        lane: Some(attempt.record.lane),
        claims: &claims,
        policy: &attempt.policies.paths,
        max_file_bytes: config.paths.max_file_bytes,
        empty: if attempt.state.close_attempt { EmptyChange::Allowed } else { EmptyChange::Fails },
    };
    Ok(Looked { report: classify_scope(&judged, &rules), generated })
}

/// What the attempt changed, but for files that were generated (C6), unless one holds a credential.
struct Changed {
    judged: Vec<Change>,
    generated: BTreeSet<TreePath>,
}

fn changed(attempt: &Attempt<'_>) -> Result<Changed, PortError> {
    let vcs = attempt.ports.vcs;
    let (base, start) = attempt.base_and_start()?;
    let tree = frozen_tree(attempt)?;
    let changes = vcs.changes(&base, &tree)?;
    let foreign = vcs.foreign_changes(&base, &start)?;
    let by_attempt: BTreeSet<TreePath> =
        vcs.changes(&start, &tree)?.into_iter().map(|change| change.path).collect();
    let paths: Vec<TreePath> = changes
        .iter()
        .filter(|change| change.size_bytes.is_some())
        .map(|change| change.path.clone())
        .collect();
    let secrets = attempt.secrets().unwrap_or_default();
    let holding =
        if secrets.is_empty() { BTreeSet::new() } else { vcs.holding(&tree, &paths, &secrets)? };
    let generated = generated(attempt, &changes)?;
    let mut judged: Vec<Change> = changes
        .iter()
        .filter(|change| !generated.contains(&change.path) || holding.contains(&change.path))
        .map(|change| {
            let inherited = foreign.contains(&change.path) && !by_attempt.contains(&change.path);
            let origin = if inherited { ChangeOrigin::Inherited } else { ChangeOrigin::Ours };
            to_judge(change, origin, holding.contains(&change.path))
        })
        .collect();
    // One of them fails the check as well as all.
    judged.extend(attempt.state.found.nested.items.iter().map(|path| Change {
        path: TreePath::new(path.as_bytes()),
        status: ChangeStatus::Added,
        content: Content::NestedRepository,
        origin: ChangeOrigin::Ours,
    }));
    Ok(Changed { judged, generated })
}

fn to_judge(change: &ports::Change, origin: ChangeOrigin, holds_credential: bool) -> Change {
    let content = match change.kind {
        None => Content::Gone,
        Some(EntryKind::Repository) => Content::Submodule,
        Some(EntryKind::Link) => Content::Link { target: change.link_target.clone() },
        Some(EntryKind::File) => {
            Content::File { bytes: change.size_bytes.unwrap_or(u64::MAX), holds_credential }
        }
    };
    Change { path: change.path.clone(), status: change.status, content, origin }
}

/// What a task declares, as paths of the repository: declarations are relative to the project root (B1.3).
pub(crate) fn claims_of(task: &Task, project_root: &str, siblings: &TestSiblings) -> Claims {
    let below = |path: &str| {
        let folder = if path.ends_with('/') { "/" } else { "" };
        format!("{}{folder}", dispatch_close::checks::join(project_root, path))
    };
    let claims = task.declared_files.iter().map(|file| {
        let path = below(&file.text);
        if file.shared { Claim::shared(path) } else { Claim::owns(path) }
    });
    Claims::new(claims, siblings)
}
