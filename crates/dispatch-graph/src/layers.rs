//! Layers and the longest chain.

/// The nodes in an order in which each comes after everything it waits for, cycles aside.
fn in_order(groups: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by_key(|node| (groups[*node], *node));
    order
}

/// How long the longest chain is that each node waits for. Nodes on one cycle share a layer.
pub(crate) fn layers(waits: &[Vec<usize>], groups: &[usize]) -> Vec<usize> {
    let mut of_group = vec![0; groups.iter().max().map_or(0, |last| last + 1)];
    for node in in_order(groups) {
        let group = groups[node];
        for &to in waits[node].iter().filter(|to| groups[**to] != group) {
            of_group[group] = of_group[group].max(of_group[groups[to]] + 1);
        }
    }
    groups.iter().map(|group| of_group[*group]).collect()
}

/// The longest chain among the nodes that take part, what is waited for first; of several the one that ends with the
/// smallest nodes. No node on a cycle may take part.
pub(crate) fn longest_chain(
    waits: &[Vec<usize>],
    groups: &[usize],
    takes_part: &[bool],
) -> Vec<usize> {
    let mut length = vec![0_usize; waits.len()];
    for node in in_order(groups).into_iter().filter(|node| takes_part[*node]) {
        let longest = waits[node].iter().map(|to| length[*to]).max().unwrap_or(0);
        length[node] = longest + 1;
    }
    let last = (0..waits.len()).max_by_key(|node| (length[*node], std::cmp::Reverse(*node)));
    let mut chain = Vec::new();
    let mut at = last.filter(|node| length[*node] > 0);
    while let Some(node) = at {
        chain.push(node);
        at = waits[node]
            .iter()
            .copied()
            .find(|to| length[*to] > 0 && length[*to] + 1 == length[node]);
    }
    chain.reverse();
    chain
}
