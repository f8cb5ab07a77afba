use dispatch_core::attempt::AttemptNumber;
use dispatch_core::message::english_in;
use dispatch_core::task::Task;
use proptest::prelude::*;

use super::*;
use crate::testing::task;

static NONE: Listed = Listed { items: Vec::new(), more: 0 };

fn facts<'a>(task: &'a Task, human_review: &'a Listed, files: &'a Listed) -> BodyFacts<'a> {
    BodyFacts {
        task,
        attempt: Ordinal { number: AttemptNumber::FIRST, counted: 1, counts: true, of: 3 },
        language: Language::En,
        files,
        test: Some("cargo test -p slug"),
        review: None,
        conflicts: &NONE,
        remarks: &[],
        human_review,
        log: ".dispatch/T-5/attempt-1",
    }
}

fn finished(summary: &str) -> Task {
    let mut task = task();
    task.final_summary = summary.to_owned();
    task
}

#[test]
fn c9_2_a_body_says_what_was_asked_what_changed_and_how_it_was_proved() {
    let task = finished("Adds `slug()`.\nFixes #7, see @octocat");
    let files = ["src/slug.rs", "Cargo.lock"].into_iter().collect();
    let review = ["human-review: Cargo.lock (`Cargo.lock`)"].into_iter().collect();
    let body = Body::new(&facts(&task, &review, &files)).render();
    insta::assert_snapshot!(body.replace('\u{2060}', "·"), @r"
    <!-- dispatch:begin -->
    ## Summary

    ```text
    Adds `slug()`.
    Fixes #·7, see @·octocat
    ```

    ## Acceptance criteria

    - [x] slugs are lower-case
    - [x] blanks become hyphens

    ## Files changed (2)

    ```text
    src/slug.rs
    Cargo.lock
    ```

    ## Checks

    `cargo test -p slug` — passed

    Task T-5, attempt 1 of 3, made by dispatch. Logs: `.dispatch/T-5/attempt-1`
    <!-- dispatch:end -->

    <!-- dispatch:human-review:begin -->
    ### For a person to look at

    These files are allowed, but a person should look at them:

    ```text
    human-review: Cargo.lock (`Cargo.lock`)
    ```
    <!-- dispatch:human-review:end -->
    ");
}

#[test]
fn n32_n63_c9_3_on_reuse_a_persons_text_stays_and_only_our_sections_change() {
    let task = finished("First.");
    let old = Body::new(&facts(&task, &NONE, &NONE)).render();
    let edited = format!("A person's words above.\r\n\r\n{old}\n\nAnd below.");
    let task = finished("Second.");
    let review = ["human-review: Cargo.lock"].into_iter().collect();
    let merged = merge_body(&edited, &Body::new(&facts(&task, &review, &NONE)));
    assert!(merged.starts_with("A person's words above.\n\n<!-- dispatch:begin -->"));
    assert!(merged.contains("-->\n\nAnd below."));
    assert!(merged.contains("Second.") && !merged.contains("First."));
    assert!(merged.ends_with("<!-- dispatch:human-review:end -->"));

    let gone = merge_body(&merged, &Body::new(&facts(&task, &NONE, &NONE)));
    assert!(!gone.contains("human-review:begin") && gone.contains("And below."));
}

/// C9.2: however much a worker wrote, what was proved and how stays in the body.
#[test]
fn c9_2_a_workers_text_pushes_nothing_out() {
    let task = finished(&"all is well\n".repeat(6000));
    let names: Listed = (0..300).map(|number| format!("{number}{}", "x".repeat(4000))).collect();
    let remarks = [
        Remark::new(RemarkKind::Unconfined),
        Remark { kind: RemarkKind::NotFormatted, files: names.clone() },
    ];
    let review = format!("approve\n{}", "well done\n".repeat(6000));
    let facts = BodyFacts {
        review: Some(&review),
        remarks: &remarks,
        conflicts: &names,
        ..facts(&task, &names, &names)
    };
    let body = Body::new(&facts).render();
    assert!(chars(&body) <= BODY_LIMIT, "{}", chars(&body));
    for part in [
        "- [x] slugs are lower-case",
        "## Files changed (300)",
        "`cargo test -p slug` — passed",
        "## Reviewer\n\n```text\napprove\n",
        "## Conflicts with the base",
        "The worker ran without kernel confinement.",
        "No formatter covers:",
        "Task T-5, attempt 1 of 3",
        "### For a person to look at",
    ] {
        assert!(body.contains(part), "{part}: {}", &body[body.len() - 3000..]);
    }
}

/// C9.2: a file's name is a worker's text wherever it stands.
#[test]
fn c9_2_a_files_name_acts_nowhere() {
    let task = finished("Done.");
    let names: Listed = ["closes #12 @org/team.txt"].into_iter().collect();
    let remarks = [Remark { kind: RemarkKind::NotFormatted, files: names.clone() }];
    let facts = BodyFacts { remarks: &remarks, conflicts: &names, ..facts(&task, &names, &names) };
    let body = Body::new(&facts).render();
    assert!(!body.contains("#12") && !body.contains("@org"), "{body}");
    assert_eq!(body.matches("```text\ncloses #").count(), 4, "{body}");
}

#[test]
fn c9_2_title_is_one_line_of_at_most_200_characters() {
    let id = TaskId::parse("T-5").unwrap();
    assert_eq!(title(&id, "Add\na slug"), "[T-5] Add a slug");
    assert_eq!(title(&id, &"é".repeat(300)).chars().count(), TITLE_LIMIT);
}

#[test]
fn c9_2_a_body_is_cut_below_the_forges_limit_with_the_cut_marked() {
    let task = finished(&"long line of words\n".repeat(8000));
    let review: Listed = (0..9000).map(|n| format!("human-review: f{n}")).collect();
    let body =
        merge_body(&"a person's essay\n".repeat(1000), &Body::new(&facts(&task, &review, &review)));
    assert!(chars(&body) <= BODY_LIMIT, "{}", chars(&body));
    assert!(body.contains("[cut: ") && body.contains("<!-- dispatch:end -->"));
    assert_eq!(body.matches("a person's essay").count(), 1000);
}

/// K3: our words around a worker's are the board's language.
#[test]
fn k3_a_spanish_body_holds_no_english_outside_what_is_quoted() {
    assert_eq!((BodyWord::faults(), RemarkKind::faults()), (Vec::new(), Vec::new()));
    let mut task = finished("It is done.");
    task.acceptance.clear();
    let names: Listed = (0..400).map(|number| format!("the file {number}")).collect();
    let remarks: Vec<Remark> =
        RemarkKind::ALL.iter().map(|kind| Remark { kind: *kind, files: names.clone() }).collect();
    for test in [None, Some("cargo test")] {
        let facts = BodyFacts {
            language: Language::Es,
            test,
            review: Some("approve: it is good"),
            conflicts: &names,
            remarks: &remarks,
            ..facts(&task, &names, &names)
        };
        let body = Body::new(&facts).render();
        let ours = body.split("```").step_by(2).collect::<Vec<_>>().join(" ");
        let ours = ours.replace("dispatch:human-review", " ");
        assert_eq!(english_in(&ours), Vec::<String>::new(), "{body}");
        assert!(body.contains("## Ficheros cambiados (400)") && body.contains("… y "), "{body}");
    }
}

proptest! {
    /// C9.3: whatever a person wrote around our sections and whatever a worker wrote inside them, replacing them
    /// again changes nothing else, and doing it twice is doing it once.
    #[test]
    fn merging_is_idempotent_and_keeps_every_other_line(
        above in "[a-z #<>!`\\-\\n]{0,80}",
        below in "[a-z #<>!`\\-\\n]{0,80}",
        summary in "([a-z@#/`<>! \\n]|<!-- dispatch:(human-review:)?(begin|end) -->){0,40}",
        again in "[a-z\\n`]{0,40}",
    ) {
        let first = Body::new(&facts(&finished(&summary), &NONE, &NONE)).render();
        let current = format!("{above}\n{first}\n{below}");
        let task = finished(&again);
        let next = Body::new(&facts(&task, &NONE, &NONE));
        let merged = merge_body(&current, &next);
        let before = format!("{above}\n<!-- dispatch:begin -->");
        prop_assert!(merged.starts_with(&before), "{:?}", merged);
        let after = format!("<!-- dispatch:end -->\n{below}");
        prop_assert!(merged.ends_with(&after), "{:?}", merged);
        prop_assert_eq!(merge_body(&merged, &next), merged);
    }
}
