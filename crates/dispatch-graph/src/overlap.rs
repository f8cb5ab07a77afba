//! Tasks that claim a common path although neither waits for the other.

use std::collections::{BTreeMap, BTreeSet};

use dispatch_core::id::TaskId;
use dispatch_core::task::Task;
use dispatch_guards::claims::{self, Claims, Footprint};
use serde::Serialize;

use crate::graph::{ClaimBasis, Node};

/// How many overlaps of one task are kept.
const MOST: usize = 10;

/// A common path of two tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Overlap {
    /// The other task.
    pub task: TaskId,
    /// What this one claims.
    pub claim: String,
    /// What the other one claims.
    pub other_claim: String,
}

/// Who claims which path, so that a claim is held against the few it may meet.
#[derive(Default)]
struct Index {
    at: BTreeMap<String, BTreeSet<usize>>,
    everywhere: BTreeSet<usize>,
}

impl Index {
    fn add(&mut self, position: usize, footprint: Footprint) {
        match footprint {
            Footprint::Repository => {
                self.everywhere.insert(position);
            }
            Footprint::At(path) => {
                self.at.entry(bare(&path).to_owned()).or_default().insert(position);
            }
        }
    }

    /// The tasks whose footprint the path may meet: at it, above it, below it.
    fn meet(&self, path: &str, found: &mut BTreeSet<usize>) {
        let path = bare(path);
        for (end, _) in path.match_indices('/').chain([(path.len(), "")]) {
            found.extend(self.at.get(&path[..end]).into_iter().flatten());
        }
        let below = format!("{path}/");
        for (_, others) in
            self.at.range(below.clone()..).take_while(|(key, _)| key.starts_with(&below))
        {
            found.extend(others);
        }
        found.extend(&self.everywhere);
    }
}

fn bare(path: &str) -> &str {
    path.strip_suffix('/').unwrap_or(path)
}

/// Finds the overlaps of every unfinished task.
pub(crate) fn find(
    nodes: &mut [Node],
    tasks: &[&Task],
    waits: &[Vec<usize>],
    basis: &ClaimBasis<'_>,
) {
    let claims: BTreeMap<usize, Claims> = (0..nodes.len())
        .filter(|position| !nodes[*position].finished)
        .map(|at| (at, Claims::of_task(tasks[at], basis.project_root, basis.siblings)))
        .filter(|(_, claims)| !claims.is_empty())
        .collect();
    let mut index = Index::default();
    let footprints_of = |claims: &Claims| -> Vec<Footprint> {
        let paths = claims.entries().iter();
        paths.flat_map(|claim| claims::footprints(&claim.path, basis.siblings)).collect()
    };
    for (position, claims) in &claims {
        for footprint in footprints_of(claims) {
            index.add(*position, footprint);
        }
    }
    let dependents = reversed(waits);
    for (position, own) in &claims {
        let mut near = BTreeSet::new();
        for footprint in footprints_of(own) {
            match footprint {
                Footprint::Repository => near.extend(claims.keys()),
                Footprint::At(path) => index.meet(&path, &mut near),
            }
        }
        near.remove(position);
        if near.is_empty() {
            continue;
        }
        let (before, after) = (reach(waits, *position), reach(&dependents, *position));
        let unordered = near.iter().filter(|other| !before[**other] && !after[**other]);
        let found = unordered.filter_map(|other| {
            let overlap = own.overlap(&claims[other])?;
            Some(Overlap {
                task: nodes[*other].id.clone(),
                claim: overlap.candidate.path,
                other_claim: overlap.busy.path,
            })
        });
        let mut found: Vec<Overlap> = found.take(MOST + 1).collect();
        nodes[*position].more_overlaps = found.len() > MOST;
        found.truncate(MOST);
        nodes[*position].overlaps = found;
    }
}

/// Who waits for each node.
pub(crate) fn reversed(waits: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut dependents = vec![Vec::new(); waits.len()];
    for (from, targets) in waits.iter().enumerate() {
        for to in targets {
            dependents[*to].push(from);
        }
    }
    dependents
}

/// Which nodes are reachable from a node; itself only along a cycle.
pub(crate) fn reach(next: &[Vec<usize>], from: usize) -> Vec<bool> {
    let mut found = vec![false; next.len()];
    let mut open = vec![from];
    while let Some(node) = open.pop() {
        for to in &next[node] {
            if !std::mem::replace(&mut found[*to], true) {
                open.push(*to);
            }
        }
    }
    found
}
