//! The known name nearest to a misspelt one.

/// The candidate that needs the fewest changes to become `found`, if it needs few enough to be meant.
pub fn nearest<'a>(found: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let found = found.to_lowercase();
    candidates
        .map(|candidate| (distance(&found, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= (candidate.len() / 3).max(1))
        .min()
        .map(|(_, candidate)| candidate)
}

/// The Levenshtein distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (index, left) in a.chars().take(200).enumerate() {
        let mut diagonal = index;
        let mut previous = index + 1;
        for (cell, right) in row.iter_mut().skip(1).zip(&b) {
            let substituted = diagonal + usize::from(left != *right);
            diagonal = *cell;
            *cell = substituted.min(diagonal + 1).min(previous + 1);
            previous = *cell;
        }
        if let Some(first) = row.first_mut() {
            *first = index + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("maxturn", Some("maxTurns"); "a missing letter")]
    #[test_case("maxBudgetUSD", Some("maxBudgetUsd"); "letter case")]
    #[test_case("colour", None; "nothing near")]
    fn the_nearest_known_name_is_offered(found: &str, expected: Option<&str>) {
        assert_eq!(nearest(found, ["maxTurns", "maxBudgetUsd", "tiers"].into_iter()), expected);
    }

    #[test_case("", "abc", 3; "from nothing")]
    #[test_case("kitten", "sitting", 3; "the textbook pair")]
    #[test_case("ab", "ba", 2; "a swap counts twice")]
    fn distances(a: &str, b: &str, expected: usize) {
        assert_eq!(distance(a, b), expected);
    }
}
