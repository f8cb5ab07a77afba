//! Faults that are not the task's: pauses of a lane, their back-off, and the probe that ends them (D11).

use std::fmt::Display;

use dispatch_close::text::{cut_chars, one_line};
use dispatch_core::config::Language;
use dispatch_core::message::{Message, pause_sentence};
use dispatch_core::names::PauseCause;
use dispatch_core::record::Pause;
use dispatch_core::triage::Lane;
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

use crate::ports::{LaneState, PortError, Ports};
use crate::texts::{moment, moment_for_people};

/// How long after a reset time a lane stays paused: clocks differ.
const RESET_MARGIN: Duration = Duration::minutes(1);
const SHORTEST_PAUSE: Duration = Duration::minutes(1);
const LONGEST_PAUSE: Duration = Duration::hours(1);
/// Most characters of what was found that a line about a paused lane holds.
const LONGEST_SAID: usize = 200;
/// Failed provisionings in a row that pause a lane (D6.7).
const PROVISION_FAILURES: u32 = 3;

/// Whether a lane may launch now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gate {
    /// Nothing is wrong with it.
    Open,
    /// Its pause is over: one attempt may find out whether the cause is gone.
    Probe,
    /// It is paused, or the attempt that finds out is under way.
    Paused {
        /// What the lane is paused for.
        cause: PauseCause,
        /// Until when and what was found, for a person.
        detail: String,
    },
}

/// Reads a lane's gate; `running` is how many attempts of the lane there are now.
pub fn gate(state: &LaneState, now: OffsetDateTime, running: u32) -> Gate {
    let Some(pause) = &state.pause else { return Gate::Open };
    let paused = |detail: String| Gate::Paused { cause: pause.cause, detail };
    if pause.probing && running > 0 {
        return paused("one attempt is finding out whether it is over".to_owned());
    }
    match until(pause) {
        Until::Person => paused(said(pause, "until somebody resumes it")),
        Until::Moment(end) if now < end => {
            paused(said(pause, &format!("until {}", moment_for_people(end))))
        }
        Until::Moment(_) => Gate::Probe,
    }
}

enum Until {
    Person,
    Moment(OffsetDateTime),
}

fn until(pause: &Pause) -> Until {
    match &pause.until {
        None => Until::Person,
        // A moment that cannot be read is over: the probe finds out what is true.
        Some(text) => Until::Moment(
            OffsetDateTime::parse(text, &Rfc3339).unwrap_or(OffsetDateTime::UNIX_EPOCH),
        ),
    }
}

fn said(pause: &Pause, end: &str) -> String {
    let detail = one_line(&pause.detail);
    let detail = cut_chars(detail.trim_end_matches('.'), LONGEST_SAID);
    if detail.is_empty() { end.to_owned() } else { format!("{end} ({detail})") }
}

/// Says that the lane's next attempt is the one that finds out (D11.2).
pub fn begin_probe(ports: &Ports<'_>, lane: Lane) -> Result<(), PortError> {
    ports.store.change_lane_state(lane, &mut |state| {
        if let Some(pause) = &mut state.pause {
            pause.probing = true;
        }
    })?;
    Ok(())
}

/// Pauses a lane for a fault of the machine or of an account: until `reset_at` when the fault names a time, else
/// with growing back-off. Says it once.
pub fn lane_fault(
    ports: &Ports<'_>,
    language: Language,
    lane: Lane,
    cause: PauseCause,
    detail: &str,
    reset_at: Option<OffsetDateTime>,
) -> Result<(), PortError> {
    let now = ports.clock.now();
    let mut is_news = false;
    let state = ports.store.change_lane_state(lane, &mut |state| {
        is_news = state.pause.as_ref().is_none_or(|pause| pause.cause != cause);
        if let Some(next) = next_pause(state.pause.as_ref(), cause, detail, reset_at, now) {
            state.pause = Some(next);
        }
    })?;
    if is_news && let Some(pause) = &state.pause {
        let sentence = pause_sentence(language, cause);
        let (body, end) = match until(pause) {
            Until::Person => (Message::NotifyPausedBody, String::new()),
            Until::Moment(end) => (Message::NotifyPausedUntilBody, moment_for_people(end)),
        };
        let values: [(&str, &dyn Display); 5] = [
            ("lane", &lane),
            ("cause", &cause),
            ("sentence", &sentence),
            ("detail", &detail),
            ("until", &end),
        ];
        let title = Message::NotifyPausedTitle.render(language, &values);
        ports.notifier.notify(&title, &body.render(language, &values));
    }
    Ok(())
}

/// The pause after one more fault; none when the present one says it already.
fn next_pause(
    present: Option<&Pause>,
    cause: PauseCause,
    detail: &str,
    reset_at: Option<OffsetDateTime>,
    now: OffsetDateTime,
) -> Option<Pause> {
    let in_a_row = match present {
        None => 1,
        Some(pause) if pause.cause == PauseCause::ByHand => return None,
        // The attempt that was to find out met a fault, or nothing ran since the pause ended: one more in a row.
        Some(pause) if pause.probing || is_over(pause, now) => pause.in_a_row.saturating_add(1),
        // Another attempt that was already running met the same: it is the same pause, perhaps a longer one.
        Some(pause) => pause.in_a_row,
    };
    let backed_off = now + back_off(in_a_row);
    let end = reset_at
        .map_or(backed_off, |reset| reset.saturating_add(RESET_MARGIN).max(now + SHORTEST_PAUSE));
    let since = present.map_or_else(|| moment(now), |pause| pause.since.clone());
    Some(Pause {
        cause,
        detail: detail.to_owned(),
        since,
        until: Some(moment(end)),
        in_a_row,
        probing: false,
    })
}

fn is_over(pause: &Pause, now: OffsetDateTime) -> bool {
    match until(pause) {
        Until::Person => false,
        Until::Moment(end) => end <= now,
    }
}

/// 1, 2, 4, … minutes, at most an hour.
fn back_off(in_a_row: u32) -> Duration {
    let doublings = in_a_row.saturating_sub(1).min(6);
    (SHORTEST_PAUSE * 2_i32.pow(doublings)).min(LONGEST_PAUSE)
}

/// An attempt of the lane ended without a fault of the lane: whatever paused it before the attempt began is over.
pub fn lane_fine(ports: &Ports<'_>, lane: Lane) -> Result<(), PortError> {
    ports.store.change_lane_state(lane, &mut |state| {
        if state.pause.as_ref().is_some_and(|pause| pause.probing) {
            state.pause = None;
        }
    })?;
    Ok(())
}

/// Provisioning a slot for the lane failed; three in a row pause the lane (D6.7).
pub fn provision_failed(
    ports: &Ports<'_>,
    language: Language,
    lane: Lane,
    detail: &str,
) -> Result<(), PortError> {
    let state = ports.store.change_lane_state(lane, &mut |state| {
        state.provision_failures = state.provision_failures.saturating_add(1);
    })?;
    if state.provision_failures >= PROVISION_FAILURES {
        lane_fault(ports, language, lane, PauseCause::ProvisionFailed, detail, None)?;
    }
    Ok(())
}

/// Provisioning a slot for the lane worked.
pub fn provisioned(ports: &Ports<'_>, lane: Lane) -> Result<(), PortError> {
    ports.store.change_lane_state(lane, &mut |state| state.provision_failures = 0)?;
    Ok(())
}

/// Whether a fault may be gone once the configuration is another one.
const fn is_of_the_configuration(cause: PauseCause) -> bool {
    match cause {
        PauseCause::LaunchRefused
        | PauseCause::SurfaceMismatch
        | PauseCause::ConfinementMissing
        | PauseCause::DenyListTooLong
        | PauseCause::ContractMissing
        | PauseCause::ProvisionFailed
        | PauseCause::LocalModelNotLoaded
        | PauseCause::DiskFull
        | PauseCause::LoginExpired => true,
        PauseCause::UsageLimit
        | PauseCause::Overloaded
        | PauseCause::ForgeUnreachable
        | PauseCause::RemoteUnreachable
        | PauseCause::ReviewerUnavailable
        | PauseCause::ByHand => false,
    }
}

/// A person approved a configuration: the next pass finds out whether that ended the lane's pause. Gives its cause.
pub fn configuration_approved(
    ports: &Ports<'_>,
    lane: Lane,
) -> Result<Option<PauseCause>, PortError> {
    let now = moment(ports.clock.now());
    let mut cause = None;
    ports.store.change_lane_state(lane, &mut |state| {
        cause = None;
        if let Some(pause) = &mut state.pause
            && is_of_the_configuration(pause.cause)
        {
            pause.until = Some(now.clone());
            cause = Some(pause.cause);
        }
    })?;
    Ok(cause)
}

/// Pauses a lane until somebody resumes it (D11.4).
pub fn pause_by_hand(ports: &Ports<'_>, lane: Lane, reason: &str) -> Result<(), PortError> {
    let since = moment(ports.clock.now());
    ports.store.change_lane_state(lane, &mut |state| {
        state.pause = Some(Pause {
            cause: PauseCause::ByHand,
            detail: reason.to_owned(),
            since: since.clone(),
            until: None,
            in_a_row: 1,
            probing: false,
        });
    })?;
    Ok(())
}

/// Ends a lane's pause, whatever its cause (D11.4); gives the pause that ended.
pub fn resume(ports: &Ports<'_>, lane: Lane) -> Result<Option<Pause>, PortError> {
    let mut ended = None;
    ports.store.change_lane_state(lane, &mut |state| {
        ended = state.pause.take();
        state.provision_failures = 0;
    })?;
    Ok(ended)
}

#[cfg(test)]
mod tests {
    use test_case::test_case;
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-03-01 12:00 UTC);

    fn paused(until: Option<&str>, probing: bool) -> LaneState {
        LaneState {
            pause: Some(Pause {
                cause: PauseCause::Overloaded,
                detail: "529".to_owned(),
                since: "2026-03-01T11:00:00Z".to_owned(),
                until: until.map(str::to_owned),
                in_a_row: 2,
                probing,
            }),
            provision_failures: 0,
        }
    }

    #[test]
    fn d11_2_a_pause_that_is_over_lets_one_attempt_through() {
        let over = paused(Some("2026-03-01T11:59:59Z"), false);
        assert_eq!(gate(&over, NOW, 0), Gate::Probe);
        assert!(matches!(
            gate(&paused(Some("2026-03-01T11:59:59Z"), true), NOW, 1),
            Gate::Paused { .. }
        ));
        // The attempt that was to find out is gone without a word: the next one finds out.
        assert_eq!(gate(&paused(Some("2026-03-01T11:59:59Z"), true), NOW, 0), Gate::Probe);
        assert!(matches!(gate(&paused(None, false), NOW, 0), Gate::Paused { .. }));
        assert_eq!(gate(&LaneState::default(), NOW, 3), Gate::Open);
    }

    #[test]
    fn d11_3_a_paused_lane_says_why_and_until_when() {
        let paused = gate(&paused(Some("2026-03-01T12:30:00Z"), false), NOW, 0);
        let detail = "until 2026-03-01 12:30:00 UTC (529)".to_owned();
        assert_eq!(paused, Gate::Paused { cause: PauseCause::Overloaded, detail });
    }

    #[test]
    fn d11_3_what_was_found_is_one_bounded_line_and_left_out_when_there_is_none() {
        let mut state = paused(None, false);
        let detail = |state: &LaneState| match gate(state, NOW, 0) {
            Gate::Paused { detail, .. } => detail,
            other => panic!("{other:?}"),
        };
        let pause = |state: &mut LaneState, found: &str| {
            state.pause.as_mut().unwrap().detail = found.to_owned();
        };
        pause(&mut state, "");
        assert_eq!(detail(&state), "until somebody resumes it");
        pause(&mut state, &format!("first\nsecond {}", "/a/folder:".repeat(100)));
        assert!(detail(&state).starts_with("until somebody resumes it (first second /a/folder:"));
        assert!(detail(&state).chars().count() < 240);
    }

    #[test_case(1, 1; "one minute at first")]
    #[test_case(2, 2; "then two")]
    #[test_case(6, 32; "doubling")]
    #[test_case(7, 60; "up to an hour")]
    #[test_case(4000, 60; "and no more")]
    fn d11_2_back_off_is_exponential_and_capped(in_a_row: u32, minutes: i64) {
        assert_eq!(back_off(in_a_row), Duration::minutes(minutes));
    }

    #[test]
    fn d11_2_a_reset_time_at_the_end_of_the_calendar_pauses_the_lane() {
        let reset = datetime!(9999-12-31 23:59:59 UTC);
        let next = next_pause(None, PauseCause::UsageLimit, "", Some(reset), NOW).unwrap();
        assert!(matches!(until(&next), Until::Moment(end) if end > reset));
    }

    #[test]
    fn d11_2_a_reset_time_counts_with_a_margin_and_a_failed_probe_backs_off_further() {
        let reset = datetime!(2026-03-01 15:00 UTC);
        let pause = next_pause(None, PauseCause::UsageLimit, "", Some(reset), NOW).unwrap();
        assert_eq!(pause.until.as_deref(), Some("2026-03-01T15:01:00.000Z"));

        let state = paused(Some("2026-03-01T11:59:00Z"), true);
        let pause =
            next_pause(state.pause.as_ref(), PauseCause::Overloaded, "", None, NOW).unwrap();
        assert_eq!((pause.in_a_row, pause.until.as_deref()), (3, Some("2026-03-01T12:04:00.000Z")));
        assert_eq!(pause.since, "2026-03-01T11:00:00Z");
    }

    #[test]
    fn a_second_task_that_meets_the_same_fault_does_not_lengthen_the_row() {
        let state = paused(Some("2026-03-01T12:30:00Z"), false);
        let pause =
            next_pause(state.pause.as_ref(), PauseCause::Overloaded, "", None, NOW).unwrap();
        assert_eq!(pause.in_a_row, 2);
    }
}
