use dispatch_core::attempt::AttemptNumber;
use dispatch_core::message::english_in;

use super::*;
use crate::phrase::Said;
use crate::pull_request::RemarkKind;

static NONE: Listed = Listed { items: Vec::new(), more: 0 };

/// The third attempt, of which two counted.
const THIRD: Ordinal = Ordinal { number: THREE, counted: 2, counts: true, of: 3 };
const THREE: AttemptNumber = AttemptNumber::FIRST.next().next();

fn id() -> &'static TaskId {
    static ID: std::sync::OnceLock<TaskId> = std::sync::OnceLock::new();
    ID.get_or_init(|| TaskId::parse("T-5").unwrap())
}

fn commit(digit: char) -> CommitId {
    CommitId::parse(&digit.to_string().repeat(40)).unwrap()
}

fn comment<'a>(
    disposition: &'a Disposition,
    detail: &'a Detail,
    saved: Saved<'a>,
) -> EndComment<'a> {
    EndComment {
        task: id(),
        disposition,
        detail,
        attempt: Ordinal { number: AttemptNumber::FIRST.next(), counted: 2, counts: true, of: 3 },
        saved,
        files: &NONE,
        left_out: &NONE,
        denials: &NONE,
        log: ".dispatch/T-5/attempt-2",
    }
}

#[test]
fn n50_c10_2_a_block_comment_holds_the_question_the_place_of_the_work_and_what_to_do() {
    let (kept, base) = (commit('a'), commit('b'));
    let disposition = Disposition::Block(BlockReason::NeedsGuidance);
    let detail = Detail::Question("Which slug rule?\n---\nUnicode or ASCII?".to_owned());
    let saved = Saved::Kept { name: "refs/dispatch/attempts/T-5/2", commit: &kept, base: &base };
    insta::assert_snapshot!(end_comment(Language::En, &comment(&disposition, &detail, saved)), @r"
    **Blocked: `needs-guidance`** (attempt 2 of 3)

    The worker asks for guidance.

    The question, in the worker's words:

    ```text
    Which slug rule?
        \---
    Unicode or ASCII?
    ```

    The work is kept as: `refs/dispatch/attempts/T-5/2` (aaaaaaaaaa). To look at it: `git diff bbbbbbbbbb aaaaaaaaaa`

    Logs: `.dispatch/T-5/attempt-2`

    What to do next: answer in a comment and move the task to Queued.
    ");
}

#[test]
fn c10_2_comments_come_in_spanish_too() {
    let disposition = Disposition::Block(BlockReason::ScopeCheckFailed);
    let detail = Detail::List {
        about: Said::Files.phrase(&[("count", &2)]),
        items: ["out-of-scope: src/b.rs", "forbidden: .git`x"].into_iter().collect(),
    };
    insta::assert_snapshot!(end_comment(Language::Es, &comment(&disposition, &detail, Saved::Nothing { from: None })), @r"
    **Bloqueada: `scope-check-failed`** (intento 2 de 3)

    El intento cambió ficheros que no puede cambiar.

    2 ficheros:

    ```text
    out-of-scope: src/b.rs
    forbidden: .git`x
    ```

    No había trabajo que guardar.

    Registros: `.dispatch/T-5/attempt-2`

    Qué hacer ahora: mire los puntos de arriba, diga en un comentario qué debe cambiar y mueva la tarea a Queued.
    ");
}

#[test]
fn c3_5_files_and_denials_are_listed_at_most_fifty_each() {
    let disposition = Disposition::Block(BlockReason::ChecksFailed);
    let detail = Detail::Output {
        about: Said::ExitCode.phrase(&[("name", &"cargo test"), ("code", &101)]),
        tail: "boom".to_owned(),
    };
    let files: Listed = (0..60).map(|n| format!("human-review: f{n}")).collect();
    let comment = EndComment {
        files: &files,
        ..comment(&disposition, &detail, Saved::Held { path: "/slots/s-1" })
    };
    let text = end_comment(Language::En, &comment);
    assert!(text.contains("f49\n… +10\n") && !text.contains("f50"), "{text}");
    assert!(text.contains("```text\nboom\n```"));
    assert!(text.contains("`/slots/s-1`"));
}

#[test]
fn every_reason_has_a_sentence_in_both_languages() {
    for reason in BlockReason::ALL {
        let (english, spanish) = (
            words::block_sentence(Language::En, *reason),
            words::block_sentence(Language::Es, *reason),
        );
        assert!(english.ends_with('.') && spanish.ends_with('.') && english != spanish, "{reason}");
    }
}

/// C10.2: however much a worker wrote, a person learns where the work is and what to do.
#[test]
fn c10_2_no_question_and_no_list_pushes_out_the_place_of_the_work_and_what_to_do() {
    let (kept, base) = (commit('a'), commit('b'));
    let disposition = Disposition::Block(BlockReason::NeedsGuidance);
    let saved = Saved::Kept { name: "refs/dispatch/attempts/T-5/2", commit: &kept, base: &base };
    let names: Listed = (0..50).map(|number| format!("{number}{}", "x".repeat(4000))).collect();
    let about = Said::ExitCode.phrase(&[("name", &"a\n".repeat(20_000)), ("code", &1)]);
    let output = Detail::Output { about, tail: "b\n".repeat(20_000) };
    for detail in [
        Detail::Question("Which? ".repeat(40_000)),
        Detail::Question("`\n".repeat(40_000)),
        Detail::Error("why\n".repeat(40_000)),
        Detail::List { about: Said::ChangedByChecks.phrase(&[]), items: names.clone() },
        output,
    ] {
        let comment =
            EndComment { files: &names, denials: &names, ..comment(&disposition, &detail, saved) };
        let text = end_comment(Language::En, &comment);
        for part in [
            "**Blocked: `needs-guidance`**",
            "refs/dispatch/attempts/T-5/2",
            "`git diff bbbbbbbbbb aaaaaaaaaa`",
            "Logs: `.dispatch/T-5/attempt-2`",
            "What to do next: answer in a comment and move the task to Queued.",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(text.contains("[cut: ") || text.contains("… +"), "{text}");
    }
}

/// K3: whatever happened, a Spanish board is told of it in Spanish: only what programs and workers said is as they said it.
#[test]
fn k3_a_spanish_comment_holds_no_english_outside_what_is_quoted() {
    let items: Listed = ["the file: it is not here"].into_iter().collect();
    let values: [(&str, &dyn std::fmt::Display); 9] = [
        ("name", &"x"),
        ("code", &1),
        ("signal", &9),
        ("minutes", &2),
        ("count", &3),
        ("bytes", &4),
        ("limit", &5),
        ("branch", &"b"),
        ("base", &"c"),
    ];
    let mut details = vec![
        Detail::Nothing,
        Detail::Error("could not do it".to_owned()),
        Detail::Question("what is it for?".to_owned()),
    ];
    for said in Said::ALL {
        let about = said.phrase(&values);
        details.push(Detail::Words(about.clone()));
        details.push(Detail::Output { about: about.clone(), tail: "it is broken".to_owned() });
        details.push(Detail::List { about, items: items.clone() });
    }
    let (kept, base) = (commit('a'), commit('b'));
    let places = [
        Saved::Nothing { from: None },
        Saved::Nothing { from: Some("refs/of/the/work") },
        Saved::Kept { name: "refs/of/the/work", commit: &kept, base: &base },
        Saved::Held { path: "/the/slot" },
    ];
    let mut dispositions: Vec<Disposition> =
        BlockReason::ALL.iter().map(|reason| Disposition::Block(*reason)).collect();
    dispositions.push(Disposition::Leave { to: None });
    dispositions.extend(every_requeue().map(Disposition::Requeue));
    for disposition in &dispositions {
        for (detail, saved) in details.iter().zip(places.iter().cycle()) {
            for attempt in [THIRD, Ordinal { counted: 3, ..THIRD }] {
                let comment = EndComment {
                    attempt,
                    files: &items,
                    left_out: &items,
                    denials: &items,
                    ..comment(disposition, detail, *saved)
                };
                spanish(&end_comment(Language::Es, &comment));
            }
        }
    }
    let remarks: Vec<Remark> =
        RemarkKind::ALL.iter().map(|kind| Remark { kind: *kind, files: items.clone() }).collect();
    for place in [Said::ProposedBranch, Said::ProposedTurned] {
        spanish(&proposed_comment(Language::Es, THIRD, &place.phrase(&values), &remarks, "a/log"));
    }
}

fn every_requeue() -> impl Iterator<Item = RequeueReason> {
    use dispatch_core::names::PauseCause;
    [
        RequeueReason::TaskEdited,
        RequeueReason::Interrupted,
        RequeueReason::RemoteMoved,
        RequeueReason::WorkerLost,
        RequeueReason::SupervisorLost,
        RequeueReason::HardLinkOutside,
        RequeueReason::BoardUnreadable,
        RequeueReason::ProvisionFailed,
        RequeueReason::SettingsDrift,
    ]
    .into_iter()
    .chain(PauseCause::ALL.iter().map(|cause| RequeueReason::Paused(*cause)))
}

fn spanish(text: &str) {
    let unfenced: String = text.split("```").step_by(2).collect::<Vec<_>>().join(" ");
    assert_eq!(english_in(&unfenced), Vec::<String>::new(), "{text}");
}

/// After the last attempt nothing starts by a move alone, and the earlier work is not forgotten.
#[test]
fn c10_2_after_the_last_attempt_a_person_is_told_what_helps_and_where_the_earlier_work_is() {
    let disposition = Disposition::Block(BlockReason::ChecksFailed);
    let from = Some("refs/dispatch/attempts/T-5/2");
    let end = EndComment {
        attempt: Ordinal { number: THREE.next(), counted: 3, counts: true, of: 3 },
        ..comment(&disposition, &Detail::Nothing, Saved::Nothing { from })
    };
    insta::assert_snapshot!(end_comment(Language::En, &end), @r"
    **Blocked: `checks-failed`** (attempt 4 (3 of 3 counted))

    A check failed.

    There was no work to save. The earlier work that it went on from is kept as: `refs/dispatch/attempts/T-5/2`

    Logs: `.dispatch/T-5/attempt-2`

    No attempt is left. What to do next: say in a comment what should be different and run `dispatch retry T-5 --reset-attempts`, or give the work to a new task; moving this one to Queued alone starts nothing.
    ");
}

/// C9.6: without a pull request the comment is where a person learns what to look at.
#[test]
fn c9_6_a_proposal_without_a_pull_request_says_what_weakens_its_proof() {
    let place = Said::ProposedBranch.phrase(&[("branch", &"task/T-5"), ("base", &"main")]);
    let remarks = [
        Remark { kind: RemarkKind::Undeclared, files: ["extra.txt"].into_iter().collect() },
        Remark::new(RemarkKind::Unconfined),
    ];
    insta::assert_snapshot!(proposed_comment(Language::En, THIRD, &place, &remarks, "a/log"), @r"
    **Proposed**: branch `task/T-5` for `main`

    Changed although the task does not declare them:

    ```text
    extra.txt
    ```

    The worker ran without kernel confinement.

    attempt 3 (2 of 3 counted). Logs: `a/log`
    ");
}
