//! The grammar of one permission rule (P1).

use std::fmt;

/// One permission rule of the agent, as text that means one thing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// `Tool`: everything the tool can do. `Tool()` and `Tool(*)` are read as this
    /// [empty-01, star-01, e_empty-04, e_star-04].
    Bare {
        /// The tool, or a pattern of names.
        tool: String,
    },
    /// `Tool(spec)`.
    Scoped {
        /// The tool.
        tool: String,
        /// What stands between the parentheses, blanks kept.
        spec: String,
    },
    /// Text that is not a rule: it covers nothing but itself and conflicts with nothing.
    Opaque {
        /// The text.
        text: String,
    },
}

impl Rule {
    /// Reads a rule; every text is one, if only an opaque one.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        let opaque = || Self::Opaque { text: text.to_owned() };
        let Some(open) = text.find('(') else {
            return if is_tool_pattern(text) {
                Self::Bare { tool: text.to_owned() }
            } else {
                opaque()
            };
        };
        let tool = &text[..open];
        let Some(spec) = text[open + 1..].strip_suffix(')') else { return opaque() };
        if !is_tool_pattern(tool) || split_list(text).len() != 1 {
            return opaque();
        }
        let (tool, spec) = (tool.to_owned(), normal_spec(tool, spec));
        match spec.as_str() {
            "" | "*" => Self::Bare { tool },
            _ => Self::Scoped { tool, spec },
        }
    }

    /// The tool the rule names, if it is a rule.
    pub fn tool(&self) -> Option<&str> {
        match self {
            Self::Bare { tool } | Self::Scoped { tool, .. } => Some(tool),
            Self::Opaque { .. } => None,
        }
    }

    /// What stands between the parentheses, if anything does.
    pub fn spec(&self) -> Option<&str> {
        match self {
            Self::Scoped { spec, .. } => Some(spec),
            Self::Bare { .. } | Self::Opaque { .. } => None,
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bare { tool } => f.write_str(tool),
            Self::Scoped { tool, spec } => write!(f, "{tool}({spec})"),
            Self::Opaque { text } => f.write_str(text),
        }
    }
}

impl serde::Serialize for Rule {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Splits one argument of `--allowedTools` or `--disallowedTools` the way the agent does.
///
/// Commas and blanks separate outside parentheses; newline, tab and `;` do not [p_nl-01, p_tab-01,
/// p_semi-01]. Parentheses do not nest: the first `)` ends what `(` began [p_paren-01].
pub fn split_list(argument: &str) -> Vec<String> {
    let mut rules = Vec::new();
    let mut rule = String::new();
    let mut inside = false;
    for character in argument.chars() {
        match character {
            '(' => inside = true,
            ')' => inside = false,
            ',' | ' ' if !inside => {
                rules.push(std::mem::take(&mut rule));
                continue;
            }
            _ => {}
        }
        rule.push(character);
    }
    rules.push(rule);
    rules.retain(|rule| !rule.trim().is_empty());
    rules
}

/// The canonical form of what stands between the parentheses.
///
/// Blanks that the agent collapses are collapsed: in prefixes and globs, outside quotes [prefix2-07,
/// ws1-01, ws6-01]; a text without a star is kept as it is, since there every blank counts [ws2-01].
/// Blanks around a glob go [ws7-01, gl19-01]; around a prefix they make it dead [spc1-02, prefixsp-02]
/// and stay.
fn normal_spec(tool: &str, spec: &str) -> String {
    if tool != "Bash" {
        return spec.to_owned();
    }
    if spec.ends_with(":*") {
        return collapse_outside_quotes(spec);
    }
    if has_star(spec) {
        // Trimmed, `x:* ` would become a prefix, which it is not [spc2-01].
        let trimmed = if spec.trim().ends_with(":*") { spec } else { spec.trim() };
        return collapse_outside_quotes(trimmed);
    }
    spec.to_owned()
}

fn collapse_outside_quotes(text: &str) -> String {
    let mut collapsed = String::with_capacity(text.len());
    let mut quote = None;
    let mut blank = false;
    for character in text.chars() {
        let is_blank = matches!(character, ' ' | '\t') && quote.is_none();
        match (quote, character) {
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            (None | Some(_), _) => {}
        }
        match (is_blank, blank) {
            (true, true) => {}
            (true, false) => collapsed.push(' '),
            (false, _) => collapsed.push(character),
        }
        blank = is_blank;
    }
    collapsed
}

/// Collapses every run of blanks and tabs to one blank.
pub(crate) fn collapse(text: &str) -> String {
    let mut collapsed = String::with_capacity(text.len());
    let mut blank = false;
    for character in text.chars() {
        let is_blank = matches!(character, ' ' | '\t');
        if !is_blank {
            collapsed.push(character);
        } else if !blank {
            collapsed.push(' ');
        }
        blank = is_blank;
    }
    collapsed
}

/// Whether the text has a star that is a wildcard: one without a backslash before it [esc-01].
pub(crate) fn has_star(text: &str) -> bool {
    let mut escaped = false;
    text.chars().any(|character| {
        let star = character == '*' && !escaped;
        escaped = character == '\\' && !escaped;
        star
    })
}

fn is_tool_pattern(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '*'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use test_case::test_case;

    use super::*;

    #[test_case("Bash", "Bash"; "bare")]
    #[test_case(" Bash(git log:*) ", "Bash(git log:*)"; "trimmed")]
    #[test_case("Bash()", "Bash"; "empty-01")]
    #[test_case("Bash(*)", "Bash"; "star-01")]
    #[test_case("Bash( * )", "Bash"; "p_bashspacestar-02")]
    #[test_case("Edit(*)", "Edit"; "e_star-01")]
    #[test_case("Bash(mycmd  a:*)", "Bash(mycmd a:*)"; "ws1-01")]
    #[test_case("Bash(mycmd  a  *)", "Bash(mycmd a *)"; "ws8-01")]
    #[test_case("Bash(mycmd  a)", "Bash(mycmd  a)"; "ws2-01 keeps the blanks of a text")]
    #[test_case("Bash(mycmd \"a  b\":*)", "Bash(mycmd \"a  b\":*)"; "quoted blanks stay")]
    #[test_case("Bash(mycmd (a))", "Bash(mycmd (a))"; "p_paren1-01")]
    fn p1_rules_have_one_canonical_form(text: &str, canonical: &str) {
        let rule = Rule::parse(text);
        assert!(!matches!(rule, Rule::Opaque { .. }));
        assert_eq!(rule.to_string(), canonical);
    }

    #[test]
    fn how_a_list_given_as_one_text_is_split_and_each_rule_spelled() {
        let lists = [
            "",
            " ",
            "Bash",
            "Bash,Edit",
            "Bash Edit",
            "Bash(a b) Edit(c)",
            "Bash(a, b),Edit",
            "Bash(a (b, c) d),Edit",
            "Bash(a) , Edit(b)",
            "Bash(a)Edit(b)",
            "Bash(a;b);Edit",
            "Bash(a\nb)\nEdit",
            "Bash(a",
            "Bash(a,Edit(b)",
            "Bash(a)),Edit",
            "a,b c",
            ",,",
            "Bash(  a   b  :*)",
            "Bash(a\t b *)",
            "Bash(a 'b  c' \"d  e\"  f *)",
            "Bash(a 'b \" c'  d \"e ' f\"  g *)",
            "Bash(a \\* *)",
            "Bash(a\\)b)",
            "Edit(  a  )",
            "mcp__a__b(c)",
            "*",
            "Bash(*)",
            "Edit()",
        ];
        let mut table = Vec::new();
        for list in lists {
            let split = split_list(list);
            let spelled: Vec<String> =
                split.iter().map(|text| Rule::parse(text).to_string()).collect();
            table.push(format!("{list:?}: {split:?} {spelled:?}"));
        }
        insta::assert_snapshot!(table.join("\n"));
    }

    #[test_case("Bash (mycmd:*)"; "spc3-01")]
    #[test_case("Bash(mycmd:*"; "unclosed-01")]
    #[test_case("Bash(mycmd:*)x"; "trail-01")]
    #[test_case("Bash(mycmd (a) b)"; "p_paren-01")]
    #[test_case("Bash(a:*),Bash(b:*)"; "sv_joined-01")]
    #[test_case(""; "nothing")]
    fn p1_other_text_is_opaque(text: &str) {
        assert_eq!(Rule::parse(text), Rule::Opaque { text: text.trim().to_owned() });
    }

    #[test_case("Bash(a:*),Bash(b:*)", &["Bash(a:*)", "Bash(b:*)"]; "p_comma")]
    #[test_case("Bash(a:*) Bash(b c)", &["Bash(a:*)", "Bash(b c)"]; "p_space")]
    #[test_case("Bash(a, b) Read", &["Bash(a, b)", "Read"]; "p_incommasp")]
    #[test_case("Bash(a:*),,", &["Bash(a:*)"]; "p_emptyrule")]
    #[test_case("Bash(a:*)\nBash(b:*)", &["Bash(a:*)\nBash(b:*)"]; "p_nl")]
    #[test_case("Bash (a:*)", &["Bash", "(a:*)"]; "spc3")]
    #[test_case("Bash(a) b) Bash(c:*)", &["Bash(a)", "b)", "Bash(c:*)"]; "p_parenlone")]
    #[test_case("", &[]; "p_empty")]
    fn p4_4_lists_split_as_the_agent_splits_them(argument: &str, rules: &[&str]) {
        assert_eq!(split_list(argument), rules);
    }

    proptest! {
        /// P1: parsing what was printed gives the same rule; any text is one.
        #[test]
        fn p1_printing_and_parsing_is_the_identity(text in "(Bash|Edit|x)?[ (]?[ -~]{0,14}[)]?") {
            let rule = Rule::parse(&text);
            prop_assert_eq!(Rule::parse(&rule.to_string()), rule);
        }

        /// P3: more blanks between words change nothing in a prefix or glob.
        #[test]
        fn p3_blanks_between_words_change_nothing(
            words in prop::collection::vec("[a-z*]{1,3}", 1..4), gaps in prop::collection::vec(" {1,3}", 4)
        ) {
            let wide = words.iter().zip(&gaps).fold(String::new(), |text, (word, gap)| text + word + gap);
            let one = format!("Bash({}:*)", words.join(" "));
            let other = format!("Bash({}:*)", wide.trim());
            prop_assert_eq!(Rule::parse(&one), Rule::parse(&other));
        }
    }
}
