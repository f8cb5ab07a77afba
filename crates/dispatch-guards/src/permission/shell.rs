//! Shell patterns as sets of command texts, with exact inclusion and intersection (P2.1, P3).
//!
//! The texts a pattern is compared with are normal: no blank at either end, no two blanks together.
//! (A text without a star is compared with what was typed; see [`ShellPattern::Text`].)

use super::rule::{collapse, has_star};

/// What a `Bash(…)` rule admits, as a set of simple commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShellPattern {
    /// Every command.
    Everything,
    /// No command.
    Nothing,
    /// This text as typed, blanks and quotes included.
    Text(String),
    /// The words, alone or followed by a blank and anything: `words:*`, and `words *` when that is
    /// the only star [globsp-03].
    Stem(String),
    /// Anchored at both ends, with stars that stand for anything.
    Glob(Vec<Piece>),
}

/// One piece of a glob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// These characters.
    Text(String),
    /// Anything, also nothing.
    Star,
}

impl ShellPattern {
    /// Reads what stands between the parentheses of a `Bash(…)` rule.
    pub fn parse(spec: &str) -> Self {
        if let Some(prefix) = spec.strip_suffix(":*") {
            let prefix = collapse(prefix);
            let padded = prefix.starts_with(' ') || prefix.ends_with(' ');
            return if prefix.is_empty() || padded { Self::Nothing } else { Self::Stem(prefix) };
        }
        if !has_star(spec) {
            let padded = spec.trim() != spec;
            return if padded || spec.is_empty() {
                Self::Nothing
            } else {
                Self::Text(spec.to_owned())
            };
        }
        let pieces = pieces(&collapse(spec.trim()));
        match pieces.as_slice() {
            stars if stars.iter().all(|piece| *piece == Piece::Star) => Self::Everything,
            [Piece::Text(text), Piece::Star] if text.ends_with(' ') => {
                Self::Stem(text.trim_end().to_owned())
            }
            _ => Self::Glob(pieces),
        }
    }

    /// Whether the pattern admits a simple command: `typed` as it was written, `normal` with its
    /// blanks collapsed.
    pub fn admits(&self, typed: &str, normal: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::Nothing => false,
            Self::Text(text) => text == typed,
            Self::Stem(stem) => is_stem(stem, normal),
            Self::Glob(pieces) => glob_matches(pieces, normal),
        }
    }

    /// The words at the start that every admitted command has.
    pub fn head(&self) -> &str {
        match self {
            Self::Everything | Self::Nothing => "",
            Self::Text(text) | Self::Stem(text) => text,
            Self::Glob(pieces) => match pieces.first() {
                Some(Piece::Text(text)) => text,
                Some(Piece::Star) | None => "",
            },
        }
    }

    /// Whether every command this pattern admits is admitted by `other`.
    ///
    /// Exact: a star stands for any text, so one fresh character in its place is as good a witness
    /// as all of them, and only a star of `other` can take it.
    pub fn within(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Nothing, _) | (_, Self::Everything) => true,
            (Self::Everything, _)
            | (_, Self::Nothing)
            | (Self::Stem(_) | Self::Glob(_), Self::Text(_)) => false,
            (Self::Text(text), Self::Text(other)) => text == other,
            (Self::Text(text), Self::Stem(_) | Self::Glob(_)) => {
                other.admits(text, collapse(text).trim_matches(' '))
            }
            (Self::Stem(stem), Self::Stem(_) | Self::Glob(_)) => {
                let longer = format!("{stem} {FRESH}");
                other.admits("", stem) && other.admits("", &longer)
            }
            (Self::Glob(pieces), Self::Stem(_) | Self::Glob(_)) => {
                other.admits("", &witness(pieces))
            }
        }
    }

    /// Whether some command is admitted by both; two patterns too long to be walked through are
    /// taken to have one.
    pub fn meets(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Nothing, _) | (_, Self::Nothing) => false,
            (Self::Everything, _) | (_, Self::Everything) => true,
            (Self::Text(text), other) | (other, Self::Text(text)) => {
                other.admits(text, collapse(text).trim_matches(' '))
            }
            (Self::Stem(a), Self::Stem(b)) => is_stem(a, b) || is_stem(b, a),
            (a, b) => {
                let heads = a.head().bytes().zip(b.head().bytes());
                heads.into_iter().all(|(a, b)| a == b)
                    && Walk::new(a, b).is_none_or(|walk| walk.meets())
            }
        }
    }
}

/// Stands for any character that no pattern spells.
const FRESH: char = '\u{10ffff}';

fn is_stem(stem: &str, text: &str) -> bool {
    text.strip_prefix(stem).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// The glob with the fresh character in place of each star.
fn witness(pieces: &[Piece]) -> String {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(part) => text.push_str(part),
            Piece::Star => text.push(FRESH),
        }
    }
    text
}

fn pieces(glob: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut characters = glob.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' if matches!(characters.peek(), Some('*' | '\\')) => {
                text.extend(characters.next());
            }
            '*' => {
                if !text.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                }
                // Two stars together admit what one does, but are no longer the only star.
                pieces.push(Piece::Star);
            }
            _ => text.push(character),
        }
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    pieces
}

/// Matches by taking each text as early as it comes and the last one at the end.
fn glob_matches(pieces: &[Piece], text: &str) -> bool {
    let mut rest = text;
    let mut after_star = false;
    for (index, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Star => after_star = true,
            Piece::Text(part) if !after_star => match rest.strip_prefix(part.as_str()) {
                Some(tail) => rest = tail,
                None => return false,
            },
            Piece::Text(part) if index + 1 == pieces.len() => return rest.ends_with(part.as_str()),
            Piece::Text(part) => {
                match rest.find(part.as_str()) {
                    Some(at) => rest = &rest[at + part.len()..],
                    None => return false,
                }
                after_star = false;
            }
        }
    }
    after_star || rest.is_empty()
}

/// One step of a pattern read from left to right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// This character.
    One(char),
    /// Any text.
    Any,
}

/// Pairs of places in two patterns that a walk may come to.
const MOST_PLACES: usize = 1 << 22;

/// A walk through two patterns at once, over normal texts.
struct Walk {
    a: Vec<Step>,
    b: Vec<Step>,
}

impl Walk {
    /// None when the pairs of places in the two would be more than [`MOST_PLACES`].
    fn new(a: &ShellPattern, b: &ShellPattern) -> Option<Self> {
        let (a, b) = (steps(a), steps(b));
        (a.len().saturating_mul(b.len()) <= MOST_PLACES).then_some(Self { a, b })
    }

    /// Whether both can be at their end after the same normal text.
    fn meets(&self) -> bool {
        let width = self.b.len() + 1;
        // Per pair of places, with the last character a blank or not.
        let mut seen = vec![[false; 2]; (self.a.len() + 1) * width];
        let mut waiting = vec![(0, 0, true)];
        while let Some((i, j, blank)) = waiting.pop() {
            let place = &mut seen[i * width + j][usize::from(blank)];
            if std::mem::replace(place, true) {
                continue;
            }
            if !blank && may_end(&self.a, i) && may_end(&self.b, j) {
                return true;
            }
            self.advance(i, j, blank, &mut waiting);
        }
        false
    }

    fn advance(&self, i: usize, j: usize, blank: bool, waiting: &mut Vec<(usize, usize, bool)>) {
        let mut go = |i, j, character: char| {
            let next_blank = character == ' ';
            if !(blank && next_blank) {
                waiting.push((i, j, next_blank));
            }
        };
        match (self.a.get(i), self.b.get(j)) {
            (Some(Step::One(x)), Some(Step::One(y))) if x == y => go(i + 1, j + 1, *x),
            (Some(Step::Any), Some(Step::One(y))) => go(i, j + 1, *y),
            (Some(Step::One(x)), Some(Step::Any)) => go(i + 1, j, *x),
            (Some(Step::Any), Some(Step::Any)) => go(i, j, FRESH),
            _ => {}
        }
        // A star may stand for nothing.
        if self.a.get(i) == Some(&Step::Any) {
            waiting.push((i + 1, j, blank));
        }
        if self.b.get(j) == Some(&Step::Any) {
            waiting.push((i, j + 1, blank));
        }
    }
}

fn may_end(steps: &[Step], at: usize) -> bool {
    steps.get(at..).is_some_and(|rest| rest.iter().all(|step| *step == Step::Any))
}

fn steps(pattern: &ShellPattern) -> Vec<Step> {
    match pattern {
        ShellPattern::Everything => vec![Step::Any],
        ShellPattern::Nothing => vec![Step::One('\0')],
        ShellPattern::Text(text) => text.chars().map(Step::One).collect(),
        // The words alone are left out: a glob that admits them admits them twice over as well.
        ShellPattern::Stem(stem) => {
            let words = stem.chars().map(Step::One);
            words.chain([Step::One(' '), Step::Any]).collect()
        }
        ShellPattern::Glob(pieces) => {
            let mut steps = Vec::new();
            for piece in pieces {
                match piece {
                    Piece::Text(text) => steps.extend(text.chars().map(Step::One)),
                    Piece::Star => steps.push(Step::Any),
                }
            }
            steps
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use test_case::test_case;

    use super::*;

    /// P2.1, against the recorded cases named.
    #[test_case("mycmd:*", "mycmd", true; "prefix-01")]
    #[test_case("mycmd:*", "mycmd a b", true; "prefix-03")]
    #[test_case("mycmd:*", "mycmd.sh", false; "prefix-07")]
    #[test_case("mycmd:*", "mycmd:x", false; "prefix-09")]
    #[test_case("mycmd  a:*", "mycmd a b", true; "ws1-04")]
    #[test_case("mycmd run :*", "mycmd run x", false; "prefixsp-02")]
    #[test_case("mycmd *", "mycmd", true; "globsp-01")]
    #[test_case("mycmd *", "mycmdx", false; "globsp-05")]
    #[test_case("mycmd*", "mycmdx", true; "globnosp-03")]
    #[test_case("mycmd * run", "mycmd run", false; "mid-01")]
    #[test_case("mycmd * run", "mycmd a b run", true; "mid-04")]
    #[test_case("mycmd * run *", "mycmd a run", false; "midtrail-03")]
    #[test_case("mycmd * run:*", "mycmd a run", false; "middead-01")]
    #[test_case("mycmd * run:*", "mycmd * run x", true; "middead-04")]
    #[test_case("mycmd * run", "mycmd a run run", true; "the last words stand at the end")]
    #[test_case("mycmd * a * b", "mycmd x a a b", true; "words between stars are taken as early as they come")]
    #[test_case("mycmd \\* *", "mycmd x a", false; "esc2-01: no wildcard beside one either")]
    #[test_case("mycmd \\* *", "mycmd * a", true; "an escaped star beside a wildcard is a star")]
    #[test_case("mycmd \\a*", "mycmd \\ab", true; "a backslash before a letter is itself")]
    #[test_case("mycmd \\*", "mycmd a", false; "esc-01")]
    #[test_case("mycmd \\*", "mycmd \\*", true; "esc-03")]
    #[test_case("mycmd ?", "mycmd a", false; "q-01")]
    #[test_case(":*", "foo", false; "colonstar-01")]
    #[test_case("*:*", "foo", false; "star2-01")]
    #[test_case("mycmd:* x", "mycmd:a x", true; "colonmid-03")]
    #[test_case("mycmd * ", "mycmd a", true; "ws7-01")]
    #[test_case("mycmd a ", "mycmd a", false; "ws3-01")]
    #[test_case("* *", "mycmd", false; "gl2-02")]
    #[test_case("mycmd *a*", "mycmd xay", true; "gl4-03")]
    fn p2_1_patterns_admit_what_the_agent_admits(spec: &str, command: &str, expected: bool) {
        assert_eq!(ShellPattern::parse(spec).admits(command, command), expected);
    }

    fn arb_spec() -> impl Strategy<Value = String> {
        "[ab *]{1,7}(:\\*)?"
    }

    /// Every normal text over three characters up to this length, and every typed one with two blanks.
    fn all_texts() -> Vec<String> {
        let mut texts = vec![String::new()];
        let mut longest = texts.clone();
        for _ in 0..7 {
            longest = longest
                .iter()
                .flat_map(|text| ['a', 'b', ' '].map(|c| format!("{text}{c}")))
                .filter(|text| !text.starts_with(' ') && !text.contains("  "))
                .collect();
            texts.extend(longest.iter().cloned());
        }
        texts.retain(|text| !text.is_empty() && !text.ends_with(' '));
        texts
    }

    /// A second reading of a pattern that shares nothing with the first: it tries every way.
    fn admits_slowly(spec: &str, text: &str) -> bool {
        fn glob(pattern: &[u8], text: &[u8]) -> bool {
            match pattern.split_first() {
                None => text.is_empty(),
                Some((b'*', rest)) => (0..=text.len()).any(|skip| glob(rest, &text[skip..])),
                Some((own, rest)) => text.first() == Some(own) && glob(rest, &text[1..]),
            }
        }
        let squeeze =
            |text: &str| text.split(' ').filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ");
        if let Some(prefix) = spec.strip_suffix(":*") {
            return prefix.trim() == prefix
                && !prefix.is_empty()
                && (text == squeeze(prefix) || text.starts_with(&format!("{} ", squeeze(prefix))));
        }
        if !spec.contains('*') {
            return spec == text;
        }
        let pattern = squeeze(spec);
        let bare = pattern.strip_suffix(" *").filter(|stem| !stem.contains('*'));
        bare == Some(text) || glob(pattern.as_bytes(), text.as_bytes())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        /// P3: inclusion and intersection agree with trying every text (1,093 texts a pair).
        #[test]
        fn p3_relations_agree_with_brute_force(a in arb_spec(), b in arb_spec()) {
            let texts = all_texts();
            let (x, y) = (ShellPattern::parse(&a), ShellPattern::parse(&b));
            let of = |spec: &str| texts.iter().filter(|t| admits_slowly(spec, t)).collect::<Vec<_>>();
            let (in_a, in_b) = (of(&a), of(&b));
            for text in &texts {
                prop_assert_eq!(x.admits(text, text), in_a.contains(&text), "{} {:?}", a, text);
            }
            // What the texts disprove is disproved for all texts.
            if x.within(&y) {
                prop_assert!(in_a.iter().all(|text| in_b.contains(text)));
            }
            let common = in_a.iter().any(|text| in_b.contains(text));
            prop_assert!(x.meets(&y) || !common);
            // The other way round a witness is short for patterns this short, unless it needs a
            // character outside the three.
            if x.meets(&y) && !matches!(x, ShellPattern::Text(_)) && !matches!(y, ShellPattern::Text(_)) {
                let long = a.len() + b.len() > 9 || [&x, &y].iter().any(|p| {
                    matches!(p, ShellPattern::Stem(stem) if stem.contains('*'))
                });
                prop_assert!(long || common, "{} and {} have no common text", a, b);
            }
            prop_assert!(x.within(&x) && x.meets(&y) == y.meets(&x));
        }

        /// P3: covering is transitive.
        #[test]
        fn p3_inclusion_is_transitive(a in arb_spec(), b in arb_spec(), c in arb_spec()) {
            let [a, b, c] = [a, b, c].map(|spec| ShellPattern::parse(&spec));
            prop_assert!(!(a.within(&b) && b.within(&c)) || a.within(&c));
        }
    }
}
