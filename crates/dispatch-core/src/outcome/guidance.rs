//! The way a worker stops with a question.

/// What a line of the final text begins with when the worker asks for a decision.
pub const MARKER: &str = "NEEDS-GUIDANCE";

/// The question of a final text that has a line beginning `NEEDS-GUIDANCE`, in any case.
///
/// Blanks and Markdown emphasis before the word are looked through: taking a question for an answer would propose
/// unfinished work, the other mistake only asks a person. The question is the rest of the text; a marker without any
/// takes what stands before it.
pub fn question(text: &str) -> Option<String> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_start_matches([' ', '\t', '*', '_', '#', '`']);
        let head = bare.get(..MARKER.len());
        if head.is_some_and(|head| head.eq_ignore_ascii_case(MARKER)) {
            let at = start + (line.len() - bare.len()) + MARKER.len();
            let rest = text.get(at..).unwrap_or_default();
            let rest = rest.trim_start_matches([':', '*', '_', '`', ' ', '\t', '-', '—']).trim();
            let before = text.get(..start).unwrap_or_default().trim();
            return Some(if rest.is_empty() { before } else { rest }.to_owned());
        }
        start += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("NEEDS-GUIDANCE: which one?", Some("which one?"); "on one line")]
    #[test_case("I looked.\nneeds-guidance\nA or B?\nI prefer A.", Some("A or B?\nI prefer A."); "on the lines below, any case")]
    #[test_case("**NEEDS-GUIDANCE:** A or B?", Some("A or B?"); "emphasised")]
    #[test_case("A or B?\n\nNEEDS-GUIDANCE", Some("A or B?"); "after the question")]
    #[test_case("NEEDS-GUIDANCE", Some(""); "alone")]
    #[test_case("No need to stop with NEEDS-GUIDANCE here.", None; "inside a sentence")]
    #[test_case("ÄÖ-GUIDANCE", None; "another word with other bytes")]
    #[test_case("", None; "nothing")]
    fn n50_d10_the_question_is_the_rest_of_the_text(text: &str, expected: Option<&str>) {
        assert_eq!(question(text).as_deref(), expected);
    }
}
