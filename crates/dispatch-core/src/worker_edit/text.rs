//! Texts a worker may write (W1.3).
//!
//! The board's files are read line by line, by programs that know nothing of who wrote a line. A text that holds a
//! line with a meaning there could add a criterion, end its own section, or widen the task's claims.

use super::Section;

/// The most bytes of one text: 64 KiB.
pub const TEXT_MAX_BYTES: usize = 64 << 10;

/// What a text is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Part of a section.
    Section(Section),
    /// A comment.
    Comment,
}

/// The titles by which the board finds its sections, also without markers.
const TITLES: [&str; 7] = [
    "description",
    "acceptance criteria",
    "definition of done",
    "implementation plan",
    "implementation notes",
    "final summary",
    "comments",
];

/// The lines of a plan that say what a task may touch, how it is tested and where it goes (B1.3, B1.4).
const PLAN_KEYS: [&str; 4] = ["files to touch:", "files:", "test command:", "branch:"];

/// Why a text may not be written; none when it may.
pub(super) fn fault(text: &str, purpose: Purpose) -> Option<String> {
    if text.len() > TEXT_MAX_BYTES {
        return Some(format!(
            "it has {} bytes, more than the {TEXT_MAX_BYTES} a text may have",
            text.len()
        ));
    }
    if text.chars().all(is_blank) {
        return Some("it is empty, and nothing may be removed".to_owned());
    }
    if let Some(found) = text.chars().find(|&c| is_forbidden(c)) {
        return Some(format!(
            "it holds the character U+{:04X}: no control characters but newline and tab",
            u32::from(found)
        ));
    }
    if text.contains("<!--") {
        return Some("it holds `<!--`, with which the board marks its sections".to_owned());
    }
    text.split('\n').find_map(|line| line_fault(line.trim_matches(is_blank), purpose))
}

fn line_fault(line: &str, purpose: Purpose) -> Option<String> {
    let shown = || line.chars().take(80).collect::<String>();
    if line == "---" {
        return Some("a line is `---`, which separates comments and ends the header".to_owned());
    }
    if is_checklist_item(line) {
        return Some(format!(
            "the line `{}` looks like an item of a checklist: write it without the box",
            shown()
        ));
    }
    if is_section_heading(line) {
        return Some(format!(
            "the line `{}` looks like a section of the board: use `###` and another title, or bold text",
            shown()
        ));
    }
    let plan = purpose == Purpose::Section(Section::Plan);
    (plan && is_plan_key(line)).then(|| {
        format!(
            "the line `{}` would change what the task may touch, how it is tested or where it goes",
            shown()
        )
    })
}

/// What the board program's language counts as blank, which is a little more than Unicode does.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

/// Control characters, and the two line ends beside the newline that the board program knows.
fn is_forbidden(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t') || c == '\u{2028}' || c == '\u{2029}'
}

/// `- [ ] …` with any bullet, any blanks and any one character as a tick.
fn is_checklist_item(line: &str) -> bool {
    let Some(rest) = line.strip_prefix(['-', '*', '+']) else { return false };
    let Some(rest) = rest.trim_start_matches(is_blank).strip_prefix('[') else { return false };
    let Some((inside, after)) = rest.split_once(']') else { return false };
    let tick = inside.trim_matches(is_blank);
    // `- [link](address)` is a link.
    !after.starts_with('(') && (tick.is_empty() || tick.eq_ignore_ascii_case("x"))
}

/// A heading of the first two levels, or one of any level with a title the board looks for.
fn is_section_heading(line: &str) -> bool {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    if level == 0 || !(title.is_empty() || title.starts_with(is_blank)) {
        return false;
    }
    let title = title.trim_matches(is_blank).to_lowercase();
    level <= 2 || TITLES.iter().any(|known| title.starts_with(known))
}

/// A line such as `Test command: …`, in whatever emphasis, bullet or quote.
fn is_plan_key(line: &str) -> bool {
    let decoration = |c: char| is_blank(c) || "-*+_>#`".contains(c);
    let plain = line.trim_start_matches(decoration).to_lowercase();
    // `**Files:**` and `Files :` may be read as the key too.
    let plain: String = plain.chars().filter(|&c| !"*_`".contains(c)).collect();
    let Some((key, _)) = plain.split_once(':') else { return false };
    let key = format!("{}:", key.trim_matches(is_blank));
    PLAN_KEYS.contains(&key.as_str())
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    fn note(text: &str) -> Option<String> {
        fault(text, Purpose::Section(Section::Notes))
    }

    #[test_case("Done.\n\n- read the parser\n\t- fixed it"; "lists and tabs")]
    #[test_case("### What I did\ntext"; "a heading of the third level")]
    #[test_case("a --- b\n----\n| --- | --- |"; "dashes beside others")]
    #[test_case("see [the docs](x) and - [ ] inline"; "a box inside a line")]
    #[test_case("- [x](https://example.org)"; "a link in a list")]
    #[test_case("#5 is fixed, #[test] too"; "a hash that is no heading")]
    #[test_case("Test command: cargo test"; "in notes no such line is read")]
    #[test_case("naïve 🦀 text"; "any letters")]
    fn w1_3_ordinary_texts_may_be_written(text: &str) {
        assert_eq!(note(text), None);
    }

    #[test_case(""; "empty")]
    #[test_case(" \n\u{feff}"; "blank")]
    #[test_case("a\rb"; "carriage return")]
    #[test_case("a\u{0}b"; "nul")]
    #[test_case("a\u{1b}[31mb"; "escape")]
    #[test_case("a\u{85}b"; "next line")]
    #[test_case("a\u{2028}## Acceptance Criteria"; "line separator")]
    #[test_case("a\n<!-- SECTION:NOTES:END -->"; "a marker")]
    #[test_case("a <!--ac:begin-->"; "a marker inside a line")]
    #[test_case("a\n---\nb"; "a rule")]
    #[test_case("a\n --- \u{a0}\nb"; "a rule among blanks")]
    #[test_case("- [ ] one more"; "an open item")]
    #[test_case("a\n  - [X] #2 one more"; "a ticked item")]
    #[test_case("*\t[x] one more"; "another bullet")]
    #[test_case("a\n## Acceptance Criteria"; "a section")]
    #[test_case("## Anything"; "a heading of the second level")]
    #[test_case("# Anything"; "a heading of the first level")]
    #[test_case("#### comments:"; "a title of the board at any level")]
    fn w1_3_texts_the_board_reads_as_structure_are_refused(text: &str) {
        assert!(note(text).is_some());
        assert!(fault(text, Purpose::Comment).is_some());
    }

    #[test_case("Test command: true")]
    #[test_case("  - **Files to touch:**\n    - src/")]
    #[test_case("FILES :")]
    #[test_case("> `Branch: main`")]
    fn w1_5_a_plan_cannot_carry_claims_or_a_test_command(text: &str) {
        assert!(fault(text, Purpose::Section(Section::Plan)).is_some());
        assert_eq!(fault(text, Purpose::Section(Section::FinalSummary)), None);
    }

    #[test]
    fn w1_3_a_text_has_at_most_64_kib() {
        assert_eq!(note(&"é".repeat(TEXT_MAX_BYTES / 2)), None);
        assert!(note(&"a".repeat(TEXT_MAX_BYTES + 1)).is_some());
    }
}
