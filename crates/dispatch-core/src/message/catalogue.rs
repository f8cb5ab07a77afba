//! The mechanism of a catalogue: every text in every language, with the same placeholders.

use std::fmt::Display;

/// Declares a catalogue: an enum of messages with their text in English and Spanish.
///
/// A text in one language only does not compile. Placeholders are written `{name}`; `faults` tells whether both
/// languages have the same ones, which a test of the catalogue asserts.
///
/// ```
/// use dispatch_core::config::Language;
///
/// dispatch_core::catalogue! {
///     /// Greetings.
///     pub enum Greeting {
///         /// Said first.
///         Hello { en: "Hello, {name}.", es: "Hola, {name}." },
///     }
/// }
///
/// assert_eq!(Greeting::Hello.render(Language::Es, &[("name", &"Ana")]), "Hola, Ana.");
/// assert!(Greeting::faults().is_empty());
/// ```
#[macro_export]
macro_rules! catalogue {
    ($(#[$outer:meta])* $visibility:vis enum $name:ident {
        $($(#[$inner:meta])* $variant:ident { en: $en:literal, es: $es:literal $(,)? },)+
    }) => {
        $(#[$outer])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        $visibility enum $name { $($(#[$inner])* $variant,)+ }

        impl $name {
            /// Every message.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The text in a language, placeholders unfilled.
            pub const fn text(self, language: $crate::config::Language) -> &'static str {
                match (self, language) {
                    $((Self::$variant, $crate::config::Language::En) => $en,
                    (Self::$variant, $crate::config::Language::Es) => $es,)+
                }
            }

            /// The text in a language with its placeholders filled.
            pub fn render(
                self,
                language: $crate::config::Language,
                values: &[(&str, &dyn ::std::fmt::Display)],
            ) -> String {
                $crate::message::fill(self.text(language), values)
            }

            /// The messages whose placeholders differ between the languages, whose text is empty, or whose Spanish
            /// text holds English.
            pub fn faults() -> Vec<Self> {
                let odd = |message: &Self| {
                    let placeholders = |language| $crate::message::placeholders(message.text(language));
                    let spanish = message.text($crate::config::Language::Es);
                    let languages = $crate::config::Language::ALL;
                    !$crate::message::english_in(spanish).is_empty() || languages.iter().any(|language| {
                        message.text(*language).trim().is_empty()
                            || placeholders(*language) != placeholders($crate::config::Language::En)
                    })
                };
                Self::ALL.iter().copied().filter(odd).collect()
            }
        }
    };
}

/// Fills the placeholders of `text` once, from left to right: a value is never searched for placeholders.
pub fn fill(text: &str, values: &[(&str, &dyn Display)]) -> String {
    let mut out = String::with_capacity(text.len() + 32);
    let mut rest = text;
    while let Some((before, name, after)) = next_placeholder(rest) {
        out.push_str(before);
        if let Some((_, value)) = values.iter().find(|(known, _)| *known == name) {
            out.push_str(&value.to_string());
        } else {
            out.push('{');
            out.push_str(name);
            out.push('}');
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The names of the placeholders of `text`, each once, sorted.
pub fn placeholders(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some((_, name, after)) = next_placeholder(rest) {
        names.push(name);
        rest = after;
    }
    names.sort_unstable();
    names.dedup();
    names
}

/// English words in a text that should hold none: function words that are no Spanish ones, outside back-ticks,
/// placeholders and the names of statuses.
pub fn english_in(text: &str) -> Vec<String> {
    const WORDS: &[&str] = &[
        "the", "this", "that", "these", "those", "is", "are", "was", "were", "has", "have", "had",
        "and", "or", "of", "to", "for", "from", "with", "without", "which", "what", "who", "not",
        "it", "its", "at", "by", "be", "been", "can", "could", "may", "will", "would", "does",
        "did", "an", "as", "if", "into", "only", "then", "there", "when", "where", "why", "how",
        "until", "after", "before", "while", "you", "your", "on", "in",
    ];
    const STATUSES: &[&str] = &["In Progress", "To Do"];
    let outside: String = text.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    let outside = placeholders(&outside)
        .iter()
        .fold(outside.clone(), |text, name| text.replace(&format!("{{{name}}}"), " "));
    let outside = STATUSES.iter().fold(outside, |text, status| text.replace(status, " "));
    outside
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| WORDS.contains(&word.to_lowercase().as_str()))
        .map(str::to_owned)
        .collect()
}

/// What stands before the next `{name}`, the name, and what follows it. Other braces are text.
fn next_placeholder(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    loop {
        let open = from + text.get(from..)?.find('{')?;
        let inner = text.get(open + 1..)?;
        let end =
            inner.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(inner.len());
        let named = inner.starts_with(|c: char| c.is_ascii_alphabetic());
        if named && inner.get(end..)?.starts_with('}') {
            return Some((text.get(..open)?, inner.get(..end)?, inner.get(end + 1..)?));
        }
        from = open + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_inserted_as_data() {
        let filled = fill("{a} and {b}, {c} { d } {}", &[("a", &"{b}"), ("b", &2)]);
        assert_eq!(filled, "{b} and 2, {c} { d } {}");
    }

    #[test]
    fn k3_english_is_found_in_spanish_outside_back_ticks_only() {
        assert_eq!(
            english_in("Hay 0 tareas `in the lane`; until mañana, The fin"),
            ["until", "The"]
        );
        assert!(
            english_in("Devuelta a In Progress: la tarea sigue a solas, con su rama.").is_empty()
        );
    }

    #[test]
    fn placeholders_are_found_once() {
        assert_eq!(placeholders("{b} {a} {b} {{c}} { x"), ["a", "b", "c"]);
    }
}
