//! Dates of a task's header, as the board program reads, keeps and shows them.

use crate::js_text;
use crate::yaml;

/// What the board program accepts after the day of a due date: a time, and a zone.
pub(super) fn is_time_of_day(text: &str) -> bool {
    let Some(rest) = text.strip_prefix([' ', 'T']) else { return false };
    let two = |text: &str, most: u32| {
        text.get(..2).is_some_and(|digits| {
            digits.bytes().all(|b| b.is_ascii_digit())
                && digits.parse::<u32>().is_ok_and(|value| value <= most)
        })
    };
    if !two(rest, 23) || !rest[2..].starts_with(':') || !two(&rest[3..], 59) {
        return false;
    }
    let mut rest = &rest[5..];
    if let Some(seconds) = rest.strip_prefix(':') {
        if !two(seconds, 59) {
            return false;
        }
        rest = &seconds[2..];
        if let Some(fraction) = rest.strip_prefix('.') {
            let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
            if !(1..=9).contains(&digits) {
                return false;
            }
            rest = &fraction[digits..];
        }
    }
    if rest.is_empty() || rest == "Z" {
        return true;
    }
    let Some(zone) = rest.strip_prefix(['+', '-']) else { return false };
    let split = zone.split_once(':').or_else(|| zone.split_at_checked(2));
    let Some((hours, minutes)) =
        split.filter(|(hours, minutes)| hours.len() == 2 && minutes.len() == 2)
    else {
        return false;
    };
    (two(hours, 13) && two(minutes, 59)) || (hours == "14" && minutes == "00")
}

/// A YAML date as the board program keeps it: `YYYY-MM-DD HH:MM` in UTC, at midnight the day alone.
pub(super) fn instant(text: &str) -> Option<String> {
    let parts = yaml::date_parts(text)?;
    let first = time::Date::from_calendar_date(parts.year, time::Month::January, 1).ok()?;
    let mut month = first;
    for _ in 1..parts.month {
        let next = month.month().next();
        let year = if next == time::Month::January { month.year() + 1 } else { month.year() };
        month = time::Date::from_calendar_date(year, next, 1).ok()?;
    }
    let moment = month
        .midnight()
        .assume_utc()
        .checked_add(time::Duration::days(i64::from(parts.day) - 1))?
        .checked_add(time::Duration::seconds(parts.seconds))?;
    let (date, clock) = (moment.date(), moment.time());
    let day = format!("{:04}-{:02}-{:02}", date.year(), u8::from(date.month()), date.day());
    if clock.hour() == 0 && clock.minute() == 0 && clock.second() == 0 {
        return Some(day);
    }
    Some(format!("{day} {:02}:{:02}", clock.hour(), clock.minute()))
}

/// A date written as text, in the form the board program keeps.
pub(super) fn written_date(text: &str) -> String {
    let text = js_text::trim(text);
    let text = text.strip_prefix(['\'', '"']).unwrap_or(text);
    let text = text.strip_suffix(['\'', '"']).unwrap_or(text);
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    match shape.as_str() {
        "0000-00-00T00:00" => text.replacen('T', " ", 1),
        "00-00-00" | "00/00/00" | "00.00.00" => {
            format!("20{}-{}-{}", &text[6..8], &text[3..5], &text[0..2])
        }
        _ => text.to_owned(),
    }
}

/// A kept date as the board shows it to machines: `YYYY-MM-DDTHH:MM:00Z`, or the day alone.
pub(crate) fn shown_date(kept: &str) -> Option<String> {
    if kept.is_empty() {
        return None;
    }
    let shape: String = kept.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    Some(match shape.as_str() {
        "0000-00-00 00:00" => format!("{}:00Z", kept.replacen(' ', "T", 1)),
        _ => kept.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use test_case::test_case;

    use super::*;

    #[test_case("T10:00", true; "a minute")]
    #[test_case(" 23:59:59.123456789Z", true; "all of it")]
    #[test_case("T10:00+0930", true; "a zone in one word")]
    #[test_case("T10:00-14:00", true; "the farthest zone")]
    #[test_case("T10:00+14:01", false; "a zone too far")]
    #[test_case("T10:00+1:30", false; "one digit of hours")]
    #[test_case("T10:00+130:00", false; "three digits of hours")]
    #[test_case("T10:00+13:000", false; "three digits of minutes")]
    #[test_case("T10:00+a\u{e9}b", false; "a letter of two bytes where the zone is cut")]
    #[test_case("T10:00+\u{e9}1:0", false; "one before the colon")]
    #[test_case("T24:00", false; "no hour of a day")]
    #[test_case("T10:00.5", false; "a fraction of no second")]
    #[test_case("10:00", false; "nothing in between")]
    fn the_time_of_a_due_date(text: &str, accepted: bool) {
        assert_eq!(is_time_of_day(text), accepted);
    }

    #[test_case("2026-08-10", Some("2026-08-10"))]
    #[test_case("2026-08-10T23:30:00-01:00", Some("2026-08-11 00:30"))]
    #[test_case("2026-02-30", Some("2026-03-02"); "days beyond a month go into the next one")]
    #[test_case("9999-12-31T23:59:59Z", Some("9999-12-31 23:59"); "the last moment there is")]
    #[test_case("9999-12-31T23:59:59-01:00", None; "a zone leads beyond it")]
    #[test_case("9999-12-32", None; "a day leads beyond it")]
    #[test_case("9999-13-01", None; "a month leads beyond it")]
    fn a_date_that_no_calendar_reaches_does_not_end_the_reader(text: &str, kept: Option<&str>) {
        assert_eq!(instant(text).as_deref(), kept);
    }

    proptest! {
        #[test]
        fn no_date_ends_the_reader(text in "(0000|9999)-[01]?[0-9]-[0-9]{1,2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}[+-][0-9]{2}:[0-9]{2})?") {
            instant(&text);
        }

        #[test]
        fn no_time_of_a_due_date_ends_the_reader(text in "[ T]10:00[+:.Z0-9-]{0,3}\\PC{0,6}") {
            is_time_of_day(&text);
        }
    }
}
