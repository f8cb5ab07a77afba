//! Making text that others wrote harmless where we write it (B3.7, C9.2).

use crate::listed::{LONGEST, Listed};

/// The longest comment we write, in bytes (B3.7).
pub const COMMENT_LIMIT_BYTES: usize = 16 * 1024;

/// The text without control characters but newline and tab; other line ends become newlines.
pub fn plain(text: &str) -> String {
    text.replace("\r\n", "\n")
        .replace('\r', "\n")
        .chars()
        .filter(|c| matches!(c, '\n' | '\t') || !(c.is_control() || is_direction_mark(*c)))
        .collect()
}

/// Characters that make text read in another order than it is stored.
const fn is_direction_mark(c: char) -> bool {
    matches!(
        c,
        '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{61c}'
            | '\u{feff}'
    )
}

/// The text as one line: whatever stands between words becomes one blank.
pub fn one_line(text: &str) -> String {
    plain(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// At most `limit` characters, the last one an ellipsis when something was cut.
pub fn cut_chars(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(limit.saturating_sub(1)).collect();
    cut.truncate(cut.trim_end().len());
    cut.push('…');
    cut
}

/// The last `lines` lines, at most `limit` bytes of them.
pub fn tail(text: &str, lines: usize, limit: usize) -> String {
    let text = plain(text);
    let text = text.trim_end();
    let kept: Vec<&str> = text.lines().rev().take(lines).collect();
    let joined = kept.into_iter().rev().collect::<Vec<_>>().join("\n");
    let mut from = joined.len().saturating_sub(limit);
    while !joined.is_char_boundary(from) {
        from += 1;
    }
    joined[from..].to_owned()
}

/// A comment that the board reads as one comment, whatever its parts hold (B3.7).
///
/// The board program refuses a line of `---` even between blanks, so the line is indented and escaped.
pub fn for_comment(text: &str) -> String {
    let lines: Vec<String> =
        plain(text)
            .replace("<!--", "<! --")
            .split('\n')
            .map(|line| {
                if line.trim() == "---" {
                    "    \\---".to_owned()
                } else {
                    line.trim_end().to_owned()
                }
            })
            .collect();
    cut_marked(lines.join("\n").trim(), COMMENT_LIMIT_BYTES, str::len)
}

/// A block whose fence cannot occur in the text.
pub fn fenced(text: &str) -> String {
    let text = plain(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{}\n{fence}", text.trim_matches('\n'))
}

/// A code span whose back-ticks cannot occur in the text.
pub fn code(text: &str) -> String {
    let text = one_line(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let ticks = "`".repeat(longest + 1);
    let pad = if longest > 0 || text.is_empty() { " " } else { "" };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// A worker's text in a fence, with what a forge or a bot reads as a command broken by an invisible character.
///
/// A fence alone stops Markdown from acting on mentions and closing keywords, but bots read the raw text.
pub fn inert(text: &str) -> String {
    const BREAK: char = '\u{2060}';
    let text = plain(text);
    let mut out = String::with_capacity(text.len() + 16);
    let mut line_start = true;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        if line_start && matches!(c, '/' | '!') {
            out.push(BREAK);
        }
        out.push(c);
        let acts = match c {
            '@' => next.is_some_and(|n| n.is_alphanumeric() || n == '_'),
            '#' => next.is_some_and(|n| n.is_ascii_digit()),
            '<' => next == Some('!'),
            _ => false,
        };
        if acts {
            out.push(BREAK);
        }
        line_start = c == '\n' || (line_start && c.is_whitespace());
    }
    fenced(&out)
}

/// The first entries, at most `most` of them and together at most `limit` bytes, and how many are left out.
pub fn first_entries(list: &Listed, most: usize, limit: usize) -> (Vec<String>, usize) {
    let mut used = 0;
    let shown: Vec<String> = list
        .items
        .iter()
        .take(most)
        .map(|item| cut_chars(item, LONGEST))
        .take_while(|item| {
            used += item.len() + 1;
            used <= limit
        })
        .collect();
    let left_out = list.len() - shown.len();
    (shown, left_out)
}

/// At most `limit` as `measure` counts, cut at a line where possible, open fences closed, the cut marked.
pub fn cut_marked(text: &str, limit: usize, measure: fn(&str) -> usize) -> String {
    if measure(text) <= limit {
        return text.to_owned();
    }
    // The note, the closing fence and the newlines around them need room.
    let room = limit.saturating_sub(200);
    let mut kept = String::new();
    let mut used = 0;
    let mut fence: Option<String> = None;
    for line in text.split_inclusive('\n') {
        let size = measure(line);
        if used + size > room {
            if fence.is_some() || kept.is_empty() {
                kept.extend(line.chars().scan(used, |used, c| {
                    *used += measure(c.encode_utf8(&mut [0; 4]));
                    (*used < room).then_some(c)
                }));
            }
            break;
        }
        follow_fence(line, &mut fence);
        used += size;
        kept.push_str(line);
    }
    let kept = kept.trim_end();
    let closing = fence.map_or(String::new(), |fence| format!("\n{fence}"));
    let left_out = measure(text).saturating_sub(measure(kept));
    format!("{kept}{closing}\n\n[cut: {left_out} more]")
}

fn follow_fence(line: &str, open: &mut Option<String>) {
    let ticks: String = line.chars().take_while(|c| *c == '`').collect();
    if ticks.len() < 3 {
        return;
    }
    match open {
        None => *open = Some(ticks),
        Some(fence) if ticks.len() >= fence.len() && line.trim_end() == ticks => *open = None,
        Some(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn b3_7_a_comment_holds_no_separator_no_marker_and_no_control_character() {
        let text = for_comment("a\u{7}b\r\n---\r\n  ---  \n----\n<!-- COMMENTS:END -->\n");
        assert_eq!(text, "ab\n    \\---\n    \\---\n----\n<! -- COMMENTS:END -->");
    }

    #[test]
    fn b3_7_a_long_comment_is_cut_with_the_cut_marked_and_its_fence_closed() {
        let text = for_comment(&format!("Output:\n{}", fenced(&"x y\n".repeat(9000))));
        assert!(text.len() <= COMMENT_LIMIT_BYTES, "{}", text.len());
        assert!(text.contains("\n```\n\n[cut: "), "{}", &text[text.len() - 60..]);
    }

    #[test]
    fn c9_2_a_workers_commands_mentions_and_keywords_are_broken() {
        let text =
            inert("Closes #12\n  /merge now\n@octocat see <!-- dispatch:end -->\n```\n!deploy");
        assert!(text.starts_with("````text\n") && text.ends_with("\n````"));
        for live in ["#12", "\n  /merge", "@octocat", "<!--", "\n!deploy"] {
            assert!(!text.contains(live), "{live}");
        }
    }

    #[test]
    fn a_list_is_cut_by_number_and_by_size() {
        let items = ["a".to_owned(), "b".repeat(400), "c".to_owned()].into_iter().collect();
        assert_eq!(first_entries(&items, 1, 1000), (vec!["a".to_owned()], 2));
        let (shown, left_out) = first_entries(&items, 3, 306);
        assert_eq!((shown.len(), left_out), (2, 1));
        assert!(shown[1].ends_with("b…") && shown[1].chars().count() == 300);
    }

    #[test]
    fn the_tail_keeps_whole_last_lines() {
        assert_eq!(tail("a\nb\nc\n\n", 2, 100), "b\nc");
        assert_eq!(tail("äöü", 5, 3), "ü");
    }

    proptest! {
        #[test]
        fn no_text_ends_its_own_fence(text in "[`~a\\n ]{0,60}") {
            let block = fenced(&text);
            let fence: String = block.chars().take_while(|c| *c == '`').collect();
            let inner = &block[block.find('\n').unwrap() + 1..block.len() - fence.len()];
            prop_assert!(!inner.contains(&fence));
        }

        #[test]
        fn a_cut_text_is_never_longer_than_asked(text in "(```\\n|[a-zé ]{0,40}\\n){0,80}", limit in 400usize..1500) {
            let chars = |text: &str| text.chars().count();
            prop_assert!(chars(&cut_marked(&text, limit, chars)) <= limit);
            prop_assert!(cut_marked(&text, limit, str::len).len() <= limit);
        }

        #[test]
        fn b3_7_no_comment_can_be_read_as_two(text in any::<String>(), more in "(---|<!-- COMMENTS:END -->|\\r|\\x0b|x|\\n){0,12}") {
            let comment = for_comment(&format!("{text}{more}"));
            prop_assert!(comment.len() <= COMMENT_LIMIT_BYTES);
            prop_assert!(!comment.contains("<!--"));
            prop_assert!(comment.lines().all(|line| line.trim() != "---"));
            prop_assert!(!comment.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')));
        }
    }
}
