//! Tasks that wait for themselves.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The strongly connected group of every node. What a node waits for never has a higher group (Tarjan, without
/// recursion: a chain may be as long as the board).
pub(crate) fn groups(waits: &[Vec<usize>]) -> Vec<usize> {
    const UNSEEN: usize = usize::MAX;
    let count = waits.len();
    let (mut index, mut low) = (vec![UNSEEN; count], vec![0; count]);
    let mut group = vec![UNSEEN; count];
    let (mut stack, mut trail): (Vec<usize>, Vec<(usize, usize)>) = (Vec::new(), Vec::new());
    let (mut next_index, mut next_group) = (0, 0);
    for start in 0..count {
        if index[start] != UNSEEN {
            continue;
        }
        trail.push((start, 0));
        while let Some((node, edge)) = trail.pop() {
            if edge == 0 {
                index[node] = next_index;
                low[node] = next_index;
                next_index += 1;
                stack.push(node);
            }
            if let Some(&to) = waits[node].get(edge) {
                trail.push((node, edge + 1));
                if index[to] == UNSEEN {
                    trail.push((to, 0));
                } else if group[to] == UNSEEN {
                    low[node] = low[node].min(index[to]);
                }
                continue;
            }
            if low[node] == index[node] {
                while let Some(member) = stack.pop() {
                    group[member] = next_group;
                    if member == node {
                        break;
                    }
                }
                next_group += 1;
            }
            if let Some((above, _)) = trail.last() {
                low[*above] = low[*above].min(low[node]);
            }
        }
    }
    group
}

/// Which nodes wait, through others, for themselves.
pub(crate) fn on_cycle(waits: &[Vec<usize>], groups: &[usize]) -> Vec<bool> {
    let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
    for group in groups {
        *sizes.entry(*group).or_default() += 1;
    }
    (0..waits.len()).map(|node| sizes[&groups[node]] > 1 || waits[node].contains(&node)).collect()
}

/// The most cycles that are spelled out, and the most steps of those after the first. Where many tasks wait for each
/// other in many ways, the cycles are far more than the edges and say nothing new.
const MOST_CYCLES: usize = 100;
const MOST_STEPS: usize = 2_000;

/// Cycles of a graph.
pub(crate) struct Cycles {
    /// Each begins with its smallest node and does not repeat it.
    pub(crate) found: Vec<Vec<usize>>,
    /// How many edges lie on cycles but on none of those.
    pub(crate) left_out: usize,
}

/// Cycles that together hold every edge that lies on any, unless these are too many to tell.
pub(crate) fn covering(waits: &[Vec<usize>], groups: &[usize]) -> Cycles {
    let mut covered: BTreeSet<(usize, usize)> = BTreeSet::new();
    let mut found: BTreeSet<Vec<usize>> = BTreeSet::new();
    let (mut steps, mut left_out) = (0, 0);
    for (from, targets) in waits.iter().enumerate() {
        for &to in targets.iter().filter(|to| groups[**to] == groups[from]) {
            if covered.contains(&(from, to)) {
                continue;
            }
            if found.len() >= MOST_CYCLES || steps >= MOST_STEPS {
                left_out += 1;
                continue;
            }
            let mut cycle = shortest(waits, groups, to, from);
            steps += cycle.len();
            for position in 0..cycle.len() {
                covered.insert((cycle[position], cycle[(position + 1) % cycle.len()]));
            }
            let smallest = (0..cycle.len()).min_by_key(|at| cycle[*at]).unwrap_or(0);
            cycle.rotate_left(smallest);
            found.insert(cycle);
        }
    }
    Cycles { found: found.into_iter().collect(), left_out }
}

/// The shortest way between two nodes of one group, both ends included.
fn shortest(waits: &[Vec<usize>], groups: &[usize], from: usize, to: usize) -> Vec<usize> {
    let mut before: BTreeMap<usize, usize> = BTreeMap::new();
    let mut open = VecDeque::from([from]);
    while let Some(node) = open.pop_front() {
        if node == to {
            break;
        }
        for &next in waits[node].iter().filter(|next| groups[**next] == groups[from]) {
            if next != from && !before.contains_key(&next) {
                before.insert(next, node);
                open.push_back(next);
            }
        }
    }
    let mut path = vec![to];
    let mut at = to;
    while at != from {
        let Some(&previous) = before.get(&at) else { break };
        path.push(previous);
        at = previous;
    }
    path.reverse();
    path
}
