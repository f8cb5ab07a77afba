//! Making the slot ready for the worker (D6.5, D6.6).

use dispatch_close::commit::merge_message;
use dispatch_close::execute::Stop;
use dispatch_close::phrase::Said;
use dispatch_close::plan::{
    ClosePlan, Detail, Disposition, Failure, Frozen, failure_plan, hand_back_plan,
};
use dispatch_core::attempt::AttemptNumber;
use dispatch_core::branch::{BranchName, attempt_ref};
use dispatch_core::names::{BlockReason, PauseCause, RequeueReason};
use dispatch_core::object::CommitId;
use dispatch_core::path::RepoPath;
use dispatch_core::record::Phase;
use dispatch_core::start_commit::{KnownWork, SavedAndRemote, StartOrigin, start_commit};

use super::provision::{ProvisionEnd, Where, provision};
use super::{Attempt, leave};
use crate::governor;
use crate::ports::{Answer, AttemptFile, Merge, PortError, Push, RemoteBranch, SlotChange};
use crate::texts::count_of_files;

/// Whether the worker can be launched.
pub(crate) enum Ready {
    /// The slot is ready.
    Slot,
    /// It is not; this follows.
    Not(ClosePlan),
}

/// Why the slot is not ready.
enum Unready {
    Failure(Failure),
    Stop(Stop),
}

impl From<Stop> for Unready {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

impl From<PortError> for Unready {
    /// Nothing that goes wrong here is the task's (I8): it goes back to the queue.
    fn from(error: PortError) -> Self {
        let cause = error.pause.unwrap_or(PauseCause::LaunchRefused);
        Self::requeue(RequeueReason::Paused(cause), error.chain())
    }
}

impl Unready {
    fn requeue(reason: RequeueReason, why: impl Into<Detail>) -> Self {
        Self::Failure(Failure::requeue(None, reason, why))
    }
}

/// Prepares the slot; whatever keeps it from being ready is a close that hands the task back.
pub(crate) fn prepare(attempt: &mut Attempt<'_>) -> Result<Ready, Stop> {
    attempt.enter(Phase::Claimed)?;
    match try_prepare(attempt) {
        Ok(()) => {
            attempt.enter(Phase::Prepared)?;
            Ok(Ready::Slot)
        }
        Err(Unready::Failure(failure)) => {
            attempt.note(&format!("not prepared: {failure}"));
            Ok(Ready::Not(plan_of(attempt, failure)))
        }
        Err(Unready::Stop(stop)) => Err(stop),
    }
}

/// A task whose branch carries dependencies that a person has to judge ends with its work saved; everything else
/// that happens before the worker starts leaves nothing to save.
fn plan_of(attempt: &Attempt<'_>, failure: Failure) -> ClosePlan {
    match failure.disposition {
        Disposition::Block(_) if attempt.record.start.is_some() => {
            failure_plan(failure, Frozen::NotYet)
        }
        Disposition::Block(_) | Disposition::Requeue(_) | Disposition::Leave { .. } => {
            hand_back_plan(failure)
        }
    }
}

fn try_prepare(attempt: &mut Attempt<'_>) -> Result<(), Unready> {
    let ports = attempt.ports;
    let task = ports
        .board
        .task(&attempt.hand.task_id)
        .map_err(|error| Unready::requeue(RequeueReason::BoardUnreadable, error.chain()))?;
    let task = task
        .ok_or_else(|| Unready::Failure(Failure::taken_away(None, Said::TaskGone.phrase(&[]))))?;
    attempt.state.title.clone_from(&task.title);
    // The pass that claimed the task saw the board on its branch.
    attempt.state.board_branch = ports.vcs.board_place()?.branch;
    enough_room(attempt)?;
    let (base_branch, base) = base(attempt)?;
    let start = start(attempt, &base_branch, &base)?;
    let compared = ports.vcs.merge_base(&base, &start)?.unwrap_or_else(|| base.clone());
    attempt.record.base_branch = Some(base_branch);
    attempt.record.base = Some(compared);
    attempt.record.start = Some(start.clone());
    attempt.write_record().map_err(|error| leave(&error))?;

    let keep = kept_folders(attempt)?;
    let place = attempt.slot();
    let prepared = ports.vcs.prepare_slot(&place, &start, &keep)?;
    attempt.beat();
    if let Some((name, commit)) = &prepared.rescued {
        let text = format!(
            "content of slot {} that no record explained is kept as {name} ({commit})",
            place.name
        );
        attempt.note(&text);
        ports.notifier.notify(&format!("slot {}: content rescued", place.name), &text);
    }
    for folder in &prepared.dropped {
        attempt.note(&format!("{folder} was not as provisioned and is thrown away"));
    }
    interrupted(attempt)?;
    attempt.fresh_folders()?;
    // What was thrown away was installed once and is needed again.
    provisioned(attempt, prepared.fresh || !prepared.dropped.is_empty())?;
    ports.vcs.remember_kept(&place, &keep)?;
    if let Some(path) = ports.vcs.hard_link_outside(&place)? {
        return Err(Unready::requeue(
            RequeueReason::HardLinkOutside,
            format!(
                "{path} has links outside the slot: make the installation copy, or clear the folder"
            ),
        ));
    }
    interrupted(attempt)
}

/// Free space before anything is written (D11.1).
fn enough_room(attempt: &Attempt<'_>) -> Result<(), Unready> {
    let needed = attempt.hand.config.limits.min_free_mib;
    let free = attempt.ports.vcs.free_mib()?;
    if free >= needed {
        return Ok(());
    }
    let why =
        format!("{free} MiB are free where the slots lie, and `limits.minFreeMiB` is {needed}");
    Err(Unready::requeue(RequeueReason::Paused(PauseCause::DiskFull), why))
}

/// What was asked meanwhile ends the attempt before its worker starts.
fn interrupted(attempt: &mut Attempt<'_>) -> Result<(), Unready> {
    match attempt.asked() {
        None => Ok(()),
        Some(asked) => Err(Unready::Failure(asked.failure(None))),
    }
}

/// The branch the work is proposed for, made from its own base where it does not exist yet (D4 4b).
fn base(attempt: &Attempt<'_>) -> Result<(BranchName, CommitId), Unready> {
    let hand = &attempt.hand;
    let name = hand.base.name.clone();
    let unknown = |branch: &BranchName| {
        Unready::requeue(
            RequeueReason::Paused(PauseCause::RemoteUnreachable),
            format!("where the branch `{branch}` stands on the remote is not known"),
        )
    };
    match (&hand.base.seen, &hand.base_made_from) {
        (RemoteBranch::At(commit), _) => Ok((name, commit.clone())),
        (RemoteBranch::Absent, Some(from)) => {
            let RemoteBranch::At(commit) = &from.seen else { return Err(unknown(&from.name)) };
            match attempt.ports.vcs.push(&name, commit, None)? {
                Push::Pushed => Ok((name, commit.clone())),
                Push::Moved => Err(Unready::requeue(
                    RequeueReason::RemoteMoved,
                    format!("somebody made the branch `{name}` meanwhile"),
                )),
            }
        }
        (RemoteBranch::Absent | RemoteBranch::Unknown, _) => Err(unknown(&name)),
    }
}

/// The commit the worker starts from, with the base merged into it where that is clean (D6.6).
fn start(
    attempt: &mut Attempt<'_>,
    base_branch: &BranchName,
    base: &CommitId,
) -> Result<CommitId, Unready> {
    let ports = attempt.ports;
    let remote = match &attempt.hand.branch.seen {
        RemoteBranch::At(commit) => Some(commit.clone()),
        RemoteBranch::Absent => None,
        RemoteBranch::Unknown => {
            return Err(Unready::requeue(
                RequeueReason::Paused(PauseCause::RemoteUnreachable),
                format!("where `{}` stands on the remote is not known", attempt.hand.branch.name),
            ));
        }
    };
    let saved = attempt.record.saved.clone();
    let chosen = choose(attempt, remote, saved, base)?;
    let message = merge_message(base_branch.as_str(), &attempt.commit_facts());
    match ports.vcs.merge(&chosen, base, &message)? {
        Merge::UpToDate => Ok(chosen),
        Merge::Merged(commit) => {
            attempt.note(&format!("merged {base_branch} into the start: {commit}"));
            Ok(commit)
        }
        Merge::Conflict(paths) => {
            attempt.state.conflicts = paths.iter().collect();
            let files = count_of_files(paths.len());
            attempt.note(&format!("{base_branch} conflicts with the start in {files}"));
            Ok(chosen)
        }
        Merge::Unknown(why) => {
            attempt.note(&format!("{base_branch} was not merged into the start: {why}"));
            attempt.state.base_left_out = Some(why);
            Ok(chosen)
        }
    }
}

/// Which commit the work goes on from, before the base is merged into it.
fn choose(
    attempt: &mut Attempt<'_>,
    remote: Option<CommitId>,
    saved: Option<CommitId>,
    base: &CommitId,
) -> Result<CommitId, Unready> {
    let relation = match (&remote, &saved) {
        (Some(remote), Some(saved)) => relation(attempt, remote, saved),
        _ => SavedAndRemote::Unknown,
    };
    let known = KnownWork { remote, saved, relation, base: base.clone() };
    if known.remote.is_some() && known.saved.is_some() && relation == SavedAndRemote::Unknown {
        // Starting from either could abandon work (I7).
        return Err(Unready::requeue(
            RequeueReason::Paused(PauseCause::RemoteUnreachable),
            "whether the saved work follows the remote branch could not be found out",
        ));
    }
    let start = start_commit(&known);
    attempt.note(&format!("starting from {} ({})", start.commit, start.origin));
    if let Some(aside) = &start.aside {
        attempt.note(&format!("the saved work {aside} is not what the branch holds; it is kept"));
    }
    attempt.state.set_aside = start.aside;
    attempt.state.continues_saved = start.origin == StartOrigin::Saved;
    attempt.state.started_from = match start.origin {
        StartOrigin::Saved => Some(kept_as(attempt, &start.commit)),
        StartOrigin::Remote => Some(attempt.record.branch.to_string()),
        StartOrigin::Base => None,
    };
    Ok(start.commit)
}

/// The ref under which an earlier attempt kept this commit; the commit itself when nothing tells any more.
fn kept_as(attempt: &Attempt<'_>, commit: &CommitId) -> String {
    let store = attempt.ports.store;
    let kept_it = |number: &AttemptNumber| {
        let outcome = store.read_attempt_file(attempt.id(), *number, AttemptFile::Outcome);
        let outcome = outcome
            .ok()
            .flatten()
            .and_then(|text| serde_json::from_slice::<serde_json::Value>(&text).ok());
        outcome.is_some_and(|outcome| outcome["saved"] == commit.as_str())
    };
    let mut earlier = (1..attempt.number().get()).rev().filter_map(AttemptNumber::new);
    earlier
        .find(kept_it)
        .map_or_else(|| commit.to_string(), |number| attempt_ref(attempt.id(), number))
}

fn relation(attempt: &Attempt<'_>, remote: &CommitId, saved: &CommitId) -> SavedAndRemote {
    let vcs = attempt.ports.vcs;
    match (vcs.is_ancestor(remote, saved), vcs.is_ancestor(saved, remote)) {
        (Answer::Yes, _) => SavedAndRemote::SavedDescends,
        (_, Answer::Yes) => SavedAndRemote::RemoteDescends,
        (Answer::No, Answer::No) => SavedAndRemote::Apart,
        (Answer::Unknown, _) | (_, Answer::Unknown) => SavedAndRemote::Unknown,
    }
}

fn kept_folders(attempt: &Attempt<'_>) -> Result<Vec<RepoPath>, Unready> {
    let keep = attempt.hand.config.provision.keep.iter();
    keep.map(|path| {
        RepoPath::parse(path.as_str().trim_end_matches('/'))
            .map_err(|source| PortError::new("read `provision.keep`", source).into())
    })
    .collect()
}

/// Provisions the slot where that is due, and counts what fails (D6.7).
fn provisioned(attempt: &mut Attempt<'_>, fresh: bool) -> Result<(), Unready> {
    let ports = attempt.ports;
    let lane = attempt.record.lane;
    let name = attempt.record.slot.clone();
    let installed = ports
        .store
        .registry()?
        .slots
        .into_iter()
        .find(|entry| entry.name == name)
        .and_then(|entry| entry.lockfile_hash);
    let dir = attempt.slot().path;
    match provision(attempt, &Where::Slot { dir, fresh, installed })? {
        ProvisionEnd::NotDue => Ok(()),
        ProvisionEnd::Asked(asked) => Err(Unready::Failure(asked.failure(None))),
        ProvisionEnd::Done { lockfile_hash } => {
            let change = SlotChange::Installed { lockfile_hash };
            ports.store.change_slot(&name, &change)?;
            governor::provisioned(&ports, lane)?;
            Ok(())
        }
        ProvisionEnd::NeedsAPerson(items) => Err(Unready::Failure(Failure {
            step: None,
            disposition: Disposition::Block(BlockReason::ProvisionChanged),
            detail: Detail::List {
                about: Said::ManifestsOnBranch.phrase(&[]),
                items: items.into_iter().collect(),
            },
        })),
        ProvisionEnd::Failed(why) => {
            governor::provision_failed(&ports, attempt.hand.config.language, lane, &why)?;
            Err(Unready::requeue(RequeueReason::ProvisionFailed, why))
        }
    }
}
