//! Redirections and here-documents.

use super::{Part, Reader, Redirect};

/// The longest first: what follows, a dash too, belongs to the name of the file.
const OPERATORS: &[&str] =
    &["&>>", "<<<", "<<-", ">&-", "<&-", "&>", ">>", ">|", "<>", ">&", "<&", "<<", ">", "<"];

impl Reader<'_> {
    pub(super) fn read_redirect(&mut self, part: &mut Part) {
        if part.words.is_empty() || part.words.len() == part.assignments {
            part.hidden = true;
        }
        while self.peek(0).is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        let operator = self.read_operator();
        if self.peek(0) == Some('(') {
            self.give_up("a process substitution");
            self.at = self.matching(self.at, '(', ')');
            return;
        }
        match operator {
            "<<" | "<<-" => self.read_heredoc(part),
            ">&-" | "<&-" => self.give_up("a closed descriptor"),
            "<&" | "<<<" => {
                self.read_target();
                part.redirects.push(Redirect::Harmless);
            }
            "<" => {
                let (target, glob) = self.read_target();
                if target.is_none() || glob {
                    self.give_up("input from a file that is not named plainly");
                }
                part.redirects.push(Redirect::Input);
            }
            _ => self.read_output(part, operator),
        }
    }

    fn read_operator(&mut self) -> &'static str {
        let rest = &self.text[self.at..];
        let begins =
            |operator: &&str| operator.chars().eq(rest.iter().copied().take(operator.len()));
        let operator = OPERATORS.iter().copied().find(begins).unwrap_or_default();
        self.at += operator.len();
        operator
    }

    fn read_output(&mut self, part: &mut Part, operator: &str) {
        let (target, glob) = self.read_target();
        let descriptor = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
        let redirect = match target {
            Some(text) if operator == ">&" && descriptor(&text) => Redirect::Harmless,
            Some(text) if operator == ">&" && text == "-" => {
                self.give_up("a closed descriptor");
                Redirect::Harmless
            }
            Some(text) if text == "/dev/null" => Redirect::Harmless,
            Some(text) if !glob => Redirect::Output(Some(text)),
            Some(_) | None => Redirect::Output(None),
        };
        part.redirects.push(redirect);
    }

    fn read_target(&mut self) -> (Option<String>, bool) {
        self.skip_blanks();
        let draft = self.read_word();
        (draft.value, draft.glob)
    }

    /// A here-document: with a quoted delimiter its text is text, without the agent gives up.
    fn read_heredoc(&mut self, part: &mut Part) {
        self.skip_blanks();
        let start = self.at;
        let draft = self.read_word();
        let written = self.slice(start);
        if !written.contains(['\'', '"', '\\']) {
            self.give_up("a here-document without a quoted delimiter");
        }
        self.heredocs.push(draft.value.unwrap_or_default());
        part.redirects.push(Redirect::Harmless);
    }
}
