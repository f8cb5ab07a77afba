//! The shapes a test command may have: argv patterns with placeholders.

use std::fmt;

use crate::claims::is_contained;

/// What a placeholder stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Placeholder {
    /// `{name}`: a package, script or filter name.
    Name,
    /// `{path}`: a contained path (B1.3).
    Path,
    /// `{expr}`: a selection such as pytest's `-k`: words, blanks and brackets.
    Expr,
    /// `{pattern}`: a regular expression for names without shell meaning.
    Pattern,
    /// `{packages}`: a Go package pattern.
    GoPackage,
    /// `{task}`: a Gradle task path that ends in a test task.
    GradleTest,
    /// A target whose name begins with `test`.
    TestTarget,
    /// `test`, or `test:<name>`.
    TestScript,
}

impl Placeholder {
    /// Whether `word` may stand here.
    pub(super) fn admits(self, word: &str) -> bool {
        match self {
            Self::Name => is_name(word),
            Self::Path => is_plain_path(word),
            Self::Expr => {
                is_chars(word, |c| c.is_ascii_alphanumeric() || " _.-[]/:,=".contains(c))
                    && !word.starts_with(['-', ' '])
            }
            Self::Pattern => {
                is_chars(word, |c| c.is_ascii_alphanumeric() || "^_./|:@-".contains(c))
                    && !word.starts_with('-')
            }
            Self::GoPackage => {
                let path = word.strip_prefix("./").unwrap_or(word);
                let path = path
                    .strip_suffix("...")
                    .map_or(path, |stem| stem.strip_suffix('/').unwrap_or(stem));
                (word == "." || word.starts_with("./") && path.is_empty()) || is_plain_path(path)
            }
            Self::GradleTest => {
                let tasks: Vec<&str> = word.strip_prefix(':').unwrap_or(word).split(':').collect();
                tasks.iter().all(|task| is_name(task))
                    && tasks.last().is_some_and(|last| {
                        last.starts_with("test") || last.ends_with("Test") || *last == "check"
                    })
            }
            Self::TestTarget => is_name(word) && word.starts_with("test"),
            Self::TestScript => word == "test" || word.strip_prefix("test:").is_some_and(is_name),
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Name => "{name}",
            Self::Path => "{path}",
            Self::Expr => "{expr}",
            Self::Pattern => "{pattern}",
            Self::GoPackage => "{packages}",
            Self::GradleTest => "{test task}",
            Self::TestTarget => "test…",
            Self::TestScript => "test[:{name}]",
        }
    }
}

/// A word of `{name}`: `^[A-Za-z0-9@][A-Za-z0-9@/._:-]*$`.
fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '@')
        && is_chars(word, |c| c.is_ascii_alphanumeric() || "@/._:-".contains(c))
}

/// A contained path that stays itself inside double quotes and inside a permission rule: no
/// expansion, no star (a star makes the granted prefix rule dead), no parenthesis (it ends a rule).
fn is_plain_path(word: &str) -> bool {
    is_contained(word)
        && !word.starts_with(['-', '~'])
        && !word
            .contains(['"', '$', '`', '!', '*', '?', '(', ')', '{', '}', '<', '>', '|', '&', ';'])
}

fn is_chars(word: &str, admits: impl Fn(char) -> bool) -> bool {
    !word.is_empty() && word.chars().all(admits)
}

/// One piece of a shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// This very word.
    Word(String),
    /// One of these words.
    OneOf(Vec<&'static str>),
    /// One word of this kind.
    One(Placeholder),
    /// Any number of words of this kind.
    Any(Placeholder),
    /// A word that begins with this flag and `=`, then a word of this kind.
    Joined(&'static str, Placeholder),
    /// The parts, or nothing.
    Optional(Vec<Part>),
    /// Any number of these alternatives, in any order.
    Options(Vec<Vec<Part>>),
}

/// A shape a test command may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestShape {
    pub(super) parts: Vec<Part>,
}

/// A configured shape that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TestShapeError {
    /// It has no words.
    #[error("a shape of `testCommands` is empty: write the words of the command")]
    Empty,
    /// Its program is a placeholder, which would allow every program.
    #[error("the shape `{shape}` begins with a placeholder: name the program")]
    NoProgram {
        /// The shape as written.
        shape: String,
    },
    /// A word in braces is no placeholder.
    #[error("`{word}` is no placeholder: use `{{name}}`, `{{path}}` or `{{path...}}`")]
    UnknownPlaceholder {
        /// The word as written.
        word: String,
    },
    /// A word holds characters a shell acts on.
    #[error("the word `{word}` of a shape holds a character that a shell acts on: use plain words")]
    Unsafe {
        /// The word as written.
        word: String,
    },
}

impl TestShape {
    /// Reads a configured shape: literal words and the placeholders `{name}`, `{path}`,
    /// `{path...}` (any number of paths).
    ///
    /// # Errors
    ///
    /// When the shape has no words, begins with a placeholder, or holds a word that is neither plain
    /// nor a placeholder.
    pub fn parse(words: &[String]) -> Result<Self, TestShapeError> {
        let first = words.first().ok_or(TestShapeError::Empty)?;
        if first.contains('{') {
            return Err(TestShapeError::NoProgram { shape: words.join(" ") });
        }
        let parts = words.iter().map(|word| Part::parse(word)).collect::<Result<_, _>>()?;
        Ok(Self { parts })
    }

    pub(super) fn of(parts: Vec<Part>) -> Self {
        Self { parts }
    }

    /// How `argv` fits: `Ok` when it does, else the index of the first word that does not.
    pub(super) fn fit(&self, argv: &[String]) -> Result<(), usize> {
        let mut furthest = 0;
        if walk(&Chain::of(&self.parts), argv, 0, &mut furthest) { Ok(()) } else { Err(furthest) }
    }

    /// The programs the shape may begin with.
    pub(super) fn programs(&self) -> Vec<&str> {
        match self.parts.first() {
            Some(Part::Word(word)) => vec![word],
            Some(Part::OneOf(words)) => words.clone(),
            _ => Vec::new(),
        }
    }
}

impl Part {
    fn parse(word: &str) -> Result<Self, TestShapeError> {
        let unsafe_word = || TestShapeError::Unsafe { word: word.to_owned() };
        match word {
            "{name}" => Ok(Self::One(Placeholder::Name)),
            "{path}" => Ok(Self::One(Placeholder::Path)),
            "{path...}" => Ok(Self::Any(Placeholder::Path)),
            _ if word.starts_with('{') && word.ends_with('}') => {
                Err(TestShapeError::UnknownPlaceholder { word: word.to_owned() })
            }
            _ if is_chars(word, |c| c.is_ascii_alphanumeric() || "@/._:=+,%-".contains(c)) => {
                Ok(Self::Word(word.to_owned()))
            }
            _ => Err(unsafe_word()),
        }
    }

    /// Whether the part takes exactly one word and that word is this one.
    fn takes(&self, word: &str) -> bool {
        match self {
            Self::Word(literal) => literal == word,
            Self::OneOf(words) => words.contains(&word),
            Self::One(placeholder) | Self::Any(placeholder) => placeholder.admits(word),
            Self::Joined(flag, placeholder) => word
                .strip_prefix(flag)
                .and_then(|rest| rest.strip_prefix('='))
                .is_some_and(|value| placeholder.admits(value)),
            Self::Optional(_) | Self::Options(_) => false,
        }
    }
}

/// What is still to be matched: this list of parts, then the rest.
struct Chain<'a> {
    parts: &'a [Part],
    then: Option<&'a Chain<'a>>,
}

impl<'a> Chain<'a> {
    fn of(parts: &'a [Part]) -> Self {
        Self { parts, then: None }
    }
}

/// Matches by going back; the shapes are short and each repetition takes at least one word.
fn walk(chain: &Chain<'_>, argv: &[String], at: usize, furthest: &mut usize) -> bool {
    *furthest = (*furthest).max(at);
    let Some((part, rest)) = chain.parts.split_first() else {
        return match chain.then {
            Some(then) => walk(then, argv, at, furthest),
            None => at == argv.len(),
        };
    };
    let after = Chain { parts: rest, then: chain.then };
    match part {
        Part::Word(_) | Part::OneOf(_) | Part::One(_) | Part::Joined(..) => {
            argv.get(at).is_some_and(|word| part.takes(word))
                && walk(&after, argv, at + 1, furthest)
        }
        Part::Any(_) => {
            let mut end = at;
            while argv.get(end).is_some_and(|word| part.takes(word)) {
                end += 1;
            }
            (at..=end).rev().any(|next| walk(&after, argv, next, furthest))
        }
        Part::Optional(inner) => {
            walk(&Chain { parts: inner, then: Some(&after) }, argv, at, furthest)
                || walk(&after, argv, at, furthest)
        }
        Part::Options(alternatives) => {
            alternatives.iter().any(|inner| {
                inner.first().is_some_and(|first| argv.get(at).is_some_and(|w| first.takes(w)))
                    && walk(&Chain { parts: inner, then: Some(chain) }, argv, at, furthest)
            }) || walk(&after, argv, at, furthest)
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => f.write_str(word),
            Self::OneOf(words) => f.write_str(&words.join("|")),
            Self::One(placeholder) => f.write_str(placeholder.as_str()),
            Self::Any(placeholder) => write!(f, "[{}...]", placeholder.as_str()),
            Self::Joined(flag, placeholder) => write!(f, "{flag}={}", placeholder.as_str()),
            Self::Optional(parts) => write!(f, "[{}]", Parts(parts)),
            Self::Options(alternatives) => {
                let shown: Vec<String> =
                    alternatives.iter().map(|parts| format!("[{}]", Parts(parts))).collect();
                f.write_str(&shown.join(" "))
            }
        }
    }
}

struct Parts<'a>(&'a [Part]);

impl fmt::Display for Parts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, part) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(" ")?;
            }
            write!(f, "{part}")?;
        }
        Ok(())
    }
}

impl fmt::Display for TestShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Parts(&self.parts).fmt(f)
    }
}
