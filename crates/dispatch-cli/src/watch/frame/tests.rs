//! The view as a person sees it.

use dispatch_core::attempt::AttemptNumber;
use dispatch_core::config::ConfinementMode;
use dispatch_core::names::PauseCause;
use dispatch_core::record::{Pause, Phase};
use dispatch_core::slot::SlotName;
use dispatch_core::triage::Lane;
use dispatch_guards::guards::PrintedVerdict;
use dispatch_guards::verdict::VerdictKind;

use super::*;

fn id(text: &str) -> TaskId {
    TaskId::parse(text).unwrap()
}

fn slot(name: &str, task: Option<&str>) -> SlotStatus {
    SlotStatus {
        name: SlotName::parse(name).unwrap(),
        path: format!("/slots/{name}").into(),
        configured: true,
        task: task.map(id),
        attempt: task.map(|_| AttemptNumber::FIRST),
        held: None,
    }
}

fn report() -> StatusReport {
    let verdict = |verdict, reason: Option<&'static str>| PrintedVerdict {
        verdict,
        guard: None,
        reason,
        comment: None,
        grounds: BTreeMap::new(),
    };
    let queued = |name: &str, title: &str, verdict| QueuedStatus {
        id: id(name),
        title: title.to_owned(),
        verdict,
        held_back: None,
    };
    StatusReport {
        standstill: None,
        blocked: Vec::new(),
        slots: vec![
            slot("slot-1", Some("T-5")),
            slot("slot-2", None),
            SlotStatus { held: Some("the remote is gone".into()), ..slot("slot-3", Some("T-8")) },
        ],
        running: vec![RunningStatus {
            id: id("T-5"),
            attempt: AttemptNumber::FIRST,
            lane: Lane::Frontier,
            slot: SlotName::parse("slot-1").unwrap(),
            phase: Phase::Running,
            supervised: true,
            waiting: None,
            elapsed_s: Some(125),
            beat_age_s: Some(3),
            turns: 12,
            cost_usd: Some(0.417),
        }],
        lanes: vec![
            LaneStatus {
                lane: Lane::Local,
                running: 0,
                max_parallel: 1,
                confinement: ConfinementMode::Off,
                pause: Some(Pause {
                    cause: PauseCause::LocalModelNotLoaded,
                    detail: "model x is not loaded".into(),
                    since: "2026-01-01T00:00:00.000Z".into(),
                    until: None,
                    in_a_row: 1,
                    probing: false,
                }),
            },
            LaneStatus {
                lane: Lane::Frontier,
                running: 1,
                max_parallel: 2,
                confinement: ConfinementMode::Off,
                pause: None,
            },
        ],
        queue: vec![
            queued(
                "T-6",
                "Say hello in every language there is",
                verdict(VerdictKind::Launch, None),
            ),
            queued(
                "T-12",
                "日本語の挨拶を追加する",
                verdict(VerdictKind::Wait, Some("lane-paused")),
            ),
        ],
        proposals: Vec::new(),
        problems: Vec::new(),
    }
}

/// A line of a log that is wider than a narrow terminal.
const LONG: &str = "12:00:07  the agent edits the parser and then runs every test of it once more";

fn draw(size: Size, paint: Paint, mode: &Mode) -> Vec<String> {
    drawn(Some(&report()), size, paint, mode)
}

fn drawn(report: Option<&StatusReport>, size: Size, paint: Paint, mode: &Mode) -> Vec<String> {
    let event = |number| Event::news(format!("T-{number}: To Do → Queued"));
    let events = (0..40).map(|number| (format!("12:00:{number:02}"), event(number))).collect();
    drawn_with(&events, report, size, paint, mode)
}

fn drawn_with(
    events: &VecDeque<(String, Event)>,
    report: Option<&StatusReport>,
    size: Size,
    paint: Paint,
    mode: &Mode,
) -> Vec<String> {
    let view = View {
        about: "backlog-watch · notifications".into(),
        clock: "12:00:41Z".into(),
        pass: "next pass in 4 min 2 s".into(),
        trouble: None,
        report,
        titles: &BTreeMap::from([(id("T-5"), "Add a \u{1b}[2Jparser".to_owned())]),
        activity: &BTreeMap::from([(id("T-5"), "Edit src/parser.rs".to_owned())]),
        events,
        log: &["first".to_owned(), LONG.to_owned(), "second".to_owned()],
        chosen: Some(0),
        mode,
    };
    frame(&view, size, paint)
}

/// Whatever the words say: a branch or a column may have any name.
#[test]
fn an_event_is_red_because_it_is_a_fault() {
    let events = VecDeque::from([
        ("12:00:00".to_owned(), Event::news("T-1: To Do → failed")),
        ("12:00:01".to_owned(), Event::fault("the board cannot be read")),
    ]);
    let size = Size { columns: 80, rows: Some(30) };
    let lines = drawn_with(&events, Some(&report()), size, Paint::Colours, &Mode::Overview);
    let red =
        |part: &str| lines.iter().any(|line| line.contains(part) && line.contains("\u{1b}[31m"));
    assert!(!red("To Do → failed") && red("the board cannot be read"), "{lines:?}");
}

#[test]
fn r2_2_the_view_at_eighty_columns() {
    let size = Size { columns: 80, rows: Some(20) };
    insta::assert_snapshot!(draw(size, Paint::Plain, &Mode::Overview).join("\n"));
}

#[test]
fn r2_2_the_view_at_forty_columns() {
    let size = Size { columns: 40, rows: Some(24) };
    insta::assert_snapshot!(draw(size, Paint::Plain, &Mode::ConfirmCancel(id("T-5"))).join("\n"));
}

/// What a person has to do stands at the end of a problem, and is read at every usual width.
#[test]
fn r2_2_remedies_and_keys_are_whole_at_forty_columns() {
    let mut report = report();
    report.slots[2].held =
        Some("the remote is gone: `dispatch release-slot slot-3` when it is back".into());
    report.problems = vec![
        "the configuration is not the approved one, so no task is taken: look at `dispatch trust --show`, then approve it with `dispatch trust`".into(),
        "two".into(),
        "three".into(),
        "four".into(),
    ];
    for columns in [40, 60, 80, 200] {
        let lines =
            drawn(Some(&report), Size { columns, rows: Some(40) }, Paint::Plain, &Mode::Overview);
        let text = lines.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
        for whole in [
            "then approve it with `dispatch trust`",
            "`dispatch release-slot slot-3` when it is back",
            "model x is not loaded",
            "c cancel",
            "d dispatch",
            "and 1 more: `dispatch status`",
        ] {
            assert!(text.contains(whole), "{columns}: {whole}\n{}", lines.join("\n"));
        }
    }
}

#[test]
fn r2_2_a_queue_that_is_not_known_is_not_called_empty() {
    let size = Size { columns: 80, rows: None };
    let lines = drawn(None, size, Paint::Plain, &Mode::Overview);
    assert!(lines.contains(&"Queue  unknown".to_owned()), "{lines:#?}");
}

#[test]
fn r2_2_a_log_takes_the_place_of_queue_and_events() {
    let size = Size { columns: 60, rows: Some(16) };
    let lines = draw(size, Paint::Plain, &Mode::Log(id("T-5")));
    assert!(lines.iter().any(|line| line == "Log of T-5"), "{lines:#?}");
    assert!(lines.iter().any(|line| line == "second"));
    assert!(!lines.iter().any(|line| line.contains("Queue")));
}

/// A long line goes on below, between two words, and the newest lines are those that are kept.
#[test]
fn r2_2_a_log_breaks_no_word_at_forty_columns() {
    let size = Size { columns: 40, rows: Some(20) };
    let lines = draw(size, Paint::Plain, &Mode::Log(id("T-5")));
    let from = lines.iter().position(|line| line == "Log of T-5").unwrap() + 1;
    let words: Vec<&str> = lines[from..from + 4].iter().flat_map(|line| line.split(' ')).collect();
    let log = format!("first {LONG} second");
    assert_eq!(words, log.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>());
    let size = Size { columns: 40, rows: Some(16) };
    let lines = draw(size, Paint::Plain, &Mode::Log(id("T-5")));
    assert!(lines.iter().any(|line| line == "second"), "{lines:#?}");
}

/// Nothing is wider or longer than the terminal, in colour or without, however small it is.
#[test]
fn r2_2_the_view_fits_every_terminal() {
    for paint in [Paint::Plain, Paint::Colours] {
        for columns in 1..100 {
            for rows in [1, 2, 5, 10, 24, 60] {
                for mode in [Mode::Overview, Mode::Log(id("T-5")), Mode::ConfirmCancel(id("T-5"))] {
                    let size = Size { columns, rows: Some(rows) };
                    let lines = draw(size, paint, &mode);
                    assert_eq!(lines.len(), rows, "{size:?}");
                    for line in lines {
                        let bare = uncoloured(&line);
                        assert!(width_of(&bare) <= columns, "{size:?} {line:?}");
                        assert!(!bare.contains('\u{1b}'), "{line:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn r2_2_colour_adds_nothing_but_colour() {
    let size = Size { columns: 80, rows: Some(20) };
    let plain = draw(size, Paint::Plain, &Mode::Overview);
    let coloured = draw(size, Paint::Colours, &Mode::Overview);
    assert!(coloured.iter().any(|line| line.contains("\u{1b}[32mT-5\u{1b}[0m")));
    let bare: Vec<String> =
        coloured.iter().map(|line| uncoloured(line).trim_end().to_owned()).collect();
    assert_eq!(bare, plain);
}

fn uncoloured(line: &str) -> String {
    let codes = [
        Tone::Heading.code(),
        Tone::Faint.code(),
        Tone::Good.code(),
        Tone::Wait.code(),
        Tone::Bad.code(),
        "\u{1b}[0m",
    ];
    codes.iter().fold(line.to_owned(), |line, code| line.replace(code, ""))
}
