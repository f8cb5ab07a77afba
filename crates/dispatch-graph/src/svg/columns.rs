//! One connected drawing: columns, the order in them, and heights.
//!
//! The usual steps of a layered drawing: edges that close a cycle are turned round, every node gets a column behind all it
//! waits for, edges that span columns are led through places of their own, the order in the columns is swept to few
//! crossings, and heights are the closest ones to the neighbours' that keep the order and the distances.

use std::collections::BTreeSet;

use super::{BOX_HEIGHT, BOX_WIDTH, Point};

const COLUMN_GAP: f64 = 84.0;
const ROW_GAP: f64 = 16.0;
const LANE_GAP: f64 = 9.0;
const ORDER_SWEEPS: usize = 10;
const HEIGHT_SWEEPS: usize = 8;

/// A drawing.
pub(crate) struct Drawing {
    /// The corner of each node's box.
    pub corners: Vec<Point>,
    /// The way of each edge, in the order given.
    pub ways: Vec<Vec<Point>>,
    pub width: f64,
    pub height: f64,
}

/// A place in a column: a node, or where an edge passes.
struct Place {
    column: usize,
    is_node: bool,
    left: Vec<usize>,
    right: Vec<usize>,
    y: f64,
}

/// Draws `count` nodes with edges from what is done first to what waits for it.
pub(crate) fn draw(count: usize, edges: &[(usize, usize)]) -> Drawing {
    let turned = turned(count, edges);
    let forward: Vec<(usize, usize)> = edges
        .iter()
        .zip(&turned)
        .map(|((first, then), turned)| if *turned { (*then, *first) } else { (*first, *then) })
        .collect();
    let column = columns(count, &forward);
    let mut places: Vec<Place> = column
        .iter()
        .map(|column| Place {
            column: *column,
            is_node: true,
            left: Vec::new(),
            right: Vec::new(),
            y: 0.0,
        })
        .collect();
    let chains: Vec<Vec<usize>> =
        forward.iter().map(|(first, then)| chain(*first, *then, &mut places)).collect();
    let mut order = initial_order(&places);
    sweep_order(&mut order, &mut places);
    sweep_heights(&order, &mut places);
    finish(count, &places, &chains, &turned)
}

/// Which edges lead back to a node a depth-first walk is still in; a loop counts too.
fn turned(count: usize, edges: &[(usize, usize)]) -> Vec<bool> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        No,
        Open,
        Closed,
    }
    let mut out: Vec<Vec<(usize, usize)>> = vec![Vec::new(); count];
    for (number, (first, then)) in edges.iter().enumerate() {
        out[*first].push((*then, number));
    }
    let mut seen = vec![Seen::No; count];
    let mut turned = vec![false; edges.len()];
    for start in 0..count {
        if seen[start] != Seen::No {
            continue;
        }
        let mut trail = vec![(start, 0)];
        seen[start] = Seen::Open;
        while let Some((node, at)) = trail.pop() {
            let Some((then, number)) = out[node].get(at).copied() else {
                seen[node] = Seen::Closed;
                continue;
            };
            trail.push((node, at + 1));
            match seen[then] {
                Seen::Open => turned[number] = true,
                Seen::No => {
                    seen[then] = Seen::Open;
                    trail.push((then, 0));
                }
                Seen::Closed => {}
            }
        }
    }
    turned
}

/// The column of every node: behind all it waits for, with no more nodes in a column than keeps the picture readable.
fn columns(count: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let most = most_in_a_column(count);
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut waiting = vec![0_usize; count];
    for (first, then) in edges.iter().filter(|(first, then)| first != then) {
        after[*first].push(*then);
        waiting[*then] += 1;
    }
    let mut column = vec![0_usize; count];
    let mut filled: Vec<usize> = Vec::new();
    let mut open: BTreeSet<(usize, usize)> =
        (0..count).filter(|node| waiting[*node] == 0).map(|node| (0, node)).collect();
    let mut order = Vec::with_capacity(count);
    while let Some((_, node)) = open.pop_first() {
        while filled.get(column[node]).is_some_and(|used| *used >= most) {
            column[node] += 1;
        }
        if filled.len() <= column[node] {
            filled.resize(column[node] + 1, 0);
        }
        filled[column[node]] += 1;
        order.push(node);
        for then in &after[node] {
            column[*then] = column[*then].max(column[node] + 1);
            waiting[*then] -= 1;
            if waiting[*then] == 0 {
                open.insert((column[*then], *then));
            }
        }
    }
    // A node that waits for nothing stands next to what waits for it, when there is room.
    let mut has_before = vec![false; count];
    for (_, then) in edges.iter().filter(|(first, then)| first != then) {
        has_before[*then] = true;
    }
    for node in order.into_iter().rev().filter(|node| !has_before[*node]) {
        let next = after[node].iter().map(|then| column[*then]).min();
        let wanted = next.map_or(column[node], |next| next - 1);
        if let Some(better) =
            (column[node] + 1..=wanted).rev().find(|better| filled[*better] < most)
        {
            filled[column[node]] -= 1;
            filled[better] += 1;
            column[node] = better;
        }
    }
    column
}

/// About as high as wide.
fn most_in_a_column(count: usize) -> usize {
    let mut side = 1;
    while side * side < count * 3 {
        side += 1;
    }
    side.max(6)
}

/// The places an edge leads through, its ends included.
fn chain(first: usize, then: usize, places: &mut Vec<Place>) -> Vec<usize> {
    let mut chain = vec![first];
    for column in places[first].column + 1..places[then].column {
        places.push(Place { column, is_node: false, left: Vec::new(), right: Vec::new(), y: 0.0 });
        chain.push(places.len() - 1);
    }
    if first != then {
        chain.push(then);
    }
    for pair in chain.windows(2) {
        places[pair[0]].right.push(pair[1]);
        places[pair[1]].left.push(pair[0]);
    }
    chain
}

/// A depth-first walk from the left: what belongs together begins together.
fn initial_order(places: &[Place]) -> Vec<Vec<usize>> {
    let last = places.iter().map(|place| place.column).max().unwrap_or(0);
    let mut order = vec![Vec::new(); last + 1];
    let mut seen = vec![false; places.len()];
    let mut starts: Vec<usize> =
        (0..places.len()).filter(|at| places[*at].left.is_empty()).collect();
    starts.sort_by_key(|at| (places[*at].column, *at));
    for start in starts {
        let mut open = vec![start];
        while let Some(at) = open.pop() {
            if std::mem::replace(&mut seen[at], true) {
                continue;
            }
            order[places[at].column].push(at);
            open.extend(places[at].right.iter().rev());
        }
    }
    order
}

/// Puts each place at the mean of its neighbours, column by column, to and fro, and keeps the best order found.
fn sweep_order(order: &mut Vec<Vec<usize>>, places: &mut [Place]) {
    let mut rank = vec![0_usize; places.len()];
    let set = |order: &[Vec<usize>], rank: &mut Vec<usize>| {
        for column in order {
            for (number, at) in column.iter().enumerate() {
                rank[*at] = number;
            }
        }
    };
    set(order, &mut rank);
    let mut best = order.clone();
    let mut fewest = crossings(order, places, &rank);
    for sweep in 0..ORDER_SWEEPS {
        if fewest == 0 {
            break;
        }
        let to_the_right = sweep % 2 == 0;
        let count = order.len();
        for step in 0..count {
            let column = if to_the_right { step } else { count - 1 - step };
            let mut keyed: Vec<(f64, usize)> = order[column]
                .iter()
                .map(|at| {
                    let place = &places[*at];
                    let near = if to_the_right { &place.left } else { &place.right };
                    (mean(near.iter().map(|near| as_f64(rank[*near])), as_f64(rank[*at])), *at)
                })
                .collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            order[column] = keyed.into_iter().map(|(_, at)| at).collect();
            for (number, at) in order[column].iter().enumerate() {
                rank[*at] = number;
            }
        }
        let now = crossings(order, places, &rank);
        if now < fewest {
            fewest = now;
            best.clone_from(order);
        }
    }
    *order = best;
}

fn mean(values: impl Iterator<Item = f64>, otherwise: f64) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    if count == 0.0 { otherwise } else { sum / count }
}

#[expect(clippy::cast_precision_loss, reason = "the number of a place in a picture is small")]
fn as_f64(number: usize) -> f64 {
    number as f64
}

/// How many pairs of edges cross between neighbouring columns, counted with a tree of partial sums.
fn crossings(order: &[Vec<usize>], places: &[Place], rank: &[usize]) -> usize {
    let mut total = 0;
    for (number, column) in order.iter().enumerate() {
        let size = order.get(number + 1).map_or(0, Vec::len);
        let mut tree = vec![0_usize; size + 1];
        let mut before = 0;
        for at in column {
            let mut ends: Vec<usize> = places[*at].right.iter().map(|right| rank[*right]).collect();
            ends.sort_unstable();
            for end in &ends {
                let mut index = end + 1;
                let mut not_above = 0;
                while index > 0 {
                    not_above += tree[index];
                    index &= index - 1;
                }
                total += before - not_above;
            }
            for end in ends {
                before += 1;
                let mut index = end + 1;
                while index <= size {
                    tree[index] += 1;
                    index += index & index.wrapping_neg();
                }
            }
        }
    }
    total
}

/// Half the height a place takes, its share of the gap included.
fn half(place: &Place) -> f64 {
    if place.is_node { f64::midpoint(BOX_HEIGHT, ROW_GAP) } else { LANE_GAP / 2.0 }
}

fn sweep_heights(order: &[Vec<usize>], places: &mut [Place]) {
    for column in order {
        let mut y = 0.0;
        for at in column {
            y += half(&places[*at]);
            places[*at].y = y;
            y += half(&places[*at]);
        }
    }
    for sweep in 0..HEIGHT_SWEEPS {
        let to_the_right = sweep % 2 == 0;
        for step in 0..order.len() {
            let column = if to_the_right { &order[step] } else { &order[order.len() - 1 - step] };
            let wanted: Vec<f64> = column
                .iter()
                .map(|at| {
                    let place = &places[*at];
                    let near = if to_the_right { &place.left } else { &place.right };
                    mean(near.iter().map(|near| places[*near].y), place.y)
                })
                .collect();
            settle(column, &wanted, places);
        }
    }
}

/// The closest heights to those wanted, in the sum of squares, that keep the order and the distances: neighbours that
/// would come too close are merged into blocks that stand at their mean.
fn settle(column: &[usize], wanted: &[f64], places: &mut [Place]) {
    let mut offset = 0.0;
    let mut offsets = Vec::with_capacity(column.len());
    let mut blocks: Vec<(f64, f64, usize)> = Vec::new();
    for (number, at) in column.iter().enumerate() {
        if number > 0 {
            offset += half(&places[column[number - 1]]) + half(&places[*at]);
        }
        offsets.push(offset);
        let (mut sum, mut weight, mut size) = (wanted[number] - offset, 1.0, 1);
        while let Some((above, above_weight, above_size)) = blocks.last().copied() {
            if above / above_weight <= sum / weight {
                break;
            }
            blocks.pop();
            sum += above;
            weight += above_weight;
            size += above_size;
        }
        blocks.push((sum, weight, size));
    }
    let mut number = 0;
    for (sum, weight, size) in blocks {
        for _ in 0..size {
            places[column[number]].y = sum / weight + offsets[number];
            number += 1;
        }
    }
}

fn finish(count: usize, places: &[Place], chains: &[Vec<usize>], turned: &[bool]) -> Drawing {
    let top = places.iter().map(|place| place.y - half(place)).fold(f64::INFINITY, f64::min);
    let bottom = places.iter().map(|place| place.y + half(place)).fold(f64::NEG_INFINITY, f64::max);
    let last = places.iter().map(|place| place.column).max().unwrap_or(0);
    let left = |at: usize| as_f64(places[at].column) * (BOX_WIDTH + COLUMN_GAP);
    let middle = |at: usize| places[at].y - top - ROW_GAP / 2.0;
    let corners =
        (0..count).map(|at| Point { x: left(at), y: middle(at) - BOX_HEIGHT / 2.0 }).collect();
    let ways = chains
        .iter()
        .zip(turned)
        .map(|(chain, turned)| {
            let mut way: Vec<Point> = Vec::new();
            for (number, at) in chain.iter().enumerate() {
                let y = middle(*at);
                if number > 0 {
                    way.push(Point { x: left(*at), y });
                }
                if number + 1 < chain.len() {
                    way.push(Point { x: left(*at) + BOX_WIDTH, y });
                }
            }
            if *turned {
                way.reverse();
            }
            way
        })
        .collect();
    Drawing {
        corners,
        ways,
        width: as_f64(last) * (BOX_WIDTH + COLUMN_GAP) + BOX_WIDTH,
        height: bottom - top - ROW_GAP,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn arb_edges() -> impl Strategy<Value = (usize, Vec<(usize, usize)>)> {
        (1_usize..40).prop_flat_map(|count| {
            (Just(count), proptest::collection::vec((0..count, 0..count), 0..80))
        })
    }

    proptest! {
        #[test]
        fn no_two_boxes_overlap_and_no_edge_crosses_a_box((count, edges) in arb_edges()) {
            let drawing = draw(count, &edges);
            for (number, a) in drawing.corners.iter().enumerate() {
                prop_assert!(a.x >= 0.0 && a.y >= -0.01);
                prop_assert!(a.x + BOX_WIDTH <= drawing.width + 0.01 && a.y + BOX_HEIGHT <= drawing.height + 0.01);
                for b in &drawing.corners[..number] {
                    let apart = (a.x - b.x).abs() >= BOX_WIDTH || (a.y - b.y).abs() >= BOX_HEIGHT;
                    prop_assert!(apart, "{a:?} {b:?}");
                }
            }
            for way in &drawing.ways {
                // What passes through a column does so on a level between the boxes.
                for pair in way.windows(2).filter(|pair| ((pair[0].x - pair[1].x).abs() - BOX_WIDTH).abs() < 0.01) {
                    for corner in drawing.corners.iter().filter(|corner| (corner.x - pair[0].x.min(pair[1].x)).abs() < 0.01) {
                        prop_assert!(pair[0].y < corner.y || pair[0].y > corner.y + BOX_HEIGHT);
                    }
                }
            }
        }

        /// The oracle counts pairs.
        #[test]
        fn crossings_are_those_of_the_pairs((count, edges) in arb_edges()) {
            let forward: Vec<(usize, usize)> = edges.iter().map(|(a, b)| (*a.min(b), *a.max(b))).filter(|(a, b)| a < b).collect();
            let column = columns(count, &forward);
            let mut places: Vec<Place> = column.iter().map(|column| Place { column: *column, is_node: true, left: Vec::new(), right: Vec::new(), y: 0.0 }).collect();
            for (first, then) in &forward {
                chain(*first, *then, &mut places);
            }
            let order = initial_order(&places);
            let mut rank = vec![0; places.len()];
            for column in &order {
                for (number, at) in column.iter().enumerate() {
                    rank[*at] = number;
                }
            }
            let mut expected = 0;
            for column in &order {
                let lines: Vec<(usize, usize)> = column.iter().flat_map(|at| places[*at].right.iter().map(|right| (rank[*at], rank[*right]))).collect();
                for (number, a) in lines.iter().enumerate() {
                    expected += lines[..number].iter().filter(|b| (a.0 < b.0 && a.1 > b.1) || (a.0 > b.0 && a.1 < b.1)).count();
                }
            }
            prop_assert_eq!(crossings(&order, &places, &rank), expected);
        }
    }
}
