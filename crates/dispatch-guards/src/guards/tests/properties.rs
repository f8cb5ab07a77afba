//! What holds of every task, whatever its text and whatever is in its way.

use dispatch_core::attempt::AttemptCounts;
use dispatch_core::triage::Lane;
use proptest::prelude::*;

use super::*;

/// Printed characters in one line, and what would be a declaration at the start of one: no mark of a
/// section, and no rule across the page.
const PROSE: &str = "([ -,.-;=-~]|--?[ -,.-;=-~]|<[ \"-,.-;=-~]|Test command: |Files to touch: |Branch: |lane:){0,40}";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Free text of a description never changes a decision, and cannot forge one (prose-proof).
    #[test]
    fn prose_changes_nothing(prose in PROSE) {
        let described = snapshot_of(READY, &format!("{FILES}\n\nSome words. {prose}"), &[]);
        prop_assert_eq!(said(&described), ("-".to_owned(), "launch".to_owned()));
    }

    /// More room, more attempts and fewer busy tasks never hold more (monotone).
    #[test]
    fn less_in_the_way_never_holds_more(
        free in 0_usize..3, running in 0_u32..3, max_parallel in 0_u32..3, counted in 0_u32..5,
        uncounted in 0_u32..7, busy in any::<bool>()
    ) {
        let build = |free, running, counted, uncounted, busy: bool| {
            let mut snapshot = with_busy("status: In Progress\n", "Files to touch:\n- src/");
            if !busy {
                snapshot.claims.clear();
            }
            snapshot.slots.free = free;
            snapshot.attempts = AttemptCounts { counted, uncounted, excused: 0 };
            let lane = snapshot.limits.lanes.get_mut(&Lane::Local).unwrap();
            (lane.running, lane.max_parallel) = (running, max_parallel);
            snapshot.evaluate().unwrap().verdict().launches()
        };
        if build(free, running, counted, uncounted, busy) {
            prop_assert!(build(free + 1, running, counted, uncounted, busy));
            prop_assert!(build(free, running.saturating_sub(1), counted, uncounted, false));
            prop_assert!(build(free, running, counted.saturating_sub(1), uncounted.saturating_sub(1), busy));
        }
    }
}
