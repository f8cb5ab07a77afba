//! The real `worker-edit` against a mailbox that a test answers.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod real_board;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use dispatch_core::worker_edit::{MailAnswer, MailRequest};
use tempfile::TempDir;
use test_case::test_case;

fn start(variables: &[(&str, &Path)], argv: &[&str], stdin: &[u8]) -> Child {
    #[expect(clippy::disallowed_methods, reason = "tests start the program they test")]
    let mut command = Command::new(env!("CARGO_BIN_EXE_worker-edit"));
    command.env_clear().envs(variables.iter().copied()).args(argv);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let stdin = stdin.to_vec();
    std::thread::spawn(move || pipe.write_all(&stdin));
    child
}

fn in_attempt(mailbox: &Path, argv: &[&str], stdin: &[u8]) -> Child {
    start(&[("DISPATCH_TASK_ID", Path::new("T-5")), ("DISPATCH_MAILBOX", mailbox)], argv, stdin)
}

/// Waits for the one request of the mailbox.
fn request(mailbox: &Path) -> PathBuf {
    let began = Instant::now();
    loop {
        let found = fs::read_dir(mailbox).unwrap().map(|entry| entry.unwrap().path());
        let request = found
            .into_iter()
            .find(|path| path.file_name().unwrap().as_encoded_bytes().starts_with(b"req-"));
        if let Some(request) = request {
            return request;
        }
        assert!(began.elapsed() < Duration::from_mins(1), "no request came");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Takes the one request and answers it.
fn answer(mailbox: &Path, answer: &MailAnswer) -> MailRequest {
    let path = request(mailbox);
    let taken = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    fs::remove_file(&path).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap().replacen("req-", "res-", 1);
    let draft = mailbox.join("draft");
    fs::write(&draft, serde_json::to_vec(answer).unwrap()).unwrap();
    fs::rename(draft, mailbox.join(name)).unwrap();
    taken
}

fn told(output: &Output) -> (Option<i32>, &str, &str) {
    (
        output.status.code(),
        str::from_utf8(&output.stdout).unwrap(),
        str::from_utf8(&output.stderr).unwrap(),
    )
}

#[test]
fn w2_a_request_goes_into_the_mailbox_and_its_answer_comes_out() {
    let mailbox = TempDir::new().unwrap();
    let child = in_attempt(
        mailbox.path(),
        &["T-5", "--notes", "-", "--check-ac=1"],
        "naïve\n- x\n".as_bytes(),
    );
    let answered = MailAnswer { exit: 0, stdout: "done\n".into(), stderr: String::new() };
    let taken = answer(mailbox.path(), &answered);
    assert_eq!(taken.argv, ["T-5", "--notes", "-", "--check-ac=1"]);
    assert_eq!(taken.stdin, "naïve\n- x\n");
    assert_eq!(told(&child.wait_with_output().unwrap()), (Some(0), "done\n", ""));
    assert_eq!(fs::read_dir(mailbox.path()).unwrap().count(), 0, "nothing is left");
}

#[test_case(1, 1; "the board refused")]
#[test_case(2, 2; "the policy refused")]
#[test_case(77, 1; "an unknown status is a failure")]
#[test_case(-1, 1; "a negative one too")]
fn w1_4_the_exit_status_is_the_answers(answered: i32, expected: i32) {
    let mailbox = TempDir::new().unwrap();
    let child = in_attempt(mailbox.path(), &["T-5", "--view"], b"");
    answer(
        mailbox.path(),
        &MailAnswer { exit: answered, stdout: String::new(), stderr: "no such item\n".into() },
    );
    assert_eq!(told(&child.wait_with_output().unwrap()), (Some(expected), "", "no such item\n"));
}

#[test_case(&["T-5", "--status", "Done"], b"", "allowed-edits"; "another flag")]
#[test_case(&["T-6", "--view"], b"", "own-task"; "another task")]
#[test_case(&["T-5", "--comment", "-"], b"a\n---\n", "texts"; "structure on standard input")]
#[test_case(&["T-5", "--comment", "-"], b"\xff", "texts"; "bytes that are no text")]
fn w1_4_what_the_policy_refuses_never_reaches_the_mailbox(argv: &[&str], stdin: &[u8], rule: &str) {
    let mailbox = TempDir::new().unwrap();
    let output = in_attempt(mailbox.path(), argv, stdin).wait_with_output().unwrap();
    let (status, stdout, stderr) = told(&output);
    assert_eq!((status, stdout), (Some(2), ""));
    assert!(stderr.starts_with(&format!("refused by policy ({rule}): ")), "{stderr}");
    assert_eq!(fs::read_dir(mailbox.path()).unwrap().count(), 0);
}

#[test]
fn w1_3_a_text_over_64_kib_on_standard_input_is_refused() {
    let mailbox = TempDir::new().unwrap();
    let text = "é".repeat(80 << 10);
    let output = in_attempt(mailbox.path(), &["T-5", "--notes=-"], text.as_bytes())
        .wait_with_output()
        .unwrap();
    let (status, _, stderr) = told(&output);
    assert_eq!(status, Some(2));
    assert!(stderr.contains("more than the 65536 a text may have"), "{stderr}");
}

#[test]
fn w2_outside_an_attempt_it_is_not_usable() {
    let output = start(&[("DISPATCH_TASK_ID", Path::new("T-5"))], &["T-5", "--view"], b"")
        .wait_with_output()
        .unwrap();
    let (status, _, stderr) = told(&output);
    assert_eq!(status, Some(2));
    assert!(stderr.contains("DISPATCH_MAILBOX"), "{stderr}");
    let output = start(&[], &["T-5", "--view"], b"").wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_mailbox_that_is_gone_is_said() {
    let mailbox = TempDir::new().unwrap();
    let gone = mailbox.path().join("gone");
    let output = in_attempt(&gone, &["T-5", "--view"], b"").wait_with_output().unwrap();
    let (status, _, stderr) = told(&output);
    assert_eq!(status, Some(1));
    assert!(stderr.contains("nothing was written"), "{stderr}");
}

/// W2: 30 s, then the request is taken back, so that nobody acts on it later.
#[test]
fn w2_with_nobody_answering_the_request_is_taken_back() {
    let mailbox = TempDir::new().unwrap();
    let child = in_attempt(mailbox.path(), &["T-5", "--view"], b"");
    let request = request(mailbox.path());
    let output = child.wait_with_output().unwrap();
    let (status, _, stderr) = told(&output);
    assert_eq!(status, Some(1));
    assert!(stderr.contains("nobody read the request within 30 s"), "{stderr}");
    assert!(!request.exists());
}
