//! Limits, the stop procedure, and what is left behind.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use dispatch_proc::{
    Ended, ProcError, StopLimits, StopProgress, StrayMark, end_strays, find_strays, run,
    run_watched, set_child_subreaper, start,
};

use crate::{is_gone, noted, scratch, shell};

/// A script that starts a grandchild deaf to polite signals, and one in a session of its own, and stays.
const DEAF_FAMILY: &str = "
    sh -c 'trap \"\" INT TERM; echo $$ > deaf; while :; do sleep 1; done' &
    setsid sh -c 'trap \"\" INT TERM HUP; echo $$ > apart; while :; do sleep 1; done' &
    trap '' INT TERM
    echo $$ > leader
    while :; do sleep 1; done
";

const QUICK: StopLimits = StopLimits {
    interrupt: Duration::from_millis(100),
    terminate: Duration::from_millis(100),
    kill: Duration::from_secs(30),
};

fn mark(value: &str) -> StrayMark {
    StrayMark::Environment { name: "DISPATCH_ATTEMPT".into(), value: value.into() }
}

#[test]
fn at_its_limit_a_program_is_killed_with_all_below_it_also_in_other_sessions() {
    let (_keep, dir) = scratch();
    let mut call = shell(&dir, DEAF_FAMILY);
    call.limit = Duration::from_millis(700);
    let began = Instant::now();
    let running = std::thread::spawn(move || run(&call).unwrap());
    let family = [noted(&dir.join("leader")), noted(&dir.join("deaf")), noted(&dir.join("apart"))];
    assert_eq!(running.join().unwrap().ended, Ended::TimedOut);
    family.iter().for_each(is_gone);
    assert!(began.elapsed() < Duration::from_secs(30));
}

/// D9.9: a program that its supervisor wants no more of is asked to end first, and may do so in order.
#[test]
fn a_program_that_is_not_wanted_any_more_is_asked_to_end() {
    let (_keep, dir) = scratch();
    let script = "trap 'echo in order > ended; exit 3' TERM; while :; do sleep 0.1; done";
    let finished = run_watched(&shell(&dir, script), &mut || ControlFlow::Break(())).unwrap();
    assert_eq!(finished.ended, Ended::Stopped);
    assert_eq!(std::fs::read_to_string(dir.join("ended")).unwrap(), "in order\n");
}

/// D9.9, D9.5: one that does not listen is killed, with all below it.
#[test]
fn a_program_that_does_not_end_when_asked_is_killed_with_all_below_it() {
    let (_keep, dir) = scratch();
    let call = shell(&dir, DEAF_FAMILY);
    let names = ["leader", "deaf", "apart"];
    let there = || names.iter().all(|name| dir.join(name).exists());
    let mut family = Vec::new();
    let finished = run_watched(&call, &mut || {
        if !there() {
            return ControlFlow::Continue(());
        }
        family = names.map(|name| noted(&dir.join(name))).into();
        ControlFlow::Break(())
    });
    assert_eq!(finished.unwrap().ended, Ended::Stopped);
    assert_eq!(family.len(), 3);
    family.iter().for_each(is_gone);
}

/// D9.5: the same walk runs after an ordinary exit and after every check.
#[test]
fn after_an_ordinary_end_marked_strays_are_ended_too() {
    let (_keep, dir) = scratch();
    let script = "setsid sh -c 'echo $$ > apart; exec sleep 300' & while ! test -s apart; do sleep 0.01; done";
    let mut call = shell(&dir, script).env("DISPATCH_ATTEMPT", "T-1/1 ordinary");
    call.strays = Some(mark("T-1/1 ordinary"));
    let watching = dir.clone();
    let stray = std::thread::spawn(move || noted(&watching.join("apart")));
    let finished = run(&call).unwrap();
    assert!(finished.is_success());
    is_gone(&stray.join().unwrap());
}

#[test]
fn strays_of_somebody_else_are_left_alone() {
    let (_keep, dir) = scratch();
    let script = "setsid sh -c 'echo $$ > apart; exec sleep 300' >/dev/null 2>&1 & while ! test -s apart; do sleep 0.01; done";
    run(&shell(&dir, script).env("DISPATCH_ATTEMPT", "T-2/1 other")).unwrap();
    let stray = noted(&dir.join("apart"));
    assert_eq!(end_strays(&mark("T-2/10 other"), QUICK.kill).unwrap(), 0);
    assert!(stray.is_alive());
    assert_eq!(find_strays(&mark("T-2/1 other")), std::slice::from_ref(&stray));
    assert_eq!(end_strays(&mark("T-2/1 other"), QUICK.kill).unwrap(), 1);
    assert!(!stray.is_alive());
}

/// D9.5: orphans come to the subreaper, which ends and reaps them, and spares its other programs.
#[test]
fn a_subreaper_ends_orphans_without_any_mark_and_spares_its_own_programs() {
    set_child_subreaper().unwrap();
    let (_keep, dir) = scratch();
    let other = start(&shell(&dir, "echo $$ > other; exec sleep 300")).unwrap();
    let other_process = noted(&dir.join("other"));
    let mut worker =
        start(&shell(&dir, "setsid sh -c 'echo $$ > apart; exec sleep 300' & :")).unwrap();
    let stray = noted(&dir.join("apart"));
    let progress = worker.stop(QUICK, &StrayMark::BelowThisProcess).unwrap();
    assert!(matches!(progress, StopProgress::HadEnded | StopProgress::Interrupted));
    assert!(!stray.is_alive());
    assert!(!std::fs::exists(format!("/proc/{}", stray.pid)).unwrap(), "it was not reaped");
    assert!(worker.finish().is_ok());
    assert!(other_process.is_alive());
    other_process.signal(dispatch_proc::Signal::KILL);
    assert_eq!(other.finish().unwrap().ended, Ended::Signal(9));
}

#[test]
fn d9_5_a_worker_is_interrupted_first_and_alone() {
    let (_keep, dir) = scratch();
    let script = "sh -c 'trap \"echo int >> heard\" INT; trap \"echo term >> heard; exit\" TERM; echo $$ > child; while :; do sleep 0.05; done' &
        trap 'exit 42' INT; echo $$ > leader; while :; do sleep 0.05; done";
    let mut worker = start(&shell(&dir, script)).unwrap();
    noted(&dir.join("leader"));
    let child = noted(&dir.join("child"));
    let patient = StopLimits { interrupt: Duration::from_secs(30), ..QUICK };
    assert_eq!(worker.stop(patient, &mark("nobody")).unwrap(), StopProgress::Interrupted);
    assert_eq!(worker.finish().unwrap().ended, Ended::Exit(42));
    is_gone(&child);
    assert!(!dir.join("heard").exists(), "only the worker is interrupted");
}

#[test]
fn d9_5_then_its_group_is_asked_to_end() {
    let (_keep, dir) = scratch();
    let script = "trap '' INT; trap 'exit 43' TERM; echo $$ > leader; while :; do sleep 0.05; done";
    let mut worker = start(&shell(&dir, script)).unwrap();
    noted(&dir.join("leader"));
    let patient = StopLimits { terminate: Duration::from_secs(30), ..QUICK };
    assert_eq!(worker.stop(patient, &mark("nobody")).unwrap(), StopProgress::Terminated);
    assert_eq!(worker.finish().unwrap().ended, Ended::Exit(43));
}

#[test]
fn d9_5_then_everything_is_killed_until_none_is_left() {
    let (_keep, dir) = scratch();
    let call = shell(&dir, DEAF_FAMILY).env("DISPATCH_ATTEMPT", "T-3/1 deaf");
    let mut worker = start(&call).unwrap();
    let family = [noted(&dir.join("leader")), noted(&dir.join("deaf")), noted(&dir.join("apart"))];
    assert_eq!(worker.stop(QUICK, &mark("T-3/1 deaf")).unwrap(), StopProgress::Killed);
    assert_eq!(worker.finish().unwrap().ended, Ended::Signal(9));
    family.iter().for_each(is_gone);
}

#[test]
fn strays_that_do_not_go_in_time_are_named() {
    let (_keep, dir) = scratch();
    let script = "setsid sh -c 'echo $$ > apart; exec sleep 300' >/dev/null 2>&1 & while ! test -s apart; do sleep 0.01; done";
    run(&shell(&dir, script).env("DISPATCH_ATTEMPT", "T-4/1 slow")).unwrap();
    let stray = noted(&dir.join("apart"));
    let error = end_strays(&mark("T-4/1 slow"), Duration::ZERO).unwrap_err();
    assert!(matches!(&error, ProcError::StraysLeft { pids } if *pids == [stray.pid]), "{error}");
    assert_eq!(end_strays(&mark("T-4/1 slow"), QUICK.kill).unwrap(), 1);
}
