use super::*;

fn commit(digit: char) -> CommitId {
    CommitId::parse(&digit.to_string().repeat(40)).unwrap()
}

fn comment<'a>(
    disposition: &'a Disposition,
    detail: &'a Detail,
    saved: Saved<'a>,
) -> EndComment<'a> {
    EndComment {
        disposition,
        detail,
        attempt: AttemptNumber::FIRST.next(),
        of: 3,
        saved,
        files: &[],
        denials: &[],
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
        about: "2 ficheros:".to_owned(),
        items: vec!["out-of-scope: src/b.rs".to_owned(), "forbidden: .git`x".to_owned()],
    };
    insta::assert_snapshot!(end_comment(Language::Es, &comment(&disposition, &detail, Saved::Nothing)), @r"
    **Bloqueada: `scope-check-failed`** (intento 2 de 3)

    El intento cambió ficheros que no puede cambiar.

    2 ficheros:

    ```text
    out-of-scope: src/b.rs
    forbidden: .git`x
    ```

    No había trabajo que guardar.

    Registros: `.dispatch/T-5/attempt-2`

    Qué hacer ahora: mira los puntos de arriba, di en un comentario qué debe cambiar y mueve la tarea a Queued.
    ");
}

#[test]
fn c3_5_files_and_denials_are_listed_at_most_fifty_each() {
    let disposition = Disposition::Block(BlockReason::ChecksFailed);
    let detail = Detail::Output {
        about: "`cargo test` ended with exit status 101".to_owned(),
        tail: "boom".to_owned(),
    };
    let files: Vec<String> = (0..60).map(|n| format!("human-review: f{n}")).collect();
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
    let names: Vec<String> =
        (0..50).map(|number| format!("{number}{}", "x".repeat(4000))).collect();
    let output = Detail::Output { about: "a\n".repeat(20_000), tail: "b\n".repeat(20_000) };
    for detail in [
        Detail::Question("Which? ".repeat(40_000)),
        Detail::Question("`\n".repeat(40_000)),
        Detail::Words("why\n".repeat(40_000)),
        Detail::List { about: "Changed:".to_owned(), items: names.clone() },
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
