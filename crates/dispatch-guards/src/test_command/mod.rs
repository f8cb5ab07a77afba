//! Test commands: the one program a task may name, and the shapes it may have (P6).
//!
//! A task's text is untrusted, and its test command is run by the worker and by the close. So it is
//! never given to a shell: it is split into words, refused when a shell would do anything but run
//! them, and then held against a list of shapes.
//!
//! ```
//! use dispatch_guards::test_command::{TestShapes, resolve_test_command};
//!
//! let shapes = TestShapes::builtin();
//! let command = resolve_test_command("cargo test -p parser --lib", &shapes)?;
//! assert_eq!(command.argv(), ["cargo", "test", "-p", "parser", "--lib"]);
//! assert!(resolve_test_command("cargo test; curl example.org", &shapes).is_err());
//! # Ok::<(), dispatch_guards::test_command::Refusal>(())
//! ```

mod builtin;
mod shape;
mod words;

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;

pub use shape::{TestShape, TestShapeError};

/// Longest test command, in bytes.
pub const MAX_BYTES: usize = 4096;
/// Most words of a test command.
pub const MAX_WORDS: usize = 64;

/// A test command that may be run: the words that the close runs and that the worker is granted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct TestCommand {
    argv: Vec<String>,
}

impl TestCommand {
    /// The words, program first.
    pub fn argv(&self) -> &[String] {
        &self.argv
    }

    /// The text shown to the worker and granted to it: one string (P6.3).
    ///
    /// Words with anything but plain characters are put into double quotes; no word holds a character
    /// that means something inside them.
    pub fn text(&self) -> String {
        let words: Vec<String> = self.argv.iter().map(|word| quoted(word)).collect();
        words.join(" ")
    }

    /// The permission rule that grants it: `Bash(<text>:*)`.
    pub fn rule(&self) -> String {
        format!("Bash({}:*)", self.text())
    }
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "@/._:=+,%-".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("\"{word}\"")
    }
}

/// Why a test command is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalReason {
    /// There are no words.
    Empty,
    /// Over [`MAX_BYTES`].
    TooLong,
    /// Over [`MAX_WORDS`].
    TooManyWords,
    /// A control or invisible character.
    ControlCharacter,
    /// A quote is not closed.
    UnbalancedQuotes,
    /// A character outside quotes that a shell acts on.
    ShellSyntax {
        /// The character.
        character: char,
    },
    /// A `$` or back-tick inside double quotes.
    Expansion {
        /// The character.
        character: char,
    },
    /// A glob character outside quotes.
    Glob,
    /// `NAME=value` before the program.
    Assignment,
    /// The program begins with `-`.
    LeadingDash,
    /// The program is in no allowed shape.
    UnknownProgram,
    /// A flag that the nearest shape does not have.
    UnknownFlag,
    /// A word that the nearest shape does not admit there.
    UnexpectedWord,
    /// The nearest shape needs more words.
    Incomplete,
}

impl RefusalReason {
    /// The name used in text and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::TooLong => "too-long",
            Self::TooManyWords => "too-many-words",
            Self::ControlCharacter => "control-character",
            Self::UnbalancedQuotes => "unbalanced-quotes",
            Self::ShellSyntax { .. } => "shell-syntax",
            Self::Expansion { .. } => "expansion",
            Self::Glob => "glob",
            Self::Assignment => "assignment",
            Self::LeadingDash => "leading-dash",
            Self::UnknownProgram => "unknown-program",
            Self::UnknownFlag => "unknown-flag",
            Self::UnexpectedWord => "unexpected-word",
            Self::Incomplete => "incomplete",
        }
    }
}

impl Serialize for RefusalReason {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A refused test command: why, the word, and the nearest allowed shape (P6.4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// The kind of refusal.
    #[serde(rename = "refused")]
    pub reason: RefusalReason,
    /// The offending word, or the start of the text.
    pub word: String,
    /// The allowed shape that comes nearest.
    pub nearest: Option<String>,
    /// For a program in no allowed shape: how to allow it.
    #[serde(skip)]
    allow: Option<Allow>,
}

/// How a program in no allowed shape can be allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Allow {
    /// The programs that are allowed, in alphabetical order.
    programs: Vec<String>,
    /// The `testCommands` that would allow the very words, as JSON.
    example: String,
}

impl Refusal {
    fn new(reason: RefusalReason, word: impl Into<String>) -> Self {
        Self { reason, word: word.into(), nearest: None, allow: None }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = &self.word;
        match self.reason {
            RefusalReason::Empty => f.write_str("the test command has no words"),
            RefusalReason::TooLong => {
                write!(f, "the test command is longer than {MAX_BYTES} bytes")
            }
            RefusalReason::TooManyWords => {
                write!(f, "the test command has more than {MAX_WORDS} words")
            }
            RefusalReason::ControlCharacter => {
                write!(f, "`{}` holds a control or invisible character", word.escape_debug())
            }
            RefusalReason::UnbalancedQuotes => write!(f, "a quote is not closed in `{word}`"),
            RefusalReason::ShellSyntax { character } => {
                write!(f, "`{}` in `{word}` means something to a shell", character.escape_debug())
            }
            RefusalReason::Expansion { character } => {
                write!(f, "`{character}` in `{word}` expands inside double quotes")
            }
            RefusalReason::Glob => write!(f, "`{word}` holds a glob character outside quotes"),
            RefusalReason::Assignment => {
                write!(f, "`{word}` sets a variable: begin with the program")
            }
            RefusalReason::LeadingDash => write!(f, "the program `{word}` begins with `-`"),
            RefusalReason::UnknownProgram => write!(f, "`{word}` is no known test program"),
            RefusalReason::UnknownFlag => write!(f, "the flag `{word}` is not allowed"),
            RefusalReason::UnexpectedWord => write!(f, "`{word}` is not allowed here"),
            RefusalReason::Incomplete => write!(f, "words are missing after `{word}`"),
        }?;
        if let Some(Allow { programs, example }) = &self.allow {
            return write!(
                f,
                "; known are {}, and this one would be with `\"testCommands\": {example}`",
                programs.join(", ")
            );
        }
        match &self.nearest {
            Some(nearest) => write!(f, "; the nearest allowed shape is `{nearest}`"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Refusal {}

/// The shapes that are allowed: the built-in ones and those configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestShapes {
    shapes: Vec<TestShape>,
}

impl TestShapes {
    /// The built-in shapes.
    pub fn builtin() -> Self {
        Self { shapes: builtin::shapes() }
    }

    /// The built-in shapes and these, each a list of words with placeholders (`testCommands`).
    ///
    /// # Errors
    ///
    /// The first shape that cannot be read.
    pub fn with(configured: &[Vec<String>]) -> Result<Self, TestShapeError> {
        let mut all = Self::builtin();
        for words in configured {
            all.shapes.push(TestShape::parse(words)?);
        }
        Ok(all)
    }

    /// Every shape, in the order they are tried.
    pub fn iter(&self) -> impl Iterator<Item = &TestShape> {
        self.shapes.iter()
    }

    fn how_to_allow(&self, argv: &[String]) -> Allow {
        let programs: BTreeSet<&str> = self.shapes.iter().flat_map(TestShape::programs).collect();
        // Words that no shape may hold are no example.
        let example = match TestShape::parse(argv) {
            Ok(_) => serde_json::json!([argv]),
            Err(_) => serde_json::json!([["sh", "test.sh", "{path...}"]]),
        };
        Allow {
            programs: programs.into_iter().map(str::to_owned).collect(),
            example: example.to_string(),
        }
    }

    fn nearest(&self, argv: &[String], fits: &[usize]) -> Option<&TestShape> {
        let first = argv.first().map_or("", String::as_str);
        self.shapes
            .iter()
            .zip(fits)
            .enumerate()
            .min_by_key(|(order, (shape, fit))| {
                let distance = shape.programs().iter().map(|p| distance(p, first)).min();
                (std::cmp::Reverse(**fit), distance.unwrap_or(usize::MAX), *order)
            })
            .map(|(_, (shape, _))| shape)
    }
}

/// Decides whether `text` may be run as a test command, and as which words (P6).
///
/// # Errors
///
/// A [`Refusal`] naming the reason, the word and the nearest allowed shape.
pub fn resolve_test_command(text: &str, shapes: &TestShapes) -> Result<TestCommand, Refusal> {
    let argv = words::split(text).map_err(|refusal| with_nearest(refusal, text, shapes))?;
    let mut fits = Vec::with_capacity(shapes.shapes.len());
    for shape in &shapes.shapes {
        match shape.fit(&argv) {
            Ok(()) => return Ok(TestCommand { argv }),
            Err(at) => fits.push(at),
        }
    }
    let furthest = fits.iter().copied().max().unwrap_or(0);
    let (reason, word) = match argv.get(furthest) {
        None => (RefusalReason::Incomplete, argv.last().cloned().unwrap_or_default()),
        Some(word) if furthest == 0 => (RefusalReason::UnknownProgram, word.clone()),
        Some(word) if word.starts_with('-') => (RefusalReason::UnknownFlag, word.clone()),
        Some(word) => (RefusalReason::UnexpectedWord, word.clone()),
    };
    let nearest = shapes.nearest(&argv, &fits).map(ToString::to_string);
    let allow = (reason == RefusalReason::UnknownProgram).then(|| shapes.how_to_allow(&argv));
    Err(Refusal { reason, word, nearest, allow })
}

/// Finds the shape meant by a text that could not be split, from its plain words.
fn with_nearest(refusal: Refusal, text: &str, shapes: &TestShapes) -> Refusal {
    let plain: Vec<String> = text
        .chars()
        .take(MAX_BYTES)
        .collect::<String>()
        .split_whitespace()
        .map(str::to_owned)
        .take(MAX_WORDS)
        .collect();
    let start = plain.iter().position(|word| !word.contains('=')).unwrap_or(0);
    let argv = plain.get(start..).unwrap_or_default();
    let fits: Vec<usize> = shapes
        .shapes
        .iter()
        .map(|shape| shape.fit(argv).map_or_else(|at| at, |()| argv.len()))
        .collect();
    let nearest = shapes.nearest(argv, &fits).map(ToString::to_string);
    Refusal { nearest, ..refusal }
}

/// How many letters must change to make one word the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.chars().take(64).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, right) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = (above + 1).min(row[j] + 1).min(diagonal + usize::from(left != *right));
            diagonal = above;
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests;
