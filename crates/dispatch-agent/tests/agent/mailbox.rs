//! The real `worker-edit` at the other end of the mailbox (W2).

use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use camino::Utf8Path;
use dispatch_agent::FolderMailbox;
use dispatch_engine::ports::{Mail, Mailbox};
use dispatch_testkit::programs;
use dispatch_testkit::wait;

use crate::desk::Desk;

fn client(mailbox: &Utf8Path, argv: &[&str]) -> Child {
    let mut command = programs::command(programs::built("worker-edit"), mailbox);
    command.env("DISPATCH_TASK_ID", "T-5").env("DISPATCH_MAILBOX", mailbox).args(argv);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn taken(mailbox: &FolderMailbox) -> Mail {
    wait::until_some("a request", || mailbox.take().unwrap())
}

fn told(output: &Output) -> (Option<i32>, &str) {
    (output.status.code(), str::from_utf8(&output.stdout).unwrap())
}

#[test]
fn w2_requests_made_at_once_get_each_its_own_answer() {
    let desk = Desk::new();
    let mailbox = FolderMailbox::open(&desk.slot).unwrap();
    let clients: Vec<Child> = (1..=6)
        .map(|number| client(&desk.slot, &["T-5", "--check-ac", &number.to_string()]))
        .collect();
    for _ in 1..=6 {
        let mail = taken(&mailbox);
        let number: i32 = mail.argv[2].parse().unwrap();
        mailbox.answer(&mail, number % 2, &format!("ticked {number}\n"), "").unwrap();
    }
    for (child, number) in clients.into_iter().zip(1..) {
        let output = child.wait_with_output().unwrap();
        assert_eq!(told(&output), (Some(number % 2), &*format!("ticked {number}\n")));
    }
    assert_eq!(mailbox.take().unwrap(), None);
    assert_eq!(desk.slot.read_dir_utf8().unwrap().count(), 0, "nothing is left lying there");
}

#[test]
fn w2_a_long_view_reaches_the_client_whole() {
    let desk = Desk::new();
    let mailbox = FolderMailbox::open(&desk.slot).unwrap();
    let child = client(&desk.slot, &["T-5", "--view"]);
    let view = "A line of the task, with naïve letters.\n".repeat(20_000);
    mailbox.answer(&taken(&mailbox), 0, &view, "").unwrap();
    assert_eq!(told(&child.wait_with_output().unwrap()), (Some(0), &*view));
}

#[test]
fn w2_waiting_ends_with_the_next_request_and_not_with_what_cannot_be_taken() {
    let desk = Desk::new();
    let mailbox = FolderMailbox::open(&desk.slot).unwrap();
    // A folder that is not empty stays under the name of a request.
    std::fs::create_dir_all(desk.slot.join("req-0123456789abcdef/full")).unwrap();
    assert_eq!(mailbox.take().unwrap(), None);
    let limit = Duration::from_millis(60);
    let began = Instant::now();
    mailbox.wait(limit);
    assert!(began.elapsed() >= limit);
    let child = client(&desk.slot, &["T-5", "--view"]);
    mailbox.wait(wait::PATIENCE);
    mailbox.answer(&mailbox.take().unwrap().unwrap(), 0, "seen", "").unwrap();
    assert_eq!(told(&child.wait_with_output().unwrap()), (Some(0), "seen"));
}
