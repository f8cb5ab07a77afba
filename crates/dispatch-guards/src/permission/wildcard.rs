//! Matching a pattern in which some steps take any number of items.

/// Whether a pattern takes the whole of a text: a step that `is_many` takes any number of items, every
/// other one takes an item that it `takes`.
///
/// Only the last step that takes many is tried again: what an earlier one could take besides, this
/// one can take as well. So the time is bounded by the product of the two lengths.
pub(crate) fn takes_whole<Step, Item>(
    pattern: &[Step],
    text: &[Item],
    is_many: impl Fn(&Step) -> bool,
    takes: impl Fn(&Step, &Item) -> bool,
) -> bool {
    let (mut at, mut read) = (0, 0);
    let mut retry = None;
    while let Some(item) = text.get(read) {
        match pattern.get(at) {
            Some(step) if is_many(step) => {
                at += 1;
                retry = Some((at, read));
            }
            Some(step) if takes(step, item) => {
                at += 1;
                read += 1;
            }
            Some(_) | None => {
                let Some((after, from)) = &mut retry else { return false };
                *from += 1;
                (at, read) = (*after, *from);
            }
        }
    }
    pattern.get(at..).is_some_and(|rest| rest.iter().all(is_many))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn takes(pattern: &str, text: &str) -> bool {
        takes_whole(pattern.as_bytes(), text.as_bytes(), |step| *step == b'*', |a, b| a == b)
    }

    /// A second reading that tries every way.
    fn takes_slowly(pattern: &[u8], text: &[u8]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some((b'*', rest)) => (0..=text.len()).any(|skip| takes_slowly(rest, &text[skip..])),
            Some((own, rest)) => text.first() == Some(own) && takes_slowly(rest, &text[1..]),
        }
    }

    #[test]
    fn a_pattern_of_many_stars_is_matched_in_bounded_time() {
        let text = "a".repeat(4000);
        assert!(!takes(&format!("{}b", "a*".repeat(1000)), &text));
        assert!(takes(&"a*".repeat(1000), &text));
    }

    proptest! {
        #[test]
        fn matching_agrees_with_trying_every_way(pattern in "[ab*]{0,7}", text in "[ab]{0,7}") {
            let expected = takes_slowly(pattern.as_bytes(), text.as_bytes());
            prop_assert_eq!(takes(&pattern, &text), expected);
        }
    }
}
