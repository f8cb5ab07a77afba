//! Runs of blank lines, which the board program squeezes to one outside code.

/// Squeezes every run of blank lines to one, as the program does when it rewrites a section: fenced code keeps its
/// own.
pub(super) fn squeeze(text: &str) -> String {
    let mut state = State::default();
    for line in text.split('\n') {
        state.line(line);
    }
    if state.blank {
        state.out.push("");
    }
    state.out.join("\n")
}

#[derive(Default)]
struct State<'a> {
    out: Vec<&'a str>,
    blank: bool,
    fence: Option<(char, usize)>,
    html: Option<Html>,
    /// Where the text of each open list item begins.
    lists: Vec<usize>,
}

/// How an HTML block ends.
enum Html {
    AtBlankLine,
    With(&'static [&'static str]),
}

impl<'a> State<'a> {
    fn line(&mut self, line: &'a str) {
        if let Some(fence) = self.fence {
            self.out.push(line);
            if self.closes(line, fence) {
                self.fence = None;
            }
            return;
        }
        if is_section_marker(line) {
            self.html = None;
            self.lists.clear();
        }
        if line.is_empty() {
            if matches!(self.html, Some(Html::AtBlankLine)) {
                self.html = None;
            }
            self.blank = true;
            return;
        }
        if self.blank {
            self.out.push("");
            self.blank = false;
        }
        self.out.push(line);
        if let Some(html) = &self.html {
            if let Html::With(ends) = html
                && contains_any(line, ends)
            {
                self.html = None;
            }
            return;
        }
        self.follow_lists(line);
        self.fence = self.opens(line);
        if self.fence.is_none() {
            self.html = self.opens_html(line);
        }
    }

    fn follow_lists(&mut self, line: &str) {
        let indent = indent(line);
        while self.lists.last().is_some_and(|item| *item > indent) {
            self.lists.pop();
        }
        if let Some(text) = list_text(line) {
            self.lists.push(text);
        }
    }

    fn may_fence(&self, indent: usize) -> bool {
        indent <= 3 || self.lists.iter().any(|item| (*item..=*item + 3).contains(&indent))
    }

    fn opens(&self, line: &str) -> Option<(char, usize)> {
        let indent = indent(line);
        if !self.may_fence(indent) {
            return None;
        }
        let rest = &line[indent..];
        let mark = rest.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let run = rest.chars().take_while(|c| *c == mark).count();
        let info = &rest[run..];
        let ok = run >= 3
            && !(mark == '`' && info.contains('`'))
            && !info.contains(crate::js_text::ends_line);
        ok.then_some((mark, run))
    }

    fn closes(&self, line: &str, (mark, length): (char, usize)) -> bool {
        let indent = indent(line);
        if !self.may_fence(indent) {
            return false;
        }
        let rest = &line[indent..];
        let run = rest.chars().take_while(|c| *c == mark).count();
        run >= length && rest[run..].chars().all(|c| matches!(c, ' ' | '\t'))
    }

    fn opens_html(&self, line: &str) -> Option<Html> {
        let item = self.lists.last().copied().unwrap_or(0);
        let line = if item > 0 && indent(line) >= item { &line[item..] } else { line };
        let spaces = indent(line);
        if spaces > 3 || !line[spaces..].starts_with('<') {
            return None;
        }
        let rest = &line[spaces + 1..];
        let until =
            |ends: &'static [&'static str]| (!contains_any(line, ends)).then_some(Html::With(ends));
        let raw: [(&str, &[&str]); 4] = [
            ("script", &["</script>"]),
            ("pre", &["</pre>"]),
            ("style", &["</style>"]),
            ("textarea", &["</textarea>"]),
        ];
        for (tag, ends) in raw {
            if tag_is(rest, tag) {
                return until(ends);
            }
        }
        if rest.starts_with("!--") {
            return until(&["-->", "--!>"]);
        }
        if rest.starts_with('?') {
            return until(&["?>"]);
        }
        if rest
            .strip_prefix('!')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))
        {
            return until(&[">"]);
        }
        if rest.starts_with("![CDATA[") {
            return until(&["]]>"]);
        }
        let name = rest.strip_prefix('/').unwrap_or(rest);
        let block = BLOCK_TAGS.iter().any(|tag| tag_is(name, tag));
        (block || is_whole_tag(name)).then_some(Html::AtBlankLine)
    }
}

/// The tags that begin an HTML block on their own.
const BLOCK_TAGS: [&str; 62] = [
    "address",
    "article",
    "aside",
    "base",
    "basefont",
    "blockquote",
    "body",
    "caption",
    "center",
    "col",
    "colgroup",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "iframe",
    "legend",
    "li",
    "link",
    "main",
    "menu",
    "menuitem",
    "nav",
    "noframes",
    "ol",
    "optgroup",
    "option",
    "p",
    "param",
    "search",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "track",
    "ul",
];

fn is_section_marker(line: &str) -> bool {
    line.ends_with("-->")
        && crate::task_file::markers(line)
            .first()
            .is_some_and(|marker| marker.family.starts_with("SECTION:"))
}

fn contains_any(line: &str, ends: &[&str]) -> bool {
    ends.iter().any(|end| crate::js_text::find_ignore_case(line, end, 0).is_some())
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Where the text of a list item begins, when the line begins one.
fn list_text(line: &str) -> Option<usize> {
    let spaces = indent(line);
    let rest = &line[spaces..];
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let mark = match rest.as_bytes().get(digits) {
        Some(b'-' | b'+' | b'*') if digits == 0 => 1,
        Some(b'.' | b')') if (1..=9).contains(&digits) => digits + 1,
        _ => return None,
    };
    let blanks = rest[mark..].len() - rest[mark..].trim_start_matches(['\t', ' ']).len();
    (blanks > 0 || rest.len() == mark).then_some(spaces + mark + blanks)
}

/// Whether `rest`, the text behind `<`, begins with this tag.
fn tag_is(rest: &str, tag: &str) -> bool {
    crate::js_text::starts_with_ignore_case(rest, tag)
        && rest[tag.len()..].chars().next().is_none_or(|c| matches!(c, '\t' | ' ' | '/' | '>'))
}

/// Whether a line is one tag of any name and nothing else.
fn is_whole_tag(name: &str) -> bool {
    let letters = name.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'-').count();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return false;
    }
    let rest = name[letters..].trim_end_matches(['\t', ' ']);
    let Some(inner) = rest.strip_suffix('>') else { return false };
    let attributes = inner.strip_suffix('/').unwrap_or(inner);
    attributes.is_empty()
        || (attributes.starts_with(['\t', ' ']) && !attributes.contains(['<', '>']))
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("a\n\n\n\nb", "a\n\nb"; "between paragraphs")]
    #[test_case("```\na\n\n\nb\n```\n\n\nc", "```\na\n\n\nb\n```\n\nc"; "not inside fences")]
    #[test_case("- a\n\n      ```\n\n\n", "- a\n\n      ```\n"; "an indented fence is no fence")]
    #[test_case("- a\n\n  ```\n\n\n  ```", "- a\n\n  ```\n\n\n  ```"; "a fence in a list")]
    #[test_case("`` ` ``` `\n\n\nx", "`` ` ``` `\n\nx"; "inline code is no fence")]
    #[test_case("<!-- ```\n\n\n```\n-->\n\n\nx", "<!-- ```\n\n```\n-->\n\nx"; "a comment hides a fence")]
    #[test_case("a\n\n\n", "a\n"; "at the end")]
    fn runs_of_blank_lines(text: &str, expected: &str) {
        assert_eq!(squeeze(text), expected);
    }
}
