//! File patterns as sets of paths, with exact inclusion and intersection below one anchor (P2.2, P3).
//!
//! The agent reads them like lines of an ignore file, letter case aside [e_extp8-02]: a pattern
//! without a slash in it matches at any depth [f6-07, f9-02], one with a slash is anchored [f8-04], and
//! what matches a folder matches all it holds [f5-03].

use std::collections::BTreeSet;

use super::wildcard::takes_whole;

/// Where a rule was given; the same text can mean different paths.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum RuleSource {
    /// `--allowedTools`, `--disallowedTools`.
    CommandLine,
    /// The person's settings file.
    User,
    /// The repository's settings file.
    Project,
    /// The click-approval overlay of the repository.
    Local,
    /// `--settings` with a JSON text.
    Flag,
}

/// Where a file pattern begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Anchor {
    /// The working directory of the session, which `cd` moves [cdmove-01, cdmove3-03].
    Here,
    /// The directory the agent was started in [cdmove2-03].
    Start,
    /// The home directory.
    Home,
    /// The root of the file system.
    Root,
    /// The agent's own configuration directory, where `/x` of the user's file begins
    /// [spd_user_slash-03].
    AgentHome,
    /// Nowhere: `/x` of a JSON text given by `--settings` [sp_flag_slash-01].
    Nowhere,
}

/// One part of a pattern between slashes.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Segment {
    /// Any number of segments.
    Deep,
    /// One segment.
    Name(Vec<Token>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Char(char),
    One,
    Many,
    Class { negated: bool, ranges: Vec<(char, char)> },
}

/// A file pattern below an anchor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePattern {
    /// Where it begins.
    pub anchor: Anchor,
    shape: Shape,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Shape {
    Everything,
    Nothing,
    Segments(Vec<Segment>),
}

impl FilePattern {
    /// Reads what stands between the parentheses of an `Edit(…)` or `Read(…)` rule.
    pub fn parse(spec: &str, source: RuleSource) -> Self {
        let (anchor, rest) = if let Some(rest) = spec.strip_prefix('/') {
            if rest.starts_with('/') {
                // Further slashes change nothing [f13-01].
                let extra = rest.len() - rest.trim_start_matches('/').len() - 1;
                (Anchor::Root, &rest[extra..])
            } else {
                let anchor = match source {
                    RuleSource::CommandLine | RuleSource::Project | RuleSource::Local => {
                        Anchor::Start
                    }
                    RuleSource::User => Anchor::AgentHome,
                    RuleSource::Flag => Anchor::Nowhere,
                };
                (anchor, spec)
            }
        } else if let Some(rest) = spec.strip_prefix('~').filter(|rest| rest.starts_with('/')) {
            (Anchor::Home, rest)
        } else {
            (Anchor::Here, spec.strip_prefix("./").unwrap_or(spec))
        };
        let shape = if anchor == Anchor::Nowhere { Shape::Nothing } else { Shape::parse(rest) };
        Self { anchor, shape }
    }

    /// Whether the pattern matches a path relative to its anchor, segments separated by `/`.
    pub fn matches(&self, relative: &str) -> bool {
        match &self.shape {
            Shape::Everything => true,
            Shape::Nothing => false,
            Shape::Segments(segments) => {
                let lowered = relative.to_lowercase();
                let path: Vec<Vec<char>> =
                    lowered.split('/').map(|name| name.chars().collect()).collect();
                // What matches a folder matches all it holds.
                let steps: Vec<&Segment> = segments.iter().chain([&Segment::Deep]).collect();
                segments_match(&steps, &path)
            }
        }
    }

    /// Whether the pattern matches no path at all.
    pub fn is_nothing(&self) -> bool {
        self.shape == Shape::Nothing
    }

    /// Whether the pattern matches below folders of any depth, though it does not say so.
    pub fn is_unanchored(&self) -> bool {
        match &self.shape {
            Shape::Everything | Shape::Nothing => false,
            Shape::Segments(segments) => matches!(segments.first(), Some(Segment::Deep)),
        }
    }

    /// Whether every path of this pattern is one of `other`; none when it cannot be decided.
    pub fn within(&self, other: &Self) -> Option<bool> {
        match (&self.shape, &other.shape) {
            (Shape::Nothing, _) => Some(true),
            (_, Shape::Everything) if other.anchor == Anchor::Root => Some(true),
            (_, Shape::Nothing) => Some(false),
            _ if self.anchor != other.anchor => None,
            (_, Shape::Everything) => Some(true),
            (Shape::Everything, Shape::Segments(segments)) => {
                let all = Automaton::of(&[Segment::Deep])?;
                all.within(&Automaton::of(segments)?)
            }
            (Shape::Segments(a), Shape::Segments(b)) => {
                Automaton::of(a)?.within(&Automaton::of(b)?)
            }
        }
    }

    /// Whether some path is one of both; none when it cannot be decided.
    pub fn meets(&self, other: &Self) -> Option<bool> {
        match (&self.shape, &other.shape) {
            (Shape::Nothing, _) | (_, Shape::Nothing) => Some(false),
            _ if self.anchor != other.anchor => None,
            (Shape::Everything, _) | (_, Shape::Everything) => Some(true),
            (Shape::Segments(a), Shape::Segments(b)) => Automaton::of(a)?.meets(&Automaton::of(b)?),
        }
    }
}

impl Shape {
    fn parse(pattern: &str) -> Self {
        if pattern.starts_with(['!', '#', ' ']) || pattern.ends_with(' ') {
            return Self::Nothing;
        }
        if pattern == "**" || pattern == "/**" {
            return Self::Everything;
        }
        let stem = pattern.strip_suffix("/**").unwrap_or(pattern);
        let stem = stem.strip_suffix('/').unwrap_or(stem);
        if stem.is_empty() {
            return Self::Nothing;
        }
        let anchored = stem.contains('/');
        let mut segments = Vec::new();
        if !anchored {
            segments.push(Segment::Deep);
        }
        for part in stem.strip_prefix('/').unwrap_or(stem).split('/') {
            match part {
                "**" => segments.push(Segment::Deep),
                "" | "." | ".." => return Self::Nothing,
                _ => segments.push(Segment::Name(tokens(&part.to_lowercase()))),
            }
        }
        Self::Segments(segments)
    }
}

fn tokens(part: &str) -> Vec<Token> {
    let characters: Vec<char> = part.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(character) = characters.get(at) {
        at += 1;
        match character {
            '*' => {
                if tokens.last() != Some(&Token::Many) {
                    tokens.push(Token::Many);
                }
            }
            '?' => tokens.push(Token::One),
            '[' => match class(&characters[at..]) {
                Some((token, length)) => {
                    tokens.push(token);
                    at += length;
                }
                None => tokens.push(Token::Char('[')),
            },
            '\\' => {
                tokens.push(Token::Char(characters.get(at).copied().unwrap_or('\\')));
                at += 1;
            }
            _ => tokens.push(Token::Char(*character)),
        }
    }
    tokens
}

/// Reads the inside of a bracket expression; how many characters it takes, the closing one included.
fn class(rest: &[char]) -> Option<(Token, usize)> {
    let end = rest.iter().position(|c| *c == ']').filter(|end| *end > 0)?;
    let (negated, inside) = match rest[..end].split_first() {
        Some(('!' | '^', inside)) => (true, inside),
        _ => (false, &rest[..end]),
    };
    let mut ranges = Vec::new();
    let mut at = 0;
    while let Some(first) = inside.get(at) {
        if let (Some('-'), Some(last)) = (inside.get(at + 1), inside.get(at + 2)) {
            ranges.push((*first, *last));
            at += 3;
        } else {
            ranges.push((*first, *first));
            at += 1;
        }
    }
    Some((Token::Class { negated, ranges }, end + 1))
}

impl Token {
    fn takes(&self, character: char) -> bool {
        match self {
            Self::Char(own) => *own == character,
            Self::One | Self::Many => true,
            Self::Class { negated, ranges } => {
                ranges.iter().any(|(a, b)| (*a..=*b).contains(&character)) != *negated
            }
        }
    }
}

fn segments_match(segments: &[&Segment], path: &[Vec<char>]) -> bool {
    let is_deep = |segment: &&Segment| **segment == Segment::Deep;
    takes_whole(segments, path, is_deep, |segment, name| match segment {
        Segment::Deep => true,
        Segment::Name(tokens) => name_matches(tokens, name),
    })
}

fn name_matches(tokens: &[Token], name: &[char]) -> bool {
    let is_many = |token: &Token| *token == Token::Many;
    takes_whole(tokens, name, is_many, |token, character| token.takes(*character))
}

/// What a step of the automaton reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reads {
    Char(char),
    NoSlash,
    Slash,
    Any,
}

impl Reads {
    fn takes(self, character: char) -> bool {
        match self {
            Self::Char(own) => own == character,
            Self::NoSlash => character != '/',
            Self::Slash => character == '/',
            Self::Any => true,
        }
    }
}

/// The pattern as a nondeterministic automaton over the characters of a path: what it matches, and
/// everything below what it matches.
struct Automaton {
    steps: Vec<Vec<(Reads, usize)>>,
    jumps: Vec<Vec<usize>>,
    accepting: BTreeSet<usize>,
}

/// Steps after which the relation of two patterns stays undecided: each `?` behind a star can double
/// the sets of places that have to be told apart.
const LONGEST_SEARCH: usize = 500_000;

/// Any character that no pattern spells.
const FRESH: char = '\u{10ffff}';

impl Automaton {
    /// None for patterns with bracket expressions: their relation is not decided.
    fn of(segments: &[Segment]) -> Option<Self> {
        let mut automaton =
            Self { steps: vec![Vec::new()], jumps: vec![Vec::new()], accepting: BTreeSet::new() };
        let mut at = 0;
        for (index, segment) in segments.iter().enumerate() {
            let last = index + 1 == segments.len();
            match segment {
                // `**` between slashes: whole segments, each with its slash; at the end, anything.
                Segment::Deep if last => {
                    let end = automaton.add();
                    automaton.steps[at].push((Reads::NoSlash, end));
                    automaton.steps[end].push((Reads::Any, end));
                    at = end;
                }
                Segment::Deep => {
                    let inside = automaton.add();
                    automaton.steps[at].push((Reads::NoSlash, inside));
                    automaton.steps[inside].push((Reads::NoSlash, inside));
                    automaton.steps[inside].push((Reads::Slash, at));
                }
                Segment::Name(tokens) => {
                    at = automaton.add_name(at, tokens)?;
                    if !last {
                        let next = automaton.add();
                        automaton.steps[at].push((Reads::Slash, next));
                        at = next;
                    }
                }
            }
        }
        let below = automaton.add();
        automaton.steps[at].push((Reads::Slash, below));
        automaton.steps[below].push((Reads::Any, below));
        automaton.accepting = BTreeSet::from([at, below]);
        Some(automaton)
    }

    fn add(&mut self) -> usize {
        self.steps.push(Vec::new());
        self.jumps.push(Vec::new());
        self.steps.len() - 1
    }

    fn add_name(&mut self, start: usize, tokens: &[Token]) -> Option<usize> {
        let mut at = start;
        for token in tokens {
            match token {
                Token::Many => {
                    self.steps[at].push((Reads::NoSlash, at));
                    let next = self.add();
                    self.jumps[at].push(next);
                    at = next;
                }
                Token::One => {
                    let next = self.add();
                    self.steps[at].push((Reads::NoSlash, next));
                    at = next;
                }
                Token::Char(character) => {
                    let next = self.add();
                    self.steps[at].push((Reads::Char(*character), next));
                    at = next;
                }
                Token::Class { .. } => return None,
            }
        }
        Some(at)
    }

    fn close(&self, mut states: BTreeSet<usize>) -> BTreeSet<usize> {
        let mut waiting: Vec<usize> = states.iter().copied().collect();
        while let Some(state) = waiting.pop() {
            for next in &self.jumps[state] {
                if states.insert(*next) {
                    waiting.push(*next);
                }
            }
        }
        states
    }

    fn start(&self) -> BTreeSet<usize> {
        self.close(BTreeSet::from([0]))
    }

    fn read(&self, states: &BTreeSet<usize>, character: char) -> BTreeSet<usize> {
        let next = states
            .iter()
            .flat_map(|state| &self.steps[*state])
            .filter(|(reads, _)| reads.takes(character))
            .map(|(_, to)| *to)
            .collect();
        self.close(next)
    }

    fn accepts(&self, states: &BTreeSet<usize>) -> bool {
        states.iter().any(|state| self.accepting.contains(state))
    }

    fn alphabet(&self, other: &Self) -> Vec<char> {
        let mut alphabet = BTreeSet::from(['/', FRESH]);
        for (reads, _) in self.steps.iter().chain(&other.steps).flatten() {
            if let Reads::Char(character) = reads {
                alphabet.insert(*character);
            }
        }
        alphabet.into_iter().collect()
    }

    fn within(&self, other: &Self) -> Option<bool> {
        self.reaches(other, |mine, theirs| mine && !theirs).map(|reached| !reached)
    }

    fn meets(&self, other: &Self) -> Option<bool> {
        self.reaches(other, |mine, theirs| mine && theirs)
    }

    /// Whether some well-formed path leads both automata to an end that `wanted` wants; none when
    /// that takes more than [`LONGEST_SEARCH`] steps.
    fn reaches(&self, other: &Self, wanted: impl Fn(bool, bool) -> bool) -> Option<bool> {
        let alphabet = self.alphabet(other);
        let mut seen = BTreeSet::new();
        let mut steps = 0;
        let mut waiting = vec![(self.start(), other.start(), true)];
        while let Some((mine, theirs, slash)) = waiting.pop() {
            if mine.is_empty() || !seen.insert((mine.clone(), theirs.clone(), slash)) {
                continue;
            }
            if !slash && wanted(self.accepts(&mine), other.accepts(&theirs)) {
                return Some(true);
            }
            steps += alphabet.len() * (mine.len() + theirs.len());
            if steps > LONGEST_SEARCH {
                return None;
            }
            for character in &alphabet {
                if !(slash && *character == '/') {
                    waiting.push((
                        self.read(&mine, *character),
                        other.read(&theirs, *character),
                        *character == '/',
                    ));
                }
            }
        }
        Some(false)
    }
}

#[cfg(test)]
mod tests;
