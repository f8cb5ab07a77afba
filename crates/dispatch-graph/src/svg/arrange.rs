//! Connected drawings, packed into rows.

use std::collections::BTreeMap;

use super::columns::{self, Drawing};
use super::{Picture, Point};
use crate::view::View;

const GAP: f64 = 40.0;
const SMALL_GAP: f64 = 16.0;
const LEAST_WIDTH: f64 = 1040.0;

/// Arranges the tasks of a view.
pub(crate) fn arrange(view: &View<'_>) -> Picture {
    let local: BTreeMap<usize, usize> =
        view.shown.iter().enumerate().map(|(number, position)| (*position, number)).collect();
    let edges: Vec<(usize, usize)> =
        view.edges.iter().map(|edge| (local[&edge.to], local[&edge.from])).collect();
    let parts = parts(view.shown.len(), &edges);
    let mut drawings: Vec<Part> =
        parts.into_iter().map(|members| Part::new(members, &edges)).collect();
    drawings.sort_by_key(|part| (std::cmp::Reverse(part.members.len()), part.members[0]));
    pack(view, drawings)
}

struct Part {
    members: Vec<usize>,
    edges: Vec<usize>,
    drawing: Drawing,
}

impl Part {
    fn new((members, edges): (Vec<usize>, Vec<usize>), all: &[(usize, usize)]) -> Self {
        let local: BTreeMap<usize, usize> =
            members.iter().enumerate().map(|(number, member)| (*member, number)).collect();
        let own: Vec<(usize, usize)> =
            edges.iter().map(|edge| (local[&all[*edge].0], local[&all[*edge].1])).collect();
        let drawing = columns::draw(members.len(), &own);
        Self { members, edges, drawing }
    }
}

/// The connected parts: nodes and edges.
fn parts(count: usize, edges: &[(usize, usize)]) -> Vec<(Vec<usize>, Vec<usize>)> {
    let mut leader: Vec<usize> = (0..count).collect();
    for (a, b) in edges {
        let (a, b) = (find(&mut leader, *a), find(&mut leader, *b));
        leader[a.max(b)] = a.min(b);
    }
    let mut parts: BTreeMap<usize, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
    for node in 0..count {
        parts.entry(find(&mut leader, node)).or_default().0.push(node);
    }
    for (number, (first, _)) in edges.iter().enumerate() {
        parts.entry(find(&mut leader, *first)).or_default().1.push(number);
    }
    parts.into_values().collect()
}

/// The leader of a node's part; the way to it is shortened on the way.
fn find(leader: &mut [usize], mut node: usize) -> usize {
    while leader[node] != node {
        leader[node] = leader[leader[node]];
        node = leader[node];
    }
    node
}

fn pack(view: &View<'_>, parts: Vec<Part>) -> Picture {
    let area: f64 =
        parts.iter().map(|part| (part.drawing.width + GAP) * (part.drawing.height + GAP)).sum();
    let widest = parts.iter().map(|part| part.drawing.width).fold(LEAST_WIDTH, f64::max);
    let room = widest.max((area * 1.5).sqrt());
    let mut picture = Picture {
        boxes: Vec::new(),
        ways: vec![Vec::new(); view.edges.len()],
        width: 0.0,
        height: 0.0,
    };
    let (mut x, mut y, mut row) = (0.0, 0.0, 0.0_f64);
    let mut single_before = false;
    for part in parts {
        let single = part.members.len() == 1;
        let gap = if single { SMALL_GAP } else { GAP };
        if x > 0.0 && (x + part.drawing.width > room || single != single_before) {
            y += row + if single && single_before { SMALL_GAP } else { GAP };
            (x, row) = (0.0, 0.0);
        }
        single_before = single;
        let moved = |point: &Point| Point { x: point.x + x, y: point.y + y };
        for (member, corner) in part.members.iter().zip(&part.drawing.corners) {
            picture.boxes.push((view.shown[*member], moved(corner)));
        }
        for (edge, way) in part.edges.iter().zip(&part.drawing.ways) {
            picture.ways[*edge] = way.iter().map(moved).collect();
        }
        picture.width = picture.width.max(x + part.drawing.width);
        picture.height = picture.height.max(y + part.drawing.height);
        row = row.max(part.drawing.height);
        x += part.drawing.width + gap;
    }
    picture
}
