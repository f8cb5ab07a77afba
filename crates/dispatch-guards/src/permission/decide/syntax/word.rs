//! Words: quotes, variables, substitutions.

use super::{Draft, Reader};

impl Reader<'_> {
    /// Reads one word: everything up to a blank or an operator.
    pub(super) fn read_word(&mut self) -> Draft {
        let mut draft = Draft::new();
        let start = self.at;
        while let Some(character) = self.peek(0) {
            if character.is_whitespace() || ";|&<>()".contains(character) {
                break;
            }
            match character {
                '\\' => self.read_escape(&mut draft),
                '\'' => self.read_single(&mut draft),
                '"' => self.read_double(&mut draft),
                '$' => self.read_dollar(&mut draft, false),
                '`' => self.read_back_ticks(&mut draft),
                '~' if self.at == start => self.read_tilde(&mut draft),
                '*' | '?' | '[' => {
                    draft.glob = true;
                    draft.push(&character.to_string(), &character.to_string());
                    self.at += 1;
                }
                '{' => {
                    if self.expands_braces() {
                        self.give_up("a brace expansion");
                    }
                    draft.push("{", "{");
                    self.at += 1;
                }
                _ => {
                    draft.push(&character.to_string(), &character.to_string());
                    self.at += 1;
                }
            }
        }
        draft
    }

    fn expands_braces(&self) -> bool {
        let end = self.matching(self.at, '{', '}');
        let inside: String = self.text[self.at..end].iter().collect();
        let closed = inside.ends_with('}') && !inside.contains(char::is_whitespace);
        closed && (inside.contains(',') || inside.contains(".."))
    }

    fn read_escape(&mut self, draft: &mut Draft) {
        match self.peek(1) {
            Some('\n') => {
                self.give_up("a word joined over two lines");
                self.at += 2;
            }
            Some(blank @ (' ' | '\t')) => {
                self.give_up("an escaped blank");
                draft.push(&format!("\\{blank}"), &blank.to_string());
                self.at += 2;
            }
            Some(character) => {
                draft.push(&format!("\\{character}"), &character.to_string());
                self.at += 2;
            }
            None => {
                self.give_up("a backslash at the end");
                draft.push("\\", "\\");
                self.at += 1;
            }
        }
    }

    fn read_single(&mut self, draft: &mut Draft) {
        self.at += 1;
        let start = self.at;
        while self.peek(0).is_some_and(|c| c != '\'') {
            self.at += 1;
        }
        let inside = self.slice(start);
        self.look_for_hidden_comment(&inside);
        let closed = self.peek(0).is_some();
        self.at += usize::from(closed);
        draft.push(&format!("'{inside}{}", if closed { "'" } else { "" }), &inside);
    }

    /// A quoted line that begins with `#` looks like a comment to some readers: the agent gives up.
    fn look_for_hidden_comment(&mut self, inside: &str) {
        if inside.lines().skip(1).any(|line| line.trim_start().starts_with('#')) {
            self.give_up("a quoted line that begins with `#`");
        }
    }

    fn read_double(&mut self, draft: &mut Draft) {
        draft.push("\"", "");
        self.at += 1;
        let start = self.at;
        while let Some(character) = self.peek(0) {
            match character {
                '"' => break,
                '\\' => {
                    let next = self.peek(1).map_or(String::new(), |c| c.to_string());
                    let kept = if "$`\"\\\n".contains(&next) && !next.is_empty() {
                        next.clone()
                    } else {
                        format!("\\{next}")
                    };
                    draft.push(&format!("\\{next}"), &kept);
                    self.at += 2;
                }
                '$' => self.read_dollar(draft, true),
                '`' => self.read_back_ticks(draft),
                _ => {
                    draft.push(&character.to_string(), &character.to_string());
                    self.at += 1;
                }
            }
        }
        let inside = self.slice(start);
        if !inside.contains("<<") {
            self.look_for_hidden_comment(&inside);
        }
        if self.peek(0).is_some() {
            draft.push("\"", "");
            self.at += 1;
        }
        self.at = self.at.min(self.text.len());
    }

    fn read_back_ticks(&mut self, draft: &mut Draft) {
        let start = self.at;
        self.at += 1;
        while self.peek(0).is_some_and(|c| c != '`') {
            self.at += 1;
        }
        let inside = self.slice(start + 1);
        self.at = (self.at + 1).min(self.text.len());
        self.give_up("back-ticks");
        let written = self.slice(start);
        draft.push_unknown(&written);
        draft.substituted.push(inside);
    }

    fn read_tilde(&mut self, draft: &mut Draft) {
        self.at += 1;
        match self.peek(0) {
            None | Some('/' | ' ' | '\t' | '\n' | ';' | '|' | '&' | '<' | '>' | ')') => {
                let home = self.home.to_owned();
                draft.push("~", &home);
            }
            Some(_) => draft.push_unknown("~"),
        }
    }

    fn read_dollar(&mut self, draft: &mut Draft, quoted: bool) {
        match self.peek(1) {
            Some('(') if self.peek(2) == Some('(') => self.read_arithmetic(draft),
            Some('(') => self.read_substitution(draft, quoted),
            Some('{') => {
                self.give_up("a parameter expansion");
                let start = self.at;
                self.at = self.matching(self.at, '{', '}');
                let written = self.slice(start);
                draft.push_unknown(&written);
            }
            Some('\'' | '"') if !quoted => {
                self.give_up("a `$` before a quote");
                draft.push_unknown("$");
                self.at += 1;
            }
            Some('[') => {
                self.give_up("an old arithmetic expansion");
                draft.push_unknown("$");
                self.at += 1;
            }
            Some(first) if first.is_ascii_alphabetic() || first == '_' => self.read_variable(draft),
            Some(special) if special.is_ascii_digit() || "?$!#@*-".contains(special) => {
                self.give_up("a special variable");
                draft.push_unknown(&format!("${special}"));
                self.at += 2;
            }
            Some(_) | None => {
                draft.push("$", "$");
                self.at += 1;
            }
        }
    }

    fn read_arithmetic(&mut self, draft: &mut Draft) {
        let start = self.at;
        self.at = self.matching(self.at, '(', ')');
        let written = self.slice(start);
        let plain = |c: char| c.is_ascii_digit() || "+-*/%() $".contains(c);
        if !written.chars().skip(1).all(plain) || written[1..].contains('$') {
            self.give_up("arithmetic over variables");
        }
        draft.push_unknown(&written);
    }

    fn read_substitution(&mut self, draft: &mut Draft, quoted: bool) {
        let start = self.at;
        self.at = self.matching_substitution(self.at + 1);
        let written = self.slice(start);
        let inner = written[2..].strip_suffix(')').unwrap_or(&written[2..]).to_owned();
        draft.push_unknown(&written);
        if !(quoted && is_quoted_document(&inner)) {
            draft.substituted.push(inner);
        }
    }

    /// As [`Self::matching`], but the text of a here-document counts for nothing.
    fn matching_substitution(&self, from: usize) -> usize {
        let rest: String = self.text[from + 1..].iter().collect();
        if is_quoted_document(&rest) {
            let delimiter: String = rest
                .split_once("<<")
                .map(|(_, after)| after.trim_start_matches('-'))
                .unwrap_or_default()
                .trim_start()
                .chars()
                .skip(1)
                .take_while(|c| *c != '\'' && *c != '"')
                .collect();
            let end = format!("\n{delimiter}\n");
            if let Some(found) = rest.find(&end) {
                let after = found + end.len();
                let length = rest[after..].find(')').map_or(rest.len(), |close| after + close + 1);
                return from + 1 + rest[..length].chars().count();
            }
        }
        self.matching(from, '(', ')')
    }

    fn read_variable(&mut self, draft: &mut Draft) {
        let start = self.at;
        self.at += 1;
        while self.peek(0).is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
            self.at += 1;
        }
        let written = self.slice(start);
        let name = &written[1..];
        match self.variables.get(name) {
            // A value of several words stays one word, and no rule sees into it [d_bashallow-90].
            Some(Some(value)) if value.contains(char::is_whitespace) => {
                let value = value.clone();
                draft.push(&written, &value);
            }
            Some(Some(value)) => {
                let value = value.clone();
                draft.push(&value, &value);
            }
            None if name == "HOME" => {
                let home = self.home.to_owned();
                draft.push(&written, &home);
            }
            Some(None) | None => {
                self.give_up("a variable that is not fixed");
                draft.push_unknown(&written);
            }
        }
    }
}

/// `cat <<'EOF' … EOF`, as people write commit messages [a_gitcommit-04].
fn is_quoted_document(inner: &str) -> bool {
    inner
        .trim_start()
        .strip_prefix("cat")
        .map(str::trim_start)
        .and_then(|rest| rest.strip_prefix("<<"))
        .map(|rest| rest.trim_start_matches('-').trim_start())
        .is_some_and(|rest| rest.starts_with(['\'', '"']))
}
