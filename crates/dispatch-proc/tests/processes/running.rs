//! Input, output, environment and ends.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use dispatch_proc::{Call, Ended, OutputLog, ProcError, Sink, Stdin, run, run_watched};

use crate::{LONG, scratch, shell};

#[test]
fn a_program_gets_exactly_its_arguments_input_directory_and_environment() {
    let (_keep, dir) = scratch();
    let call = Call::new("sh", &dir, LONG)
        .args(["-c", "printf '%s|' \"$@\" \"$PWD\" \"$(env | grep -vE '^(PWD|SHLVL|_|OLDPWD)=' | sort)\"; cat", "sh"])
        .args(["a b", "", "c\nd", "*"])
        .env("PATH", std::env::var("PATH").unwrap())
        .env("ONLY", "this")
        .stdin(Stdin::Bytes(b"in\xffput".to_vec()));
    let finished = run(&call).unwrap();
    let expected =
        format!("a b||c\nd|*|{dir}|ONLY=this\nPATH={}|in", std::env::var("PATH").unwrap());
    assert_eq!(finished.ended, Ended::Exit(0));
    assert_eq!(finished.stdout, [expected.as_bytes(), b"\xffput"].concat());
}

#[test]
fn input_that_is_not_read_and_output_of_any_size_do_not_block() {
    let (_keep, dir) = scratch();
    let mut call =
        shell(&dir, "head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2; echo end >&2");
    call.stdin = Stdin::Bytes(vec![b'x'; 3_000_000]);
    call.stdout = Sink::Memory { max_bytes: 1000 };
    let finished = run(&call).unwrap();
    assert!(finished.is_success());
    assert_eq!((finished.stdout.len(), finished.stdout_dropped_bytes), (1000, 2_999_000));
    assert!(finished.stderr.len() < Call::STDERR_MAX_BYTES + 10);
    assert!(finished.stderr.ends_with(b"end\n"));
}

#[test]
fn files_are_the_streams_themselves_and_output_is_appended() {
    let (_keep, dir) = scratch();
    std::fs::write(dir.join("in"), "question\n").unwrap();
    std::fs::write(dir.join("log"), "before\n").unwrap();
    let mut call = shell(&dir, "cat; echo complaint >&2");
    call.stdin = Stdin::File(dir.join("in"));
    call.stdout = Sink::File(dir.join("log"));
    call.stderr = Sink::File(dir.join("log"));
    let finished = run(&call).unwrap();
    assert_eq!((finished.stdout.len(), finished.stderr.len()), (0, 0));
    assert_eq!(std::fs::read_to_string(dir.join("log")).unwrap(), "before\nquestion\ncomplaint\n");
}

#[test]
fn how_a_program_ended_is_a_value() {
    let (_keep, dir) = scratch();
    assert_eq!(run(&shell(&dir, "exit 7")).unwrap().ended, Ended::Exit(7));
    assert_eq!(run(&shell(&dir, "kill -9 $$")).unwrap().ended, Ended::Signal(9));
    let finished = run(&shell(&dir, "echo no such task >&2; exit 3")).unwrap();
    assert_eq!(
        finished.failure("backlog task view T-1"),
        "`backlog task view T-1` ended with exit status 3: no such task"
    );
}

#[test]
fn what_cannot_be_started_is_an_error_that_names_it() {
    let (_keep, dir) = scratch();
    let missing = Call::new("no-such-program", &dir, LONG).env("PATH", "/nowhere");
    assert!(matches!(run(&missing), Err(ProcError::NotFound { .. })));
    let gone = shell(&dir.join("gone"), "true");
    let error = run(&gone).unwrap_err();
    assert!(error.to_string().contains("gone"), "{error}");
}

#[test]
fn a_program_is_found_on_the_path_of_the_call_and_not_on_ours() {
    use std::os::unix::fs::PermissionsExt;
    let (_keep, dir) = scratch();
    std::fs::write(dir.join("tool"), "#!/bin/sh\necho mine\n").unwrap();
    std::fs::set_permissions(dir.join("tool"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let call = Call::new("tool", "/", LONG).env("PATH", &dir);
    assert_eq!(run(&call).unwrap().stdout, b"mine\n");
}

#[test]
fn a_pipe_kept_open_by_somebody_who_left_does_not_hold_the_answer_back() {
    let (_keep, dir) = scratch();
    let began = Instant::now();
    let call = shell(&dir, "setsid sleep 300 & echo done");
    let finished = run(&call).unwrap();
    assert_eq!(finished.stdout, b"done\n");
    assert!(began.elapsed() < Duration::from_secs(30));
    let strays = dispatch_proc::with_environment("PATH", &std::env::var("PATH").unwrap());
    for stray in strays.iter().filter(|stray| command_line(stray.pid) == "sleep 300") {
        stray.signal(dispatch_proc::Signal::KILL);
    }
}

fn command_line(pid: i32) -> String {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).trim_end_matches('\0').replace('\0', " ")
}

fn counted(words: &mut u32) -> impl FnMut() -> ControlFlow<()> {
    || {
        *words += 1;
        ControlFlow::Continue(())
    }
}

/// D9.4: whoever waits for a long program is given the word meanwhile.
#[test]
fn a_watcher_is_called_while_a_program_runs_and_not_for_a_short_one() {
    let (_keep, dir) = scratch();
    let mut words = 0;
    let long = run_watched(&shell(&dir, "sleep 2.5"), &mut counted(&mut words)).unwrap();
    assert!(long.is_success());
    assert!(words >= 1);
    let mut words = 0;
    run_watched(&shell(&dir, "true"), &mut counted(&mut words)).unwrap();
    assert_eq!(words, 0);
}

/// C5.3: both streams in one log, standard output alone beside it.
#[test]
fn both_streams_go_into_one_log_and_standard_output_is_kept_alone_too() {
    let (_keep, dir) = scratch();
    let log = OutputLog::new(None, 0, 1 << 10);
    let mut call = shell(&dir, "echo out; echo err >&2; head -c 300000 /dev/zero; echo end >&2");
    call.stdout = Sink::Log { log: log.clone(), max_bytes: 4 };
    call.stderr = Sink::Log { log: log.clone(), max_bytes: 100 };
    let finished = run(&call).unwrap();
    assert_eq!((&*finished.stdout, &*finished.stderr), (&b"out\n"[..], &b"err\nend\n"[..]));
    assert_eq!(finished.stdout_dropped_bytes, 300_000);
    assert_eq!(log.finish().len(), 1 << 10);
}

/// C5.3: what goes into one log stays in the order it was written.
#[test]
fn both_streams_through_one_pipe_keep_their_order() {
    let (_keep, dir) = scratch();
    let log = OutputLog::new(None, 0, 1 << 20);
    let script =
        "i=0; while [ $i -lt 200 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done; echo end";
    let mut call = shell(&dir, script);
    call.stdout = Sink::Log { log: log.clone(), max_bytes: 0 };
    call.stderr = Sink::WithStdout;

    assert!(run(&call).unwrap().is_success());

    let lines = (0..200).flat_map(|i| [format!("out {i}"), format!("err {i}")]);
    let expected: Vec<String> = lines.chain(["end".to_owned()]).collect();
    assert_eq!(String::from_utf8(log.finish()).unwrap().lines().collect::<Vec<_>>(), expected);
}
