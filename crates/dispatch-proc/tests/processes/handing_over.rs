//! Processes that go on without us, and descriptors handed to them.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::OwnedFd;

use dispatch_proc::{
    Call, Detached, ProcessIdentity, Signal, exec_in_own_session, spawn_detached, start,
};

use crate::{LONG, eventually, is_gone, noted, scratch, shell};

/// D6.4: the task's lock travels as the supervisor's standard input, and to nobody else.
#[test]
fn a_held_lock_is_handed_over_and_nobody_else_gets_it() {
    let (_keep, dir) = scratch();
    let lock = File::create(dir.join("lock")).unwrap();
    lock.try_lock().unwrap();
    let bystander = start(&shell(&dir, "echo $$ > bystander; exec sleep 300")).unwrap();
    let mut call = shell(&dir, "echo started; echo $$ > supervisor; exec sleep 300");
    call.launcher = vec![OsString::from("setsid")];
    let supervisor =
        spawn_detached(Detached { call, stdin: Some(OwnedFd::from(lock)), log: dir.join("log") })
            .unwrap();
    assert_eq!(noted(&dir.join("supervisor")), supervisor);
    let bystander_process = noted(&dir.join("bystander"));
    let again = File::options().write(true).open(dir.join("lock")).unwrap();
    assert!(matches!(again.try_lock(), Err(std::fs::TryLockError::WouldBlock)));
    supervisor.signal(Signal::KILL);
    is_gone(&supervisor);
    assert!(bystander_process.is_alive());
    eventually("the lock to be free", || again.try_lock().ok());
    assert_eq!(std::fs::read_to_string(dir.join("log")).unwrap(), "started\n");
    bystander_process.signal(Signal::KILL);
    bystander.finish().unwrap();
}

/// What the next test starts: the launcher, in a process of its own.
#[test]
fn launcher_entry() {
    if let Ok(script) = std::env::var("LAUNCH_SCRIPT") {
        let command_line = ["/bin/sh", "-c", &script].map(OsString::from);
        panic!("{}", exec_in_own_session(&command_line));
    }
}

/// D9.1, D9.2: same process, new session and group.
#[test]
fn the_launcher_makes_a_session_and_keeps_the_identity() {
    let (_keep, dir) = scratch();
    let mut call = Call::new(
        std::env::current_exe().unwrap().into_os_string().into_string().unwrap(),
        &dir,
        LONG,
    )
    .args(["--exact", "handing_over::launcher_entry", "--nocapture"])
    .env("PATH", std::env::var("PATH").unwrap())
    .env("LAUNCH_SCRIPT", "echo $$ > pid; exec sleep 300");
    call.launcher = vec![OsString::from("env")];
    let worker = start(&call).unwrap();
    let process = noted(&dir.join("pid"));
    assert_eq!(Some(&process), worker.identity());
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.pid)).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    assert_eq!(fields[2..4], [process.pid.to_string(), process.pid.to_string()]);
    process.signal(Signal::KILL);
    worker.finish().unwrap();
}

#[test]
fn an_identity_survives_being_written_down() {
    let current = ProcessIdentity::current();
    let text = serde_json::to_string(&current).unwrap();
    assert_eq!(serde_json::from_str::<ProcessIdentity>(&text).unwrap(), current);
}
