//! Waves of tasks that could be worked on at the same time (R1.5).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use dispatch_core::id::TaskId;
use dispatch_core::status::Status;
use dispatch_core::triage::Lane;

use crate::graph::Node;
use crate::label::label;
use crate::text::{STATUS_COLUMNS, TITLE_COLUMNS};
use crate::view::View;

/// How many tasks of a lane are worked on at once; no limit for a lane that is not named.
#[derive(Debug, Clone, Default)]
pub struct Capacity {
    /// By lane.
    pub lanes: BTreeMap<Lane, usize>,
    /// Over all lanes.
    pub slots: Option<usize>,
}

/// The plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waves {
    /// The waves, each with the positions of its tasks: those at work first, then in the order of selection.
    pub waves: Vec<Vec<usize>>,
    /// Unfinished tasks that can never start as things stand: on a cycle, with a dependency that can never be done, or
    /// behind such a task.
    pub stuck: Vec<usize>,
}

/// Plans the unfinished tasks of a view. A task is in a later wave than everything it waits for, a wave holds no more of a
/// lane than its capacity, and no two tasks of a wave claim a common path. Every task is taken to last one wave.
pub fn plan(view: &View<'_>, capacity: &Capacity) -> Waves {
    let nodes = &view.graph.nodes;
    let waits = view.graph.waits();
    let mut stuck: BTreeSet<usize> = BTreeSet::new();
    let mut by_group: Vec<usize> = (0..nodes.len()).collect();
    by_group.sort_by_key(|node| (view.graph.groups[*node], *node));
    for node in by_group {
        let behind = waits[node].iter().any(|to| stuck.contains(to));
        if !nodes[node].finished && (nodes[node].stuck || nodes[node].on_cycle || behind) {
            stuck.insert(node);
        }
    }
    let mut open: Vec<usize> =
        (0..nodes.len()).filter(|node| !nodes[*node].finished && !stuck.contains(node)).collect();
    open.sort_by(|a, b| selection_key(&nodes[*a]).cmp(&selection_key(&nodes[*b])));
    let mut done: Vec<bool> = nodes.iter().map(|node| node.finished).collect();
    let mut waves = Vec::new();
    while !open.is_empty() {
        let mut wave = Wave::new(capacity);
        for node in &open {
            if waits[*node].iter().all(|to| done[*to]) && wave.has_room(&nodes[*node]) {
                wave.take(*node, &nodes[*node]);
            }
        }
        for node in &wave.taken {
            done[*node] = true;
        }
        open.retain(|node| !done[*node]);
        waves.push(wave.taken);
    }
    let shown: BTreeSet<usize> = view.shown.iter().copied().collect();
    for wave in &mut waves {
        wave.retain(|node| shown.contains(node));
    }
    waves.retain(|wave: &Vec<usize>| !wave.is_empty());
    Waves { waves, stuck: stuck.intersection(&shown).copied().collect() }
}

/// What is at work comes first, then as a pass selects (D3.1).
fn selection_key(node: &Node) -> (bool, std::cmp::Reverse<u32>, bool, Option<&str>, &TaskId) {
    (
        node.status != Status::InProgress,
        std::cmp::Reverse(node.priority),
        node.created.is_none(),
        node.created.as_deref(),
        &node.id,
    )
}

struct Wave<'a> {
    capacity: &'a Capacity,
    taken: Vec<usize>,
    working: usize,
    of_lane: BTreeMap<Lane, usize>,
    claimed: BTreeSet<TaskId>,
    /// Whether it holds a task whose overlaps are too many to be listed.
    crowded: bool,
}

impl<'a> Wave<'a> {
    fn new(capacity: &'a Capacity) -> Self {
        let (taken, of_lane, claimed) = (Vec::new(), BTreeMap::new(), BTreeSet::new());
        Self { capacity, taken, working: 0, of_lane, claimed, crowded: false }
    }

    /// The first task always finds room: a capacity of nothing would plan nothing.
    fn has_room(&self, node: &Node) -> bool {
        if self.taken.is_empty() || !node.own_work {
            return true;
        }
        let lane = node.lane.is_none_or(|lane| {
            let used = self.of_lane.get(&lane).copied().unwrap_or(0);
            self.capacity.lanes.get(&lane).is_none_or(|most| used < *most)
        });
        lane && self.capacity.slots.is_none_or(|most| self.working < most)
            && !(self.crowded && node.more_overlaps)
            && !node.overlaps.iter().any(|overlap| self.claimed.contains(&overlap.task))
    }

    fn take(&mut self, position: usize, node: &Node) {
        self.taken.push(position);
        if node.own_work {
            self.working += 1;
            if let Some(lane) = node.lane {
                *self.of_lane.entry(lane).or_default() += 1;
            }
            self.claimed.insert(node.id.clone());
            self.crowded |= node.more_overlaps;
        }
    }
}

/// The plan as text for a terminal.
pub fn render(view: &View<'_>, plan: &Waves, capacity: &Capacity) -> String {
    let mut out = String::new();
    for (number, wave) in (1..).zip(&plan.waves) {
        let nodes = wave.iter().map(|position| &view.graph.nodes[*position]);
        let counted: Vec<String> = Lane::ALL
            .iter()
            .filter_map(|lane| {
                let used =
                    nodes.clone().filter(|node| node.own_work && node.lane == Some(*lane)).count();
                let most =
                    capacity.lanes.get(lane).map_or(String::new(), |most| format!("/{most}"));
                (used > 0).then(|| format!("{lane} {used}{most}"))
            })
            .collect();
        let counted = if counted.is_empty() { "no lane".to_owned() } else { counted.join(", ") };
        let _ = writeln!(out, "Wave {number} ({counted})");
        for node in nodes {
            let _ = writeln!(out, "  {}", line(node));
        }
    }
    if !plan.stuck.is_empty() {
        let _ = writeln!(out, "Can never start as things stand");
        for position in &plan.stuck {
            let _ = writeln!(out, "  {}", line(&view.graph.nodes[*position]));
        }
    }
    if out.is_empty() {
        out.push_str("Nothing is left to do.\n");
    }
    out
}

fn line(node: &Node) -> String {
    let mut facts = vec![label(node.status.as_str(), STATUS_COLUMNS)];
    facts.push(node.lane.map_or("no lane".to_owned(), |lane| lane.to_string()));
    if !node.own_work {
        facts.push("follows its subtasks".to_owned());
    }
    if node.critical {
        facts.push("critical".to_owned());
    }
    format!("{} {} [{}]", node.id, label(&node.title, TITLE_COLUMNS), facts.join(", "))
}
