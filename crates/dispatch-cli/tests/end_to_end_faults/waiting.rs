//! `dispatch --wait`: beside another pass, and interrupted.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};

use dispatch_testkit::model_server::{Gate, Turn};
use dispatch_testkit::scene::Forge;
use rustix::process::Signal;

use crate::world::{World, kill, task, writes_and_ends};

fn waiting(world: &World) -> Child {
    let mut command = world.dispatch_command(&["--wait"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// The first line of what a child says on standard error, and the rest of it.
fn stderr_of(child: &mut Child) -> (String, BufReader<std::process::ChildStderr>) {
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    (line, stderr)
}

/// K1: beside another pass it waits for that one, makes its own, and waits for every attempt that then runs.
#[test]
fn waiting_beside_another_pass_waits_for_it_and_for_what_it_started() {
    let Some(world) = World::new(Forge::Git) else { return };
    let gate = Gate::new();
    let [write, _] = &writes_and_ends("src/one.rs")[..] else { unreachable!() };
    world.board().add(&task("T-1", "src/one.rs"));
    world.add_worker("T-1", [write.clone(), Turn::text("Done.").behind(&gate)]);
    world.begin();
    world.ok(&["pass"]);
    gate.wait_for(1);
    world.board().add(&task("T-2", "src/two.rs"));
    world.add_worker("T-2", writes_and_ends("src/two.rs"));

    let pass = File::options().write(true).open(world.state_path("pass.lock")).unwrap();
    pass.lock().unwrap();
    let mut second = waiting(&world);
    let (told, _stderr) = stderr_of(&mut second);
    assert!(told.contains("another pass is running") && told.contains("waiting"), "{told}");
    assert_eq!(world.board().status("T-2"), "Queued", "it made no pass beside the other");
    pass.unlock().unwrap();
    gate.open();

    let output = second.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}");
    for end in ["T-1: attempt 1 ended, proposed as task/T-1", "T-2: attempt 1 ended, proposed"] {
        assert!(said.contains(end), "{said}");
    }
    world.settle();
    world.assert_invariants();
}

/// K1: Ctrl-C ends the waiting by that very signal, with a word on what goes on; the work is not touched.
#[test]
fn interrupting_the_waiting_says_what_goes_on() {
    let Some(world) = World::new(Forge::Git) else { return };
    let gate = Gate::new();
    let [write, _] = &writes_and_ends("src/one.rs")[..] else { unreachable!() };
    world.board().add(&task("T-1", "src/one.rs"));
    world.add_worker("T-1", [write.clone(), Turn::text("Done.").behind(&gate)]);
    world.begin();
    let mut child = waiting(&world);
    gate.wait_for(1);
    // Once the pass has said what it did, it waits.
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("pass complete") {
        line.clear();
        assert_ne!(stdout.read_line(&mut line).unwrap(), 0, "it ended before it waited");
    }
    let process = i32::try_from(child.id()).unwrap();
    let listens = || {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        let bit = 1_u64 << (Signal::INT.as_raw() - 1);
        u64::from_str_radix(caught.trim(), 16).unwrap() & bit != 0
    };
    dispatch_testkit::wait::until("it to listen to signals", listens);
    kill(process, Signal::INT);

    let mut told = String::new();
    child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(Signal::INT.as_raw()));
    assert!(told.contains("T-1 goes on in the background"), "{told}");
    assert!(told.contains("`dispatch cancel T-1` stops it"), "{told}");
    gate.open();
    world.settle();
    world.assert_proposed("src/one.rs");
}
