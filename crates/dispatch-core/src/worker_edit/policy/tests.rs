use proptest::prelude::*;
use test_case::test_case;

use super::*;

fn judge(words: &[&str]) -> Result<Request, Refused> {
    let argv: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    Draft::parse(&argv, Some("T-5.1"), &BTreeSet::from([7]))?.with_stdin("from standard input")
}

fn rule_of(words: &[&str]) -> PolicyRule {
    judge(words).unwrap_err().rule
}

#[test]
fn w1_2_every_allowed_edit_is_understood_in_both_forms() {
    let request = judge(&[
        "T-5.1",
        "--plan=--first",
        "--append-plan",
        "-- [x",
        "--notes",
        "- did it",
        "--append-notes=a=b",
        "--final-summary",
        "-",
        "--append-final-summary",
        "more",
        "--comment",
        "one",
        "--comment",
        "two",
        "--check-ac=1",
        "--uncheck-ac",
        "2",
        "--check-dod",
        "3",
        "--uncheck-dod",
        "4",
    ]);
    // A word that begins with two hyphens is no value.
    assert_eq!(request.unwrap_err().rule, PolicyRule::OwnTask);
    let text = |text: &str| text.to_owned();
    assert_eq!(
        judge(&[
            "t-05.1",
            "--plan=--first",
            "--notes",
            "- did it",
            "--append-notes=a=b",
            "--final-summary",
            "-",
            "--comment",
            "one",
            "--comment",
            "two",
            "--check-ac=1",
            "--uncheck-dod",
            "4",
        ]),
        Ok(Request::Edits(vec![
            WorkerEdit::Replace { section: Section::Plan, text: text("--first") },
            WorkerEdit::Replace { section: Section::Notes, text: text("- did it") },
            WorkerEdit::Append { section: Section::Notes, text: text("a=b") },
            WorkerEdit::Replace {
                section: Section::FinalSummary,
                text: text("from standard input")
            },
            WorkerEdit::Comment { text: text("one") },
            WorkerEdit::Comment { text: text("two") },
            WorkerEdit::Check { list: Checklist::Acceptance, index: 1, checked: true },
            WorkerEdit::Check { list: Checklist::DefinitionOfDone, index: 4, checked: false },
        ]))
    );
    assert_eq!(judge(&["T-5.1", "--view"]), Ok(Request::View));
}

#[test_case(&[]; "no id")]
#[test_case(&["T-5"]; "another task")]
#[test_case(&["T-5.1,T-6", "--view"]; "a list of tasks")]
#[test_case(&["--view", "T-5.1"]; "the id not first")]
#[test_case(&["T-5.1", "--check-ac", "1", "2"]; "a word without a flag")]
#[test_case(&["T-5.1", "T-5.1", "--view"]; "a second id")]
#[test_case(&["T-5.1", "--notes"]; "no value")]
#[test_case(&["T-5.1", "--notes", "--plan"]; "a flag for a value")]
#[test_case(&["T-5.1", "--view=yes"]; "a value for a flag without one")]
fn w1_1_what_is_not_understood_is_refused(words: &[&str]) {
    assert_eq!(rule_of(words), PolicyRule::OwnTask);
}

/// N16.
#[test_case(&["T-5.1"]; "nothing to do")]
#[test_case(&["T-5.1", "--view", "--notes", "x"]; "view and edit")]
#[test_case(&["T-5.1", "--status", "Done"]; "status")]
#[test_case(&["T-5.1", "-s", "Done"]; "status, short")]
#[test_case(&["T-5.1", "--title=x"]; "title")]
#[test_case(&["T-5.1", "--note", "x"]; "an abbreviation")]
#[test_case(&["T-5.1", "--NOTES", "x"]; "another letter case")]
#[test_case(&["T-5.1", "--ac", "x"]; "a criterion")]
#[test_case(&["T-5.1", "--remove-ac", "1"]; "removing")]
#[test_case(&["T-5.1", "--comment-author", "dispatch"]; "an author")]
#[test_case(&["T-5.1", "--", "--view"]; "the end of flags")]
#[test_case(&["T-5.1", "-"]; "a lone hyphen")]
#[test_case(&["T-5.1", "--check-dod", "7"]; "an item the dispatcher owns")]
#[test_case(&["T-5.1", "--uncheck-dod=7"]; "unticking it")]
#[test_case(&["T-5.1", "--check-ac", "1", "--uncheck-ac", "1"]; "a contradiction")]
#[test_case(&["T-5.1", "--notes=x", "--notes=y"]; "twice the same section")]
#[test_case(&["T-5.1", "--notes", "-", "--plan", "-"]; "standard input twice")]
fn w1_2_everything_else_is_refused(words: &[&str]) {
    assert_eq!(rule_of(words), PolicyRule::AllowedEdits);
}

#[test_case("0"; "zero")]
#[test_case("01"; "a leading zero")]
#[test_case("1,2"; "a list")]
#[test_case("1.5"; "a fraction")]
#[test_case("2abc"; "letters behind")]
#[test_case("+1"; "a sign")]
#[test_case("-1"; "negative")]
#[test_case(" 1"; "a blank")]
#[test_case(""; "empty")]
#[test_case("١"; "a digit outside ASCII")]
#[test_case("99999999999"; "too large")]
fn w1_3_numbers_are_plain(text: &str) {
    assert_eq!(rule_of(&["T-5.1", "--check-ac", text]), PolicyRule::Texts);
}

#[test]
fn w1_1_without_the_variable_everything_is_refused() {
    for task in [None, Some(""), Some("../x")] {
        let refused =
            Draft::parse(&["T-5".into(), "--view".into()], task, &BTreeSet::new()).unwrap_err();
        assert_eq!(refused.rule, PolicyRule::OwnTask);
    }
}

#[test]
fn w1_4_a_refusal_names_the_rule_and_what_is_allowed() {
    let refused = judge(&["T-5.1", "--status=Done"]).unwrap_err().to_string();
    assert_eq!(
        refused,
        format!(
            "refused by policy (allowed-edits): `--status` is not allowed; allowed are {ALLOWED}"
        )
    );
    assert!(FLAGS.iter().all(|(flag, _)| ALLOWED.contains(flag)));
}

#[test]
fn texts_from_standard_input_are_judged_too() {
    let draft =
        Draft::parse(&["T-5".into(), "--comment=-".into()], Some("T-5"), &BTreeSet::new()).unwrap();
    assert!(draft.reads_stdin());
    assert_eq!(draft.with_stdin("a\n---\nb").unwrap_err().rule, PolicyRule::Texts);
}

fn arb_word() -> impl Strategy<Value = String> {
    let flags: Vec<String> = FLAGS.iter().map(|(flag, _)| (*flag).to_owned()).collect();
    prop_oneof![
        4 => prop::sample::select(flags.clone()),
        2 => (prop::sample::select(flags), "[ -~]{0,6}").prop_map(|(f, v)| format!("{f}={v}")),
        2 => prop::sample::select(vec!["1", "2", "-", "text", "T-5", "--status", "T-6", "--"])
            .prop_map(str::to_owned),
        1 => "(?s).{0,12}",
    ]
}

proptest! {
    /// W1.5, as far as no board is needed: an accepted argument vector holds nothing but the task and the pairs
    /// of flag and value that its request is made of.
    #[test]
    fn w1_5_an_accepted_argv_is_exactly_its_request(words in prop::collection::vec(arb_word(), 0..7)) {
        let mut argv = vec!["T-5".to_owned()];
        argv.extend(words);
        let Ok(draft) = Draft::parse(&argv, Some("T-5"), &BTreeSet::new()) else { return Ok(()) };
        let Ok(request) = draft.with_stdin("<stdin>") else { return Ok(()) };
        let printed: Vec<String> = match &request {
            Request::View => vec!["--view".to_owned()],
            Request::Edits(edits) => edits.iter().map(print).collect(),
        };
        // The same words, every value attached to its flag.
        let mut joined = Vec::new();
        let mut rest = argv[1..].iter();
        while let Some(word) = rest.next() {
            let pair = if word == "--view" { None } else { Some(word.split_once('=')) };
            joined.push(match pair {
                None => word.clone(),
                Some(pair) => {
                    let (flag, value) = pair.unwrap_or_else(|| (word, rest.next().unwrap()));
                    format!("{flag}={}", if value == "-" { "<stdin>" } else { value })
                }
            });
        }
        if request == Request::View {
            joined.dedup();
        }
        prop_assert_eq!(printed, joined);
    }
}

fn print(edit: &WorkerEdit) -> String {
    let name = |section: &Section| match section {
        Section::Plan => "plan",
        Section::Notes => "notes",
        Section::FinalSummary => "final-summary",
    };
    match edit {
        WorkerEdit::Replace { section, text } => format!("--{}={text}", name(section)),
        WorkerEdit::Append { section, text } => format!("--append-{}={text}", name(section)),
        WorkerEdit::Comment { text } => format!("--comment={text}"),
        WorkerEdit::Check { list, index, checked } => format!(
            "--{}check-{}={index}",
            if *checked { "" } else { "un" },
            match list {
                Checklist::Acceptance => "ac",
                Checklist::DefinitionOfDone => "dod",
            }
        ),
    }
}
