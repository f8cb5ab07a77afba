//! One round: lease, fetch, sweep, selection, report (D3).

use std::collections::BTreeSet;
use std::time::Duration;

use dispatch_core::board::Board;
use dispatch_core::branch::BranchName;
use dispatch_core::config::Owner;
use dispatch_core::names::{SelectionOff, WaitReason};
use dispatch_core::select::candidates;
use dispatch_core::status::Status;
use dispatch_core::task::Task;
use dispatch_core::triage::Lane;

use super::consider::Considering;
use super::{Considered, End, Options, PassError, RoundReport, Selection};
use crate::base_branch::{self, BaseBranch};
use crate::board_place::{BoardBranch, Memory, Round, look};
use crate::budget::{Budget, NETWORK, put_off};
use crate::judge::{RoundFacts, RoundView};
use crate::ports::{Lease, Ports, RemoteView};
use crate::setup::{Setup, Trust};
use crate::sweep::{self, SweepLine};

pub(super) fn run(
    ports: &Ports<'_>,
    setup: &Setup,
    options: &Options,
    which: Round,
) -> Result<RoundReport, PassError> {
    let budget = Budget::start(ports.clock, NETWORK);
    let mut notes = Vec::new();
    let lease = take_lease(ports, setup, options, &budget);
    let memory = if options.dry_run { Memory::Untouched } else { Memory::Kept };
    let BaseBranch { name: base, problem } = base_branch::find(ports, setup, &budget, memory)?;
    notes.extend(problem);
    let place = look(ports, setup, base.as_ref(), which, memory)?;
    let board = ports.board.read();
    let remote = fetch(ports, setup, &board, base.as_ref(), budget.left_for_git(ports.clock))?;
    notes.extend(remote.problem.clone());
    let maintenance = if options.dry_run {
        Vec::new()
    } else {
        let swept = sweep::run(ports, setup, &board, &place, &remote, &budget);
        notes.extend(swept.put_off);
        swept.lines
    };
    // The sweep may have changed the board: the guards look at what it is now (N29).
    let board = ports.board.read();
    // What the forge says of a pull request is newer than what was fetched: work that waited for a merge must start from
    // it, and so must a parent that its last subtask makes ready.
    let heard = maintenance.iter().any(SweepLine::is_news_of_the_forge);
    let remote = if heard && !candidates(&board).is_empty() {
        let again = fetch(ports, setup, &board, base.as_ref(), budget.left(ports.clock))?;
        notes.extend(again.problem.clone().filter(|problem| !notes.contains(problem)));
        again
    } else {
        remote
    };
    notes.extend(board.problems.iter().map(ToString::to_string));
    let (mut problems, mut told) = (Vec::new(), BTreeSet::new());
    let off = selection_off(options, setup, &place, &lease);
    let (selection, considered) = match (off, &place) {
        (Some((reason, grounds)), _) => (Selection::Off { reason, grounds }, Vec::new()),
        (None, _)
            if candidates(&board).is_empty()
                && !board.hostile_tasks.values().any(|task| task.status == Status::Queued) =>
        {
            (Selection::NoQueuedTask, Vec::new())
        }
        // Nothing may be written into these files yet, so no guard may block either.
        (None, BoardBranch::Unknown(why)) => {
            let waits = |task: &&Task| Considered {
                id: task.id.clone(),
                end: End::Waiting { reason: WaitReason::RemoteUnknown },
                grounds: why.clone(),
            };
            (Selection::Done, candidates(&board).iter().map(waits).collect())
        }
        (None, BoardBranch::Here | BoardBranch::Elsewhere(_)) => {
            let facts = RoundFacts::read(ports, &board, &remote, base.as_ref())?;
            let mut considering = Considering::new(ports, setup, &facts, options);
            let mut considered = considering.hostile();
            considered.extend(considering.all(&candidates(&board)));
            problems.extend(considering.problems);
            told = considering.unreadable;
            (Selection::Done, considered)
        }
    };
    match selection {
        Selection::Off { .. } => {}
        Selection::Done | Selection::NoQueuedTask => {
            problems.extend(unreadable_settings(setup, &told));
        }
    }
    let rehearsed = options.dry_run;
    Ok(RoundReport { maintenance, considered, selection, rehearsed, notes, problems })
}

/// Names the lanes on which nothing can be dispatched, also while no task waits for it (D3.6).
fn unreadable_settings(setup: &Setup, told: &BTreeSet<Lane>) -> Vec<String> {
    let unreadable = |lane: &Lane| {
        let own = setup.lanes.get(lane).and_then(|read| read.as_ref().err().cloned());
        own.or_else(|| setup.agent_settings.judge(&setup.config, *lane).err())
            .map(|why| format!("nothing is dispatched on lane {lane}: {why}"))
    };
    Lane::ALL.iter().filter(|lane| !told.contains(*lane)).filter_map(unreadable).collect()
}

fn take_lease(ports: &Ports<'_>, setup: &Setup, options: &Options, budget: &Budget) -> Lease {
    match setup.config.owner {
        Owner::Off => Lease::Ours,
        // Looking changes nothing on the remote, so it needs no leave.
        Owner::Lease if options.dry_run => Lease::Ours,
        Owner::Lease => match budget.left_for_git(ports.clock) {
            Some(limit) => ports.vcs.lease(limit),
            None => Lease::Unreachable(put_off("asks who owns the remote")),
        },
    }
}

fn fetch(
    ports: &Ports<'_>,
    setup: &Setup,
    board: &Board,
    base: Option<&BranchName>,
    limit: Option<Duration>,
) -> Result<RemoteView, PassError> {
    let nothing = RemoteView::default();
    let names = RoundView::read(ports, board, &nothing, base)?.of_interest(setup)?;
    Ok(match limit {
        Some(limit) => ports.vcs.fetch(&names, limit),
        None => RemoteView { problem: Some(put_off("asks about the branches")), ..nothing },
    })
}

fn selection_off(
    options: &Options,
    setup: &Setup,
    place: &BoardBranch,
    lease: &Lease,
) -> Option<(SelectionOff, String)> {
    if let Some(reason) = options.selection_off {
        return Some((reason, String::new()));
    }
    if let Trust::Changed(difference) = &setup.trust {
        let text = format!(
            "the configuration is not the approved one; `dispatch trust` approves it:\n{difference}"
        );
        return Some((SelectionOff::ConfigChanged, text));
    }
    if let BoardBranch::Elsewhere(why) = place {
        return Some((SelectionOff::BoardElsewhere, why.clone()));
    }
    match lease {
        Lease::Ours => None,
        Lease::Other { who, until } => {
            Some((SelectionOff::NotOwner, format!("{who} owns this remote until {until}")))
        }
        Lease::Unreachable(why) => {
            let text = format!("the remote did not answer, and our own lease on it is over: {why}");
            Some((SelectionOff::NotOwner, text))
        }
    }
}
