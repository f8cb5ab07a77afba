//! M4: what a person does to slots and running tasks.

use dispatch_core::attempt::AttemptCounts;
use dispatch_core::names::CloseStep;
use dispatch_core::record::{Phase, Request};
use dispatch_core::status::Status;
use dispatch_engine::by_hand::{ByHandError, Cancelled, Released, cancel, release_slot, retry};
use dispatch_engine::ports::TryLock;

use crate::sim::{Worker, World, id, setup, slot, task};

fn refused<T: std::fmt::Debug>(end: Result<T, ByHandError>) -> String {
    match end {
        Err(ByHandError::Refused(why)) => why,
        other => panic!("{other:?}"),
    }
}

fn started() -> World {
    let world = World::new(vec![task("T-1")]);
    world.pass(&setup());
    world
}

#[test]
fn m4_an_unknown_slot_is_refused_with_the_known_ones() {
    let world = World::new(vec![]);
    let why = refused(release_slot(&world.ports(), &slot("nope"), false));
    assert_eq!(why, "there is no slot nope; known are: dispatch-1, dispatch-2");
}

/// N45: a slot is never taken from under a live worker.
#[test]
fn m4_a_slot_with_a_live_attempt_is_refused_with_what_to_do() {
    let world = started();
    let why = refused(release_slot(&world.ports(), &slot("dispatch-1"), false));
    assert!(why.contains("live attempt of T-1 (pid "), "{why}");
    assert!(why.contains("dispatch cancel T-1"), "{why}");
    // Forced, the supervisor is asked; it does not answer here, so nothing is touched.
    let why = refused(release_slot(&world.ports(), &slot("dispatch-1"), true));
    assert!(why.contains("has not within 30 s"), "{why}");
    assert_eq!(world.state().requests[&id("T-1")], Request::Interrupt);
    assert_eq!(world.bound()[0].as_deref(), Some("T-1"));
}

#[test]
fn m4_a_slot_whose_supervisor_is_gone_is_saved_by_a_new_one_before_it_is_free() {
    let world = started();
    world.state().pending.clear();
    world.state().locks.clear();
    world.state().records.get_mut(&id("T-1")).unwrap().phase = Phase::Prepared;
    let end = release_slot(&world.ports(), &slot("dispatch-1"), false).unwrap();
    let kept = "refs/dispatch/attempts/T-1/1".to_owned();
    assert_eq!(end, Released::Recovering { task: id("T-1"), kept });
    assert!(world.state().pending[0].recover);
}

#[test]
fn m4_what_an_ended_attempt_left_is_saved_and_said() {
    let world = started();
    while world.supervise_next().is_some() {}
    let lock_free = world.state().locks.is_empty();
    assert!(lock_free);
    world.state().registry[0].task_id = Some(id("T-1"));
    world.state().slots.entry(slot("dispatch-1")).or_default().insert("late.rs".into(), "x".into());
    let end = release_slot(&world.ports(), &slot("dispatch-1"), false).unwrap();
    let Released::Freed { task, kept: Some(kept), queued: false } = end else { panic!("{end:?}") };
    assert_eq!(task, id("T-1"));
    assert!(kept.starts_with("refs/dispatch/rescue/dispatch-1/"), "{kept}");
    let commit = world.state().repository.refs[&kept].clone();
    assert_eq!(world.state().repository.files(&commit)["late.rs"], "x");
    assert_eq!(world.bound(), [None, None]);
    assert_eq!(
        release_slot(&world.ports(), &slot("dispatch-1"), false).unwrap(),
        Released::WasFree
    );
    // C1.3: a mark that an older version left on a slot of no task.
    world.state().registry[0].held = Some("no slot is assigned".into());
    let end = release_slot(&world.ports(), &slot("dispatch-1"), false).unwrap();
    assert_eq!(end, Released::Unheld { cause: "no slot is assigned".into() });
    assert_eq!(world.state().registry[0].held, None);
}

#[test]
fn m4_cancelling_asks_the_supervisor_which_stops_saves_and_sets_the_status() {
    let world = started();
    let end = cancel(&world.ports(), &id("T-1"), &Status::ToDo).unwrap();
    assert_eq!(end, Cancelled::Asked { kept: "refs/dispatch/attempts/T-1/1".into() });
    while world.supervise_next().is_some() {}
    assert_eq!(world.status("T-1"), Status::ToDo);
    assert_eq!((world.phase("T-1"), world.bound()), (Phase::Ended, vec![None, None]));
}

#[test]
fn m4_cancelling_what_nobody_carries_on_needs_no_supervisor() {
    let world = started();
    world.state().pending.clear();
    world.state().locks.clear();
    assert_eq!(
        cancel(&world.ports(), &id("T-1"), &Status::ToDo).unwrap(),
        Cancelled::StatusSet { proposed: None }
    );
    assert_eq!(world.status("T-1"), Status::ToDo);
    assert_eq!((world.phase("T-1"), world.bound()), (Phase::Ended, vec![None, None]));
}

#[test]
fn m4_cancelling_a_queued_task_sets_its_status_and_a_done_one_is_refused() {
    let mut done = task("T-2");
    done.status = Status::Done;
    let world = World::new(vec![task("T-1"), done]);
    assert_eq!(
        cancel(&world.ports(), &id("T-1"), &Status::ToDo).unwrap(),
        Cancelled::StatusSet { proposed: None }
    );
    assert_eq!(world.status("T-1"), Status::ToDo);
    let why = refused(cancel(&world.ports(), &id("T-2"), &Status::ToDo));
    assert_eq!(why, "T-2 is Done: there is nothing to cancel");
    let why = refused(cancel(&world.ports(), &id("T-9"), &Status::ToDo));
    assert_eq!(why, "there is no task T-9 on the board");
}

/// I1: what a claim had started is ended before its slot is given away.
#[test]
fn m4_cancelling_a_dead_claim_ends_what_its_preparation_left_running() {
    let world = started();
    world.state().pending.clear();
    world.state().locks.clear();
    let token = world.state().records[&id("T-1")].token.clone();
    world.state().workers.push(Worker {
        id: id("T-1"),
        slot: slot("dispatch-1"),
        marker: token,
        stream: "/stream".into(),
        mailbox: "/mailbox".into(),
        acts: Vec::new(),
        exit: None,
        alive: true,
    });
    assert_eq!(
        cancel(&world.ports(), &id("T-1"), &Status::ToDo).unwrap(),
        Cancelled::StatusSet { proposed: None }
    );
    assert!(world.state().workers.iter().all(|worker| !worker.alive));
    assert_eq!(world.bound(), [None, None]);
}

/// A person who moved the task has decided; cancelling says that its own status was not set.
#[test]
fn m4_cancelling_does_not_claim_a_status_that_it_did_not_set() {
    let world = started();
    world.state().pending.clear();
    world.state().locks.clear();
    world.edit("T-1", |task| task.status = Status::Done);
    let why = refused(cancel(&world.ports(), &id("T-1"), &Status::ToDo));
    assert_eq!(why, "T-1 was moved to Done meanwhile, and stays there; nothing runs for it");
    assert_eq!(world.status("T-1"), Status::Done);
    assert_eq!((world.phase("T-1"), world.bound()), (Phase::Ended, vec![None, None]));
}

/// I5: an attempt that was given up holds its slot until a person frees it, and then what lay in it is kept.
#[test]
fn m4_a_slot_held_by_an_attempt_that_was_given_up_can_be_freed() {
    let world = started();
    world.state().pending.clear();
    world.state().locks.clear();
    world.state().records.get_mut(&id("T-1")).unwrap().phase = Phase::Ended;
    world.state().private.remove(&(id("T-1"), "hand-over".to_owned()));
    world.state().registry[0].held = Some("nothing was handed over".into());
    let end = release_slot(&world.ports(), &slot("dispatch-1"), false).unwrap();
    assert_eq!(end, Released::Freed { task: id("T-1"), kept: None, queued: false });
    assert_eq!(world.bound(), [None, None]);
    assert!(world.state().registry[0].held.is_none() && world.state().pending.is_empty());
}

/// I3: what lies in a slot is kept whoever's it is, also when the task has had an attempt elsewhere since.
#[test]
fn m4_releasing_a_held_slot_keeps_its_work_whatever_the_record_says() {
    let world = World::new(vec![task("T-1")]);
    world.state().registry[1].task_id = Some(id("T-1"));
    world.state().registry[1].held = Some("imported: it may be the only copy".into());
    let files = [("only.rs".to_owned(), "copy".to_owned())].into();
    world.state().slots.insert(slot("dispatch-2"), files);
    let end = release_slot(&world.ports(), &slot("dispatch-2"), false).unwrap();
    let Released::Freed { kept: Some(kept), .. } = end else { panic!("{end:?}") };
    let commit = world.state().repository.refs[&kept].clone();
    assert_eq!(world.state().repository.files(&commit)["only.rs"], "copy");
    assert!(world.state().registry[1].held.is_none());
}

/// M2: a request is only made where somebody will read it.
#[test]
fn m4_cancelling_while_a_pass_holds_the_lock_of_an_idle_task_asks_nobody() {
    let world = World::new(vec![task("T-1")]);
    let ports = world.ports();
    let TryLock::Taken(_lock) = ports.store.try_task_lock(&id("T-1")).unwrap() else { panic!() };
    let why = refused(cancel(&ports, &id("T-1"), &Status::ToDo));
    assert!(why.contains("nothing of it runs; try again"), "{why}");
    assert!(world.state().requests.is_empty());
}

/// M4: a close finishes; a person is told on what the status depends.
#[test]
fn m4_cancelling_in_a_close_says_that_it_finishes() {
    let world = started();
    world.state().records.get_mut(&id("T-1")).unwrap().phase = Phase::Closing(CloseStep::Checks);
    let kept = "refs/dispatch/attempts/T-1/1".to_owned();
    let end = cancel(&world.ports(), &id("T-1"), &Status::ToDo).unwrap();
    assert_eq!(end, Cancelled::Finishing { kept });
    assert_eq!(world.state().requests[&id("T-1")], Request::Cancel { to: Some(Status::ToDo) });
}

/// M4: only what is blocked is retried, with its reason shown.
#[test]
fn m4_a_blocked_task_is_queued_again_and_its_reason_shown() {
    let world = World::new(vec![task("T-1"), task("T-2")]);
    world.edit("T-1", |task| {
        task.status = Status::Blocked;
        task.comments = [("dispatch", "**Blocked: `checks-failed`**"), ("ana", "Use tabs.")]
            .map(|(author, body)| dispatch_core::task::Comment {
                index: 1,
                author: Some(author.to_owned()),
                created: None,
                body: body.to_owned(),
            })
            .into();
    });
    let retried = retry(&world.ports(), &id("T-1"), 3, false).unwrap();
    assert_eq!(retried.reason.as_deref(), Some("**Blocked: `checks-failed`**"));
    assert_eq!(world.status("T-1"), Status::Queued);
    let why = refused(retry(&world.ports(), &id("T-2"), 3, false));
    assert_eq!(why, "T-2 is Queued: only a Blocked task can be retried");
    let why = refused(retry(&world.ports(), &id("T-9"), 3, false));
    assert_eq!(why, "there is no task T-9 on the board");
}

/// M4: attempts that are used up are only set aside when that is asked for.
#[test]
fn m4_used_up_attempts_are_set_aside_only_when_asked() {
    let world = started();
    while world.supervise_next().is_some() {}
    world.edit("T-1", |task| task.status = Status::Blocked);
    let counts = AttemptCounts { counted: 3, ..AttemptCounts::default() };
    world.state().records.get_mut(&id("T-1")).unwrap().counts = counts;
    let why = refused(retry(&world.ports(), &id("T-1"), 3, false));
    assert!(why.contains("dispatch retry T-1 --reset-attempts"), "{why}");
    assert_eq!(world.status("T-1"), Status::Blocked);
    assert_eq!(retry(&world.ports(), &id("T-1"), 3, true).unwrap().archived, 1);
    assert_eq!(world.status("T-1"), Status::Queued);
    assert_eq!(world.record("T-1").counts, AttemptCounts::default());
}

/// D11.1: a task that waits since too many attempts were lost to faults goes on once a person retries it, with the
/// attempts that it has left.
#[test]
fn d11_1_a_retry_forgives_what_was_lost_to_faults() {
    let world = started();
    while world.supervise_next().is_some() {}
    world.edit("T-1", |task| task.status = Status::Queued);
    let counts = AttemptCounts { counted: 1, uncounted: 7, excused: 2 };
    world.state().records.get_mut(&id("T-1")).unwrap().counts = counts;
    assert!(world.lines(&setup()).iter().any(|line| line.contains("too-many-faults")));
    assert_eq!(retry(&world.ports(), &id("T-1"), 3, false).unwrap().archived, 0);
    assert_eq!(world.record("T-1").counts, AttemptCounts { excused: 7, ..counts });
    assert!(world.lines(&setup()).iter().any(|line| line.starts_with("T-1: dispatched")));
}

#[test]
fn m4_a_task_that_is_worked_on_is_not_retried() {
    let world = started();
    world.edit("T-1", |task| task.status = Status::Blocked);
    let why = refused(retry(&world.ports(), &id("T-1"), 3, true));
    assert!(why.starts_with("T-1 is worked on (pid "), "{why}");
}

/// What was pushed is nobody's to take back but a person's.
#[test]
fn m4_cancelling_a_proposed_task_says_what_stays_on_the_forge() {
    let world = World::new(vec![task("T-1")]);
    world.settle(&setup());
    let url = world.record("T-1").pr.unwrap().url;
    assert!(url.is_some());
    let cancelled = cancel(&world.ports(), &id("T-1"), &Status::ToDo).unwrap();
    assert_eq!(cancelled, Cancelled::StatusSet { proposed: url });
    assert_eq!(world.status("T-1"), Status::ToDo);
}
