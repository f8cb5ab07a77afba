//! Enough of the GraphQL grammar for the queries that clients send: no mutations, no directives.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// A parsed request: one query and its fragments.
pub(super) struct Document {
    pub(super) selections: Vec<Selection>,
    pub(super) fragments: BTreeMap<String, Vec<Selection>>,
    defaults: Map<String, Value>,
}

pub(super) enum Selection {
    Field(Field),
    Inline { on: Option<String>, selections: Vec<Selection> },
    Spread(String),
}

pub(super) struct Field {
    pub(super) alias: String,
    pub(super) name: String,
    arguments: Vec<(String, Argument)>,
    pub(super) selections: Vec<Selection>,
}

#[derive(Clone)]
enum Argument {
    Plain(Value),
    Variable(String),
    List(Vec<Argument>),
    Object(Vec<(String, Argument)>),
}

impl Argument {
    fn value(&self, variables: &Map<String, Value>) -> Value {
        match self {
            Self::Plain(value) => value.clone(),
            Self::Variable(name) => variables.get(name).cloned().unwrap_or(Value::Null),
            Self::List(items) => items.iter().map(|item| item.value(variables)).collect(),
            Self::Object(fields) => {
                let fields =
                    fields.iter().map(|(name, value)| (name.clone(), value.value(variables)));
                Value::Object(fields.collect())
            }
        }
    }
}

impl Field {
    pub(super) fn arguments(&self, variables: &Map<String, Value>) -> Value {
        let given =
            self.arguments.iter().map(|(name, value)| (name.clone(), value.value(variables)));
        Value::Object(given.collect())
    }
}

impl Document {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut parser = Parser { tokens: tokens(text)?, at: 0 };
        let mut document =
            Self { selections: Vec::new(), fragments: BTreeMap::new(), defaults: Map::new() };
        let mut queries = 0;
        while let Some(token) = parser.peek() {
            match token {
                "fragment" => {
                    parser.at += 1;
                    let name = parser.next()?;
                    parser.expect("on")?;
                    parser.next()?;
                    let selections = parser.selections()?;
                    document.fragments.insert(name, selections);
                }
                "mutation" | "subscription" => return Err(format!("{token}s are not served here")),
                _ => {
                    queries += 1;
                    document.defaults = parser.head()?;
                    document.selections = parser.selections()?;
                }
            }
        }
        if queries == 1 {
            Ok(document)
        } else {
            Err(format!("expected one query, found {queries}"))
        }
    }

    pub(super) fn variables(&self, given: &Value) -> Map<String, Value> {
        let mut variables = self.defaults.clone();
        variables.extend(given.as_object().cloned().unwrap_or_default());
        variables
    }
}

/// Splits into names, numbers, strings (kept with their opening quote) and punctuation.
fn tokens(text: &str) -> Result<Vec<String>, String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            _ if first.is_whitespace() || first == ',' => {
                rest = &rest[first.len_utf8()..];
                continue;
            }
            '#' => {
                rest = rest.split_once('\n').map_or("", |(_, after)| after);
                continue;
            }
            '"' => {
                let (token, after) = string(rest)?;
                tokens.push(token);
                rest = after;
                continue;
            }
            '.' if rest.starts_with("...") => 3,
            _ if first.is_alphanumeric() || "_-$".contains(first) => {
                let part = |letter: char| letter.is_alphanumeric() || "_-.".contains(letter);
                let end = rest[1..].find(|letter| !part(letter)).map_or(rest.len(), |end| end + 1);
                // `...` may follow a name directly.
                rest[..end].find("...").unwrap_or(end)
            }
            _ if "{}()[]:!=@".contains(first) => 1,
            _ => return Err(format!("Parse error on {first:?}")),
        };
        tokens.push(rest[..length].to_owned());
        rest = &rest[length..];
    }
    Ok(tokens)
}

fn string(text: &str) -> Result<(String, &str), String> {
    let mut escaped = false;
    for (index, letter) in text.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => {
                let quoted = &text[..=index];
                let value: String =
                    serde_json::from_str(quoted).map_err(|error| error.to_string())?;
                return Ok((format!("\"{value}"), &text[index + 1..]));
            }
            _ => {}
        }
    }
    Err("Parse error: unterminated string".to_owned())
}

struct Parser {
    tokens: Vec<String>,
    at: usize,
}

impl Parser {
    fn peek(&self) -> Option<&str> {
        self.tokens.get(self.at).map(String::as_str)
    }

    fn next(&mut self) -> Result<String, String> {
        let token =
            self.tokens.get(self.at).cloned().ok_or("Parse error: unexpected end of query")?;
        self.at += 1;
        Ok(token)
    }

    fn got(&mut self, wanted: &str) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, wanted: &str) -> Result<(), String> {
        let found = self.next()?;
        if found == wanted {
            Ok(())
        } else {
            Err(format!("Parse error on {found:?}, expected {wanted:?}"))
        }
    }

    /// `query Name($a: Type = default, …)`, all of it optional; returns the defaults.
    fn head(&mut self) -> Result<Map<String, Value>, String> {
        let mut defaults = Map::new();
        if self.got("query") {
            if self.peek() != Some("(") && self.peek() != Some("{") {
                self.next()?;
            }
            if self.got("(") {
                while !self.got(")") {
                    let name = self.next()?.trim_start_matches('$').to_owned();
                    self.expect(":")?;
                    while self
                        .peek()
                        .is_some_and(|token| !"=)".contains(token) && !token.starts_with('$'))
                    {
                        self.at += 1;
                    }
                    if self.got("=") {
                        let value = self.argument()?.value(&Map::new());
                        defaults.insert(name, value);
                    }
                }
            }
        }
        Ok(defaults)
    }

    fn selections(&mut self) -> Result<Vec<Selection>, String> {
        self.expect("{")?;
        let mut selections = Vec::new();
        while !self.got("}") {
            selections.push(self.selection()?);
        }
        Ok(selections)
    }

    fn selection(&mut self) -> Result<Selection, String> {
        if self.got("...") {
            if self.got("on") {
                let on = Some(self.next()?);
                return Ok(Selection::Inline { on, selections: self.selections()? });
            }
            if self.peek() == Some("{") {
                return Ok(Selection::Inline { on: None, selections: self.selections()? });
            }
            return Ok(Selection::Spread(self.next()?));
        }
        let alias = self.next()?;
        let name = if self.got(":") { self.next()? } else { alias.clone() };
        let mut arguments = Vec::new();
        if self.got("(") {
            while !self.got(")") {
                let argument = self.next()?;
                self.expect(":")?;
                arguments.push((argument, self.argument()?));
            }
        }
        let selections = if self.peek() == Some("{") { self.selections()? } else { Vec::new() };
        Ok(Selection::Field(Field { alias, name, arguments, selections }))
    }

    fn argument(&mut self) -> Result<Argument, String> {
        let token = self.next()?;
        if let Some(name) = token.strip_prefix('$') {
            return Ok(Argument::Variable(name.to_owned()));
        }
        if let Some(text) = token.strip_prefix('"') {
            return Ok(Argument::Plain(Value::from(text)));
        }
        match token.as_str() {
            "[" => {
                let mut items = Vec::new();
                while !self.got("]") {
                    items.push(self.argument()?);
                }
                Ok(Argument::List(items))
            }
            "{" => {
                let mut fields = Vec::new();
                while !self.got("}") {
                    let name = self.next()?;
                    self.expect(":")?;
                    fields.push((name, self.argument()?));
                }
                Ok(Argument::Object(fields))
            }
            // Numbers, booleans and null are JSON; a bare word is an enum value.
            word => Ok(Argument::Plain(
                serde_json::from_str(word).unwrap_or_else(|_| Value::from(word)),
            )),
        }
    }
}
