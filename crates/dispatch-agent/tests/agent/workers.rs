//! Starting, following and ending a worker, with a script in the agent's place.

use std::fs;

use dispatch_engine::ports::{Agent, ExitMark};
use dispatch_proc::StopLimits;
use dispatch_testkit::wait;

use crate::desk::{Desk, QUICK, ended, marker};

/// D9.2, D9.3: a session and group of its own, the files themselves as its streams, the given environment alone.
#[test]
fn a_worker_gets_exactly_what_its_launch_says() {
    let desk = Desk::new();
    let script = "cat; printf '%s|' \"$@\"; env | sort | grep -vE '^(PWD|SHLVL|_|OLDPWD)='; \
        readlink /proc/$$/fd/1; cut -d' ' -f1,5,6 /proc/$$/stat; echo $$; pwd; echo bad >&2; exit 7";
    fs::write(desk.root.join("stream.jsonl"), "kept\n").unwrap();
    let marker = marker("exactly");
    let launch = desk.launch(&["-p", "--allowedTools", "", "a b\n*"], &marker);
    let mut worker = desk.agent(script, QUICK).launch(&launch).unwrap();
    let pid = worker.mark().pid;
    assert_eq!(ended(&mut *worker), ExitMark::Code(7));
    assert_eq!(
        fs::read_to_string(&launch.stdout).unwrap(),
        format!(
            "kept\nThe prompt.\n-p|--allowedTools||a b\n*|DISPATCH_ATTEMPT={marker}\nPATH={}\n{}\n{pid} {pid} {pid}\n{pid}\n{}\n",
            desk.path(),
            launch.stdout,
            desk.slot
        )
    );
    assert_eq!(fs::read_to_string(&launch.stderr).unwrap(), "bad\n");
}

#[test]
fn a_missing_agent_is_an_error_that_helps() {
    let desk = Desk::new();
    let agent = dispatch_agent::ClaudeAgent::new(dispatch_agent::ClaudeSettings {
        program: "no-such-agent".into(),
        ..desk.settings()
    });
    let error = agent.launch(&desk.launch(&[], "none")).err().unwrap();
    assert!(error.chain().contains("program `no-such-agent` is not on PATH"), "{}", error.chain());
    assert!(error.hint.unwrap().contains("install `no-such-agent`"));
}

/// D9.5, N30: a tool in a session of its own, with an environment of its own, is ended with the worker.
#[test]
fn d9_5_stopping_a_worker_ends_everything_below_it() {
    let desk = Desk::new();
    let script = "
        setsid sh -c 'trap \"\" INT TERM HUP; echo $$ > apart; while :; do sleep 0.1; done' &
        setsid env -i PATH=\"$PATH\" sh -c 'trap \"\" INT TERM HUP; echo $$ > bare; while :; do sleep 0.1; done' &
        trap '' INT TERM
        echo $$ > leader
        while :; do sleep 0.1; done";
    let mut worker = desk.agent(script, QUICK).launch(&desk.launch(&[], &marker("deaf"))).unwrap();
    let family = [desk.noted("leader"), desk.noted("apart"), desk.noted("bare")];
    assert_eq!(worker.poll().unwrap(), None);
    assert_eq!(worker.stop().unwrap(), ExitMark::Signal(9));
    assert!(family.iter().all(|process| !process.is_alive()));
    assert_eq!(worker.poll().unwrap(), Some(ExitMark::Signal(9)), "it stays ended");
    assert_eq!(worker.stop().unwrap(), ExitMark::Signal(9));
    assert_eq!(worker.end_strays().unwrap().ended, 0);
}

#[test]
fn d9_5_a_worker_that_ends_when_interrupted_is_not_killed() {
    let desk = Desk::new();
    let patient = StopLimits { interrupt: wait::PATIENCE, ..QUICK };
    let script = "trap 'exit 5' INT; echo $$ > leader; while :; do sleep 0.05; done";
    let mut worker =
        desk.agent(script, patient).launch(&desk.launch(&[], &marker("polite"))).unwrap();
    desk.noted("leader");
    assert_eq!(worker.stop().unwrap(), ExitMark::Code(5));
}

/// D9.5: the same walk after an ordinary exit.
#[test]
fn d9_5_what_a_worker_leaves_behind_is_ended_after_an_ordinary_exit() {
    let desk = Desk::new();
    let script =
        "setsid env -i PATH=\"$PATH\" sh -c 'echo $$ > apart; exec sleep 300' >/dev/null 2>&1 &
        while ! test -s apart; do sleep 0.01; done";
    let mut worker =
        desk.agent(script, QUICK).launch(&desk.launch(&[], &marker("leaves"))).unwrap();
    let stray = desk.noted("apart");
    assert_eq!(ended(&mut *worker), ExitMark::Code(0));
    assert!(stray.is_alive());
    assert_eq!(worker.end_strays().unwrap().ended, 1);
    assert!(!stray.is_alive());
}

/// N53, M1 step 2: a worker of a dead supervisor is no child of ours, and its strays may have no parent any more.
#[test]
fn leftovers_of_a_dead_supervisor_are_found_by_mark_and_marker() {
    let desk = Desk::new();
    let marker = marker("orphaned");
    let script = "
        setsid sh -c 'trap \"\" INT TERM; echo $$ > apart; while :; do sleep 0.1; done' &
        env -i PATH=\"$PATH\" sh -c 'trap \"\" INT TERM; echo $$ > bare; while :; do sleep 0.1; done' &
        trap '' INT
        echo $$ > leader
        while :; do sleep 0.1; done";
    let agent = desk.agent(script, QUICK);
    let mut worker = agent.launch(&desk.launch(&[], &marker)).unwrap();
    let family = [desk.noted("leader"), desk.noted("apart"), desk.noted("bare")];
    let other_mark = dispatch_core::record::ProcessMark { start: 1, ..worker.mark() };
    // Another process with the same number is not the worker, and another attempt's marker is not its own.
    assert_eq!(agent.end_leftovers(Some(&other_mark), &format!("{marker}0")).unwrap().ended, 0);
    assert!(family.iter().all(dispatch_proc::ProcessIdentity::is_alive));
    // In this test the worker is our child all the same, and waits to be reaped.
    let ended_count = agent.end_leftovers(Some(&worker.mark()), &marker).unwrap().ended;
    assert!(ended_count >= 3, "{ended_count}");
    wait::until("all to be gone", || family.iter().all(|process| !process.is_alive()));
    assert!(matches!(ended(&mut *worker), ExitMark::Signal(_)));
    assert_eq!(agent.end_leftovers(None, &marker).unwrap().ended, 0);
}

#[test]
fn two_attempts_have_different_private_places_and_one_has_the_same_again() {
    let desk = Desk::new();
    let agent = desk.agent("", QUICK);
    let id = "t-05.1".parse().unwrap();
    let first = agent.private_place(&id, dispatch_core::attempt::AttemptNumber::FIRST).unwrap();
    fs::write(first.home.join("left"), "x").unwrap();
    let second =
        agent.private_place(&id, dispatch_core::attempt::AttemptNumber::FIRST.next()).unwrap();
    assert_ne!(first.root, second.root);
    let again = agent
        .private_place(&"T-5.1".parse().unwrap(), dispatch_core::attempt::AttemptNumber::FIRST)
        .unwrap();
    assert_eq!(first, again);
    assert!(!first.home.join("left").exists(), "it is empty");
    for place in [&first, &second] {
        agent.remove_private_place(place).unwrap();
        assert!(!place.root.exists());
    }
}
