use proptest::prelude::*;
use test_case::test_case;

use super::*;

fn resolve(text: &str) -> Result<TestCommand, Refusal> {
    resolve_test_command(text, &TestShapes::builtin())
}

/// P6.2: every documented shape.
#[test_case("pnpm test")]
#[test_case("pnpm --filter web test:unit")]
#[test_case("pnpm --filter=@scope/web run test:e2e src/a.test.ts")]
#[test_case("npm test")]
#[test_case("npm run test:unit -w web -- src/a.test.ts")]
#[test_case("npm --workspace=web test")]
#[test_case("yarn workspace web test src/a.test.ts src/b.test.ts")]
#[test_case("bun test src/a.test.ts")]
#[test_case("cargo test")]
#[test_case("cargo test --workspace")]
#[test_case("cargo test -p core --lib parser::tests")]
#[test_case("cargo test parser -p core --test main --bin tool")]
#[test_case("cargo nextest run -p core")]
#[test_case("pytest")]
#[test_case("pytest tests/test_a.py::TestA::test_b -k 'a and not b'")]
#[test_case("python -m pytest tests/unit")]
#[test_case("uv run pytest -k smoke tests")]
#[test_case("go test ./...")]
#[test_case("go test ./pkg/parse -run TestParse/empty")]
#[test_case("mvn -q test")]
#[test_case("./mvnw -pl core -Dtest=ParserTest test")]
#[test_case("gradle :core:test --tests com.example.ParserTest")]
#[test_case("./gradlew test")]
#[test_case("dotnet test tests/Core.Tests")]
#[test_case("make test")]
#[test_case("just test-unit")]
#[test_case("bundle exec rspec spec/a_spec.rb")]
#[test_case("mix test test/a_test.exs:12")]
#[test_case("deno test src/a_test.ts")]
#[test_case("phpunit --filter testA tests/ATest.php")]
#[test_case("ctest -R parser")]
fn p6_2_documented_shapes_resolve_to_their_words(text: &str) {
    let command = resolve(text).unwrap();
    assert_eq!(command.argv(), shlex::split(text).unwrap());
}

/// P6.1: what a shell would act on is refused before anything else is looked at.
#[test_case("", "empty"; "nothing")]
#[test_case("   ", "empty"; "blanks")]
#[test_case("'' test", "empty"; "an empty program")]
#[test_case("cargo test; rm -rf x", "shell-syntax"; "semicolon")]
#[test_case("cargo test | tee x", "shell-syntax"; "pipe")]
#[test_case("cargo test && id", "shell-syntax"; "and")]
#[test_case("cargo test > out", "shell-syntax"; "output")]
#[test_case("cargo test < in", "shell-syntax"; "input")]
#[test_case("cargo test $X", "shell-syntax"; "variable")]
#[test_case("cargo test `id`", "shell-syntax"; "back-ticks")]
#[test_case("(cargo test)", "shell-syntax"; "subshell")]
#[test_case("cargo test {a,b}", "shell-syntax"; "braces")]
#[test_case("cargo test\nid", "shell-syntax"; "newline")]
#[test_case("cargo test # x", "shell-syntax"; "comment")]
#[test_case("cargo test ~", "shell-syntax"; "home")]
#[test_case("! cargo test", "shell-syntax"; "negation")]
#[test_case("cargo test \\; id", "shell-syntax"; "backslash")]
#[test_case("cargo test \"$X\"", "expansion"; "variable in double quotes")]
#[test_case("cargo test \"`id`\"", "expansion"; "back-tick in double quotes")]
#[test_case("cargo test 'a", "unbalanced-quotes"; "single quote")]
#[test_case("cargo test \"a", "unbalanced-quotes"; "double quote")]
#[test_case("CI=1 cargo test", "assignment"; "assignment")]
#[test_case("pytest tests/*.py", "glob"; "star")]
#[test_case("pytest tests/a?.py", "glob"; "question mark")]
#[test_case("pytest tests/[ab].py", "glob"; "brackets")]
#[test_case("-rf test", "leading-dash"; "leading dash")]
#[test_case("cargo test \u{7}", "control-character"; "bell")]
#[test_case("cargo\ttest", "control-character"; "tab")]
#[test_case("cargo 'te\nst'", "control-character"; "newline in quotes")]
#[test_case("cargo test\u{a0}x", "control-character"; "no-break space")]
#[test_case("cargo \u{202e}test", "control-character"; "direction override")]
fn p6_1_shell_meaning_is_refused(text: &str, reason: &str) {
    assert_eq!(resolve(text).unwrap_err().reason.name(), reason);
}

/// P6.2, P6.4: a word outside the shape is named, with the shape.
#[test_case("cargo test --manifest-path ../x/Cargo.toml", "unknown-flag", "--manifest-path"; "foreign flag")]
#[test_case("cargo test -p", "incomplete", "-p"; "flag without value")]
#[test_case("cargo run", "unexpected-word", "run"; "another verb")]
#[test_case("pytest ../outside", "unexpected-word", "../outside"; "path outside")]
#[test_case("pytest /etc", "unexpected-word", "/etc"; "absolute path")]
#[test_case("pytest -p evil", "unknown-flag", "-p"; "plugin")]
#[test_case("pnpm --filter -x test", "unknown-flag", "-x"; "a flag as value")]
#[test_case("make install", "unexpected-word", "install"; "another target")]
#[test_case("bash -c test", "unknown-program", "bash"; "a shell")]
#[test_case("go test -exec sudo ./...", "unknown-flag", "-exec"; "exec flag")]
#[test_case("npm run build", "unexpected-word", "build"; "another script")]
#[test_case("pytest 'tests/(a) b.py'", "unexpected-word", "tests/(a) b.py"; "parentheses end a rule")]
#[test_case("pytest 'tests/*.py'", "unexpected-word", "tests/*.py"; "a star kills a prefix rule")]
fn p6_4_the_word_and_the_nearest_shape_are_named(text: &str, reason: &str, word: &str) {
    let refusal = resolve(text).unwrap_err();
    assert_eq!((refusal.reason.name(), refusal.word.as_str()), (reason, word));
    let program = text.split(' ').next().unwrap();
    let nearest = refusal.nearest.unwrap();
    assert!(program == "bash" || nearest.contains(program), "{nearest}");
}

#[test]
fn p6_1_more_than_64_words_or_4_kib_are_refused() {
    let words = |count: usize| vec!["a"; count].join(" ");
    assert!(resolve(&format!("pytest {}", words(63))).is_ok());
    let refusal = resolve(&format!("pytest {}", words(64))).unwrap_err();
    assert_eq!(refusal.reason, RefusalReason::TooManyWords);
    assert!(resolve(&format!("pytest {}", "a".repeat(4089))).is_ok());
    let refusal = resolve(&format!("pytest {}", "a".repeat(4090))).unwrap_err();
    assert_eq!(refusal.reason, RefusalReason::TooLong);
}

/// N58, P6.3: the granted text is the text the worker is told to run.
#[test]
fn p6_3_words_with_blanks_are_quoted_again() {
    let command = resolve("pytest 'my tests/a.py' -k 'a and b'").unwrap();
    assert_eq!(command.rule(), "Bash(pytest \"my tests/a.py\" -k \"a and b\":*)");
}

#[test]
fn p6_2_configured_shapes_admit_names_and_paths() {
    let shape = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
    let shapes = TestShapes::with(&[shape(&["task", "check", "{name}", "{path...}"])]).unwrap();
    for text in ["task check web", "task check web a/b.ts c.ts"] {
        assert!(resolve_test_command(text, &shapes).is_ok(), "{text}");
    }
    for text in ["task check", "task check web --fix", "task check web ../a", "task check -x"] {
        assert!(resolve_test_command(text, &shapes).is_err(), "{text}");
    }
    for words in [&[][..], &["{name}"], &["x", "{any}"], &["x", "a b"], &["x", "$HOME"]] {
        assert!(TestShapes::with(&[shape(words)]).is_err(), "{words:?}");
    }
}

/// K6: `inspect test-command` prints these.
#[test]
fn k6_the_answer_as_json() {
    let answer = |text| match resolve(text) {
        Ok(command) => serde_json::to_string(&command).unwrap(),
        Err(refusal) => serde_json::to_string(&refusal).unwrap(),
    };
    insta::assert_snapshot!(answer("go test ./..."), @r#"{"argv":["go","test","./..."]}"#);
    insta::assert_snapshot!(answer("mix tset"), @r#"{"refused":"unexpected-word","word":"tset","nearest":"mix test [{path}...]"}"#);
}

#[test]
fn p6_4_a_refusal_reads_as_a_sentence() {
    let refusal = resolve("cargo tset").unwrap_err();
    insta::assert_snapshot!(refusal, @"`tset` is not allowed here; the nearest allowed shape is `cargo test [-p {name}] [--package {name}] [--test {name}] [--bin {name}] [--lib|--workspace] [{name}] [-p {name}] [--package {name}] [--test {name}] [--bin {name}] [--lib|--workspace]`");
}

proptest! {
    /// N57: any text is resolved or refused; what is resolved survives being granted and read again.
    #[test]
    fn p6_3_what_is_granted_reads_back_as_the_same_words(
        text in "(cargo|pytest|pnpm|go) (test|run)?( [ -~]{0,12}){0,4}"
    ) {
        if let Ok(command) = resolve(&text) {
            prop_assert_eq!(shlex::split(&command.text()).unwrap(), command.argv());
            prop_assert_eq!(resolve(&command.text()).unwrap(), command);
        }
    }

    /// Q1.7: no text makes it panic.
    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        let _answer = resolve(&text);
    }
}

/// P6.4: a program of nobody's is told with the known ones and with what would allow it.
#[test]
fn an_unknown_program_is_told_with_what_would_allow_it() {
    let shapes = TestShapes::with(&[vec!["sh".to_owned(), "all.sh".to_owned()]]).unwrap();
    let told = resolve_test_command("bats -r tests", &shapes).unwrap_err().to_string();
    assert!(told.starts_with("`bats` is no known test program; known are ./gradlew, "), "{told}");
    assert!(told.contains(" pytest, ") && told.contains(" sh, "), "{told}");
    assert!(told.ends_with(r#"with `"testCommands": [["bats","-r","tests"]]`"#), "{told}");
    let one_of_ours = resolve_test_command("sh other.sh", &shapes).unwrap_err().to_string();
    assert!(one_of_ours.contains("nearest allowed shape is `sh all.sh`"), "{one_of_ours}");
}

/// The page for people lists every shape there is.
#[test]
fn the_documentation_lists_every_built_in_shape() {
    let page = include_str!("../../../../docs/test-commands.md");
    let listed: Vec<&str> = page
        .split_once("```text\n")
        .and_then(|(_, rest)| rest.split_once("```"))
        .map(|(block, _)| block.lines().collect())
        .unwrap_or_default();
    let shapes: Vec<String> = TestShapes::builtin().iter().map(ToString::to_string).collect();
    assert_eq!(listed, shapes);
}
