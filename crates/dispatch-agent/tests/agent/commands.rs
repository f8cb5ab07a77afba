//! Provisioning, checks and the like, and supervisors.

use std::cell::OnceCell;
use std::fs::{self, File};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use camino::Utf8PathBuf;
use dispatch_agent::{Reach, SupervisorProgram, SystemCommands};
use dispatch_core::id::TaskId;
use dispatch_engine::ports::{CommandEnd, CommandPlace, CommandSpec, Commands, ExitMark, TaskLock};
use dispatch_testkit::wait;

use crate::desk::{Desk, goes_on, marker};

fn supervisor(desk: &Desk, script: &str) -> SupervisorProgram {
    let log = desk.root.join("logs");
    SupervisorProgram {
        program: desk.script("supervisor", script),
        args: vec!["--config".into(), "lanes.json".into()],
        dir: desk.slot.clone(),
        env: [
            ("PATH", desk.path()),
            ("NEW_STATUS", "Queued".into()),
            ("DISPATCH_ATTEMPT", "of the worker that started the pass".into()),
            ("KEPT", "yes".into()),
        ]
        .map(|(name, value)| (name.into(), value.into()))
        .into(),
        session: vec!["setsid".into()],
        log: Box::new(move |id: &TaskId| log.join(format!("{id}.log"))),
        scopes: OnceCell::new(),
    }
}

fn commands(desk: &Desk, reach: Reach, script: &str) -> SystemCommands {
    SystemCommands::new(reach, supervisor(desk, script)).unwrap()
}

fn spec(desk: &Desk, script: &str, marker: &str) -> CommandSpec {
    CommandSpec {
        argv: ["sh", "-c", script].map(str::to_owned).into(),
        dir: desk.slot.clone(),
        env: vec![("PATH".into(), desk.path())],
        stdin: Vec::new(),
        limit: wait::PATIENCE,
        log: Some(desk.root.join("test.log")),
        place: CommandPlace::Slot,
        marker: marker.to_owned(),
    }
}

#[test]
fn c5_3_a_program_is_logged_with_its_command_line_and_answered() {
    let desk = Desk::new();
    let commands = commands(&desk, Reach::Marked, "");
    fs::write(desk.root.join("test.log"), "before\n").unwrap();
    let mut spec =
        spec(&desk, "cat; printf '\\377bytes\\n'; echo oops >&2; exit 3", &marker("logged"));
    spec.stdin = b"given\n".to_vec();
    let end = commands.run(&spec, &mut goes_on).unwrap();
    assert_eq!(
        end,
        CommandEnd::Ended {
            exit: ExitMark::Code(3),
            output: "given\n\u{fffd}bytes\noops\n".into(),
            stdout: "given\n\u{fffd}bytes\noops\n".into(),
        }
    );
    let log = fs::read(desk.root.join("test.log")).unwrap();
    let log = String::from_utf8_lossy(&log);
    let (start, rest) = log.split_once("given\n").unwrap();
    assert_eq!(
        start,
        "before\n$ sh -c 'cat; printf '\\''\\377bytes\\n'\\''; echo oops >&2; exit 3'\n"
    );
    assert!(rest.contains("oops\n[ended with exit status 3 after 0."), "{rest}");

    spec.log = None;
    match commands.run(&spec, &mut goes_on).unwrap() {
        CommandEnd::Ended { stdout, .. } => assert_eq!(stdout, "given\n\u{fffd}bytes\n"),
        other => panic!("{other:?}"),
    }
    assert!(
        fs::read(desk.root.join("test.log")).unwrap().contains(&0xff),
        "bytes are kept as they are"
    );
}

/// N35, BR-22: output of any size blocks nothing and costs neither the status nor what follows.
#[test]
fn output_beyond_the_bounds_keeps_its_end_and_the_beginning_of_standard_output() {
    let desk = Desk::new();
    let commands = commands(&desk, Reach::Marked, "");
    let script = "echo first; head -c 20000000 /dev/zero | tr '\\0' x; echo; echo last";
    let CommandEnd::Ended { exit, output, stdout } =
        commands.run(&spec(&desk, script, &marker("large")), &mut goes_on).unwrap()
    else {
        panic!("it did not end")
    };
    assert_eq!(exit, ExitMark::Code(0));
    assert_eq!((output.len(), stdout.len()), (64 << 10, 256 << 10));
    assert!(output.ends_with("x\nlast\n") && stdout.starts_with("first\nx"));
    assert!(fs::metadata(desk.root.join("test.log")).unwrap().len() > 20_000_000);
}

/// D9.9: a supervisor that is asked to stop ends what it runs, with everything below it.
#[test]
fn a_program_is_ended_with_everything_below_it_when_its_supervisor_is_asked_to_stop() {
    let desk = Desk::new();
    let commands = commands(&desk, Reach::Descendants, "");
    let script = "setsid env -i PATH=\"$PATH\" sh -c 'trap \"\" TERM; echo $$ > apart; exec sleep 300' & echo begun; sleep 300";
    let apart = desk.slot.join("apart");
    let end = commands.run(&spec(&desk, script, &marker("asked")), &mut || {
        let there = fs::read_to_string(&apart).is_ok_and(|text| text.ends_with('\n'));
        if there { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!(end.unwrap(), CommandEnd::Stopped);
    let pid: i32 = fs::read_to_string(&apart).unwrap().trim().parse().unwrap();
    assert_eq!(dispatch_proc::ProcessIdentity::of(pid), None);
    let log = fs::read_to_string(desk.root.join("test.log")).unwrap();
    assert!(log.contains("begun") && log.contains("asked to stop"), "{log}");
}

#[test]
fn at_its_limit_a_program_is_ended_with_everything_below_it() {
    let desk = Desk::new();
    let commands = commands(&desk, Reach::Descendants, "");
    let script = "setsid env -i PATH=\"$PATH\" sh -c 'trap \"\" TERM; echo $$ > apart; exec sleep 300' & echo begun; sleep 300";
    let mut spec = spec(&desk, script, &marker("limit"));
    spec.limit = Duration::from_secs(1);
    let end = commands.run(&spec, &mut goes_on).unwrap();
    assert_eq!(end, CommandEnd::TimedOut { output: "begun\n".into() });
    assert!(!end.succeeded());
    let pid: i32 = fs::read_to_string(desk.slot.join("apart")).unwrap().trim().parse().unwrap();
    assert_eq!(dispatch_proc::ProcessIdentity::of(pid), None);
}

/// D9.5: the same walk after every check.
#[test]
fn what_a_check_leaves_behind_is_ended() {
    let desk = Desk::new();
    for (reach, clear) in [(Reach::Marked, ""), (Reach::Descendants, "env -i PATH=\"$PATH\"")] {
        let commands = commands(&desk, reach, "");
        let script = format!(
            "rm -f apart; setsid {clear} sh -c 'echo $$ > apart; exec sleep 300' & while ! test -s apart; do sleep 0.01; done"
        );
        let end = commands.run(&spec(&desk, &script, &marker("leaves")), &mut goes_on).unwrap();
        assert!(end.succeeded(), "{end:?}");
        let pid: i32 = fs::read_to_string(desk.slot.join("apart")).unwrap().trim().parse().unwrap();
        assert_eq!(dispatch_proc::ProcessIdentity::of(pid), None, "{reach:?}");
    }
}

#[test]
fn a_program_that_is_not_there_was_not_started() {
    let desk = Desk::new();
    let commands = commands(&desk, Reach::Marked, "");
    let mut spec = spec(&desk, "", &marker("missing"));
    spec.argv = vec!["no-such-program".into(), "--x".into()];
    let CommandEnd::NotStarted(why) = commands.run(&spec, &mut goes_on).unwrap() else {
        panic!("it was")
    };
    assert!(why.contains("program `no-such-program` is not on PATH"), "{why}");
    spec.argv.clear();
    assert!(matches!(commands.run(&spec, &mut goes_on).unwrap(), CommandEnd::NotStarted(_)));
    let log = fs::read_to_string(desk.root.join("test.log")).unwrap();
    assert!(log.starts_with("$ no-such-program --x\n[not started: "), "{log}");
}

#[test]
fn a_digest_is_that_of_the_bytes_and_a_missing_file_has_none() {
    let desk = Desk::new();
    let commands = commands(&desk, Reach::Marked, "");
    let file = desk.root.join("lock");
    assert_eq!(commands.file_digest(&file).unwrap(), None);
    fs::write(&file, "abc").unwrap();
    let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(commands.file_digest(&file).unwrap().as_deref(), Some(known));
    assert!(commands.file_digest(&desk.root).is_err(), "a folder is no missing file");
}

struct Lock {
    id: TaskId,
    file: File,
}

impl TaskLock for Lock {
    fn id(&self) -> &TaskId {
        &self.id
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.file.as_fd())
    }
}

/// D6.4, D9.1: the lock goes over to the supervisor, which has a session of its own and survives us.
#[test]
fn d6_4_a_supervisor_gets_the_lock_and_a_session_of_its_own() {
    let desk = Desk::new();
    let script = "echo \"$@\"; env | grep -E '^(KEPT|NEW_STATUS|DISPATCH_ATTEMPT)='; pwd; echo $$ > supervisor; exec sleep 300";
    let commands = commands(&desk, Reach::Marked, script);
    let path: Utf8PathBuf = desk.root.join("T-5.lock");
    let file = File::create(&path).unwrap();
    file.try_lock().unwrap();
    let id: TaskId = "T-5".parse().unwrap();
    let mark =
        commands.start_supervisor(&id, Box::new(Lock { id: id.clone(), file }), true).unwrap();
    let supervisor = desk.noted("supervisor");
    assert_eq!(mark.pid.cast_signed(), supervisor.pid);
    assert!(commands.is_alive(&mark));
    assert_eq!(
        fs::read_to_string(desk.root.join("logs/T-5.log")).unwrap(),
        format!("--config lanes.json supervise T-5 --recover\nKEPT=yes\n{}\n", desk.slot)
    );
    let stat = fs::read_to_string(format!("/proc/{}/stat", mark.pid)).unwrap();
    let session = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(3).unwrap().to_owned();
    assert_eq!(session, mark.pid.to_string());
    // Ours is closed, and still nobody else can take it.
    let again = File::options().write(true).open(&path).unwrap();
    assert!(again.try_lock().is_err());
    // A check we run ends what it left behind, but not a supervisor.
    assert!(
        commands.run(&spec(&desk, "true", &marker("beside")), &mut goes_on).unwrap().succeeded()
    );
    assert!(commands.is_alive(&mark));
    commands.kill(&mark).unwrap();
    wait::until("the supervisor to end", || !commands.is_alive(&mark));
    wait::until("its lock to be free", || again.try_lock().is_ok());
    commands.kill(&mark).unwrap();
}

#[test]
fn d9_9_a_first_request_to_end_is_a_question_and_the_process_goes_on() {
    let desk = Desk::new();
    let commands = commands(&desk, Reach::Marked, "");
    commands.watch_signals().unwrap();
    assert!(!commands.asked_to_end());
    let ourselves = commands.ourselves();
    assert!(commands.is_alive(&ourselves));
    dispatch_proc::ProcessIdentity::current().signal(dispatch_proc::Signal::TERM);
    wait::until("the signal to be seen", || commands.asked_to_end());
}

/// D9.1: where the user's manager makes scopes, a supervisor gets one; where it does not, it is started all the same.
#[test]
fn d9_1_a_supervisor_is_put_into_a_scope_when_there_is_a_manager() {
    let answers = [("exec \"$@\"", "in a scope"), ("exit 1", "alone")];
    for (answer, expected) in answers {
        let desk = Desk::new();
        let script = "echo \"${SCOPE:-alone}\" > where; echo $$ > supervisor; exec sleep 300";
        let mut program = supervisor(&desk, script);
        program.env.insert("XDG_RUNTIME_DIR".into(), desk.root.as_str().into());
        desk.script(
            "systemd-run",
            &format!("echo \"$@\" >> ../scopes; while [ \"$1\" != -- ]; do shift; done; shift; SCOPE='in a scope'; export SCOPE; {answer}"),
        );
        let commands = SystemCommands::new(Reach::Marked, program).unwrap();
        for id in ["T-1", "T-2"] {
            let id: TaskId = id.parse().unwrap();
            let file = File::create(desk.root.join(format!("{id}.lock"))).unwrap();
            let lock = Box::new(Lock { id: id.clone(), file });
            fs::remove_file(desk.slot.join("supervisor")).ok();
            let mark = commands.start_supervisor(&id, lock, false).unwrap();
            let supervisor = desk.noted("supervisor");
            assert_eq!(mark.pid.cast_signed(), supervisor.pid, "it is the very process");
            assert_eq!(fs::read_to_string(desk.slot.join("where")).unwrap().trim(), expected);
            commands.kill(&mark).unwrap();
        }
        let asked = fs::read_to_string(desk.root.join("scopes")).unwrap();
        assert!(asked.starts_with("--user --scope --quiet --collect -- true\n"), "{asked}");
        assert_eq!(asked.matches("-- true\n").count(), 1, "the manager is asked once");
    }
}
