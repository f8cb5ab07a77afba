//! Telling a person through a program (K4).

use std::fs;
use std::time::{Duration, Instant};

use dispatch_agent::SystemNotifier;
use dispatch_core::config::Notify;
use dispatch_engine::ports::Notifier;

use crate::desk::Desk;

fn notifier(desk: &Desk, notify: Notify) -> SystemNotifier {
    SystemNotifier::new(notify, [("PATH".into(), desk.path().into())])
}

#[test]
fn k4_auto_uses_the_platforms_notifier_with_texts_as_they_are() {
    let desk = Desk::new();
    let told = desk.root.join("told");
    desk.script("notify-send", &format!("printf '%s|' \"$@\" > {told}"));
    notifier(&desk, Notify::Auto).notify("T-1 blocked: timeout", "see $(log)\n--help");
    assert_eq!(
        fs::read_to_string(told).unwrap(),
        "--app-name=dispatch|--|T-1 blocked: timeout|see $(log)\n--help|"
    );
}

#[test]
fn k4_a_notifier_that_fails_hangs_or_is_missing_fails_nothing() {
    let desk = Desk::new();
    desk.script("fails", "exit 9");
    desk.script("hangs", "exec sleep 300");
    let began = Instant::now();
    for program in ["fails", "hangs", "missing"] {
        notifier(&desk, Notify::Command(vec![program.into(), "{title}".into()])).notify("a", "b");
    }
    notifier(&desk, Notify::Command(Vec::new())).notify("a", "b");
    let took = began.elapsed();
    assert!(took >= Duration::from_secs(5) && took < Duration::from_mins(1), "{took:?}");
}
