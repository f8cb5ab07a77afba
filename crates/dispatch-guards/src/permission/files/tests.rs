use test_case::test_case;

use super::*;

/// P2.2: patterns are read like lines of an ignore file, letter case aside.
#[test_case("a", &["a", "a/b", "x/a", "x/a/b", "A"], &["ab", "ba"]; "a name at any depth, and what it holds")]
#[test_case("/a", &["a", "a/b"], &["x/a"]; "a slash before it anchors")]
#[test_case("a/b", &["a/b", "a/b/c"], &["x/a/b", "a"]; "a slash inside anchors")]
#[test_case("a/**", &["a/b", "x/a/b", "a"], &["ab"]; "everything below a folder is the folder")]
#[test_case("a/", &["a", "x/a/b"], &["ab"]; "a slash behind it changes nothing")]
#[test_case("/a/**/b", &["a/b", "a/x/b", "a/x/y/b"], &["b", "a/xb"]; "stars for any folders")]
#[test_case("/**", &["a", "a/b"], &[]; "everything")]
#[test_case("*.rs", &["a.rs", "x/.rs"], &["a.rsx", "ars"]; "a star takes any text, also none")]
#[test_case("/*/b", &["a/b"], &["b", "a/x/b"]; "a star takes no slash")]
#[test_case("a?", &["ab", "x/ac"], &["a", "abc"]; "a question mark takes one character")]
#[test_case("/a?b", &["axb"], &["a/b"]; "a question mark takes no slash")]
#[test_case("a[12]b", &["a1b", "a2b"], &["ab", "a3b", "a12b"]; "a bracket takes one of its characters")]
#[test_case("[xa-cz]", &["x", "a", "b", "c", "z"], &["-", "d", "y"]; "a range stands between its ends")]
#[test_case("[a-]", &["a", "-"], &["b"]; "a dash at the end is a dash")]
#[test_case("[!a-c]", &["d", "!"], &["a", "b", "c"]; "an exclamation mark turns it round")]
#[test_case("[^a]", &["b", "^"], &["a"]; "so does a circumflex")]
#[test_case("a[b", &["a[b"], &["ab"]; "a bracket that nothing closes is itself")]
#[test_case("a[]", &["a[]"], &["a", "a]"]; "nothing in brackets is no set")]
#[test_case("a\\*b", &["a*b"], &["axb", "a\\*b"]; "a backslash takes the meaning away")]
#[test_case("a\\?\\[b", &["a?[b"], &["ax[b", "a\\?\\[b"]; "from each character by itself")]
#[test_case("a\\", &["a\\"], &["a"]; "a backslash at the end is itself")]
#[test_case("a b", &["a b"], &["a", "b"]; "a blank inside is a character")]
fn p2_2_a_pattern_matches_as_a_line_of_an_ignore_file(spec: &str, yes: &[&str], no: &[&str]) {
    let pattern = FilePattern::parse(spec, RuleSource::CommandLine);
    let wrong = |paths: &[&str], expected: bool| -> Vec<String> {
        let wrong = paths.iter().filter(|path| pattern.matches(path) != expected);
        wrong.map(ToString::to_string).collect()
    };
    assert_eq!(wrong(yes, true), [""; 0], "not matched");
    assert_eq!(wrong(no, false), [""; 0], "matched");
    assert!(!pattern.is_nothing());
}

/// P2.2: what the agent takes silently and matches nothing by [e_dotdot-01, e_neg-01, f20-03].
#[test_case("!a"; "a negation")]
#[test_case("#a"; "a comment")]
#[test_case(" a"; "a blank before it")]
#[test_case("a "; "a blank behind it")]
#[test_case("../a"; "a step up")]
#[test_case("a/../b"; "a step up inside")]
#[test_case("a/./b"; "a step to where it is")]
#[test_case("a//b"; "no name between slashes")]
#[test_case("/"; "no name at all")]
fn p2_2_a_pattern_may_match_nothing(spec: &str) {
    let pattern = FilePattern::parse(spec, RuleSource::CommandLine);
    assert!(pattern.is_nothing());
    for path in ["a", "b", "a/b", "../a", "a/../b", "a/./b", "a//b", "!a", "#a", " a", "a ", ""] {
        assert!(!pattern.matches(path), "{path:?}");
    }
}

/// P2.2: where a pattern begins follows from its first characters and from the file it stands in.
#[test_case("a", RuleSource::User, Anchor::Here)]
#[test_case("./a", RuleSource::CommandLine, Anchor::Here)]
#[test_case("/a", RuleSource::CommandLine, Anchor::Start)]
#[test_case("/a", RuleSource::Project, Anchor::Start)]
#[test_case("/a", RuleSource::Local, Anchor::Start)]
#[test_case("/a", RuleSource::User, Anchor::AgentHome)]
#[test_case("/a", RuleSource::Flag, Anchor::Nowhere)]
#[test_case("//a", RuleSource::User, Anchor::Root)]
#[test_case("///a", RuleSource::Flag, Anchor::Root)]
#[test_case("~/a", RuleSource::Project, Anchor::Home)]
fn p2_2_a_pattern_has_its_anchor(spec: &str, source: RuleSource, anchor: Anchor) {
    let pattern = FilePattern::parse(spec, source);
    assert_eq!(pattern.anchor, anchor);
    assert_eq!(pattern.matches("a"), anchor != Anchor::Nowhere);
}

/// `~` without a slash is a name like any other.
#[test]
fn a_tilde_alone_is_a_name() {
    let pattern = FilePattern::parse("~a", RuleSource::CommandLine);
    assert_eq!((pattern.anchor, pattern.matches("x/~a")), (Anchor::Here, true));
}
